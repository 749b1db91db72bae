"""How does a table of ECE and Brier become HTML in which every text of a file is only text?"""

from __future__ import annotations

from itertools import groupby

from calib_core.report.html import escape_text
from calib_core.report.paired_table import FEW_BINS_MARK, EceBrierCell, EceBrierTable


def ece_brier_html(table: EceBrierTable) -> str:
    """One `<table class="paired">` in a box that scrolls sideways by itself; no style of its own.

    Bold says lowest, `FLAG` an ECE that says little; both are also in words (`title`) for who points at them.
    """
    rows = "".join(_ece_brier_row(table, method, title) for method, title in table.rows.items())
    name = escape_text(table.title)
    return (
        f'<div class="paired-box" role="region" tabindex="0" aria-label="{name}"><table class="paired">'
        f"<caption>{name}</caption><thead>{_ece_brier_heading(table)}</thead><tbody>{rows}</tbody></table></div>"
    )


def _ece_brier_heading(table: EceBrierTable) -> str:
    sets = [dataset for dataset, _ in table.columns.values()]
    above = "".join(
        f'<th scope="colgroup" colspan="{2 * len(list(same))}">{escape_text(dataset)}</th>'
        for dataset, same in groupby(sets)
    )
    models = "".join(
        f'<th scope="colgroup" colspan="2">{escape_text(model)}{_small_print(table.column_notes.get(column))}</th>'
        for column, (_, model) in table.columns.items()
    )
    pair = '<th scope="col">ECE</th><th scope="col">Brier</th>' * len(table.columns)
    first = f"<tr><td></td>{above}</tr>" if any(sets) else ""
    return f'{first}<tr><td></td>{models}</tr><tr><th scope="col">{table.row_heading}</th>{pair}</tr>'


def _ece_brier_row(table: EceBrierTable, method: str, title: str) -> str:
    entries = [table.entries.get((column, method)) for column in table.columns]
    deep = any(entry is not None and entry.small_print for entry in entries)
    span = ' rowspan="2"' if deep else ""
    numbers = "".join(_number_cells(entry) for entry in entries)
    below = "".join(f'<td colspan="2">{escape_text(entry.small_print) if entry else ""}</td>' for entry in entries)
    second = f'<tr class="below">{below}</tr>' if deep else ""
    head = f"<span>{escape_text(title)}</span>{_small_print(table.row_notes.get(method))}"
    return f'<tr><th scope="row"{span}>{head}</th>{numbers}</tr>{second}'


def _small_print(note: str | None) -> str:
    """What holds of all numbers of a row or column, below its name."""
    return f"<span>{escape_text(note)}</span>" if note else ""


def _number_cells(entry: EceBrierCell | None) -> str:
    if entry is None:
        return '<td title="not available">–</td>' * 2
    flag = f'<span class="flag" title="{escape_text(entry.warning)}">{FEW_BINS_MARK}</span>' if entry.warning else ""
    return (
        f"<td>{_bold(entry.ece, bold=entry.best_ece)}{flag}</td>"
        f"<td>{_bold(entry.brier, bold=entry.best_brier)}</td>"
    )


def _bold(number: str, *, bold: bool) -> str:
    shown = escape_text(number)
    return f'<strong title="lowest of this run">{shown}</strong>' if bold else shown

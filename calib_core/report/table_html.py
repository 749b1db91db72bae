"""How does a table of ECE and Brier become HTML in which every text of a file is only text?"""

from __future__ import annotations

from itertools import groupby

from calib_core.report.html import text
from calib_core.report.paired_table import FLAG, Entry, PairedTable


def to_html(table: PairedTable) -> str:
    """One `<table class="paired">` in a box that scrolls sideways by itself; no style of its own.

    Bold says lowest, `FLAG` an ECE that says little; both are also in words (`title`) for who points at them.
    """
    rows = "".join(_row(table, method, title) for method, title in table.rows.items())
    name = text(table.title)
    return (
        f'<div class="paired-box" role="region" tabindex="0" aria-label="{name}"><table class="paired">'
        f"<caption>{name}</caption><thead>{_heading(table)}</thead><tbody>{rows}</tbody></table></div>"
    )


def _heading(table: PairedTable) -> str:
    sets = [dataset for dataset, _ in table.columns.values()]
    above = "".join(
        f'<th scope="colgroup" colspan="{2 * len(list(same))}">{text(dataset)}</th>'
        for dataset, same in groupby(sets)
    )
    models = "".join(
        f'<th scope="colgroup" colspan="2">{text(model)}{_small(table.of_column.get(column))}</th>'
        for column, (_, model) in table.columns.items()
    )
    pair = '<th scope="col">ECE</th><th scope="col">Brier</th>' * len(table.columns)
    first = f"<tr><td></td>{above}</tr>" if any(sets) else ""
    return f'{first}<tr><td></td>{models}</tr><tr><th scope="col">{table.corner}</th>{pair}</tr>'


def _row(table: PairedTable, method: str, title: str) -> str:
    entries = [table.entries.get((column, method)) for column in table.columns]
    deep = any(entry is not None and entry.below for entry in entries)
    span = ' rowspan="2"' if deep else ""
    numbers = "".join(_numbers(entry) for entry in entries)
    below = "".join(f'<td colspan="2">{text(entry.below) if entry else ""}</td>' for entry in entries)
    second = f'<tr class="below">{below}</tr>' if deep else ""
    head = f"<span>{text(title)}</span>{_small(table.of_row.get(method))}"
    return f'<tr><th scope="row"{span}>{head}</th>{numbers}</tr>{second}'


def _small(words: str | None) -> str:
    """What holds of all numbers of a row or column, below its name."""
    return f"<span>{text(words)}</span>" if words else ""


def _numbers(entry: Entry | None) -> str:
    if entry is None:
        return '<td title="not available">–</td>' * 2
    flag = f'<span class="flag" title="{text(entry.flag)}">{FLAG}</span>' if entry.flag else ""
    return (
        f"<td>{_bold(entry.ece, bold=entry.best_ece)}{flag}</td>"
        f"<td>{_bold(entry.brier, bold=entry.best_brier)}</td>"
    )


def _bold(number: str, *, bold: bool) -> str:
    shown = text(number)
    return f'<strong title="lowest of this run">{shown}</strong>' if bold else shown

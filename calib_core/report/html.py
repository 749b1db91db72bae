"""How does text become HTML in which it is only text?  Tags, lists, tiles, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Final

import polars as pl

from calib_core.figures.text import escape_invisible
from calib_core.report.blocks import ReportTable, Tile
from calib_core.report.ece_brier_table import FEW_BINS_MARK, EceBrierCell, EceBrierTable

_SHA256: Final = re.compile("[0-9a-f]{64}")
_MAX_UNBROKEN_LENGTH: Final = 22
"""Letters that are not broken into lines on a screen, where a table may scroll."""

_NUMERIC_CELL: Final = re.compile(
    r"[–∞]|[+−]?[\d.,]+(?:e[-−+]?\d+)?(?: ?%)?(?: \(few\))?(?: ?(?:±|to|/) ?[−+]?[\d.,]+ ?%?)?"
)


def escape_text(content: str) -> str:
    """Words of anybody as HTML that shows them; what would steer or hide them is shown by its code."""
    return escape(escape_invisible(content), quote=True)


def tag(name: str, content: str, /, **attributes: str | None) -> str:
    """One element; attributes: as text (`class_` for class), None = without; inside: HTML already."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{content}</{name}>"


def paragraphs(class_: str, lines: Iterable[str]) -> str:
    """Each line a paragraph; nothing of empty ones."""
    return "".join(tag("p", escape_text(line), class_=class_) for line in lines if line)


def bullet_list(class_: str, lines: Sequence[str]) -> str:
    """A list of lines."""
    return tag("ul", "".join(tag("li", escape_text(line)) for line in lines), class_=class_) if lines else ""


def code_block(lines: Sequence[str]) -> str:
    """Lines in letters of one width, each its own."""
    return tag("pre", tag("code", "\n".join(map(escape_text, lines))), class_="recipe") if lines else ""


def tile_list(values: Sequence[Tile]) -> str:
    """The numbers that lead; what each means is told when one points at it."""
    inside = "".join(
        tag(
            "div",
            tag("dt", escape_text(tile.label))
            + tag("dd", escape_text(tile.value), class_="value")
            + (tag("dd", escape_text(tile.below), class_="below") if tile.below else ""),
            title=tile.help or None,
        )
        for tile in values
    )
    return tag("dl", inside, class_="tiles") if values else ""


def html_table(table: ReportTable) -> str:
    """A table in a box that scrolls sideways by itself, its heading repeated on every printed page."""
    frame = table.frame
    if not frame.width:
        return ""
    classes = [_cell_class(frame[name]) for name in frame.columns]
    head = "".join(
        tag("th", escape_text(name), scope="col", class_=class_ if class_ == "number" else None)
        for name, class_ in zip(frame.columns, classes, strict=True)
    )
    body = "".join(tag("tr", _table_cells(row, classes)) for row in frame.iter_rows())
    inside = tag("thead", tag("tr", head)) + tag("tbody", body)
    if table.title:
        inside = tag("caption", escape_text(table.title)) + inside
    box = tag(
        "div",
        tag("table", inside),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_label=table.title or "Table",
    )
    return box + paragraphs("note", [table.note])


def _table_cells(row: Sequence[str], classes: Sequence[str | None]) -> str:
    return "".join(
        tag("td", escape_text(cell), class_="hash" if _is_hash(cell) else class_)
        for cell, class_ in zip(row, classes, strict=True)
    )


def _cell_class(column: pl.Series) -> str | None:
    """How its cells stand: numbers to the right, short words in one line."""
    if _is_numeric_column(column):
        return "number"
    return "short" if all(len(cell) <= _MAX_UNBROKEN_LENGTH for cell in column) else None


def _is_hash(cell: str) -> bool:
    return _SHA256.fullmatch(cell) is not None


def _is_numeric_column(column: pl.Series) -> bool:
    """Whether all cells that are not empty are numbers or intervals, so that they stand to the right."""
    cells = [cell for cell in column.to_list() if cell]
    return bool(cells) and all(_NUMERIC_CELL.fullmatch(cell) for cell in cells)


# MERGED table_html: How does a table of ECE and Brier become HTML in which every text of a file is only text?


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
    below = "".join(
        f'<td colspan="2">{escape_text(entry.small_print) if entry else ""}</td>' for entry in entries
    )
    second = f'<tr class="below">{below}</tr>' if deep else ""
    head = f"<span>{escape_text(title)}</span>{_small_print(table.row_notes.get(method))}"
    return f'<tr><th scope="row"{span}>{head}</th>{numbers}</tr>{second}'


def _small_print(note: str | None) -> str:
    """What holds of all numbers of a row or column, below its name."""
    return f"<span>{escape_text(note)}</span>" if note else ""


def _number_cells(entry: EceBrierCell | None) -> str:
    if entry is None:
        return '<td title="not available">–</td>' * 2
    flag = (
        f'<span class="flag" title="{escape_text(entry.warning)}">{FEW_BINS_MARK}</span>'
        if entry.warning
        else ""
    )
    return (
        f"<td>{_bold(entry.ece, bold=entry.best_ece)}{flag}</td>"
        f"<td>{_bold(entry.brier, bold=entry.best_brier)}</td>"
    )


def _bold(number: str, *, bold: bool) -> str:
    shown = escape_text(number)
    return f'<strong title="lowest of this run">{shown}</strong>' if bold else shown

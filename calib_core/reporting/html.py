"""HTML elements of a report; text from files is escaped, so that it cannot become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import islice
from math import ceil
from typing import Final

import polars as pl

from calib_core.figures.text import escape_invisible
from calib_core.reporting.export.table import is_numeric_column
from calib_core.views.view import (
    FEW_BINS_MARK,
    EceBrierBlock,
    EceBrierCell,
    EceBrierTable,
    Fact,
    Tile,
    ViewTable,
)

_SHA256: Final = re.compile("[0-9a-f]{64}")
_MAX_UNBROKEN_LENGTH: Final = 22
"""Cells up to this many characters do not wrap on screen, where a table can scroll."""


def escape_text(content: str) -> str:
    """Escapes text for HTML content and attributes; invisible and direction characters show as codes."""
    return escape(escape_invisible(content), quote=True)


def tag(name: str, content: str, /, **attributes: str | None) -> str:
    """Writes one element.

    Parameters
    ----------
    name : str
        The element's name.
    content : str
        HTML; it is not escaped.
    **attributes : str or None
        Values as text, escaped here; None omits the attribute. A trailing underscore is dropped and others
        become hyphens: `class_`, `aria_label`.

    Examples
    --------
    >>> tag("p", "text", class_="note", id=None)
    '<p class="note">text</p>'
    """
    attributes_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{attributes_text}>{content}</{name}>"


def paragraphs(class_: str, lines: Iterable[str]) -> str:
    """Writes each line that is not empty as a paragraph of this class."""
    return "".join(tag("p", escape_text(line), class_=class_) for line in lines if line)


def bullet_list(class_: str, lines: Sequence[str]) -> str:
    """Writes lines as a bullet list; "" if there are none."""
    return tag("ul", "".join(tag("li", escape_text(line)) for line in lines), class_=class_) if lines else ""


def code_block(lines: Sequence[str]) -> str:
    """Writes lines in a fixed-width font; "" if there are none."""
    return tag("pre", tag("code", "\n".join(map(escape_text, lines))), class_="recipe") if lines else ""


def tile_list(tiles: Sequence[Tile]) -> str:
    """Writes tiles, with their help as tooltips; "" if there are none."""
    content = "".join(
        tag(
            "div",
            tag("dt", escape_text(tile.label))
            + tag("dd", escape_text(tile.value), class_="value")
            + (tag("dd", escape_text(tile.below), class_="below") if tile.below else ""),
            title=tile.help or None,
        )
        for tile in tiles
    )
    return tag("dl", content, class_="tiles") if tiles else ""


def fact_list(facts: Sequence[Fact]) -> str:
    """Writes facts under their names; "" if there are none."""
    content = "".join(tag("dt", escape_text(name)) + tag("dd", escape_text(text)) for name, text in facts)
    return tag("dl", content, class_="facts") if facts else ""


def html_table(table: ViewTable) -> str:
    """Writes a table in a box that scrolls sideways; the heading repeats on every printed page."""
    frame = table.texts()
    if not frame.width:
        return ""
    classes = [_cell_class(frame[name]) for name in frame.columns]
    head = "".join(
        tag("th", escape_text(name), scope="col", class_=class_ if class_ == "number" else None)
        for name, class_ in zip(frame.columns, classes, strict=True)
    )
    body = "".join(tag("tr", _table_cells(row, classes)) for row in frame.iter_rows())
    content = tag("thead", tag("tr", head)) + tag("tbody", body)
    if table.title:
        content = tag("caption", escape_text(table.title)) + content
    box = tag(
        "div",
        tag("table", content),
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
    """The class of a column's cells: "number", "short" (no wrapping) or None."""
    if is_numeric_column(column):
        return "number"
    return "short" if all(len(cell) <= _MAX_UNBROKEN_LENGTH for cell in column) else None


def _is_hash(cell: str) -> bool:
    return _SHA256.fullmatch(cell) is not None


# --- Tables of ECE and Brier score --------------------------------------------------------------------------


MAX_PAIRS_OF_COLUMNS: Final = 4
"""At most this many pairs (ECE, Brier) stand side by side; more would be cut off on paper."""


def fit_on_paper(table: EceBrierTable) -> EceBrierTable:
    """The table with wide blocks cut into parts of about as many columns, one below the other."""
    return replace(table, blocks=tuple(part for block in table.blocks for part in _narrow_parts(block)))


def _narrow_parts(block: EceBrierBlock) -> Iterator[EceBrierBlock]:
    """The parts of a block, each without the rows that it has no number of."""
    n_parts = ceil(len(block.columns) / MAX_PAIRS_OF_COLUMNS)
    for part in range(n_parts):
        ends = (len(block.columns) * end // n_parts for end in (part, part + 1))
        columns = dict(islice(block.columns.items(), *ends))
        row_ids = {id_ for column, id_ in block.cells if column in columns}
        rows = {id_: title for id_, title in block.rows.items() if id_ in row_ids}
        yield replace(block, columns=columns, rows=rows)


def ece_brier_html(table: EceBrierTable) -> str:
    """Writes a `<table class="paired">` in a box that scrolls sideways, without styles of its own.

    The lowest numbers are bold and unreliable ECEs marked with FEW_BINS_MARK; tooltips explain both.
    """
    name = escape_text(table.title)
    blocks, above = "", [""]
    for block in table.blocks:
        headings = "" if block.headings == above else _ece_brier_headings(block, table.row_heading)
        blocks += tag("tbody", headings + _ece_brier_block(block))
        above = block.headings
    return (
        f'<div class="paired-box" role="region" tabindex="0" aria-label="{name}"><table class="paired">'
        f"<caption>{name}</caption>{blocks}</table></div>"
    )


def _ece_brier_headings(block: EceBrierBlock, row_heading: str) -> str:
    """The names of the columns, and which number of a pair is which."""
    names = "".join(
        f'<th scope="colgroup" colspan="2">{escape_text(name)}</th>' for name in block.columns.values()
    )
    numbers = '<th scope="col">ECE</th><th scope="col">Brier</th>' * len(block.columns)
    return (
        f'<tr class="names"><td></td>{names}</tr>'
        f'<tr class="numbers"><th scope="col">{row_heading}</th>{numbers}</tr>'
    )


def _ece_brier_block(block: EceBrierBlock) -> str:
    """The name of the data set with notes on its columns, where there are any, then the rows."""
    notes = "".join(
        f'<td colspan="2">{_small_print(block.column_notes.get(column, ()))}</td>' for column in block.columns
    )
    opening = f'<tr class="block"><th scope="rowgroup">{escape_text(block.title)}</th>{notes}</tr>'
    rows = "".join(_ece_brier_row(block, row, title) for row, title in block.rows.items())
    return (opening if block.title or block.column_notes else "") + rows


def _ece_brier_row(block: EceBrierBlock, row: str, title: str) -> str:
    numbers = "".join(_number_cells(block.cells.get((column, row))) for column in block.columns)
    notes = _small_print(block.row_notes.get(row, ()))
    return f'<tr><th scope="row"><span>{escape_text(title)}</span>{notes}</th>{numbers}</tr>'


def _small_print(notes: Iterable[str]) -> str:
    """Notes on all numbers of a row or column, below its name."""
    return "".join(f"<span>{escape_text(note)}</span>" for note in notes)


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

"""How does text become HTML in which it is only text?  Tags, lists, tiles, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

import polars as pl

from calib_core.figures.text import escape_invisible
from calib_core.report.parts import ReportTable, Tile

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
            tag("dt", escape_text(tile.label)) + tag("dd", escape_text(tile.value), class_="value")
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
        "div", tag("table", inside), class_="scroll", role="region", tabindex="0",
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

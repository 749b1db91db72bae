"""What does a report consist of, before it is a document?  Sections, blocks, tiles, figures, tables.

All text is as it stands in files and results: whoever writes the document escapes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from calib_core.figures.layout import without_unset
from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.report.ece_brier_table import EceBrierTable

ProgressCallback = Callable[[float, str], object]
"""Told the share of the work that is done, in [0, 1], and what is being done."""


class Tile(NamedTuple):
    """One number that leads. help: what it means; below: a word on it."""

    label: str
    value: str
    help: str = ""
    below: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ReportFigure:
    """One figure, drawn for a light and for a dark page.

    title: above it, "" where the block's says enough; alt: the sentence that stands for it where it cannot be
    seen; light, dark: what plotly draws; narrow: whether it reads best at half of a page's width; note: below
    the title.
    """

    title: str
    alt: str
    light: Mapping[str, Any]
    dark: Mapping[str, Any]
    narrow: bool = False
    note: str = ""

    @classmethod
    def from_drawing(
        cls,
        draw: Callable[[Theme], Mapping[str, Any]],
        alt: str,
        title: str = "",
        *,
        narrow: bool = False,
        note: str = "",
    ) -> ReportFigure:
        """Both forms of a figure; draw: theme → figure."""
        light, dark = (without_unset(draw(theme)) for theme in (LIGHT, DARK))
        return cls(title, alt, light, dark, narrow, note)


@dataclass(frozen=True, slots=True, eq=False)
class ReportTable:
    """One table. frame: cells as they are read, all text; note: how it is read."""

    title: str
    frame: pl.DataFrame
    note: str = ""

    @classmethod
    def from_rows(cls, title: str, rows: Sequence[Mapping[str, object]], note: str = "") -> ReportTable:
        """From rows that share their columns; a missing value is an empty cell."""
        names = list(rows[0]) if rows else []
        columns = {name: [_cell_text(row.get(name)) for row in rows] for name in names}
        return cls(title, pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)), note)


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One result: of a run, of a data set.

    title: whose it is; by: the confidence method; reading: what it comes to; recipes: how the numbers were
    made, a line each; captions: how the figures are read; remarks: what else has to be known;
    paired: tables of ECE and Brier score; below: tables that stand after the captions; panels: small figures
    that stand side by side; panelled: the heading of these.
    """

    title: str
    method_title: str = ""
    headline: str = ""
    tiles: tuple[Tile, ...] = ()
    recipes: tuple[str, ...] = ()
    figures: tuple[ReportFigure, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    closing_tables: tuple[ReportTable, ...] = ()
    ece_brier_tables: tuple[EceBrierTable, ...] = ()
    small_figures: tuple[ReportFigure, ...] = ()
    small_figures_heading: str = ""
    captions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def not_drawn_blocks(reasons: Sequence[str]) -> tuple[Block, ...]:
    """The last block of a section: what is not drawn and why, each reason once; () where all is."""
    return (Block("Not drawn", remarks=tuple(dict.fromkeys(reasons))),) if reasons else ()


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """What one page says. blocks: at least one; lead: what all runs come to, for the document's head."""

    id: str
    title: str
    question: str
    blocks: tuple[Block, ...]
    lead: tuple[str, ...] = ()

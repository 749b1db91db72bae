"""The parts of a report before it becomes a document: sections, blocks, tiles, figures and tables.

Texts are unescaped, as in files and results; the module that writes the document escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from calib_core.figures.layout import without_unset
from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.views.ece_brier_table import EceBrierTable
from calib_core.wording import cell_text

ProgressCallback = Callable[[float, str], object]
"""Called with the share of the work done, in [0, 1], and a description of the current step."""


class Tile(NamedTuple):
    """One number shown large at the head of a block.

    Attributes
    ----------
    label, value : str
        The name of the number, and the number as text.
    help : str
        What the number means, as a tooltip.
    below : str
        A short note under the number.
    """

    label: str
    value: str
    help: str = ""
    below: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ViewFigure:
    """One figure, drawn for a light and for a dark page.

    Attributes
    ----------
    title : str
        The heading above the figure, "" if the block's title is enough.
    alt : str
        A sentence for screen readers, and for browsers that run no scripts.
    light, dark : Mapping[str, Any]
        The plotly figure for each theme.
    narrow : bool
        Whether the figure reads best at half the width of the page.
    note : str
        A line below the title.
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
    ) -> ViewFigure:
        """Draws a figure for both themes; `draw` turns a theme into a plotly figure."""
        light, dark = (without_unset(draw(theme)) for theme in (LIGHT, DARK))
        return cls(title, alt, light, dark, narrow, note)


@dataclass(frozen=True, slots=True, eq=False)
class ViewTable:
    """One table.

    Attributes
    ----------
    title : str
        The caption, "" for none.
    frame : pl.DataFrame
        The cells as they are displayed; every column is text.
    note : str
        A line below the table on how to read it.
    """

    title: str
    frame: pl.DataFrame
    note: str = ""

    @classmethod
    def from_rows(cls, title: str, rows: Sequence[Mapping[str, object]], note: str = "") -> ViewTable:
        """Builds a table from rows that have the same keys; None becomes an empty cell."""
        names = list(rows[0]) if rows else []
        columns = {name: [cell_text(row.get(name), missing="") for row in rows] for name in names}
        return cls(title, pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)), note)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One result, for example of a run or of a data set.

    Attributes
    ----------
    title : str
        The run, data set or file the result belongs to.
    method_title : str
        The confidence method.
    headline : str
        The main finding in a sentence.
    tiles : tuple[Tile, ...]
        The main numbers.
    recipes : tuple[str, ...]
        How the numbers were computed, one line each.
    figures : tuple[ViewFigure, ...]
        The figures.
    tables : tuple[ViewTable, ...]
        Tables beside or below the figures.
    closing_tables : tuple[ViewTable, ...]
        Tables after the captions.
    ece_brier_tables : tuple[EceBrierTable, ...]
        Tables of ECE and Brier score.
    small_figures : tuple[ViewFigure, ...]
        Figures small enough for several to fit side by side.
    small_figures_heading : str
        The heading above the small figures.
    captions : tuple[str, ...]
        How to read the figures.
    remarks : tuple[str, ...]
        Caveats, and what is missing.
    remarks_heading : str
        The heading above the remarks, "" for none.
    """

    title: str
    method_title: str = ""
    headline: str = ""
    tiles: tuple[Tile, ...] = ()
    recipes: tuple[str, ...] = ()
    figures: tuple[ViewFigure, ...] = ()
    tables: tuple[ViewTable, ...] = ()
    closing_tables: tuple[ViewTable, ...] = ()
    ece_brier_tables: tuple[EceBrierTable, ...] = ()
    small_figures: tuple[ViewFigure, ...] = ()
    small_figures_heading: str = ""
    captions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    remarks_heading: str = ""


def not_drawn_blocks(reasons: Sequence[str]) -> tuple[View, ...]:
    """The last block of a section: why something is not drawn, each reason once; () if all is drawn."""
    return (View("Not shown", remarks=tuple(dict.fromkeys(reasons))),) if reasons else ()


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """The answer to one page's question.

    Attributes
    ----------
    id, title, question : str
        Those of the page.
    blocks : tuple[View, ...]
        One or more results.
    lead : tuple[str, ...]
        Sentences about all runs for the head of the document.
    """

    id: str
    title: str
    question: str
    blocks: tuple[View, ...]
    lead: tuple[str, ...] = ()


def text_lines(*lines: str | None) -> tuple[str, ...]:
    """The lines that are not empty."""
    return tuple(line for line in lines if line)


def named_reasons(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Why something is missing, a line each."""
    return tuple(f"{name}: {reason}" for name, reason in reasons.items())

"""What is said and shown of a result, before it becomes a page, a report, a cell of a notebook or a print.

A view is plain data: texts are unescaped, as in files and results; figures are drawn when they are shown.
What draws views (`pages/widgets/view.py`, `calib_core/reporting`, `calib_core/notebook.py`,
`calib_core/cli/rendering.py`) knows no question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import polars as pl

from calib_core.figures.palette import Theme
from calib_core.results.columns import Column, column_texts
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.wording import cell_text, names_sharing

ProgressCallback = Callable[[float, str], object]
"""Called with the share of the work done, in [0, 1], and a description of the current step."""

FEW_BINS_MARK = "†"
"""Marks an ECE that rests on one or two bins, because most confidences lie in them."""

Draw = Callable[[Theme], Mapping[str, Any]]
"""Draws a figure, as plotly has it, with the colours of a theme."""


class Tile(NamedTuple):
    """One number shown large at the head of a view.

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


class Fact(NamedTuple):
    """What a reader may look up: one sentence or two under a name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """What of a figure or a table goes into a file.

    Attributes
    ----------
    frame : Callable
        Returns the numbers in full.
    recipe : str
        How they were computed, one line or more.
    name : tuple of (str or int)
        What tells the file's name from those of other files of the view, such as metric and bins.
    """

    frame: Callable[[], pl.DataFrame]
    recipe: str
    name: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ViewFigure:
    """One figure.

    Attributes
    ----------
    draw : Callable
        Draws it in a theme.
    alt : str
        A sentence for screen readers, and for browsers that run no scripts.
    title : str
        What it is called; its heading where a view has several figures.
    narrow : bool
        Whether the figure reads best at half the width of the page.
    note : str
        A line below the title.
    id : str
        Unique within the view.
    numbers : Numbers, optional
        The numbers behind it.
    """

    draw: Draw
    alt: str
    title: str = ""
    narrow: bool = False
    note: str = ""
    id: str = "figure"
    numbers: Numbers | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ViewTable:
    """One table.

    Attributes
    ----------
    title : str
        The caption, "" for none.
    frame : pl.DataFrame
        The values of its columns, at least.
    columns : tuple of Column
        Those shown, in order; one without a title is another's upper end, and not shown by itself.
    note : str
        A line below the table on how to read it.
    id : str
        Unique within the view.
    row_keys : tuple of str
        What each row stands for, where a row can be chosen.
    numbers : Numbers, optional
        The table in full.
    """

    title: str
    frame: pl.DataFrame
    columns: tuple[Column, ...]
    note: str = ""
    id: str = "table"
    row_keys: tuple[str, ...] = ()
    numbers: Numbers | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(column for column in self.columns if column.title))

    @classmethod
    def from_rows(cls, title: str, rows: Sequence[Mapping[str, object]], note: str = "") -> ViewTable:
        """Build a table of texts from rows that have the same keys; None becomes an empty cell."""
        names = list(rows[0]) if rows else []
        columns = {name: [cell_text(row.get(name), missing="") for row in rows] for name in names}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
        return cls(title, frame, tuple(Column(name, name) for name in names), note)

    @property
    def headings(self) -> list[str]:
        """The titles of the columns, each once: a run may be called as another column is."""
        found: list[str] = []
        for column in self.columns:
            n_same = sum(heading.rstrip() == column.title for heading in found)
            found.append(column.title + " " * n_same)
        return found

    def texts(self, *, with_ids: bool = False) -> pl.DataFrame:
        """Return the cells as they are read, under their headings; every column is text.

        Parameters
        ----------
        with_ids : bool
            Whether methods and metrics are named by their ids, as the command line takes them, and not by
            their titles.
        """
        kept = [
            replace(one, kind="text") if with_ids and one.kind in ("method", "metric") else one
            for one in self.columns
        ]
        texts = (column_texts(column, self.frame) for column in kept)
        cells = dict(zip(self.headings, texts, strict=True))
        return pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String))


@dataclass(frozen=True, slots=True)
class EceBrierCell:
    """One cell of the table: a pair of numbers.

    Attributes
    ----------
    ece, brier : str
        The numbers as text.
    best_ece, best_brier : bool
        Whether the number is the lowest of its run, and so bold.
    warning : str or None
        Why the ECE is unreliable; None if it is not.
    """

    ece: str
    brier: str
    best_ece: bool = False
    best_brier: bool = False
    warning: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EceBrierBlock:
    """One data set: a pair of columns (ECE, Brier) for each model and a row for each method, or transposed.

    Attributes
    ----------
    title : str
        The data set, "" for none.
    columns, rows : Mapping[str, str]
        Key → heading, in order.
    cells : Mapping[tuple[str, str], EceBrierCell]
        (column key, row key) → cell.
    column_notes, row_notes : Mapping[str, tuple[str, ...]]
        Key → what all numbers of the column or row have in common, such as the number of rows used.
    """

    title: str
    columns: Mapping[str, str]
    rows: Mapping[str, str]
    cells: Mapping[tuple[str, str], EceBrierCell]
    column_notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    row_notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def headings(self) -> list[str]:
        """What stands above its columns."""
        return list(self.columns.values())


@dataclass(frozen=True, slots=True, eq=False)
class EceBrierTable:
    """ECE and Brier score, a block for each data set.

    The headings of a block are repeated only where they differ from those of the block above.

    Attributes
    ----------
    title : str
        The title of the table.
    blocks : tuple of EceBrierBlock
    notes : tuple[str, ...]
        How the numbers were computed, one line each.
    row_heading : str
        What the rows are.
    id : str
        Unique within the view.
    numbers : Numbers, optional
        The table in full.
    """

    title: str
    blocks: tuple[EceBrierBlock, ...]
    notes: tuple[str, ...]
    row_heading: str = "Method"
    id: str = "methods"
    numbers: Numbers | None = None

    @property
    def warnings(self) -> list[str]:
        """Why ECEs are unreliable, cell by cell."""
        return [cell.warning for block in self.blocks for cell in block.cells.values() if cell.warning]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One answer, for example about a run or a data set.

    Attributes
    ----------
    title : str
        The run, data set or file it is about.
    method_title : str
        The confidence method.
    headline : str
        The main finding in a sentence.
    caveat : str
        The one thing that changes what a reader would do with the finding; "" for none.
    tiles : tuple of Tile
        The main numbers.
    recipes : tuple of str
        How the numbers were computed, one line each.
    figures, small_figures : tuple of ViewFigure
        The figures, and those small enough for several to fit side by side.
    small_figures_heading : str
    tables : tuple of ViewTable
        Tables beside or below the figures.
    ece_brier_tables : tuple of EceBrierTable
    how_to_read : str
        One line on what the figure shows.
    facts : tuple of Fact
        What else was found, and how; behind "How this was computed".
    left_out : tuple of str
        What is not shown, and why, one line each.
    subject : str
        What the numbers are of, for the titles of files.
    name : tuple of (str or int)
        The same for their names.
    terms : Terms
        The words for its probabilities, in which terms are explained.
    """

    title: str = ""
    method_title: str = ""
    headline: str = ""
    caveat: str = ""
    tiles: tuple[Tile, ...] = ()
    recipes: tuple[str, ...] = ()
    figures: tuple[ViewFigure, ...] = ()
    tables: tuple[ViewTable, ...] = ()
    ece_brier_tables: tuple[EceBrierTable, ...] = ()
    small_figures: tuple[ViewFigure, ...] = ()
    small_figures_heading: str = ""
    how_to_read: str = ""
    facts: tuple[Fact, ...] = ()
    left_out: tuple[str, ...] = ()
    subject: str = ""
    name: tuple[str | int, ...] = ()
    terms: Terms = ANSWER_TERMS


def not_drawn_views(reasons: Sequence[str]) -> tuple[View, ...]:
    """The last view of a section: why something is not drawn, each reason once; () if all is drawn."""
    return (View("Not shown", left_out=tuple(dict.fromkeys(reasons))),) if reasons else ()


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """The answer to one page's question.

    Attributes
    ----------
    id, title, question : str
        Those of the page.
    views : tuple of View
        One or more results.
    lead : tuple of str
        Sentences about all runs for the head of the document.
    """

    id: str
    title: str
    question: str
    views: tuple[View, ...]
    lead: tuple[str, ...] = ()


def file_parts(names: Iterable[str], noun: str) -> list[str]:
    """Return one or two names as parts of a file's name; for more, their number, as in "3-methods"."""
    unique = list(dict.fromkeys(names))
    return unique if len(unique) < 3 else [f"{len(unique)}-{noun}"]


def varying_columns(columns: Iterable[Column], frame: pl.DataFrame, *names: str) -> tuple[Column, ...]:
    """The columns without those of the named that hold one value only."""
    return tuple(
        column for column in columns if column.name not in names or frame[column.name].n_unique() > 1
    )


def columns_in_order(columns: Sequence[Column], *first: str) -> tuple[Column, ...]:
    """The columns, those of the names first."""
    order = {name: place for place, name in enumerate(first)}
    return tuple(sorted(columns, key=lambda column: order.get(column.name, len(order))))


def text_lines(*lines: str | None) -> tuple[str, ...]:
    """The lines that are not empty."""
    return tuple(line for line in lines if line)


def named_reasons(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Why something is missing, a line each."""
    return tuple(f"{name}: {reason}" for name, reason in reasons.items())


def reasons_by_title(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Why runs are not shown, from title → reason: those with the same reason share a line."""
    return tuple(f"{', '.join(titles)}: {why}" for why, titles in names_sharing(reasons.items()).items())

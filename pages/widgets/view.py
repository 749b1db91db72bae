"""A view on a page: headline, numbers, figures, tables and how they were computed, each in its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import polars as pl
import streamlit as st

from calib_core.figures.text import truncate_middle
from calib_core.reporting.export.latex import ece_brier_latex
from calib_core.reporting.html import ece_brier_html
from calib_core.results.columns import Column, column_texts
from calib_core.results.view_caption import ViewCaption
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.views.ece_brier_table import ece_brier_frame
from calib_core.views.glossary import meaning_of
from calib_core.views.view import EceBrierTable, Numbers, View, ViewFigure, ViewTable
from calib_core.wording import COUNT_UNITS, NO_VALUE, ROUNDING_TOLERANCE, SMALLEST_IN_DECIMALS
from pages.state.markdown import escape_markdown
from pages.widgets.export import Export, figure_export_menu, make_file_stem, table_export_menu
from pages.widgets.figure import figure_and_detail, show_chart, side_by_side
from pages.widgets.pickers import ROW_CLICKS, clicked_point_data, clicked_row_data, rows_key, select_point
from pages.widgets.summary import (
    show_computation,
    show_headline,
    show_provenance,
    show_tiles,
    terms_help,
)
from pages.widgets.table import MAX_COLUMN_WIDTH, as_arrow, fit_bars, fit_column_widths, fit_to_page
from pages.widgets.verdicts import CHIP_PADDING, verdict_cells

MAX_PANELS_PER_ROW: Final = 3

MIN_PANEL_WIDTH: Final = 320
"""Width in pixels below which a panel gets a row of its own."""

MIN_PANEL_WIDTH_BESIDE: Final = 430
"""The same beside an open detail."""

ECE_BRIER_STYLE_SHEET: Final = Path(__file__).parent / "ece_brier_table.css"
SMALL_FIGURE_WIDTHS: Final = {3: 260, 4: 230}
"""Number of small figures in a row → width in pixels below which fewer stand in it."""

MAX_SMALL_TITLE: Final = 26
"""Letters of a small figure's title, so that every title takes one line."""

MAX_WHOLE_ROWS: Final = 12
"""Number of rows up to which a table is drawn whole; a longer one scrolls."""

MAX_UNPINNED_COLUMNS: Final = 8
"""Number of columns up to which the first may scroll out of sight."""

MAX_ROWS_ABOVE_DETAIL: Final = 5
"""The same where what a click has opened is below it."""

ROW_HEIGHT: Final = 35
"""Height in pixels of a row, and of the heading."""

PART_OF_A_ROW: Final = 21
"""Height in pixels in sight of the last row of a table that scrolls, which shows that it does."""

_ROOM: Final = MappingProxyType({"part": 4 * NO_VALUE, "verdict": CHIP_PADDING})
"""Kind of a column → text about as wide as what stands around its texts: the shortest bar, or a chip."""

Select: TypeAlias = Callable[[Sequence[Any]], None]
"""Called with what was clicked in a figure or a table."""


def show_view(
    view: View,
    caption: ViewCaption | None = None,
    *,
    selectable: Collection[str] = (),
    chosen: str | None = None,
    controls: Callable[[], None] | None = None,
    detail: Callable[[], None] | None = None,
) -> None:
    """Draw a view from its headline to what was left out.

    Parameters
    ----------
    view : View
    caption : ViewCaption, optional
        Which runs, methods, metric and rows are shown.
    selectable : collection of str
        Ids of the figures and tables in which a click selects a point, or the row of a point.
    chosen : str, optional
        The point that is selected.
    controls : Callable, optional
        Draws what changes the figures, above them.
    detail : Callable, optional
        Draws what a click has opened, beside the figures.
    """
    show_opening(view)
    if controls is not None:
        controls()
    figures, beside = figure_and_detail(has_detail=detail is not None)
    with figures:
        show_figures(view, selectable=selectable, has_detail=detail is not None)
    if detail is not None:
        with beside:
            detail()
    show_how_computed(view, caption)
    for table in view.tables:
        select = select_point if table.id in selectable else None
        show_view_table(view, table, chosen=chosen, select=select)
    show_left_out(view)


def show_part(
    view: View,
    key: str,
    *,
    chosen: str | None = None,
    select: Select | None = None,
    detail: Callable[[], None] | None = None,
) -> None:
    """Draw a further view of a page below the main one: all but its title, headline, caveat and tiles.

    Parameters
    ----------
    view : View
    key : str
        Unique within the page.
    chosen, select, detail
        As for `show_view_table`; the detail is drawn beside figures and tables.
    """
    part, beside = figure_and_detail(has_detail=detail is not None)
    with part:
        show_figures(view)
        for table in view.tables:
            show_view_table(view, table, chosen=chosen, select=select)
        show_how_computed(view, key=f"{key}_computed")
        show_left_out(view, key=f"{key}_left_out")
    if detail is not None:
        with beside:
            detail()


def show_beside(
    view: View,
    *,
    selectable: Collection[str] = (),
    chosen: str | None = None,
    select: Select = select_point,
    detail: Callable[[], None] | None = None,
    is_further: bool = False,
) -> None:
    """Draw the figure of a view, and beside it its tiles, its tables and how all are read.

    Parameters
    ----------
    view : View
    selectable : collection of str
        As for `show_view`.
    chosen : str, optional
        The key of the row that is selected.
    select : Callable
        Called with what was clicked, as `select_point` is.
    detail : Callable, optional
        Draws what a click has opened, below the rows.
    is_further : bool
        Whether it is a further view of the page: headline and recipe stand beside the figure, too.
    """
    figures, beside = side_by_side()
    with figures:
        for figure in view.figures:
            show_view_figure(view, figure, select=select if figure.id in selectable else None)
    with beside:
        if view.tiles:
            show_view_tiles(view)
        if is_further:
            st.markdown(escape_markdown(view.headline))
        for table in view.tables:
            show_view_table(
                view,
                table,
                chosen=chosen,
                select=select if table.id in selectable else None,
                detail=detail,
                max_rows=MAX_ROWS_ABOVE_DETAIL if detail is not None else MAX_WHOLE_ROWS,
                narrow=True,
            )
        show_how_to_read(view, is_selectable=bool(selectable))
        if is_further:
            show_computation(*view.recipes, facts=view.facts, terms=view.terms)


def show_how_to_read(view: View, *, is_selectable: bool = False) -> None:
    """Draw the line on what the figures show."""
    if view.how_to_read:
        click = " Click a point or a row for more." if is_selectable else ""
        help_ = terms_help(view.how_to_read, terms=view.terms)
        st.caption(escape_markdown(view.how_to_read + click), help=help_)


def show_opening(view: View, *, with_tiles: bool = True) -> None:
    """Draw the headline, the caveat, and the tiles unless they stand beside the figure."""
    show_headline(view.headline, terms=view.terms)
    if view.caveat:
        help_ = terms_help(view.caveat, terms=view.terms)
        st.caption(f":material/warning: {escape_markdown(view.caveat)}", help=help_)
    if view.tiles and with_tiles:
        show_view_tiles(view)


def show_view_tiles(view: View) -> None:
    """Draw the tiles; their texts may be of a file."""
    show_tiles(
        [
            tile._replace(
                help=escape_markdown(tile.help or meaning_of(tile.label, view.terms)),
                below=escape_markdown(tile.below),
            )
            for tile in view.tiles
        ]
    )


def show_figures(view: View, *, selectable: Collection[str] = (), has_detail: bool = False) -> None:
    """Draw the figures, narrow ones side by side where there is room, and below them how they are read.

    Tables of ECE and Brier score stand in the place of figures.
    """
    n_figures = len(view.figures)
    cells: Sequence[Any] = [st.container() for _ in view.figures]
    if n_figures > 1 and all(figure.narrow for figure in view.figures):
        width = MIN_PANEL_WIDTH_BESIDE if has_detail else MIN_PANEL_WIDTH
        cells = side_by_side(n_figures, min(n_figures, MAX_PANELS_PER_ROW), min_column_width=width)
    for cell, figure in zip(cells, view.figures, strict=True):
        with cell:
            show_view_figure(view, figure, select=select_point if figure.id in selectable else None)
    for table in view.ece_brier_tables:
        show_ece_brier_table(view, table)
    show_how_to_read(view, is_selectable=bool(selectable))


def show_ece_brier_table(view: View, table: EceBrierTable) -> None:
    """Draw a table of ECE and Brier score with its export menu."""
    st.html(ECE_BRIER_STYLE_SHEET)
    st.html(ece_brier_html(table))
    table_export_menu(
        _export(view, table.numbers, table.title),
        table.id,
        shown=ece_brier_frame(table),
        latex=lambda: ece_brier_latex(table).encode(),
    )


def show_view_figure(view: View, figure: ViewFigure, *, select: Select | None = None) -> None:
    """Draw one figure with its export menu; `select` is called with the custom data of a clicked point."""
    show_view_chart(figure, select=select)
    show_figure_menu(view, figure)


def show_view_chart(figure: ViewFigure, *, select: Select | None = None) -> None:
    """Draw one figure without its export menu, whose texts may not be known yet."""

    def on_select() -> None:
        if select is not None and (data := clicked_point_data(figure.id)):
            select(data)

    show_chart(figure.draw, figure.id, figure.alt, None if select is None else on_select)


def show_figure_menu(view: View, figure: ViewFigure) -> None:
    """Draw the export menu of a figure."""
    figure_export_menu(figure.draw, _export(view, figure.numbers, figure.title), figure.id)


def show_view_table(
    view: View,
    table: ViewTable,
    *,
    chosen: str | None = None,
    select: Select | None = None,
    detail: Callable[[], None] | None = None,
    max_rows: int = MAX_WHOLE_ROWS,
    narrow: bool = False,
) -> None:
    """Draw one table with its export menu.

    Parameters
    ----------
    view : View
    table : ViewTable
    chosen : str, optional
        The key of the row that is selected.
    select : Callable, optional
        Called with the key of a clicked row, or with nothing where a second click clears it.
    detail : Callable, optional
        Draws what a click has opened, right below the rows.
    max_rows : int
        Up to this many rows it is drawn whole; a longer one scrolls.
    narrow : bool
        Whether its columns have only the room that they need.
    """
    if not table.frame.height:
        return
    if table.title:
        st.subheader(escape_markdown(table.title), anchor=False)
    shown, columns = screen_table(table, narrow=narrow, terms=view.terms)
    if not narrow:
        words = zip(table.columns, shown.columns, strict=True)
        numbers = [name for column, name in words if not column.has_words]
        columns = fit_to_page(columns, shown, has_boxes=select is not None, numbers=numbers)
    keys = list(table.row_keys)
    key = table.id if select is None else rows_key(table.id, chosen, *keys)
    selection: dict[str, Any] = {}
    if select is not None:
        rows = [keys.index(chosen)] if chosen in keys else []
        selection = {
            "on_select": lambda: select(clicked_row_data(key, keys, chosen)),
            "selection_mode": ROW_CLICKS,
            "selection_default": {"selection": {"rows": rows, "columns": [], "cells": []}} if rows else None,
        }
    st.dataframe(
        as_arrow(shown),
        key=key,
        hide_index=True,
        column_config=columns,
        placeholder="–",
        height="content" if shown.height <= max_rows else ROW_HEIGHT * max_rows + PART_OF_A_ROW,
        alt=table.title or ": ".join(filter(None, (view.title, view.headline))),
        **selection,
    )
    if detail is not None:
        detail()
    if table.numbers is not None:
        export = _export(view, table.numbers, table.title or view.title or "Table")
        table_export_menu(export, table.id, shown=shown, columns=columns)
    if table.note:
        st.caption(escape_markdown(table.note))


def show_small_figures(view: View) -> None:
    """Draw the small figures in a grid under their heading, each below its title and note."""
    figures = view.small_figures
    if not figures:
        return
    st.subheader(escape_markdown(view.small_figures_heading), anchor=False)
    per_row = 4 if len(figures) in (4, 7, 8) else 3  # three would leave one figure alone in a row
    cells = side_by_side(len(figures), per_row, min_column_width=SMALL_FIGURE_WIDTHS[per_row])
    for cell, figure in zip(cells, figures, strict=True):
        with cell:
            st.subheader(escape_markdown(truncate_middle(figure.title, MAX_SMALL_TITLE)), anchor=False)
            st.caption(escape_markdown(figure.note))
            show_view_figure(view, figure)


def show_how_computed(view: View, caption: ViewCaption | None = None, *, key: str = "looking") -> None:
    """Draw the line that says what is shown; it opens to the recipes and the facts."""
    if caption is not None or view.recipes or view.facts:
        notes = ("\n".join(table.notes) for table in view.ece_brier_tables)
        show_provenance(caption, *view.recipes, *notes, facts=view.facts, key=key, terms=view.terms)


def show_left_out(view: View, *, key: str = "left_out") -> None:
    """Draw, folded, what is not shown, and why."""
    if view.left_out:
        with st.expander(f"Not shown ({len(view.left_out)})", key=key):
            for line in view.left_out:
                st.caption(escape_markdown(line))


def _export(view: View, numbers: Numbers | None, content: str) -> Export:
    """Return what of a figure or table goes into files."""
    if numbers is None:
        raise ValueError(f"what a page shows can be saved, and {content} has no numbers")
    return Export(
        make_file_stem(*view.name, *numbers.name),
        numbers.frame,
        numbers.recipe,
        content,
        view.subject,
        headline=view.headline,
        tiles=view.tiles,
    )


def screen_table(
    table: ViewTable, *, narrow: bool = False, terms: Terms = ANSWER_TERMS
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return a table under its headings as Streamlit takes it; numbers stay numbers, and sort as such.

    Parameters
    ----------
    table : ViewTable
    narrow : bool
        Whether columns of numbers are as wide as their texts, not only those of words, and those that repeat
        what others or the figure beside them say are hidden; the table's menu shows them.
    terms : Terms
        The words in which headings are explained.

    Returns
    -------
    frame : pl.DataFrame
    columns : dict
        Heading → configuration.
    """
    series: list[pl.Series] = []
    columns: dict[str, Any] = {}
    texts: dict[str, list[str]] = {}
    for column, title in zip(table.columns, table.headings, strict=True):
        heading = title.replace("\0", "\N{SYMBOL FOR NULL}")  # polars passes no NUL on to Arrow
        values, config = _screen_column(column, table.frame, terms)
        series.append(values.alias(heading))
        columns[heading] = {**config, "hidden": narrow and column.repeats}
        if narrow or column.has_words or column.upper:
            room = _ROOM.get(column.kind, "")
            texts[heading] = [room + text for text in column_texts(column, table.frame)]
    frame = pl.DataFrame(series)
    if table.columns[0].has_words and frame.width > MAX_UNPINNED_COLUMNS:
        columns[frame.columns[0]]["pinned"] = True
    return frame, fit_column_widths(columns, pl.DataFrame(texts), *texts, max_width=MAX_COLUMN_WIDTH)


def _screen_column(column: Column, frame: pl.DataFrame, terms: Terms) -> tuple[pl.Series, Any]:
    """Return the values of a column and how Streamlit writes them."""
    values, help_ = frame[column.name], column.help or meaning_of(column.title, terms) or None
    if column.kind == "verdict":
        return verdict_cells(column_texts(column, frame), help_)
    is_infinite = values.dtype.is_float() and values.is_infinite().any()  # written “Infinity” as a number
    if column.upper or column.draws or column.has_words or column.kind == "p" or is_infinite:
        texts = values.to_list() if column.kind == "text" else column_texts(column, frame)
        return pl.Series(texts, dtype=pl.String), st.column_config.TextColumn(help=help_)
    if column.kind == "part":
        bars = st.column_config.ProgressColumn(format="%.1f %%", min_value=0, max_value=100, help=help_)
        return values * 100, fit_bars(bars, values * 100)
    values, number_format = _as_shown(column, values)
    return values, st.column_config.NumberColumn(format=number_format, help=help_)


_FORMATS: Final[Mapping[str, str]] = {"count": "localized", "exact": "%.15g"}


def _as_shown(column: Column, values: pl.Series) -> tuple[pl.Series, str]:
    """Return numbers in the unit that is shown, and the format in which `column_texts` writes them."""
    digits = 1 if column.digits is None else column.digits
    match column.kind:
        case "share":
            return values * 100, f"%.{digits}f %%"
        case "bound":
            return (values * 1000 + ROUNDING_TOLERANCE).floor() / 10, "%.1f %%"
        case "points":
            return values * 100, f"%+.{digits}f"
        case "amount":
            return _in_units(values)
        case _:
            return values, _number_format(column, values)


def _number_format(column: Column, values: pl.Series) -> str:
    if column.kind in _FORMATS:
        return _FORMATS[column.kind]
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if column.kind == "mixed":
        smallest = min((size for size in sizes if size > ROUNDING_TOLERANCE), default=1.0)
        return "%.4f" if smallest >= SMALLEST_IN_DECIMALS else "%.4g"
    digits = "%.4f" if max(sizes, default=0.0) >= SMALLEST_IN_DECIMALS else "%.3g"
    if column.digits is not None:
        digits = f"%.{column.digits}f"
    return digits.replace("%", "%+") if column.kind == "signed" else digits


def _in_units(values: pl.Series) -> tuple[pl.Series, str]:
    """Return large numbers in the unit of the largest, to three digits, and their format."""
    largest = max(values.drop_nulls(), default=0)
    unit, letter = next(((unit, letter) for unit, letter in COUNT_UNITS if largest >= unit), (1, ""))
    scaled = [None if value is None else float(f"{value / unit:.3g}") for value in values]
    return pl.Series(scaled, dtype=pl.Float64), f"%g{letter}"

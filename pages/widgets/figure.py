"""Figures on a page: the theme, and the chart with its export menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.figures.palette import THEMES, Theme
from calib_core.figures.unvalidated_figure import UnvalidatedFigure
from pages.widgets.export import Export, figure_export_menu

PLOTLY_CONFIG = {"displaylogo": False, "showSendToCloud": False, "displayModeBar": False}


def page_theme() -> Theme:
    """Return the figure theme that matches the page's current theme."""
    return THEMES[st.context.theme.type or "light"]


def figure_and_detail(*, has_detail: bool) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the place of a figure or table, and beside it that of what a click in it opens.

    Parameters
    ----------
    has_detail : bool
        Whether something is open; otherwise the figure is as wide as the page.
    """
    if has_detail:
        figure, detail = side_by_side()
        return figure, detail
    return st.container(), st.container()


def side_by_side(
    n_cells: int = 2,
    n_columns: int | None = None,
    *,
    min_column_width: int = 400,
) -> list[DeltaGenerator]:
    """Return places beside each other, which all take their width before anything is drawn in them.

    An empty one would take none, so that a figure would be drawn once in the width of the page and again
    when its neighbour comes.

    Parameters
    ----------
    n_cells : int
    n_columns : int, optional
        Largest number of places in a row; all by default.
    min_column_width : int
        In pixels; where places would be narrower, fewer stand in a row.
    """
    with st.grid(n_columns or n_cells, min_column_width=min_column_width, gap="medium"):
        cells = [st.container() for _ in range(n_cells)]
    for cell in cells:
        cell.empty()
    return cells


def show_figure(draw: Callable[[Theme], Mapping[str, Any]], key: str, alt: str, export: Export) -> None:
    """Draw a figure, as `show_chart` does, with its export menu."""
    show_chart(draw, key, alt)
    figure_export_menu(draw, export, key)


def show_chart(
    draw: Callable[[Theme], Mapping[str, Any]],
    key: str,
    alt: str,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Draw a figure with its text for screen readers.

    Parameters
    ----------
    draw : Callable
        Draws the figure in a theme, the page's or that of an exported file.
    key : str
    alt : str
        Text for screen readers.
    on_select : Callable, optional
        Called when a point is clicked.
    """
    st.plotly_chart(
        UnvalidatedFigure(_drawn_once(draw(page_theme()), is_clickable=on_select is not None)),
        key=key,
        alt=alt,
        theme=None,
        config=PLOTLY_CONFIG,
        on_select=on_select or "ignore",
        selection_mode="points",
    )


def _drawn_once(figure: Mapping[str, Any], *, is_clickable: bool) -> dict[str, Any]:
    """Return the figure in a form that the browser draws once.

    Streamlit hands plotly a copy of the figure right after it was drawn. Plotly draws the copy as well if it
    finds a difference, for which it takes equal lists unless `datarevision` says otherwise, equal objects in
    `meta`, an empty template, and the mode of dragging that Streamlit sets for figures that can be clicked.
    Streamlit makes a new chart of every other figure, so the revision need not change.
    """
    layout = {key: value for key, value in figure["layout"].items() if key != "template"}
    layout["datarevision"] = 1
    if is_clickable:
        layout["dragmode"] = "pan"
    data = [{**trace, "meta": [trace["meta"]]} if "meta" in trace else trace for trace in figure["data"]]
    return {**figure, "data": data, "layout": layout}

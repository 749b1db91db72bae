"""Figures on a page: the theme, and the chart with its export menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.figures.palette import THEMES, Theme
from calib_core.figures.unvalidated_figure import UnvalidatedFigure
from pages.widgets.export import Export, figure_export_menu

PLOTLY_CONFIG = {"displaylogo": False, "showSendToCloud": False, "displayModeBar": False, "responsive": True}


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
    with st.grid(2 if has_detail else 1, min_column_width=430, gap="medium"):
        return st.container(), st.container()


def show_figure(
    draw: Callable[[Theme], Mapping[str, Any]],
    key: str,
    alt: str,
    export: Export,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Draw a figure with its text for screen readers and its export menu.

    Parameters
    ----------
    draw : Callable
        Draws the figure in a theme, the page's or that of an exported file.
    key : str
    alt : str
        Text for screen readers.
    export : Export
    on_select : Callable, optional
        Called when a point is clicked.
    """
    st.plotly_chart(
        UnvalidatedFigure(draw(page_theme())),
        key=key,
        alt=alt,
        theme=None,
        config=PLOTLY_CONFIG,
        on_select=on_select or "ignore",
        selection_mode="points",
    )
    figure_export_menu(draw, export, key)

"""moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from calib_core.figures.palette import THEMES, Theme
from calib_core.figures.unvalidated_figure import UnvalidatedFigure
from pages.widgets.export import Export, figure_export_menu

PLOTLY_CONFIG = {"displaylogo": False, "showSendToCloud": False, "displayModeBar": False, "responsive": True}


def page_theme() -> Theme:
    """The figure theme of the page as it is now."""
    return THEMES[st.context.theme.type or "light"]


def show_figure(
    draw: Callable[[Theme], Mapping[str, Any]],
    key: str,
    alt: str,
    export: Export,
    on_select: Callable[[], None] | None = None,
) -> None:
    """A figure with its sentence for screen readers, and its menu of files.

    draw: makes it for a theme, the page's or that of a file; on_select: called when a point is clicked.
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

"""How does a result appear on a page?  Tiles, recipe, figure, table, download: the same on every page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.figures.as_drawn import AsDrawn
from calib_core.figures.theme import THEMES, Theme
from calib_core.report.spreadsheet import to_csv
from pages.parts.literal import literal

CONFIG = {"displaylogo": False, "showSendToCloud": False, "displayModeBar": False, "responsive": True}


def theme() -> Theme:
    """The figure theme of the page as it is now."""
    return THEMES[st.context.theme.type or "light"]


def number(value: float | None, form: str = ".4f") -> str:
    """A number for a tile; a dash where it is not defined."""
    if value is None:
        return "–"
    return "∞" if value == float("inf") else format(value, form)


def percent(value: float | None) -> str:
    """A share for a tile: one decimal, with the sign."""
    return "–" if value is None else f"{100 * value:.1f} %"


def tiles(values: Sequence[tuple[str, str, str] | tuple[str, str, str, str]]) -> None:
    """(label, value, help, what stands below the value) in a row that folds to two columns on a narrow page.

    No text of a file.
    """
    with st.grid(len(values) if len(values) < 6 else 4, min_column_width=150):
        for label, value, help_, *below in values:
            note = below[0] if below and below[0] else None
            st.metric(
                label, value, note, help=help_, border=True, height="stretch", delta_color="off",
                delta_arrow="off",
            )


def recipe(text: str) -> None:
    """How the numbers above were made, as one monospaced line that wraps."""
    st.code(text, language=None, wrap_lines=True)


def remarks(*texts: str | None) -> None:
    """What a reader of the numbers has to know besides, on one line."""
    told = " · ".join(literal(text) for text in texts if text)
    if told:
        st.caption(f":material/info: {told}")


def rows_help(evidence: Evidence) -> str:
    """Why fewer rows are used than there are."""
    parts = [
        f"{count:,} {literal(reason)}" for reason, count in evidence.missing.items() if count
    ]
    if left_out := evidence.run.ledger.left_out:
        parts.append(f"{left_out:,} bad rows left out")
    return f"Not used: {'; '.join(parts)}." if parts else "Every row has a confidence and an outcome."


def figure(
    drawn: Mapping[str, Any],
    key: str,
    alt: str,
    on_select: Callable[[], None] | None = None,
) -> None:
    """A figure with its sentence for screen readers; `on_select` is called when a point is clicked."""
    st.plotly_chart(
        AsDrawn(drawn),
        key=key,
        alt=alt,
        theme=None,
        config=CONFIG,
        on_select=on_select or "ignore",
        selection_mode="points",
    )


def download(label: str, frame: Callable[[], pl.DataFrame], name: str, key: str) -> None:
    """A table as CSV, made when it is asked for."""
    st.download_button(
        label,
        data=lambda: to_csv(frame()),
        file_name=name,
        mime="text/csv",
        key=key,
        on_click="ignore",
        icon=":material/download:",
        help="Text that a spreadsheet would run as a formula has an apostrophe in front.",
    )

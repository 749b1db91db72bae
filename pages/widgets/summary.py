"""How does a result appear on a page?  Tiles, recipe, figure: the same on every page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from calib_core.results.view_caption import ViewCaption
from calib_core.wording import format_number, format_percent
from pages.state.markdown import escape_markdown

number, percent = format_number, format_percent


def show_tiles(values: Sequence[tuple[str, str, str] | tuple[str, str, str, str]]) -> None:
    """(label, value, help, what stands below the value) in rows of at most five that are about as long.

    On a narrow page they fold to two columns. No text of a file.
    """
    even = math.ceil(len(values) / max(1, math.ceil(len(values) / 5)))
    with st.grid(max(3, even), min_column_width=150):  # one alone is not as wide as the page
        for label, value, help_, *below in values:
            note = below[0] if below and below[0] else None
            st.metric(
                label,
                value,
                note,
                help=help_,
                border=True,
                height="stretch",
                delta_color="off",
                delta_arrow="off",
            )


def show_headline(sentence: str, view: ViewCaption, key: str = "looking") -> None:
    """What the data comes to, and below it what one is looking at: the first two lines of a page or block."""
    st.header(escape_markdown(sentence), anchor=False)
    show_view_caption(view.sentence, key)


def show_view_caption(text: str, key: str = "looking") -> None:
    """What one is looking at: which runs, methods, number and rows."""
    with st.container(key=key):
        st.caption(f":material/visibility: {escape_markdown(text)}")


def show_recipe(text: str) -> None:
    """How the numbers above were made, as one monospaced line that wraps."""
    st.code(text, language=None, wrap_lines=True)


def show_remarks(*texts: str | None) -> None:
    """What a reader of the numbers has to know besides, on one line."""
    told = " · ".join(escape_markdown(text) for text in texts if text)
    if told:
        st.caption(f":material/info: {told}")


def show_reasons(title: str, reasons: Mapping[str, str], key: str, *, expanded: bool = False) -> None:
    """What is not there, folded under how much it is: name → why. Nothing where all is there."""
    if reasons:
        with st.expander(f"{title} ({len(reasons)})", key=key, expanded=expanded):
            for name, why in reasons.items():
                st.caption(f"**{escape_markdown(name)}**: {escape_markdown(why)}")

"""moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from calib_core.errors import shorten
from pages.state.markdown import escape_markdown
from pages.state.url import parse_whole_number


def warn_not_available(key: str, reason: str) -> None:
    """Says of a value that only the page's body can judge that it is not to be had, and forgets it."""
    value = st.query_params.get(key, "")
    st.warning(f"The link asks for {key} “{escape_markdown(shorten(value, 40))}”, {reason}")
    st.query_params.pop(key, None)
    for held in ("_url", "_held"):
        st.session_state.get(held, {}).pop(key, None)


def url_text_input(key: str, label: str, placeholder: str) -> str:
    """A text in the body of a page, kept in the address; the label is for screen readers alone."""
    st.session_state[key] = st.query_params.get(key, "")
    return st.text_input(
        label, key=key, placeholder=placeholder, label_visibility="collapsed", on_change=_on_text, args=(key,)
    )


def _on_text(key: str) -> None:
    if text := str(st.session_state[key]).strip():
        st.query_params[key] = text
    else:
        st.query_params.pop(key, None)


def url_toggle(key: str, label: str, help_: str, *, default: bool = False) -> bool:
    """A switch in the body of a page, kept in the address as "1" or "0" where it is not as by default."""
    widget = f"_{key}"
    st.session_state[widget] = {"1": True, "0": False}.get(st.query_params.get(key, ""), default)
    return st.toggle(label, key=widget, help=help_, on_change=_on_toggle, args=(key, widget, default))


def _on_toggle(key: str, widget: str, default: bool) -> None:  # noqa: FBT001 (Streamlit passes it so)
    wanted: bool = st.session_state[widget]
    if wanted == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = "1" if wanted else "0"


def url_selectbox(key: str, label: str, options: Sequence[str], help_: str, default: int = 0) -> int:
    """The place (from 0) of one of `options`, chosen in the body of a page; from 1 in the address."""
    widget = f"_{key}"
    held = st.query_params.get(key, "")
    place = parse_whole_number(held, 1, len(options)) or default + 1
    if held and str(place) != held:
        warn_not_available(key, f"which is not here. Shown: {place}.")
    st.session_state[widget] = place
    st.selectbox(
        label,
        range(1, len(options) + 1),
        key=widget,
        format_func=lambda at: options[cast("int", at) - 1],
        help=help_,
        on_change=_on_select,
        args=(key, widget),
    )
    return place - 1


def _on_select(key: str, widget: str) -> None:
    st.query_params[key] = str(st.session_state[widget])

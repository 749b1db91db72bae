"""Controls in the body of a page whose values are kept in the address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import streamlit as st

from calib_core.errors import shorten
from pages.state.markdown import escape_markdown
from pages.state.url import parse_whole_number


def warn_not_available(key: str, reason: str) -> None:
    """Warn that a value of the link, which only the page's body can judge, is not available; forget it."""
    value = st.query_params.get(key, "")
    st.warning(f"The link asks for {key} “{escape_markdown(shorten(value, 40))}”, {reason}")
    st.query_params.pop(key, None)
    for held in ("_url", "_held"):
        st.session_state.get(held, {}).pop(key, None)


def _keep(key: str, widget: str, default: str = "", written: Callable[[Any], str] = str) -> None:
    """Put what a control was set to into the address; what it shows by default leaves the address."""
    value = written(st.session_state[widget])
    if value == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = value


def _digit(value: bool) -> str:  # noqa: FBT001 (Streamlit passes it so)
    return "1" if value else "0"


def url_text_input(key: str, label: str, placeholder: str) -> str:
    """Draw a text field whose text is kept in the address; the label is for screen readers only."""
    st.session_state[key] = st.query_params.get(key, "")
    return st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        label_visibility="collapsed",
        on_change=_keep,
        args=(key, key, "", str.strip),
    )


def url_labelled_text(key: str, label: str, placeholder: str, help_: str) -> str:
    """Draw a text field with a visible label, whose text is kept in the address."""
    st.session_state[key] = st.query_params.get(key, "")
    return st.text_input(
        label, key=key, placeholder=placeholder, help=help_, on_change=_keep, args=(key, key, "", str.strip)
    ).strip()


def is_url_toggle_on(key: str, *, default: bool = False) -> bool:
    """Return what a switch of `url_toggle` is set to, also before it is drawn."""
    return {"1": True, "0": False}.get(st.query_params.get(key, ""), default)


def url_toggle(key: str, label: str, help_: str, *, default: bool = False) -> bool:
    """Draw a switch, kept in the address as "1" or "0" where it differs from its default."""
    widget = f"_{key}"
    st.session_state[widget] = is_url_toggle_on(key, default=default)
    return st.toggle(
        label, key=widget, help=help_, on_change=_keep, args=(key, widget, _digit(default), _digit)
    )


def url_segment(key: str, label: str, titles: Mapping[str, str], help_: str | None = None) -> str:
    """Draw a choice of few options side by side, the first by default; the address keeps any other.

    Without a help text the label is for screen readers only.
    """
    widget, options = f"_{key}", list(titles)
    requested = st.query_params.get(key, "")
    if requested and requested not in titles:
        warn_not_available(key, f"which is not available. Shown: {titles[options[0]]}.")
    chosen = requested if requested in titles else options[0]
    st.session_state[widget] = chosen
    st.segmented_control(
        label,
        options,
        key=widget,
        required=True,
        format_func=lambda option: titles[option],
        help=help_,
        label_visibility="visible" if help_ else "collapsed",
        on_change=_keep,
        args=(key, widget, options[0]),
    )
    return chosen


def url_pills(key: str, label: str, titles: Mapping[str, str]) -> list[str]:
    """Draw buttons of which several can be chosen, and return those; the label is for screen readers only."""
    widget = f"_{key}"
    requested = st.query_params.get(key, "").split(",")
    chosen = [option for option in titles if option in requested]
    st.session_state[widget] = chosen
    st.pills(
        label,
        list(titles),
        key=widget,
        selection_mode="multi",
        format_func=lambda option: titles[option],
        label_visibility="collapsed",
        on_change=_keep,
        args=(key, widget, "", ",".join),
    )
    return chosen


def url_selectbox(key: str, label: str, options: Sequence[str], help_: str, default: int = 0) -> int:
    """Draw a select box and return the index (from 0) of the chosen option; the address counts from 1."""
    widget = f"_{key}"
    requested = st.query_params.get(key, "")
    position = parse_whole_number(requested, 1, len(options)) or default + 1
    if requested and str(position) != requested:
        warn_not_available(key, f"which is not available. Shown: {position}.")
    st.session_state[widget] = position
    st.selectbox(
        label,
        range(1, len(options) + 1),
        key=widget,
        format_func=lambda number: options[cast("int", number) - 1],
        help=help_,
        on_change=_keep,
        args=(key, widget),
    )
    return position - 1

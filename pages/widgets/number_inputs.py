"""Number fields of the sidebar, whose value is kept in the address."""

from __future__ import annotations

import streamlit as st

from pages.state.url import UrlState, parse_whole_number


def whole_number_input(
    url_state: UrlState, key: str, label: str, limits: tuple[int, int, int], help_: str
) -> int:
    """Draw a whole-number field and return its number; `limits` holds the default, minimum and maximum."""
    default, minimum, maximum = limits
    text = url_state.pick(key, None, str(default))
    parsed = parse_whole_number(text, minimum, maximum)
    number = default if parsed is None else parsed
    store_value(url_state, key, str(number), str(default), valid=parsed is not None)
    url_state.set_widget(f"{key}_typed", number)
    st.number_input(
        label, minimum, maximum, key=f"{key}_typed", step=1, help=help_, on_change=on_number, args=(key, "d")
    )
    return number


def store_value(url_state: UrlState, key: str, value: str, default: str, *, valid: bool) -> None:
    """Remember a control's value; an invalid one from a link is noted as rejected."""
    if not valid and url_state.url_changed and key in url_state.url:
        url_state.rejected[key] = url_state.url[key]
    url_state.set_widget(key, value)
    url_state.remember(key, value, default)


def on_number(key: str, number_format: str) -> None:
    """Write a typed number as the address has it."""
    st.session_state[key] = format(st.session_state[f"{key}_typed"], number_format).rstrip(
        "0" if "f" in number_format else ""
    )

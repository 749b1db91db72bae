"""How does a person hand on what they see?  The link to this page with this choice, ready to be copied."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlencode

import streamlit as st

from pages.parts.address import Address

IN_BODY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "start": ("every",),
    "tour": ("step", "large"),
    "reliability": ("bin", "log", "search"),
    "robustness": ("place",),
    "comparison": ("at",),
    "sampling": ("place",),
    "training": ("at", "alone"),
})
"""Page → what of its choice is made in its body, and not in the sidebar."""

BY_FOLDER: Final = ("run", "method", "dataset")
"""Defaults that depend on the folder: they are said in the link, so that another folder shows the same."""

WHOLE: Final = ("report",)
"""Pages that show what was chosen on the others."""

HELP: Final = (
    "Opens this page with this choice wherever the same runs are loaded. What is not there is said, and the "
    "rest is shown."
)


def copy_link(page: str, address: Address) -> None:
    """A small control that shows the link; the box that it stands in has a button to copy it."""
    with st.popover("Copy link", icon=":material/link:", key="copy_link", width="stretch"):
        st.code(link(page, address), language=None, wrap_lines=True)
        st.caption(HELP)


def link(page: str, address: Address) -> str:
    """This page's address with its own part of the choice alone: what other pages keep would make it long."""
    shown = {key: str(st.session_state.get(key, "")) for key in BY_FOLDER if key in address.picked}
    choice = shared(page, {**shown, **address.now}, address.picked)
    query = urlencode(choice, quote_via=quote, safe=",:~*-")
    return f"{here(page)}{f'?{query}' if query else ''}"


def here(page: str) -> str:
    """The page's address without a choice, as the browser has it."""
    known = (st.context.url or "").partition("?")[0]
    return known or f"/{'' if page == 'start' else page}"


def shared(page: str, now: Mapping[str, str], picked: set[str]) -> dict[str, str]:
    """The part of the choice that this page shows; good: whether rows are left out decides on every page."""
    own = {*picked, *IN_BODY.get(page, ()), "good"}
    return {key: value for key, value in now.items() if value and (key in own or page in WHOLE)}

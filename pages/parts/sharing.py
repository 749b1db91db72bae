"""How does a person hand on what they see?  The link to this page with this choice, ready to be copied."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlencode

import streamlit as st

from pages.parts.address import UrlState

BODY_KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "start": ("every",),
    "tour": ("step", "large"),
    "reliability": ("bin", "log", "search"),
    "robustness": ("place",),
    "comparison": ("at",),
    "sampling": ("place",),
    "training": ("at", "alone"),
})
"""Page → what of its choice is made in its body, and not in the sidebar."""

FOLDER_DEPENDENT_KEYS: Final = ("run", "method", "dataset")
"""Defaults that depend on the folder: they are said in the link, so that another folder shows the same."""

PAGES_SHARING_ALL: Final = ("report",)
"""Pages that show what was chosen on the others."""

COPY_LINK_HELP: Final = (
    "Opens this page with this choice wherever the same runs are loaded. What is not there is said, and the "
    "rest is shown."
)


def show_copy_link(page: str, url_state: UrlState) -> None:
    """A small control that shows the link; the box that it stands in has a button to copy it."""
    with st.popover("Copy link", icon=":material/link:", key="copy_link", width="stretch"):
        st.code(share_link(page, url_state), language=None, wrap_lines=True)
        st.caption(COPY_LINK_HELP)


def share_link(page: str, url_state: UrlState) -> str:
    """This page's address with its own part of the choice alone: what other pages keep would make it long."""
    shown = {key: str(st.session_state.get(key, "")) for key in FOLDER_DEPENDENT_KEYS if key in url_state.picked}
    choice = shared_values(page, {**shown, **url_state.now}, url_state.picked)
    query = urlencode(choice, quote_via=quote, safe=",:~*-")
    return f"{page_url(page)}{f'?{query}' if query else ''}"


def page_url(page: str) -> str:
    """The page's address without a choice, as the browser has it."""
    known = (st.context.url or "").partition("?")[0]
    return known or f"/{'' if page == 'start' else page}"


def shared_values(page: str, values: Mapping[str, str], used_keys: set[str]) -> dict[str, str]:
    """The part of the choice that this page shows; good: whether rows are left out decides on every page."""
    own = {*used_keys, *BODY_KEYS.get(page, ()), "good"}
    return {key: value for key, value in values.items() if value and (key in own or page in PAGES_SHARING_ALL)}

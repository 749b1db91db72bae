"""Links from one page to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitPageNotFoundError

LINK_KEYS: Final = ("good", "tolerance")
"""Keys of the address that every link keeps: the page it leads to has the same rows and verdicts."""


def kept_query(query: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return these values of an address and those of `LINK_KEYS` that the page's own has."""
    return {key: st.query_params[key] for key in LINK_KEYS if st.query_params.get(key)} | dict(query or {})


def page_link(
    script: str,
    label: str,
    icon: str,
    query: Mapping[str, str] | None = None,
    *,
    into: DeltaGenerator | None = None,
    width: Literal["content", "stretch"] = "content",
    large: bool = False,
    help_: str | None = None,
) -> None:
    """Draw a link to a page; only its label where a test runs a page's script alone.

    Parameters
    ----------
    script : str
    label : str
    icon : str
    query : Mapping of str to str, optional
        Values of the address that the link opens.
    into : DeltaGenerator, optional
        Container that the link is drawn in.
    width : {"content", "stretch"}
    large : bool
        Whether the link is one of the main next steps.
    help_ : str, optional
        Text shown while the pointer is over the link.
    """
    container = st if into is None else into
    text = f"**{label}**" if large else label
    kept = kept_query(query) or None
    try:
        container.page_link(script, label=text, icon=icon, query_params=kept, width=width, help=help_)
    except StreamlitPageNotFoundError:
        container.caption(label)

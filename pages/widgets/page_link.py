"""Links from one page to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitPageNotFoundError

KEPT_KEYS: Final = ("tolerance",)
"""Keys of the address that every link keeps, so that a run has the same verdict on the page it leads to."""


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
    kept = {key: st.query_params[key] for key in KEPT_KEYS if key in st.query_params}
    query = {**kept, **(query or {})}
    try:
        container.page_link(
            script, label=text, icon=icon, query_params=query or None, width=width, help=help_
        )
    except StreamlitPageNotFoundError:
        container.caption(label)

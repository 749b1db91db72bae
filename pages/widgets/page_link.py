"""How does one page lead to another?  By a link; by its words alone where a test runs the script alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitPageNotFoundError


def page_link(
    script: str,
    label: str,
    icon: str,
    query: Mapping[str, str] | None = None,
    *,
    into: DeltaGenerator | None = None,
    width: Literal["content", "stretch"] = "content",
    large: bool = False,
) -> None:
    """A link to a page. query: what its address says; into: where it stands; large: one of the ways on."""
    place = st if into is None else into
    words = f"**{label}**" if large else label
    try:
        place.page_link(script, label=words, icon=icon, query_params=query or None, width=width)
    except StreamlitPageNotFoundError:
        place.caption(label)

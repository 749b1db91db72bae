"""The button that reads multiple choice as in the MMLU replication, shared by the pages that offer it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import streamlit as st

from pages.state.url import BIN_KEYS

MMLU_PRESET: Final[Mapping[str, str]] = {
    "method": "choice_length_normalised",
    "labels": "all",
    "renormalise": "no",
}
"""URL values with which choices are read as in the MMLU replication; M = 10 and equal width are defaults."""

_REPLACED_KEYS: Final = ("m", "binning", "metric", "view", *BIN_KEYS)
"""URL keys whose defaults belong to the preset, or that another reading leaves without a meaning."""


def mmlu_preset_button(methods: Collection[str]) -> None:
    """Draw the button; disabled where the preset's method is not among these.

    Parameters
    ----------
    methods : collection of str
        Ids of the methods that the page can show.
    """
    st.button(
        "As in the MMLU replication",
        key="mmlu",
        on_click=_use_preset,
        width="stretch",
        icon=":material/auto_awesome_motion:",
        disabled=MMLU_PRESET["method"] not in methods,
        help="All labels, length-normalised, not renormalised, M = 10, as in Kadavath et al. and the MMLU "
        "replication. Needs the choices' log-probabilities and lengths.",
    )


def _use_preset() -> None:
    """Set all values of the preset in one address change, so that one step back undoes them."""
    others = {key: value for key, value in st.query_params.to_dict().items() if key not in _REPLACED_KEYS}
    st.query_params.from_dict({**others, **MMLU_PRESET})

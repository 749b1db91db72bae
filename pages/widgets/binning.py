"""Controls of the binning and the number of bins M."""

from __future__ import annotations

from typing import Final, cast

import streamlit as st

from calib_core.bins import MAX_NATURAL_BINS
from calib_core.edges import BINNINGS, MAX_BINS, Binning, Scheme
from calib_core.errors import Unavailable
from calib_core.results.evidence import Evidence
from calib_core.runs import TokenRun
from calib_core.tokens.grid import nearest_served_bins, unserved_reason
from pages.state.url import UrlState
from pages.widgets.pickers import pick_segment

BIN_STEPS: Final = (5, 10, 15, 20, 50, 100, 200, 500)
BINNING_TITLES: Final = {"width": "Width", "mass": "Mass", "natural": "Natural"}


class BinsNotAvailable(Unavailable):
    """The run's sums do not serve this M; `nearest_bins` is the nearest one that they serve."""

    def __init__(self, reason: str, nearest_bins: int) -> None:
        self.nearest_bins = nearest_bins
        super().__init__(reason)


def pick_binning(url_state: UrlState, evidence: Evidence) -> Scheme:
    """Draw the controls and return the scheme.

    Raises
    ------
    BinsNotAvailable
        Where the run's sums do not have such bins.
    """
    on_grid = isinstance(evidence.run, TokenRun)
    allowed = [id_ for id_ in BINNINGS if id_ == "width" or not on_grid]
    if not evidence.offers_natural_bins and "natural" in allowed:
        allowed.remove("natural")
    binning = pick_segment(
        url_state,
        "binning",
        {id_: BINNING_TITLES[id_] for id_ in allowed},
        label="Binning",
        help_="Equal width: edges at m/M. Equal mass: the same number of rows per bin; ties stay together. "
        f"Natural: one bin per distinct value, up to {MAX_NATURAL_BINS}."
        + (" Token-level runs have equal width only." if on_grid else ""),
    )
    bins = _pick_bins(url_state, disabled=binning == "natural")
    scheme = Scheme(cast("Binning", binning), bins)
    if on_grid and (reason := unserved_reason(scheme)):
        raise BinsNotAvailable(reason, nearest_served_bins(bins))
    return scheme


def _pick_bins(url_state: UrlState, *, disabled: bool) -> int:
    """Draw slider and number field of M; both show and set the same value."""
    slider_key, number_key = _bins_widget_keys(url_state)
    bins = int(url_state.pick("m", [str(number) for number in range(1, MAX_BINS + 1)], "10"))
    steps = sorted({*BIN_STEPS, bins})
    url_state.set_widget(slider_key, bins, steps)
    url_state.set_widget(number_key, bins)
    slider, typed = st.columns([2.2, 1], vertical_alignment="bottom", gap="small")
    slider.select_slider(
        "Bins M",
        steps,
        bins,
        key=slider_key,
        disabled=disabled,
        on_change=_on_bins_changed,
        args=("m_step", slider_key),
        help=f"{' · '.join(map(str, BIN_STEPS))}, or type any whole number from 1 to {MAX_BINS}.",
    )
    typed.number_input(
        "M, typed",
        1,
        MAX_BINS,
        bins,
        key=number_key,
        step=1,
        disabled=disabled,
        label_visibility="collapsed",
        on_change=_on_bins_changed,
        args=("m_typed", number_key),
    )
    return bins


def _bins_widget_keys(url_state: UrlState) -> tuple[str, str]:
    """Return the keys of slider and number field; each is a new widget whenever the other or a link sets M.

    If the widget were kept, its value would have to be set from here. A browser that has not yet received it
    would send back its old number, which looks like typing and undoes the latest key press.
    """
    state = st.session_state
    rounds: dict[str, int] = state.get("_rounds_of_m", {"m_step": 0, "m_typed": 0})
    moved_control = state.pop("_m_by", None)
    value = (
        state.get(f"{moved_control}_{rounds[moved_control]}")
        if moved_control and not url_state.url_changed
        else None
    )
    if value is not None:
        state["m"] = str(value)
    if value is not None or url_state.url_changed:
        rounds = {
            name: number + (name != moved_control or url_state.url_changed) for name, number in rounds.items()
        }
    state["_rounds_of_m"] = rounds
    return f"m_step_{rounds['m_step']}", f"m_typed_{rounds['m_typed']}"


def _on_bins_changed(control: str, key: str) -> None:
    """Note which control was moved; a late message of a control that no longer exists is ignored."""
    if key == f"{control}_{st.session_state['_rounds_of_m'][control]}":
        st.session_state["_m_by"] = control

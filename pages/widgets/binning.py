"""Into which bins, and how many?  The controls of binning and M → one scheme."""

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
    """The run's sums do not serve this M; `near` is one that they do."""

    def __init__(self, reason: str, nearest_bins: int) -> None:
        self.near = nearest_bins
        super().__init__(reason)


def pick_binning(url_state: UrlState, evidence: Evidence) -> Scheme:
    """Draws the controls; raises NotServed where the run's sums do not have such bins."""
    on_grid = isinstance(evidence.run, TokenRun)
    allowed = [id_ for id_ in BINNINGS if id_ == "width" or not on_grid]
    if not evidence.offers_natural_bins and "natural" in allowed:
        allowed.remove("natural")
    binning = pick_segment(
        url_state,
        "binning",
        {id_: BINNING_TITLES[id_] for id_ in allowed},
        label="Binning",
        help_="Equal width: edges at m/M. Equal mass: bins of as many rows each, ties never cut. "
        f"Natural: one bin a distinct confidence, offered up to {MAX_NATURAL_BINS} of them."
        + (" Token-level sums serve equal width only." if on_grid else ""),
    )
    bins = _pick_bins(url_state, disabled=binning == "natural")
    scheme = Scheme(cast("Binning", binning), bins)
    if on_grid and (reason := unserved_reason(scheme)):
        raise BinsNotAvailable(reason, nearest_served_bins(bins))
    return scheme


def _pick_bins(url_state: UrlState, *, disabled: bool) -> int:
    """M, by slider or by typing: two controls, one state."""
    step, type_ = _bins_widget_keys(url_state)
    bins = int(url_state.pick("m", [str(number) for number in range(1, MAX_BINS + 1)], "10"))
    steps = sorted({*BIN_STEPS, bins})
    url_state.set_widget(step, bins, steps)
    url_state.set_widget(type_, bins)
    slider, typed = st.columns([2.2, 1], vertical_alignment="bottom", gap="small")
    slider.select_slider(
        "Bins M",
        steps,
        key=step,
        disabled=disabled,
        on_change=_on_bins_changed,
        args=("m_step", step),
        help=f"{' · '.join(map(str, BIN_STEPS))}, or any whole number from 1 to {MAX_BINS} typed beside it.",
    )
    typed.number_input(
        "M, typed",
        1,
        MAX_BINS,
        key=type_,
        step=1,
        disabled=disabled,
        label_visibility="collapsed",
        on_change=_on_bins_changed,
        args=("m_typed", type_),
    )
    return bins


def _bins_widget_keys(url_state: UrlState) -> tuple[str, str]:
    """The keys of slider and number; each is a new control whenever the other one, or a link, has set M.

    One that lived on would have to be set from here, and a browser that had not heard of it yet would send
    its old number back, which then looks like typing and undoes the key pressed since.
    """
    state = st.session_state
    rounds: dict[str, int] = state.get("_rounds_of_m", {"m_step": 0, "m_typed": 0})
    by = state.pop("_m_by", None)
    moved = state.get(f"{by}_{rounds[by]}") if by and not url_state.moved else None
    if moved is not None:
        state["m"] = str(moved)
    if moved is not None or url_state.moved:
        rounds = {name: number + (name != by or url_state.moved) for name, number in rounds.items()}
    state["_rounds_of_m"] = rounds
    return f"m_step_{rounds['m_step']}", f"m_typed_{rounds['m_typed']}"


def _on_bins_changed(control: str, key: str) -> None:
    """Notes who moved; a late browser's word of a control that is gone counts for nothing."""
    if key == f"{control}_{st.session_state['_rounds_of_m'][control]}":
        st.session_state["_m_by"] = control

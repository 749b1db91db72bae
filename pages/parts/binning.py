"""Into which bins, and how many?  The controls of binning and M → one scheme."""

from __future__ import annotations

from typing import Final, cast

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.bins import BINNINGS, MAX_BINS, MAX_NATURAL, Binning, Scheme
from calib_core.problems import Unavailable
from calib_core.records import TokenRun
from calib_core.tokens.grid import nearest, unserved
from pages.parts.address import Address
from pages.parts.picking import segments

STEPS: Final = (5, 10, 15, 20, 50, 100, 200, 500)
BINNING_TITLES: Final = {"width": "Width", "mass": "Mass", "natural": "Natural"}


class NotServed(Unavailable):
    """The run's sums do not serve this M; `near` is one that they do."""

    def __init__(self, reason: str, near: int) -> None:
        self.near = near
        super().__init__(reason)


def binning_of(address: Address, evidence: Evidence) -> Scheme:
    """Draws the controls; raises NotServed where the run's sums do not have such bins."""
    on_grid = isinstance(evidence.run, TokenRun)
    allowed = [id_ for id_ in BINNINGS if id_ == "width" or not on_grid]
    if not evidence.natural and "natural" in allowed:
        allowed.remove("natural")
    binning = segments(
        address, "binning", {id_: BINNING_TITLES[id_] for id_ in allowed}, label="Binning",
        help_="Equal width: edges at m/M. Equal mass: bins of as many rows each, ties never cut. "
        f"Natural: one bin a distinct confidence, offered up to {MAX_NATURAL} of them."
        + (" Token-level sums serve equal width only." if on_grid else ""),
    )
    bins = _bins(address, disabled=binning == "natural")
    scheme = Scheme(cast("Binning", binning), bins)
    if on_grid and (reason := unserved(scheme)):
        raise NotServed(reason, nearest(bins))
    return scheme


def _bins(address: Address, *, disabled: bool) -> int:
    """M, by slider or by typing: two controls, one state."""
    step, type_ = _controls_of_m(address)
    bins = int(address.pick("m", [str(number) for number in range(1, MAX_BINS + 1)], "10"))
    steps = sorted({*STEPS, bins})
    address.put(step, bins, steps)
    address.put(type_, bins)
    slider, typed = st.columns([2.2, 1], vertical_alignment="bottom", gap="small")
    slider.select_slider(
        "Bins M",
        steps,
        key=step,
        disabled=disabled,
        on_change=_moved,
        args=("m_step", step),
        help=f"{' · '.join(map(str, STEPS))}, or any whole number from 1 to {MAX_BINS} typed beside it.",
    )
    typed.number_input(
        "M, typed",
        1,
        MAX_BINS,
        key=type_,
        step=1,
        disabled=disabled,
        label_visibility="collapsed",
        on_change=_moved,
        args=("m_typed", type_),
    )
    return bins


def _controls_of_m(address: Address) -> tuple[str, str]:
    """The keys of slider and number; each is a new control whenever the other one, or a link, has set M.

    One that lived on would have to be set from here, and a browser that had not heard of it yet would send
    its old number back, which then looks like typing and undoes the key pressed since.
    """
    state = st.session_state
    rounds: dict[str, int] = state.get("_rounds_of_m", {"m_step": 0, "m_typed": 0})
    by = state.pop("_m_by", None)
    moved = state.get(f"{by}_{rounds[by]}") if by and not address.moved else None
    if moved is not None:
        state["m"] = str(moved)
    if moved is not None or address.moved:
        rounds = {name: number + (name != by or address.moved) for name, number in rounds.items()}
    state["_rounds_of_m"] = rounds
    return f"m_step_{rounds['m_step']}", f"m_typed_{rounds['m_typed']}"


def _moved(control: str, key: str) -> None:
    """Notes who moved; a late browser's word of a control that is gone counts for nothing."""
    if key == f"{control}_{st.session_state['_rounds_of_m'][control]}":
        st.session_state["_m_by"] = control

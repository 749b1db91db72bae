"""What does the person want to look at?  The sidebar's controls ↔ one frozen choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.score import available_metrics
from calib_core.bins import BINNINGS, MAX_BINS, MAX_NATURAL, Binning, Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options
from calib_core.metrics import METRICS
from pages.parts import cache
from pages.parts.address import Address
from pages.parts.literal import literal
from pages.parts.runs import Run
from pages.parts.switches import options

STEPS: Final = (5, 10, 15, 20, 50, 100, 200, 500)
BINNING_TITLES: Final = {"width": "Width", "mass": "Mass", "natural": "Natural"}


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One run, method, metric and way of binning.

    evidence: what the method says of the run; beside: the same of other methods to compare it with.
    """

    run: Run
    evidence: Evidence
    metric: str
    scheme: Scheme
    beside: tuple[Evidence, ...] = ()

    @property
    def slug(self) -> str:
        """Run, method, metric and M, for the names of downloads."""
        return (
            f"{self.run.id}-{self.evidence.method.id}-{self.metric}-{self.scheme.binning}-{self.scheme.bins}"
        )

    def key(self, evidence: Evidence | None = None) -> tuple[object, ...]:
        """What tells a result of this choice from any other, for keeping it."""
        evidence = evidence or self.evidence
        source = (self.run.file.name, self.run.file.stamp, self.run.id)
        return (*source, evidence.method.id, evidence.options, self.metric, self.scheme)


def choose(address: Address, runs: Sequence[Run], page_id: str) -> Choice:
    """Draws the page's controls and returns what is chosen.

    Bin concentration is about the confidences alone: there is no metric to choose, but other methods to
    set beside. Raises Unavailable where a choice cannot be met.
    """
    confidences_alone = page_id == "concentration"
    by_id = {run.id: run for run in runs}
    run_id = address.pick("run", list(by_id), runs[0].id)
    st.selectbox("Run", list(by_id), key="run", format_func=lambda id_: _run_title(by_id[id_]))
    run = by_id[run_id]
    st.caption(f"{run.report.run.n_total:,} rows, {literal(run.file.name)}")
    evidence = _method(address, run)
    above_the_bins = st.container()  # the metric reads first, but what it may be depends on the bins
    scheme = _binning(address, evidence)
    if confidences_alone:
        metric, beside, metrics = "ece", _beside(address, run, evidence), {}
    else:
        metrics = available_metrics(evidence, scheme)
        with above_the_bins:
            metric, beside = _metric(address, metrics), ()
    _not_possible(run.report.survey.refused, metrics)
    return Choice(run, evidence, metric, scheme, beside)


def _beside(address: Address, run: Run, evidence: Evidence) -> tuple[Evidence, ...]:
    """Other methods of the same run to set beside the chosen one."""
    state = st.session_state
    others = [id_ for id_ in run.report.survey.usable if id_ != evidence.method.id]
    if not others:
        return ()
    if not address.moved and state.pop("_beside_changed", False):
        state["with"] = ",".join(state["beside"])
    wanted = address.pick_several("with", list(run.report.survey.usable))
    address.put("beside", [id_ for id_ in wanted if id_ in others], others)
    chosen = st.multiselect(
        "Side by side with",
        others,
        key="beside",
        format_func=lambda id_: METHODS[id_].title,
        on_change=_beside_changed,
        placeholder="other methods of this run",
    )
    return tuple(run.report.survey.usable[id_] for id_ in chosen)


def _beside_changed() -> None:
    st.session_state["_beside_changed"] = True


def _run_title(run: Run) -> str:
    return f"{run.title} ({run.report.run.n_total:,} rows)"


def _method(address: Address, run: Run) -> Evidence:
    usable = run.report.survey.usable
    method = address.pick("method", list(usable), next(iter(usable)))
    st.selectbox(
        "Confidence method",
        list(usable),
        key="method",
        format_func=lambda id_: METHODS[id_].title,
        help="How a number between 0 and 1 is read off what the model left behind.",
    )
    chosen = options(address, usable[method])
    if chosen == Options():
        return usable[method]
    return cache.evidence(run.report.run, run.file.stamp, method, chosen)


def _metric(address: Address, reasons: Mapping[str, str | None]) -> str:
    usable = [id_ for id_, reason in reasons.items() if reason is None]
    metric = address.pick("metric", usable, "ece")
    st.selectbox(
        "Metric",
        usable,
        key="metric",
        format_func=lambda id_: METRICS[id_].title,
        help=METRICS[metric].meaning,
    )
    return metric


def _binning(address: Address, evidence: Evidence) -> Scheme:
    natural = evidence.distinct <= MAX_NATURAL
    allowed = [id_ for id_ in BINNINGS if id_ != "natural" or natural]
    binning = address.pick("binning", allowed, "width")
    st.segmented_control(
        "Binning",
        allowed,
        key="binning",
        required=True,
        format_func=lambda id_: BINNING_TITLES[id_],
        help="Equal width: edges at m/M. Equal mass: bins of as many rows each, ties never cut. "
        f"Natural: one bin a distinct confidence, offered up to {MAX_NATURAL} of them.",
    )
    bins = _bins(address, disabled=binning == "natural")
    return Scheme(cast("Binning", binning), bins)


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


def _not_possible(methods: Mapping[str, str], metrics: Mapping[str, str | None]) -> None:
    """What cannot be chosen here, greyed, each with its reason."""
    reasons = {METHODS[id_].title: reason for id_, reason in methods.items()}
    reasons |= {METRICS[id_].title: reason for id_, reason in metrics.items() if reason}
    if not reasons:
        return
    with st.expander(f"Not possible here ({len(reasons)})", key="not_possible"):
        for title, reason in reasons.items():
            st.caption(f"**{literal(title)}**: {literal(reason)}")

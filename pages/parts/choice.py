"""What does the person want to look at?  The sidebar's controls ↔ one frozen choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.preferred import telling
from calib_core.analysis.score import available_metrics
from calib_core.bins import Scheme
from calib_core.confidence import METHODS
from calib_core.metrics import DEFAULT, METRICS
from calib_core.records import TokenRun
from pages.parts import cache, picking, show
from pages.parts.address import Address
from pages.parts.binning import binning_of
from pages.parts.runs import Run
from pages.parts.sweeping import Sweeping, sweeping
from pages.parts.switches import options


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One run, method, metric and way of binning.

    evidence: what the method says of the run; beside: the same of other methods to compare it with;
    sweep: what the Robustness page shows besides, None elsewhere.
    """

    run: Run
    evidence: Evidence
    metric: str
    scheme: Scheme
    beside: tuple[Evidence, ...] = ()
    sweep: Sweeping | None = None

    @property
    def slug(self) -> str:
        """Run, method, metric and M, for the names of downloads."""
        bins = "" if self.scheme.binning == "natural" else f"-{self.scheme.bins}"
        return f"{self.run.id}-{self.evidence.method.id}-{self.metric}-{self.scheme.binning}{bins}"

    @property
    def of(self) -> str:
        """Run and method in words, for the title of a file."""
        return f"{self.run.title}, {self.evidence.method.title}"

    @property
    def crowded(self) -> bool:
        """Whether the first bin of the diagram dwarfs all others: every class of a vocabulary is in it."""
        return isinstance(self.run.report.run, TokenRun) and METRICS[self.metric].needs == "distribution"

    @property
    def places(self) -> tuple[int, ...]:
        """The place of each run of the sweep among all runs at hand."""
        return (self.run.place, *(run.place for run, _ in self.sweeping.beside))

    @property
    def sweeping(self) -> Sweeping:
        """What the Robustness page shows: only there."""
        if self.sweep is None:
            raise RuntimeError("this page has no sweep")
        return self.sweep

    def key(self, evidence: Evidence | None = None, run: Run | None = None) -> tuple[object, ...]:
        """What tells a result of this choice from any other, for keeping it."""
        evidence, run = evidence or self.evidence, run or self.run
        source = (run.file.name, run.file.stamp, run.id)
        return (*source, evidence.method.id, evidence.options, self.metric, self.scheme)


def choose(address: Address, runs: Sequence[Run]) -> Choice:
    """One run, method, metric and way of binning. Raises Unavailable where a choice cannot be met."""
    run, evidence = one_run(address, runs)
    above_the_bins = st.container()  # the metric reads first, but what it may be depends on the bins
    scheme = binning_of(address, evidence)
    metrics = available_metrics(evidence, scheme)
    with above_the_bins:
        metric = metric_of(address, metrics)
    not_possible(run.report.survey.refused, metrics)
    return Choice(run, evidence, metric, scheme)


def choose_confidences(address: Address, runs: Sequence[Run]) -> Choice:
    """Confidences alone: no metric to choose, but other methods to set beside. Raises as `choose`."""
    run, evidence = one_run(address, runs)
    scheme = binning_of(address, evidence)
    beside = _beside(address, run, evidence)
    not_possible(run.report.survey.refused, {})
    return Choice(run, evidence, DEFAULT, scheme, beside)


def choose_sweep(address: Address, runs: Sequence[Run]) -> Choice:
    """Several metrics, M and runs. Raises as `choose`."""
    run, evidence = one_run(address, runs)
    swept = sweeping(address, run, evidence, runs)
    not_possible(run.report.survey.refused, {})
    return Choice(run, evidence, DEFAULT, Scheme(), sweep=swept)


def one_run(address: Address, runs: Sequence[Run]) -> tuple[Run, Evidence]:
    """The controls of one run and of its method with its switches. Raises as `choose`."""
    by_id = {run.id: run for run in runs}
    most = {run.id: next(iter(run.report.survey.usable.values())).n_used for run in runs}
    run = picking.one_run(address, by_id, telling(most))
    usable = run.report.survey.usable
    method = picking.method(address, list(usable), next(iter(usable)))
    chosen = options(address, usable[method])
    return run, cache.seen(run.report, run.file.stamp, method, chosen)


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
        help="Other confidences of the same run, each in a panel of its own.",
    )
    return tuple(run.report.survey.usable[id_] for id_ in chosen)


def _beside_changed() -> None:
    st.session_state["_beside_changed"] = True


def metric_of(address: Address, reasons: Mapping[str, str | None]) -> str:
    """The control of the metric; reasons: metric id → why it cannot be given here, or None."""
    usable = [id_ for id_, reason in reasons.items() if reason is None]
    metric = address.pick("metric", usable, DEFAULT)
    st.selectbox(
        "Metric",
        usable,
        key="metric",
        format_func=lambda id_: METRICS[id_].title,
        help=METRICS[metric].help,
    )
    return metric


def not_possible(methods: Mapping[str, str], metrics: Mapping[str, str | None]) -> None:
    """What cannot be chosen here, greyed, each with its reason."""
    reasons = {METHODS[id_].title: reason for id_, reason in methods.items()}
    reasons |= {METRICS[id_].title: reason for id_, reason in metrics.items() if reason}
    show.reasons("Not possible here", reasons, key="not_possible")

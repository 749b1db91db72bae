"""Sidebar controls of pages that show one run, and the choice they return."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.edges import MAX_BINS, Scheme
from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.results.defaults import default_method
from calib_core.results.evidence import Evidence
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS
from calib_core.results.run_names import full_name, shorten_in_middle
from calib_core.results.score import metric_availability
from calib_core.runs import TokenRun
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.views.robustness import SWEEPABLE_METRICS
from pages.state.cache import run_evidence
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.multiselect import multiselect, note_chosen
from pages.widgets.number_inputs import NumberListSpec, number_list_input
from pages.widgets.pickers import (
    MAX_VISIBLE_TITLE,
    pick_method,
    pick_method_options,
    pick_run,
    pick_segment,
    select_box,
    usual_run,
)
from pages.widgets.summary import show_reasons

PAPER_BINS_TEXT: Final = ", ".join(map(str, PAPER_BINS))
MAX_BIN_COUNTS: Final = 24
"""Largest number of M at once; the curves of more could not be told apart."""
DDOF_TITLES: Final = {"0": "all M (ddof 0)", "1": "sample (ddof 1)"}


@dataclass(frozen=True, slots=True, eq=False)
class SweepChoice:
    """What a sweep over the number of bins covers.

    Attributes
    ----------
    bin_counts : tuple of int
        Ascending.
    metrics : tuple of str
    ddof : int
        Delta degrees of freedom of the RSD, 0 or 1.
    other_runs : tuple of (LoadedRun, Evidence)
        Further runs, scored by the same method.
    """

    bin_counts: tuple[int, ...]
    metrics: tuple[str, ...]
    ddof: int
    other_runs: tuple[tuple[LoadedRun, Evidence], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RunChoice:
    """One run, method, metric and way of binning.

    Attributes
    ----------
    run : LoadedRun
    evidence : Evidence
        Of the run by the method.
    metric : str
    scheme : Scheme
    other_methods : tuple of Evidence
        Of the same run by other methods, to be drawn beside it.
    sweep : SweepChoice or None
        Set on the page Robustness only.
    """

    run: LoadedRun
    evidence: Evidence
    metric: str
    scheme: Scheme
    other_methods: tuple[Evidence, ...] = ()
    sweep: SweepChoice | None = None

    @property
    def file_stem(self) -> str:
        """Run, method, metric and binning, for the names of downloads."""
        bins = "" if self.scheme.binning == "natural" else f"-{self.scheme.bins}"
        return f"{self.run.id}-{self.evidence.method.id}-{self.metric}-{self.scheme.binning}{bins}"

    @property
    def description(self) -> str:
        """Run and method in words, for the title of a file."""
        return f"{full_name(self.run.title)}, {self.evidence.method.title}"

    @property
    def style_indices(self) -> tuple[int, ...]:
        """Style index of each run of the sweep."""
        return (self.run.style_index, *(run.style_index for run, _ in self.required_sweep.other_runs))

    @property
    def required_sweep(self) -> SweepChoice:
        """The sweep; raises RuntimeError on a page that has none."""
        if self.sweep is None:
            raise RuntimeError("this page has no sweep")
        return self.sweep

    def cache_key(self, evidence: Evidence | None = None, run: LoadedRun | None = None) -> tuple[object, ...]:
        """Return what distinguishes a result of this choice, or of another run or evidence under it."""
        evidence, run = evidence or self.evidence, run or self.run
        method = (evidence.method.id, evidence.options, evidence.recipe_parts)
        return (*run.source, *method, self.metric, self.scheme)


def choose_run(url_state: UrlState, runs: Sequence[LoadedRun]) -> RunChoice:
    """Draw the controls of one run, its method, metric and binning.

    Raises
    ------
    Unavailable
        Where the choice cannot be computed for the run.
    """
    run, evidence = pick_run_and_method(url_state, runs)
    above_the_bins = st.container()  # the metric comes first on screen, but its options depend on the bins
    scheme = pick_binning(url_state, evidence)
    metrics = metric_availability(evidence, scheme)
    with above_the_bins:
        metric = pick_metric(url_state, metrics, terms=evidence.terms)
    show_unavailable(run.report.survey.unavailable, metrics, evidence.terms)
    return RunChoice(run, evidence, metric, scheme)


def choose_confidences(url_state: UrlState, runs: Sequence[LoadedRun]) -> RunChoice:
    """Draw the controls of one run, its methods and the binning, without a metric; raises as `choose_run`."""
    run, evidence = pick_run_and_method(url_state, runs)
    scheme = pick_binning(url_state, evidence)
    other_methods = _pick_other_methods(url_state, run, evidence)
    show_unavailable(run.report.survey.unavailable, {})
    return RunChoice(run, evidence, DEFAULT_METRIC, scheme, other_methods)


def choose_sweep(url_state: UrlState, runs: Sequence[LoadedRun]) -> RunChoice:
    """Draw the controls of a sweep over M; raises as `choose_run`.

    The page begins with the most positions of whole distributions, if possible with sums by class: ECE,
    cw-ECE and Full-ECE then stand side by side.
    """
    sums = {run.id: run.report.run.sums for run in runs if isinstance(run.report.run, TokenRun)}
    order = sorted(sums, key=lambda id_: (sums[id_].by_class is None, -sums[id_].n_rows))
    run, evidence = pick_run_and_method(url_state, runs, order[:1])
    sweep = pick_sweep(url_state, run, evidence, runs)
    show_unavailable(run.report.survey.unavailable, _unswept(evidence), evidence.terms)
    return RunChoice(run, evidence, DEFAULT_METRIC, Scheme(), sweep=sweep)


def pick_run_and_method(
    url_state: UrlState, runs: Sequence[LoadedRun], preferred: Collection[str] = ()
) -> tuple[LoadedRun, Evidence]:
    """Draw the controls of one run, its method and the method's options; raises as `choose_run`.

    Parameters
    ----------
    url_state : UrlState
    runs : Sequence of LoadedRun
    preferred : Collection of str
        Ids of the runs that the page prefers to begin with.
    """
    by_id = {run.id: run for run in runs}
    usable_by_run = {run.id: run.report.survey.usable for run in runs}
    n_used = {id_: usable[default_method(usable)].n_used for id_, usable in usable_by_run.items()}
    run = pick_run(url_state, by_id, usual_run(by_id, n_used, preferred))
    usable = usable_by_run[run.id]
    method = pick_method(url_state, list(usable), default_method(usable))
    options = pick_method_options(url_state, usable[method])
    return run, run_evidence(run.report, run.file.stamp, method, options)


def _pick_other_methods(url_state: UrlState, run: LoadedRun, evidence: Evidence) -> tuple[Evidence, ...]:
    """Draw the control of further methods of the run, and return their evidence."""
    state = st.session_state
    others = [id_ for id_ in run.report.survey.usable if id_ != evidence.method.id]
    if not others:
        return ()
    noted = state.pop("_beside_changed", None)
    if noted is not None and not url_state.url_changed:
        state["with"] = ",".join(noted)
    requested = url_state.pick_list("with", list(run.report.survey.usable))
    beside = [id_ for id_ in requested if id_ in others]
    url_state.set_widget("beside", beside, others)
    chosen = st.multiselect(
        "Side by side with",
        others,
        beside,
        key="beside",
        format_func=lambda id_: METHODS[id_].heading,
        on_change=note_chosen,
        args=("_beside_changed", "beside"),
        placeholder="other methods of this run",
        help="Other methods of this run, one panel each.",
    )
    return tuple(run.report.survey.usable[id_] for id_ in chosen)


def pick_sweep(
    url_state: UrlState, run: LoadedRun, evidence: Evidence, runs: Sequence[LoadedRun]
) -> SweepChoice:
    """Draw the controls of the Robustness page below run and method."""
    other_runs = _pick_other_runs(url_state, run, evidence, runs)
    metrics = multiselect(
        url_state,
        "metrics",
        SWEEPABLE_METRICS,
        label="Metrics",
        title_of=lambda id_: METRICS[id_].title,
        default=[id_ for id_ in SWEPT_METRICS if id_ not in _unswept(evidence)],
        help_="One curve per metric. Only metrics with equal-width bins are listed.",
        placeholder="Choose a metric",
    )
    bin_counts = _pick_bin_counts(url_state)
    with st.expander("How the RSD is computed", key="rsd_settings", type="compact"):
        ddof = pick_segment(
            url_state,
            "ddof",
            DDOF_TITLES,
            label="Spread for the RSD",
            help_="Divide by the number of M values (population), or by one less (sample).",
        )
    return SweepChoice(bin_counts, tuple(metrics), int(ddof), other_runs)


def _unswept(evidence: Evidence) -> dict[str, str | None]:
    """Return the metrics that no curve can show, with the reasons; of tokens some have bounds instead."""
    if isinstance(evidence.run, TokenRun):
        return {}
    reasons = metric_availability(evidence, Scheme())
    return {id_: reasons[id_] for id_ in SWEPT_METRICS if reasons[id_] is not None}


def _pick_other_runs(
    url_state: UrlState, run: LoadedRun, evidence: Evidence, runs: Sequence[LoadedRun]
) -> tuple[tuple[LoadedRun, Evidence], ...]:
    """Draw the control of further runs, and return them scored by the same method and options."""
    method = evidence.method.id
    candidates = {
        other.id: other for other in runs if other is not run and method in other.report.survey.usable
    }
    titles = shorten_in_middle([other.title for other in candidates.values()], MAX_VISIBLE_TITLE)
    labels = dict(zip(candidates, titles, strict=True))
    chosen = multiselect(
        url_state,
        "beside_runs",
        list(candidates),
        label="Side by side with",
        title_of=lambda id_: labels[id_],
        placeholder="other runs",
        help_="Other runs with the same method, each with its own curves.",
    )
    evidences: list[tuple[LoadedRun, Evidence]] = []
    for other in (candidates[id_] for id_ in chosen):
        try:
            other_evidence = run_evidence(other.report, other.file.stamp, method, evidence.options)
        except Unavailable as reason:
            st.caption(f"**{escape_markdown(other.title)}**: {escape_markdown(str(reason))}")
        else:
            evidences.append((other, other_evidence))
    return tuple(evidences)


def _pick_bin_counts(url_state: UrlState) -> tuple[int, ...]:
    """Draw the field of the numbers of bins."""
    return number_list_input(
        url_state,
        "ms",
        NumberListSpec(
            "Set of M",
            "a number of bins",
            MAX_BINS,
            MAX_BIN_COUNTS,
            f"Whole numbers from 1 to {MAX_BINS}, separated by commas. The Full-ECE paper's seven: "
            f"{PAPER_BINS_TEXT}.",
            PAPER_BINS,
        ),
    )


def pick_metric(
    url_state: UrlState,
    reasons: Mapping[str, str | None],
    default: str = DEFAULT_METRIC,
    *,
    terms: Terms = ANSWER_TERMS,
) -> str:
    """Draw the control of the metric, and return its id.

    Parameters
    ----------
    url_state : UrlState
    reasons : Mapping of str to (str or None)
        Metric id → why the metric is not available, None where it is.
    default : str
    terms : Terms
        The words in which metrics are named.
    """
    usable = [id_ for id_, reason in reasons.items() if reason is None]
    return select_box(
        url_state,
        "metric",
        "Metric",
        usable,
        default,
        title_of=lambda id_: METRICS[id_].worded(terms).title,
        help_=lambda id_: METRICS[id_].worded(terms).help,
    )


def show_unavailable(
    methods: Mapping[str, str], metrics: Mapping[str, str | None], terms: Terms = ANSWER_TERMS
) -> None:
    """List the methods and metrics that are not available here, each with its reason."""
    reasons = {METHODS[id_].heading: reason for id_, reason in methods.items()}
    reasons |= {METRICS[id_].worded(terms).title: reason for id_, reason in metrics.items() if reason}
    show_reasons("Unavailable for this run", reasons, key="not_possible")

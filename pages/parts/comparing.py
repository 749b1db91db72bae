"""Which runs are compared on which two metrics?  The Comparison page's controls, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from calib_core.analysis.comparison import BASE_METRICS, Comparison, compare_runs
from calib_core.analysis.comparison_points import MetricEstimator, MetricEstimate, estimate_metric
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.looking import ViewCaption, bins_caption, view_caption
from calib_core.analysis.score import metric_availability
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.records import Run as AnyRun
from calib_core.wording import plural
from pages.parts import cache
from pages.parts.address import UrlState
from pages.parts.binning import pick_binning
from pages.parts.many import RunSelection, RunEvidence, pick_run_selection, show_not_drawn
from pages.parts.runs import LoadedRun

MAX_MEASURES = 4096
"""How many numbers with their intervals are kept: each costs a bootstrap and takes no room."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonChoice:
    """many: runs and methods; x, y: metrics of the axes; scheme: of those that are binned."""

    selection: RunSelection
    x: str
    y: str
    scheme: Scheme

    @property
    def evidence_by_point(self) -> dict[str, RunEvidence]:
        """Each run seen by one method, by the point's key."""
        return {point_key(one): one for one in self.selection.run_evidences}

    @property
    def style_indices(self) -> dict[str, int]:
        """The place of each point's run among all runs at hand, by the point's key."""
        return {key: one.run.style_index for key, one in self.evidence_by_point.items()}


def point_key(run_evidence: RunEvidence) -> str:
    """The point's key: "run:method", as in the address."""
    return f"{run_evidence.run.id}:{run_evidence.evidence.method.id}"


def choose_comparison(url_state: UrlState, runs: Sequence[LoadedRun]) -> ComparisonChoice:
    """Data set, runs, methods, and the metric of each axis. Raises Unavailable where nothing fits."""
    many = pick_run_selection(url_state, runs)
    possible = {
        id_ for one in many.run_evidences for id_, why in metric_availability(one.evidence, Scheme()).items() if not why
    }
    allowed = [id_ for id_ in METRICS if id_ in possible]
    x, y = (
        _pick_axis(url_state, axis, allowed, default)
        for axis, default in zip(("x", "y"), BASE_METRICS, strict=True)
    )
    url_state.carry_body_value("at", [point_key(one) for one in many.run_evidences])
    scheme = Scheme()
    if METRICS[x].binned or METRICS[y].binned:
        scheme = pick_binning(url_state, many.run_evidences[0].evidence)
    return ComparisonChoice(many, x, y, scheme)


def _pick_axis(url_state: UrlState, key: str, allowed: Sequence[str], default: str) -> str:
    picked = url_state.pick(key, allowed, default)
    st.selectbox(
        "Across" if key == "x" else "Upward", allowed, key=key, format_func=lambda id_: METRICS[id_].title,
        help=METRICS[picked].help,
    )
    return picked


def cached_comparison(choice: ComparisonChoice) -> Comparison:
    """The comparison, with progress while intervals are drawn that nobody has asked for yet."""

    def compute() -> Comparison:
        bar, done = st.progress(0.0, "Drawing intervals …"), 0
        stored = cached_measure({one.evidence.run: one.run for one in choice.selection.run_evidences})

        def telling(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
            nonlocal done
            done += 1
            bar.progress(min(1.0, done / (4 * len(choice.selection.run_evidences))), "Drawing intervals …")
            return stored(evidence, metric, scheme)

        made = compare_runs(
            {key: one.evidence for key, one in choice.evidence_by_point.items()}, choice.x, choice.y, choice.scheme,
            titles={key: one.run.title for key, one in choice.evidence_by_point.items()}, available_methods=possible,
            estimator=telling,
        )
        bar.empty()
        return made

    possible = frozenset(id_ for run in choice.selection.runs for id_ in run.report.survey.usable)
    return cache.cached_result(
        ("comparison", *choice.selection.cache_key(), possible, choice.x, choice.y, choice.scheme), compute
    )


def cached_measure(runs: Mapping[AnyRun, LoadedRun]) -> MetricEstimator:
    """Numbers with their intervals, each computed once; runs: whose rows may be asked for → as shown.

    By the run itself, not by its file's name and label: a file of the folder and an upload may share both.
    """

    def measure(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
        run = runs[evidence.run]
        source = (run.id, run.file.name, run.file.stamp)
        key = ("measured", *source, evidence.method.id, evidence.options, metric, scheme)
        return cache.cached_result(key, lambda: estimate_metric(evidence, metric, scheme), max_results=MAX_MEASURES)

    return measure


def comparison_view_caption(choice: ComparisonChoice, result: Comparison) -> ViewCaption:
    """The points, of which runs and by which methods."""
    seen = [choice.evidence_by_point[point.key] for point in result.points]
    binned = METRICS[choice.x].binned or METRICS[choice.y].binned
    return view_caption(
        plural(len(seen), "point"), [one.run.title for one in seen], [one.evidence for one in seen],
        bins_caption(choice.scheme) if binned else "",
    )


def show_refused_points(choice: ComparisonChoice, result: Comparison) -> None:
    """Runs that do not give a method, or not both numbers, each with the reason."""
    refused = {
        (choice.evidence_by_point[key].run.id, choice.evidence_by_point[key].evidence.method.id): why
        for key, why in result.unavailable.items()
    }
    show_not_drawn(replace(choice.selection, refused={**choice.selection.unavailable, **refused}))

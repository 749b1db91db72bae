"""The page Comparison: which model is both accurate and well calibrated?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.results.best import PairedComparison
from calib_core.results.comparison import (
    DEFAULT_AXES,
    Comparison,
    MetricEstimate,
    MetricEstimator,
    PlacedRuns,
    estimate_value,
    of_one_kind,
    place_runs,
)
from calib_core.results.defaults import default_compared_methods, default_method
from calib_core.results.evidence import Evidence
from calib_core.results.judged_answer import JudgedChoice, judged_by
from calib_core.results.score import metric_availability
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.terms import ProbabilityOf, Terms
from calib_core.views.comparison import comparison_view, picture_view
from calib_core.views.view import View
from calib_core.wording import plural
from pages.state.cache import cached_result
from pages.state.progress import DELAY_SECONDS, progress_bar
from pages.state.runs import LoadedRun, cached_measure
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.figure import figure_and_detail
from pages.widgets.pages import PAGES
from pages.widgets.pickers import select_box, select_point, selected_point
from pages.widgets.reliability_diagram import show_reliability_diagram
from pages.widgets.run_choice import RunChoice
from pages.widgets.run_selection import RunEvidence, RunSelection, pick_judged_answer, pick_run_selection
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings_of_runs
from pages.widgets.view import (
    show_figure_menu,
    show_how_computed,
    show_how_to_read,
    show_left_out,
    show_opening,
    show_view_chart,
    show_view_table,
)


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonChoice:
    """What the page Comparison shows.

    Attributes
    ----------
    selection : RunSelection
        The compared runs and methods.
    x, y : str
        Ids of the metrics on the two axes.
    scheme : Scheme
        Binning of those metrics that are binned.
    judged_choice : {"own", "greedy", "majority"}
        Which answer the methods are judged by.
    """

    selection: RunSelection
    x: str
    y: str
    scheme: Scheme
    judged_choice: JudgedChoice

    @property
    def terms(self) -> Terms:
        """The words for the points, which are of one kind."""
        return self.selection.run_evidences[0].evidence.terms

    @property
    def evidence_by_point(self) -> dict[str, RunEvidence]:
        """Each run scored by one method, by the key of its point."""
        return {point_key(scored): scored for scored in self.selection.run_evidences}

    @property
    def style_indices(self) -> dict[str, int]:
        """The style index of each point's run, by the key of the point."""
        return {key: scored.run.style_index for key, scored in self.evidence_by_point.items()}

    def cache_key(self) -> tuple[object, ...]:
        """Return what determines the points."""
        return (*self.selection.cache_key(), self.x, self.y, self.scheme, self.judged_choice)


def point_key(run_evidence: RunEvidence) -> str:
    """Return the key of a point as the address has it, "run:method"."""
    return f"{run_evidence.run.id}:{run_evidence.evidence.method.id}"


def choose_comparison(url_state: UrlState, runs: Sequence[LoadedRun]) -> ComparisonChoice:
    """Draw the sidebar controls: data set, runs, methods and the metric of each axis.

    Raises
    ------
    Unavailable
        Where no run gives one of the methods.
    """
    selection = _of_one_kind(
        pick_run_selection(url_state, runs, default_methods=default_compared_methods),
        url_state.initial.get("run"),
    )
    terms = selection.run_evidences[0].evidence.terms
    judged_choice = pick_judged_answer(url_state, selection)
    available = {
        id_
        for scored in selection.run_evidences
        if (evidence := cached_judged_evidence(scored, judged_choice))
        for id_, reason in metric_availability(evidence, Scheme()).items()
        if not reason
    }
    no_merit = {ACCURACY.id} if terms.of == "event" else set[str]()
    allowed = [id_ for id_ in METRICS if id_ in available - no_merit]
    defaults = DEFAULT_AXES[selection.run_evidences[0].evidence.method.probability_of]
    x, y = (
        _pick_axis(url_state, axis, allowed, default, terms)
        for axis, default in zip(("x", "y"), defaults, strict=True)
    )
    url_state.carry_body_value("at", [point_key(scored) for scored in selection.run_evidences])
    scheme = Scheme()
    if METRICS[x].binned or METRICS[y].binned:
        scheme = pick_binning(url_state, selection.run_evidences[0].evidence)
    return ComparisonChoice(selection, x, y, scheme, judged_choice)


def _of_one_kind(selection: RunSelection, studied: str | None) -> RunSelection:
    """Return the selection of one kind: that of the run studied on other pages, or else of most points."""
    by_place = {str(at): scored for at, scored in enumerate(selection.run_evidences)}
    shown = {scored.evidence.method.probability_of for scored in selection.run_evidences}
    kind: ProbabilityOf | None = None
    for run in selection.runs:
        of_run = METHODS[default_method(run.report.survey.usable)].probability_of
        kind = of_run if run.id == studied and of_run in shown else kind
    kept, reasons = of_one_kind({at: one.evidence for at, one in by_place.items()}, kind)
    others = {
        (by_place[at].run.id, by_place[at].evidence.method.id): reason for at, reason in reasons.items()
    }
    return replace(
        selection,
        run_evidences=tuple(by_place[at] for at in kept),
        unavailable={**selection.unavailable, **others},
    )


def cached_judged_evidence(scored: RunEvidence, judged_choice: JudgedChoice) -> Evidence | None:
    """Return the evidence judged by the chosen answer, made once; None where no row has its outcome."""

    def judge() -> Evidence | None:
        try:
            return judged_by(scored.evidence, judged_choice)
        except Unavailable:  # the comparison gives the reason
            return None

    if judged_choice == "own":
        return scored.evidence
    run, evidence = scored.run, scored.evidence
    key = ("judged_evidence", *run.source, evidence.method.id, evidence.options, judged_choice)
    return cached_result(key, judge)


def _pick_axis(url_state: UrlState, key: str, allowed: Sequence[str], default: str, terms: Terms) -> str:
    return select_box(
        url_state,
        key,
        "X axis" if key == "x" else "Y axis",
        allowed,
        default,
        title_of=lambda id_: METRICS[id_].worded(terms).title,
        help_=lambda id_: METRICS[id_].worded(terms).help,
    )


def cached_places(choice: ComparisonChoice) -> PlacedRuns:
    """Return the runs as points without intervals."""
    return cached_result(
        ("points", "without intervals", *choice.cache_key()), lambda: _place(choice, estimate_value)
    )


def cached_points(choice: ComparisonChoice, show_places: Callable[[], None]) -> PlacedRuns:
    """Return the runs as points, with a progress bar while missing intervals are computed.

    Parameters
    ----------
    choice : ComparisonChoice
    show_places : Callable
        Draws the points without intervals; called once if those take longer than `DELAY_SECONDS`.
    """

    def compute() -> PlacedRuns:
        n_done, end = 0, time.monotonic() + DELAY_SECONDS
        estimate = cached_measure(
            {scored.evidence.run: scored.run for scored in choice.selection.run_evidences}
        )
        with progress_bar("Computing intervals …") as show:

            def estimate_with_progress(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
                nonlocal n_done, end
                if time.monotonic() > end:
                    end = math.inf
                    show_places()
                n_done += 1
                show(n_done / (4 * len(choice.selection.run_evidences)), "Computing intervals …")
                return estimate(evidence, metric, scheme)

            return _place(choice, estimate_with_progress)

    return cached_result(("points", *choice.cache_key()), compute)


def _place(choice: ComparisonChoice, estimator: MetricEstimator) -> PlacedRuns:
    return place_runs(
        {key: scored.evidence for key, scored in choice.evidence_by_point.items()},
        choice.x,
        choice.y,
        choice.scheme,
        titles={key: scored.run.title for key, scored in choice.evidence_by_point.items()},
        judged_choice=choice.judged_choice,
        estimator=estimator,
    )


def cached_comparison(choice: ComparisonChoice, placed: PlacedRuns) -> Comparison:
    """Return the points compared in pairs, with a progress bar meanwhile; other axes have the same pairs."""

    def compute() -> PairedComparison:
        with progress_bar() as show:
            return placed.pairs(lambda share: show(share, "Comparing every pair …"))

    available_methods = frozenset(id_ for run in choice.selection.runs for id_ in run.report.survey.usable)
    source = (*choice.selection.cache_key(), choice.judged_choice, tuple(placed.evidences))
    paired = cached_result(("pairs", *source), compute)
    shown = (choice.x, choice.y, choice.scheme)
    return cached_result(
        ("comparison", *source, *shown, available_methods),
        lambda: placed.compared(paired, available_methods),
    )


def comparison_view_caption(choice: ComparisonChoice, result: Comparison) -> ViewCaption:
    """Return the caption that says which runs and methods the points are of."""
    by_point = choice.evidence_by_point
    drawn = [by_point[point.key] for point in result.points]
    binned = METRICS[choice.x].binned or METRICS[choice.y].binned
    judged = [cached_judged_evidence(scored, choice.judged_choice) for scored in drawn]
    evidences = [evidence for evidence in judged if evidence]
    caption = view_caption(
        plural(len(drawn), "point"),
        [scored.run.title for scored in drawn],
        evidences,
        bins_caption(choice.scheme) if binned else "",
    )
    missing = missing_statistics_note(evidences, [choice.x, choice.y], choice.scheme, intervals=True)
    return replace(caption, missing_note=missing)


def left_out(choice: ComparisonChoice, result: Comparison) -> dict[str, str]:
    """Return by run and method why there is no point: one that lacks the method or one of the two numbers."""
    titles = {run.id: run.title for run in choice.selection.runs}
    by_point = choice.evidence_by_point
    refused = {
        (by_point[key].run.id, by_point[key].evidence.method.id): reason
        for key, reason in result.unavailable.items()
    }
    return {
        f"{titles[run]} by “{METHODS[method].title}”": reason
        for (run, method), reason in {**choice.selection.unavailable, **refused}.items()
    }


def show_point_diagram(comparison_choice: ComparisonChoice, key: str, script: str) -> None:
    """Draw the reliability diagram of one point.

    The diagram uses the metric of the y axis, or ECE where that metric is not available for the point.

    Parameters
    ----------
    comparison_choice : ComparisonChoice
    key : str
        Key of the point.
    script : str
        Script of the page that the link below the diagram opens.
    """
    scored = comparison_choice.evidence_by_point[key]
    evidence = cached_judged_evidence(scored, comparison_choice.judged_choice) or scored.evidence
    reasons = metric_availability(evidence, comparison_choice.scheme)
    metric = comparison_choice.y if reasons.get(comparison_choice.y) is None else DEFAULT_METRIC
    title = f"{scored.run.title}, {METHODS[evidence.method.id].title}"
    choice = RunChoice(scored.run, evidence, metric, comparison_choice.scheme)
    show_reliability_diagram(choice, title, "Open this run on the page Reliability", script)


def page() -> None:
    """Draw the page, the picture first: intervals and the test of every pair take seconds of many points."""
    choice = shell("comparison", choose_comparison).choice
    places = cached_places(choice)
    chosen = selected_point([point.key for point in places.picture.points])
    opening = st.container()
    show_warnings_of_runs((scored.run.title, scored.evidence) for scored in choice.selection.run_evidences)
    figures, beside = figure_and_detail(has_detail=chosen is not None)
    with figures:
        frame = st.empty()

    def view_of(placed: PlacedRuns) -> View:
        return picture_view(placed.picture, style_indices=choice.style_indices, chosen=chosen)

    def show_places() -> None:
        with frame.container():
            show_view_chart(replace(view_of(places).figures[0], id="places"))

    with opening:
        placed = cached_points(choice, show_places)
    picture = view_of(placed)
    with frame.container():
        show_view_chart(picture.figures[0], select=select_point)
    with figures:
        menu = st.container()
        show_how_to_read(picture, is_selectable=True)
    if chosen is not None:
        with beside:
            show_point_diagram(choice, chosen, PAGES["reliability"].script)
    with opening:
        result = cached_comparison(choice, placed)
        view = comparison_view(
            result, style_indices=choice.style_indices, left_out=left_out(choice, result), chosen=chosen
        )
        show_opening(view)
    with menu:
        show_figure_menu(view, view.figures[0])
    show_how_computed(view, comparison_view_caption(choice, result))
    for table in view.tables:
        show_view_table(view, table, chosen=chosen, select=select_point)
    show_left_out(view)


if __name__ == "__main__":
    page()

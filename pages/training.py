"""The page Training: does calibration improve as training goes on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.published import TRAINING_METRIC, compare_training
from calib_core.results.score import metric_availability
from calib_core.results.training import (
    ONLY_CHECKPOINT,
    Training,
    default_training_metrics,
    place_checkpoints,
    training_curves,
)
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.views.training import (
    NO_CHECKPOINT,
    training_view,
)
from calib_core.wording import plural
from pages.state.cache import cached_result, run_evidence
from pages.state.progress import with_progress
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.multiselect import multiselect
from pages.widgets.pages import PAGES
from pages.widgets.pickers import (
    methods_and_default,
    pick_method,
    pick_method_options,
    selected_point,
)
from pages.widgets.published import published_area, show_published
from pages.widgets.reliability_diagram import show_reliability_diagram
from pages.widgets.run_choice import RunChoice, pick_metric, show_unavailable
from pages.widgets.shell import shell
from pages.widgets.summary import (
    show_warnings_of_runs,
)
from pages.widgets.url_inputs import url_toggle
from pages.widgets.view import show_view


@dataclass(frozen=True, slots=True, eq=False)
class TrainingChoice:
    """What the page Training shows.

    Attributes
    ----------
    leading : RunChoice
        The last checkpoint, method, metric and binning that the headline is of.
    also : tuple of str
        Ids of further metrics, each in a panel beside.
    """

    leading: RunChoice
    also: tuple[str, ...]


def choose_training(url_state: UrlState, runs: Sequence[LoadedRun]) -> TrainingChoice:
    """Draw the sidebar controls: method, its options, metrics and binning.

    The run of the choice is the last checkpoint that has the method.

    Raises
    ------
    Unavailable
        Where no run is a checkpoint; the message says what to put into the folder.
    """
    checkpoints = checkpoint_runs(runs)
    if not checkpoints:
        raise Unavailable(NO_CHECKPOINT)
    url_state.note_runs([run.id for run in checkpoints])
    methods, default = methods_and_default(checkpoints)
    method = pick_method(url_state, methods, default)
    url_state.carry_body_value("at", [run.id for run in checkpoints])
    run = [run for run in checkpoints if method in run.report.survey.usable][-1]
    options = pick_method_options(url_state, run.report.survey.usable[method])
    evidence = run_evidence(run.report, run.file.stamp, method, options)
    above_the_bins = st.container()
    scheme = pick_binning(url_state, evidence)
    metrics = metric_availability(evidence, scheme)
    with above_the_bins:
        defaults = default_training_metrics(evidence, scheme)
        metric = pick_metric(
            url_state,
            metrics,
            defaults[0] if defaults else DEFAULT_METRIC,
            terms=evidence.terms,
        )
        also = multiselect(
            url_state,
            "also",
            [id_ for id_, reason in metrics.items() if reason is None and id_ != metric],
            label="Other metrics",
            title_of=lambda id_: METRICS[id_].title,
            default=[id_ for id_ in defaults if id_ != metric],
            help_="Further metrics over the same checkpoints, each in its own panel.",
        )
    show_unavailable(run.report.survey.unavailable, metrics, evidence.terms)
    return TrainingChoice(RunChoice(run, evidence, metric, scheme), tuple(also))


def checkpoint_runs(runs: Sequence[LoadedRun]) -> list[LoadedRun]:
    """Return the runs that are checkpoints of a training, line by line in order of training."""
    by_id = {run.id: run for run in runs}
    n_rows = {run.id: run.report.run.n_total for run in runs}
    placement = place_checkpoints({run.id: run.report.run.info for run in runs}, n_rows)
    return [by_id[checkpoint.run] for line in placement.lines.values() for checkpoint in line]


def training_evidences(
    choice: RunChoice, runs: Sequence[LoadedRun]
) -> tuple[dict[str, Evidence], dict[str, str]]:
    """Return the method's evidence of every run by id, and by id why it is not available."""
    method, evidences, unavailable = choice.evidence.method.id, dict[str, Evidence](), dict[str, str]()
    for run in runs:
        survey = run.report.survey
        if method not in survey.usable:
            unavailable[run.id] = survey.unavailable.get(method, "The run does not have this method.")
            continue
        try:
            evidences[run.id] = run_evidence(run.report, run.file.stamp, method, choice.evidence.options)
        except Unavailable as reason:
            unavailable[run.id] = str(reason)
    return evidences, unavailable


def cached_training(
    choice: RunChoice, evidences: Mapping[str, Evidence], runs: Mapping[str, LoadedRun]
) -> Training:
    """Return the lines over training, computed once."""
    include_single = shows_single_checkpoints()
    stamps = tuple((id_, runs[id_].file.stamp) for id_ in evidences)
    return cached_result(
        ("training", *choice.cache_key(), include_single, stamps),
        lambda: training_curves(evidences, choice.metric, choice.scheme, include_single=include_single),
    )


def shows_single_checkpoints() -> bool:
    """Return whether the address asks for models with a single checkpoint beside the lines of others."""
    return st.query_params.get("alone") == "1"


def training_view_caption(
    choice: RunChoice, result: Training, evidences: Mapping[str, Evidence]
) -> ViewCaption:
    """Return the caption that says which lines, how many checkpoints and which metric the figure shows."""
    points = result.points
    title = result.worded_metric.title
    caption = view_caption(
        f"{title} of {plural(len(points), 'checkpoint')}",
        [line.title for line in result.lines],
        [evidences[point.run] for point in points],
        bins_caption(choice.scheme) if METRICS[result.metric].binned else "",
    )
    missing = missing_statistics_note(
        [evidences[point.run] for point in points], [result.metric], choice.scheme, intervals=False
    )
    return replace(caption, run_noun="lines", missing_note=missing)


def single_checkpoints_toggle(result: Training) -> None:
    """Draw the switch for models with a single checkpoint, where it changes anything."""
    n_single = sum(len(line.points) == 1 for line in result.lines)
    n_single = n_single if n_single < len(result.lines) else 0
    if n_models := n_single + list(result.unplaced.values()).count(ONLY_CHECKPOINT):
        help_ = "Models with one checkpoint are points beside the lines and may stretch the axis."
        url_toggle("alone", f"{plural(n_models, 'model')} with one checkpoint", help_)


def show_checkpoint_diagram(choice: RunChoice, evidence: Evidence, run: LoadedRun, script: str) -> None:
    """Draw the reliability diagram of one checkpoint, with a link to the page `script`."""
    checkpoint_choice = replace(choice, run=run, evidence=evidence)
    show_reliability_diagram(
        checkpoint_choice, run.title, "Open this checkpoint on the page Reliability", script
    )


def show_paper(choice: RunChoice, evidences: Mapping[str, Evidence], runs: Mapping[str, LoadedRun]) -> None:
    """Draw what the paper says of Full-ECE over training, judged on these checkpoints at the paper's M."""
    at_ten = replace(choice, metric=TRAINING_METRIC, scheme=Scheme())
    comparison = compare_training(cached_training(at_ten, evidences, runs))
    with published_area(comparison):
        show_published(comparison, "training")


def page() -> None:
    """Draw the page."""
    context = shell("training", choose_training)
    choice, runs = context.choice.leading, {run.id: run for run in context.runs}
    evidences, unavailable = training_evidences(choice, context.runs)
    result, *others = [
        cached_training(replace(choice, metric=metric), evidences, runs)
        for metric in with_progress((choice.metric, *context.choice.also), "Simulating a calibrated model:")
    ]
    chosen = selected_point([point.run for point in result.points])

    def above_the_figures() -> None:
        show_warnings_of_runs((runs[id_].title, evidence) for id_, evidence in evidences.items())
        single_checkpoints_toggle(result)

    show_view(
        training_view(
            result,
            others,
            method=choice.evidence.method.id,
            titles={id_: run.title for id_, run in runs.items()},
            style_indices={id_: run.style_index for id_, run in runs.items()},
            refused=unavailable,
            chosen=chosen,
        ),
        training_view_caption(choice, result, evidences),
        selectable=("training", *(f"training_{other.metric}" for other in others), "checkpoints"),
        chosen=chosen,
        controls=above_the_figures,
        detail=None
        if chosen is None
        else lambda: show_checkpoint_diagram(
            choice, evidences[chosen], runs[chosen], PAGES["reliability"].script
        ),
    )
    show_paper(choice, evidences, runs)


if __name__ == "__main__":
    page()

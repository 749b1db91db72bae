"""Of which method and metric does the person want to see the training?  The Training page's controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from calib_core.analysis.checkpoints import place_checkpoints
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.looking import ViewCaption, bins_caption, view_caption
from calib_core.analysis.score import metric_availability
from calib_core.analysis.training import ONLY_CHECKPOINT, Training
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.sections.training import NO_CHECKPOINT
from calib_core.wording import plural
from pages.parts import cache, picking
from pages.parts.address import UrlState, url_toggle
from pages.parts.binning import pick_binning
from pages.parts.choice import RunChoice, pick_metric, show_unavailable
from pages.parts.runs import LoadedRun
from pages.parts.switches import pick_method_options


def choose_training(url_state: UrlState, runs: Sequence[LoadedRun]) -> RunChoice:
    """Method, metric and bins; the run is the last checkpoint that has the method.

    Raises Unavailable, saying what to put into the folder, where no run is a checkpoint.
    """
    placed = checkpoint_runs(runs)
    if not placed:
        raise Unavailable(NO_CHECKPOINT)
    methods, most = picking.most_common_method(placed)
    method = picking.pick_method(url_state, methods, most)
    url_state.carry_body_value("at", [run.id for run in placed])
    run = [run for run in placed if method in run.report.survey.usable][-1]
    chosen = pick_method_options(url_state, run.report.survey.usable[method])
    evidence = cache.run_evidence(run.report, run.file.stamp, method, chosen)
    above_the_bins = st.container()
    scheme = pick_binning(url_state, evidence)
    metrics = metric_availability(evidence, scheme)
    with above_the_bins:
        metric = pick_metric(url_state, metrics)
    show_unavailable(run.report.survey.unavailable, metrics)
    return RunChoice(run, evidence, metric, scheme)


def style_indices(runs: Sequence[LoadedRun]) -> dict[str, int]:
    """Run id → its place among all runs at hand."""
    return {run.id: run.style_index for run in runs}


def checkpoint_runs(runs: Sequence[LoadedRun]) -> list[LoadedRun]:
    """The runs that stand on the axis, each line in order of training."""
    by_id = {run.id: run for run in runs}
    rows = {run.id: run.report.run.n_total for run in runs}
    found = place_checkpoints({run.id: run.report.run.info for run in runs}, rows)
    return [by_id[placed.run] for line in found.lines.values() for placed in line]


def shows_single_checkpoints() -> bool:
    """Whether a model's only checkpoint is shown beside the lines of others, as the address has it."""
    return st.query_params.get("alone") == "1"


def single_checkpoints_toggle(result: Training) -> None:
    """The switch of `alone`, where it changes anything."""
    shown = sum(len(line.points) == 1 for line in result.lines)
    shown = shown if shown < len(result.lines) else 0
    if number := shown + list(result.unplaced.values()).count(ONLY_CHECKPOINT):
        help_ = "A model with one checkpoint is a point beside the lines, and may stretch the axis."
        url_toggle("alone", f"{plural(number, 'model')} with one checkpoint", help_)


def training_evidences(choice: RunChoice, runs: Sequence[LoadedRun]) -> tuple[dict[str, Evidence], dict[str, str]]:
    """What the method says of every run that it can be read off, by id, and why of the others it cannot."""
    method, found, refused = choice.evidence.method.id, dict[str, Evidence](), dict[str, str]()
    for run in runs:
        survey = run.report.survey
        if method not in survey.usable:
            refused[run.id] = survey.unavailable.get(method, "It does not give this confidence.")
            continue
        try:
            found[run.id] = cache.run_evidence(run.report, run.file.stamp, method, choice.evidence.options)
        except Unavailable as reason:
            refused[run.id] = str(reason)
    return found, refused


def training_view_caption(choice: RunChoice, result: Training, evidences: Mapping[str, Evidence]) -> ViewCaption:
    """The lines, of how many checkpoints and of what."""
    points = [point for line in result.lines for point in line.points]
    title = METRICS[result.metric].title
    made = view_caption(
        f"{title} of {plural(len(points), 'checkpoint')}",
        [line.title for line in result.lines], [evidences[point.run] for point in points],
        bins_caption(choice.scheme) if METRICS[result.metric].binned else "",
    )
    return replace(made, kind="lines")

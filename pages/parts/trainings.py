"""Of which method and metric does the person want to see the training?  The Training page's controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from calib_core.analysis.checkpoints import placing
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.looking import Looking, bins_of, looking
from calib_core.analysis.score import available_metrics
from calib_core.analysis.training import ALONE, Training
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.sections.training import NO_CHECKPOINT
from calib_core.wording import count
from pages.parts import cache, picking
from pages.parts.address import Address, flag
from pages.parts.binning import binning_of
from pages.parts.choice import Choice, metric_of, not_possible
from pages.parts.runs import Run
from pages.parts.switches import options


def choose_training(address: Address, runs: Sequence[Run]) -> Choice:
    """Method, metric and bins; the run is the last checkpoint that has the method.

    Raises Unavailable, saying what to put into the folder, where no run is a checkpoint.
    """
    placed = checkpoints(runs)
    if not placed:
        raise Unavailable(NO_CHECKPOINT)
    methods, most = picking.most_given(placed)
    method = picking.method(address, methods, most)
    address.check("at", [run.id for run in placed])
    run = [run for run in placed if method in run.report.survey.usable][-1]
    chosen = options(address, run.report.survey.usable[method])
    evidence = cache.seen(run.report, run.file.stamp, method, chosen)
    above_the_bins = st.container()
    scheme = binning_of(address, evidence)
    metrics = available_metrics(evidence, scheme)
    with above_the_bins:
        metric = metric_of(address, metrics)
    not_possible(run.report.survey.refused, metrics)
    return Choice(run, evidence, metric, scheme)


def places(runs: Sequence[Run]) -> dict[str, int]:
    """Run id → its place among all runs at hand."""
    return {run.id: run.place for run in runs}


def checkpoints(runs: Sequence[Run]) -> list[Run]:
    """The runs that stand on the axis, each line in order of training."""
    by_id = {run.id: run for run in runs}
    rows = {run.id: run.report.run.n_total for run in runs}
    found = placing({run.id: run.report.run.info for run in runs}, rows)
    return [by_id[placed.run] for line in found.lines.values() for placed in line]


def alone() -> bool:
    """Whether a model's only checkpoint is shown beside the lines of others, as the address has it."""
    return st.query_params.get("alone") == "1"


def switch(result: Training) -> None:
    """The switch of `alone`, where it changes anything."""
    shown = sum(len(line.points) == 1 for line in result.lines)
    shown = shown if shown < len(result.lines) else 0
    if number := shown + list(result.without.values()).count(ALONE):
        help_ = "A model with one checkpoint is a point beside the lines, and may stretch the axis."
        flag("alone", f"{count(number, 'model')} with one checkpoint", help_)


def evidences(choice: Choice, runs: Sequence[Run]) -> tuple[dict[str, Evidence], dict[str, str]]:
    """What the method says of every run that it can be read off, by id, and why of the others it cannot."""
    method, found, refused = choice.evidence.method.id, dict[str, Evidence](), dict[str, str]()
    for run in runs:
        survey = run.report.survey
        if method not in survey.usable:
            refused[run.id] = survey.refused.get(method, "It does not give this confidence.")
            continue
        try:
            found[run.id] = cache.seen(run.report, run.file.stamp, method, choice.evidence.options)
        except Unavailable as reason:
            refused[run.id] = str(reason)
    return found, refused


def looking_at(choice: Choice, result: Training, evidences: Mapping[str, Evidence]) -> Looking:
    """The lines, of how many checkpoints and of what."""
    points = [point for line in result.lines for point in line.points]
    title = METRICS[result.metric].title
    made = looking(
        f"{title} of {count(len(points), 'checkpoint')}",
        [line.title for line in result.lines], [evidences[point.run] for point in points],
        bins_of(choice.scheme) if METRICS[result.metric].binned else "",
    )
    return replace(made, kind="lines")

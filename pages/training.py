"""Does calibration improve as training goes on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.training import describe_training, training_figure
from calib_core.metrics import METRICS
from calib_core.report.sections.training import (
    NO_CHECKPOINT,
    TRAINING_CAPTION,
    training_recipes,
    training_rows,
    training_tiles,
)
from calib_core.results.evidence import Evidence
from calib_core.results.score import metric_availability
from calib_core.results.training import (
    ONLY_CHECKPOINT,
    Checkpoint,
    Training,
    place_checkpoints,
    training_curves,
)
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.wording import plural
from pages.state.cache import cached_result, run_evidence
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem, stem_parts, table_export_menu
from pages.widgets.figure import show_figure
from pages.widgets.pickers import (
    most_common_method,
    pick_method,
    pick_method_options,
    select_point_from_figure,
    select_point_from_table,
    selected_point,
)
from pages.widgets.reliability_diagram import show_reliability_diagram
from pages.widgets.run_choice import RunChoice, pick_metric, show_unavailable
from pages.widgets.shell import PAGES, shell
from pages.widgets.summary import show_headline, show_reasons, show_recipe, show_remarks, show_tiles
from pages.widgets.table import drop_constant_columns, fit_column_widths
from pages.widgets.url_inputs import url_toggle

# MERGED trainings: Of which method and metric does the person want to see the training?  The Training page's controls.


def choose_training(url_state: UrlState, runs: Sequence[LoadedRun]) -> RunChoice:
    """Method, metric and bins; the run is the last checkpoint that has the method.

    Raises Unavailable, saying what to put into the folder, where no run is a checkpoint.
    """
    placed = checkpoint_runs(runs)
    if not placed:
        raise Unavailable(NO_CHECKPOINT)
    methods, most = most_common_method(placed)
    method = pick_method(url_state, methods, most)
    url_state.carry_body_value("at", [run.id for run in placed])
    run = [run for run in placed if method in run.report.survey.usable][-1]
    chosen = pick_method_options(url_state, run.report.survey.usable[method])
    evidence = run_evidence(run.report, run.file.stamp, method, chosen)
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


def training_evidences(
    choice: RunChoice, runs: Sequence[LoadedRun]
) -> tuple[dict[str, Evidence], dict[str, str]]:
    """What the method says of every run that it can be read off, by id, and why of the others it cannot."""
    method, found, refused = choice.evidence.method.id, dict[str, Evidence](), dict[str, str]()
    for run in runs:
        survey = run.report.survey
        if method not in survey.usable:
            refused[run.id] = survey.unavailable.get(method, "It does not give this confidence.")
            continue
        try:
            found[run.id] = run_evidence(run.report, run.file.stamp, method, choice.evidence.options)
        except Unavailable as reason:
            refused[run.id] = str(reason)
    return found, refused


def training_view_caption(
    choice: RunChoice, result: Training, evidences: Mapping[str, Evidence]
) -> ViewCaption:
    """The lines, of how many checkpoints and of what."""
    points = [point for line in result.lines for point in line.points]
    title = METRICS[result.metric].title
    made = view_caption(
        f"{title} of {plural(len(points), 'checkpoint')}",
        [line.title for line in result.lines],
        [evidences[point.run] for point in points],
        bins_caption(choice.scheme) if METRICS[result.metric].binned else "",
    )
    return replace(made, run_noun="lines")


# MERGED checkpoints: What does one checkpoint of a training look like, and how is it chosen?  Table, click, diagram.


def selected_checkpoint(result: Training) -> str | None:
    """The id of the clicked checkpoint's run, as the address has it; None where it is no point."""
    return selected_point([point.run for point in _all_checkpoints(result)])


def _all_checkpoints(result: Training) -> list[Checkpoint]:
    return [point for line in result.lines for point in line.points]


def show_checkpoint_table(choice: RunChoice, result: Training, chosen: str | None) -> None:
    """One row a checkpoint; a click on one selects it, a second takes it back."""
    runs = [point.run for point in _all_checkpoints(result)]
    rows = training_rows(result)
    shown = drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "Line")
    key = f"checkpoints_{chosen}"
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        column_config=fit_column_widths({}, shown, *({"Line", "Checkpoint"} & {*shown.columns})),
        placeholder="–",
        height="content" if len(rows) <= 12 else 460,
        on_select=lambda: select_point_from_table(key, runs),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [runs.index(chosen)], "columns": [], "cells": []}}
        if chosen in runs
        else None,
        alt=plural(len(rows), "checkpoint"),
    )
    table_export_menu(training_export(choice, result, "Table of checkpoints"), "training", shown=shown)


def training_export(choice: RunChoice, result: Training, content: str) -> Export:
    """Every checkpoint of every line."""
    scheme, method = choice.scheme, choice.evidence.method
    bins = (scheme.binning, scheme.bins) if METRICS[choice.metric].binned else ()
    titles = list(dict.fromkeys(line.title for line in result.lines))
    lines = stem_parts(titles, "lines")
    return Export(
        make_file_stem("training", *lines, method.id, choice.metric, *bins),
        result.to_frame,
        "\n".join(training_recipes(result)),
        content,
        f"{', '.join(titles) if len(titles) == len(lines) else plural(len(titles), 'line')}, {method.title}",
    )


def show_runs_left_out(result: Training, refused: Mapping[str, str], titles: Mapping[str, str]) -> None:
    """Runs that are no point of a line, each with the reason."""
    reasons = {**refused, **result.unplaced, **result.unavailable}
    show_reasons("Not drawn", {titles[run]: why for run, why in reasons.items()}, key="not_drawn")


def show_checkpoint_diagram(choice: RunChoice, evidence: Evidence, run: LoadedRun, script: str) -> None:
    """The reliability diagram of one checkpoint; script: of the page that has more of it."""
    one = replace(choice, run=run, evidence=evidence)
    show_reliability_diagram(one, run.title, "Open this checkpoint on the page Reliability", script)


def page() -> None:
    """Draws the page."""
    here = shell("training", choose_training)
    choice, runs = here.choice, {run.id: run for run in here.runs}
    evidences, refused = training_evidences(choice, here.runs)
    alone = shows_single_checkpoints()
    result = cached_result(
        ("training", *choice.cache_key(), alone, tuple((id_, runs[id_].file.stamp) for id_ in evidences)),
        lambda: training_curves(evidences, choice.metric, choice.scheme, include_single=alone),
    )
    chosen = selected_checkpoint(result)
    show_headline(result.headline, training_view_caption(choice, result, evidences))
    show_tiles(training_tiles(result))
    show_recipe("\n".join(training_recipes(result)))
    show_remarks(*result.line_summaries)
    single_checkpoints_toggle(result)
    show_figure(
        lambda theme: training_figure(result, theme, selected=chosen, style_indices=style_indices(here.runs)),
        key="training",
        alt=describe_training(result),
        export=training_export(choice, result, "Metric over training"),
        on_select=lambda: select_point_from_figure("training"),
    )
    st.caption(f"{TRAINING_CAPTION} Click a point or a row to see its reliability diagram.")
    show_checkpoint_table(choice, result, chosen)
    show_runs_left_out(result, refused, {id_: run.title for id_, run in runs.items()})
    if chosen is not None:
        st.divider()
        show_checkpoint_diagram(choice, evidences[chosen], runs[chosen], PAGES["reliability"].script)


if __name__ == "__main__":
    page()

"""The page Training: does calibration improve as training goes on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl
import streamlit as st

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.figures.training import describe_training, training_figure
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.published import TRAINING_METRIC, compare_training
from calib_core.results.score import metric_availability
from calib_core.results.training import (
    ONLY_CHECKPOINT,
    STEPS_AXIS,
    Checkpoint,
    Training,
    default_training_metrics,
    place_checkpoints,
    training_curves,
)
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.views.training import (
    NO_CHECKPOINT,
    TRAINING_CAPTION,
    progress_heading,
    training_recipes,
    training_rows,
    training_tiles,
)
from calib_core.wording import COUNT_UNITS, plural
from pages.state.cache import cached_result, run_evidence
from pages.state.progress import with_progress
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem, stem_parts, table_export_menu
from pages.widgets.figure import figure_and_detail, show_figure, side_by_side
from pages.widgets.multiselect import multiselect
from pages.widgets.pickers import (
    ROW_CLICKS,
    most_common_method,
    pick_method,
    pick_method_options,
    rows_key,
    select_point_from_figure,
    select_point_from_table,
    selected_point,
)
from pages.widgets.published import published_area, show_published
from pages.widgets.reliability_diagram import show_reliability_diagram
from pages.widgets.run_choice import RunChoice, pick_metric, show_unavailable
from pages.widgets.shell import PAGES, shell
from pages.widgets.summary import (
    show_headline,
    show_provenance,
    show_reasons,
    show_remarks,
    show_tiles,
    show_warnings_of_runs,
)
from pages.widgets.table import drop_constant_columns, fit_column_widths
from pages.widgets.url_inputs import url_toggle

MAX_PANELS_PER_ROW: Final = 3

_MIN_PANEL_WIDTH: Final = 330
"""Width in pixels below which a panel gets a row of its own."""

_MIN_PANEL_WIDTH_BESIDE: Final = 430
"""The same beside an open diagram."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingChoice:
    """What the page Training shows.

    Attributes
    ----------
    leading : RunChoice
        The last checkpoint, method, metric and binning that the headline and the tiles are of.
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
    methods, default = most_common_method(checkpoints)
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
        metric = pick_metric(url_state, metrics, defaults[0] if defaults else DEFAULT_METRIC)
        also = multiselect(
            url_state,
            "also",
            [id_ for id_, reason in metrics.items() if reason is None and id_ != metric],
            label="Other metrics",
            title_of=lambda id_: METRICS[id_].title,
            default=[id_ for id_ in defaults if id_ != metric],
            help_="Further metrics over the same checkpoints, each in a panel of its own.",
        )
    show_unavailable(run.report.survey.unavailable, metrics)
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
            unavailable[run.id] = survey.unavailable.get(
                method, "The run does not have this confidence method."
            )
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


def selected_checkpoint(result: Training) -> str | None:
    """Return the selected checkpoint's run id from the address; None where no such point is drawn."""
    return selected_point([point.run for point in _all_checkpoints(result)])


def _all_checkpoints(result: Training) -> list[Checkpoint]:
    return [point for line in result.lines for point in line.points]


def training_view_caption(
    choice: RunChoice, result: Training, evidences: Mapping[str, Evidence]
) -> ViewCaption:
    """Return the caption that says which lines, how many checkpoints and which metric the figure shows."""
    points = [point for line in result.lines for point in line.points]
    title = METRICS[result.metric].title
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


def style_indices(runs: Sequence[LoadedRun]) -> dict[str, int]:
    """Return run id → style index."""
    return {run.id: run.style_index for run in runs}


def checkpoint_frame(result: Training, others: Sequence[Training]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the table of checkpoints, and the configuration of its column of steps or tokens.

    Steps and tokens are numbers, so that a click on the heading sorts them as such: step256 before step1000.
    """
    heading = progress_heading(result)
    positions = [point.position for point in _all_checkpoints(result)]
    frame = drop_constant_columns(
        pl.DataFrame(training_rows(result, others), infer_schema_length=None), "Line"
    )
    if result.axis == STEPS_AXIS:
        steps = pl.Series(heading, [round(position) for position in positions], pl.Int64)
        return frame.with_columns(steps), {heading: st.column_config.NumberColumn(format="localized")}
    largest = max(positions, default=0)
    unit, letter = next(((unit, letter) for unit, letter in COUNT_UNITS if largest >= unit), (1, ""))
    scaled = pl.Series(heading, [float(f"{position / unit:.3g}") for position in positions], pl.Float64)
    return frame.with_columns(scaled), {heading: st.column_config.NumberColumn(format=f"%g{letter}")}


def show_checkpoint_table(
    choice: RunChoice, result: Training, others: Sequence[Training], chosen: str | None
) -> None:
    """Draw one row per checkpoint; a click on a row selects it, a second click clears it."""
    runs = [point.run for point in _all_checkpoints(result)]
    if not runs:
        return
    shown, columns = checkpoint_frame(result, others)
    columns = fit_column_widths(columns, shown, *({"Line"} & {*shown.columns}))
    key = rows_key("checkpoints", chosen, *runs)
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        column_config=columns,
        placeholder="–",
        height="content" if len(runs) <= 12 else 460,
        on_select=lambda: select_point_from_table(key, runs),
        selection_mode=ROW_CLICKS,
        selection_default={"selection": {"rows": [runs.index(chosen)], "columns": [], "cells": []}}
        if chosen in runs
        else None,
        alt=plural(len(runs), "checkpoint"),
    )
    export = replace(
        training_export(choice, result, "Table of checkpoints"),
        frame=lambda: pl.concat(
            [
                each.to_frame().insert_column(1, pl.lit(each.metric).alias("metric"))
                for each in (result, *others)
            ]
        ),
        recipe="\n".join(recipe for each in (result, *others) for recipe in training_recipes(each)),
    )
    table_export_menu(export, "training", shown=shown, columns=columns)


def training_export(choice: RunChoice, result: Training, content: str) -> Export:
    """Return the export of every checkpoint of every line."""
    scheme, method = choice.scheme, choice.evidence.method
    bins = (scheme.binning, scheme.bins) if METRICS[result.metric].binned else ()
    titles = list(dict.fromkeys(line.title for line in result.lines))
    lines = stem_parts(titles, "lines")
    return Export(
        make_file_stem("training", *lines, method.id, result.metric, *bins),
        result.to_frame,
        "\n".join(training_recipes(result)),
        content,
        f"{', '.join(titles) if len(titles) == len(lines) else plural(len(titles), 'line')}, {method.title}",
        headline=result.headline,
        tiles=training_tiles(result),
    )


def show_runs_left_out(result: Training, unavailable: Mapping[str, str], titles: Mapping[str, str]) -> None:
    """List the runs that are not on a line, each with its reason."""
    reasons = {**unavailable, **result.unplaced, **result.unavailable}
    show_reasons("Runs not shown", {titles[run]: reason for run, reason in reasons.items()}, key="not_drawn")


def show_checkpoint_diagram(choice: RunChoice, evidence: Evidence, run: LoadedRun, script: str) -> None:
    """Draw the reliability diagram of one checkpoint, with a link to the page `script`."""
    checkpoint_choice = replace(choice, run=run, evidence=evidence)
    show_reliability_diagram(
        checkpoint_choice, run.title, "Open this checkpoint on the page Reliability", script
    )


def show_panels(
    choice: RunChoice, results: Sequence[Training], styles: Mapping[str, int], chosen: str | None
) -> None:
    """Draw each metric over training, side by side where there is room."""
    if len(results) == 1:
        _show_panel(choice, results[0], styles, chosen, "training", narrow=False)
        return
    width = _MIN_PANEL_WIDTH if chosen is None else _MIN_PANEL_WIDTH_BESIDE
    cells = side_by_side(len(results), min(len(results), MAX_PANELS_PER_ROW), min_column_width=width)
    for number, (cell, result) in enumerate(zip(cells, results, strict=True)):
        with cell:
            _show_panel(
                choice,
                result,
                styles,
                chosen,
                f"training_{result.metric}" if number else "training",
                narrow=len(results) >= MAX_PANELS_PER_ROW,
            )


def _show_panel(
    choice: RunChoice,
    result: Training,
    styles: Mapping[str, int],
    chosen: str | None,
    key: str,
    *,
    narrow: bool,
) -> None:
    show_figure(
        lambda theme: training_figure(result, theme, selected=chosen, style_indices=styles, narrow=narrow),
        key=key,
        alt=describe_training(result),
        export=training_export(choice, result, f"{METRICS[result.metric].title} over training"),
        on_select=lambda: select_point_from_figure(key),
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
    results = [
        cached_training(replace(choice, metric=metric), evidences, runs)
        for metric in with_progress((choice.metric, *context.choice.also), "Simulating a calibrated model:")
    ]
    result, *others = results
    chosen = selected_checkpoint(result)
    show_headline(result.headline)
    show_tiles(training_tiles(result))
    show_warnings_of_runs((runs[id_].title, evidence) for id_, evidence in evidences.items())
    single_checkpoints_toggle(result)
    figure, detail = figure_and_detail(has_detail=chosen is not None)
    with figure:
        show_panels(choice, results, style_indices(context.runs), chosen)
    if chosen is not None:
        with detail:
            show_checkpoint_diagram(choice, evidences[chosen], runs[chosen], PAGES["reliability"].script)
    recipes = dict.fromkeys("\n".join(training_recipes(each)) for each in results)
    show_provenance(training_view_caption(choice, result, evidences), *recipes)
    show_remarks(*result.line_summaries)
    show_remarks(*(summary for each in results for summary in each.step_summaries))
    st.caption(f"{TRAINING_CAPTION} Click a point or a row to see its reliability diagram.")
    show_checkpoint_table(choice, result, others, chosen)
    show_runs_left_out(result, unavailable, {id_: run.title for id_, run in runs.items()})
    show_paper(choice, evidences, runs)


if __name__ == "__main__":
    page()

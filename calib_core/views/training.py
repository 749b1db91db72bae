"""The page Training: does calibration improve as training goes on? One line for each model's checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from calib_core.errors import Unavailable
from calib_core.figures.training import describe_training, has_band, training_figure
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.columns import Column
from calib_core.results.evidence import Evidence
from calib_core.results.published import TRAINING_METRIC, compare_training
from calib_core.results.training import (
    Training,
    default_training_metrics,
    place_checkpoints,
    training_curves,
)
from calib_core.results.view_caption import names_or_count
from calib_core.terms import Terms
from calib_core.views.inputs import ReportInput, most_common_method
from calib_core.views.published_table import published_view
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    View,
    ViewFigure,
    ViewTable,
    file_parts,
    reasons_by_title,
    text_lines,
)
from calib_core.wording import plural

ID, TITLE, QUESTION = "training", "Training", "Does calibration improve as training goes on?"

NO_CHECKPOINT: Final = (
    "No run here is a checkpoint of a training. Put one file per checkpoint into the data folder, each "
    "with “tokens_seen” (a whole number) or “checkpoint” (“step500”, “checkpoint-500” or digits): as a "
    "column, or in the file's metadata (for an NPZ the text array “meta”). Runs of one model are then one "
    "line."
)
HOW_TO_READ: Final = (
    "Shaded band: what a perfectly calibrated model would score (5th to 95th percentile; dotted: the median)."
)
MIN_NARROW: Final = 3
"""From this number of panels on, each is drawn for a third of the page."""


def _facts(terms: Terms) -> tuple[Fact, Fact]:
    """What verdicts and changes are of."""
    q = "q: Benjamini–Hochberg over all checkpoints shown."
    return (
        Fact("Verdict", q if terms.of == "event" else f"By the top label; {q}"),
        Fact("Change", f"Claimed only from a paired test on the same {terms.questions}."),
    )


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build a view for each metric; raises Unavailable if no run is a checkpoint."""
    runs = {str(index): run for index, run in enumerate(report_input.runs)}
    placement = place_checkpoints(
        {key: run.report.run.info for key, run in runs.items()},
        {key: run.report.run.n_total for key, run in runs.items()},
    )
    on_axis = [runs[checkpoint.run] for line in placement.lines.values() for checkpoint in line]
    if not on_axis:
        raise Unavailable(NO_CHECKPOINT)
    method = most_common_method(on_axis, report_input.settings.methods)
    if method is None:
        raise Unavailable("No checkpoint has any of these methods.")
    evidences: dict[str, Evidence] = {}
    refused: dict[str, str] = {}
    for index, (key, run) in enumerate(runs.items()):
        progress(index / len(runs), run.title)
        try:
            evidences[key] = report_input.evidence(run, method)
        except Unavailable as reason:
            refused[key] = str(reason)
    settings = report_input.settings
    last = next((evidences[key] for key in reversed(evidences) if runs[key] in on_axis), None)
    metrics = settings.metrics or (default_training_metrics(last, settings.scheme) if last else ())
    followed = [
        result
        for metric in metrics or settings.all_metrics
        if (result := training_curves(evidences, metric, settings.scheme)).lines
    ]
    if not followed:
        raise Unavailable("No run is a checkpoint with this metric.")
    view = training_view(
        followed[0],
        followed[1:],
        method=method,
        titles={key: run.title for key, run in runs.items()},
        style_indices={key: run.style_index for key, run in runs.items()},
        refused=refused,
    )
    paper = compare_training(training_curves(evidences, TRAINING_METRIC))
    return Section(ID, TITLE, QUESTION, (view, published_view(paper)))


def training_view(
    result: Training,
    others: Sequence[Training] = (),
    *,
    method: str = "",
    titles: Mapping[str, str] | None = None,
    style_indices: Mapping[str, int] | None = None,
    refused: Mapping[str, str] | None = None,
    chosen: str | None = None,
) -> View:
    """One metric over training, and beside it others of the same checkpoints.

    Parameters
    ----------
    result : Training
        What headline and tiles are of.
    others : sequence of Training
    method : str
        Id of the confidence method; "" where it is not known.
    titles : Mapping of str to str, optional
        Run key → title; the keys themselves where omitted.
    style_indices : Mapping of str to int, optional
        Run key → position among all runs.
    refused : Mapping of str to str, optional
        Run key → why it does not have the method.
    chosen : str, optional
        Run key of the checkpoint that is ringed.
    """
    results = (result, *others)
    titles = titles or {}
    reasons = {**(refused or {}), **result.unplaced, **result.unavailable}
    lines = list(dict.fromkeys(line.title for line in result.lines))
    method_title = METHODS[method].title if method else ""
    return View(
        method_title=method_title,
        headline=result.headline,
        terms=result.terms,
        caveat=result.caveat,
        recipes=tuple(dict.fromkeys(_recipe(each) for each in results)),
        figures=tuple(_figure(each, results, style_indices, chosen) for each in results),
        tables=(_checkpoint_table(results),) if result.points else (),
        how_to_read=HOW_TO_READ if any(has_band(each) for each in results) else "",
        facts=(
            *(Fact("Line", text) for text in result.line_summaries),
            *(Fact("Steps", text) for each in results for text in each.step_summaries),
            *_facts(result.terms),
            *(Fact("Not tested", text) for text in text_lines(result.no_test_reason)),
            *(Fact("Rows", remark) for remark in result.remarks),
        ),
        left_out=reasons_by_title({titles.get(run, run): why for run, why in reasons.items()}),
        subject=", ".join((names_or_count(lines, "lines"), *text_lines(method_title))),
        name=("training", *file_parts(lines, "lines"), *text_lines(method)),
    )


def _figure(
    result: Training, results: Sequence[Training], style_indices: Mapping[str, int] | None, chosen: str | None
) -> ViewFigure:
    """One panel; several stand side by side."""
    is_first, narrow = result is results[0], len(results) >= MIN_NARROW
    return ViewFigure(
        lambda theme: training_figure(
            result, theme, selected=chosen, style_indices=style_indices, narrow=narrow
        ),
        describe_training(result),
        f"{result.worded_metric.title} over training",
        narrow=len(results) > 1,
        id="training" if is_first else f"training_{result.metric}",
        numbers=Numbers(result.to_frame, _recipe(result), _file_parts(result)),
    )


def _checkpoint_table(results: Sequence[Training]) -> ViewTable:
    """A row for each checkpoint, with the value of every metric."""
    result, *others = results
    frame = result.to_frame()
    columns = [*result.columns]
    for other in others:
        values = {point.run: point.value for point in other.points}
        frame = frame.with_columns(
            pl.Series(other.metric, [values.get(run) for run in frame["run"]], pl.Float64)
        )
        columns.append(Column(other.metric, other.worded_metric.title, "number"))

    def in_full() -> pl.DataFrame:
        return pl.concat(
            each.to_frame().insert_column(1, pl.lit(each.metric).alias("metric")) for each in results
        )

    return ViewTable(
        plural(frame.height, "checkpoint"),
        frame,
        tuple(column for column in columns if column.name != "line" or frame["line"].n_unique() > 1),
        id="checkpoints",
        row_keys=tuple(frame["run"]),
        numbers=Numbers(in_full, "\n".join(map(_recipe, results)), _file_parts(result)),
    )


def _file_parts(result: Training) -> tuple[str | int, ...]:
    return (result.metric, result.bins) if METRICS[result.metric].binned else (result.metric,)


def _recipe(result: Training) -> str:
    """The recipes of the points, each once."""
    return "\n".join(sorted({point.recipe for point in result.points})) or "No checkpoint."

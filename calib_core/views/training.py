"""The page Training: does calibration improve as training goes on? One line for each model's checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from calib_core.errors import Unavailable
from calib_core.figures.training import describe_training, progress_text, training_figure
from calib_core.inference.verdict import Q_TEXT, VERDICT_WORDS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence
from calib_core.results.published import TRAINING_METRIC, compare_training
from calib_core.results.training import (
    STEPS_AXIS,
    Checkpoint,
    Training,
    default_training_metrics,
    place_checkpoints,
    training_curves,
    value_range,
)
from calib_core.views.inputs import ReportInput, ReportRun, most_common_method
from calib_core.views.published_table import published_view
from calib_core.views.view import ProgressCallback, Section, Tile, View, ViewFigure, ViewTable, named_reasons
from calib_core.wording import NO_VALUE, format_column, format_p_value, format_significant

ID, TITLE, QUESTION = "training", "Training", "Does calibration improve as training goes on?"

NO_CHECKPOINT: Final = (
    "No run here is a checkpoint of a training. Put one file a checkpoint into the data folder, each with "
    "“tokens_seen” (a whole number) or “checkpoint” (“step500”, “checkpoint-500” or digits): as a column, "
    "or in the file's metadata (for an NPZ the text array “meta”). Runs of one model are then one line."
)
TRAINING_CAPTION: Final = (
    "Shaded band: what a perfectly calibrated model would score (5th to 95th percentile; dotted: the "
    "median). Verdict: by the top label; q: Benjamini–Hochberg over all checkpoints shown. A change is "
    "claimed only from a paired test on the same questions."
)


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds a block for each metric; raises Unavailable if no run is a checkpoint."""
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
        raise Unavailable("No checkpoint has one of these confidence methods.")
    evidences: dict[str, Evidence] = {}
    refused: dict[str, str] = {}
    for index, (key, run) in enumerate(runs.items()):
        progress(index / len(runs), run.title)
        try:
            evidences[key] = report_input.evidence(run, method)
        except Unavailable as reason:
            refused[key] = str(reason)
    blocks: list[View] = []
    settings = report_input.settings
    last = next((evidences[key] for key in reversed(evidences) if runs[key] in on_axis), None)
    metrics = settings.metrics or (default_training_metrics(last, settings.scheme) if last else ())
    for metric in metrics or settings.all_metrics:
        result = training_curves(evidences, metric, settings.scheme)
        if result.lines:
            blocks.append(_block(METHODS[method].title, result, runs, refused))
    if not blocks:
        raise Unavailable("No run is a checkpoint with this metric.")
    paper = compare_training(training_curves(evidences, TRAINING_METRIC))
    return Section(ID, TITLE, QUESTION, (*blocks, published_view(paper)))


def _block(method: str, result: Training, runs: dict[str, ReportRun], refused: Mapping[str, str]) -> View:
    reasons = {**refused, **result.unplaced, **result.unavailable}
    style_indices = {key: run.style_index for key, run in runs.items()}
    return View(
        title="",
        method_title=method,
        headline=result.headline,
        tiles=tuple(training_tiles(result)),
        recipes=tuple(training_recipes(result)),
        figures=(
            ViewFigure.from_drawing(
                lambda theme: training_figure(result, theme, style_indices=style_indices),
                describe_training(result),
            ),
        ),
        tables=(ViewTable.from_rows("", training_rows(result)),),
        captions=(*result.line_summaries, *result.step_summaries, TRAINING_CAPTION),
        remarks=tuple(_not_drawn_sentences({runs[key].title: why for key, why in reasons.items()})),
    )


def _not_drawn_sentences(reasons: Mapping[str, str]) -> list[str]:
    """Why runs are not drawn, from run title → reason; runs with the same reason share a sentence."""
    titles_by_reason: dict[str, list[str]] = {}
    for title, why in reasons.items():
        titles_by_reason.setdefault(why, []).append(title)
    return [f"Not shown: {', '.join(titles)}: {why}" for why, titles in titles_by_reason.items()]


def training_tiles(result: Training) -> list[Tile]:
    """The tiles: the metric at the first and last checkpoints, and how many of all are miscalibrated."""
    metric = METRICS[result.metric]
    points = [point for line in result.followed_lines for point in line.points]
    if not points:
        return []
    firsts, lasts = ([line.points[index] for line in result.followed_lines] for index in (0, -1))
    tiles = [_end_tile(f"{metric.title}, first checkpoint", firsts, metric.help)]
    if firsts != lasts:
        tiles.append(_end_tile(f"{metric.title}, last checkpoint", lasts, metric.help))
    tiles.append(Tile("Checkpoints", f"{len(points):,}", "Of all lines together."))
    if judged := [point.is_miscalibrated for point in points if point.verdict.kind != "few"]:
        help_ = (
            f"Checkpoints whose verdict is not “{VERDICT_WORDS['none']}”, by their top label, counted by q "
            "over all checkpoints shown."
        )
        tiles.append(Tile("Miscalibrated", f"{sum(judged):,} of {len(judged):,}", help_, Q_TEXT))
    return tiles


def _end_tile(label: str, points: Sequence[Checkpoint], help_: str) -> Tile:
    null = points[0].null_median if len(points) == 1 and not points[0].is_one_bin else None
    return Tile(
        label,
        value_range(points),
        help_,
        "" if null is None else f"calibrated model {format_significant(null)}",
    )


def training_recipes(result: Training) -> list[str]:
    """The recipes of the points, each once."""
    recipes = {point.recipe for line in result.lines for point in line.points}
    return sorted(recipes) or ["No checkpoint."]


def progress_heading(result: Training) -> str:
    """The heading of the column of steps or tokens."""
    return "Step" if result.axis == STEPS_AXIS else "Tokens seen"


def training_rows(result: Training, others: Sequence[Training] = ()) -> list[dict[str, object]]:
    """One row for each checkpoint; `others` are further metrics of the same checkpoints."""
    placed = [(line.title, point) for line in result.lines for point in line.points]
    points = [point for _, point in placed]
    values = {
        (other.metric, point.run): point.value
        for other in others
        for line in other.lines
        for point in line.points
    }
    lows = format_column([point.null_low for point in points])
    highs = format_column([point.null_high for point in points])
    columns: dict[str, list[str]] = {
        "Checkpoint": [point.label for point in points],
        progress_heading(result): [progress_text(point.position) for point in points],
        METRICS[result.metric].title: format_column([point.value for point in points]),
        "If calibrated": format_column([point.null_median for point in points]),
        "5–95 %": [
            low if low == NO_VALUE else f"{low} to {high}" for low, high in zip(lows, highs, strict=True)
        ],
        "Verdict": [point.verdict.words for point in points],
        "q": [format_p_value(point.q, None) for point in points],
        "Rows used": [f"{point.n_used:,}" for point in points],
        "Line": [line for line, _ in placed],
    } | {
        METRICS[other.metric].title: format_column(
            [values.get((other.metric, point.run)) for point in points]
        )
        for other in others
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def training_view(result: Training) -> View:
    """A metric over the checkpoints of a training."""
    return View(
        title="",
        headline=result.headline,
        tiles=tuple(training_tiles(result)),
        recipes=tuple(training_recipes(result)),
        figures=(
            ViewFigure.from_drawing(lambda theme: training_figure(result, theme), describe_training(result)),
        ),
        tables=(ViewTable.from_rows("", training_rows(result)),),
        captions=(*result.line_summaries, *result.step_summaries, TRAINING_CAPTION),
        remarks=named_reasons({**result.unplaced, **result.unavailable}),
    )

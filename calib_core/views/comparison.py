"""The page Comparison: accuracy against Brier score of all runs, one block for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable, shorten
from calib_core.figures.comparison import comparison_figure, describe_comparison
from calib_core.inference.intervals import coverage_note
from calib_core.methods import METHODS, in_order
from calib_core.metrics import METRICS
from calib_core.results.best import SKILL, abbreviated_list
from calib_core.results.columns import Column
from calib_core.results.comparison import (
    Comparison,
    MetricEstimate,
    Trend,
    compare_runs,
    estimate_metric,
    point_name,
    point_value_text,
    rows_note,
)
from calib_core.results.defaults import default_compared_methods
from calib_core.results.evidence import Evidence
from calib_core.views.inputs import ReportInput, ReportRun, runs_by_dataset
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    file_parts,
    reasons_by_title,
    varying_columns,
)
from calib_core.wording import NO_VALUE, plural

ID, TITLE, QUESTION = "comparison", "Comparison", "Which model is both accurate and well calibrated?"

MEASURES_PER_POINT: Final = 2
"""Numbers estimated for each point, with intervals: accuracy and Brier score."""

HOW_TO_READ: Final = "Colour: the run; shape: the method; number: the row of the table; bars: 95 % intervals."
HOW_TO_READ_CURVES: Final = f"{HOW_TO_READ} Grey: better than always stating the average accuracy."
SKILL_MEANING: Final = (
    "Brier skill score: how much better the confidences are than always stating the accuracy. Below the "
    "number: all points that cannot be told apart from the best."
)
NUMBER_COLUMN: Final = Column("number", "No.", "count", "The number of the point in the figure.")
BELOW_CURVE_HELP: Final = (
    "Points with a Brier score below that of always stating the run's accuracy (skill above 0). Below the "
    "number: points whose whole interval is below."
)


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the comparison of each data set; raises Unavailable if there are fewer than two runs."""
    if len(report_input.runs) < 2:
        raise Unavailable("Only one run is loaded. Load a second run to compare.")
    by_dataset = runs_by_dataset(report_input.runs)
    blocks: list[View] = []
    for index, (dataset, runs) in enumerate(by_dataset.items()):
        block = _block(
            report_input,
            dataset,
            runs,
            lambda share, text, index=index: progress((index + share) / len(by_dataset), text),
        )
        blocks += [block] if block else []
    if not blocks:
        raise Unavailable("No run has both numbers.")
    return Section(ID, TITLE, QUESTION, tuple(blocks))


def _block(
    report_input: ReportInput, dataset: str | None, runs: Sequence[ReportRun], progress: ProgressCallback
) -> View | None:
    evidences, refused = _evidence_by_point(report_input, runs)
    estimates: dict[tuple[Evidence, str, Scheme], MetricEstimate] = {}

    def measure_once(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
        """Estimates each number only once: both axes show numbers that every point needs anyway."""
        key = (evidence, metric, scheme)
        if key not in estimates:
            progress(
                min(1.0, len(estimates) / (MEASURES_PER_POINT * len(evidences))),
                f"intervals of {evidence.run.label}",
            )
            estimates[key] = estimate_metric(evidence, metric, scheme)
        return estimates[key]

    result = compare_runs(
        {key: evidence for key, (_, evidence) in evidences.items()},
        titles={key: run.title for key, (run, _) in evidences.items()},
        available_methods={id_ for run in runs for id_ in run.usable},
        judged_choice=report_input.settings.judged_choice,
        estimator=measure_once,
    )
    if not result.points:
        return None
    names = {key: f"{run.title} by “{evidence.method.title}”" for key, (run, evidence) in evidences.items()}
    view = comparison_view(
        result,
        style_indices={key: run.style_index for key, (run, _) in evidences.items()},
        left_out={**refused, **{names[key]: why for key, why in result.unavailable.items()}},
    )
    return replace(view, title=dataset or "")


def _evidence_by_point(
    report_input: ReportInput, runs: Sequence[ReportRun]
) -> tuple[dict[str, tuple[ReportRun, Evidence]], dict[str, str]]:
    """Returns run and evidence by point key, and by run and method why a point is missing."""
    available = {id_ for run in runs for id_ in run.usable}
    requested = available.intersection(report_input.settings.methods)
    methods = in_order(requested) or default_compared_methods(available, len(runs))
    evidences: dict[str, tuple[ReportRun, Evidence]] = {}
    refused: dict[str, str] = {}
    for index, run in enumerate(runs):
        for method in methods:
            try:
                evidences[f"{index}:{method}"] = (run, report_input.evidence(run, method).top_label)
            except Unavailable as reason:
                refused[f"{run.title} by “{METHODS[method].title}”"] = str(reason)
    return evidences, refused


def comparison_view(
    result: Comparison,
    *,
    style_indices: Mapping[str, int] | None = None,
    left_out: Mapping[str, str] | None = None,
    chosen: str | None = None,
) -> View:
    """Runs and methods as points on two metrics.

    Parameters
    ----------
    result : Comparison
    style_indices : Mapping of str to int, optional
        Key of a point → position of its run among all runs.
    left_out : Mapping of str to str, optional
        Name of a run and method → why there is no point; those of the result, by key, where omitted.
    chosen : str, optional
        Key of the point that is ringed.
    """
    caveat, *caveats = result.caveats or ("",)
    judged = {point.judged for point in result.points}
    note = coverage_note((result.x, result.y))
    numbers = Numbers(result.to_frame, result.recipe, _file_parts(result))
    return View(
        headline=result.headline,
        caveat=caveat,
        tiles=tuple(comparison_tiles(result)),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: comparison_figure(result, theme, selected=chosen, style_indices=style_indices),
                describe_comparison(result),
                "Comparison",
                id="comparison",
                numbers=replace(numbers, recipe=f"{result.recipe}\n{_key_to_numbers(result)}"),
            ),
        ),
        tables=(_point_table(result, numbers),) if result.points else (),
        how_to_read=HOW_TO_READ_CURVES if result.has_reference_curves else HOW_TO_READ,
        facts=(
            *(Fact("Trend", text) for text in trend_sentences(result)),
            *(Fact("Differences", text) for text in caveats),
            *(Fact("Judged", answer) for answer in judged if len(judged) == 1),
            *((Fact("Intervals", note),) if note else ()),
        ),
        left_out=reasons_by_title(result.unavailable if left_out is None else left_out),
        subject=", ".join(sorted(filter(None, {trend.dataset for trend in result.trends}))),
        name=("comparison", *file_parts((point.method for point in result.points), "methods")),
    )


def _key_to_numbers(result: Comparison) -> str:
    """The name of each point by its number, for a picture that has no table."""
    names = [f"{point.name} by {METHODS[point.method].title}" for point in result.points_by_skill]
    return "; ".join(f"{number} {name}" for number, name in enumerate(names, 1))


def _point_table(result: Comparison, numbers: Numbers) -> ViewTable:
    """A row for each point, the highest skill first, under the number and name that it has in the figure."""
    points = result.points_by_skill
    frame = (
        result.to_frame()
        .with_columns(
            pl.Series("run", [point.name for point in points]),
            pl.Series("best_by", [result.best_by_text(point.key) for point in points]),
        )
        .with_row_index("number", 1)
    )
    return ViewTable(
        "Every point, the highest skill first",
        frame,
        (NUMBER_COLUMN, *varying_columns(result.columns, frame, "n_used", "n_total", "judged")),
        id="points",
        row_keys=tuple(point.key for point in points),
        numbers=numbers,
    )


def _file_parts(result: Comparison) -> tuple[str | int, ...]:
    is_binned = METRICS[result.x].binned or METRICS[result.y].binned
    return (result.x, result.y, *((result.scheme.binning, result.scheme.bins) if is_binned else ()))


def comparison_tiles(result: Comparison) -> list[Tile]:
    """The tiles: number of points, the best points, and how many beat a constant confidence."""
    points = result.points
    if not points:
        return []
    with_skill = [point for point in points if point.brier_skill is not None]
    n_certain = sum(
        point.brier.high is not None and point.brier.high < point.constant_brier for point in with_skill
    )
    n_runs, n_methods = len({point.run for point in points}), len({point.method for point in points})
    return [
        Tile(
            "Points",
            str(len(points)),
            "One per run and confidence method.",
            f"{plural(n_runs, 'run')}, {plural(n_methods, 'method')}",
        ),
        _best_tile(result, SKILL, "Highest skill", SKILL_MEANING),
        _best_tile(
            result, "accuracy", "Most accurate", f"Judged: {points[0].judged}. {METRICS['accuracy'].help}"
        ),
        Tile(
            "Below a(1−a)",
            f"{sum((point.brier_skill or 0) > 0 for point in with_skill)} of {len(with_skill)}"
            if with_skill
            else NO_VALUE,
            BELOW_CURVE_HELP,
            f"{n_certain} with the whole interval" if with_skill else "all rows have one outcome",
        ),
    ]


def _best_tile(result: Comparison, metric: str, label: str, meaning: str) -> Tile:
    """The best value by a metric; below it all points that cannot be told from the best."""
    by_key = {point.key: point for point in result.points}
    if len(by_key) == 1:
        (only,) = by_key.values()
        return Tile(label, point_value_text(only, metric), meaning, "the only point")
    best, *others = result.paired.best_sets(metric)
    if others:
        return Tile(label, NO_VALUE, meaning, "not ranked across data sets")
    if best.leader is None:
        return Tile(label, NO_VALUE, meaning, best.no_best_reason or "")
    order = [best.leader, *(key for key in best.best if key != best.leader)]
    names = list(dict.fromkeys(point_name(by_key[key], metric) for key in order))
    below = names[0] if len(names) == 1 else f"{abbreviated_list(names)}: not told apart"
    leader = by_key[best.leader]
    below = f"{below}{rows_note(leader, metric, ', ')}"
    return Tile(label, point_value_text(leader, metric), meaning, shorten(below, 90))


def trend_sentences(result: Comparison) -> list[str]:
    """The trend of each method over the models, or one sentence if no method has one."""
    if reason := no_trend_reason(result):
        return [reason]
    if len(result.trends) == 1:
        return [result.trends[0].headline]
    several_datasets = len({trend.dataset for trend in result.trends}) > 1
    return [
        f"{_trend_name(trend, with_dataset=several_datasets)}: {trend.headline}" for trend in result.trends
    ]


def no_trend_reason(result: Comparison) -> str | None:
    """Why no method has a rank correlation or a change, in a sentence; None if one has."""
    if not result.trends or any(trend.correlation or trend.change for trend in result.trends):
        return None
    reasons = list(dict.fromkeys(trend.no_correlation_reason or "" for trend in result.trends))
    return f"No rank correlation: {'; '.join(reasons)}."


def _trend_name(trend: Trend, *, with_dataset: bool) -> str:
    """The method, followed by the data set if `with_dataset`."""
    dataset = trend.dataset or "no data set named"
    return f"{METHODS[trend.method].title}, {dataset}" if with_dataset else METHODS[trend.method].title

"""The page Comparison: accuracy against Brier score of all runs, one block for each data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.edges import Scheme
from calib_core.errors import Unavailable, shorten
from calib_core.figures.comparison import comparison_figure, describe_comparison
from calib_core.inference.intervals import coverage_note
from calib_core.methods import METHODS, in_order
from calib_core.metrics import METRICS
from calib_core.results.best import BRIER_SKILL, abbreviated_list
from calib_core.results.comparison import (
    BASE_METRICS,
    Comparison,
    ComparisonPoint,
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
from calib_core.views.view import ProgressCallback, Section, Tile, View, ViewFigure, ViewTable, named_reasons
from calib_core.wording import (
    NO_VALUE,
    as_cell,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_signed,
    plural,
)

ID, TITLE, QUESTION = "comparison", "Comparison", "Which model is both accurate and well calibrated?"

MEASURES_PER_POINT: Final = 2
"""Numbers estimated for each point, with intervals: accuracy and Brier score."""

CURVES_CAPTION: Final = "Grey: better than always stating the average accuracy. "
TRENDS_TITLE: Final = "Trend over the models"
CHANGE_HEADING: Final = "From least to most accurate"
SKILL_MEANING: Final = (
    "Brier skill score: how much better the confidences are than always stating the accuracy. Below the "
    "number: all points that cannot be told apart from the best."
)
BEST_BY_HELP: Final = (
    "Points not clearly worse than any other of their data set on common questions (paired t, corrected for "
    "all pairs). For skill and Brier score, points worse than always stating the accuracy do not count."
)
SKILL_HELP: Final = (
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
    for key, why in result.unavailable.items():
        refused.append((evidences[key][1].method.title, why, evidences[key][0].title))
    style_indices = {key: run.style_index for key, (run, _) in evidences.items()}
    return View(
        title=dataset or "",
        headline=result.headline,
        tiles=tuple(comparison_tiles(result)),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: comparison_figure(result, theme, style_indices=style_indices),
                describe_comparison(result),
            ),
        ),
        tables=(ViewTable.from_rows("Every point, the highest skill first", comparison_rows(result)),),
        captions=(comparison_caption(result), *trend_sentences(result)),
        remarks=(*result.caveats, *_refusal_sentences(refused)),
    )


def _evidence_by_point(
    report_input: ReportInput, runs: Sequence[ReportRun]
) -> tuple[dict[str, tuple[ReportRun, Evidence]], list[tuple[str, str, str]]]:
    """Returns run and evidence by point key, and (method, reason, run) for each point that is missing."""
    available = {id_ for run in runs for id_ in run.usable}
    requested = available.intersection(report_input.settings.methods)
    methods = in_order(requested) or default_compared_methods(available, len(runs))
    evidences: dict[str, tuple[ReportRun, Evidence]] = {}
    refused: list[tuple[str, str, str]] = []
    for index, run in enumerate(runs):
        for method in methods:
            try:
                evidences[f"{index}:{method}"] = (run, report_input.evidence(run, method).top_label)
            except Unavailable as reason:
                refused.append((METHODS[method].title, str(reason), run.title))
    return evidences, refused


def _refusal_sentences(refused: Sequence[tuple[str, str, str]]) -> list[str]:
    """Why points are missing, from (method, reason, run); runs missing for the same reason share a line."""
    runs_by_reason: dict[tuple[str, str], list[str]] = {}
    for method, why, run in refused:
        runs_by_reason.setdefault((method, why), []).append(run)
    return [f"No {method} of {', '.join(runs)}: {why}" for (method, why), runs in runs_by_reason.items()]


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
        _best_tile(result, BRIER_SKILL, "Highest skill", SKILL_MEANING),
        _best_tile(
            result, "accuracy", "Most accurate", f"Judged: {points[0].judged}. {METRICS['accuracy'].help}"
        ),
        Tile(
            "Below a(1−a)",
            f"{sum((point.brier_skill or 0) > 0 for point in with_skill)} of {len(with_skill)}"
            if with_skill
            else NO_VALUE,
            SKILL_HELP,
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
    below = f"{below}{rows_note(leader, ', ')}"
    return Tile(label, point_value_text(leader, metric), meaning, shorten(below, 90))


def comparison_caption(result: Comparison) -> str:
    """How to read the figure."""
    curves, interval_note = (
        CURVES_CAPTION if result.has_reference_curves else "",
        coverage_note((result.x, result.y)),
    )
    return (
        f"Colour and name: the run; shape: the method; bars: 95 % intervals. {curves}{interval_note}".rstrip()
    )


def trend_sentences(result: Comparison) -> list[str]:
    """The trend of each method over the models, or one sentence if no method has one."""
    if reason := no_trend_reason(result):
        return [reason]
    if len(result.trends) == 1:
        return [result.trends[0].headline]
    several_datasets = len({trend.dataset for trend in result.trends}) > 1
    return [
        f"{trend_name(trend, with_dataset=several_datasets)}: {trend.headline}" for trend in result.trends
    ]


def no_trend_reason(result: Comparison) -> str | None:
    """Why no method has a rank correlation or a change, in a sentence; None if one has."""
    if not result.trends or any(trend.correlation or trend.change for trend in result.trends):
        return None
    reasons = list(dict.fromkeys(trend.no_correlation_reason or "" for trend in result.trends))
    return f"No rank correlation: {'; '.join(reasons)}."


def trend_name(trend: Trend, *, with_dataset: bool) -> str:
    """The method, followed by the data set if `with_dataset`."""
    dataset = trend.dataset or "no data set named"
    return f"{METHODS[trend.method].title}, {dataset}" if with_dataset else METHODS[trend.method].title


def trend_rows(result: Comparison) -> list[dict[str, object]]:
    """One row for each trend: rank correlation, and change from the least to the most accurate model."""
    several_datasets = len({trend.dataset for trend in result.trends}) > 1
    return [
        {
            "Confidence method": trend_name(trend, with_dataset=several_datasets),
            "Models": f"{trend.n_models}"
            if trend.n_points == trend.n_models
            else f"{trend.n_points} runs of {trend.n_models}, not independent",
            **_rank_columns(trend),
            **(_change_columns(trend, result) if result.has_reference_curves else {}),
        }
        for trend in result.trends
    ]


def _rank_columns(trend: Trend) -> dict[str, object]:
    correlation = trend.correlation
    if correlation is None:
        return {"Rank correlation ρ": f"none: {trend.no_correlation_reason}", "p": NO_VALUE}
    if not trend.independent:
        return {"Rank correlation ρ": as_cell(format_signed(correlation.rho, "+.2f")), "p": NO_VALUE}
    interval = format_interval(correlation.low, correlation.high, "+.2f")
    return {
        "Rank correlation ρ": as_cell(f"{format_signed(correlation.rho, '+.2f')} ({interval})"),
        "p": format_p_value(correlation.p, None),
    }


def _change_columns(trend: Trend, result: Comparison) -> dict[str, object]:
    change = trend.change
    if change is None:
        return {
            CHANGE_HEADING: f"none: {trend.no_change_reason}",
            "Brier score": NO_VALUE,
            "a(1−a) alone": NO_VALUE,
        }
    names = {point.key: point.name for point in result.points}
    test = change.on_common_questions
    interval = "" if test is None else f" ({format_interval(test.low, test.high, '+.3f')})"
    return {
        CHANGE_HEADING: f"{names[change.least_accurate]} to {names[change.most_accurate]}",
        "Brier score": as_cell(f"{format_signed(change.brier_change, '+.3f')}{interval}"),
        "a(1−a) alone": as_cell(format_signed(change.constant_brier_change, "+.3f")),
    }


def comparison_rows(result: Comparison) -> list[dict[str, object]]:
    """One row for each point, the highest skill first."""
    return [_comparison_row(point, result) for point in result.points_by_skill]


def _comparison_row(point: ComparisonPoint, result: Comparison) -> dict[str, object]:
    axis_estimates = {estimate.metric: estimate for estimate in (point.x, point.y)}
    axis_columns: dict[str, object] = {}
    for id_ in dict.fromkeys((result.x, result.y)):
        if id_ not in BASE_METRICS:
            axis_columns |= {
                METRICS[id_].title: format_number(axis_estimates[id_].value),
                f"{METRICS[id_].title} 95 %": format_interval(
                    axis_estimates[id_].low, axis_estimates[id_].high
                ),
            }
    accuracy, brier = point.accuracy, point.brier
    return {
        "Run": point.run,
        "Confidence method": METHODS[point.method].title,
        **axis_columns,
        "Skill": format_signed(point.brier_skill, "+.3f"),
        "Best by": result.best_by_text(point.key),
        "Accuracy": format_percent(accuracy.value),
        "Accuracy 95 %": format_interval(accuracy.low, accuracy.high, ".1f", 100),
        "Brier": format_number(brier.value),
        "Brier 95 %": format_interval(brier.low, brier.high),
        "ECE": format_number(point.ece_10),
        "Rows used / total": f"{point.n_used:,} / {point.n_total:,}",
        "Judged": point.judged,
    }


def comparison_view(result: Comparison) -> View:
    """Accuracy against Brier score of several runs."""
    return View(
        title="",
        headline=result.headline,
        tiles=tuple(comparison_tiles(result)),
        recipes=(result.recipe,),
        figures=(ViewFigure(lambda theme: comparison_figure(result, theme), describe_comparison(result)),),
        tables=(ViewTable.from_rows("Every point, the highest skill first", comparison_rows(result)),),
        captions=(comparison_caption(result),),
        remarks=(*result.caveats, *named_reasons(result.unavailable)),
    )

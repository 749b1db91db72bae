"""The page Comparison: accuracy against Brier score of all runs, one block for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.figures.comparison import comparison_figure, describe_comparison
from calib_core.inference.intervals import coverage_note
from calib_core.methods import METHODS, in_order
from calib_core.metrics import METRICS
from calib_core.results.columns import Column
from calib_core.results.comparison import (
    NO_POINTS,
    Comparison,
    MetricEstimate,
    Trend,
    compare_runs,
    estimate_metric,
)
from calib_core.results.defaults import default_compared_methods
from calib_core.results.evidence import Evidence
from calib_core.views.inputs import ReportInput, ReportRun, runs_by_dataset
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
    varying_columns,
)
from calib_core.wording import plural

ID, TITLE, QUESTION = "comparison", "Comparison", "Which model is both accurate and well calibrated?"
EVENT_QUESTION: Final = "Which model tells yes from no, and is well calibrated?"

MEASURES_PER_POINT: Final = 2
"""Numbers estimated for each point, with intervals: accuracy and Brier score."""

GREY_AREA: Final = "Grey: better than always stating the average accuracy"
NUMBER_COLUMN: Final = Column("number", "No.", "count", "The number of the run in the figure.")


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
        raise Unavailable(NO_POINTS)
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
    note = coverage_note((result.x, result.y), result.terms)
    numbers = Numbers(result.to_frame, result.recipe, _file_parts(result))
    picture = picture_view(result, style_indices=style_indices, chosen=chosen)
    numbers_of_figure = replace(numbers, recipe=f"{result.recipe}\n{_key_to_numbers(result)}")
    return replace(
        picture,
        headline=result.headline,
        caveat=caveat,
        recipes=(result.recipe,),
        figures=tuple(replace(figure, numbers=numbers_of_figure) for figure in picture.figures),
        tables=(_point_table(result, numbers),) if result.points else (),
        facts=(
            *(Fact("Trend", text) for text in trend_sentences(result)),
            *(Fact("Differences", text) for text in (*caveats, *result.remarks)),
            *(Fact("Judged", one) for one in judged if len(judged) == 1 and result.terms.of != "event"),
            *((Fact("Intervals", note),) if note else ()),
        ),
        left_out=reasons_by_title(result.unavailable if left_out is None else left_out),
        subject=", ".join(sorted(filter(None, {trend.dataset for trend in result.trends}))),
        name=("comparison", *file_parts((point.method for point in result.points), "methods")),
    )


def picture_view(
    result: Comparison, *, style_indices: Mapping[str, int] | None = None, chosen: str | None = None
) -> View:
    """The figure alone and how it is read, for which no two points need to be compared.

    Parameters
    ----------
    result : Comparison
        Of which only the points count, as in `PlacedRuns.picture`.
    style_indices, chosen
        As in `comparison_view`.
    """
    figure = ViewFigure(
        lambda theme: comparison_figure(result, theme, selected=chosen, style_indices=style_indices),
        describe_comparison(result),
        "Comparison",
        id="comparison",
    )
    return View(figures=(figure,), how_to_read=_how_to_read(result), terms=result.terms)


def _key_to_numbers(result: Comparison) -> str:
    """The name of each run by its number, for a picture that has no table."""
    names = dict.fromkeys(
        f"{result.run_numbers[point.run]} {point.name}" for point in result.points_by_number
    )
    return "; ".join(names)


def _point_table(result: Comparison, numbers: Numbers) -> ViewTable:
    """A row for each point, the most accurate run first, under its number and name in the figure."""
    points = result.points_by_number
    frame = result.frame_of(points).with_columns(
        pl.Series("number", [result.run_numbers[point.run] for point in points], pl.UInt32),
        pl.Series("run", [point.name for point in points]),
        pl.Series("best_by", [result.best_by_text(point.key) for point in points]),
    )
    return ViewTable(
        f"Every point, {_ranked_by(result)[1]} first",
        frame,
        (NUMBER_COLUMN, *varying_columns(result.columns, frame, "n_used", "n_total", "judged")),
        id="points",
        row_keys=tuple(point.key for point in points),
        numbers=numbers,
    )


def _file_parts(result: Comparison) -> tuple[str | int, ...]:
    is_binned = METRICS[result.x].binned or METRICS[result.y].binned
    return (result.x, result.y, *((result.scheme.binning, result.scheme.bins) if is_binned else ()))


def _ranked_by(result: Comparison) -> tuple[str, str]:
    """What the numbers of the runs follow, and the run that is first."""
    if result.terms.of == "event":
        return "skill", "the highest skill"
    return "accuracy", "the most accurate run"


def _how_to_read(result: Comparison) -> str:
    """What the marks of the figure are, and how many points beat a constant confidence."""
    by = _ranked_by(result)[0]
    sentences = [f"Colour and number: the run, by {by}; shape: the method; bars: 95 % intervals."]
    if any(point.is_partial for point in result.points):
        sentences.append(f"Hollow: a tenth or more of the rows lack a {result.terms.confidence}.")
    with_skill = [point for point in result.points if point.brier_skill is not None]
    if result.has_reference_curves and with_skill:
        n_below = sum((point.brier_skill or 0) > 0 for point in with_skill)
        n_clear = sum(point.is_below for point in with_skill)
        clearly = f", {n_clear} of them clearly" if n_below else ""
        sentences.append(f"{GREY_AREA}: {n_below} of {plural(len(with_skill), 'point')}{clearly}.")
    return " ".join(sentences)


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
    method = METHODS[trend.method].heading
    return f"{method}, {dataset}" if with_dataset else method

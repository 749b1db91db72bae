"""The page Recalibrate: every run of answers before and after another scale of its confidences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from calib_core.errors import Unavailable
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.inference.missingness import ROWS_WITH_ONE, missing_caveat
from calib_core.inference.recalibration import MAP_KINDS
from calib_core.results.recalibration import (
    COVERAGE,
    DEFAULT_MAP,
    METRIC_NAMES,
    MOST_UNCONFIRMED,
    RECALIBRATION_COLUMNS,
    SUMS_ONLY,
    Recalibration,
    RecalibrationDifference,
    parameters_text,
    recalibrate,
)
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.views.glossary import GLOSSARY
from calib_core.views.inputs import ReportInput
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_views,
    reasons_by_title,
)
from calib_core.wording import format_interval, format_number, format_signed, plural

ID, TITLE, QUESTION = "recalibrate", "Recalibrate", "Would rescaling the confidence help?"
EVENT_QUESTION: Final = "Would rescaling the probability help?"

TILE_HELP: Final = (
    "Before → after. Each row is scored with a map fitted to other questions. Below: after minus before, "
    "paired by question; negative is better."
)
HOW_TO_READ: Final = f"Out of fold: {GLOSSARY['out of fold'].meaning}"
_FACTS: Final = (
    Fact("Gain", "Claimed if the interval of the difference in Brier score lies below 0."),
    Fact(
        "Simulations",
        f"New rows contradicted a claimed gain in at most {MOST_UNCONFIRMED:g} % of data sets; the interval "
        f"contained the map's true difference in {COVERAGE[0]:g} to {COVERAGE[1]:g} % of them, least often "
        "where there was nothing to gain (benchmarks/recalibration.md).",
    ),
)

TILE_METRICS: Final = ("ece", "brier")
BEFORE, AFTER = "Before", "After, out of fold"


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build a view for every run and method by the default map; raises Unavailable if there is none."""
    runs = report_input.answer_runs
    if not runs:
        raise Unavailable(SUMS_ONLY)
    views: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(runs):
        progress(index / len(runs), run.title)
        for method in report_input.methods_for(run):
            try:
                result = recalibrate(report_input.evidence(run, method), DEFAULT_MAP)
                views.append(recalibration_view(result, title=run.title))
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
    if not views:
        raise Unavailable(refused[0] if refused else "No run has any of these methods.")
    return Section(ID, TITLE, QUESTION, (*views, *not_drawn_views(refused)))


def recalibration_view(
    result: Recalibration, diagrams: tuple[Reliability, Reliability] | None = None, *, title: str = ""
) -> View:
    """The reliability diagrams before and after a map, and the metrics of both.

    Parameters
    ----------
    result : Recalibration
    diagrams : tuple of (Reliability, Reliability), optional
        Those of `recalibration_diagrams`, where they are known already.
    title : str
        The run's title; its label where omitted.
    """
    before, after = diagrams or recalibration_diagrams(result)
    terms = result.evidence.terms
    title, method, kind = title or result.run, result.evidence.method.title, MAP_KINDS[result.by].title
    return View(
        title=title,
        method_title=method,
        headline=result.headline,
        caveat=missing_caveat([("", result.evidence.missingness)], ROWS_WITH_ONE),
        terms=terms,
        tiles=tuple(recalibration_tiles(result)),
        recipes=(result.recipe,),
        figures=(
            _figure(before, BEFORE, "before", before.recipe),
            _figure(after, AFTER, "after", f"{after.recipe}; {result.recipe}"),
        ),
        tables=(
            ViewTable(
                "Before and after",
                _metrics_frame(result),
                tuple(column for column in RECALIBRATION_COLUMNS if column.name != "method"),
                id="recalibration",
                numbers=Numbers(result.to_frame, result.recipe),
            ),
        ),
        how_to_read=HOW_TO_READ.replace("questions", terms.questions),
        facts=(
            Fact("Map", f"{kind}, fitted to all rows, for use on new ones: {parameters_text(result.map)}."),
            Fact("Folds", f"{plural(result.n_questions, terms.question)} in {result.folds} folds."),
            *_FACTS,
        ),
        left_out=reasons_by_title(
            {f"Difference in {METRIC_NAMES[metric]}": why for metric, why in result.no_difference.items()}
        ),
        subject=f"{title}, {method}, {kind} recalibration",
        name=(title, result.method, result.by),
    )


def metrics_view(results: Sequence[Recalibration]) -> View:
    """The metrics of several methods of a run before and after, with the finding of each method."""
    return View(
        tables=(ViewTable("", pl.concat(map(_metrics_frame, results)), RECALIBRATION_COLUMNS),),
        facts=tuple(Fact(result.method, result.headline) for result in results),
        recipes=tuple(f"{result.method}: {result.recipe}" for result in results),
        left_out=tuple(
            f"{result.method}: {why}"
            for result in results
            for why in dict.fromkeys(result.no_difference.values())
        ),
    )


def _figure(diagram: Reliability, title: str, id_: str, recipe: str) -> ViewFigure:
    return ViewFigure(
        lambda theme: reliability_figure(diagram, theme),
        f"{title}: {describe_reliability(diagram)}",
        title,
        narrow=True,
        id=id_,
        numbers=Numbers(diagram.to_frame, recipe, (id_,)),
    )


def _metrics_frame(result: Recalibration) -> pl.DataFrame:
    return result.to_frame().with_columns(pl.col("metric").replace(METRIC_NAMES))


def recalibration_diagrams(result: Recalibration) -> tuple[Reliability, Reliability]:
    """The reliability diagrams before and after."""
    return reliability_diagram(result.evidence, "ece"), reliability_diagram(result.recalibrated, "ece")


def recalibration_tiles(result: Recalibration) -> list[Tile]:
    """The tiles: ECE and Brier score before and after; the table has the other metrics."""
    return [
        Tile(
            METRIC_NAMES[metric],
            f"{format_number(result.before[metric])} → {format_number(result.after[metric])}",
            f"{TILE_HELP}{_interval_text(difference)}",
            "no interval" if difference is None else format_signed(difference.value),
        )
        for metric in TILE_METRICS
        for difference in (result.differences.get(metric),)
    ]


def _interval_text(difference: RecalibrationDifference | None) -> str:
    if difference is None:
        return ""
    interval = format_interval(difference.low, difference.high, "+.4f")
    return f" Interval of the difference out of fold: {interval}."

"""The page Recalibrate: every run of answers before and after another scale of its confidences."""

from __future__ import annotations

from typing import Final

from calib_core.errors import Unavailable
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.inference.recalibration import MAP_KINDS
from calib_core.results.recalibration import (
    COVERAGE,
    DEFAULT_MAP,
    JUDGED_METRICS,
    METRIC_NAMES,
    MOST_UNCONFIRMED,
    SUMS_ONLY,
    Recalibration,
    difference_text,
    parameters_text,
    recalibrate,
    recalibration_rows,
)
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.views.inputs import ReportInput
from calib_core.views.view import (
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_blocks,
)
from calib_core.wording import format_number, plural

ID, TITLE, QUESTION = "recalibrate", "Recalibrate", "Would rescaling the confidence help?"

TILE_HELP: Final = (
    "Before → after. Each row is scored with a map fitted to other questions. Below: after minus before with "
    "its 95 % interval, paired by question; negative is better."
)
RECALIBRATION_CAPTION: Final = (
    "Left: the confidences as stored. Right: each row recalibrated by a map fitted to the other folds. The "
    "map below is fitted to all rows, for use on new ones. A gain is claimed if the interval of the "
    "difference in Brier score lies below 0. In simulations, new rows contradicted a claimed gain in at most "
    f"{MOST_UNCONFIRMED:g} % of data sets; the interval contained the map's true difference in "
    f"{COVERAGE[0]:g} to {COVERAGE[1]:g} % of them, least often where there was nothing to gain "
    "(benchmarks/recalibration.md)."
)

BEFORE, AFTER = "Before", "After, out of fold"


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds a block for every run and method by the default map; raises Unavailable if there is none."""
    runs = report_input.answer_runs
    if not runs:
        raise Unavailable(SUMS_ONLY)
    blocks: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(runs):
        progress(index / len(runs), run.title)
        for method in report_input.methods_for(run):
            try:
                result = recalibrate(report_input.evidence(run, method), DEFAULT_MAP)
                blocks.append(recalibration_view(result, run.title))
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run has one of these confidence methods.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn_blocks(refused)))


def recalibration_view(result: Recalibration, title: str = "") -> View:
    """The reliability diagrams before and after a map, and the differences, under a title."""
    before, after = recalibration_diagrams(result)
    return View(
        title=title or result.run,
        method_title=result.evidence.method.title,
        headline=result.headline,
        tiles=tuple(recalibration_tiles(result)),
        recipes=(result.recipe,),
        figures=tuple(
            ViewFigure(
                lambda theme, diagram=diagram: reliability_figure(diagram, theme),
                f"{name}: {describe_reliability(diagram)}",
                name,
                narrow=True,
            )
            for name, diagram in ((BEFORE, before), (AFTER, after))
        ),
        tables=(ViewTable.from_rows("Before and after", recalibration_rows(result)),),
        captions=(
            f"{MAP_KINDS[result.map.by].title}, fitted to all rows: {parameters_text(result.map)}.",
            RECALIBRATION_CAPTION,
        ),
        remarks=tuple(dict.fromkeys(result.no_difference.values())),
    )


def recalibration_diagrams(result: Recalibration) -> tuple[Reliability, Reliability]:
    """The reliability diagrams before and after."""
    return reliability_diagram(result.evidence, "ece"), reliability_diagram(result.recalibrated, "ece")


def recalibration_tiles(result: Recalibration) -> list[Tile]:
    """The tiles: each metric before and after, and the rows used."""
    tiles = [
        Tile(
            METRIC_NAMES[metric],
            f"{format_number(result.before[metric])} → {format_number(result.after[metric])}",
            TILE_HELP,
            difference_text(result, metric) if metric in result.differences else "no interval",
        )
        for metric in JUDGED_METRICS
    ]
    questions = f"{plural(result.n_questions, 'question')} in {result.folds} folds"
    rows = Tile(
        "Rows used / total",
        f"{result.n_used:,} / {result.n_total:,}",
        "Rows with a confidence and an outcome.",
        questions,
    )
    return [*tiles, rows]

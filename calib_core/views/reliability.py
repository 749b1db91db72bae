"""The page Reliability: is a model right as often as it says? One block for each run, method and metric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable, shorten
from calib_core.figures.classwise import classwise_figure, describe_classwise
from calib_core.figures.layout import Figure
from calib_core.figures.palette import Theme
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.reliability_log import log_reliability_figure
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.classwise import Classwise, classwise, is_classwise
from calib_core.results.evidence import Evidence
from calib_core.results.questions import questions_in_bin as questions_of
from calib_core.results.reliability import AllLabels, Reliability, pools_vocabulary, reliability_diagram
from calib_core.results.score import Score, score
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.view import (
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_views,
    text_lines,
)
from calib_core.wording import (
    NO_VALUE,
    BinReading,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_short,
    format_signed,
    format_significant,
    p_value_phrase,
    plural,
)

ID, TITLE, QUESTION = "reliability", "Reliability", "Is the model right as often as it says?"

CLASSES_TITLE: Final = "ECE of each class, largest first"
CLASSWISE_CAPTION: Final = (
    "class-k-ECE compares the probability of class k with how often k is right, bin by bin, and adds up the "
    "gaps; cw-ECE is the mean over all classes (Full-ECE paper, eq. 4, 6 and 7). A class that is seldom "
    "right has little to be judged by."
)
MAX_CLASSES: Final = 20
"""At most this many classes are listed; the app's download has all."""
MAX_QUESTIONS: Final = 50
"""At most this many questions of a bin are listed; the app's download has all."""
SMALLEST_PERCENT: Final = 5e-3
"""A smaller share has significant digits instead of one decimal of a percent."""
MAX_TEXT_LENGTH: Final = 240
"""Longest text of a question or answer, in characters."""


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the diagrams of every run; raises Unavailable if there is none."""
    blocks: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(report_input.runs):
        progress(index / len(report_input.runs), run.title)
        for method in report_input.methods_for(run):
            for metric in report_input.settings.all_metrics:
                try:
                    blocks.append(_block(report_input, run, method, metric))
                except Unavailable as reason:
                    refused.append(f"{run.title}: {reason}")
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run has one of these confidence methods.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn_views(refused)))


def figure_of(evidence: Evidence, metric: str) -> Callable[[Reliability, Theme], Figure]:
    """The figure that draws the diagram: on logarithmic axes where the classes are a whole vocabulary."""
    return log_reliability_figure if pools_vocabulary(evidence, metric) else reliability_figure


def _block(report_input: ReportInput, run: ReportRun, method: str, metric: str) -> View:
    """One diagram, or bounds of the metric; raises Unavailable if there is neither."""
    evidence = report_input.evidence(run, method)
    method_title = METHODS[method].title
    scheme = report_input.settings.scheme
    if is_classwise(metric):
        return _classwise_block(evidence, run, metric, scheme)
    try:
        result = reliability_diagram(evidence, metric, scheme)
    except Unavailable as reason:
        bounds = score(evidence, metric, scheme)
        tile = metric_tile(bounds)
        return View(run.title, method_title, tiles=(tile,), recipes=(bounds.recipe,), remarks=(str(reason),))
    metric_spec = METRICS[metric]
    draw = figure_of(evidence, metric)
    return View(
        title=run.title,
        method_title=method_title,
        headline=result.headline,
        tiles=tuple(reliability_tiles(evidence, result)),
        recipes=(result.score.recipe if metric_spec.binned else result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: draw(result, theme),
                describe_reliability(result),
                narrow=True,
            ),
        ),
        tables=(ViewTable.from_rows("Bin by bin", bin_rows(result), reliability_caption(result)),),
        closing_tables=bin_question_tables(evidence, result, report_input.settings.bin_number),
        remarks=tuple(text for text in (result.warning, result.score.remark, *result.remarks) if text),
    )


def _classwise_block(evidence: Evidence, run: ReportRun, metric: str, scheme: Scheme) -> View:
    """The ECE of every class, and the diagram of the class that is farthest off."""
    result = classwise(evidence, metric, scheme)
    farthest = result.diagram_of(int(result.table["class"][0]))
    draw = figure_of(evidence, metric)
    return View(
        title=run.title,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=tuple(reliability_tiles(evidence, reliability_diagram(evidence, metric, scheme))),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: classwise_figure(result, theme),
                describe_classwise(result),
                CLASSES_TITLE,
                narrow=True,
            ),
            ViewFigure(
                lambda theme: draw(farthest, theme),
                describe_reliability(farthest),
                f"The class farthest off: {farthest.part}",
                narrow=True,
            ),
        ),
        tables=(ViewTable.from_rows(CLASSES_TITLE, class_rows(result), CLASSWISE_CAPTION),),
        remarks=tuple(text for text in (result.score.remark, *result.remarks) if text),
    )


def class_rows(result: Classwise) -> list[dict[str, object]]:
    """One row for each of the classes farthest off, formatted."""
    return [
        {
            "Class": row["name"],
            "class-k-ECE": format_short(row["ece"]),
            "Part of the sum": format_percent(row["share"]),
            "Right": f"{row['right']:,}",
            "Share right": format_short(row["frequency"]),
            "Mean probability": format_short(row["mean_probability"]),
        }
        for row in result.table.head(MAX_CLASSES).iter_rows(named=True)
    ]


def bin_question_tables(
    evidence: Evidence, result: Reliability, bin_number: int | None
) -> tuple[ViewTable, ...]:
    """The first questions of the bin; () if the bin is empty or the file has no questions."""
    bin_row = result.table.filter(pl.col("bin") == pl.lit(bin_number, pl.Int64))
    if bin_row.is_empty() or evidence.no_questions_reason:
        return ()
    questions = questions_of(evidence, result.score.metric, result.scheme, bin_number=bin_number)
    rows = [
        {
            **{
                name.capitalize(): _shortened(row[name])
                for name in row
                if name not in ("confidence", "right")
            },
            "Confidence": f"{row['confidence']:.4f}",
            "Right or wrong": "right" if row["right"] else "wrong",
        }
        for row in questions.frame.head(MAX_QUESTIONS).iter_rows(named=True)
    ]
    bin_text = BinReading(bin_row["percent"].item(), bin_row["interval"].item())
    first = f"the first {MAX_QUESTIONS} of " if questions.n_before_search > MAX_QUESTIONS else ""
    return (
        ViewTable.from_rows(
            f"Questions in {bin_text}, {first}{questions.n_before_search:,}",
            rows,
        ),
    )


def _shortened(value: object) -> object:
    return shorten(value, MAX_TEXT_LENGTH) if isinstance(value, str) else value


def reliability_tiles(evidence: Evidence, result: Reliability) -> list[Tile]:
    """The tiles: the metric, and the numbers to read it with."""
    in_one_bin = (
        result.pair_unit == "labels" and result.table.height == 1 and not is_classwise(result.score.metric)
    )
    of_labels = result.all_labels
    return [
        metric_tile(result.score, says_nothing=in_one_bin),
        *(top_label_tiles(result) if of_labels is None else _all_labels_tiles(result, of_labels)),
        Tile(
            f"{evidence.unit.capitalize()} used / total",
            f"{result.score.n_used:,} / {result.score.n_total:,}",
            unused_rows_help(evidence),
        ),
    ]


def used_tile(method: str, n_used: int, n_total: int) -> Tile:
    """The tile of the rows, or positions, that a result stands on."""
    unit = "Positions" if METHODS[method].run_kind == "tokens" else "Rows"
    return Tile(f"{unit} used / total", f"{n_used:,} / {n_total:,}", "With a confidence and an outcome.")


def top_label_tiles(result: Reliability) -> list[Tile]:
    """Brier score, accuracy and mean confidence of the top label."""
    return [
        Tile("Brier score", format_number(result.brier), METRICS["brier"].help),
        Tile(
            "Accuracy",
            format_percent(result.accuracy),
            f"Judged: {result.judged}. {METRICS['accuracy'].help}",
        ),
        Tile("Mean confidence", format_percent(result.mean_confidence), "The average of the confidences."),
    ]


def _all_labels_tiles(result: Reliability, numbers: AllLabels) -> list[Tile]:
    """The numbers of every label, and the accuracy, which is of the top label and says so."""
    return [
        Tile("Brier score, all labels", format_significant(numbers.brier), METRICS["brier"].help),
        Tile(
            "Mean probability",
            _percent_or_short(numbers.mean_probability),
            "Over every label of every row, right or wrong.",
            f"right labels: {_percent_or_short(numbers.share_right)}",
        ),
        Tile(
            "Accuracy, top label",
            format_percent(result.accuracy),
            f"Judged: {result.judged}. {METRICS['accuracy'].help}",
        ),
    ]


def _percent_or_short(share: float | None) -> str:
    """A share in percent; where that would be 0.0 %, with significant digits."""
    return format_percent(share) if share is None or share >= SMALLEST_PERCENT else format_short(share)


def metric_tile(result: Score, *, says_nothing: bool = False) -> Tile:
    """The value or its bounds, and the p-value against perfect calibration.

    Parameters
    ----------
    result : Score
    says_nothing : bool
        Whether all labels lie in one bin, where the value is near 0 whatever the model says.
    """
    metric = METRICS[result.metric]
    if says_nothing:
        # Not "0.0000", which reads as a measured number that happens to be small.
        return Tile(metric.title, format_number(result.value, ".2g"), metric.help, "one bin: says nothing")
    value = format_significant(result.value)
    if result.value is None and result.low is not None and result.high is not None:
        value = format_interval(result.low, result.high)
    p = p_value_phrase(result.p, result.draws)
    return Tile(metric.title, value, metric.help, p and f"{p} vs. calibrated")


def unused_rows_help(evidence: Evidence) -> str:
    """Why some rows are not used."""
    parts = [f"{count:,} {reason}" for reason, count in evidence.missing.items() if count]
    if left_out := evidence.run.row_counts.n_left_out:
        parts.append(f"{left_out:,} bad rows left out")
    return f"Not used: {'; '.join(parts)}." if parts else "Every row has a confidence and an outcome."


def reliability_caption(result: Reliability) -> str:
    """How to read the diagram and the table."""
    whiskers = (
        "Each probability counts by itself, as if one answer were sampled from each distribution: n is how "
        "many such answers to expect."
        if result.pair_unit == "sampled answers"
        else "No whiskers: the pairs of one position or question depend on one another."
        if result.pair_unit == "labels"
        else "Whiskers: 95 % Wilson interval of the accuracy."
    )
    return (
        f"Gap = confidence − accuracy: above zero is over-confident. Empty bins are left out. "
        f"Faded: fewer than {MIN_ROWS} {result.pair_unit} "
        f"({result.n_thin_bins} of {plural(result.table.height, 'bin')}). "
        f"{whiskers}"
    )


def format_decimals(value: float) -> str:
    """A mean confidence or accuracy with three decimals, or significant digits where it is small."""
    return f"{value:.3f}" if value == 0 or value >= SMALLEST_PERCENT else format_short(value)


def bin_rows(result: Reliability) -> list[dict[str, object]]:
    """One row for each non-empty bin, formatted."""
    return [
        {
            "Says": row["percent"],
            "Bin": row["interval"],
            "n": format_count(row["count"]),
            "Confidence": format_decimals(row["confidence"]),
            "Accuracy": format_decimals(row["accuracy"]),
            "95 %": format_interval(row["accuracy_low"], row["accuracy_high"], ".3f")
            if row["accuracy_low"] is not None
            else NO_VALUE,
            "Gap": format_signed(row["gap"], "+.3f"),
            "Part of gap": format_percent(row["share"]),
        }
        for row in result.table.iter_rows(named=True)
    ]


def reliability_view(result: Reliability) -> View:
    """The diagram; on logarithmic axes where the classes are a whole vocabulary."""
    of_vocabulary = result.pair_unit == "labels" and METHODS[result.method].run_kind == "tokens"
    draw = log_reliability_figure if of_vocabulary else reliability_figure
    return View(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(
            metric_tile(result.score),
            *top_label_tiles(result),
            used_tile(result.method, result.score.n_used, result.score.n_total),
        ),
        recipes=(result.score.recipe if METRICS[result.score.metric].binned else result.recipe,),
        figures=(ViewFigure(lambda theme: draw(result, theme), describe_reliability(result), narrow=True),),
        tables=(ViewTable.from_rows("Bin by bin", bin_rows(result), reliability_caption(result)),),
        remarks=text_lines(result.warning, result.score.remark, *result.remarks),
    )


def classwise_view(result: Classwise) -> View:
    """The ECE of every class."""
    return View(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(
            metric_tile(result.score),
            used_tile(result.method, result.score.n_used, result.score.n_total),
        ),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: classwise_figure(result, theme), describe_classwise(result), CLASSES_TITLE
            ),
        ),
        tables=(ViewTable.from_rows(CLASSES_TITLE, class_rows(result), CLASSWISE_CAPTION),),
        remarks=text_lines(result.score.remark, *result.remarks),
    )

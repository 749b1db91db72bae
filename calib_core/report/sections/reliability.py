"""The page Reliability: is a model right as often as it says? One block for each run, method and metric."""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.errors import Unavailable, shorten
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.report.blocks import (
    Block,
    ProgressCallback,
    ReportFigure,
    ReportTable,
    Section,
    Tile,
    not_drawn_blocks,
)
from calib_core.report.inputs import ReportInput, ReportRun
from calib_core.results.evidence import Evidence
from calib_core.results.questions import questions_in_bin as questions_of
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.results.score import Score, score
from calib_core.runs import TokenRun
from calib_core.wording import (
    NO_VALUE,
    format_interval,
    format_number,
    format_percent,
    format_signed,
    p_value_phrase,
)

ID, TITLE, QUESTION = "reliability", "Reliability", "Is the model right as often as it says?"

MAX_QUESTIONS: Final = 50
"""At most this many questions of a bin are listed; the app's download has all."""
MAX_TEXT_LENGTH: Final = 240
"""Longest text of a question or answer, in characters."""


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the diagrams of every run; raises Unavailable if there is none."""
    blocks: list[Block] = []
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
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn_blocks(refused)))


def _block(report_input: ReportInput, run: ReportRun, method: str, metric: str) -> Block:
    """One diagram, or bounds of the metric; raises Unavailable if there is neither."""
    evidence = report_input.evidence(run, method)
    method_title = METHODS[method].title
    try:
        result = reliability_diagram(evidence, metric, report_input.settings.scheme)
    except Unavailable as reason:
        bounds = score(evidence, metric, report_input.settings.scheme)
        tile = metric_tile(bounds)
        return Block(run.title, method_title, tiles=(tile,), recipes=(bounds.recipe,), remarks=(str(reason),))
    metric_spec = METRICS[metric]
    return Block(
        title=run.title,
        method_title=method_title,
        headline=result.headline,
        tiles=tuple(reliability_tiles(evidence, result)),
        recipes=(result.score.recipe if metric_spec.binned else result.recipe,),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: reliability_figure(
                    result, theme, log_counts=first_bin_dominates(evidence, metric)
                ),
                describe_reliability(result),
                narrow=True,
            ),
        ),
        tables=(ReportTable.from_rows("Bin by bin", bin_rows(result), reliability_caption(result)),),
        closing_tables=bin_question_tables(evidence, result, report_input.settings.bin_number),
        remarks=tuple(text for text in (result.score.remark, *result.remarks) if text),
    )


def bin_question_tables(
    evidence: Evidence, result: Reliability, bin_number: int | None
) -> tuple[ReportTable, ...]:
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
    first = f"the first {MAX_QUESTIONS} of " if questions.n_before_search > MAX_QUESTIONS else ""
    return (
        ReportTable.from_rows(
            f"Questions in {bin_row['interval'].item()}, {first}{questions.n_before_search:,}", rows
        ),
    )


def _shortened(value: object) -> object:
    return shorten(value, MAX_TEXT_LENGTH) if isinstance(value, str) else value


def first_bin_dominates(evidence: Evidence, metric: str) -> bool:
    """Whether nearly all pairs are in the first bin, as for the classes of a whole vocabulary."""
    return isinstance(evidence.run, TokenRun) and METRICS[metric].needs == "distribution"


def reliability_tiles(evidence: Evidence, result: Reliability) -> list[Tile]:
    """The tiles: the metric, and the numbers to read it with."""
    return [
        metric_tile(result.score),
        Tile("Brier score", format_number(result.brier), METRICS["brier"].help),
        Tile(
            "Accuracy",
            format_percent(result.accuracy),
            f"Judged: {result.judged}. {METRICS['accuracy'].help}",
        ),
        Tile("Mean confidence", format_percent(result.mean_confidence), "The average of the confidences."),
        Tile(
            f"{evidence.unit.capitalize()} used / total",
            f"{result.score.n_used:,} / {result.score.n_total:,}",
            unused_rows_help(evidence),
        ),
    ]


def metric_tile(result: Score) -> Tile:
    """The value or its bounds, and the p-value against perfect calibration."""
    metric = METRICS[result.metric]
    value = format_number(result.value)
    if result.value is None and result.low is not None and result.high is not None:
        value = format_interval(result.low, result.high)
    p = p_value_phrase(result.p, result.draws)
    return Tile(metric.title, value, metric.help, p and f"{p} vs. perfectly calibrated")


def unused_rows_help(evidence: Evidence) -> str:
    """Why some rows are not used."""
    parts = [f"{count:,} {reason}" for reason, count in evidence.missing.items() if count]
    if left_out := evidence.run.row_counts.n_left_out:
        parts.append(f"{left_out:,} bad rows left out")
    return f"Not used: {'; '.join(parts)}." if parts else "Every row has a confidence and an outcome."


def reliability_caption(result: Reliability) -> str:
    """How to read the diagram and the table."""
    whiskers = (
        "No whiskers: the pairs of one position or question depend on one another."
        if result.pair_unit == "labels"
        else "Whiskers: 95 % Wilson interval of the accuracy."
    )
    return (
        f"Gap = confidence − accuracy: above zero is over-confident. Empty bins are left out. "
        f"Faded: fewer than {MIN_ROWS} {result.pair_unit} "
        f"({result.n_thin_bins} of {result.table.height} bins). "
        f"{whiskers}"
    )


def bin_rows(result: Reliability) -> list[dict[str, object]]:
    """One row for each non-empty bin, formatted."""
    return [
        {
            "Bin": row["interval"],
            "n": f"{row['count']:,}",
            "Confidence": f"{row['confidence']:.3f}",
            "Accuracy": f"{row['accuracy']:.3f}",
            "95 %": format_interval(row["accuracy_low"], row["accuracy_high"], ".3f")
            if row["accuracy_low"] is not None
            else NO_VALUE,
            "Gap": format_signed(row["gap"], "+.3f"),
            "Part of gap": format_percent(row["share"]),
        }
        for row in result.table.iter_rows(named=True)
    ]

"""The page Abstention: share of questions answered against accuracy, one block for each run of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.errors import Unavailable
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
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
from calib_core.report.sections.reliability import unused_rows_help
from calib_core.results.abstention import (
    AURC_FORMULA,
    IN_SAMPLE_NOTE,
    AbstentionCurve,
    OperatingPoint,
    abstention_curve,
    abstention_headline,
    target_text,
)
from calib_core.results.defaults import default_methods
from calib_core.results.evidence import Evidence
from calib_core.wording import NO_VALUE, format_number, format_percent, threshold_text

ID, TITLE, QUESTION = "abstention", "Abstention", "What if the model only answers when confident?"

DEFAULT_TARGET_ACCURACY: Final = 0.9
"""The target accuracy where none is chosen."""

ABSTENTION_CAPTION: Final = (
    "Moving left, the model answers only its most confident questions. Shaded band: 95 % Wilson interval, "
    f"from {MIN_ROWS} answers on. {IN_SAMPLE_NOTE}"
)
AURC_NOTE: Final = f"AURC, the area under risk against coverage: {AURC_FORMULA}; lower is better."
NO_SINGLE_CONFIDENCES: Final = (
    "Abstention needs the confidence of every question. Token-level runs keep sums only."
)


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the curves of every run; raises Unavailable if no run has single confidences."""
    runs = report_input.answer_runs
    if not runs:
        raise Unavailable(NO_SINGLE_CONFIDENCES)
    blocks: list[Block] = []
    refused: list[str] = []
    for index, run in enumerate(runs):
        progress(index / len(runs), run.title)
        requested = [id_ for id_ in run.usable if id_ in report_input.settings.methods]
        curves: dict[str, tuple[Evidence, AbstentionCurve]] = {}
        for method in requested or default_methods(run.usable):
            try:
                evidence = report_input.evidence(run, method)
                curves[method] = evidence, abstention_curve(evidence)
            except Unavailable as reason:
                refused.append(f"{run.title}, {METHODS[method].title}: {reason}")
        if curves:
            blocks.append(_block(run, list(curves.values())))
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run has one of these confidence methods.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn_blocks(refused)))


def _block(run: ReportRun, evidences_and_curves: Sequence[tuple[Evidence, AbstentionCurve]]) -> Block:
    evidences, curves = zip(*evidences_and_curves, strict=True)
    return Block(
        title=run.title,
        headline=abstention_headline(curves, DEFAULT_TARGET_ACCURACY),
        tiles=tuple(abstention_tiles(evidences, curves, DEFAULT_TARGET_ACCURACY)),
        recipes=tuple(abstention_recipes(curves)),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: abstention_figure(
                    curves, theme, target_accuracy=DEFAULT_TARGET_ACCURACY, threshold=None
                ),
                describe_abstention(curves),
            ),
        ),
        tables=(
            ReportTable.from_rows("", abstention_rows(curves, DEFAULT_TARGET_ACCURACY, None), AURC_NOTE),
        ),
        captions=(ABSTENTION_CAPTION,),
        remarks=judged_answers_caveat(evidences),
    )


def judged_answers_caveat(evidences: Sequence[Evidence]) -> tuple[str, ...]:
    """A caveat if the methods do not all judge the same answer."""
    judged = tuple(dict.fromkeys(evidence.judged for evidence in evidences))
    return (f"The lines judge different answers: {', '.join(judged)}.",) if len(judged) > 1 else ()


def abstention_recipes(curves: Sequence[AbstentionCurve]) -> list[str]:
    """The recipe of each curve."""
    return [f"{METHODS[curve.method].title}: {curve.recipe}" for curve in curves]


def abstention_tiles(
    evidences: Sequence[Evidence], curves: Sequence[AbstentionCurve], target_accuracy: float
) -> list[Tile]:
    """The tiles, for the method that answers the largest share at the target accuracy."""
    reaching = [(curve, point) for curve in curves if (point := curve.for_accuracy(target_accuracy))]
    curve, best = max(reaching, key=lambda pair: pair[1].coverage, default=(curves[0], None))
    title = METHODS[curve.method].title
    evidence = next(evidence for evidence in evidences if evidence.method.id == curve.method)
    return [
        Tile(
            f"Answered at {target_text(target_accuracy)}",
            format_percent(best.coverage if best else None),
            f"The largest share of questions that {title} answers at the target accuracy.",
            title,
        ),
        Tile(
            "By confidence ≥",
            threshold_text(best.threshold) if best else NO_VALUE,
            "The confidence threshold for this share, chosen on the same rows.",
        ),
        Tile(
            "95 % lower bound",
            format_percent(best.low if best else None),
            "Lower end of the 95 % Wilson interval of the accuracy of answered questions.",
            f"n = {best.n_answered:,}" if best else "",
        ),
        Tile(
            "Accuracy, answering all",
            format_percent(curve.answering_all.accuracy),
            f"Judged: {curve.judged}.",
            curve.judged,
        ),
        Tile("Rows used / total", f"{curve.n_used:,} / {curve.n_total:,}", unused_rows_help(evidence)),
    ]


def abstention_rows(
    curves: Sequence[AbstentionCurve], target_accuracy: float, threshold: float | None
) -> list[dict[str, str]]:
    """One row for each method: at the target accuracy, at the chosen threshold, and over all thresholds."""
    return [_abstention_row(curve, target_accuracy, threshold) for curve in curves]


def _abstention_row(
    curve: AbstentionCurve, target_accuracy: float, threshold: float | None
) -> dict[str, str]:
    target_point = curve.for_accuracy(target_accuracy)
    best = curve.most_accurate
    never = f"never: at best {format_percent(best.accuracy)} (n = {best.n_answered:,})"
    row = {
        "Confidence method": METHODS[curve.method].title,
        "t": threshold_text(target_point.threshold) if target_point else NO_VALUE,
        f"Answered at {target_text(target_accuracy)}": format_percent(target_point.coverage)
        if target_point
        else never,
        "Accuracy of answered": _accuracy_text(target_point),
    }
    if threshold is not None:
        threshold_point = curve.at_threshold(threshold)
        row[f"Answered at t = {threshold:g}"] = format_percent(threshold_point.coverage)
        row[f"Accuracy of answered at t = {threshold:g}"] = _accuracy_text(threshold_point)
    return row | {
        "AUROC": format_number(curve.auroc),
        "AURC": format_number(curve.aurc),
        "Accuracy of all": format_percent(curve.answering_all.accuracy),
        "Rows used / total": f"{curve.n_used:,} / {curve.n_total:,}",
        "Judged": curve.judged,
    }


def _accuracy_text(point: OperatingPoint | None) -> str:
    """The accuracy as "90.1 % (87.0 % to 92.6 %), n = 412"; a dash where nothing is answered."""
    if point is None or point.accuracy is None:
        return NO_VALUE
    interval = f"{format_percent(point.low)} to {format_percent(point.high)}"
    return f"{format_percent(point.accuracy)} ({interval}), n = {point.n_answered:,}"

"""The page Abstention: share of questions answered against accuracy, one block for each run of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.errors import Unavailable
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.results.abstention import (
    AURC_FORMULA,
    EMPIRICAL_CAUTION,
    AbstentionCurve,
    GuaranteedThreshold,
    OperatingPoint,
    abstention_curve,
    guarantee_headline,
    guaranteed_threshold,
    largest_guaranteed,
    target_text,
)
from calib_core.results.defaults import default_methods
from calib_core.results.evidence import Evidence
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.reliability import unused_rows_help, used_tile
from calib_core.views.view import (
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_blocks,
)
from calib_core.wording import (
    NO_VALUE,
    format_interval,
    format_number,
    format_percent,
    format_percent_down,
    threshold_text,
)

ID, TITLE, QUESTION = "abstention", "Abstention", "What if the model only answers when confident?"

DEFAULT_TARGET_ACCURACY: Final = 0.9
"""The target accuracy where none is chosen."""

DEFAULT_CONFIDENCE: Final = 0.95
"""The confidence of a guarantee where none is chosen."""

_EMPIRICAL_NOTE: Final = f"The empirical threshold has no guarantee. {EMPIRICAL_CAUTION}"

ABSTENTION_CAPTION: Final = (
    "Moving left, the model answers only its most confident questions. Shaded band: 95 % Wilson interval, "
    f"from {MIN_ROWS} answers on. Square: the guaranteed threshold, which holds on new questions like these; "
    f"the line below it ends at the lower bound. {_EMPIRICAL_NOTE}"
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
    blocks: list[View] = []
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


def _block(run: ReportRun, evidences_and_curves: Sequence[tuple[Evidence, AbstentionCurve]]) -> View:
    evidences, curves = zip(*evidences_and_curves, strict=True)
    thresholds = [
        guaranteed_threshold(curve, DEFAULT_TARGET_ACCURACY, DEFAULT_CONFIDENCE) for curve in curves
    ]
    return View(
        title=run.title,
        headline=guarantee_headline(thresholds),
        tiles=tuple(abstention_tiles(evidences, thresholds)),
        recipes=tuple(abstention_recipes(thresholds)),
        figures=(
            ViewFigure(
                lambda theme: abstention_figure(
                    curves, theme, target_accuracy=DEFAULT_TARGET_ACCURACY, guaranteed=thresholds
                ),
                describe_abstention(curves, thresholds),
            ),
        ),
        tables=(ViewTable.from_rows("", abstention_rows(thresholds, None), AURC_NOTE),),
        captions=(ABSTENTION_CAPTION,),
        remarks=(*judged_answers_caveat(evidences), *no_guarantee_notes(thresholds)),
    )


def judged_answers_caveat(evidences: Sequence[Evidence]) -> tuple[str, ...]:
    """A caveat if the methods do not all judge the same answer."""
    judged = tuple(dict.fromkeys(evidence.judged for evidence in evidences))
    return (f"The lines judge different answers: {', '.join(judged)}.",) if len(judged) > 1 else ()


def no_guarantee_notes(thresholds: Sequence[GuaranteedThreshold]) -> tuple[str, ...]:
    """Why methods have no guaranteed threshold, a sentence each."""
    return tuple(
        f"{METHODS[found.curve.method].title}, no guarantee: {found.reason}."
        for found in thresholds
        if found.reason
    )


def abstention_recipes(thresholds: Sequence[GuaranteedThreshold]) -> list[str]:
    """The recipe of each method."""
    return [f"{METHODS[found.curve.method].title}: {found.recipe}" for found in thresholds]


def abstention_tiles(evidences: Sequence[Evidence], thresholds: Sequence[GuaranteedThreshold]) -> list[Tile]:
    """The tiles, for the method that answers most with a guarantee, or else without."""
    found = largest_guaranteed(thresholds)
    curve, point, best = found.curve, found.point, found.empirical
    title, target = METHODS[curve.method].title, target_text(found.target_accuracy)
    evidence = next(evidence for evidence in evidences if evidence.method.id == curve.method)
    confidence = target_text(found.confidence)
    return [
        Tile(
            "Guaranteed threshold",
            threshold_text(point.threshold) if point else "none",
            f"Answered from this confidence on, {target} of new questions like these are right or more, with "
            f"{confidence} confidence.",
            title,
        ),
        Tile(
            "Answered, guaranteed",
            format_percent(point.coverage if point else None),
            "Share of questions whose confidence reaches the guaranteed threshold.",
            f"accuracy {format_percent(point.accuracy)}" if point else "",
        ),
        Tile(
            "Accuracy at least",
            format_percent_down(found.accuracy_low),
            "Lower bound of the accuracy of answered questions at the guaranteed threshold.",
            f"{confidence} confidence",
        ),
        Tile(
            "Accuracy, answering all",
            format_percent(curve.answering_all.accuracy),
            f"Judged: {curve.judged}.",
            curve.judged,
        ),
        Tile(
            "Empirical threshold",
            threshold_text(best.threshold) if best else NO_VALUE,
            f"The confidence from which on {target} of these rows are right, chosen on the same rows. "
            f"{EMPIRICAL_CAUTION}",
            "no guarantee",
        ),
        Tile(
            f"Answered at {target}",
            format_percent(best.coverage if best else None),
            f"The largest share of questions that {title} answers at the target accuracy on these rows.",
            "empirical",
        ),
        Tile(
            "95 % lower bound",
            format_percent(best.low if best else None),
            "Lower end of the 95 % Wilson interval of the accuracy at the empirical threshold, as if it had "
            "been chosen beforehand.",
            f"n = {best.n_answered:,}" if best else "",
        ),
        Tile("Rows used / total", f"{curve.n_used:,} / {curve.n_total:,}", unused_rows_help(evidence)),
    ]


def abstention_rows(
    thresholds: Sequence[GuaranteedThreshold], threshold: float | None
) -> list[dict[str, str]]:
    """One row for each method: with a guarantee, on these rows, at the chosen threshold, and over all."""
    return [_abstention_row(found, threshold) for found in thresholds]


def _abstention_row(found: GuaranteedThreshold, threshold: float | None) -> dict[str, str]:
    curve, target_point = found.curve, found.empirical
    best, target = curve.most_accurate, target_text(found.target_accuracy)
    never = f"at best {format_percent(best.accuracy)}"
    row = {
        "Confidence method": METHODS[curve.method].title,
        "t, guaranteed": threshold_text(found.point.threshold) if found.point else "none",
        "Answered": format_percent(found.point.coverage if found.point else None),
        "Accuracy ≥": format_percent_down(found.accuracy_low),
        "t, empirical": threshold_text(target_point.threshold) if target_point else NO_VALUE,
        f"Answered at {target}": format_percent(target_point.coverage) if target_point else never,
        "Accuracy (95 %)": _accuracy_text(target_point),
        "n": f"{(target_point or best).n_answered:,}",
    }
    if threshold is not None:
        threshold_point = curve.at_threshold(threshold)
        row[f"Answered at t = {threshold:g}"] = format_percent(threshold_point.coverage)
        row[f"Accuracy at t = {threshold:g}"] = _accuracy_text(threshold_point)
        row[f"n at t = {threshold:g}"] = f"{threshold_point.n_answered:,}"
    return row | {
        "AUROC": format_number(curve.auroc),
        "AURC": format_number(curve.aurc),
        "Accuracy of all": format_percent(curve.answering_all.accuracy),
        "Rows used / total": f"{curve.n_used:,} / {curve.n_total:,}",
        "Judged": curve.judged,
    }


def _accuracy_text(point: OperatingPoint | None) -> str:
    """The accuracy as "90.1 % (87.0 to 92.6)"; a dash where nothing is answered."""
    if point is None or point.accuracy is None:
        return NO_VALUE
    return f"{format_percent(point.accuracy)} ({format_interval(point.low, point.high, '.1f', 100)})"


def abstention_view(result: AbstentionCurve) -> View:
    """Accuracy over the share of questions answered."""
    return threshold_view(guaranteed_threshold(result, DEFAULT_TARGET_ACCURACY, DEFAULT_CONFIDENCE))


def threshold_view(result: GuaranteedThreshold) -> View:
    """The guaranteed threshold on its curve, and the empirical one beside it."""
    curve, curves, thresholds = result.curve, [result.curve], [result]
    return View(
        title=curve.run,
        method_title=METHODS[curve.method].title,
        headline=result.headline,
        tiles=(used_tile(curve.method, curve.n_used, curve.n_total),),
        recipes=tuple(abstention_recipes(thresholds)),
        figures=(
            ViewFigure(
                lambda theme: abstention_figure(
                    curves, theme, target_accuracy=result.target_accuracy, guaranteed=thresholds
                ),
                describe_abstention(curves, thresholds),
            ),
        ),
        tables=(ViewTable.from_rows("", abstention_rows(thresholds, None), AURC_NOTE),),
        captions=(result.empirical_note, ABSTENTION_CAPTION),
        remarks=curve.remarks,
    )

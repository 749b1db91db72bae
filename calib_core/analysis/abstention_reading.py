"""Which method answers most at the accuracy that is wanted, and how sure is that?  Curves → sentences."""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.analysis.abstention import AbstentionCurve, OperatingPoint
from calib_core.analysis.limits import MIN_ROWS
from calib_core.confidence import METHODS
from calib_core.wording import join_names, format_percent

IN_SAMPLE_NOTE = (
    "Each t is chosen on the rows it is judged on: on new questions expect less, and rather the lower end."
)


def target_text(target_accuracy: float) -> str:
    """"90 %", "92.5 %": as it was typed."""
    return f"{100 * target_accuracy:.6g} %"


def threshold_text(threshold: float) -> str:
    """"0.9375", "0.5": every digit that is needed, and no more."""
    return f"{threshold:.15g}"


def abstention_headline(curves: Sequence[AbstentionCurve], target_accuracy: float) -> str:
    """What the best of the methods gives at the wanted accuracy, or that none reaches it."""
    target = target_text(target_accuracy)
    found = [(curve, answering) for curve in curves if (answering := curve.for_accuracy(target_accuracy))]
    if not found:
        curve = max(curves, key=lambda one: one.most_accurate.accuracy or 0.0)
        return (
            f"No confidence here reaches an accuracy of {target}: “{METHODS[curve.method].title}” comes "
            f"nearest, {operating_point_text(curve.most_accurate)}."
        )
    curve, most = max(found, key=lambda one: one[1].coverage)
    title = f"“{METHODS[curve.method].title}”"
    others = [
        f"“{METHODS[one.method].title}”"
        for one, answering in found if one is not curve and answering.coverage == most.coverage
    ]
    beside = f", and as many by {join_names(others)}" if others else ""
    if most.n_answered == most.n_rows:
        whole = "All questions can be answered" if len(curves) == 1 else f"{title} can answer all questions"
        return f"{whole} at an accuracy of {target} or more: {operating_point_text(most)}{beside}."
    least = threshold_text(most.threshold)
    opening = f"To be right {target} of the time, answer when {title} says {least} or more"
    return f"{opening}: {operating_point_text(most)}{beside}. Answering all: {format_percent(curve.answering_all.accuracy or 0.0)}."


def operating_point_text(point: OperatingPoint) -> str:
    """"41.2 % answered, right 90.1 % (95 % interval 87.0 % to 92.6 %, n = 412)"; of few it is said."""
    if point.accuracy is None or point.low is None or point.high is None:
        return "nothing answered"
    few = ", too few to rely on" if point.n_answered < MIN_ROWS else ""
    return (
        f"{format_percent(point.coverage)} answered, right {format_percent(point.accuracy)} (95 % interval "
        f"{format_percent(point.low)} to {format_percent(point.high)}, n = {point.n_answered:,}{few})"
    )

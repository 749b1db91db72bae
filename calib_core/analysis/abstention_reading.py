"""Which method answers most at the accuracy that is wanted, and how sure is that?  Curves → sentences."""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.analysis.abstention import Abstention, Answering
from calib_core.analysis.limits import FEW
from calib_core.confidence import METHODS
from calib_core.wording import listed, percent

CHOSEN_HERE = (
    "Each t is chosen on the rows it is judged on: on new questions expect less, and rather the lower end."
)


def target_text(wanted: float) -> str:
    """"90 %", "92.5 %": as it was typed."""
    return f"{100 * wanted:.6g} %"


def threshold_text(threshold: float) -> str:
    """"0.9375", "0.5": every digit that is needed, and no more."""
    return f"{threshold:.15g}"


def reading(curves: Sequence[Abstention], wanted: float) -> str:
    """What the best of the methods gives at the wanted accuracy, or that none reaches it."""
    target = target_text(wanted)
    found = [(curve, answering) for curve in curves if (answering := curve.for_accuracy(wanted))]
    if not found:
        curve = max(curves, key=lambda one: one.best.accuracy or 0.0)
        return (
            f"No confidence here reaches an accuracy of {target}: “{METHODS[curve.method].title}” comes "
            f"nearest, {told(curve.best)}."
        )
    curve, most = max(found, key=lambda one: one[1].share)
    title = f"“{METHODS[curve.method].title}”"
    others = [
        f"“{METHODS[one.method].title}”"
        for one, answering in found if one is not curve and answering.share == most.share
    ]
    beside = f", and as many by {listed(others)}" if others else ""
    if most.answered == most.of:
        whole = "All questions can be answered" if len(curves) == 1 else f"{title} can answer all questions"
        return f"{whole} at an accuracy of {target} or more: {told(most)}{beside}."
    least = threshold_text(most.threshold)
    opening = f"To be right {target} of the time, answer when {title} says {least} or more"
    return f"{opening}: {told(most)}{beside}. Answering all: {percent(curve.all.accuracy or 0.0)}."


def told(answering: Answering) -> str:
    """"41.2 % answered, right 90.1 % (95 % interval 87.0 % to 92.6 %, n = 412)"; of few it is said."""
    if answering.accuracy is None or answering.low is None or answering.high is None:
        return "nothing answered"
    few = ", too few to rely on" if answering.answered < FEW else ""
    return (
        f"{percent(answering.share)} answered, right {percent(answering.accuracy)} (95 % interval "
        f"{percent(answering.low)} to {percent(answering.high)}, n = {answering.answered:,}{few})"
    )

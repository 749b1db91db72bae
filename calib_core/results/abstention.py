"""What if a model may refuse?  Share answered against accuracy on it, for every threshold of confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.results.recipe import recipe_text
from calib_core.wording import ROUNDING_TOLERANCE, format_percent, join_names

AURC_FORMULA: Final = "mean over rows i of the share wrong among the rows with a confidence ≥ c_i"
"""The area under risk against coverage: rows of one confidence are answered together."""

_MIN_DECIMALS: Final = 4
"""A threshold is told with so many decimals if they are enough."""


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Answering when confidence ≥ threshold.

    threshold: in [0, 1], of a step the shortest decimal number that the same rows reach; answered: rows with
    so much confidence or more; correct: right ones of them; of: all usable rows;
    low, high: 95 % Wilson interval of the accuracy; accuracy, low, high: None where nothing is answered.
    """

    threshold: float
    n_answered: int
    n_correct: int
    n_rows: int
    accuracy: float | None
    low: float | None
    high: float | None

    @property
    def coverage(self) -> float:
        """Share answered, in [0, 1]."""
        return self.n_answered / self.n_rows


@dataclass(frozen=True, eq=False)
class AbstentionCurve:
    """Every threshold that one method of one run can have: one step a distinct confidence, highest first.

    threshold: float64, the smallest confidence of the step; answered, correct: int64, rows with so much
    confidence or more and the right ones of them, both growing. Shape (distinct values,) each, at least one.
    dtype: of the confidences as they stand in the file; auroc: None where all rows have one outcome; area: in
    [0, 1], see FORMULA, lower is better; alike: how many rows may say the same (`trials.alike`).
    """

    run: str
    method: str
    threshold: NDArray[np.float64]
    n_answered: NDArray[np.int64]
    n_correct: NDArray[np.int64]
    dtype: np.dtype[Any]
    auroc: float | None
    n_used: int
    n_total: int
    judged: str
    recipe: str
    remarks: tuple[str, ...]
    design_effect: float = 1.0

    @cached_property
    def coverage(self) -> NDArray[np.float64]:
        """Share answered at each step, growing to 1."""
        return self.n_answered / self.n_used

    @cached_property
    def accuracy(self) -> NDArray[np.float64]:
        """Share right among the rows answered at each step."""
        return self.n_correct / self.n_answered

    @cached_property
    def accuracy_interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """95 % Wilson interval of the accuracy at each step, as if its threshold had been fixed before."""
        return wilson_interval(self.n_correct, self.n_answered, self.design_effect)

    @cached_property
    def aurc(self) -> float:
        """Area under risk against coverage."""
        rows = np.diff(self.n_answered, prepend=0)
        return float((rows * (1 - self.accuracy)).sum()) / self.n_used

    @property
    def answering_all(self) -> OperatingPoint:
        """Answering everything."""
        return self.at_step(self.threshold.size - 1)

    def at_threshold(self, threshold: float) -> OperatingPoint:
        """What answering when confidence ≥ threshold gives; a value stored as float32 0.7 reaches 0.7."""
        reached = self._steps_reached(threshold)
        if not reached:
            return OperatingPoint(threshold, 0, 0, self.n_used, None, None, None)
        step = self.at_step(reached - 1)
        return OperatingPoint(
            threshold, step.n_answered, step.n_correct, step.n_rows, step.accuracy, step.low, step.high
        )

    def for_accuracy(self, target: float) -> OperatingPoint | None:
        """The step that answers most among those of at least this accuracy; None where there is none."""
        enough = np.flatnonzero(self.n_correct >= (target - ROUNDING_TOLERANCE) * self.n_answered)
        return self.at_step(int(enough[-1])) if enough.size else None

    @property
    def most_accurate(self) -> OperatingPoint:
        """The step of the highest accuracy, of equal ones that which answers most."""
        return self.at_step(self.accuracy.size - 1 - int(np.argmax(self.accuracy[::-1])))

    def _steps_reached(self, threshold: float) -> int:
        """How many steps lie at or above: compared as the file stores its values, as bins are."""
        least = float(np.float64(threshold - ROUNDING_TOLERANCE).astype(self.dtype))
        return int(np.searchsorted(-self.threshold, -least, side="right"))

    def _shortest_threshold(self, step: int) -> float:
        """The shortest decimal number from _DECIMALS on that exactly the rows of this step reach."""
        exact = float(self.threshold[step])
        for decimals in range(
            min(_MIN_DECIMALS, self.dtype.itemsize + 1), 16
        ):  # float16 has no more than three
            near = round(exact, decimals)
            for number in (near, near - 10**-decimals):
                if number >= 0 and self._steps_reached(number) == step + 1:
                    return round(number, decimals)
        return exact

    def at_step(self, step: int) -> OperatingPoint:
        """The step at this position, from 0: the surest."""
        return OperatingPoint(
            self._shortest_threshold(step),
            int(self.n_answered[step]),
            int(self.n_correct[step]),
            self.n_used,
            float(self.accuracy[step]),
            float(self.accuracy_interval[0][step]),
            float(self.accuracy_interval[1][step]),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row a step: run, method, threshold, answered, correct, share, accuracy, its ends, recipe."""
        return pl.DataFrame(
            {
                "threshold": self.threshold,
                "answered": self.n_answered,
                "correct": self.n_correct,
                "share": self.coverage,
                "accuracy": self.accuracy,
                "accuracy_low": self.accuracy_interval[0],
                "accuracy_high": self.accuracy_interval[1],
            }
        ).select(
            pl.lit(self.run).alias("run"),
            pl.lit(self.method).alias("method"),
            pl.all(),
            pl.lit(self.recipe).alias("recipe"),
        )


def abstention_curve(evidence: Evidence) -> AbstentionCurve:
    """The curve of one method on one run.

    By the top label, one pair a row; computed confidences that agree to 12 decimals are one. Raises
    Unavailable for token-level sums, which do not keep single confidences, and where no row is usable.
    """
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable("Token-level sums do not keep single confidences: nothing can be withheld by them.")
    top = evidence.top_label
    if not top.n_used:
        raise Unavailable("No row has both a confidence and an outcome.")
    levels = top.sums.natural_bins()
    return AbstentionCurve(
        run=evidence.run.label,
        method=evidence.method.id,
        threshold=levels.low[::-1],
        n_answered=np.cumsum(levels.count[::-1]),
        n_correct=np.cumsum(levels.correct[::-1]),
        dtype=top.confidences.pairs.confidence.dtype,
        auroc=METRICS["auroc"].compute(top.sums, Scheme()),
        n_used=top.n_used,
        n_total=top.n_total,
        judged=top.judged,
        recipe=f"answered when confidence ≥ t, {recipe_text(top, None, None)}",
        remarks=evidence.remarks,
        design_effect=top.design_effect,
    )


# MERGED abstention_reading: Which method answers most at the accuracy that is wanted, and how sure is that?  Curves → sentences.

IN_SAMPLE_NOTE = (
    "Each t is chosen on the rows it is judged on: on new questions expect less, and rather the lower end."
)


def target_text(target_accuracy: float) -> str:
    """ "90 %", "92.5 %": as it was typed."""
    return f"{100 * target_accuracy:.6g} %"


def threshold_text(threshold: float) -> str:
    """ "0.9375", "0.5": every digit that is needed, and no more."""
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
        for one, answering in found
        if one is not curve and answering.coverage == most.coverage
    ]
    beside = f", and as many by {join_names(others)}" if others else ""
    if most.n_answered == most.n_rows:
        whole = "All questions can be answered" if len(curves) == 1 else f"{title} can answer all questions"
        return f"{whole} at an accuracy of {target} or more: {operating_point_text(most)}{beside}."
    least = threshold_text(most.threshold)
    opening = f"To be right {target} of the time, answer when {title} says {least} or more"
    return f"{opening}: {operating_point_text(most)}{beside}. Answering all: {format_percent(curve.answering_all.accuracy or 0.0)}."


def operating_point_text(point: OperatingPoint) -> str:
    """ "41.2 % answered, right 90.1 % (95 % interval 87.0 % to 92.6 %, n = 412)"; of few it is said."""
    if point.accuracy is None or point.low is None or point.high is None:
        return "nothing answered"
    few = ", too few to rely on" if point.n_answered < MIN_ROWS else ""
    return (
        f"{format_percent(point.coverage)} answered, right {format_percent(point.accuracy)} (95 % interval "
        f"{format_percent(point.low)} to {format_percent(point.high)}, n = {point.n_answered:,}{few})"
    )

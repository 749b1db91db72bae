"""What if the model answers only when it is confident? Share answered against accuracy, by threshold."""

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
from calib_core.metrics.aurc import AURC, risk_coverage_area
from calib_core.results.display import Displayable
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.results.recipe import recipe_text
from calib_core.wording import ROUNDING_TOLERANCE, format_percent, join_names

AURC_FORMULA: Final = AURC.source.partition(": ")[2]
"""Area under risk against coverage; rows of equal confidence are answered together."""

IN_SAMPLE_NOTE: Final = (
    "Each t is chosen on the rows it is judged on. Expect lower accuracy on new questions; plan with the "
    "lower bound."
)
"""Caution shown with every threshold."""

_MIN_DECIMALS: Final = 4
"""A threshold is shown with this many decimals if they are enough to identify its rows."""


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Answering where confidence ≥ threshold.

    Attributes
    ----------
    threshold : float
        In [0, 1]; for a step of the curve, the shortest decimal number that selects the same rows.
    n_answered : int
        Rows with at least this confidence.
    n_correct : int
        Correct ones among them.
    n_rows : int
        All usable rows.
    accuracy : float or None
        Of the answered rows; None, like its interval, where none is answered.
    low, high : float or None
        95 % Wilson interval of the accuracy.
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
class AbstentionCurve(Displayable):
    """All thresholds of one method on one run, one step for each distinct confidence, highest first.

    Attributes
    ----------
    run, method : str
        The run's label and the method's id.
    threshold : NDArray[np.float64], shape (n_steps,)
        Smallest confidence of each step; there is at least one step.
    n_answered, n_correct : NDArray[np.int64], shape (n_steps,)
        Rows with at least this confidence, and the correct ones among them; both ascending.
    dtype : np.dtype
        Of the confidences in the file.
    auroc : float or None
        None where all rows have the same outcome.
    n_used, n_total : int
        Rows used, and in the file.
    judged : str
        Which answer the outcome belongs to.
    recipe : str
    remarks : tuple[str, ...]
    design_effect : float
        Of repeated questions (`inference.clusters.design_effect`).
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
        """Share answered at each step, ascending to 1; shape (n_steps,)."""
        return self.n_answered / self.n_used

    @cached_property
    def accuracy(self) -> NDArray[np.float64]:
        """Share of correct rows among those answered at each step; shape (n_steps,)."""
        return self.n_correct / self.n_answered

    @cached_property
    def accuracy_interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """95 % Wilson interval of the accuracy at each step, as if its threshold had been fixed before."""
        return wilson_interval(self.n_correct, self.n_answered, self.design_effect)

    @cached_property
    def aurc(self) -> float:
        """Area under risk against coverage (`AURC_FORMULA`), in [0, 1]; lower is better."""
        return risk_coverage_area(self.n_answered, self.n_correct)

    @property
    def answering_all(self) -> OperatingPoint:
        """The step that answers every row."""
        return self.at_step(self.threshold.size - 1)

    def at_threshold(self, threshold: float) -> OperatingPoint:
        """The operating point at any threshold; a confidence stored as float32 0.7 reaches 0.7."""
        reached = self._steps_reached(threshold)
        if not reached:
            return OperatingPoint(threshold, 0, 0, self.n_used, None, None, None)
        step = self.at_step(reached - 1)
        return OperatingPoint(
            threshold, step.n_answered, step.n_correct, step.n_rows, step.accuracy, step.low, step.high
        )

    def for_accuracy(self, target: float) -> OperatingPoint | None:
        """The step of highest coverage among those of at least this accuracy; None where there is none."""
        sufficient = np.flatnonzero(self.n_correct >= (target - ROUNDING_TOLERANCE) * self.n_answered)
        return self.at_step(int(sufficient[-1])) if sufficient.size else None

    @property
    def most_accurate(self) -> OperatingPoint:
        """The step of the highest accuracy; of equal ones, that with the highest coverage."""
        return self.at_step(self.accuracy.size - 1 - int(np.argmax(self.accuracy[::-1])))

    def _steps_reached(self, threshold: float) -> int:
        """Number of steps at or above the threshold, compared in the file's precision as bins are."""
        lowest = float(np.float64(threshold - ROUNDING_TOLERANCE).astype(self.dtype))
        return int(np.searchsorted(-self.threshold, -lowest, side="right"))

    def _shortest_threshold(self, step: int) -> float:
        """The shortest decimal number, from `_MIN_DECIMALS` on, that exactly the rows of this step reach."""
        exact = float(self.threshold[step])
        # float16 has no more than three decimals.
        for decimals in range(min(_MIN_DECIMALS, self.dtype.itemsize + 1), 16):
            rounded = round(exact, decimals)
            for candidate in (rounded, rounded - 10**-decimals):
                if candidate >= 0 and self._steps_reached(candidate) == step + 1:
                    return round(candidate, decimals)
        return exact

    def at_step(self, step: int) -> OperatingPoint:
        """The operating point of a step, counted from 0, the most confident one."""
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
        """One row for each step.

        Columns: run, method, threshold, answered, correct, share, accuracy, accuracy_low, accuracy_high,
        recipe.
        """
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
    """The abstention curve of one method on one run.

    Uses the top label, one pair a row; computed confidences that agree to 12 decimals count as equal.

    Raises
    ------
    Unavailable
        For token-level sums, which keep no single confidences, and where no row is usable.
    """
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable("Abstention needs a confidence for each row; token-level runs keep sums only.")
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


# --- The curve in words ---------------------------------------------------------------------------


def target_text(target_accuracy: float) -> str:
    """The target accuracy as typed: "90 %", "92.5 %"."""
    return f"{100 * target_accuracy:.6g} %"


def threshold_text(threshold: float) -> str:
    """The threshold with as many digits as it needs: "0.9375", "0.5"."""
    return f"{threshold:.15g}"


def abstention_headline(curves: Sequence[AbstentionCurve], target_accuracy: float) -> str:
    """The method that answers most at the target accuracy, or that none reaches it."""
    target = target_text(target_accuracy)
    reaching = [(curve, point) for curve in curves if (point := curve.for_accuracy(target_accuracy))]
    if not reaching:
        curve = max(curves, key=lambda each: each.most_accurate.accuracy or 0.0)
        return (
            f"No confidence method reaches an accuracy of {target}. “{METHODS[curve.method].title}” comes "
            f"closest: {operating_point_text(curve.most_accurate)}."
        )
    curve, best = max(reaching, key=lambda pair: pair[1].coverage)
    title = f"“{METHODS[curve.method].title}”"
    others = [
        f"“{METHODS[other.method].title}”"
        for other, point in reaching
        if other is not curve and point.coverage == best.coverage
    ]
    ties = f", the same as {join_names(others)}" if others else ""
    if best.n_answered == best.n_rows:
        subject = "All questions can be answered" if len(curves) == 1 else f"{title} can answer all questions"
        return f"{subject} at an accuracy of {target} or more: {operating_point_text(best)}{ties}."
    threshold = threshold_text(best.threshold)
    opening = f"To be right {target} of the time, answer when {title} says {threshold} or more"
    return (
        f"{opening}: {operating_point_text(best)}{ties}. Answering all: "
        f"{format_percent(curve.answering_all.accuracy or 0.0)}."
    )


def operating_point_text(point: OperatingPoint) -> str:
    """ "41.2 % answered, right 90.1 % (95 % interval 87.0 % to 92.6 %, n = 412)", with a note on few rows."""
    if point.accuracy is None or point.low is None or point.high is None:
        return "nothing answered"
    caution = ", too few to be reliable" if point.n_answered < MIN_ROWS else ""
    return (
        f"{format_percent(point.coverage)} answered, accuracy {format_percent(point.accuracy)} (95 % "
        f"interval {format_percent(point.low)} to {format_percent(point.high)}, n = "
        f"{point.n_answered:,}{caution})"
    )

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
from calib_core.inference.guaranteed_accuracy import (
    GRID_PARTS,
    MIN_ANSWERED,
    STARTS,
    AccuracyTest,
    RepeatedAnswers,
)
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.missingness import Missingness
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.aurc import AURC, risk_coverage_area
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import AnswerEvidence, Evidence, refuse_weights
from calib_core.results.recipe import recipe_text
from calib_core.terms import Terms
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    format_percent,
    format_percent_down,
    join_names,
    target_text,
    threshold_text,
    with_article,
)

AURC_FORMULA: Final = AURC.source.partition(": ")[2]
"""Area under risk against coverage; rows of equal confidence are answered together."""

EMPIRICAL_CAUTION: Final = (
    "It is chosen on the rows it is judged on; in simulations with a calibrated model it missed its target "
    "in 51 to 55 % of data sets."
)
"""Caution shown with an empirical threshold (benchmarks/threshold.md)."""

SERVER_CONFIDENCE: Final = "server_confidence"
"""What a table of steps has as method where a server's confidence orders them: a rank, and no method."""

PRECISION_HELP: Final = "Share of truly yes among those called yes."


def threshold_columns(terms: Terms) -> tuple[Column, ...]:
    """The columns of the thresholds of a method."""
    return (
        Column("run"),
        Column("method", "Method", "method"),
        Column("kind", "Threshold"),
        Column("threshold", f"{terms.confidence.capitalize()} ≥", "exact"),
        Column(
            "share",
            terms.answered.capitalize(),
            "share",
            f"Share of all {terms.questions}; one without a {terms.confidence} is not {terms.answered}.",
        ),
        Column("answered", f"Rows {terms.answered}", "count"),
        Column(
            "accuracy",
            terms.precision.capitalize(),
            "share",
            PRECISION_HELP if terms.of == "event" else "",
        ),
        Column(
            "accuracy_low",
            "At least",
            "bound",
            f"Lower bound of the {terms.precision} on new {terms.questions}, at the level of the "
            "guarantee. For an empirical threshold it holds only if the threshold had been chosen "
            "beforehand.",
        ),
        Column("recipe"),
    )


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
    n_questions : int
        All questions that have an outcome, with a confidence or without.
    accuracy : float or None
        Of the answered rows; None, like its interval, where none is answered.
    low, high : float or None
        95 % Wilson interval of the accuracy.
    """

    threshold: float
    n_answered: int
    n_correct: int
    n_questions: int
    accuracy: float | None
    low: float | None
    high: float | None

    @property
    def coverage(self) -> float:
        """Share of the questions that is answered, in [0, 1]."""
        return self.n_answered / self.n_questions


@dataclass(frozen=True, slots=True, eq=False)
class ServerOrder:
    """What if decisions were ordered by what their server calls its confidence? It has no threshold.

    Attributes
    ----------
    share : NDArray[np.float64], shape (n_steps,)
        Share of the questions answered, ascending; one step for each distinct value.
    accuracy : NDArray[np.float64], shape (n_steps,)
        Of these.
    auroc : float or None
        None where all rows have the same outcome.
    """

    share: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    auroc: float | None


@dataclass(frozen=True, eq=False, repr=False)
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
    repeated : RepeatedAnswers or None
        The rows, where some repeat a question.
    missing : Missingness or None
        The rows that have an outcome and no confidence, which no threshold answers; None where no row lacks
        one.
    server : ServerOrder or None
        The same rows in the order of their server's confidence; None where not all have one.
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
    repeated: RepeatedAnswers | None = None
    missing: Missingness | None = None
    server: ServerOrder | None = None

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    @property
    def other_order(self) -> ServerOrder | None:
        """The order of the server's confidence; None where the probability answers the same rows."""
        server = self.server
        if server is None or (
            np.array_equal(server.share, self.coverage) and np.array_equal(server.accuracy, self.accuracy)
        ):
            return None
        return server

    @property
    def n_questions(self) -> int:
        """Rows with an outcome; those without a confidence count as not answered."""
        return self.n_used + (self.missing.n if self.missing else 0)

    @cached_property
    def coverage(self) -> NDArray[np.float64]:
        """Share of the questions answered at each step, ascending, to 1 if none lacks a confidence."""
        return self.n_answered / self.n_questions

    @property
    def accuracy_of_all(self) -> float:
        """Accuracy of answering every question, whether it has a confidence or not."""
        n_right = int(self.n_correct[-1]) + (self.missing.n_right if self.missing else 0)
        return n_right / self.n_questions

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
        """The step that answers every row with a confidence."""
        return self.at_step(self.threshold.size - 1)

    def at_threshold(self, threshold: float) -> OperatingPoint:
        """The operating point at any threshold; a confidence stored as float32 0.7 reaches 0.7."""
        reached = self._steps_reached(threshold)
        if not reached:
            return OperatingPoint(threshold, 0, 0, self.n_questions, None, None, None)
        step = self.at_step(reached - 1)
        return OperatingPoint(
            threshold, step.n_answered, step.n_correct, step.n_questions, step.accuracy, step.low, step.high
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
        ascending = self.threshold[::-1]
        return ascending.size - int(np.searchsorted(ascending, lowest, side="left"))

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
            self.n_questions,
            float(self.accuracy[step]),
            float(self.accuracy_interval[0][step]),
            float(self.accuracy_interval[1][step]),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row for each step.

        Columns: run, method, threshold, answered, correct, share, accuracy, accuracy_low, accuracy_high,
        recipe. Steps in the order of the server's confidence have its name as method, and only shares and
        accuracies.
        """
        steps = pl.DataFrame(
            {
                "method": self.method,
                "threshold": self.threshold,
                "answered": self.n_answered,
                "correct": self.n_correct,
                "share": self.coverage,
                "accuracy": self.accuracy,
                "accuracy_low": self.accuracy_interval[0],
                "accuracy_high": self.accuracy_interval[1],
                "recipe": self.recipe,
            }
        )
        if self.other_order is not None:
            of_server = {"share": self.other_order.share, "accuracy": self.other_order.accuracy}
            recipe = f"in the order of {SERVER_CONFIDENCE}, a rank; {self.recipe.partition(', ')[2]}"
            ordered = pl.DataFrame({"method": SERVER_CONFIDENCE, **of_server, "recipe": recipe})
            steps = pl.concat([steps, ordered], how="diagonal")
        return steps.select(pl.lit(self.run).alias("run"), pl.all())


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
    refuse_weights(evidence, "Abstention")
    top = evidence.top_label
    if not top.n_used:
        raise Unavailable("No row has both a confidence and an outcome.")
    levels, terms = top.sums.natural_bins(), evidence.terms
    pairs, repeated = top.confidences.pairs, None
    if top.cluster is not None:
        step = first_steps(levels.low[::-1], pairs.confidence.astype(np.float64))
        repeated = RepeatedAnswers(step, pairs.correct, top.cluster)
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
        recipe=f"{terms.answered} when {terms.confidence} ≥ t, {recipe_text(top, None, None)}",
        remarks=evidence.remarks,
        design_effect=top.design_effect,
        repeated=repeated,
        missing=top.missingness,
        server=_server_order(top),
    )


def _server_order(top: AnswerEvidence) -> ServerOrder | None:
    metric, scheme = METRICS["server_auroc"], Scheme()
    if top.unavailable_reason(metric, scheme):
        return None
    sums = top.sums_for(metric, scheme)
    levels = sums.natural_bins()
    n_answered, n_correct = (np.cumsum(of[::-1]).astype(np.float64) for of in (levels.count, levels.correct))
    n_questions = top.n_used + (top.missingness.n if top.missingness else 0)
    return ServerOrder(n_answered / n_questions, n_correct / n_answered, metric.compute(sums, scheme))


def first_steps(threshold: NDArray[np.float64], confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    """The first step of a curve at which each row is answered.

    Parameters
    ----------
    threshold : NDArray[np.float64], shape (n_steps,)
        As `AbstentionCurve.threshold`, descending.
    confidence : NDArray[np.float64], shape (n,)
        Confidences of the rows of that curve.
    """
    return np.searchsorted(-threshold, -confidence).astype(np.intp)


# --- Thresholds with a guarantee ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GuaranteedThreshold(Displayable):
    """The smallest confidence threshold whose accuracy reaches a target with a given confidence.

    Attributes
    ----------
    curve : AbstentionCurve
        The curve of all thresholds.
    target_accuracy : float
        In (0, 1).
    confidence : float
        Probability of the guarantee, in (0, 1).
    point : OperatingPoint or None
        Answering at the guaranteed threshold; None where there is none.
    accuracy_low : float or None
        Lower bound of its accuracy, at least the target; None where there is no threshold.
    reason : str or None
        Why there is none.
    empirical : OperatingPoint or None
        Answering at the threshold whose accuracy on these very rows reaches the target with the most answers;
        None where there is none.
    empirical_low : float or None
        Lower bound of the accuracy at the empirical threshold, as if it had been fixed beforehand.
    """

    curve: AbstentionCurve
    target_accuracy: float
    confidence: float
    point: OperatingPoint | None
    accuracy_low: float | None
    reason: str | None
    empirical: OperatingPoint | None
    empirical_low: float | None

    @property
    def recipe(self) -> str:
        """How the threshold was found."""
        repeats = self.curve.repeated is not None
        test = "bets over repeated questions" if repeats else "Clopper–Pearson"
        return (
            f"{self.curve.terms.precision} ≥ {target_text(self.target_accuracy)} with "
            f"{target_text(self.confidence)} confidence, "
            f"{test} in a fixed order from {len(STARTS)} starts, over {GRID_PARTS} shares of the rows from "
            f"{MIN_ANSWERED} {self.curve.terms.questions if repeats else 'rows'} on, {self.curve.recipe}"
        )

    @property
    def headline(self) -> str:
        """The threshold in words, or why there is none."""
        target, confidence = target_text(self.target_accuracy), target_text(self.confidence)
        terms = self.curve.terms
        if self.point is None or self.accuracy_low is None:
            return f"No threshold guarantees {with_article(terms.precision)} of {target}: {self.reason}."
        low = format_percent_down(self.accuracy_low)
        promise = f"on new {terms.questions} at least {low} with {confidence} confidence"
        if self.point.n_answered == self.curve.n_used:
            which = (
                f" that has a {terms.confidence} ({format_percent(self.point.coverage)})"
                if self.curve.missing
                else ""
            )
            return (
                f"Every {terms.question}{which} can be {terms.answered}: {terms.precision} "
                f"{format_percent(self.point.accuracy)}, {promise}."
            )
        return (
            f"{terms.to_answer.capitalize()} when {terms.confidence} ≥ "
            f"{threshold_text(self.point.threshold)}: {format_percent(self.point.coverage)} "
            f"{terms.answered}, {terms.precision} {format_percent(self.point.accuracy)}, {promise}."
        )

    @property
    def empirical_note(self) -> str:
        """What the threshold chosen for its accuracy on these rows promises: nothing."""
        if self.empirical is None or self.empirical_low is None:
            best = format_percent(self.curve.most_accurate.accuracy)
            return f"On these rows, no threshold reaches {target_text(self.target_accuracy)}: at best {best}."
        return (
            f"Without a guarantee, {self.curve.terms.confidence} ≥ "
            f"{threshold_text(self.empirical.threshold)} reaches {format_percent(self.empirical.accuracy)} "
            f"on these rows, with {format_percent(self.empirical.coverage)} {self.curve.terms.answered}."
        )

    def rows(self, typed: float | None = None) -> list[dict[str, Any]]:
        """The guaranteed threshold, the empirical one, and one that was typed, as rows of a table."""
        points = [
            ("guaranteed", self.point, self.accuracy_low),
            ("empirical", self.empirical, self.empirical_low),
        ]
        if typed is not None:
            points.append(("typed", self.curve.at_threshold(typed), None))
        return [
            {
                "run": self.curve.run,
                "method": self.curve.method,
                "kind": kind,
                "threshold": point and point.threshold,
                "share": point and point.coverage,
                "answered": point and point.n_answered,
                "accuracy": point and point.accuracy,
                "accuracy_low": low,
                "interval_low": point and point.low,
                "interval_high": point and point.high,
                "recipe": self.recipe,
            }
            for kind, point, low in points
        ]

    def to_frame(self) -> pl.DataFrame:
        """One row for each threshold, guaranteed, then empirical, with `threshold_columns`."""
        return frame_of(threshold_columns(self.curve.terms), self.rows())


def guaranteed_threshold(
    curve: AbstentionCurve, target_accuracy: float, confidence: float = 0.95
) -> GuaranteedThreshold:
    """The smallest threshold whose answered questions are right often enough, with this confidence.

    Parameters
    ----------
    curve : AbstentionCurve
    target_accuracy : float
        In [0, 1].
    confidence : float
        In (0, 1).

    Raises
    ------
    Unavailable
        If the confidence is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise Unavailable(f"A guarantee needs a confidence between 0 and 1, not {confidence:.6g}.")
    test = AccuracyTest(curve.n_answered, curve.n_correct, confidence, curve.repeated)
    found = test.guaranteed_step(target_accuracy)
    empirical = curve.for_accuracy(target_accuracy)
    return GuaranteedThreshold(
        curve,
        target_accuracy,
        confidence,
        None if found is None else curve.at_step(found.step),
        None if found is None else found.accuracy_low,
        None if found is not None else _no_guarantee_reason(curve, test, target_accuracy),
        empirical,
        None if empirical is None else test.accuracy_low(_step_of(curve, empirical)),
    )


def _step_of(curve: AbstentionCurve, point: OperatingPoint) -> int:
    return int(np.searchsorted(curve.n_answered, point.n_answered))


def _no_guarantee_reason(curve: AbstentionCurve, test: AccuracyTest, target_accuracy: float) -> str:
    terms = curve.terms
    too_few = test.too_few_reason(target_accuracy, terms)
    if too_few:
        return too_few
    start = test.best_start(target_accuracy)
    low, confidence = format_percent_down(start.accuracy_low), target_text(test.confidence)
    # The bounds at all starts hold together with the confidence asked for, so the highest one does.
    bound = (
        f", on new {terms.questions} at least {low} with {confidence} confidence"
        if low != format_percent_down(0.0)
        else ""
    )
    return (
        f"of the {int(curve.n_answered[start.step]):,} {terms.highest}, which come closest, "
        f"{format_percent(float(curve.accuracy[start.step]))} are {terms.hit}{bound}"
    )


def largest_guaranteed(thresholds: Sequence[GuaranteedThreshold]) -> GuaranteedThreshold:
    """The one of a run's methods that answers most questions with a guarantee, or else without.

    Questions are counted, since a method that lacks a confidence for many has a larger share of the others.
    Where none reaches the target, the one that comes closest is taken.
    """

    def answered(found: GuaranteedThreshold) -> list[float]:
        counts = [0 if point is None else point.n_answered for point in (found.point, found.empirical)]
        return [*counts, found.curve.most_accurate.accuracy or 0.0]

    return max(thresholds, key=answered)


def guarantee_headline(thresholds: Sequence[GuaranteedThreshold]) -> str:
    """The method that answers most with a guarantee; if none does, what these rows alone suggest."""
    found = largest_guaranteed(thresholds)
    title, target = f"“{METHODS[found.curve.method].title}”", target_text(found.target_accuracy)
    terms = found.curve.terms
    if found.empirical is None:
        return abstention_headline([each.curve for each in thresholds], found.target_accuracy)
    if found.point is None:
        return (
            f"No threshold guarantees {with_article(terms.precision)} of {target}. On these rows alone, "
            f"{title} reaches it from {threshold_text(found.empirical.threshold)} on, with "
            f"{format_percent(found.empirical.coverage)} {terms.answered}."
        )
    point = found.point
    promise = (
        f"at least {format_percent_down(found.accuracy_low)} {terms.hit} with "
        f"{target_text(found.confidence)} confidence"
    )
    if point.n_answered == found.curve.n_used:
        which = "" if found.curve.n_used == found.curve.n_total else f" with a {terms.confidence} by {title}"
        return f"All {terms.questions}{which} can be {terms.answered}: {promise}."
    return (
        f"{terms.to_answer.capitalize()} when {title} is {threshold_text(point.threshold)} or more: "
        f"{format_percent(point.coverage)} {terms.answered}, {promise}."
    )


# --- The curve in words ---------------------------------------------------------------------------


def abstention_headline(curves: Sequence[AbstentionCurve], target_accuracy: float) -> str:
    """The method that answers most at the target accuracy, or that none reaches it."""
    target, terms = target_text(target_accuracy), curves[0].terms
    reaching = [(curve, point) for curve in curves if (point := curve.for_accuracy(target_accuracy))]
    if not reaching:
        curve = max(curves, key=lambda each: each.most_accurate.accuracy or 0.0)
        return (
            f"No method reaches {with_article(terms.precision)} of {target}. "
            f"“{METHODS[curve.method].title}” comes closest: "
            f"{operating_point_text(curve.most_accurate, terms)}."
        )
    curve, best = max(reaching, key=lambda pair: pair[1].n_answered)
    title = f"“{METHODS[curve.method].title}”"
    others = [
        f"“{METHODS[other.method].title}”"
        for other, point in reaching
        if other is not curve and point.n_answered == best.n_answered
    ]
    ties = f", the same as {join_names(others)}" if others else ""
    if best.n_answered == best.n_questions:
        by = "" if len(curves) == 1 else f"By {title}, "
        subject = f"{by}{'all' if by else 'All'} {terms.questions} can be {terms.answered}"
        text = operating_point_text(best, terms)
        return f"{subject} at {with_article(terms.precision)} of {target} or more: {text}{ties}."
    threshold = threshold_text(best.threshold)
    opening = f"For {with_article(terms.precision)} of {target}, {terms.to_answer} when {title} is"
    return (
        f"{opening} {threshold} or more: {operating_point_text(best, terms)}{ties}. All {terms.answered}: "
        f"{format_percent(curve.accuracy_of_all)}."
    )


def operating_point_text(point: OperatingPoint, terms: Terms) -> str:
    """ "41.2 % answered, accuracy 90.1 % (95 % interval 87.0 % to 92.6 %, n = 412)", with a note on few."""
    if point.accuracy is None or point.low is None or point.high is None:
        return f"nothing {terms.answered}"
    caution = ", too few to be reliable" if point.n_answered < MIN_ROWS else ""
    return (
        f"{format_percent(point.coverage)} {terms.answered}, {terms.precision} "
        f"{format_percent(point.accuracy)} (95 % interval {format_percent(point.low)} to "
        f"{format_percent(point.high)}, n = {point.n_answered:,}{caution})"
    )

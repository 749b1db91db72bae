"""Answer with one model where it is confident, hand the other questions to a second: accuracy and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.paired_test import MIN_COMMON_QUESTIONS, PairedTest, paired_test
from calib_core.inference.pairing import common_questions
from calib_core.results.abstention import AbstentionCurve, GuaranteedThreshold, abstention_curve, first_steps
from calib_core.results.columns import Column, frame_of
from calib_core.results.evidence import AnswerEvidence, Evidence, refuse_weights, restrict_rows
from calib_core.wording import format_percent, plural, threshold_text

CASCADE_COLUMNS: Final = (
    Column("answered_by", "Answered by"),
    Column("accuracy", "Accuracy", "share"),
    Column("accuracy_low", "95 %", "share", upper="accuracy_high"),
    Column("accuracy_high", kind="share"),
    Column("handed_on", "Handed on", "share"),
    Column("cost", "Cost per question", "mixed"),
    Column("gain", "Cascade better by, points", "points", "Percentage points, paired by question."),
    Column("gain_low", "Better by, 95 %", "points", "As if t had been chosen beforehand.", upper="gain_high"),
    Column("gain_high", kind="points"),
)
"""The columns of a cascade beside each of its models alone."""


@dataclass(frozen=True, slots=True)
class CascadePoint:
    """The cascade at one threshold, or one of its models alone.

    Attributes
    ----------
    share_handed : float
        Share of questions that the second model answers, in [0, 1].
    n_correct, n_rows : int
        Right answers, and all common questions.
    low, high : float
        95 % Wilson interval of the accuracy.
    """

    share_handed: float
    n_correct: int
    n_rows: int
    low: float
    high: float

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return self.n_correct / self.n_rows


@dataclass(frozen=True, slots=True)
class Costs:
    """What one question costs, in any unit.

    Attributes
    ----------
    first, second : float
        Of each model, 0 or more. The first model answers every question, since its confidence decides.
    """

    first: float
    second: float

    def cascade(self, share_handed: float) -> float:
        """Mean cost per question where this share is handed on."""
        return self.first + share_handed * self.second


@dataclass(frozen=True, eq=False)
class Cascade:
    """Two runs on the questions they have in common, over every threshold of the first.

    Attributes
    ----------
    curve : AbstentionCurve
        Of the first run on the common questions.
    second_run : str
        Label of the second run.
    n_correct : NDArray[np.int64], shape (n_steps,)
        Right answers of the cascade at each threshold of the curve: of the first run from there on, of the
        second below.
    n_correct_of_second : int
        Right answers of the second run alone.
    second_judged : str
        Which answer of the second run is judged.
    second_corrections : str
        What a table of corrections changed in the second run, as from `Evidence.corrections_text`.
    first_correct, second_correct : NDArray[np.bool_], shape (n_common,)
        Outcomes of each common question, the most confident first.
    question : NDArray[np.intp] or None, shape (n_common,)
        Question of each of these rows, where some are repeated.
    """

    curve: AbstentionCurve
    second_run: str
    n_correct: NDArray[np.int64]
    n_correct_of_second: int
    second_judged: str
    second_corrections: str
    first_correct: NDArray[np.bool_]
    second_correct: NDArray[np.bool_]
    question: NDArray[np.intp] | None

    @property
    def n_common(self) -> int:
        """Number of questions that both runs answer."""
        return self.curve.n_used

    @property
    def share_handed(self) -> NDArray[np.float64]:
        """Share handed on at each threshold, descending to 0; shape (n_steps,)."""
        return 1 - self.curve.coverage

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Accuracy of the cascade at each threshold; shape (n_steps,)."""
        return self.n_correct / self.n_common

    @property
    def first_alone(self) -> CascadePoint:
        """Every question answered by the first run."""
        return self._point(0.0, int(self.n_correct[-1]))

    @property
    def second_alone(self) -> CascadePoint:
        """Every question answered by the second run."""
        return self._point(1.0, self.n_correct_of_second)

    def at_step(self, step: int) -> CascadePoint:
        """The cascade at a threshold of the curve, counted from 0, the most confident one."""
        return self._point(float(self.share_handed[step]), int(self.n_correct[step]))

    def at_threshold(self, threshold: float) -> CascadePoint:
        """The cascade that hands on every question whose confidence is below the threshold."""
        kept = self.curve.at_threshold(threshold)
        n_correct = self._n_correct_keeping(kept.n_answered)
        return self._point(1 - kept.coverage, n_correct)

    def gain_over(self, threshold: float, alone: Literal["first", "second"]) -> PairedTest | None:
        """How much more often the cascade is right than one of its models, paired by question.

        Parameters
        ----------
        threshold : float
        alone : {"first", "second"}

        Returns
        -------
        PairedTest or None
            None with fewer than `MIN_COMMON_QUESTIONS` questions.
        """
        kept = np.arange(self.n_common) < self.curve.at_threshold(threshold).n_answered
        cascade = np.where(kept, self.first_correct, self.second_correct).astype(np.float64)
        difference = cascade - (self.first_correct if alone == "first" else self.second_correct)
        n_questions = self.n_common if self.question is None else np.unique(self.question).size
        if n_questions < MIN_COMMON_QUESTIONS:
            return None
        gain = float(difference.mean())
        # A cascade that is one of its models cannot differ from it on another question either.
        is_alone = bool(kept.all() if alone == "first" else not kept.any())
        return paired_test(gain, difference - gain, self.question, one_more=0.0 if is_alone else 1.0)

    def to_frame(self) -> pl.DataFrame:
        """One row for each threshold.

        Columns: run, second, method, threshold, handed_on, correct, accuracy, accuracy_low, accuracy_high,
        questions, recipe.
        """
        low, high = wilson_interval(
            self.n_correct, np.full(self.n_correct.size, self.n_common), self.curve.design_effect
        )
        return pl.DataFrame(
            {
                "threshold": self.curve.threshold,
                "handed_on": self.share_handed,
                "correct": self.n_correct,
                "accuracy": self.accuracy,
                "accuracy_low": low,
                "accuracy_high": high,
            }
        ).select(
            pl.lit(self.curve.run).alias("run"),
            pl.lit(self.second_run).alias("second"),
            pl.lit(self.curve.method).alias("method"),
            pl.all(),
            pl.lit(self.n_common).alias("questions"),
            pl.lit(self.recipe).alias("recipe"),
        )

    @property
    def recipe(self) -> str:
        """How the cascade was computed."""
        return (
            f"cascade: the second run ({self.second_corrections}{self.second_judged}) answers where "
            f"confidence < t, on {plural(self.n_common, 'question')} of both, {self.curve.recipe}"
        )

    def _n_correct_keeping(self, n_kept: int) -> int:
        return int(self.first_correct[:n_kept].sum() + self.second_correct[n_kept:].sum())

    def _point(self, share_handed: float, n_correct: int) -> CascadePoint:
        low, high = wilson_interval(
            np.array([n_correct]), np.array([self.n_common]), self.curve.design_effect
        )
        return CascadePoint(share_handed, n_correct, self.n_common, float(low[0]), float(high[0]))


def cascade(first: Evidence, second: Evidence) -> Cascade:
    """The cascade from one run to another, on the questions that both answer.

    Parameters
    ----------
    first : Evidence
        Its confidences decide.
    second : Evidence
        Only its outcomes are used.

    Raises
    ------
    Unavailable
        Where the runs cannot be paired or share no usable question.
    """
    if "event" in (first.terms.of, second.terms.of):
        raise Unavailable("A probability of an event has no answer that a second run could give instead.")
    if not isinstance(first, AnswerEvidence) or not isinstance(second, AnswerEvidence):
        raise Unavailable("A cascade needs the answers of both runs; token-level runs keep sums only.")
    for one in (first, second):
        refuse_weights(one, "A cascade")
    at_first, at_second, _ = common_questions(first.run, second.run)
    usable = np.isin(at_first, first.confidences.pairs.rows) & np.isin(
        at_second, second.confidences.pairs.rows
    )
    if not usable.any():
        raise Unavailable(f"{first.run.label} and {second.run.label} share no usable question.")
    kept = restrict_rows(first.top_label, at_first[usable])
    outcomes = restrict_rows(second.top_label, at_second[usable]).pairs.correct
    curve = abstention_curve(kept)
    # The order in which the thresholds of the curve answer: ties keep the order of the file.
    step = first_steps(curve.threshold, kept.pairs.confidence.astype(np.float64))
    order = np.argsort(step, kind="stable")
    first_correct, second_correct = kept.pairs.correct[order], outcomes[order]
    below = np.concatenate([np.cumsum(second_correct[::-1])[::-1], [0]])
    return Cascade(
        curve,
        second.run.label,
        curve.n_correct + below[curve.n_answered],
        int(second_correct.sum()),
        second.judged,
        second.corrections_text,
        first_correct,
        second_correct,
        None if kept.cluster is None else kept.cluster[order],
    )


def cascade_threshold(found: GuaranteedThreshold, typed: float | None) -> tuple[float, str]:
    """The threshold at which a cascade is shown, and where it comes from: typed, guaranteed or empirical.

    Where there is none of these, the threshold that keeps the more confident half of the questions.
    """
    if typed is not None:
        return typed, "the threshold t that was typed"
    if found.point is not None:
        return found.point.threshold, "the guaranteed threshold"
    if found.empirical is not None:
        return found.empirical.threshold, "the empirical threshold, as no threshold is guaranteed"
    step = int(np.searchsorted(found.curve.coverage, 0.5))
    half = found.curve.at_step(min(step, found.curve.coverage.size - 1))
    return half.threshold, "the threshold that keeps half of the questions, as none reaches the target"


# --- The cascade in words -------------------------------------------------------------------------


def format_cost(cost: float) -> str:
    """A cost with four digits: "6", "0.0125"."""
    return f"{cost:.4g}"


def cascade_headline(found: Cascade, threshold: float, names: tuple[str, str]) -> str:
    """What handing on below the threshold changes, against the first run alone.

    Parameters
    ----------
    found : Cascade
    threshold : float
    names : (str, str)
        What the two runs are called.
    """
    point, first, second = found.at_threshold(threshold), found.first_alone, found.second_alone
    t = threshold_text(threshold)
    if point.share_handed == 0:
        return f"No question has a confidence below {t}: {names[0]} answers all, accuracy {_percent(first)}."
    if point.share_handed == 1:
        return f"Every confidence is below {t}: {names[1]} answers all, accuracy {_percent(second)}."
    best, name = max((first.accuracy, names[0]), (second.accuracy, names[1]), key=lambda one: one[0])
    lead = (
        f"Hand questions with a confidence below {t} to {names[1]}"
        if point.accuracy > best
        else f"Handing questions with a confidence below {t} to {names[1]} gains nothing over {name} alone"
    )
    return (
        f"{lead}: accuracy {_percent(point)}, with "
        f"{format_percent(point.share_handed)} of the questions handed on. Alone, {names[0]} reaches "
        f"{_percent(first)} and {names[1]} {_percent(second)}."
    )


def _percent(point: CascadePoint) -> str:
    return format_percent(point.accuracy)


def cascade_table(
    found: Cascade, threshold: float, names: tuple[str, str], costs: Costs | None = None
) -> pl.DataFrame:
    """One row each for the first run alone, the second alone, and the cascade at the threshold.

    Parameters
    ----------
    found : Cascade
    threshold : float
    names : (str, str)
        What the two runs are called.
    costs : Costs, optional

    Returns
    -------
    pl.DataFrame
        With `CASCADE_COLUMNS`.
    """
    point = found.at_threshold(threshold)
    over_first, over_second = found.gain_over(threshold, "first"), found.gain_over(threshold, "second")
    rows = (
        (f"{names[0]} alone", found.first_alone, costs and costs.first, over_first),
        (f"{names[1]} alone", found.second_alone, costs and costs.second, over_second),
        (
            f"Cascade at t = {threshold_text(threshold)}",
            point,
            costs and costs.cascade(point.share_handed),
            None,
        ),
    )
    return frame_of(
        CASCADE_COLUMNS,
        (
            {
                "answered_by": name,
                "accuracy": each.accuracy,
                "accuracy_low": each.low,
                "accuracy_high": each.high,
                "handed_on": each.share_handed,
                "cost": cost,
                "gain": gain and gain.difference,
                "gain_low": gain and gain.low,
                "gain_high": gain and gain.high,
            }
            for name, each, cost, gain in rows
        ),
    )

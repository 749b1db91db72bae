"""From which confidence on is the accuracy at least a target, with a guarantee?

A threshold chosen for its accuracy looks better on the rows it was chosen on than it is. A guaranteed
threshold comes from tests in a fixed order, from the strictest threshold to the laxest (Learn then Test). The
tests begin at several places, which share the permitted error, because the most confident answers need not be
the most accurate. From each of them they go on up to the first failure; those that reach the next place bring
their part of the permitted error along (the fallback procedure). The probability that any threshold passes
although it misses the target is then at most the permitted error.

Independent rows are tested by the exact binomial bound (Clopper–Pearson). Rows that repeat a question are
not independent; for them the questions bet against the target (decision 0016).

References
----------
Angelopoulos et al. (2021), doi:10.48550/arXiv.2110.01052; Geifman & El-Yaniv (2017),
doi:10.48550/arXiv.1705.08500; Wiens & Dmitrienko (2005), doi:10.1080/10543400500265660.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.wording import plural, target_text, with_article

GRID_PARTS: Final = 20
"""The grid of thresholds answers this many equal shares of the rows, the last of them all."""

MIN_ANSWERED: Final = 50
"""The strictest threshold of the grid answers at least this many rows, or questions where they repeat."""

STARTS: Final = ((1, 0.5), (5, 0.25), (10, 0.25))
"""Parts of the grid where tests begin, and which share of the permitted error they bring: measured in
`benchmarks/threshold.md`."""

BETS: Final = (1.0, 2.0)
"""Sizes of the bets of a question, as multiples of the best one for a question with a single answer."""

_LARGEST_BET: Final = 0.99
"""Share of the wealth that a question stakes at most; at 1, a single wrong answer would end the test."""

_LARGEST_EXPONENT: Final = 700.0
"""Above it, the exponential function overflows."""

_BISECTIONS: Final = 40
"""Halvings of the search for a lower bound, which is then exact to 12 decimals."""


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedAnswers:
    """The rows of a run that repeats questions.

    Attributes
    ----------
    step : NDArray[np.intp], shape (n,)
        The first step of the curve, from the most confident one on, at which each row is answered.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    question : NDArray[np.intp], shape (n,)
        Question of each row, numbered from 0.
    """

    step: NDArray[np.intp]
    correct: NDArray[np.bool_]
    question: NDArray[np.intp]

    @property
    def n_questions(self) -> int:
        """Number of different questions."""
        return int(self.question.max()) + 1

    def scores(self, step: int, target: float) -> NDArray[np.float64]:
        """Σ (y − target) over the answered rows of each question, over the most rows that a question has.

        Returns
        -------
        NDArray[np.float64], shape (n_questions,)
            In [−target, 1 − target]; 0 where no row is answered. Their mean is positive in the long run if
            and only if the accuracy of answered rows is above the target.
        """
        answered = np.where(self.step <= step, self.correct - target, 0.0)
        total = np.bincount(self.question, answered, self.n_questions)
        return total / np.bincount(self.question).max()


@dataclass(frozen=True, slots=True)
class BoundedStep:
    """A step of a curve with a bound: the last that passed its test, or the best of those that failed.

    Attributes
    ----------
    step : int
        Index of the step.
    accuracy_low : float
        Lower bound of its accuracy; at least the target if its test was passed.
    """

    step: int
    accuracy_low: float


@dataclass(frozen=True, slots=True, eq=False)
class AccuracyTest:
    """The tests of all thresholds of one curve.

    Attributes
    ----------
    n_answered, n_correct : NDArray[np.int64], shape (n_steps,)
        Rows answered at each threshold, the strictest first, and the correct ones among them.
    confidence : float
        Probability of the guarantee, in (0, 1).
    repeated : RepeatedAnswers or None
        None if every row asks another question.
    """

    n_answered: NDArray[np.int64]
    n_correct: NDArray[np.int64]
    confidence: float
    repeated: RepeatedAnswers | None = None

    @property
    def n_units(self) -> int:
        """Number of independent rows or questions."""
        return int(self.n_answered[-1]) if self.repeated is None else self.repeated.n_questions

    def fewest_units(self, target: float) -> int:
        """The fewest rows or questions with which the target can be guaranteed, at least `MIN_ANSWERED`."""
        return self._fewest_units(target, self.confidence)

    def _fewest_units(self, target: float, confidence: float) -> int:
        """With fewer rows or questions a test of this confidence fails even if all answers are right."""
        needed = -math.log(1 - confidence)
        if self.repeated is None:
            return max(MIN_ANSWERED, math.ceil(-needed / math.log(target)))
        size = max(MIN_ANSWERED, math.ceil(needed / math.log1p(_LARGEST_BET * (1 - target) / target)))
        while self._wealth_if_all_right(target, size, confidence) < 1 / (1 - confidence):
            size += 1 + size // 100
        return size

    def guaranteed_step(self, target: float) -> BoundedStep | None:
        """The laxest threshold that passes, by tests from the strictest one on.

        Parameters
        ----------
        target : float
            Accuracy that the answered rows should have, in [0, 1].

        Returns
        -------
        BoundedStep or None
            None if no test passes, or there are too few rows for any.
        """
        if target >= 1:
            return None
        if target <= 0:
            last = self.n_answered.size - 1
            return BoundedStep(last, self.accuracy_low(last))
        found: BoundedStep | None = None
        error = 0.0
        for step, begins in self._grid(target).items():
            error += begins
            if error and self._passes(step, target, 1 - error):
                found = BoundedStep(step, self._accuracy_low(step, 1 - error, target))
            else:
                error = 0.0
        return found

    def accuracy_low(self, step: int) -> float:
        """Lower bound of the accuracy of answered rows, for a threshold that was fixed beforehand.

        Parameters
        ----------
        step : int
            Index of the step.

        Returns
        -------
        float
            In [0, 1]; exceeds the accuracy with a probability of at most 1 − confidence.
        """
        return self._accuracy_low(step, self.confidence)

    def _accuracy_low(self, step: int, confidence: float, at_least: float = 0.0) -> float:
        """The same with another confidence; at_least: a bound that is known to hold."""
        if self.repeated is None:
            low = clopper_pearson_low(int(self.n_correct[step]), int(self.n_answered[step]), confidence)
            return max(low, at_least)
        low, high = at_least, float(self.n_correct[step] / self.n_answered[step])
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._passes(step, middle, confidence) else (low, middle)
        return low

    def too_few_reason(self, target: float, terms: Terms = ANSWER_TERMS) -> str | None:
        """Why no threshold can be guaranteed, whatever the outcomes; None if there are enough rows."""
        if target >= 1:
            return "no number of rows can show that"
        least = self.fewest_units(target)
        if self.n_units >= least:
            return None
        unit = terms.question if self.repeated is None else f"different {terms.question}"
        return (
            f"{plural(self.n_units, unit)} {'is' if self.n_units == 1 else 'are'} too few "
            f"({with_article(terms.precision)} of {target_text(target)} with {target_text(self.confidence)} "
            f"confidence takes at least {least:,})"
        )

    def best_start(self, target: float) -> BoundedStep:
        """Of the steps where tests begin, the one with the highest bound; for targets that none guarantees.

        There have to be enough rows for one.
        """
        starts = [(step, 1 - error) for step, error in self._grid(target).items() if error]
        failed = [BoundedStep(step, self._accuracy_low(step, level)) for step, level in starts]
        return max(failed, key=lambda start: start.accuracy_low)

    def _grid(self, target: float) -> dict[int, float]:
        """Steps that answer the twentieths of the rows, the strictest first, with the error they bring.

        That is the permitted error of the tests that begin there, 0 where none do. Tests that could not pass
        if all answers were right begin at the first step where they could. Ties are answered together.
        """
        n_rows = int(self.n_answered[-1])
        grid: dict[int, float] = {}
        waiting = 0.0
        for part in range(1, GRID_PARTS + 1):
            waiting += (1 - self.confidence) * dict(STARTS).get(part, 0.0)
            confidence = 1 - sum(grid.values()) - waiting
            if not grid and -(-self.n_units * part // GRID_PARTS) < self._fewest_units(target, confidence):
                continue
            step = int(np.searchsorted(self.n_answered, -(-n_rows * part // GRID_PARTS)))
            grid[step] = grid.get(step, 0.0) + waiting
            waiting = 0.0
        return grid

    def _passes(self, step: int, target: float, confidence: float) -> bool:
        if self.repeated is None:
            low = clopper_pearson_low(int(self.n_correct[step]), int(self.n_answered[step]), confidence)
            return low >= target
        if not 0 < target < 1:
            return target <= 0
        # The stakes must not depend on the outcomes.
        size = max(1, round(self.n_units * float(self.n_answered[step] / self.n_answered[-1])))
        wealth = self._wealth(self.repeated.scores(step, target), target, size, confidence)
        return wealth >= 1 / (1 - confidence)

    def _wealth(self, scores: NDArray[np.float64], target: float, size: int, confidence: float) -> float:
        """Mean wealth of gamblers who start with 1 and bet on every question that it is above the target.

        If the accuracy is at most the target, the expected wealth is at most 1, so it reaches 1 / (1 − c)
        with a probability of at most 1 − c (Markov), however the answers to one question depend on one
        another.

        References
        ----------
        Waudby-Smith & Ramdas (2024), doi:10.1093/jrsssb/qkad009, section 4.
        """
        logarithm = np.log1p(_bets(target, size, confidence)[:, None] * scores).sum(axis=1)
        return float(np.exp(np.minimum(logarithm, _LARGEST_EXPONENT)).mean())

    def _wealth_if_all_right(self, target: float, size: int, confidence: float) -> float:
        logarithm = size * np.log1p((1 - target) * _bets(target, size, confidence))
        return float(np.exp(np.minimum(logarithm, _LARGEST_EXPONENT)).mean())


def clopper_pearson_low(n_correct: int, n: int, confidence: float) -> float:
    """One-sided exact lower bound of a proportion.

    Parameters
    ----------
    n_correct, n : int
        Successes and trials, n at least 1.
    confidence : float
        In (0, 1).

    References
    ----------
    Clopper & Pearson (1934), doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> round(clopper_pearson_low(59, 59, 0.95), 4), clopper_pearson_low(0, 59, 0.95)
    (0.9505, 0.0)
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to import

    return float(betaincinv(n_correct, n - n_correct + 1, 1 - confidence)) if n_correct else 0.0


def _bets(target: float, size: int, confidence: float) -> NDArray[np.float64]:
    """Stakes of the gamblers in a game of about `size` questions."""
    return np.minimum(np.array(BETS) * _best_bet(target, size, confidence), _LARGEST_BET / target)


def _best_bet(target: float, size: int, confidence: float) -> float:
    """The bet with which this many independent answers reach the wealth with the lowest accuracy.

    That accuracy is the x above the target with size·KL(x, target) = ln(1 / (1 − confidence)); right answers
    multiply the wealth by x / target, wrong ones by (1 − x) / (1 − target).
    """
    needed = -math.log(1 - confidence) / size
    low, high = target, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _divergence(middle, target) < needed:
            low = middle
        else:
            high = middle
    return (high / target - 1) / (1 - target)


def _divergence(share: float, target: float) -> float:
    """Kullback–Leibler divergence of two coins, in nats."""
    wrong = (1 - share) * math.log((1 - share) / (1 - target)) if share < 1 else 0.0
    return share * math.log(share / target) + wrong

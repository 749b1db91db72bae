"""What does one threshold cost more than the best one? With an interval that holds for the best of many.

The best threshold is chosen on the rows on which it is judged, so its cost is too low there. The interval is
therefore of all thresholds at once: a band around how much cheaper each of them is, from the largest
deviation of multiplier draws by question.

References
----------
Chernozhukov, Chetverikov & Kato (2013), "Gaussian approximations and multiplier bootstrap for maxima",
doi:10.1214/13-AOS1161; Chernozhukov, Lee & Rosen (2013), "Intersection bounds", doi:10.3982/ECTA8718.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

N_DRAWS: Final = 999
"""Multiplier draws; fewer where there are many rows."""

_MIN_DRAWS: Final = 199
_MAX_DRAWN: Final = 5_000_000
_MAX_CELLS: Final = 1_000
"""The band is of at most so many thresholds, each answering about as many rows more than the one before."""

_LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class ErrorCosts:
    """What is paid, in any unit; a right answer is free.

    Attributes
    ----------
    wrong : float
        For a wrong answer, above 0.
    handed_on : float
        For a question that is handed on instead, 0 or more.
    """

    wrong: float
    handed_on: float

    @property
    def calibrated_threshold(self) -> float:
        """The confidence from which on answering pays if confidences are calibrated, in [0, 1].

        Examples
        --------
        >>> ErrorCosts(10, 1).calibrated_threshold, ErrorCosts(1, 2).calibrated_threshold
        (0.9, 0.0)
        """
        return max(0.0, (self.wrong - self.handed_on) / self.wrong)

    def of_steps(
        self, n_answered: NDArray[np.int64], n_correct: NDArray[np.int64], n_questions: int
    ) -> NDArray[np.float64]:
        """Cost per question where so many are answered, so many of them right, and the rest handed on."""
        return (
            self.wrong * (n_answered - n_correct) + self.handed_on * (n_questions - n_answered)
        ) / n_questions


@dataclass(frozen=True, slots=True)
class DecisionLoss:
    """How much more a threshold costs per row than the best one.

    Attributes
    ----------
    value : float
        Against the cheapest threshold on these rows, so too high; at least 0.
    low, high : float
        95 % interval of the loss against the threshold that is cheapest in the long run.
    """

    value: float
    low: float
    high: float


def decision_loss(
    step: NDArray[np.intp],
    correct: NDArray[np.bool_],
    believed_step: int,
    costs: ErrorCosts,
    cluster: NDArray[np.intp] | None = None,
    seed: int = 0,
) -> DecisionLoss:
    """How much more one threshold costs than the best one, with a 95 % interval.

    Parameters
    ----------
    step : NDArray[np.intp], shape (n,)
        First threshold that answers each row, 0 for the strictest.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    believed_step : int
        The threshold; −1 where it answers no row.
    costs : ErrorCosts
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each row, numbered from 0; None if none is repeated.
    seed : int
        Of the draws.

    Returns
    -------
    DecisionLoss
        Per row.

    Notes
    -----
    Threshold t is cheaper than the one believed by the mean G(t) of what each row saves. Its standard error
    is that of the sums by question, with one more question that speaks against it added: the few rows between
    two thresholds may all be right by chance. If q is the 95 % quantile of the largest |deviation| / error
    over all t, the best G lies between the largest G − q · error and the largest G + q · error.
    """
    saved = np.where(correct, costs.handed_on, costs.handed_on - costs.wrong)  # by answering
    n, n_steps = step.size, int(step.max()) + 1
    of_steps = np.concatenate([[0.0], np.cumsum(np.bincount(step, saved, n_steps))])
    value = float(of_steps.max() - of_steps[believed_step + 1]) / n

    cell = _cells(step, n_steps, believed_step)
    n_cells = int(cell.max()) + 1
    believed = int(cell[step <= believed_step].max(initial=-1)) + 1

    def cheaper(weighted: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.concatenate([[0.0], np.cumsum(np.bincount(cell, weighted, n_cells))])
        return (total - total[believed]) / n

    gain = cheaper(saved)
    question = np.arange(n) if cluster is None else cluster
    n_questions, weight = int(question.max()) + 1, np.bincount(question) / n
    random = np.random.default_rng(seed)
    n_draws = min(N_DRAWS, max(_MIN_DRAWS, _MAX_DRAWN // n))
    deviation = np.empty((n_draws, gain.size))
    for draw in range(n_draws):
        multiplier = random.standard_normal(n_questions)
        deviation[draw] = cheaper(saved * multiplier[question]) - gain * float(multiplier @ weight)
    one_more = max(costs.handed_on, abs(costs.wrong - costs.handed_on)) * n / n_questions
    error = np.sqrt(np.mean(deviation**2, axis=0) + (one_more / n) ** 2)
    largest = float(np.quantile(np.max(np.abs(deviation) / error, axis=1), _LEVEL))
    low, high = float(np.max(gain - largest * error)), float(np.max(gain + largest * error))
    return DecisionLoss(value, max(0.0, low), max(value, high))


def _cells(step: NDArray[np.intp], n_steps: int, believed_step: int) -> NDArray[np.intp]:
    """Cell of each row: neighbouring steps share one if there are many; the believed step ends a cell."""
    if n_steps <= _MAX_CELLS:
        return step
    of_step = np.cumsum(np.bincount(step, minlength=n_steps)) * _MAX_CELLS // (step.size + 1)
    of_step[believed_step + 1 :] += 1
    _, number = np.unique(of_step, return_inverse=True)
    return number.astype(np.intp)[step]

"""Where may the true curve P(right | confidence) lie, if it only rises? A band that holds everywhere at once.

A rising curve is at any confidence at least its average over lower ones, and at most that over higher ones.
Clopper and Pearson's bounds of the averages over all stretches of confidences, made to hold together, bound
it therefore without any further assumption, however the confidences are spread.

References
----------
Dimitriadis, Dümbgen, Henzi, Puke & Ziegel (2023), "Honest calibration assessment for binary outcome
predictions", doi:10.1093/biomet/asac068; that their bounds hold for unequal probabilities: Hoeffding (1956),
doi:10.1214/aoms/1177728178.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_STRETCH_ENDS: Final = 60
"""Neighbouring confidences are taken together until there are so many groups of them at most."""

BAND_CONFIDENCE: Final = 0.95
"""Probability with which the band holds the whole curve, or more."""


def honest_band(
    count: NDArray[np.int64], correct: NDArray[np.int64], confidence: float = BAND_CONFIDENCE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A confidence band of a rising P(right | confidence).

    Parameters
    ----------
    count, correct : NDArray[np.int64], shape (cells,)
        Independent answers, and right ones among them, of each stated confidence in rising order; each count
        at least 1.
    confidence : float
        Probability with which the band holds the curve at all cells, in (0, 1).

    Returns
    -------
    low, high : NDArray[np.float64], shape (cells,)
        Ends in [0, 1], which rise.

    Notes
    -----
    With G groups there are G (G + 1) / 2 stretches, each with two bounds at 1 − (1 − confidence) / (G (G +
    1)). The bound of a stretch holds for the cells that lie in later groups (the lower one) or earlier ones
    (the upper one), and also in its last or first group if this is a single cell.

    Examples
    --------
    >>> low, high = honest_band(np.array([100, 100]), np.array([30, 90]))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.2, 0.81], [0.42, 0.96])
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to import

    total = int(count.sum())
    group = ((np.cumsum(count) - 1) * MAX_STRETCH_ENDS // max(total, 1)).astype(np.intp)
    group = np.unique(group, return_inverse=True)[1]
    n_groups = int(group[-1]) + 1
    n = np.concatenate([[0], np.cumsum(np.bincount(group, count))])
    right = np.concatenate([[0], np.cumsum(np.bincount(group, correct))])
    first, last = np.triu_indices(n_groups)
    of_stretch, right_of = n[last + 1] - n[first], right[last + 1] - right[first]
    alpha = (1 - confidence) / (n_groups * (n_groups + 1))
    wrong_of = of_stretch - right_of
    lower = np.where(right_of > 0, betaincinv(np.maximum(right_of, 1), wrong_of + 1, alpha), 0.0)
    upper = np.where(wrong_of > 0, betaincinv(right_of + 1, np.maximum(wrong_of, 1), 1 - alpha), 1.0)
    # The best lower bound of the stretches that end in each group, the best upper one of those that begin.
    ending, beginning = np.zeros(n_groups), np.ones(n_groups)
    np.maximum.at(ending, last, lower)
    np.minimum.at(beginning, first, upper)
    ending = np.maximum.accumulate(ending)
    beginning = np.minimum.accumulate(beginning[::-1])[::-1]
    is_single = (np.bincount(group) == 1)[group]
    before = np.concatenate([[0.0], ending])
    after = np.concatenate([beginning, [1.0]])
    return np.where(is_single, ending[group], before[group]), np.where(
        is_single, beginning[group], after[group + 1]
    )

"""How far may the accuracy of a bin be from its true value, and how often do intervals contain the truth?"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.metrics import METRICS
from calib_core.wording import ROUNDING_TOLERANCE

Z_975: Final = 1.959963984540054
"""97.5 % quantile of the standard normal distribution."""


def interval_contains(low: float, high: float, value: float) -> bool:
    """Whether the interval contains the value, with a tolerance for rounding at its ends."""
    return low - ROUNDING_TOLERANCE <= value <= high + ROUNDING_TOLERANCE


def coverage_note(metric_ids: Collection[str]) -> str:
    """A sentence on the simulated coverage of these metrics' intervals; "" if none of them was simulated."""
    phrases = [
        f"{metric.interval_coverage[0]} to {metric.interval_coverage[1]} % of data sets for {metric.name}"
        for id_, metric in METRICS.items()
        if id_ in metric_ids and metric.interval_coverage
    ]
    return f"In simulations such intervals held the truth in {', in '.join(phrases)}." if phrases else ""


def wilson_interval(
    n_correct: NDArray[np.int64] | NDArray[np.float64],
    n: NDArray[np.int64] | NDArray[np.float64],
    design_effect: float = 1.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's 95 % score interval of a proportion, without continuity correction.

    Parameters
    ----------
    n_correct, n : array, shape (k,)
        Successes and trials, 0 ≤ n_correct ≤ n and n ≥ 1. They need not be whole: an effective sample size is
        allowed for clustered rows.
    design_effect : float
        Factor by which clustering inflates the variance; n is divided by it, but not below 1.

    Returns
    -------
    low, high : NDArray[np.float64], shape (k,)
        Ends of the intervals, in [0, 1].

    References
    ----------
    Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> low, high = wilson_interval(np.array([8]), np.array([10]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.4902], [0.9433])
    """
    share, rows = n_correct / n, np.maximum(n / design_effect, 1.0)
    shrink = 1 + Z_975**2 / rows
    centre = (share + Z_975**2 / (2 * rows)) / shrink
    half = Z_975 / shrink * np.sqrt(share * (1 - share) / rows + (Z_975 / (2 * rows)) ** 2)
    low = np.where(n_correct == 0, 0.0, centre - half)
    high = np.where(n_correct == n, 1.0, centre + half)
    return low, high

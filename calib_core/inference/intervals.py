"""How far may the accuracy of a bin be from its true one, and how often does an interval hold the truth?"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.metrics import METRICS
from calib_core.wording import ROUNDING_TOLERANCE

Z_975: Final = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def interval_contains(low: float, high: float, value: float) -> bool:
    """Whether the interval holds the value: an end that only rounding parts from it does."""
    return low - ROUNDING_TOLERANCE <= value <= high + ROUNDING_TOLERANCE


def coverage_note(metric_ids: Collection[str]) -> str:
    """How often bootstrap intervals of these metrics held the truth; of those simulated where none was."""
    held = {
        id_: (metric.name, *metric.bootstrap_coverage)
        for id_, metric in METRICS.items()
        if metric.bootstrap_coverage
    }
    own = [id_ for id_ in held if id_ in metric_ids] or list(held)
    told = [
        f"{least} to {most} % of data sets for {name}" for name, least, most in (held[id_] for id_ in own)
    ]
    return f"In simulations such intervals held the truth in {', in '.join(told)}."


def wilson_interval(
    n_correct: NDArray[np.int64] | NDArray[np.float64],
    n: NDArray[np.int64] | NDArray[np.float64],
    design_effect: float = 1.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end of the 95 % interval of each share correct/count.

    correct, count: numbers of shape (n,), whole but where rows hang together (`trials.worth`), 0 ≤ correct ≤
    count, count ≥ 1; alike: how many rows may say the same (`trials.alike`), so that so many times fewer are
    counted, though no fewer than one. Wilson (1927), score interval without continuity correction.
    """
    share, rows = n_correct / n, np.maximum(n / design_effect, 1.0)
    shrink = 1 + Z_975**2 / rows
    centre = (share + Z_975**2 / (2 * rows)) / shrink
    half = Z_975 / shrink * np.sqrt(share * (1 - share) / rows + (Z_975 / (2 * rows)) ** 2)
    low = np.where(n_correct == 0, 0.0, centre - half)
    high = np.where(n_correct == n, 1.0, centre + half)
    return low, high

"""How far may the accuracy of a bin be from the share seen in it?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Z_95: Final = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def wilson(
    correct: NDArray[np.int64] | NDArray[np.float64], count: NDArray[np.int64] | NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end of the 95 % interval of each share correct/count.

    correct, count: numbers of shape (n,), whole but where rows hang together (`trials.worth`), 0 ≤ correct ≤
    count, count ≥ 1. Wilson (1927),
    score interval without continuity correction.
    """
    share = correct / count
    shrink = 1 + Z_95**2 / count
    centre = (share + Z_95**2 / (2 * count)) / shrink
    half = Z_95 / shrink * np.sqrt(share * (1 - share) / count + (Z_95 / (2 * count)) ** 2)
    low = np.where(correct == 0, 0.0, centre - half)
    high = np.where(correct == count, 1.0, centre + half)
    return low, high

"""Do two numbers of several models rise and fall together?  Spearman's ρ with what its few models allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL

MIN_POINTS: Final = 3
"""Of two points any line is a perfect one."""

MAX_EXACT_POINTS: Final = 8
"""Up to so many points every one of the n! orders is looked at; beyond, DRAWS of them."""

N_PERMUTATIONS: Final = 9999


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's ρ of n points.

    rho: in [-1, 1]; low, high: ends of its 95 % interval; p: share of the orders of one side in which |ρ| is
    at least as large, in (0, 1]; n: points; how: what interval and p are, in words.
    """

    rho: float
    low: float
    high: float
    p: float
    n_points: int
    procedure: str

    @property
    def significant(self) -> bool:
        """Whether both say that it is more than chance: p ≤ CLEAR, and 0 lies outside the interval."""
        return self.p <= SIGNIFICANCE_LEVEL and not self.low <= 0 <= self.high


def rank_correlation(x: Sequence[float], y: Sequence[float], *, seed: int = 0) -> RankCorrelation:
    """Spearman's rank correlation: Pearson's of the ranks, tied values sharing their mean rank.

    x, y: finite numbers, one a point, of one length. p: permutation test, exact for n ≤ 8, else
    (1 + #≥)/(1 + draws). Interval: Fisher's z with the standard error of Bonett & Wright (2000) and
    Student's t of n − 2 degrees of freedom, [-1, 1] for n = 3; in 8,000 simulated samples of 4 to 40 points
    it held ρ in 95 % to 100 % up to ρ = 0.95, and in 86 % or more at 0.99. Raises Unavailable, saying why,
    for fewer than 3 points and where one side does not vary.
    """
    n = len(x)
    if n < MIN_POINTS:
        points = "1 point" if n == 1 else f"{n} points"
        raise Unavailable(f"{points}: a rank correlation needs {MIN_POINTS} or more.")
    first, second = _scaled_centred_ranks(x), _scaled_centred_ranks(y)
    spread = int(first @ first) * int(second @ second)
    if not spread:
        raise Unavailable(f"all {n} points have the same value on one side.")
    observed = int(first @ second)
    rho = observed / math.sqrt(spread)
    p, orders = _permutation_p_value(first, second, abs(observed), seed)
    low, high = _fisher_z_interval(rho, n)
    how = f"Spearman ρ, 95 % interval by Fisher z (Bonett–Wright, t), permutation p of {orders}"
    return RankCorrelation(max(-1.0, min(1.0, rho)), low, high, p, n, how)


def _scaled_centred_ranks(values: Sequence[float]) -> NDArray[np.int64]:
    """2n·(rank − mean rank) of each value, ties sharing their mean rank: whole numbers, shape (n,)."""
    _, place, times = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    up_to_here = np.cumsum(times)
    doubled = (2 * up_to_here - times + 1)[place]  # 2 · mean rank
    return (doubled * doubled.size - doubled.sum()).astype(np.int64)


def _permutation_p_value(
    first: NDArray[np.int64], second: NDArray[np.int64], observed: int, seed: int
) -> tuple[float, str]:
    """Share of orders with |Σ| ≥ observed, compared in whole numbers, and which orders they are."""
    n = first.size
    if n <= MAX_EXACT_POINTS:
        orders = np.array(list(permutations(range(n))), np.intp)
        reached = np.abs(second[orders] @ first) >= observed
        return float(np.count_nonzero(reached)) / reached.size, f"all {reached.size:,} orders"
    random = np.random.default_rng(seed)
    orders = random.permuted(np.tile(second, (N_PERMUTATIONS, 1)), axis=1)
    reached = np.abs(orders @ first) >= observed
    p = (1 + int(np.count_nonzero(reached))) / (1 + N_PERMUTATIONS)
    return p, f"{N_PERMUTATIONS:,} random orders, seed {seed}"


def _fisher_z_interval(rho: float, n: int) -> tuple[float, float]:
    """Fisher's z with the standard error of Bonett & Wright (2000, doi:10.1007/BF02294183)."""
    if n <= MIN_POINTS:
        return -1.0, 1.0
    nearest = 1 - 6 / (n**3 - n)  # halfway between a perfect order and the next one
    z = math.atanh(max(-nearest, min(nearest, rho)))
    from scipy.special import stdtrit  # noqa: PLC0415 - imported where few runs come by

    half = float(stdtrit(n - 2, 0.975)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    low, high = math.tanh(z - half), math.tanh(z + half)
    return (-1.0 if rho <= -nearest else low), (1.0 if rho >= nearest else high)

"""Do two numbers rise and fall together over several models? Spearman's ρ, for few models."""

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
"""Two points always correlate perfectly."""

MAX_EXACT_POINTS: Final = 8
"""Up to this many points the permutation test is exact, over all n! orders."""

N_PERMUTATIONS: Final = 9999
"""Number of random orders for more points."""


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's ρ with its interval and p-value.

    Attributes
    ----------
    rho : float
        Rank correlation, in [−1, 1].
    low, high : float
        Ends of the 95 % interval.
    p : float
        Share of the permutations of one variable with a |ρ| at least as large, in (0, 1].
    n_points : int
        Number of points.
    procedure : str
        How interval and p-value were computed, in words.
    """

    rho: float
    low: float
    high: float
    p: float
    n_points: int
    procedure: str

    @property
    def significant(self) -> bool:
        """Whether p ≤ 0.05 and the interval excludes 0."""
        return self.p <= SIGNIFICANCE_LEVEL and not self.low <= 0 <= self.high


def rank_correlation(x: Sequence[float], y: Sequence[float], *, seed: int = 0) -> RankCorrelation:
    """Spearman's rank correlation, where tied values share their mean rank.

    Parameters
    ----------
    x, y : sequence of float
        Finite numbers, one per point; the same length.
    seed : int
        Seed of the random permutations, used for more than 8 points.

    Raises
    ------
    Unavailable
        If there are fewer than 3 points, or all values on one side are equal.

    Notes
    -----
    The p-value is that of a permutation test: exact for n ≤ 8, otherwise (1 + #≥)/(1 + draws). The interval
    uses Fisher's z with the standard error of Bonett & Wright and the quantile of Student's t with n − 2
    degrees of freedom; for n = 3 it is [−1, 1]. In 8,000 simulated samples of 4 to 40 points its coverage was
    95 % to 100 % up to ρ = 0.95, and at least 86 % at ρ = 0.99.

    References
    ----------
    Bonett & Wright (2000), doi:10.1007/BF02294183.
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
    procedure = f"Spearman ρ, 95 % interval by Fisher z (Bonett–Wright, t), permutation p of {orders}"
    return RankCorrelation(max(-1.0, min(1.0, rho)), low, high, p, n, procedure)


def _scaled_centred_ranks(values: Sequence[float]) -> NDArray[np.int64]:
    """2n·(rank − mean rank) of each value, which is a whole number even for ties; shape (n,)."""
    _, level, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    doubled_ranks = (2 * np.cumsum(counts) - counts + 1)[level]
    return (doubled_ranks * doubled_ranks.size - doubled_ranks.sum()).astype(np.int64)


def _permutation_p_value(
    first: NDArray[np.int64], second: NDArray[np.int64], observed: int, seed: int
) -> tuple[float, str]:
    """Share of permutations with |Σ| ≥ observed, compared in whole numbers, and a phrase naming them."""
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
    """Ends of the 95 % interval by Fisher's z, with the standard error of Bonett & Wright."""
    if n <= MIN_POINTS:
        return -1.0, 1.0
    nearest = 1 - 6 / (n**3 - n)  # halfway between a perfect order and the next one
    z = math.atanh(max(-nearest, min(nearest, rho)))
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import, and rarely needed

    half = float(stdtrit(n - 2, 0.975)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    low, high = math.tanh(z - half), math.tanh(z + half)
    return (-1.0 if rho <= -nearest else low), (1.0 if rho >= nearest else high)

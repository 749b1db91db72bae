"""How far may a sum of absolute values, such as ECE, be from its true value?

ECE is Σ_b |m_b| with m_b = S_b/n, where S_b is the sum of c − y in bin b. The absolute value has a kink at
0, where the bootstrap is biased. The directional delta method replaces the derivative by the directional
one: a bin whose gap is clearly not 0 contributes ± e_b to the error, any other |e_b|, with e normally
distributed.

References
----------
Fang & Santos (2019), "Inference on directionally differentiable functions", doi:10.1093/restud/rdy049.
Andrews & Soares (2010), doi:10.3982/ECTA7502, for κ = √ln n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.inference.intervals import Z_975
from calib_core.wording import ROUNDING_TOLERANCE

DIRECTIONAL_DRAWS: Final = 1999
"""Number of draws from the normal distribution."""

DIRECTIONAL_SEED: Final = 0
"""Default seed."""

DIFFERENCE_DRAWS: Final = 4000
"""Number of draws for differences, which all pairs share."""

NULL_LEVEL: Final = 0.025
"""The lower end is 0 unless the p-value of calibration is at most this."""

MAX_UNSHARED_PRODUCT: Final = 2**18
"""Multiplications of a product of matrices up to which BLAS leaves it to one thread."""

MIN_DRAWS_AT_ONCE: Final = 64
"""Draws of fewer bins than let so many be made at once are made in parts, so that no threads share a product:
where other programs keep the processor busy, these wait for one another longer than they compute."""

MAX_DIRECTIONAL_BINS: Final = 2000
"""With more occupied bins than this their covariance is too large to compute."""


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The pairs of one metric.

    Attributes
    ----------
    gap : NDArray[np.float64], shape (pairs,)
        c − y of each pair, times its weight if the metric has weights.
    bin : NDArray[np.intp], shape (pairs,)
        Occupied bin of each pair, numbered from 0.
    cluster : NDArray[np.intp], shape (pairs,)
        Cluster of each pair, numbered from 0.
    divisor : float
        The metric's divisor, in equal parts for each pair or in parts like its weight.
    weight : NDArray[np.float64] or None, shape (pairs,)
        Weight of each pair, which `gap` has as a factor; None where all count alike.
    """

    gap: NDArray[np.float64]
    bin: NDArray[np.intp]
    cluster: NDArray[np.intp]
    divisor: float
    weight: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BinMeans:
    """The gaps of the bins as means over clusters, with their covariance.

    Attributes
    ----------
    mean : NDArray[np.float64], shape (bins,)
        m_b; the metric is Σ |m_b|.
    covariance : NDArray[np.float64], shape (bins, bins)
        Estimated covariance of `mean`.
    n_clusters : int
        Number of independent units, rows or clusters.
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    n_clusters: int

    @classmethod
    def from_bins(cls, binned: Binned) -> BinMeans:
        """The means of independent pairs, each of which lies in one bin; at least two pairs.

        Variances are those of (c − y)·1[pair in b], whose squares sum to Σ c² − 2 Σ c·y + Σ y.
        """
        n = int(binned.count.sum())
        mean = (binned.confidence - binned.correct) / n
        squares = binned.squared_confidence - 2 * binned.correct_confidence + binned.correct
        covariance = (np.diag(np.maximum(squares, 0.0)) / n - np.outer(mean, mean)) / (n - 1)
        return cls(mean, covariance, n)


def joint_bin_means(parts: Sequence[Gaps], cluster_count: int) -> BinMeans:
    """The gaps of the bins of one metric or several over the same clusters, with their joint covariance.

    Parameters
    ----------
    parts : sequence of Gaps
        One for each metric; their bins follow one another in the result. All pairs of a row share a cluster.
    cluster_count : int
        Number of clusters, at least two.

    Notes
    -----
    A metric is a ratio whose divisor grows with the clusters drawn, so that cluster q contributes
    s_qb − m_b·w_q to bin b, where s_qb sums its gaps over the divisor and w_q is its share of the pairs of
    that metric.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    n_bins = [int(part.bin.max()) + 1 for part in parts]
    first = np.cumsum([0, *n_bins])
    gap = np.concatenate([part.gap / part.divisor for part in parts])
    cluster = np.concatenate([part.cluster for part in parts])
    bin_ = np.concatenate([part.bin + start for part, start in zip(parts, first[:-1], strict=True)])
    by_cluster = csr_array((gap, (cluster, bin_)), shape=(cluster_count, first[-1]))
    mean = np.bincount(bin_, gap, minlength=first[-1]).astype(np.float64)
    weight = np.column_stack(
        [
            np.bincount(part.cluster, part.weight, minlength=cluster_count)
            / (part.cluster.size if part.weight is None else part.weight.sum())
            for part in parts
        ]
    )
    of_bin = np.repeat(np.arange(len(parts)), n_bins)
    cross = mean[:, None] * np.asarray((by_cluster.T @ weight).T)[of_bin]
    products = np.asarray((by_cluster.T @ by_cluster).toarray())
    weights = (weight.T @ weight)[np.ix_(of_bin, of_bin)]
    centred = products - cross - cross.T + weights * np.outer(mean, mean)
    return BinMeans(mean, centred * (cluster_count / (cluster_count - 1)), cluster_count)


def directional_interval(
    bins: BinMeans,
    null_p: float,
    maximum: float | None,
    *,
    n_draws: int = DIRECTIONAL_DRAWS,
    seed: int = DIRECTIONAL_SEED,
) -> tuple[float, float]:
    """Ends of the 95 % interval of Σ |m_b|, which always contains Σ |m_b| itself.

    Parameters
    ----------
    bins : BinMeans
        The gaps of the bins, at most `MAX_DIRECTIONAL_BINS`.
    null_p : float
        p-value of calibration from the metric's null distribution. The lower end is 0 unless it is at most
        `NULL_LEVEL`, since the normal approximation alone excludes 0 too often for few rows.
    maximum : float or None
        Largest possible value of the metric; None if there is none.
    n_draws, seed : int
        Number and seed of the draws.

    Notes
    -----
    With e ~ N(0, Σ̂) and κ = √ln(clusters), the lower end is the value less the 97.5 % quantile of
    Σ_{|m_b| > κ·se_b} sgn(m_b)·e_b + Σ_{other b} |e_b|. The upper end is the value less the 2.5 % quantile of
    Σ_b sgn(m_b)·e_b, which is normal.
    """
    value = float(np.abs(bins.mean).sum())
    sign = np.where(bins.mean < 0, -1.0, 1.0)  # a gap of exactly 0 varies, too
    deviation = math.sqrt(max(0.0, float(sign @ bins.covariance @ sign)))
    high = value + Z_975 * deviation
    if maximum is not None:
        high = max(value, min(high, maximum))
    if null_p > NULL_LEVEL:
        return 0.0, high
    standard_error = np.sqrt(np.maximum(np.diag(bins.covariance), 0.0))
    clear = np.abs(bins.mean) > math.sqrt(math.log(bins.n_clusters)) * standard_error
    errors = _normal_draws(bins.covariance, n_draws, seed)
    total = errors[:, clear] @ sign[clear] + np.abs(errors[:, ~clear]).sum(axis=1)
    low = value - float(np.quantile(total, 0.975))
    return min(max(low, 0.0), value), high


def directional_contrasts(
    bins: BinMeans,
    weights: NDArray[np.float64],
    *,
    n_draws: int = DIFFERENCE_DRAWS,
    seed: int = DIRECTIONAL_SEED,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The 95 % intervals and p-values of Σ w_b |m_b|, such as differences of two ECEs.

    Parameters
    ----------
    bins : BinMeans
        The gaps of the bins of all metrics together, at most `MAX_DIRECTIONAL_BINS`, with their joint
        covariance.
    weights : NDArray[np.float64], shape (contrasts, bins)
        w_b of each contrast: above 0 for the bins of a metric that is added, below 0 for those of one that is
        subtracted, 0 for all others.
    n_draws, seed : int
        Number and seed of the draws, which all contrasts share.

    Returns
    -------
    low, high : NDArray[np.float64], shape (contrasts,)
        Ends of the intervals, which hold Σ w_b |m_b|.
    p : NDArray[np.float64], shape (contrasts,)
        Two-sided p-values of 0, at most .05 where the interval does not hold 0.

    Notes
    -----
    With e ~ N(0, Σ̂), a bin that is clearly not 0 errs by w_b·sgn(m_b)·e_b. Any other bin errs by at most
    w_b·|e_b| at the lower end if w_b > 0, and at the upper end if w_b < 0, as noise makes each |m_b| too
    large; at the other end by w_b·sgn(m_b)·e_b, as in `directional_interval`.

    p is twice the share of draws whose error is as large as the value, and at least that of a normal
    distribution with the mean and the outer quantile of the draws: draws alone would show 0.
    """
    value = weights @ np.abs(bins.mean)
    least, most = _error_bounds(bins, n_draws, seed)
    added, subtracted = np.maximum(weights, 0.0).T, np.minimum(weights, 0.0).T
    upward = most @ added + least @ subtracted
    downward = least @ added + most @ subtracted
    highest, lowest = np.quantile(upward, 0.975, axis=0), np.quantile(downward, 0.025, axis=0)
    p = np.minimum(_upper_p_values(value, upward, highest), _upper_p_values(-value, -downward, -lowest))
    return np.minimum(value, value - highest), np.maximum(value, value - lowest), p


def _upper_p_values(
    value: NDArray[np.float64], errors: NDArray[np.float64], quantile: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Two-sided p of each value being this large, shape (contrasts,).

    `errors`, shape (n_draws, contrasts), are draws of its error, and `quantile` their 97.5 % quantiles.
    """
    from scipy.special import erfc  # noqa: PLC0415 - slow to import

    mean = errors.mean(axis=0)
    spread = quantile - mean
    varies = spread > ROUNDING_TOLERANCE
    z = Z_975 * (value - mean) / np.where(varies, spread, 1.0)
    tail = np.asarray(erfc(z / math.sqrt(2)), np.float64)
    normal = np.where(varies, tail, value <= ROUNDING_TOLERANCE)
    drawn = 2 * (errors >= value - ROUNDING_TOLERANCE).mean(axis=0)
    return np.minimum(np.maximum(normal, drawn), 1.0)


def _error_bounds(bins: BinMeans, n_draws: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest error of each |m_b| in every draw, both of shape (n_draws, bins)."""
    errors = _normal_draws(bins.covariance, n_draws, seed)
    least = errors * np.sign(bins.mean)
    standard_error = np.sqrt(np.maximum(np.diag(bins.covariance), 0.0))
    clear = np.abs(bins.mean) > math.sqrt(math.log(bins.n_clusters)) * standard_error
    return least, np.where(clear, least, np.abs(errors))


def _normal_draws(covariance: NDArray[np.float64], n_draws: int, seed: int) -> NDArray[np.float64]:
    """Draws from N(0, covariance), shape (n_draws, bins)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = np.random.default_rng(seed).standard_normal((n_draws, values.size))
    at_once = MAX_UNSHARED_PRODUCT // max(values.size**2, 1)
    if at_once < MIN_DRAWS_AT_ONCE:
        return normal @ root.T
    return np.concatenate([normal[at : at + at_once] @ root.T for at in range(0, n_draws, at_once)])

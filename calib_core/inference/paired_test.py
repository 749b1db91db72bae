"""Is one value really larger than another, when both stand on the same questions?

A value that is a smooth function of means errs by about the mean of its influence function. Of two values on
the same rows, what makes both err alike cancels in the difference of their influences, question by question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.clusters import effective_clusters, sum_variance
from calib_core.wording import ROUNDING_TOLERANCE

MIN_COMMON_QUESTIONS: Final = 30
"""With fewer questions in common no difference is tested, and nobody is best (benchmarks/paired.md)."""

_CANCELLATION_LIMIT: Final = 1e-6
"""A squared distance of less than this share of the squares it is made of is summed term by term."""

MIN_QUESTIONS_OVER_BINS: Final = 60
"""With fewer, the difference of a sum of |gap| over bins has no interval and no p-value: with 30 it held the
truth in 90 % of 600 simulated data sets, with 60 in 94 % or more (benchmarks/interval_coverage.md)."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A difference on common questions.

    Attributes
    ----------
    difference : float
        First minus second.
    low, high : float
        Its 95 % interval, which contains it.
    p : float
        Two-sided, of the difference being 0; in [0, 1].
    n_rows, n_clusters : int
        Number of common rows, and of independent questions among them.
    """

    difference: float
    low: float
    high: float
    p: float
    n_rows: int
    n_clusters: int


@dataclass(frozen=True, slots=True, eq=False)
class PairedTests:
    """`PairedTest` of many pairs, as columns: arrays of shape (pairs,)."""

    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    n_rows: NDArray[np.intp]


def paired_test(
    difference: float,
    influence: NDArray[np.float64],
    cluster: NDArray[np.intp] | None = None,
    weight: NDArray[np.float64] | None = None,
    *,
    one_more: float = 0.0,
) -> PairedTest:
    """Tests a difference by Student's t over the sums of its influences by question.

    Parameters
    ----------
    difference : float
        First minus second.
    influence : NDArray[np.float64], shape (n,)
        Influence of each common row on the first value minus that on the second, times its weight over the
        mean weight; the mean is 0.
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each row; None if each row is a question of its own.
    weight : NDArray[np.float64] or None, shape (n,)
        Weight of each row, above 0, whose sum counts as the size of a question; None if all count alike.
    one_more : float
        Influence of a row of one more question, as if half of it spoke for the first and half for the
        second: few questions on which two accurate models differ would otherwise look like too sure an
        estimate.

    Returns
    -------
    PairedTest

    Raises
    ------
    ValueError
        With fewer than two questions.

    Notes
    -----
    The standard error is √(V + G/(G − 1)·(w·n/G)²)/n, where V is the `sum_variance` of the sums s_q of
    the influences of each question q among G, which is G/(G − 1) Σ s_q² for questions of one size, and w is
    `one_more` for each of the n/G rows of an average question; t has one degree of freedom less than there
    are `effective_clusters`, here by weight. Where every row moves the difference alike, the
    standard error is 0 and p is 1 for no difference, otherwise 2^(1 − G), that of the sign test.

    References
    ----------
    The added question: Agresti & Min (2005), doi:10.1002/sim.1781, for two paired shares.

    Examples
    --------
    >>> test = paired_test(0.1, np.array([0.2, -0.2, 0.1, -0.1]))
    >>> round(test.low, 3), round(test.high, 3), round(test.p, 3)
    (-0.191, 0.391, 0.353)
    """
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import, and rarely needed

    sums, share, effective = influence, np.full(influence.size, 1 / max(influence.size, 1)), influence.size
    if cluster is not None or weight is not None:
        of_row = np.arange(influence.size)
        if cluster is not None:
            _, of_row = np.unique(cluster, return_inverse=True)
        sums = np.bincount(of_row, influence).astype(np.float64)
        share = np.bincount(of_row, weight) / (influence.size if weight is None else weight.sum())
        effective = effective_clusters(of_row, weight)
    n_clusters = sums.size
    if n_clusters < 2:
        raise ValueError("a paired difference needs at least two questions")
    added = one_more * influence.size / n_clusters
    variance = sum_variance(sums, share) + n_clusters / (n_clusters - 1) * (added * added)
    error = math.sqrt(variance) / influence.size
    freedom = effective - 1
    if error <= ROUNDING_TOLERANCE:
        p = 1.0 if abs(difference) <= ROUNDING_TOLERANCE else float(2.0 ** (1 - n_clusters))
    else:
        p = float(2 * stdtr(freedom, -abs(difference) / error))
    half = _t_quantile(freedom) * error
    return PairedTest(difference, difference - half, difference + half, p, influence.size, n_clusters)


def paired_tests(
    difference: NDArray[np.float64], squares: NDArray[np.float64], one_more: NDArray[np.float64], n: int
) -> PairedTests:
    """Return what `paired_test` gives for many pairs of the same questions, none of which is repeated.

    Parameters
    ----------
    difference : NDArray[np.float64], shape (pairs,)
        First minus second.
    squares : NDArray[np.float64], shape (pairs,)
        Sum of the squared differences of the influences, question by question.
    one_more : NDArray[np.float64], shape (pairs,)
    n : int
        Number of questions.
    """
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import, and rarely needed

    error = np.sqrt(n / (n - 1) * (squares + one_more**2)) / n
    is_constant = error <= ROUNDING_TOLERANCE
    p_of_constant = np.where(np.abs(difference) <= ROUNDING_TOLERANCE, 1.0, 2.0 ** (1 - n))
    with np.errstate(divide="ignore", invalid="ignore"):
        p_of_t = 2 * np.asarray(stdtr(n - 1, -np.abs(difference) / error), np.float64)
    p = np.where(is_constant, p_of_constant, p_of_t)
    half = _t_quantile(n - 1) * error
    return PairedTests(difference, difference - half, difference + half, p, np.full(p.size, n))


def squared_distances(influence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the squared differences of each two rows, for `paired_tests`.

    Parameters
    ----------
    influence : NDArray[np.float64], shape (rows, n)

    Returns
    -------
    NDArray[np.float64], shape (rows, rows)
        Exact to ten digits, and the same bits for rows that are equal.

    Examples
    --------
    >>> squared_distances(np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 1.0]])).tolist()
    [[0.0, 0.0, 5.0], [0.0, 0.0, 5.0], [5.0, 5.0, 0.0]]
    """
    rows, place = np.unique(influence, axis=0, return_inverse=True)
    products = rows @ rows.T
    both = np.add.outer(products.diagonal(), products.diagonal())
    squares = both - 2 * products
    first, second = np.nonzero(squares <= _CANCELLATION_LIMIT * both)
    squares[first, second] = ((rows[first] - rows[second]) ** 2).sum(axis=1)
    return squares[np.ix_(place, place)]


@lru_cache(maxsize=1024)
def _t_quantile(freedom: float) -> float:
    """The 97.5 % quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import, and rarely needed

    return float(stdtrit(freedom, 0.975))

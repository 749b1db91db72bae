"""At equal confidence, is one group of rows right more often than the other rows?

The rows are cut into strata of nearly equal confidence. Within a stratum, a group that differs in nothing but
its name is a random part of the rows, so that its right answers follow a hypergeometric distribution. The
strata are summed as Cochran, Mantel and Haenszel do it. Nothing is assumed about the run's own curve of
accuracy over confidence: a group differs only if it departs from the curve of the other rows. The test sees
whether a group is right more or less often, not whether its confidences are more spread out.

References
----------
Mantel & Haenszel (1959), doi:10.1093/jnci/22.4.719. Variance of the difference: Sato, "On the variance
estimator for the Mantel-Haenszel risk difference", Biometrics 45 (1989), doi:10.2307/2531784. Intervals of
groups that are chosen because they are clear: Benjamini & Yekutieli (2005), "False discovery rate-adjusted
multiple confidence intervals for selected parameters", doi:10.1198/016214504000001907.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Floats
from calib_core.inference.cluster_draws import residual_correlation
from calib_core.inference.intervals import Z_975
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import MIN_ROWS, SIGNIFICANCE_LEVEL

ROWS_PER_STRATUM: Final = 50
"""Rows of a stratum, about; between `MIN_STRATA` and `MAX_STRATA` are made."""

MIN_STRATA: Final = 5
MAX_STRATA: Final = 100

MIN_NORMAL_INFORMATION: Final = 25.0
"""With a smaller variance of the number of right answers than this, the p-value is that of the exact
distribution where it may matter (up to `MAX_APPROXIMATE_P`)."""

MAX_APPROXIMATE_P: Final = 0.2
"""Above this, the normal approximation of a p-value is not replaced by the exact one."""

_NEGLIGIBLE: Final = 1e-18
"""Probabilities below this at the ends of a distribution are dropped."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupDifferences:
    """How much more often groups are right than the other rows, at equal confidence.

    Attributes
    ----------
    difference : NDArray[np.float64], shape (groups,)
        Accuracy of the group minus that of the other rows, averaged over the strata, in [−1, 1]; NaN if no
        stratum holds rows of both.
    low, high : NDArray[np.float64], shape (groups,)
        Ends of its 95 % interval, cut to [−1, 1].
    p : NDArray[np.float64], shape (groups,)
        Two-sided p-value of no difference, in [0, 1]; NaN where the difference is.
    error : NDArray[np.float64], shape (groups,)
        Standard error behind the interval.
    """

    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    error: NDArray[np.float64]

    def of_family(self) -> tuple[GroupDifferences, NDArray[np.float64]]:
        """The differences with p-values and intervals that agree with their q-values, and these.

        Returns
        -------
        differences : GroupDifferences
            An interval leaves out 0 where q ≤ .05, and nowhere else.
        q : NDArray[np.float64], shape (groups,)
            Benjamini–Hochberg over these groups; none is NaN.

        Notes
        -----
        With R of m groups clear, intervals have the level 1 − .05 max(R, 1) / m. Of the clear groups, 5 %
        miss the truth on average, as 5 % of them differ by chance. No p-value is below that of the interval's
        own standard error, so that the two cannot say different things.
        """
        from scipy.special import ndtri  # noqa: PLC0415 - slow to import

        p = np.maximum(self.p, _normal_p_values(self.difference, self.error**2))
        q = np.array(benjamini_hochberg(p.tolist()), np.float64)
        clear = q <= SIGNIFICANCE_LEVEL
        level = SIGNIFICANCE_LEVEL * max(int(clear.sum()), 1) / max(q.size, 1)
        low, high = _interval(self.difference, -float(ndtri(level / 2)) * self.error, clear)
        return GroupDifferences(self.difference, low, high, p, self.error), q


def confidence_strata(confidence: Floats) -> NDArray[np.intp]:
    """Stratum of each row, from 0: about `ROWS_PER_STRATUM` rows each, and equal confidences together.

    Parameters
    ----------
    confidence : float array, shape (n,)
        Confidences in [0, 1].

    Examples
    --------
    >>> confidence_strata(np.array([0.9, 0.1, 0.9, 0.5, 0.3])).tolist()
    [3, 0, 3, 2, 1]
    """
    if not confidence.size:
        return np.zeros(0, np.intp)
    n_strata = min(MAX_STRATA, max(MIN_STRATA, confidence.size // ROWS_PER_STRATUM))
    places = np.arange(1, n_strata) * confidence.size // n_strata
    edges = np.unique(np.partition(confidence, places)[places])
    place = np.searchsorted(edges, confidence, side="right")
    occupied = np.bincount(place) > 0
    return (np.cumsum(occupied) - 1)[place].astype(np.intp)


def compare_groups(
    stratum: NDArray[np.intp],
    correct: NDArray[np.bool_],
    group: NDArray[np.integer],
    n_groups: int,
    cluster: NDArray[np.intp] | None = None,
) -> tuple[NDArray[np.int64], GroupDifferences]:
    """Compare each group that has rows enough with all rows outside it, at equal confidence.

    Parameters
    ----------
    stratum : NDArray[np.intp], shape (n,)
        As from `confidence_strata`.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    group : integer array, shape (n,)
        Group of each row, from 0; `n_groups` stands for none.
    n_groups : int
        Number of groups.
    cluster : NDArray[np.intp], shape (n,), optional
        Question of each row, numbered from 0; None if the rows are independent.

    Returns
    -------
    count : NDArray[np.int64], shape (n_groups,)
        Number of rows of each group.
    differences : GroupDifferences
        NaN for a group with fewer than `MIN_ROWS` rows, or questions, in it or outside it.
    """
    total, total_correct = np.bincount(stratum), np.bincount(stratum, correct).astype(np.int64)
    count, n_correct = stratum_counts(stratum, correct, group, n_groups)
    size = count.sum(axis=1)
    enough = (size >= MIN_ROWS) & (correct.size - size >= MIN_ROWS)
    inflation = None
    if cluster is not None and enough.any():
        enough &= _have_questions_enough(group, n_groups, cluster)
        inflation = cluster_inflation(stratum, correct, group, n_groups, cluster)[enough]
    tested = np.flatnonzero(enough)
    found = group_differences(count[tested], n_correct[tested], total, total_correct, inflation)

    def spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
        placed = np.full(n_groups, np.nan)
        placed[tested] = values
        return placed

    values = (found.difference, found.low, found.high, found.p, found.error)
    return size, GroupDifferences(*map(spread, values))


def _have_questions_enough(
    group: NDArray[np.integer], n_groups: int, cluster: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether the rows of each group, and the others, ask at least `MIN_ROWS` questions each."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    rows, of_question = np.flatnonzero(group < n_groups), np.bincount(cluster)
    inside = csr_array(
        (np.ones(rows.size, np.int64), (group[rows].astype(np.intp), cluster[rows])),
        shape=(n_groups, of_question.size),
    ).tocoo()
    n_inside = np.bincount(inside.row, minlength=n_groups)
    # A question is outside a group too, unless the group has all its rows.
    is_whole = inside.data == of_question[inside.col]
    n_outside = np.count_nonzero(of_question) - np.bincount(inside.row[is_whole], minlength=n_groups)
    return np.minimum(n_inside, n_outside) >= MIN_ROWS


def stratum_counts(
    stratum: NDArray[np.intp], correct: NDArray[np.bool_], group: NDArray[np.integer], n_groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of rows, and of right ones, in each group and stratum.

    Parameters
    ----------
    stratum : NDArray[np.intp], shape (n,)
        As from `confidence_strata`.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    group : integer array, shape (n,)
        Group of each row, from 0 to n_groups; `n_groups` stands for none.
    n_groups : int
        Number of groups.

    Returns
    -------
    count, n_correct : NDArray[np.int64], shape (n_groups, strata)
    """
    n_strata = int(stratum.max(initial=-1)) + 1
    key = (group.astype(np.int64) * n_strata + stratum) * 2 + correct
    cells = np.bincount(key, minlength=(n_groups + 1) * n_strata * 2)
    by_outcome = cells[: n_groups * n_strata * 2].reshape(n_groups, n_strata, 2)
    return by_outcome.sum(axis=2), by_outcome[:, :, 1]


def group_differences(
    count: NDArray[np.int64],
    n_correct: NDArray[np.int64],
    total: NDArray[np.int64],
    total_correct: NDArray[np.int64],
    inflation: NDArray[np.float64] | None = None,
) -> GroupDifferences:
    """Compare each group with all rows outside it, at equal confidence.

    Parameters
    ----------
    count, n_correct : NDArray[np.int64], shape (groups, strata)
        As from `stratum_counts`.
    total, total_correct : NDArray[np.int64], shape (strata,)
        The same of all rows, in or out of any group.
    inflation : NDArray[np.float64], shape (groups,), optional
        Factor on the variance, as from `cluster_inflation`; 1 for independent rows.

    Notes
    -----
    In stratum b with n rows, of which a are right, a group of m rows has m·a/n right ones on average under
    the null hypothesis, with variance m(n − m)a(n − a)/(n²(n − 1)). The p-value is that of the normal
    distribution, or, where the variance is below `MIN_NORMAL_INFORMATION`, twice the smaller tail of the
    exact distribution, a sum of hypergeometric variables; for clusters, the larger of the two. The interval
    has Sato's variance, or that of the null hypothesis if it is larger, since Sato's is too small where
    answers are few or nearly all right; it contains 0 wherever p is above .05.
    """
    others, others_correct = total - count, total_correct - n_correct
    n = np.maximum(total, 1).astype(np.float64)
    weight = count * others / n
    excess = (n_correct - count * total_correct / n).sum(axis=1)
    variance = (weight * total_correct * (total - total_correct) / (n * np.maximum(total - 1, 1))).sum(axis=1)
    total_weight = weight.sum(axis=1)
    comparable = total_weight > 0
    safe_weight = np.where(comparable, total_weight, 1.0)
    difference = np.where(comparable, excess / safe_weight, np.nan)
    factor = np.ones_like(variance) if inflation is None else inflation
    sato_p = (
        count**2 * others_correct - others**2 * n_correct + count * others * (others - count) / 2
    ) / n**2
    sato_q = (n_correct * (others - others_correct) + others_correct * (count - n_correct)) / (2 * n)
    squared_error = np.maximum(difference * sato_p.sum(axis=1) + sato_q.sum(axis=1), 0.0) / safe_weight**2
    squared_error = np.maximum(squared_error, variance / safe_weight**2)
    error = np.sqrt(squared_error * factor)
    p = _normal_p_values(excess, variance * factor)
    for place in np.flatnonzero((variance < MIN_NORMAL_INFORMATION) & (p <= MAX_APPROXIMATE_P)):
        exact = _exact_p_value(count[place], int(n_correct[place].sum()), total, total_correct)
        p[place] = exact if inflation is None else max(exact, p[place])
    low, high = _interval(difference, Z_975 * error, ~comparable | (p <= SIGNIFICANCE_LEVEL))
    return GroupDifferences(difference, low, high, np.where(comparable, p, np.nan), error)


def _interval(
    difference: NDArray[np.float64], half_width: NDArray[np.float64], is_clear: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of intervals, cut to [−1, 1], which hold 0 where the difference is not clear."""
    low, high = np.maximum(difference - half_width, -1.0), np.minimum(difference + half_width, 1.0)
    return np.where(is_clear, low, np.minimum(low, 0.0)), np.where(is_clear, high, np.maximum(high, 0.0))


def cluster_inflation(
    stratum: NDArray[np.intp],
    correct: NDArray[np.bool_],
    group: NDArray[np.integer],
    n_groups: int,
    cluster: NDArray[np.intp],
) -> NDArray[np.float64]:
    """How much larger the variance of each group's right answers is than that of independent rows.

    Parameters
    ----------
    stratum, correct, group, n_groups
        As in `stratum_counts`.
    cluster : NDArray[np.intp], shape (n,)
        Cluster of each row, for example its question, numbered from 0.

    Returns
    -------
    NDArray[np.float64], shape (n_groups,)
        Near 1 if outcomes within clusters are alike by chance only, or if groups cut through clusters.

    Notes
    -----
    With z_i = 1[i in group] − m_b/n_b and v_i = a_b(n_b − a_b)/n_b², it is
    1 − ρ + ρ Σ_q (Σ_{i∈q} z_i √v_i)² / Σ z_i² v_i, with ρ from `residual_correlation` about the accuracy of
    the strata. The sum over clusters is expanded, so that all groups together take one pass over the rows.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    total, right = np.bincount(stratum), np.bincount(stratum, correct)
    rate = right / np.maximum(total, 1)
    correlation = residual_correlation(rate[stratum], correct, cluster)
    spread = np.sqrt(rate * (1 - rate))[stratum]
    n_clusters, rows = int(cluster.max()) + 1, np.flatnonzero(group < n_groups)
    count, _ = stratum_counts(stratum, correct, group, n_groups)
    share = count / np.maximum(total, 1)
    in_group = csr_array(
        (spread[rows], (cluster[rows], group[rows].astype(np.intp))), shape=(n_clusters, n_groups)
    )
    in_stratum = csr_array((spread, (cluster, stratum)), shape=(n_clusters, total.size))
    squares = np.asarray(in_group.multiply(in_group).sum(axis=0)).ravel()
    cross = (in_stratum.T @ in_group).toarray().T
    products = (in_stratum.T @ in_stratum).toarray()
    clustered = squares - 2 * (share * cross).sum(axis=1) + ((share @ products) * share).sum(axis=1)
    independent = (share * (1 - share)) @ (total * rate * (1 - rate))
    varies = independent > 0
    ratio = clustered / np.where(varies, independent, 1.0)
    return np.where(varies, 1 - correlation + correlation * ratio, 1.0)


def _normal_p_values(excess: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two-sided p-values; 1 where nothing can vary."""
    from scipy.special import erfc  # noqa: PLC0415 - slow to import, and rarely needed

    varies = variance > 0
    z = np.where(varies, excess, 0.0) / np.sqrt(np.where(varies, variance, 1.0))
    return np.asarray(erfc(np.abs(z) / np.sqrt(2)), np.float64)


def _exact_p_value(
    count: NDArray[np.int64], observed: int, total: NDArray[np.int64], total_correct: NDArray[np.int64]
) -> float:
    """Twice the smaller tail of the number of right answers of one group, at most 1."""
    distribution, lowest = np.ones(1), 0
    for m, n, a in zip(count.tolist(), total.tolist(), total_correct.tolist(), strict=True):
        first, last = max(0, m - (n - a)), min(m, a)
        lowest += first
        if last > first:
            distribution = np.convolve(distribution, _hypergeometric(m, n, a, first, last))
            kept = np.flatnonzero(distribution > _NEGLIGIBLE)
            lowest += int(kept[0])
            distribution = distribution[kept[0] : kept[-1] + 1]
    at = observed - lowest
    upper = float(distribution[max(at, 0) :].sum())
    lower = float(distribution[: max(at + 1, 0)].sum())
    return min(1.0, 2 * min(lower, upper))


def _hypergeometric(m: int, n: int, a: int, first: int, last: int) -> NDArray[np.float64]:
    """Probabilities of `first` to `last` right answers among m rows drawn from n, a of them right."""
    from scipy.special import gammaln  # noqa: PLC0415 - slow to import, and rarely needed

    right = np.arange(first, last + 1)

    def log_binomial(whole: int, part: NDArray[np.integer]) -> NDArray[np.float64]:
        return gammaln(whole + 1) - gammaln(part + 1) - gammaln(whole - part + 1)

    logs = log_binomial(a, right) + log_binomial(n - a, m - right) - log_binomial(n, np.array(m))
    return np.exp(logs)

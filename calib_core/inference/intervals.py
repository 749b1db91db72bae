"""How far may an accuracy, a mean or an AUROC be from its true value, and how often do intervals hold it?"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import BinSums, DistinctConfidences, chunks, pairwise_sum, running_sum
from calib_core.inference.clusters import (
    clustered_inflation,
    effective_clusters,
    effective_number,
    sum_variance,
)
from calib_core.metrics import METRICS
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.wording import ROUNDING_TOLERANCE

Z_975: Final = 1.959963984540054
"""97.5 % quantile of the standard normal distribution."""


def interval_contains(low: float, high: float, value: float) -> bool:
    """Whether the interval contains the value, with a tolerance for rounding at its ends."""
    return low - ROUNDING_TOLERANCE <= value <= high + ROUNDING_TOLERANCE


def p_value_of_interval(value: float, low: float, high: float) -> float:
    """The p-value of the true value being 0 that belongs to a 95 % interval, in [0, 1].

    That of a normal distribution whose standard error is that of the interval's end nearer to 0, so that it
    is at most .05 if and only if the interval does not contain 0.

    Examples
    --------
    >>> round(p_value_of_interval(0.1, 0.0, 0.3), 3)
    0.05
    """
    width = value - low if value > 0 else high - value
    if interval_contains(low, high, 0) and not width > 0:
        return 1.0
    return math.erfc(Z_975 * abs(value) / width / math.sqrt(2)) if width > 0 else 0.0


def unpaired_difference_interval(
    first: float,
    first_interval: tuple[float, float] | None,
    second: float,
    second_interval: tuple[float, float] | None,
) -> tuple[float, float] | None:
    """95 % interval of a difference of two independent values, from the interval of each.

    Parameters
    ----------
    first, second : float
        The values; the difference is first − second.
    first_interval, second_interval : (float, float) or None
        Their 95 % intervals.

    Returns
    -------
    (float, float) or None
        None unless both have an interval with finite ends.

    References
    ----------
    The square-and-add method: Newcombe (1998),
    doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I; Zou & Donner (2008),
    doi:10.1002/sim.3095.

    Examples
    --------
    >>> low, high = unpaired_difference_interval(0.7, (0.6, 0.8), 0.5, (0.4, 0.6))
    >>> round(low, 4), round(high, 4)
    (0.0586, 0.3414)
    """
    if first_interval is None or second_interval is None:
        return None
    if not all(map(math.isfinite, (first, second, *first_interval, *second_interval))):
        return None
    below = math.hypot(first - first_interval[0], second_interval[1] - second)
    above = math.hypot(first_interval[1] - first, second - second_interval[0])
    return first - second - below, first - second + above


def coverage_note(metric_ids: Collection[str], terms: Terms = ANSWER_TERMS) -> str:
    """A sentence on the simulated coverage of these metrics' intervals; "" if none of them was simulated."""
    phrases = [
        f"{metric.interval_coverage[0]} to {metric.interval_coverage[1]} % of data sets for "
        f"{metric.worded(terms).name}"
        for id_, metric in METRICS.items()
        if id_ in metric_ids and metric.interval_coverage
    ]
    return (
        f"In simulations, these intervals contained the true value in {', in '.join(phrases)}."
        if phrases
        else ""
    )


def mean_interval(
    total: NDArray[np.float64],
    weight: NDArray[np.float64],
    added: tuple[float, float] | None,
    n_intervals: int = 1,
) -> tuple[float, float]:
    """Student's 95 % t interval of a mean over clusters, with two more clusters of extreme values.

    Parameters
    ----------
    total : NDArray[np.float64], shape (clusters,)
        Sum of the values of each cluster, or of each row where rows are independent; at least two.
    weight : NDArray[np.float64], shape (clusters,)
        What each cluster adds to the divisor of the mean, such as its number of rows; not all 0.
    added : (float, float) or None
        Means of two clusters of average weight that are added to the data, such as one whose answers are all
        right and one whose answers are all wrong; None for none.
    n_intervals : int
        Number of intervals that hold together with 95 % (Bonferroni).

    Returns
    -------
    low, high : float
        Ends of an interval that holds Σ total / Σ weight.

    Notes
    -----
    The mean is a ratio m = Σ t_q / Σ w_q; its variance is that of `sum_variance` over (Σ w_q)². The
    degrees of freedom are (Σ w_q)² / Σ w_q² − 1, one less than there are clusters of one size. The two added
    clusters are those of the adjusted interval of a share. Without them the interval of 30 answers of which
    none happens to be wrong is far too short.

    References
    ----------
    Agresti & Caffo (2000), doi:10.1080/00031305.2000.10474560.

    Examples
    --------
    >>> low, high = mean_interval(np.zeros(30), np.ones(30), (0.0, 1.0))
    >>> round(low, 3), round(high, 3)
    (-0.032, 0.095)
    """
    mean = float(total.sum() / weight.sum())
    if added is not None:
        average = float(weight.mean())
        total = np.concatenate([total, average * np.array(added)])
        weight = np.concatenate([weight, [average, average]])
    divisor = float(weight.sum())
    centre = float(total.sum()) / divisor
    degrees_of_freedom = effective_number(weight) - 1
    residual = centre * weight
    np.subtract(total, residual, out=residual)
    share = weight / divisor
    del total, weight  # of very many rows each takes as much as their confidences
    variance = sum_variance(residual, share) / divisor**2
    half = t_975(degrees_of_freedom, n_intervals) * variance**0.5
    return min(centre - half, mean), max(centre + half, mean)


def mean_interval_of_rows(
    n: int,
    values: Callable[[slice], NDArray[np.float64]],
    added: tuple[float, float] | None,
    n_intervals: int = 1,
) -> tuple[float, float]:
    """`mean_interval` of rows that all count alike, whose values are made part by part: there may be many.

    Parameters
    ----------
    n : int
        Number of rows, at least two.
    values : Callable[[slice], NDArray[np.float64]]
        The values of some rows.
    added, n_intervals
        As in `mean_interval`.
    """
    extremes = np.array(added or ())
    n_all = n + extremes.size

    def all_values(part: slice) -> NDArray[np.float64]:
        last = extremes[max(part.start - n, 0) : max(part.stop - n, 0)]
        return (
            np.concatenate([values(slice(part.start, min(part.stop, n))), last])
            if last.size
            else values(part)
        )

    mean, centre = pairwise_sum(n, values) / n, pairwise_sum(n_all, all_values) / n_all
    without = 1 - 1 / n_all
    squares = pairwise_sum(n_all, lambda part: ((all_values(part) - centre) / without) ** 2)
    variance = (n_all - 1) / n_all * squares / n_all**2
    half = t_975(n_all - 1, n_intervals) * variance**0.5
    return min(centre - half, mean), max(centre + half, mean)


@lru_cache(maxsize=1024)
def t_975(degrees_of_freedom: float, n_intervals: int = 1) -> float:
    """97.5 % quantile of Student's t distribution, for one of several intervals that hold together."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    return float(stdtrit(degrees_of_freedom, 1 - 0.025 / n_intervals))


def auroc_interval(
    confidence: NDArray[np.float64],
    correct: NDArray[np.bool_],
    cluster: NDArray[np.intp] | None = None,
    weight: NDArray[np.float64] | None = None,
    *,
    sums: BinSums | None = None,
) -> tuple[float, float] | None:
    """95 % interval of the AUROC: DeLong's variance, on the scale of the logit.

    Parameters
    ----------
    confidence : NDArray[np.float64], shape (n,)
    correct : NDArray[np.bool_], shape (n,)
        Outcomes, at least two of each, in two clusters or more.
    cluster : NDArray[np.intp], shape (n,), optional
        Cluster of each row, numbered from 0; each row its own where omitted.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each row, above 0; 1 each where omitted. A row's share in n₁ or n₀ is then its weight's.
    sums : BinSums, optional
        The sums of these rows, where they are known: independent rows that all count alike need not be sorted
        again.

    Returns
    -------
    low, high : float
        Ends in (0, 1), on either side of the AUROC; None if the AUROC is 0 or 1, or has no variance.

    Notes
    -----
    The quantile is Student's, with as many degrees of freedom as there are answers of the rarer outcome, or
    clusters with such an answer, less one.

    A right answer contributes (V − A)/n₁ to the error of the AUROC A, where V is the share of the n₀
    wrong answers below it, ties counted half; a wrong answer likewise. Contributions of a cluster are added
    up (Obuchowski 1997).

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), doi:10.2307/2531595; Obuchowski (1997), doi:10.2307/2533958.

    Examples
    --------
    >>> auroc_interval(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True])) is None
    True
    """
    if cluster is None and weight is not None:
        cluster = np.arange(correct.size)
    if cluster is None:
        sums = BinSums.from_pairs(confidence, correct, copy=False) if sums is None else sums
        n_units = min(sums.n_correct, sums.n_pairs - sums.n_correct)
        area, variance = _area_and_variance(sums.distinct)
    else:
        times = np.broadcast_to(np.float64(1), correct.shape) if weight is None else weight
        levels, level = np.unique(confidence, return_inverse=True)
        right, wrong = (
            np.bincount(level, times * outcome, levels.size).astype(np.float64)
            for outcome in (correct, ~correct)
        )
        n_right, n_wrong = float(right.sum()), float(wrong.sum())
        below, above = _share_below(wrong), 1 - _share_below(right)
        area = float(right @ below) / n_right
        n_units = min(effective_with(outcome, cluster, weight) for outcome in (correct, ~correct))
        error = times * np.where(
            correct, ((below - area) / n_right)[level], ((above - area) / n_wrong)[level]
        )
        variance = n_units / (n_units - 1) * float((np.bincount(cluster, error) ** 2).sum())
    if not 0 < area < 1 or variance <= 0:
        return None
    logit, half = np.log(area / (1 - area)), t_975(n_units - 1) * variance**0.5 / (area * (1 - area))
    low, high = (1 / (1 + np.exp(-(logit + side))) for side in (-half, half))
    return float(low), float(high)


def _area_and_variance(distinct: DistinctConfidences) -> tuple[float, float]:
    """The AUROC of independent rows and its variance, part by part, as there may be many."""
    n_right = float(distinct.correct.sum())
    n_wrong = float(distinct.count.sum()) - n_right

    def parts() -> Iterator[tuple[NDArray[np.float64], ...]]:
        """Right and wrong answers, the share of wrong ones below, of right ones above; half beside."""
        right_up_to, wrong_up_to = running_sum(), running_sum()
        for part in chunks(distinct.value.size):
            right = distinct.correct[part].astype(np.float64)
            wrong = distinct.count[part] - right
            below = (2 * wrong_up_to(wrong) - wrong) / (2 * n_wrong)
            yield right, wrong, below, 1 - (2 * right_up_to(right) - right) / (2 * n_right)

    area = sum(float(right @ below) for right, _, below, _ in parts()) / n_right
    of_right = of_wrong = 0.0
    for right, wrong, below, above in parts():
        of_right += float(right @ ((below - area) / n_right) ** 2)
        of_wrong += float(wrong @ ((above - area) / n_wrong) ** 2)
    return area, n_right / (n_right - 1) * of_right + n_wrong / (n_wrong - 1) * of_wrong


def _share_below(number: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of all that lies below each confidence, ascending, or beside it, which counts half."""
    share = np.cumsum(number)
    share *= 2
    share -= number
    share /= 2 * float(number.sum())
    return share


def effective_with(
    outcome: NDArray[np.bool_], cluster: NDArray[np.intp], weight: NDArray[np.float64] | None = None
) -> float:
    """Number of clusters with an outcome; the effective number by the weights of those rows, if any."""
    if weight is None:
        return np.unique(cluster[outcome]).size
    return effective_number(np.bincount(cluster, weight * outcome).astype(np.float64))


def wilson_interval(
    n_correct: NDArray[np.int64 | np.float64],
    n: NDArray[np.int64 | np.float64],
    design_effect: float = 1.0,
    quantile: float = Z_975,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's 95 % score interval of a proportion, without continuity correction.

    Parameters
    ----------
    n_correct, n : array, shape (k,)
        Successes and trials, 0 ≤ n_correct ≤ n and n ≥ 1. They need not be whole: an effective sample size is
        allowed for clustered rows.
    design_effect : float
        Factor by which clustering inflates the variance; n is divided by it, but not below 1.
    quantile : float
        97.5 % quantile; that of Student's t where the variance is estimated from clusters.

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
    shrink = 1 + quantile**2 / rows
    centre = (share + quantile**2 / (2 * rows)) / shrink
    half = quantile / shrink * np.sqrt(share * (1 - share) / rows + (quantile / (2 * rows)) ** 2)
    low = np.where(n_correct == 0, 0.0, centre - half)
    high = np.where(n_correct == n, 1.0, centre + half)
    return low, high


def share_interval(
    outcome: NDArray[np.bool_],
    cluster: NDArray[np.intp] | None = None,
    weight: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Wilson's 95 % interval of the share of rows with an outcome, also where rows repeat a question.

    Parameters
    ----------
    outcome : NDArray[np.bool_], shape (n,)
        At least one.
    cluster : NDArray[np.intp], shape (n,), optional
        Question of each row, numbered from 0. The number of rows is then divided by their
        `clustered_inflation`.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each row, above 0; 1 each where omitted. The rows then count as their effective number over
        their inflation, and the quantile is Student's.

    Examples
    --------
    >>> low, high = share_interval(np.array([True] * 8 + [False] * 2))
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    n, share, inflation, quantile = float(outcome.size), float(outcome.mean()), 1.0, Z_975
    if weight is not None:
        cluster = np.arange(outcome.size) if cluster is None else cluster
        n, share = effective_number(weight), float((weight * outcome).sum() / weight.sum())
        quantile = t_975(max(effective_clusters(cluster, weight) - 1, 1.0))
    if cluster is not None:
        inflation = clustered_inflation(outcome.astype(np.float64) - share, cluster, weight=weight)
    low, high = wilson_interval(np.array([n * share]), np.array([n]), inflation, quantile)
    return float(low[0]), float(high[0])

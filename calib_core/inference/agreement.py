"""How often does a judge's label equal a person's, and how much of that would chance bring?

Labels are numbered from 0, alike for judge and person. Every measure has the influence of each row, so that
two judges can be compared on the same rows with `paired_test`, and rows that repeat a question are summed by
question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.clusters import clustered_inflation, effective_clusters
from calib_core.inference.intervals import mean_interval, share_interval, t_975

Labels: TypeAlias = NDArray[np.intp]
"""Labels by number, one for each row; shape (n,)."""

KappaWeights: TypeAlias = Literal["none", "linear", "quadratic"]
"""How much a disagreement counts: all alike, by its distance, or by the square of its distance."""

AlphaLevel: TypeAlias = Literal["nominal", "ordinal", "interval"]
"""What labels are: names, ranks, or numbers."""

ADDED_ROWS: Final = 4
"""Rows that the interval of κ and α adds, half of them with equal labels (benchmarks/judge.md)."""

ADDED_ROWS_OF_SQUARES: Final = 2
"""The same where disagreements of independent rows are squared distances, on the scale of Fisher's z."""

MIN_QUESTIONS: Final = 30
"""Labelled questions, where some are repeated, from which on κ, Rogan–Gladen and PPI++ have an interval: of
20, Rogan–Gladen's held the truth in as little as 91 % of simulated data sets (benchmarks/judge.md)."""

MIN_QUESTIONS_OF_RARER_LABEL: Final = 5
"""Those of them to which people gave another label than the most frequent one, for κ and Rogan–Gladen."""


_WEIGHTS_OF_LEVEL: Final[dict[AlphaLevel, KappaWeights]] = {"nominal": "none", "interval": "quadratic"}


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """A measure of agreement with its 95 % interval.

    Attributes
    ----------
    value : float
    interval : (float, float) or None
        Ends of an interval that holds the value; None where none is known to hold.
    n : int
        Rows that it is about.
    influence : NDArray[np.float64], shape (rows,)
        What each row that was given moves the value by, times the number of those rows; the mean is 0.
    no_interval : str
        Why there is no interval; "" where there is one.
    """

    value: float
    interval: tuple[float, float] | None
    n: int
    influence: NDArray[np.float64]
    no_interval: str = ""


def confusion(judge: Labels, human: Labels, n_labels: int) -> NDArray[np.int64]:
    """Number of rows by label of the judge (first axis) and of the person (second axis).

    Parameters
    ----------
    judge, human : NDArray[np.intp], shape (n,)
        Labels from 0 to n_labels − 1.
    n_labels : int

    Returns
    -------
    NDArray[np.int64], shape (n_labels, n_labels)

    Examples
    --------
    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    return np.bincount(judge * n_labels + human, minlength=n_labels**2).reshape(n_labels, n_labels)


def share_of(hit: NDArray[np.bool_], cluster: Labels | None = None) -> Measure:
    """The share of rows that are hit, such as those on which judge and person agree.

    Parameters
    ----------
    hit : NDArray[np.bool_], shape (n,)
        At least one.
    cluster : NDArray[np.intp], shape (n,), optional
        Question of each row, numbered from 0; None where none is repeated.
    """
    value = float(hit.mean())
    return Measure(value, share_interval(hit, cluster), hit.size, hit.astype(np.float64) - value)


def share_within(hit: NDArray[np.bool_], within: NDArray[np.bool_], cluster: Labels | None = None) -> Measure:
    """The share of rows that are hit among some of the rows, such as sensitivity among those that pass.

    Parameters
    ----------
    hit, within : NDArray[np.bool_], shape (n,)
        At least one row is within.
    cluster
        As in `share_of`.
    """
    inside = hit[within]
    value = float(inside.mean())
    influence = np.where(within, hit.astype(np.float64) - value, 0.0) / float(within.mean())
    return Measure(value, share_interval(inside, clusters_within(cluster, within)), inside.size, influence)


def clusters_within(cluster: Labels | None, within: NDArray[np.bool_]) -> Labels | None:
    """Question of each row that is within, numbered from 0; None where none is repeated among these."""
    if cluster is None:
        return None
    distinct, number = np.unique(cluster[within], return_inverse=True)
    return number if distinct.size < number.size else None


def constant_agreement(human: Labels) -> float:
    """Agreement of a judge that always gives people's most frequent label, in (0, 1]."""
    return float(np.bincount(human).max() / human.size)


def kappa_weights(values: NDArray[np.float64], weights: KappaWeights) -> NDArray[np.float64]:
    """How much each pair of labels disagrees: 1 for different ones, or by the distance of their values.

    Parameters
    ----------
    values : NDArray[np.float64], shape (labels,)
        Value of each label, increasing; not used with weights "none".
    weights : {"none", "linear", "quadratic"}

    Returns
    -------
    NDArray[np.float64], shape (labels, labels)
        0 on the diagonal.
    """
    if weights == "none":
        return 1.0 - np.eye(values.size)
    distance = np.abs(values[:, None] - values[None, :])
    return distance if weights == "linear" else distance**2


def cohen_kappa(
    judge: Labels, human: Labels, disagreement: NDArray[np.float64], cluster: Labels | None = None
) -> Measure | None:
    """Cohen's κ: 1 − disagreement over the disagreement of two who label independently.

    Parameters
    ----------
    judge, human : NDArray[np.intp], shape (n,)
        At least two rows.
    disagreement : NDArray[np.float64], shape (labels, labels)
        As from `kappa_weights`.
    cluster
        As in `share_of`.

    Returns
    -------
    Measure or None
        None where both give one and the same label throughout, so that κ is not defined.

    Notes
    -----
    The standard error is that of the delta method after `_added_rows`, times the root of the
    `clustered_inflation` where questions are repeated; where none is, squared distances have the scale of
    Fisher's z. Without the added rows the interval of 50 rows with few of one label holds the truth in as
    little as 80 % (benchmarks/judge.md).

    References
    ----------
    Cohen (1968), doi:10.1037/h0026256; Fleiss, Cohen & Everitt (1969), doi:10.1037/h0028106; added rows:
    Agresti & Caffo (2000), doi:10.1080/00031305.2000.10474560, there for differences of shares; Fisher's
    z: Fleiss & Cohen (1973), doi:10.1177/001316447303300309, on weighted κ as a correlation within classes.
    """
    table = confusion(judge, human, disagreement.shape[0]).astype(np.float64)
    ratio = _one_minus_ratio(table, disagreement)
    if ratio is None:
        return None
    value, by_pair = ratio
    influence = by_pair[judge, human]
    rarer = human != np.bincount(human).argmax()
    if reason := few_questions(cluster, rarer):
        return Measure(value, None, judge.size, influence, reason)
    interval = _interval(table, disagreement, value, _spread(influence, cluster))
    return Measure(value, interval, judge.size, influence)


def few_questions(cluster: Labels | None, rarer: NDArray[np.bool_] | None = None) -> str:
    """Why rows that repeat questions have no interval; "" where they may have one.

    Parameters
    ----------
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each labelled row; None where none is repeated.
    rarer : NDArray[np.bool_], shape (n,), optional
        Which rows have another label than the most frequent one.

    Examples
    --------
    >>> few_questions(np.array([0, 0, 1]))
    '2 different questions, some of them repeated, are too few: 30 are needed'
    """
    if cluster is None:
        return ""
    questions = f"{np.unique(cluster).size} different questions, some of them repeated,"
    if effective_clusters(cluster) < MIN_QUESTIONS:
        return f"{questions} are too few: {MIN_QUESTIONS} are needed"
    if rarer is not None and np.unique(cluster[rarer]).size < MIN_QUESTIONS_OF_RARER_LABEL:
        n = np.unique(cluster[rarer]).size
        return f"{n} of {questions} have a rarer label: {MIN_QUESTIONS_OF_RARER_LABEL} are needed"
    return ""


def mean_bias(
    judge: NDArray[np.float64], human: NDArray[np.float64], cluster: Labels | None = None
) -> Measure:
    """Mean of the judge's value minus the person's, above 0 for a judge that is too kind.

    Parameters
    ----------
    judge, human : NDArray[np.float64], shape (n,)
        Values of the labels; at least two rows.
    cluster
        As in `share_of`.
    """
    gap = judge - human
    number = np.arange(gap.size) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    total, rows = np.bincount(number, gap).astype(np.float64), np.bincount(number).astype(np.float64)
    value = float(gap.mean())
    spread = 1.0 if not gap.any() else float(np.abs(gap).max())
    interval = mean_interval(total, rows, (value - spread, value + spread))
    return Measure(value, interval, gap.size, gap - value)


def krippendorff_alpha(
    labels: NDArray[np.intp],
    values: NDArray[np.float64],
    level: AlphaLevel = "nominal",
    cluster: Labels | None = None,
) -> Measure | None:
    """Krippendorff's α: how far several people agree beyond chance.

    Parameters
    ----------
    labels : NDArray[np.intp], shape (rows, people)
        Labels from 0, −1 where a person gave none. Rows with fewer than two labels say nothing.
    values : NDArray[np.float64], shape (labels,)
        Value of each label, increasing; used by level "interval", and their order by "ordinal".
    level : {"nominal", "ordinal", "interval"}
    cluster
        As in `share_of`.

    Returns
    -------
    Measure or None
        None with fewer than two rows of two labels, or where all labels are one.

    Notes
    -----
    The interval is that of κ with each row's pairs of labels as its contribution, and what it adds to the
    ranks behind ordinal distances.

    References
    ----------
    Krippendorff (2011), "Computing Krippendorff's alpha-reliability",
    https://repository.upenn.edu/asc_papers/43.
    """
    known = labels >= 0
    paired = known.sum(axis=1) >= 2
    labels, known = labels[paired], known[paired]
    n_rows, n_labels = labels.shape[0], values.size
    if n_rows < 2:
        return None
    counts = np.zeros((n_rows, n_labels))
    np.add.at(counts, (np.nonzero(known)[0], labels[known]), 1.0)
    size = counts.sum(axis=1)
    weighted = counts / (size - 1)[:, None]
    table = counts.T @ weighted - np.diag(weighted.sum(axis=0))
    distance = None if level == "ordinal" else kappa_weights(values, _WEIGHTS_OF_LEVEL[level])
    ratio = _one_minus_ratio(table, distance)
    if ratio is None:
        return None
    of_pairs, by_pair = ratio
    n_values = float(size.sum())
    value = 1 - (1 - of_pairs) * (n_values - 1) / n_values
    of_row = ((counts @ by_pair - np.diag(by_pair)) * weighted).sum(axis=1)
    influence = np.zeros(paired.size)
    influence[paired] = of_row * paired.size / n_values
    of_cluster = None if cluster is None else cluster[paired]
    if reason := few_questions(of_cluster):
        return Measure(value, None, n_rows, influence, reason)
    # The labels of a row are one contribution, however many they are.
    by_label = float((table * by_pair**2).sum())
    of_one_row = float(of_row @ of_row) / by_label if by_label > 0 else float(size.mean())
    interval = _interval(table, distance, value, _spread(of_row, of_cluster), of_one_row, entries=2)
    return Measure(value, interval, n_rows, influence)


def _one_minus_ratio(
    table: NDArray[np.float64], disagreement: NDArray[np.float64] | None
) -> tuple[float, NDArray[np.float64]] | None:
    """1 − observed over expected disagreement, and the influence of one row of each pair of labels.

    Without a disagreement it is that of the labels' ranks in a symmetric table, squared. None where no
    disagreement is expected.
    """
    share = table / table.sum()
    first, second = share.sum(axis=1), share.sum(axis=0)
    rank = None
    if disagreement is None:
        rank = np.cumsum(second) - second / 2
        disagreement = kappa_weights(rank, "quadratic")
    observed, expected = float((disagreement * share).sum()), float(first @ disagreement @ second)
    if not expected > 0:
        return None
    expected_of_pair = (disagreement @ second)[:, None] + (first @ disagreement)[None, :] - 2 * expected
    by_pair = -(disagreement - observed) / expected + observed / expected**2 * expected_of_pair
    if rank is not None:
        # What the ranks do to the value, and the labels of a pair to the ranks.
        by_gap = observed / expected**2 * np.outer(second, second) - share / expected
        by_rank = 4 * (by_gap * (rank[:, None] - rank[None, :])).sum(axis=1)
        by_label = np.cumsum(by_rank[::-1])[::-1] - by_rank / 2
        by_label -= float(second @ by_label)
        by_pair = by_pair + (by_label[:, None] + by_label[None, :]) / 2
    return 1 - observed / expected, by_pair


def _added_rows(table: NDArray[np.float64], disagreement: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """One row by pair of labels, in parts; of two labels one of each pair.

    Half have equal labels, each as often. The others have different ones, in proportion to the product of how
    frequent both are, halfway to all alike, over how much they disagree. In equal parts to all pairs, most
    rows of five labels would disagree, and by more than is usual: κ would err to one side.
    """
    n_labels = table.shape[0]
    frequent = (table.sum(axis=0) + table.sum(axis=1)) / (2 * table.sum()) + 1 / n_labels
    if disagreement is None:
        disagreement = kappa_weights(np.arange(n_labels, dtype=np.float64), "quadratic")
    differ = np.divide(
        np.outer(frequent, frequent), disagreement, out=np.zeros_like(table), where=disagreement > 0
    )
    return (np.eye(n_labels) / n_labels + differ / differ.sum()) / 2


def _are_squares(disagreement: NDArray[np.float64] | None) -> bool:
    """Whether disagreements of three labels or more are squares of distances on a line, or of ranks."""
    if disagreement is None:
        return True
    distance = np.sqrt(disagreement)
    along = float(np.diagonal(distance, 1).sum())
    return math.isclose(along, float(distance[0, -1]), rel_tol=1e-9)


def _interval(
    table: NDArray[np.float64],
    disagreement: NDArray[np.float64] | None,
    value: float,
    spread: _Spread,
    inflation: float = 1.0,
    *,
    entries: int = 1,
) -> tuple[float, float]:
    """The interval about the value of the table with its added rows; it holds the value without them.

    Squared distances make κ and α correlations within classes, whose distribution leans as that of any
    correlation does, so that the interval of independent rows is made on the scale of artanh (Fisher's z). Of
    repeated questions it would hold the truth no more often (benchmarks/judge.md).
    `entries` is how often each row is in the table.
    """
    on_z = spread.is_independent and table.shape[0] > 2 and _are_squares(disagreement)
    table = table + entries * (ADDED_ROWS_OF_SQUARES if on_z else ADDED_ROWS) * _added_rows(
        table, disagreement
    )
    ratio = _one_minus_ratio(table, disagreement)
    if ratio is None:
        return -1.0, 1.0
    centre, by_pair = ratio
    variance = inflation * spread.inflation * float((table * by_pair**2).sum())
    half = spread.quantile * math.sqrt(variance) / float(table.sum())
    if on_z:
        z, half = math.atanh(centre), half / (1 - centre**2)
        low, high = math.tanh(z - half), math.tanh(z + half)
    else:
        low, high = centre - half, centre + half
    return max(-1.0, min(low, value)), min(1.0, max(high, value))


class _Spread(NamedTuple):
    """How far rows that repeat questions, or none, tell a measure.

    Attributes
    ----------
    inflation : float
        Of the variance, by repeated questions.
    quantile : float
        Student's, for the number of questions.
    is_independent : bool
        Whether no question is repeated.
    """

    inflation: float
    quantile: float
    is_independent: bool


def _spread(influence: NDArray[np.float64], cluster: Labels | None) -> _Spread:
    if cluster is None:
        return _Spread(1.0, t_975(influence.size - 1), is_independent=True)
    quantile = t_975(max(effective_clusters(cluster) - 1, 1.0))
    return _Spread(clustered_inflation(influence, cluster), quantile, is_independent=False)

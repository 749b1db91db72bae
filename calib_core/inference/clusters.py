"""Which rows repeat a question, and how much information do they carry?

A file may ask each question in several trials, with different examples in the prompt. Their answers are
correlated, so a bootstrap draws all rows of a question together (cluster bootstrap), and the variance of a
proportion is estimated from the sums by question (Rao & Scott 1992, doi:10.2307/2532311).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.inference.pairing import KEY_SEPARATOR
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun


def repeated_question_keys(run: AnswerRun) -> pl.Series | None:
    """Key of the question that each row asks, with its subject; None if no question is repeated.

    `trial_of` names the question. A row without it asks what its text asks: rows of one text repeat a
    question if they also offer the same choices, in whatever order, or have the same right answer where the
    file has no choices. A text that all rows have is an instruction and says nothing. A row with neither is a
    question of its own.

    Returns
    -------
    pl.Series of String or None, shape (rows,)
    """
    if not run.has_columns("trial_of") and not run.has_columns("question"):
        return None
    trial_of, question = column(run, "trial_of"), column(run, "question")
    is_named = trial_of.is_not_null()
    is_text_shared = ~is_named & question.is_not_null()
    if is_text_shared.any():
        is_text_shared &= question.hash().is_duplicated()  # as nearly all texts of most files differ
    if is_text_shared.any():
        is_text_shared &= question.n_unique() > 1
    if int(is_named.sum()) < 2 and not is_text_shared.any():
        return None
    choices = column(run, "choices").list.sort().list.join(KEY_SEPARATOR, ignore_nulls=True)
    right_answer = column(run, "gold").fill_null(column(run, "gold_index").cast(pl.String))
    told_apart_by = choices.fill_null(right_answer).fill_null("")
    row_keys = pl.Series([f"{KEY_SEPARATOR}{row}" for row in range(trial_of.len())])
    text_keys = f"text{KEY_SEPARATOR}" + question.fill_null("") + KEY_SEPARATOR + told_apart_by
    subject = column(run, "subject").fill_null("")
    keys = subject + KEY_SEPARATOR + trial_of.zip_with(is_named, text_keys)
    keys = keys.zip_with(is_named | is_text_shared, row_keys)
    return keys if keys.n_unique() < keys.len() else None


def cluster_numbers(run: AnswerRun, rows: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """Cluster of each row: its question, numbered from 0 by first occurrence.

    Parameters
    ----------
    run : AnswerRun
        The run.
    rows : NDArray[np.intp] or None, shape (n,)
        Positions in `run.rows`; None for all of them.

    Returns
    -------
    NDArray[np.intp] or None, shape (n,)
        None if no question is repeated among these rows.
    """
    keys = repeated_question_keys(run)
    if keys is None:
        return None
    row_keys = keys if rows is None else keys.gather(pl.Series(rows, dtype=pl.UInt32))
    distinct = row_keys.unique(maintain_order=True)
    if distinct.len() == row_keys.len():
        return None
    numbers = pl.DataFrame({"question": distinct, "number": np.arange(distinct.len())})
    numbered = row_keys.to_frame("question").join(numbers, on="question", maintain_order="left")
    return numbered["number"].to_numpy().astype(np.intp)


def deal_folds(n: int, cluster: NDArray[np.intp] | None, folds: int, seed: int) -> NDArray[np.intp]:
    """Fold of each row, 0..folds − 1; the rows of a cluster share one, and folds are as equal as can be.

    Parameters
    ----------
    n : int
        Number of rows.
    cluster : NDArray[np.intp] or None, shape (n,)
        Cluster of each row, numbered from 0; None if each row is its own.
    folds, seed : int
        Number of folds, and the seed by which clusters are dealt into them.

    Returns
    -------
    NDArray[np.intp], shape (n,)

    Raises
    ------
    ValueError
        With fewer clusters than folds.
    """
    n_clusters = n if cluster is None else int(cluster.max(initial=-1)) + 1
    if n_clusters < folds:
        raise ValueError(f"{folds} folds need as many clusters, not {n_clusters}")
    fold = np.random.default_rng(seed).permutation(n_clusters) % folds
    return fold if cluster is None else fold[cluster]


def design_effect(cluster: NDArray[np.intp] | None, weight: NDArray[np.float64] | None = None) -> float:
    """Design effect of clustered rows in the worst case, Σ m² / Σ m over clusters of m rows.

    This is the factor by which clustering inflates the variance of a sum if the rows of a cluster are
    perfectly correlated: either all answers to a question are right, or none is.

    Parameters
    ----------
    cluster : NDArray[np.intp] or None, shape (n,)
        As from `cluster_numbers`; None if no question is repeated.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each row, above 0: Σ W² / Σ w² over clusters of the weight W, which is the effective number
        of rows over that of clusters.

    Returns
    -------
    float
        At least 1.

    References
    ----------
    Kish (1965), *Survey Sampling*, Wiley.

    Examples
    --------
    >>> design_effect(np.array([0, 0, 1, 1])), design_effect(None)
    (2.0, 1.0)
    """
    if cluster is None:
        return 1.0
    sizes = np.bincount(cluster, weight)
    return float((sizes**2).sum() / (sizes.sum() if weight is None else weight @ weight))


def sum_variance(residual: NDArray[np.float64], share: NDArray[np.float64]) -> float:
    """Variance of the sum of clusters' residuals from a common mean: the larger of two estimates.

    Parameters
    ----------
    residual : NDArray[np.float64], shape (clusters,)
        What each cluster adds to the sum, less the mean times its weight.
    share : NDArray[np.float64], shape (clusters,)
        Share of each cluster in all weights, below 1; clusters without weight do not count, two at least do.

    Notes
    -----
    The first estimate is the jackknife's, (G − 1)/G Σ (r_q / (1 − h_q))² over G clusters with shares h_q: a
    large cluster draws the mean towards itself, so that its residual alone would show too little. Among
    clusters of very unequal size a few decide it, and where these happen to lie near the mean it is too
    small.

    The second learns from all clusters how the variance grows with the size, E r_q² = a h_q + b h_q²: a of
    rows that differ, b of rows that are alike. With Σ r²/h = a G + b and Σ r²/h² = a Σ 1/h + b G, neither
    below 0, it is (a + b Σ h²) / (1 − Σ h²). For clusters of one size both estimates are G/(G − 1) Σ r².

    References
    ----------
    Efron & Stein (1981), doi:10.1214/aos/1176345462; for clusters: Bell & McCaffrey (2002), *Survey
    Methodology* 28. Moments of components of variance: Searle, Casella & McCulloch (1992), *Variance
    Components*, doi:10.1002/9780470316856.

    Examples
    --------
    >>> sum_variance(np.array([1.0, -1.0]), np.array([0.5, 0.5]))
    4.0
    """
    if not share.all():
        residual, share = residual[share > 0], share[share > 0]
    n = residual.size
    without = 1 - share
    np.divide(residual, without, out=without)
    jackknife = (n - 1) / n * float(np.square(without, out=without).sum())
    spread = 0.0 if share.max() == share.min() else float((1 / share).sum()) - n * n
    if spread <= _OF_ONE_SIZE * n * n:
        return jackknife
    of_rows, of_means = float((residual**2 / share).sum()), float(((residual / share) ** 2).sum())
    differing = max(0.0, (of_means - n * of_rows) / spread)
    alike = max(0.0, of_rows - n * differing)
    if not alike:
        differing = of_rows / n
    squares = float(share @ share)
    return max(jackknife, (differing + alike * squares) / (1 - squares))


def effective_clusters(cluster: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> float:
    """Number of clusters of one size that would say as much as these of unequal size, (Σ m)² / Σ m².

    Parameters
    ----------
    cluster : NDArray[np.intp], shape (n,)
        Cluster of each row, any numbers of at least 0.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each row, above 0, whose sum by cluster counts as its size; 1 each where omitted.

    Returns
    -------
    float
        At least 1, at most the number of clusters; 0 without rows.

    References
    ----------
    Kish (1965), *Survey Sampling*, Wiley.

    Examples
    --------
    >>> effective_clusters(np.array([0, 0, 1, 1])), effective_clusters(np.array([0, 0, 0, 1]))
    (2.0, 1.6)
    """
    return effective_number(np.bincount(cluster, weight).astype(np.float64))


def effective_number(weight: NDArray[np.float64]) -> float:
    """Number of equal weights that would say as much as these, (Σ w)² / Σ w²; 0 where all are 0."""
    return float(weight.sum() ** 2 / (weight @ weight)) if weight.any() else 0.0


_OF_ONE_SIZE: Final = 1e-9
"""Clusters whose squared coefficient of variation of sizes is no larger, about, are of one size."""

ADDED_QUESTIONS: Final = 0.5
"""Questions whose rows all do the same that `clustered_inflation` adds: of few errors, each in a question of
its own, it is not known whether errors come together (benchmarks/judge.md)."""


def clustered_inflation(
    influence: NDArray[np.float64],
    cluster: NDArray[np.intp],
    kind: NDArray[np.intp] | None = None,
    weight: NDArray[np.float64] | None = None,
) -> float:
    """How much larger the variance of a sum is than with independent rows, at least 1.

    Parameters
    ----------
    influence : NDArray[np.float64], shape (n,)
        What each row adds to the sum; the mean is 0, by weight where there are weights.
    cluster : NDArray[np.intp], shape (n,)
        Question of each row, numbered from 0.
    kind : NDArray[np.intp], shape (n,), optional
        Kind of each row, where rows of some kinds add more than others, such as labelled ones; not with
        weights.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each row, above 0, by which its influence counts; 1 each where omitted. Compared are
        independent rows whose influences do not depend on their weights.

    Returns
    -------
    float
        Of rows that all add 0 that of perfect correlation, which is `design_effect` for rows of one kind.

    Notes
    -----
    The estimate is the `sum_variance` of the sums s_q by question over Σ_q v_q, where v_q is the sum of
    the squared influences of question q. It stands on E = (Σ v_q)² / Σ v_q² questions, which are few where
    few have an error, and is averaged with perfect correlation in the ratio of E to `ADDED_QUESTIONS`.
    With weights w, s_q and v_q are of w times the influence u, and the estimate is over Σ w² · Σ w u² / Σ w.

    References
    ----------
    Rao & Scott (1992), doi:10.2307/2532311.

    Examples
    --------
    >>> error = np.array([0.75, -0.25, -0.25, -0.25])
    >>> round(clustered_inflation(error, np.array([0, 0, 1, 1])), 2)
    1.51
    """
    _, number = np.unique(cluster, return_inverse=True)
    largest = _perfect_correlation(influence, number, kind, weight)
    times = np.ones(influence.size) if weight is None else weight
    total = float(times @ influence**2) * float(times @ times) / float(times.sum())
    squares = np.bincount(number, (times * influence) ** 2).astype(np.float64)
    if not total > 0 or squares.size < 2:
        return largest
    sums = np.bincount(number, times * influence).astype(np.float64)
    estimate = sum_variance(sums, np.bincount(number, times) / times.sum()) / total
    known_from = effective_number(squares)
    return max(1.0, (known_from * estimate + ADDED_QUESTIONS * largest) / (known_from + ADDED_QUESTIONS))


def _perfect_correlation(
    influence: NDArray[np.float64],
    number: NDArray[np.intp],
    kind: NDArray[np.intp] | None,
    weight: NDArray[np.float64] | None,
) -> float:
    """Inflation where the rows of a question all do the same, each as much as is usual for its kind."""
    if kind is not None and influence.any():
        weight = np.sqrt(np.bincount(kind, influence**2) / np.maximum(np.bincount(kind), 1))[kind]
    return design_effect(number, weight)

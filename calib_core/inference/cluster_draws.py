"""How alike are the outcomes of one cluster, and how are outcomes drawn that are as alike?

Rows that ask the same question (its trials, or its prompts) form a cluster. Under the null hypothesis the
row i is right with probability c_i: y_i = 1 if u_i < c_i, with u_i uniform. The rows of a cluster are
dependent through their u_i: with probability λ, a row takes a uniform number common to its cluster,
otherwise one of its own. At λ = 1 rows of equal confidence always end alike, at λ = 0 they are independent.
λ² is estimated from the products of the residuals of two rows of a cluster.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import FINEST_BINS, Floats, Scheme, assign_bins, bin_of
from calib_core.inference.null import NULL_SEED, BinnedNullDraws, ConfidenceMoments, sum_draws
from calib_core.tokens.sums import N_DRAWS

MIN_CLUSTERS: Final = 60
"""With fewer clusters, p-values of clustered rows are too often small (benchmarks/null.md): none is given."""


def too_few_clusters(cluster: NDArray[np.intp]) -> str | None:
    """Why rows in these clusters have no p-value; None where they have one.

    Examples
    --------
    >>> too_few_clusters(np.array([0, 0, 1]))
    'only 2 different questions: with repeated questions, a p-value needs 60'
    """
    n_clusters = count_clusters(cluster)
    if n_clusters >= MIN_CLUSTERS:
        return None
    questions = "1 question" if n_clusters == 1 else f"{n_clusters} different questions"
    return f"only {questions}: with repeated questions, a p-value needs {MIN_CLUSTERS}"


def count_clusters(cluster: NDArray[np.intp]) -> int:
    """Number of different clusters."""
    return int(np.count_nonzero(np.bincount(cluster)))


def residual_correlation(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], cluster: NDArray[np.intp]
) -> float:
    """Intra-cluster correlation ρ of the residuals e = y − c of calibrated confidences.

    Parameters
    ----------
    confidence : NDArray[np.float64], shape (n,)
        Confidences in [0, 1].
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    cluster : NDArray[np.intp], shape (n,)
        Cluster of each row, numbered from 0.

    Returns
    -------
    float
        In [0, 1]: the ratio of Σ e_i e_j to Σ √(v_i v_j) with v = c(1 − c), over all pairs of different
        rows of one cluster, over the ratio of Σ e² to Σ v. It is 1 for identical rows, whatever their
        outcomes, and 0 if no two rows share a cluster.
    """
    variance = confidence * (1 - confidence)
    spread = np.sqrt(variance)
    expected = float((np.bincount(cluster, spread) ** 2).sum() - variance.sum())
    return _scaled_correlation(correct - confidence, variance, cluster, expected)


def shared_probability(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], cluster: NDArray[np.intp]
) -> float:
    """λ, the probability with which a row takes its cluster's uniform number, in [0, 1].

    The parameters are those of `residual_correlation`. λ² is the same ratio with the covariance of rows
    that both take the cluster's number, min(c_i, c_j) − c_i c_j, in place of √(v_i v_j).
    """
    variance = confidence * (1 - confidence)
    order = np.lexsort((confidence, cluster))
    sizes = np.bincount(cluster)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    n_larger = np.repeat(sizes, sizes) - 1 - (np.arange(cluster.size) - start)
    sum_of_minima = 2 * float((confidence[order] * n_larger).sum())
    sum_of_products = float((np.bincount(cluster, confidence) ** 2).sum() - (confidence**2).sum())
    squared = _scaled_correlation(correct - confidence, variance, cluster, sum_of_minima - sum_of_products)
    return float(np.sqrt(squared))


def _scaled_correlation(
    residual: NDArray[np.float64], variance: NDArray[np.float64], cluster: NDArray[np.intp], expected: float
) -> float:
    """(Σ e_i e_j / expected) / (Σ e² / Σ v), cut to [0, 1]; 0 where a divisor is 0."""
    squares = residual**2
    products = float((np.bincount(cluster, residual) ** 2).sum() - squares.sum())
    scale = expected * float(squares.sum())
    return float(np.clip(products * float(variance.sum()) / scale, 0.0, 1.0)) if scale > 0 else 0.0


def correlated_uniforms(
    random: np.random.Generator, cluster: NDArray[np.intp], shared: float
) -> NDArray[np.float32]:
    """Uniform numbers in [0, 1) that rows of a cluster share with probability `shared` each, shape (n,).

    Parameters
    ----------
    random : Generator
        Source of the numbers.
    cluster : NDArray[np.intp], shape (n,)
        Cluster of each row, numbered from 0.
    shared : float
        λ in [0, 1].
    """
    common = random.random(int(cluster.max(initial=-1)) + 1, np.float32)
    if shared >= 1:
        return common[cluster]
    own = random.random(cluster.size, np.float32)
    takes_common = random.random(cluster.size, np.float32) < shared
    return np.where(takes_common, common[cluster], own)


class ClusterDraws:
    """Draws for clustered pairs of one class, a sibling of `null.BinomialDraws`.

    Parameters
    ----------
    sums : BinSums
        Sums of the pairs.
    confidence : float array, shape (n,)
        Confidence of each pair, in the stored dtype.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes, from which λ is estimated.
    cluster : NDArray[np.intp], shape (n,)
        Cluster of each pair, numbered from 0.
    probability : NDArray[np.float64], shape (n,), optional
        Probability of being right, in [0, 1]; the confidence where omitted.
    """

    def __init__(
        self,
        sums: BinSums,
        confidence: Floats,
        correct: NDArray[np.bool_],
        cluster: NDArray[np.intp],
        probability: NDArray[np.float64] | None = None,
    ) -> None:
        self._sums = sums
        self._confidence = confidence
        self._cluster = cluster
        self._probability = confidence if probability is None else probability
        self.shared = shared_probability(self._probability.astype(np.float64), correct, cluster)

    def null_draws(self, scheme: Scheme) -> BinnedNullDraws:
        """The draws in the bins of any scheme; the outcomes drawn are the same for every scheme."""
        binned = self._sums.binned(scheme)
        if scheme.binning == "width" and FINEST_BINS % scheme.bins == 0:
            cell, counts, moments = self._fine_draws
            place = np.searchsorted(binned.index, cell // (FINEST_BINS // scheme.bins))
            return sum_draws(binned, self._sums, NULL_SEED, counts, place, moments)
        index = assign_bins(self._confidence, scheme, computed=self._sums.computed)
        piece, counts, moments = self._draws_of_cells(index * np.int64(FINEST_BINS) + self._fine_cell)
        place = np.searchsorted(binned.index, piece // FINEST_BINS)
        return sum_draws(binned, self._sums, NULL_SEED, counts, place, moments)

    @cached_property
    def _fine_cell(self) -> NDArray[np.intp]:
        """The finest bin of each pair."""
        return bin_of(self._confidence, FINEST_BINS)

    @cached_property
    def _fine_draws(self) -> tuple[NDArray[np.intp], NDArray[np.int32], ConfidenceMoments]:
        return self._draws_of_cells(self._fine_cell)

    def _draws_of_cells(
        self, cell_of_pair: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.int32], ConfidenceMoments]:
        """The occupied cells, the number of right outcomes in each draw and cell, and the cells' moments."""
        cell, place, count = np.unique(cell_of_pair, return_inverse=True, return_counts=True)
        confidence = self._confidence.astype(np.float64)
        moments = ConfidenceMoments.from_sums(
            count.astype(np.int64),
            np.bincount(place, confidence, minlength=cell.size).astype(np.float64),
            np.bincount(place, confidence**2, minlength=cell.size).astype(np.float64),
        )
        return cell, self._count_draws(place, cell.size), moments

    def _count_draws(self, place: NDArray[np.intp], n_places: int) -> NDArray[np.int32]:
        """Number of right outcomes in each draw and place, shape (N_DRAWS, n_places)."""
        random = np.random.default_rng(NULL_SEED)
        probability = self._probability.astype(np.float32)
        counts = np.empty((N_DRAWS, n_places), np.int32)
        for draw in range(N_DRAWS):
            right = correlated_uniforms(random, self._cluster, self.shared) < probability
            counts[draw] = np.bincount(place[right], minlength=n_places)
        return counts

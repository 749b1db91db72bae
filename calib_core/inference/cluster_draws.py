"""How alike are the outcomes of one cluster, and how are outcomes drawn that are as alike?

Rows that ask the same question (its trials, or its prompts) form a cluster. Under the null hypothesis the
row i is right with probability c_i: y_i = 1 if u_i < c_i, with u_i uniform. The rows of a cluster are
dependent through their u_i: with probability λ, a row takes a uniform number common to its cluster,
otherwise one of its own. At λ = 1 rows of equal confidence always end alike, at λ = 0 they are independent.
λ² is estimated from the products of the residuals of two rows of a cluster.
"""

from __future__ import annotations

import math
import sys
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import BinSums, segment_starts
from calib_core.edges import FINEST_BINS, Floats, Scheme, assign_bins, bin_of
from calib_core.inference.clusters import effective_clusters
from calib_core.inference.null import NULL_SEED, BinnedNullDraws, ConfidenceMoments, sum_draws
from calib_core.tokens.sums import N_DRAWS
from calib_core.wording import ROUNDING_TOLERANCE

MIN_CLUSTERS: Final = 60
"""With clusters worth fewer of one size no p-value is given; how often p is small from here on:
benchmarks/null.md."""


def too_few_clusters(cluster: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> str | None:
    """Why rows in these clusters, with these weights, have no p-value; None where they have one.

    Examples
    --------
    >>> too_few_clusters(np.array([0, 0, 1]))
    'only 2 different questions: with repeated questions, a p-value needs 60'
    """
    effective, n_clusters = effective_clusters(cluster, weight), count_clusters(cluster)
    if effective > MIN_CLUSTERS - ROUNDING_TOLERANCE * MIN_CLUSTERS:
        return None
    questions = "1 question" if n_clusters == 1 else f"{n_clusters} different questions"
    worth = f", worth {int(effective)} of one size" if n_clusters >= MIN_CLUSTERS else ""
    return f"only {questions}{worth}: with repeated questions, a p-value needs {MIN_CLUSTERS}"


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
    n = np.int64(cluster.size)
    by_confidence = np.argsort(confidence)
    rank = np.empty_like(by_confidence)
    rank[by_confidence] = np.arange(n)
    sorted_confidence = confidence[by_confidence][np.sort(cluster * n + rank) % n]  # by cluster, then by size
    sizes = np.bincount(cluster)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    n_larger = np.repeat(sizes, sizes) - 1 - (np.arange(n) - start)
    sum_of_minima = 2 * float((sorted_confidence * n_larger).sum())
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
    seed : int
        Seed of the draws.

    Notes
    -----
    The outcomes are drawn once for all schemes and kept as one bit each, in order of the confidence, so that
    the bins of any scheme are stretches of bits to count.
    """

    def __init__(
        self,
        sums: BinSums,
        confidence: Floats,
        correct: NDArray[np.bool_],
        cluster: NDArray[np.intp],
        probability: NDArray[np.float64] | None = None,
        *,
        seed: int = NULL_SEED,
    ) -> None:
        self._sums = sums
        self._seed = seed
        order = np.argsort(confidence, kind="stable")
        self._confidence = confidence[order]
        self._cluster = cluster[order]
        self._probability = (confidence if probability is None else probability)[order].astype(np.float64)
        self.shared = shared_probability(self._probability, correct[order], self._cluster)

    def null_draws(self, scheme: Scheme) -> BinnedNullDraws:
        """The draws in the bins of any scheme; the outcomes drawn are the same for every scheme."""
        binned = self._sums.binned(scheme)
        cell = self._fine_cell
        if scheme.binning == "width" and FINEST_BINS % scheme.bins == 0:
            start = segment_starts(cell)
            bin_ = cell[start] // (FINEST_BINS // scheme.bins)
        else:
            index = assign_bins(self._confidence, scheme, computed=self._sums.computed)
            start = segment_starts(cell, index)
            bin_ = index[start]
        confidence = self._confidence.astype(np.float64)
        moments = ConfidenceMoments.from_sums(
            np.diff(start, append=confidence.size),
            np.add.reduceat(confidence, start),
            np.add.reduceat(confidence**2, start),
        )
        place = np.searchsorted(binned.index, bin_)
        return sum_draws(binned, self._sums, self._seed, self._count_right(start), place, moments)

    @cached_property
    def _fine_cell(self) -> NDArray[np.intp]:
        """The finest bin of each pair."""
        return bin_of(self._confidence, FINEST_BINS)

    @cached_property
    def _right(self) -> NDArray[np.uint64]:
        """The outcomes as bits, 64 to a word with the first one lowest, shape (N_DRAWS, n // 64 + 1)."""
        n, n_clusters = self._cluster.size, int(self._cluster.max(initial=-1)) + 1
        random = np.random.SFC64(self._seed)
        # One number per row says both whether it takes the cluster's number and, if not, whether it is right.
        takes_own = np.uint32((1 - self.shared) * _LIMIT)
        right_by_own = ((1 - self.shared) * self._probability * _LIMIT).astype(np.uint32)
        right_by_common = (self._probability * _LIMIT).astype(np.uint32)
        words = np.zeros((N_DRAWS, n // 64 + 1), np.uint64)
        octets = words.view(np.uint8)
        batch = max(1, _DRAWN_AT_ONCE // n)
        for first in range(0, N_DRAWS, batch):
            n_draws = min(batch, N_DRAWS - first)
            common = _uniform_integers(random, n_draws, n_clusters)
            right = np.take(common, self._cluster, axis=1) < right_by_common
            if takes_own:
                own = _uniform_integers(random, n_draws, n)
                right &= own >= takes_own
                right |= own < right_by_own
            packed = np.packbits(right, axis=1, bitorder="little")
            octets[first : first + n_draws, : packed.shape[1]] = packed
        return words if sys.byteorder == "little" else words.byteswap()

    def _count_right(self, start: NDArray[np.intp]) -> NDArray[np.int32]:
        """Number of right outcomes in each draw and stretch of rows from one start on, (N_DRAWS, starts)."""
        words = self._right
        in_words = np.zeros(words.shape, np.int32)
        np.cumsum(np.bitwise_count(words[:, :-1]), axis=1, out=in_words[:, 1:])
        ends = np.append(start, self._cluster.size)
        word, mask = ends // 64, (np.uint64(1) << (ends % 64).astype(np.uint64)) - np.uint64(1)
        before = in_words[:, word] + np.bitwise_count(words[:, word] & mask)
        return np.diff(before, axis=1)


class WeightedDraws:
    """Draws for pairs of one class with weights, a sibling of `null.BinomialDraws`.

    Each pair is right with its probability, whatever its weight. The outcomes are the same for every scheme.

    Parameters
    ----------
    sums : BinSums
        Sums of the pairs with these weights.
    confidence : float array, shape (n,)
        Confidence of each pair, in the stored dtype.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes, from which the correlation within clusters is estimated.
    weight : NDArray[np.float64], shape (n,)
        Weight of each pair, above 0.
    cluster : NDArray[np.intp] or None, shape (n,)
        Cluster of each pair, numbered from 0; None if pairs are independent.
    probability : NDArray[np.float64], shape (n,), optional
        Probability of being right, in [0, 1]; the confidence where omitted.
    """

    def __init__(
        self,
        sums: BinSums,
        confidence: Floats,
        correct: NDArray[np.bool_],
        weight: NDArray[np.float64],
        cluster: NDArray[np.intp] | None,
        probability: NDArray[np.float64] | None = None,
    ) -> None:
        self._sums, self._confidence, self._weight, self._cluster = sums, confidence, weight, cluster
        self._chance = (confidence if probability is None else probability).astype(np.float64)
        self._shared = 0.0 if cluster is None else shared_probability(self._chance, correct, cluster)

    def null_draws(self, scheme: Scheme) -> BinnedNullDraws:
        """The draws in the bins of any scheme."""
        binned = self._sums.binned(scheme)
        index = assign_bins(self._confidence, scheme, computed=self._sums.computed, weight=self._weight)
        place, n_bins = np.searchsorted(binned.index, index), binned.n_bins
        confidence, random = self._confidence.astype(np.float64), np.random.default_rng(NULL_SEED)
        correct, products = np.empty((N_DRAWS, n_bins)), np.empty((N_DRAWS, n_bins))
        for number in range(N_DRAWS):
            right = self._weight * (self._uniforms(random) < self._chance)
            correct[number] = np.bincount(place, right, n_bins)
            products[number] = np.bincount(place, right * confidence, n_bins)
        return BinnedNullDraws(
            binned,
            self._sums.n_rows,
            self._sums.n_groups,
            N_DRAWS,
            NULL_SEED,
            lambda draw: binned.with_outcomes(correct[draw], products[draw]),
            (correct, products),
        )

    def _uniforms(self, random: np.random.Generator) -> NDArray[np.float64 | np.float32]:
        if self._cluster is None:
            return random.random(self._chance.size)
        return correlated_uniforms(random, self._cluster, self._shared)


_LIMIT: Final = 2**31
"""Uniform whole numbers lie below this, so that a probability of 1 has a threshold that fits 32 bits."""


_DRAWN_AT_ONCE: Final = 100_000
"""Number of outcomes drawn together, so that they stay in the processor's cache."""


def _uniform_integers(random: np.random.SFC64, *shape: int) -> NDArray[np.uint32]:
    """Uniform whole numbers in [0, `_LIMIT`); several times as fast as a `Generator`."""
    n = math.prod(shape)
    numbers: NDArray[np.uint64] = random.random_raw((n + 1) // 2)
    halves = numbers.view(np.uint32)[:n]
    halves >>= np.uint32(1)
    return halves.reshape(shape)

"""How much would a metric rise with the number of bins M if no gaps cancelled within the widest bins?

A calibrated model is the wrong comparison for a miscalibrated run: where gaps are clear, noise adds less to
|gap|. Here outcomes are drawn from a model that fits the run. Its accuracy is an isotonic function of the
confidence, or a smooth one where that predicts the outcomes clearly better, cross-fitted by cluster; within
each of the widest bins its gaps are then given one sign, that of the bin's own gap, and are scaled so that
they add up to it. Such gaps cancel in no bin, so that the model's true ECE is the same at every M, and
whatever rises in its draws is noise.

An isotonic fit alone doesn't serve: its steps cancel one another, so that it finds a rise in calibrated
rows; and where the accuracy falls while the confidence rises, it flattens gaps that have one sign, and noise
seems too small (benchmarks/fitted_null.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import BinSums, CutBins
from calib_core.edges import FINEST_BINS, Floats, Scheme, assign_bins, bin_of
from calib_core.inference.cluster_draws import ClusterDraws
from calib_core.inference.clusters import deal_folds
from calib_core.inference.null import BinnedNullDraws, BinomialDraws
from calib_core.metrics.brier_decomposition import recalibrated_accuracy
from calib_core.metrics.metric import Metric

FOLDS: Final = 5
"""Number of folds of the cross-fitting."""

FOLD_SEED: Final = 0
"""Seed of the folds."""


SMOOTHING_PASSES: Final = 2
"""How often gaps are smoothed: each pass adds what the passes before it left over."""

CLEARLY_BETTER: Final = 2.0
"""Standard errors by which the Brier score has to be lower for another curve to replace the first."""

Curve = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""Confidences of k cells, their numbers of rows and of right ones → accuracy of each cell, in [0, 1]."""


def isotonic_curve(
    confidence: NDArray[np.float64], rows: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Accuracy that never falls with the confidence, by least squares.

    Parameters
    ----------
    confidence, rows, right : NDArray[np.float64], shape (k,)
        Rising confidences in [0, 1], number of rows of each, and of right ones.

    Returns
    -------
    NDArray[np.float64], shape (k,)
        In [0, 1].
    """
    del confidence
    return recalibrated_accuracy(rows, right)


def smooth_curve(
    confidence: NDArray[np.float64], rows: NDArray[np.float64], right: NDArray[np.float64], *, width: float
) -> NDArray[np.float64]:
    """Confidence less the gap of the rows near it, by a triangular kernel.

    Parameters
    ----------
    confidence, rows, right : NDArray[np.float64], shape (k,)
        Rising confidences in [0, 1], number of rows of each, and of right ones.
    width : float
        Half-width of the kernel, in (0, .5].

    Returns
    -------
    NDArray[np.float64], shape (k,)
        In [0, 1].

    References
    ----------
    Smoothing once more what was left over, "twicing": Tukey (1977), *Exploratory Data Analysis*, ch. 16.
    """
    reach, cell = round(width * FINEST_BINS), bin_of(confidence, FINEST_BINS)
    kernel = 1 - np.abs(np.arange(1 - reach, reach)) / reach

    def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.convolve(np.bincount(cell, values, FINEST_BINS), kernel, "same")[cell]

    gap, weight = np.zeros(confidence.size), summed(rows)
    for _ in range(SMOOTHING_PASSES):
        gap += summed(rows * (confidence - gap) - right) / weight
    return np.clip(confidence - gap, 0.0, 1.0)


CURVES: Final[tuple[Curve, ...]] = (
    isotonic_curve,
    *(partial(smooth_curve, width=width) for width in (0.1, 0.05, 0.025)),
)
"""Curves that are tried; another than the first has to be clearly better."""


def cross_fitted_probabilities(
    confidence: Floats,
    correct: NDArray[np.bool_],
    cluster: NDArray[np.intp] | None = None,
    *,
    curves: Sequence[Curve] = CURVES,
    folds: int = FOLDS,
    seed: int = FOLD_SEED,
) -> NDArray[np.float64]:
    """Accuracy at each row's confidence, by a curve fitted to the rows of the other folds.

    Parameters
    ----------
    confidence : float array, shape (n,)
        Confidences in [0, 1]; those in one cell of the finest grid (width 1/3000) count as equal.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    cluster : NDArray[np.intp], shape (n,), optional
        Cluster of each row, numbered from 0, whose rows are all in one fold; each row its own where omitted.
    curves : sequence of Curve
        The first is taken, unless the best of the others has a Brier score out of fold that is lower by more
        than `CLEARLY_BETTER` standard errors of the paired difference.
    folds, seed : int
        Number of folds, at least 2, and the seed by which clusters are dealt into them.

    Returns
    -------
    NDArray[np.float64], shape (n,)
        In [0, 1]; linear between the confidences of the other folds, constant beyond them.

    Raises
    ------
    ValueError
        With fewer clusters than folds.
    """
    fold = deal_folds(confidence.size, cluster, folds, seed)
    # Rows by fold and cell, so that each fit adds up cells and not rows.
    key = fold * FINEST_BINS + bin_of(confidence, FINEST_BINS)
    rows, right, total = (
        np.bincount(key, weights, folds * FINEST_BINS).astype(np.float64).reshape(folds, FINEST_BINS)
        for weights in (None, correct, confidence)
    )
    fitted = [_fitted_to_other_folds(curve, rows, right, total) for curve in curves]
    # Brier score less that of confidence 0, Σ p² − 2py.
    score = [float((rows * p**2 - 2 * right * p).sum()) for p in fitted]
    best = int(np.argmin(score))
    taken, first = (fitted[number].ravel()[key] for number in (best, 0))
    difference = (taken - first) * (taken + first - 2 * correct)
    if cluster is not None:
        difference = np.bincount(cluster, difference)
    is_better = -float(difference.sum()) > CLEARLY_BETTER * float(np.sqrt((difference**2).sum()))
    return taken if is_better else first


def _fitted_to_other_folds(
    curve: Curve, rows: NDArray[np.float64], right: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Accuracy by fold and cell, from rows, right ones and Σc by fold and cell."""
    fitted, grid = np.empty(rows.shape), np.arange(FINEST_BINS, dtype=np.float64)
    for number in range(rows.shape[0]):
        n, n_right, sum_ = (sums.sum(axis=0) - sums[number] for sums in (rows, right, total))
        occupied = np.flatnonzero(n > 0)
        n, n_right, sum_ = n[occupied], n_right[occupied], sum_[occupied]
        fitted[number] = np.interp(grid, grid[occupied], curve(np.clip(sum_ / n, 0.0, 1.0), n, n_right))
    return fitted


def one_signed_probabilities(
    confidence: NDArray[np.float64],
    correct: NDArray[np.bool_],
    probability: NDArray[np.float64],
    bin_: NDArray[np.intp],
    cluster: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Probabilities near the given ones whose gaps c − p have one sign within each bin.

    Parameters
    ----------
    confidence : NDArray[np.float64], shape (n,)
        Confidences in [0, 1].
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    probability : NDArray[np.float64], shape (n,)
        Fitted accuracy, in [0, 1].
    bin_ : NDArray[np.intp], shape (n,)
        Bin of each row, numbered from 0.
    cluster : NDArray[np.intp], shape (n,), optional
        Cluster of each row, numbered from 0; each row its own where omitted.

    Returns
    -------
    NDArray[np.float64], shape (n,)
        In [0, 1]. The gaps of a bin with the sum of gaps D = Σ (c − y) add up to sgn(D)·√max(0, D² − V),
        unless a probability is cut at 0 or 1. V = Σ_q (Σ_{i∈q} (c_i − y_i))² over the clusters q in the
        bin: D² exceeds the square of the true sum by the variance, which V estimates. Gaps of the other
        sign become 0; if all are, the gap is the same throughout the bin.
    """
    gap = confidence - correct
    n_bins = int(bin_.max(initial=-1)) + 1
    total = np.bincount(bin_, gap, n_bins)
    if cluster is None:
        variance = np.bincount(bin_, gap**2, n_bins)
    else:
        key, place = np.unique(bin_ * (int(cluster.max()) + 1) + cluster, return_inverse=True)
        by_cluster = np.bincount(place, gap)
        variance = np.bincount(key // (int(cluster.max()) + 1), by_cluster**2, n_bins)
    target = np.sqrt(np.maximum(total**2 - variance, 0.0))
    sign = np.sign(total)[bin_]
    fitted = np.maximum((confidence - probability) * sign, 0.0)
    fitted_total = np.bincount(bin_, fitted, n_bins)
    has_fit = fitted_total > 0
    count = np.maximum(np.bincount(bin_, minlength=n_bins), 1)
    scale = np.divide(target, fitted_total, out=np.zeros(n_bins), where=has_fit)
    flat = np.where(has_fit, 0.0, target / count)
    return np.clip(confidence - sign * (fitted * scale[bin_] + flat[bin_]), 0.0, 1.0)


class FittedNull:
    """Draws from the fitted model of one run, a `NullSource` for metrics of one confidence a row.

    Parameters
    ----------
    sums : BinSums
        Sums of the pairs.
    confidence : float array, shape (n,)
        Confidence of each pair, in the stored dtype.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    cluster : NDArray[np.intp] or None, shape (n,)
        Cluster of each pair, numbered from 0; None if the pairs are independent.
    widest : Scheme
        Bins within which no gaps of the model cancel.

    Attributes
    ----------
    probability : NDArray[np.float64], shape (n,)
        The model's accuracy for each pair, in [0, 1].
    """

    def __init__(
        self,
        sums: BinSums,
        confidence: Floats,
        correct: NDArray[np.bool_],
        cluster: NDArray[np.intp] | None,
        widest: Scheme,
    ) -> None:
        fitted = cross_fitted_probabilities(confidence, correct, cluster)
        bin_ = assign_bins(confidence, widest, computed=sums.computed)
        self.widest = widest
        self.probability = one_signed_probabilities(
            confidence.astype(np.float64), correct, fitted, bin_, cluster
        )
        self._draws = (
            _FittedBinomialDraws(sums, confidence, self.probability)
            if cluster is None
            else ClusterDraws(sums, confidence, correct, cluster, self.probability)
        )

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """Metric and scheme → seed, and value of each draw."""
        return {}

    @property
    def no_p_reason(self) -> None:
        """Always None: the draws are as dependent as the rows."""

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws:
        """The bins of the scheme with outcomes drawn from the model, the same for every metric."""
        del metric
        return self._draws.null_draws(scheme)

    @property
    def recipe_text(self) -> str:
        """How the model is made, for recipes."""
        return (
            f"isotonic or smooth curve cross-fitted in {FOLDS} folds, fold seed {FOLD_SEED}, gaps of one "
            f"sign in each bin at M={self.widest.bins}"
        )


class _FittedBinomialDraws(BinomialDraws):
    """Draws for independent pairs with given probabilities."""

    def __init__(self, sums: BinSums, confidence: Floats, probability: NDArray[np.float64]) -> None:
        super().__init__(sums)
        self._row_confidence = confidence
        self._row_probability = probability

    @cached_property
    def _row_cell(self) -> NDArray[np.intp]:
        return bin_of(self._row_confidence, FINEST_BINS)

    @cached_property
    def _fine_expected(self) -> NDArray[np.float64]:
        of_cell = np.bincount(self._row_cell, self._row_probability, FINEST_BINS)
        return of_cell.astype(np.float64)[self._fine.index]

    def _expected_in_pieces(self, cut: CutBins) -> NDArray[np.float64]:
        rows = np.flatnonzero(cut.is_cut[self._row_cell])
        place = np.searchsorted(cut.cut_pairs.value, self._row_confidence[rows].astype(np.float64))
        piece = cut.find_pieces()[place]
        return np.bincount(piece, self._row_probability[rows], cut.pieces.n_bins).astype(np.float64)

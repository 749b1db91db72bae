"""What would the bins hold if the outcomes were drawn from the confidences themselves?

Draws are kept cell by cell; here they are added up into the bins of one scheme, so that a metric is read
off a draw by the very function that reads it off the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.binned import FINEST_BINS, Binned, Scheme, Sums
from calib_core.problems import Unavailable


@dataclass(frozen=True, slots=True, eq=False)
class NullDrawSums:
    """One draw as sums of one scheme: the bins of the data, with outcomes drawn anew."""

    bins: Binned
    rows: int
    groups: int
    n_pairs: int

    @property
    def n_correct(self) -> int:
        """Σ y of this draw."""
        return int(self.bins.correct.sum())

    @property
    def confidence_sum(self) -> float:
        """Σ c."""
        return float(self.bins.confidence.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² of this draw."""
        return max(0.0, float((self.bins.squared - 2 * self.bins.confident_correct).sum()) + self.n_correct)

    @property
    def log_loss(self) -> float:
        """Raises Unavailable: a draw keeps no single confidence."""
        raise Unavailable("A draw keeps no single confidence.")

    @property
    def impossible(self) -> int:
        """None: what has probability 0 is never drawn."""
        return 0

    def binned(self, scheme: Scheme) -> Binned:
        """The bins; raises Unavailable for another scheme than the draw was added up for."""
        if scheme != self.bins.scheme:
            raise Unavailable("A draw is added up for one scheme.")
        return self.bins

    def pooled(self) -> NullDrawSums:
        """Itself: a draw is added up over the classes or by class, as it was asked for."""
        return self

    def natural_bins(self) -> Binned:
        """Raises Unavailable: a draw keeps no single confidence."""
        raise Unavailable("A draw keeps no single confidence.")


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceMoments:
    """The pairs of each cell that are drawn right: mean, and at most the variance, of their confidence."""

    mean: NDArray[np.float64]
    variance_bound: NDArray[np.float64]

    @classmethod
    def from_sums(
        cls, n: NDArray[np.int64], confidence_sum: NDArray[np.float64], squared_confidence_sum: NDArray[np.float64]
    ) -> ConfidenceMoments:
        """From n, Σc and Σc² of each cell of the finest grid: drawn is a pair as often as it is confident.

        Its mean confidence is then Σc²/Σc. With confidences within 1/FINEST of one another their variance
        is no more than the plain one times the largest over the mean, and no more than 1/(2·FINEST)².
        """
        some = confidence_sum > 0
        mean = np.divide(squared_confidence_sum, confidence_sum, out=np.zeros(some.size), where=some)
        plain = confidence_sum / n
        variance = squared_confidence_sum / n - plain**2
        variance[variance < 1e-13 * plain**2] = 0.0  # what rounding leaves of equal confidences
        most = variance * np.divide(plain + 1 / FINEST_BINS, plain, out=np.ones(some.size), where=some)
        return cls(mean, np.minimum(most, 0.25 / FINEST_BINS**2))


@dataclass(frozen=True, slots=True, eq=False)
class BinnedNullDraws:
    """Draws for the bins of one scheme; iterating gives each draw as sums.

    binned: of the data; rows, groups: as in `Sums`; draws: R; seed: of the draws; bins: number of a draw
    → `binned` with its outcomes; blur: what the Σcy of the draws may lack of their spread, added up over the
    bins and divided by the rows: within a cell every confidence counts as their mean.
    """

    data_bins: Binned
    rows: int
    groups: int
    n_draws: int
    seed: int
    bins_of_draw: Callable[[int], Binned]
    missing_spread: float = 0.0

    def __iter__(self) -> Iterator[NullDrawSums]:
        pairs = int(self.data_bins.count.sum())
        for number in range(self.n_draws):
            yield NullDrawSums(self.bins_of_draw(number), self.rows, self.groups, pairs)


def sum_draws(
    binned: Binned,
    sums: Sums,
    seed: int,
    correct_counts: NDArray[np.int32],
    bin_position: NDArray[np.intp],
    moments: ConfidenceMoments | None = None,
) -> BinnedNullDraws:
    """Draws kept for every cell.

    drawn: right outcomes, shape (R, cells); place: bin of each cell, as a position in `binned`, each bin
    having a cell, shape (cells,); likely: the pairs that are drawn right there, None where nothing but
    their number is asked for.
    """
    moments = moments or ConfidenceMoments(np.zeros(bin_position.size), np.zeros(bin_position.size))
    order = np.argsort(bin_position, kind="stable")
    start = np.searchsorted(bin_position[order], np.arange(binned.size))
    correct_counts = correct_counts[:, order]
    right = np.add.reduceat(correct_counts, start, axis=1) if binned.size else correct_counts[:, :0]
    weighed = np.add.reduceat(correct_counts * moments.mean[order], start, axis=1) if binned.size else right * 1.0

    def bins_of_draw(draw: int) -> Binned:
        correct = right[draw].astype(np.int64)
        return binned.with_outcomes(correct, weighed[draw])

    lacking = np.bincount(bin_position[order], correct_counts.mean(axis=0) * moments.variance_bound[order], minlength=binned.size)
    blur = float(np.sqrt(lacking).sum()) / max(sums.rows, 1)
    return BinnedNullDraws(binned, sums.rows, sums.groups, correct_counts.shape[0], seed, bins_of_draw, blur)


def sum_sparse_draws(
    binned: Binned,
    sums: Sums,
    seed: int,
    n_draws: int,
    draw_index: NDArray[np.int32],
    bin_position: NDArray[np.intp],
    correct_counts: NDArray[np.int32],
) -> BinnedNullDraws:
    """Draws kept only where something was drawn: `right` outcomes of draw `draw` in bin `place`.

    draw: ascending; place: a position in `binned`, which may come again; shape (n,) each.
    """
    start = np.searchsorted(draw_index, np.arange(n_draws + 1))

    def bins_of_draw(draw: int) -> Binned:
        part = slice(int(start[draw]), int(start[draw + 1]))
        correct = np.bincount(bin_position[part], correct_counts[part], minlength=binned.size).astype(np.int64)
        return binned.with_outcomes(correct, np.full(binned.size, np.nan))

    return BinnedNullDraws(binned, sums.rows, sums.groups, n_draws, seed, bins_of_draw)

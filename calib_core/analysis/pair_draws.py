"""Which rows would be right if every confidence were exactly right?  One pair a row: binomial draws.

Drawn once, on the finest grid, for every M together: within a cell the confidences differ by less than
1/3000, so that a binomial draw at their mean has their mean and, to one part in millions, their variance.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.redrawn import BinnedNullDraws, sum_draws
from calib_core.binned import BINNINGS, FINEST_BINS, Scheme
from calib_core.bins import BinSums
from calib_core.cells import segment_starts
from calib_core.tokens.sums import N_DRAWS

NULL_SEED: Final = 0
"""Of the draws."""


class BinomialDraws:
    """Draws for pairs of one class that do not depend on one another."""

    def __init__(self, sums: BinSums) -> None:
        self._sums = sums
        self._fine = sums.binned(Scheme("width", FINEST_BINS))

    def null_draws(self, scheme: Scheme) -> BinnedNullDraws:
        """The draws in the bins of any scheme.

        The cells that an edge of the scheme cuts are drawn anew in their parts, each at its own mean;
        all others are the same draws whatever the scheme.
        """
        binned = self._sums.binned(scheme)
        if scheme.binning == "width" and FINEST_BINS % scheme.bins == 0:
            bin_ = self._fine.index // (FINEST_BINS // scheme.bins)
            place = np.searchsorted(binned.index, bin_)
            return sum_draws(binned, self._sums, NULL_SEED, self._fine_draws, place)
        return self._draws_with_cut_cells(scheme)

    @cached_property
    def _fine_draws(self) -> NDArray[np.int32]:
        return _draw_binomial(np.random.default_rng(NULL_SEED), self._fine.count, self._fine.confidence)

    @cached_property
    def _fine_cell(self) -> NDArray[np.intp]:
        """The finest bin of each distinct confidence, as a position in `_fine`."""
        return np.searchsorted(self._fine.index, self._sums.bin_index(Scheme("width", FINEST_BINS)))

    def _draws_with_cut_cells(self, scheme: Scheme) -> BinnedNullDraws:
        binned, cells = self._sums.binned(scheme), self._sums.distinct
        index = self._sums.bin_index(scheme)
        start = segment_starts(self._fine_cell, index)
        part, bin_ = self._fine_cell[start], index[start]
        whole = np.bincount(part, minlength=self._fine.size)[part] == 1
        count = np.add.reduceat(cells.count, start)
        confidence = np.add.reduceat(cells.value * cells.count, start)
        drawn = np.empty((N_DRAWS, part.size), np.int32)
        drawn[:, whole] = self._fine_draws[:, part[whole]]
        anew = np.random.default_rng([NULL_SEED, BINNINGS.index(scheme.binning), scheme.bins])
        drawn[:, ~whole] = _draw_binomial(anew, count[~whole], confidence[~whole])
        place = np.searchsorted(binned.index, bin_)
        return sum_draws(binned, self._sums, NULL_SEED, drawn, place)


def _draw_binomial(
    rng: np.random.Generator, n_pairs: NDArray[np.int64], confidence_sum: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Right ones of `count` pairs whose confidences add up to `confidence`; shape (DRAWS, cells)."""
    chance = np.clip(confidence_sum / n_pairs, 0.0, 1.0)
    return rng.binomial(n_pairs, chance, size=(N_DRAWS, n_pairs.size)).astype(np.int32)

"""Which rows would be right if every confidence were exactly right?  One pair a row: binomial draws.

Drawn once, on the finest grid, for every M together: within a cell the confidences differ by less than
1/3000, so that a binomial draw at their mean has their mean and, to one part in millions, their variance.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.redrawn import Redrawn, added_up
from calib_core.binned import BINNINGS, FINEST, Scheme
from calib_core.bins import BinSums
from calib_core.cells import starts
from calib_core.tokens.sums import DRAWS

SEED: Final = 0
"""Of the draws."""


class PairDraws:
    """Draws for pairs of one class that do not depend on one another."""

    def __init__(self, sums: BinSums) -> None:
        self._sums = sums
        self._fine = sums.binned(Scheme("width", FINEST))

    def redrawn(self, scheme: Scheme) -> Redrawn:
        """The draws in the bins of any scheme.

        The cells that an edge of the scheme cuts are drawn anew in their parts, each at its own mean;
        all others are the same draws whatever the scheme.
        """
        binned = self._sums.binned(scheme)
        if scheme.binning == "width" and FINEST % scheme.bins == 0:
            bin_ = self._fine.index // (FINEST // scheme.bins)
            place = np.searchsorted(binned.index, bin_)
            return added_up(binned, self._sums, SEED, self._drawn, place)
        return self._cut(scheme)

    @cached_property
    def _drawn(self) -> NDArray[np.int32]:
        return _binomial(np.random.default_rng(SEED), self._fine.count, self._fine.confidence)

    @cached_property
    def _cell(self) -> NDArray[np.intp]:
        """The finest bin of each distinct confidence, as a position in `_fine`."""
        return np.searchsorted(self._fine.index, self._sums.index(Scheme("width", FINEST)))

    def _cut(self, scheme: Scheme) -> Redrawn:
        binned, cells = self._sums.binned(scheme), self._sums.cells
        index = self._sums.index(scheme)
        start = starts(self._cell, index)
        part, bin_ = self._cell[start], index[start]
        whole = np.bincount(part, minlength=self._fine.size)[part] == 1
        count = np.add.reduceat(cells.count, start)
        confidence = np.add.reduceat(cells.value * cells.count, start)
        drawn = np.empty((DRAWS, part.size), np.int32)
        drawn[:, whole] = self._drawn[:, part[whole]]
        anew = np.random.default_rng([SEED, BINNINGS.index(scheme.binning), scheme.bins])
        drawn[:, ~whole] = _binomial(anew, count[~whole], confidence[~whole])
        place = np.searchsorted(binned.index, bin_)
        return added_up(binned, self._sums, SEED, drawn, place)


def _binomial(
    random: np.random.Generator, count: NDArray[np.int64], confidence: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Right ones of `count` pairs whose confidences add up to `confidence`; shape (DRAWS, cells)."""
    chance = np.clip(confidence / count, 0.0, 1.0)
    return random.binomial(count, chance, size=(DRAWS, count.size)).astype(np.int32)

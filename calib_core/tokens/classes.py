"""What do the pairs of each class add up to, cell by cell?

A class has few cells that occur beside the first one. The first one is what the column sums leave.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.columns import UnlistedSums, Float16UnlistedSums, WideFloatUnlistedSums
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.positions import PositionBlock
from calib_core.tokens.tally import KeyedSums


class ClassCellSums:
    """Pairs whose class and probability are known, added up; grows with the (class, cell) that occur."""

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self._pairs = KeyedSums()
        self._right = KeyedSums()
        # Σc and Σcy of the first cell.
        self._confidence = np.zeros(classes)
        self._confident_correct = np.zeros(classes)

    def add_pairs(
        self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]
    ) -> None:
        """Pairs, whatever their outcome: class, cell and probability of each, shape (n,)."""
        far = cell > 0
        self._pairs.add(_class_cell_key(class_index[far], cell[far]), prob[far])
        np.add.at(self._confidence, class_index[~far], prob[~far])

    def add_correct(
        self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]
    ) -> None:
        """Which pairs have the outcome 1, shape (n,)."""
        far = cell > 0
        self._right.add(_class_cell_key(class_index[far], cell[far]), prob[far])
        np.add.at(self._confident_correct, class_index[~far], prob[~far])

    def listed_sums(self) -> NDArray[np.float64]:
        """Σp by class of all pairs so far, shape (K,)."""
        key, _, confidence = self._pairs.sums()
        return self._confidence + np.bincount(key // GRID_CELLS, confidence, self._classes)

    def grid(self, occurrences: NDArray[np.int64], unlisted: NDArray[np.float64]) -> GridSums:
        """The cells that occur.

        occurrences: positions at which each class is the right one; unlisted: Σp by class of the pairs that
        were not added, all of the first cell; both of shape (K,).
        """
        key, count, confidence = self._pairs.sums()
        group, cell = np.divmod(key, GRID_CELLS)
        correct, confident_correct = np.zeros(key.size, np.int64), np.zeros(key.size)
        right = self._right.sums()
        at = np.searchsorted(key, right[0])  # what is right is also a pair
        correct[at], confident_correct[at] = right[1], right[2]

        rows = int(occurrences.sum())
        first_count = rows - np.bincount(group, count, self._classes).astype(np.int64)
        first_correct = occurrences - np.bincount(group, correct, self._classes).astype(np.int64)
        kept = np.flatnonzero(first_count)
        before = np.searchsorted(group, kept)

        return GridSums(
            group=np.insert(group, before, kept).astype(np.int32),
            cell=np.insert(cell, before, 0).astype(np.int32),
            count=np.insert(count, before, first_count[kept]),
            correct=np.insert(correct, before, first_correct[kept]),
            confidence=np.insert(confidence, before, (self._confidence + unlisted)[kept]),
            squared=np.broadcast_to(np.nan, key.size + kept.size),
            confident_correct=np.insert(confident_correct, before, self._confident_correct[kept]),
            rows=rows,
            groups=self._classes,
        )


class ClassSums:
    """Sums by class of whole distributions."""

    def __init__(self, classes: int, dtype: np.dtype[Any]) -> None:
        self._cells = ClassCellSums(classes)
        self._unlisted: UnlistedSums = (Float16UnlistedSums if dtype == np.float16 else WideFloatUnlistedSums)(classes)

    def add(self, positions: PositionBlock) -> None:
        """Some positions more."""
        if positions.scanned.unlisted_block_sums is not None:
            self._unlisted.add(positions.scanned)
        self._cells.add_pairs(positions.scanned.class_index, positions.entry_cell, positions.scanned.prob)
        self._cells.add_correct(positions.target, positions.target_cell, positions.target_prob)

    def grid(self, occurrences: NDArray[np.int64]) -> GridSums:
        """The cells that occur; occurrences: positions at which each class is the right one, shape (K,)."""
        return self._cells.grid(occurrences, self._unlisted.sums())


def _class_cell_key(group: NDArray[np.int64], cell: NDArray[np.intp]) -> NDArray[np.int64]:
    return group * np.int64(GRID_CELLS) + cell

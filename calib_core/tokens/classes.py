"""What do the pairs of each class add up to, cell by cell?

A class has few cells that occur beside the first one. The first one is what the column sums leave.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.columns import Columns, HalfColumns, WideColumns
from calib_core.tokens.grid import CELLS, Grid
from calib_core.tokens.positions import Positions
from calib_core.tokens.tally import Tally


class ClassSums:
    """Sums by class; they grow with the (class, cell) that occur."""

    def __init__(self, classes: int, dtype: np.dtype[Any]) -> None:
        self._classes = classes
        self._unlisted: Columns = (HalfColumns if dtype == np.float16 else WideColumns)(classes)
        self._pairs = Tally()
        self._right = Tally()
        # Σc and Σcy of the first cell.
        self._confidence = np.zeros(classes)
        self._confident_correct = np.zeros(classes)

    def add(self, positions: Positions) -> None:
        """Some positions more."""
        if positions.look.groups is not None:
            self._unlisted.add(positions.look)
        far = positions.cell > 0
        self._pairs.add(_key(positions.look.column[far], positions.cell[far]), positions.look.prob[far])
        np.add.at(self._confidence, positions.look.column[~far], positions.look.prob[~far])
        far = positions.target_cell > 0
        self._right.add(_key(positions.target[far], positions.target_cell[far]), positions.target_prob[far])
        np.add.at(self._confident_correct, positions.target[~far], positions.target_prob[~far])

    def grid(self, occurrences: NDArray[np.int64]) -> Grid:
        """The cells that occur; occurrences: positions at which each class is the right one, shape (K,)."""
        key, count, confidence = self._pairs.sums()
        group, cell = np.divmod(key, CELLS)
        correct, confident_correct = np.zeros(key.size, np.int64), np.zeros(key.size)
        right = self._right.sums()
        at = np.searchsorted(key, right[0])  # what is right is also a pair
        correct[at], confident_correct[at] = right[1], right[2]

        rows = int(occurrences.sum())
        first_count = rows - np.bincount(group, count, self._classes).astype(np.int64)
        first_correct = occurrences - np.bincount(group, correct, self._classes).astype(np.int64)
        kept = np.flatnonzero(first_count)
        before = np.searchsorted(group, kept)

        return Grid(
            group=np.insert(group, before, kept).astype(np.int32),
            cell=np.insert(cell, before, 0).astype(np.int32),
            count=np.insert(count, before, first_count[kept]),
            correct=np.insert(correct, before, first_correct[kept]),
            confidence=np.insert(confidence, before, (self._confidence + self._unlisted.sums())[kept]),
            squared=np.broadcast_to(np.nan, key.size + kept.size),
            confident_correct=np.insert(confident_correct, before, self._confident_correct[kept]),
            rows=rows,
            groups=self._classes,
        )


def _key(group: NDArray[np.int64], cell: NDArray[np.intp]) -> NDArray[np.int64]:
    return group * np.int64(CELLS) + cell

"""What do all pairs add up to, cell by cell, when the classes of a position are pooled?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.positions import PositionBlock


class CellSums:
    """The sums of `Grid` for every cell, empty ones included, added to in place."""

    def __init__(self) -> None:
        self.count = np.zeros(GRID_CELLS, np.int64)
        self.correct = np.zeros(GRID_CELLS, np.int64)
        self.confidence = np.zeros(GRID_CELLS)
        self.squared = np.zeros(GRID_CELLS)
        self.confident_correct = np.zeros(GRID_CELLS)

    def add(self, cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """Pairs, whatever their outcome."""
        self.count += np.bincount(cell, minlength=GRID_CELLS)
        self.confidence += np.bincount(cell, prob, GRID_CELLS)
        self.squared += np.bincount(cell, prob * prob, GRID_CELLS)

    def add_correct(self, cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """Which of the pairs have the outcome 1."""
        self.correct += np.bincount(cell, minlength=GRID_CELLS)
        self.confident_correct += np.bincount(cell, prob, GRID_CELLS)

    def grid(self, rows: int, log_loss: float = 0.0, impossible: int = 0) -> GridSums:
        """The cells that occur."""
        cell = np.flatnonzero(self.count)
        return GridSums(
            group=np.zeros(cell.size, np.int32),
            cell=cell.astype(np.int32),
            count=self.count[cell],
            correct=self.correct[cell],
            confidence=self.confidence[cell],
            squared=self.squared[cell],
            confident_correct=self.confident_correct[cell],
            rows=rows,
            log_loss=log_loss,
            impossible=impossible,
        )


class PooledSums:
    """Sums of the top labels and of all pairs."""

    def __init__(self, classes: int) -> None:
        self.rows = 0
        self.occurrences = np.zeros(classes, np.int64)
        self.excess = 0.0
        self._top = CellSums()
        self._all = CellSums()
        self._log_loss = 0.0
        self._impossible = 0

    def add(self, positions: PositionBlock) -> None:
        """Some positions more."""
        self.rows += positions.n_rows
        np.add.at(self.occurrences, positions.target, 1)
        self.excess += float(np.abs(1 - positions.scanned.row_sum).sum())
        possible = positions.target_prob[positions.target_prob > 0]
        self._log_loss -= float(np.log(possible).sum())
        self._impossible += positions.n_rows - possible.size

        self._all.add(positions.entry_cell, positions.scanned.prob)
        self._all.add_correct(positions.target_cell, positions.target_prob)
        self._all.count[0] += positions.n_rows * positions.n_classes - positions.scanned.prob.size
        self._all.confidence[0] += positions.scanned.unlisted_sum.sum()
        self._all.squared[0] += positions.scanned.unlisted_square_sum.sum()

        top = positions.scanned.top_entry
        right = top[positions.scanned.class_index[top] == positions.target]
        self._top.add(positions.entry_cell[top], positions.scanned.prob[top])
        self._top.add_correct(positions.entry_cell[right], positions.scanned.prob[right])

    def top_label(self) -> GridSums:
        """One pair a position: its top label."""
        return self._top.grid(self.rows)

    def all_labels(self) -> GridSums:
        """K pairs a position."""
        return self._all.grid(self.rows, self._log_loss, self._impossible)

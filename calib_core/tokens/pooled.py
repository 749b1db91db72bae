"""What do all pairs add up to, cell by cell, when the classes of a position are pooled?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.grid import CELLS, Grid
from calib_core.tokens.positions import Positions


class CellSums:
    """The sums of `Grid` for every cell, empty ones included, added to in place."""

    def __init__(self) -> None:
        self.count = np.zeros(CELLS, np.int64)
        self.correct = np.zeros(CELLS, np.int64)
        self.confidence = np.zeros(CELLS)
        self.squared = np.zeros(CELLS)
        self.confident_correct = np.zeros(CELLS)

    def add(self, cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """Pairs, whatever their outcome."""
        self.count += np.bincount(cell, minlength=CELLS)
        self.confidence += np.bincount(cell, prob, CELLS)
        self.squared += np.bincount(cell, prob * prob, CELLS)

    def add_right(self, cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """Which of the pairs have the outcome 1."""
        self.correct += np.bincount(cell, minlength=CELLS)
        self.confident_correct += np.bincount(cell, prob, CELLS)

    def grid(self, rows: int, log_loss: float = 0.0, impossible: int = 0) -> Grid:
        """The cells that occur."""
        cell = np.flatnonzero(self.count)
        return Grid(
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

    def add(self, positions: Positions) -> None:
        """Some positions more."""
        self.rows += positions.rows
        np.add.at(self.occurrences, positions.target, 1)
        self.excess += float(np.abs(1 - positions.look.total).sum())
        possible = positions.target_prob[positions.target_prob > 0]
        self._log_loss -= float(np.log(possible).sum())
        self._impossible += positions.rows - possible.size

        self._all.add(positions.cell, positions.look.prob)
        self._all.add_right(positions.target_cell, positions.target_prob)
        self._all.count[0] += positions.rows * positions.classes - positions.look.prob.size
        self._all.confidence[0] += positions.look.rest.sum()
        self._all.squared[0] += positions.look.squares.sum()

        top = positions.look.top
        right = top[positions.look.column[top] == positions.target]
        self._top.add(positions.cell[top], positions.look.prob[top])
        self._top.add_right(positions.cell[right], positions.look.prob[right])

    def top(self) -> Grid:
        """One pair a position: its top label."""
        return self._top.grid(self.rows)

    def all(self) -> Grid:
        """K pairs a position."""
        return self._all.grid(self.rows, self._log_loss, self._impossible)

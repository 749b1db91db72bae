"""What do the pairs of each class add up to, cell by cell?

A class has few cells that occur beside the first one. The first one is what the column sums leave.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.float16 import FLOAT16_BITS_LIMIT, FLOAT16_UNIT, PackedRows, even_lanes, odd_lanes
from calib_core.tokens.float_bits import as_bits
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.row_scanner import PositionBlock, ScannedRows

# MERGED tally: How is something summed by a key that is known only when it is met?

MAX_PENDING: Final = 1 << 19
"""Entries that wait before they are sorted in; or as many as are sorted in already, if those are more."""


class KeyedSums:
    """Count and sum by key; grows with the distinct keys."""

    def __init__(self) -> None:
        self._key = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)
        self._sum = np.zeros(0)
        self._waiting: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._size = 0

    def add(self, key: NDArray[np.int64], value: NDArray[np.float64]) -> None:
        """One more entry under each key, both of shape (n,)."""
        self._waiting.append((key, value))
        self._size += key.size
        if self._size > max(MAX_PENDING, self._key.size):
            self._consolidate()

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Keys ascending, how many entries each has, and the sum of their values."""
        self._consolidate()
        return self._key, self._count, self._sum

    def _consolidate(self) -> None:
        if not self._waiting:
            return
        key = np.concatenate([self._key, *(key for key, _ in self._waiting)])
        count = np.concatenate([self._count, np.ones(self._size, np.int64)])
        value = np.concatenate([self._sum, *(value for _, value in self._waiting)])
        self._waiting, self._size = [], 0
        order = np.argsort(key, kind="stable")
        key = key[order]
        start = np.flatnonzero(np.diff(key, prepend=-1))
        if start.size:
            self._key = key[start]
            self._count = np.add.reduceat(count[order], start)
            self._sum = np.add.reduceat(value[order], start)


# MERGED pooled: What do all pairs add up to, cell by cell, when the classes of a position are pooled?


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


# MERGED columns: What do the entries that are not listed add up to, class by class?

_MAX_PENDING_ROWS: Final = (1 << 32) // (int(FLOAT16_BITS_LIMIT) + 1) - 1


class UnlistedSums(Protocol):
    """Σp by class over the unlisted entries."""

    def add(self, scanned: ScannedRows) -> None:
        """The rows of a look more."""
        ...

    def sums(self) -> NDArray[np.float64]:
        """Of all rows so far, shape (K,)."""
        ...


class WideFloatUnlistedSums:
    """For float32 and float64."""

    def __init__(self, classes: int) -> None:
        self._row = np.empty(classes)
        self._sums = np.zeros(classes)

    def add(self, scanned: ScannedRows) -> None:
        """See `Columns`."""
        for at, row in enumerate(scanned.values):
            np.copyto(self._row, row)
            self._row[scanned.class_index[scanned.start[at] : scanned.start[at + 1]]] = 0
            self._sums += self._row

    def sums(self) -> NDArray[np.float64]:
        """See `Columns`."""
        return self._sums.copy()


class Float16UnlistedSums:
    """For float16, exact; see `halves`."""

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self._rows = PackedRows(classes)
        self._lanes = np.empty(self._rows.words, np.uint64)
        self._even, self._odd = np.zeros((2, self._rows.words), np.uint64)
        self._sums = np.zeros(self._rows.words * 4)
        self._waiting = 0

    def add(self, scanned: ScannedRows) -> None:
        """See `Columns`."""
        for row in scanned.values:
            words = self._rows.pack(row)
            even_lanes(words, self._lanes)
            self._even += self._lanes
            odd_lanes(words, self._lanes)
            self._odd += self._lanes
            self._waiting += 1
            if self._waiting == _MAX_PENDING_ROWS:
                self._flush()
        low = as_bits(scanned.values[scanned.entry_row, scanned.class_index]) & FLOAT16_BITS_LIMIT
        np.subtract.at(self._sums, scanned.class_index, low.astype(np.float64))

    def sums(self) -> NDArray[np.float64]:
        """See `Columns`."""
        self._flush()
        return self._sums[: self._classes] * FLOAT16_UNIT

    def _flush(self) -> None:
        # Whole numbers below 2⁵³ are exact in float64.
        for first, waiting in enumerate((self._even, self._odd)):
            self._sums[first::2] += waiting.view(np.uint32)
            waiting[:] = 0
        self._waiting = 0


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
        self._unlisted: UnlistedSums = (
            Float16UnlistedSums if dtype == np.float16 else WideFloatUnlistedSums
        )(classes)

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

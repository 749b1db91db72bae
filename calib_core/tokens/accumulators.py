"""Accumulators of (confidence, outcome) pairs by grid cell, pooled over the classes or by class.

By class, few cells beside the first one are ever occupied, so these are stored sparsely; the first cell
follows from the column sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.compiled import compiled_version
from calib_core.tokens.float_bits import unlisted_unit, unlisted_values
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.row_scanner import ClassSumsOfRows, PositionBlock, ScannedRows

# --- Sums by key --------------------------------------------------------------

MAX_PENDING: Final = 1 << 19
"""Entries that may wait to be sorted in; as many as are already sorted in, if those are more."""

_NO_VALUES: Final = np.zeros(0)

MAX_TABLE_BYTES: Final = 1 << 25
"""Up to this size, a table with a place for every key is faster than sorting."""


class KeyedSums(Protocol):
    """Count and sum of values by integer key."""

    def add(self, key: NDArray[np.int64], value: NDArray[np.float64] | None = None) -> None:
        """Adds one value under each key; both of shape (n,). Without values, keys are only counted."""
        ...

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Distinct keys in ascending order, with the count and the sum of their values; shape (k,) each."""
        ...


def keyed_sums(n_keys: int, loops: Loops, *, with_values: bool) -> KeyedSums:
    """No sums yet, by keys below `n_keys`; with_values: whether there are values to add up."""
    place_bytes = np.dtype(np.int32).itemsize + (np.dtype(np.float64).itemsize if with_values else 0)
    return (
        TabledSums(n_keys, loops, with_values=with_values)
        if n_keys * place_bytes <= MAX_TABLE_BYTES
        else SortedSums()
    )


class TabledSums:
    """Implements `KeyedSums` with a place for every key below a number."""

    def __init__(self, n_keys: int, loops: Loops, *, with_values: bool = True) -> None:
        self._loops = loops
        self._count = np.zeros(n_keys, np.int32)
        self._sum = np.zeros(n_keys if with_values else 0)

    def add(self, key: NDArray[np.int64], value: NDArray[np.float64] | None = None) -> None:
        """See `KeyedSums`."""
        self._loops.add_by_key(self._count, self._sum, key, _NO_VALUES if value is None else value)

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """See `KeyedSums`."""
        key = (self._count != 0).nonzero()[0]  # several times as fast as of numbers
        total = self._sum[key] if self._sum.size else np.zeros(key.size)
        return key, self._count[key].astype(np.int64), total


class SortedSums:
    """Implements `KeyedSums` by sorting; memory grows with the number of distinct keys."""

    def __init__(self) -> None:
        self._key = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)
        self._sum = np.zeros(0)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._n_pending = 0

    def add(self, key: NDArray[np.int64], value: NDArray[np.float64] | None = None) -> None:
        """See `KeyedSums`."""
        self._pending.append((key, np.zeros(key.size) if value is None else value))
        self._n_pending += key.size
        if self._n_pending > max(MAX_PENDING, self._key.size):
            self._consolidate()

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """See `KeyedSums`."""
        self._consolidate()
        return self._key, self._count, self._sum

    def _consolidate(self) -> None:
        if not self._pending:
            return
        key = np.concatenate([self._key, *(key for key, _ in self._pending)])
        count = np.concatenate([self._count, np.ones(self._n_pending, np.int64)])
        value = np.concatenate([self._sum, *(value for _, value in self._pending)])
        self._pending, self._n_pending = [], 0
        order, key = _stable_order(key)
        start = np.flatnonzero(np.diff(key, prepend=-1))
        if start.size:
            self._key = key[start]
            self._count = np.add.reduceat(count[order], start)
            self._sum = np.add.reduceat(value[order], start)


def _stable_order(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As a stable `argsort`, and the sorted keys; sorting whole numbers alone is several times as fast.

    Each key, from 0 on, is followed by its place in one number, if both fit into 63 bits.
    """
    place_bits = key.size.bit_length()
    if int(key.max(initial=0)).bit_length() + place_bits > 63:
        order = np.argsort(key, kind="stable")
        return order, key[order]
    both = np.sort((key << place_bits) | np.arange(key.size))
    return both & ((1 << place_bits) - 1), both >> place_bits


# --- Innermost loops ----------------------------------------------------------


def add_to_cells(cell: NDArray[np.intp], prob: NDArray[np.float64]) -> NDArray[np.float64]:
    """n, Σc and Σc² by cell, shape (3, GRID_CELLS), of pairs in their order; both of shape (n,)."""
    sums = np.empty((3, GRID_CELLS))
    for at, weight in enumerate((None, prob, prob * prob)):
        sums[at] = np.bincount(cell, weight, GRID_CELLS)
    return sums


def take_first_cell(
    confidence: NDArray[np.float64],
    class_index: NDArray[np.int64],
    cell: NDArray[np.intp],
    prob: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Adds pairs in the first cell to Σc by class, shape (K,), in place; key and c of all others."""
    is_first = cell == 0
    np.add.at(confidence, class_index[is_first], prob[is_first])
    return (class_index * GRID_CELLS + cell)[~is_first], prob[~is_first]


def add_by_key(
    count: NDArray[np.int32], total: NDArray[np.float64], key: NDArray[np.int64], value: NDArray[np.float64]
) -> None:
    """Adds 1 and a value at each key, in place and in their order; a `value` of shape (0,) means none."""
    np.add.at(count, key, np.int32(1))
    if value.size:
        np.add.at(total, key, value)


@dataclass(frozen=True, slots=True)
class Loops:
    """The innermost loops of the accumulators, in NumPy or compiled, with the same sums to the last bit."""

    add_to_cells: Callable[[NDArray[np.intp], NDArray[np.float64]], NDArray[np.float64]]
    take_first_cell: Callable[
        [NDArray[np.float64], NDArray[np.int64], NDArray[np.intp], NDArray[np.float64]],
        tuple[NDArray[np.int64], NDArray[np.float64]],
    ]
    add_by_key: Callable[
        [NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]], None
    ]


PLAIN_LOOPS: Final = Loops(add_to_cells, take_first_cell, add_by_key)


def compiled_loops() -> Loops:
    """The loops, compiled if Numba is installed (the extra `fast`)."""
    module, index, value = "calib_core.tokens.compiled_accumulators", np.zeros(1, np.int64), np.zeros(1)
    return Loops(
        compiled_version(add_to_cells, module, lambda add: add(index, value)),
        compiled_version(take_first_cell, module, lambda take: take(value, index, index, value)),
        compiled_version(add_by_key, module, lambda add: add(np.zeros(1, np.int32), value, index, value)),
    )


# --- Pooled over the classes --------------------------------------------------


class CellSums:
    """The sums of `GridSums` for all cells, including empty ones, updated in place."""

    def __init__(self, loops: Loops = PLAIN_LOOPS) -> None:
        self._loops = loops
        self.count = np.zeros(GRID_CELLS, np.int64)
        self.correct = np.zeros(GRID_CELLS, np.int64)
        self.confidence = np.zeros(GRID_CELLS)
        self.squared_confidence = np.zeros(GRID_CELLS)
        self.correct_confidence = np.zeros(GRID_CELLS)

    def add(self, cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """Adds pairs, whatever their outcome; both of shape (n,)."""
        count, confidence, squared_confidence = self._loops.add_to_cells(cell, prob)
        self.count += count.astype(np.int64)
        self.confidence += confidence
        self.squared_confidence += squared_confidence

    def add_correct(self, cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """Marks pairs that were added as having outcome 1; both of shape (n,)."""
        self.correct += np.bincount(cell, minlength=GRID_CELLS)
        self.correct_confidence += np.bincount(cell, prob, GRID_CELLS)

    def grid(self, n_rows: int, log_loss_sum: float = 0.0, n_infinite_losses: int = 0) -> GridSums:
        """The occupied cells."""
        cell = np.flatnonzero(self.count)
        return GridSums(
            group=np.zeros(cell.size, np.int32),
            cell=cell.astype(np.int32),
            count=self.count[cell],
            correct=self.correct[cell],
            confidence=self.confidence[cell],
            squared_confidence=self.squared_confidence[cell],
            correct_confidence=self.correct_confidence[cell],
            n_rows=n_rows,
            log_loss_sum=log_loss_sum,
            n_infinite_losses=n_infinite_losses,
        )


class PooledSums:
    """Sums of the top labels and of all pairs, pooled over the classes."""

    def __init__(self, classes: int, loops: Loops = PLAIN_LOOPS) -> None:
        self.n_rows = 0
        self.occurrences = np.zeros(classes, np.int64)
        self.sum_deviation = 0.0
        self._top_label = CellSums(loops)
        self._all_labels = CellSums(loops)
        self._log_loss_sum = 0.0
        self._n_infinite_losses = 0

    def add(self, positions: PositionBlock) -> None:
        """Adds a block of positions."""
        self.n_rows += positions.n_rows
        np.add.at(self.occurrences, positions.target, 1)
        self.sum_deviation += float(np.abs(1 - positions.scanned.row_sum).sum())
        possible = positions.target_prob[positions.target_prob > 0]
        self._log_loss_sum -= float(np.log(possible).sum())
        self._n_infinite_losses += positions.n_rows - possible.size

        self._all_labels.add(positions.entry_cell, positions.scanned.prob)
        self._all_labels.add_correct(positions.target_cell, positions.target_prob)
        self._all_labels.count[0] += positions.n_rows * positions.n_classes - positions.scanned.prob.size
        self._all_labels.confidence[0] += positions.scanned.unlisted_sum.sum()
        self._all_labels.squared_confidence[0] += positions.scanned.unlisted_square_sum.sum()

        top = positions.scanned.top_entry
        correct_top = top[positions.scanned.class_index[top] == positions.target]
        self._top_label.add(positions.entry_cell[top], positions.scanned.prob[top])
        self._top_label.add_correct(positions.entry_cell[correct_top], positions.scanned.prob[correct_top])

    def top_label(self) -> GridSums:
        """One pair per position: its top label."""
        return self._top_label.grid(self.n_rows)

    def all_labels(self) -> GridSums:
        """K pairs per position."""
        return self._all_labels.grid(self.n_rows, self._log_loss_sum, self._n_infinite_losses)


# --- All entries, by class ----------------------------------------------------


class ClassCellSums:
    """Sums by class and cell of pairs that are known; memory grows with the occupied (class, cell)."""

    def __init__(self, classes: int, loops: Loops = PLAIN_LOOPS) -> None:
        self._classes = classes
        self._loops = loops
        self._pairs = keyed_sums(classes * GRID_CELLS, loops, with_values=True)
        self._correct_pairs = keyed_sums(classes * GRID_CELLS, loops, with_values=True)
        # Σc and Σcy of the first cell, shape (K,).
        self._confidence = np.zeros(classes)
        self._correct_confidence = np.zeros(classes)

    def add_pairs(
        self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]
    ) -> None:
        """Adds pairs, whatever their outcome: class, cell and probability, shape (n,) each."""
        self._pairs.add(*self._loops.take_first_cell(self._confidence, class_index, cell, prob))

    def add_correct(
        self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]
    ) -> None:
        """Marks pairs that were added as having outcome 1; shape (n,) each."""
        take = self._loops.take_first_cell
        self._correct_pairs.add(*take(self._correct_confidence, class_index, cell, prob))

    def listed_sums(self) -> NDArray[np.float64]:
        """Σp by class of all pairs so far, shape (K,)."""
        key, _, confidence = self._pairs.sums()
        return self._confidence + np.bincount(key // GRID_CELLS, confidence, self._classes)

    def grid(self, occurrences: NDArray[np.int64], unlisted: NDArray[np.float64]) -> GridSums:
        """The occupied cells.

        Parameters
        ----------
        occurrences : NDArray[np.int64], shape (K,)
            Number of positions at which each class is the right one.
        unlisted : NDArray[np.float64], shape (K,)
            Σp by class of the pairs that were not added, which all lie in the first cell.
        """
        key, count, confidence = self._pairs.sums()
        group, cell = np.divmod(key, GRID_CELLS)
        correct, correct_confidence = np.zeros(key.size, np.int64), np.zeros(key.size)
        correct_sums = self._correct_pairs.sums()
        at = np.searchsorted(key, correct_sums[0])  # every correct pair was also added as a pair
        correct[at], correct_confidence[at] = correct_sums[1], correct_sums[2]

        rows = int(occurrences.sum())
        first_count = rows - np.bincount(group, count, self._classes).astype(np.int64)
        first_correct = occurrences - np.bincount(group, correct, self._classes).astype(np.int64)
        occupied = np.flatnonzero(first_count)
        before = np.searchsorted(group, occupied)

        return GridSums(
            group=np.insert(group, before, occupied).astype(np.int32),
            cell=np.insert(cell, before, 0).astype(np.int32),
            count=np.insert(count, before, first_count[occupied]),
            correct=np.insert(correct, before, first_correct[occupied]),
            confidence=np.insert(confidence, before, (self._confidence + unlisted)[occupied]),
            squared_confidence=np.broadcast_to(np.nan, key.size + occupied.size),
            correct_confidence=np.insert(correct_confidence, before, self._correct_confidence[occupied]),
            n_rows=rows,
            n_groups=self._classes,
        )


class ClassSums:
    """Sums by class of whole distributions.

    Attributes
    ----------
    unlisted : NDArray[np.float64], shape (K,)
        Σp by class over the unlisted entries of all rows, in units of `unlisted_unit`.
    """

    def __init__(self, classes: int, dtype: np.dtype[Any], loops: Loops = PLAIN_LOOPS) -> None:
        self.unlisted = np.zeros(classes)
        self._unit = unlisted_unit(dtype)
        self._cells = ClassCellSums(classes, loops)

    def add(self, positions: PositionBlock) -> None:
        """Adds a block of positions."""
        scanned = positions.scanned
        if scanned.unlisted_block_sums is not None:
            self.unlisted = (
                scanned.class_sums if scanned.class_sums is not None else self._plus_unlisted_of(scanned)
            )
        self._cells.add_pairs(scanned.class_index, positions.entry_cell, scanned.prob)
        self._cells.add_correct(positions.target, positions.target_cell, positions.target_prob)

    def grid(self, occurrences: NDArray[np.int64]) -> GridSums:
        """The occupied cells; occurrences: positions at which each class is the right one, shape (K,)."""
        return self._cells.grid(occurrences, self.unlisted * self._unit)

    def _plus_unlisted_of(self, scanned: ScannedRows) -> NDArray[np.float64]:
        """`unlisted` plus the unlisted entries of these rows, added as the scan adds them."""
        sums, row = self.unlisted.copy(), np.empty(self.unlisted.size)
        by_class = ClassSumsOfRows(sums)
        for at, values in enumerate(unlisted_values(scanned.values)):
            np.copyto(row, values)
            row[scanned.class_index[scanned.start[at] : scanned.start[at + 1]]] = 0
            by_class.add(row)
        by_class.finish()
        return sums

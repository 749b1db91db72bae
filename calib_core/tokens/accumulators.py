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

MAX_TABLE_BYTES: Final = 1 << 25
"""Up to this size, a table with a place for every key is faster than sorting."""

KeyedTotals = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Distinct keys in ascending order, with the count and the sum of their values; shape (k,) each."""


class SortedSums:
    """Count and sum of values by integer key, by sorting; memory grows with the number of distinct keys."""

    def __init__(self) -> None:
        self._key = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)
        self._sum = np.zeros(0)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._n_pending = 0

    def add(self, key: NDArray[np.int64], value: NDArray[np.float64] | None = None) -> None:
        """Adds one value under each key; both of shape (n,). Without values, keys are only counted."""
        self._pending.append((key, np.zeros(key.size) if value is None else value))
        self._n_pending += key.size
        if self._n_pending > max(MAX_PENDING, self._key.size):
            self._consolidate()

    def sums(self) -> KeyedTotals:
        """The sums so far."""
        self._consolidate()
        return self._key, self._count, self._sum

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """See `KeyedCounts`."""
        return self.sums()[:2]

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


class KeyedCounts(Protocol):
    """How often each of the integer keys below a number occurs."""

    def add(self, key: NDArray[np.int64]) -> None:
        """Counts each of these keys, shape (n,)."""
        ...

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Distinct keys in ascending order, with their counts; shape (k,) each."""
        ...


class TabledCounts:
    """Implements `KeyedCounts` with a place for every key."""

    def __init__(self, n_keys: int, loops: Loops) -> None:
        self._loops = loops
        self._count = np.zeros(n_keys, np.int32)

    def add(self, key: NDArray[np.int64]) -> None:
        """See `KeyedCounts`."""
        self._loops.count_keys(self._count, key)

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """See `KeyedCounts`."""
        key = _nonzero(self._count)
        return key, self._count[key].astype(np.int64)


def keyed_counts(n_keys: int, loops: Loops) -> KeyedCounts:
    """No counts yet, of keys below `n_keys`."""
    return TabledCounts(n_keys, loops) if 4 * n_keys <= MAX_TABLE_BYTES else SortedSums()


def _nonzero(count: NDArray[np.int32]) -> NDArray[np.int64]:
    return (count != 0).nonzero()[0]  # several times as fast as of numbers


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


def add_pairs(
    count: NDArray[np.int32],
    confidence: NDArray[np.float64],
    class_index: NDArray[np.int64],
    cell: NDArray[np.intp],
    prob: NDArray[np.float64],
) -> None:
    """Adds pairs to n and Σc by class and cell, shape (K, GRID_CELLS), in place and in their order."""
    np.add.at(count, (class_index, cell), np.int32(1))
    np.add.at(confidence, (class_index, cell), prob)


def count_keys(count: NDArray[np.int32], key: NDArray[np.int64]) -> None:
    """Adds 1 at each key, in place."""
    np.add.at(count, key, np.int32(1))


@dataclass(frozen=True, slots=True)
class Loops:
    """The innermost loops of the accumulators, in NumPy or compiled, with the same sums to the last bit."""

    add_to_cells: Callable[[NDArray[np.intp], NDArray[np.float64]], NDArray[np.float64]]
    take_first_cell: Callable[
        [NDArray[np.float64], NDArray[np.int64], NDArray[np.intp], NDArray[np.float64]],
        tuple[NDArray[np.int64], NDArray[np.float64]],
    ]
    add_pairs: Callable[
        [
            NDArray[np.int32],
            NDArray[np.float64],
            NDArray[np.int64],
            NDArray[np.intp],
            NDArray[np.float64],
        ],
        None,
    ]
    count_keys: Callable[[NDArray[np.int32], NDArray[np.int64]], None]


PLAIN_LOOPS: Final = Loops(add_to_cells, take_first_cell, add_pairs, count_keys)


def compiled_loops() -> Loops:
    """The loops, compiled if Numba is installed (the extra `fast`)."""
    module, index, value = "calib_core.tokens.compiled_accumulators", np.zeros(1, np.int64), np.zeros(1)
    count, table = np.zeros((1, 1), np.int32), np.zeros((1, 1))
    return Loops(
        compiled_version(add_to_cells, module, lambda add: add(index, value)),
        compiled_version(take_first_cell, module, lambda take: take(value, index, index, value)),
        compiled_version(add_pairs, module, lambda add: add(count, table, index, index, value)),
        compiled_version(count_keys, module, lambda add: add(count[0], index)),
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


class PairsByClass(Protocol):
    """n and Σc of pairs by class and cell."""

    def add(self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """Adds pairs: class, cell and probability, shape (n,) each."""
        ...

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """The sums so far.

        Returns
        -------
        key : NDArray[np.int64], shape (k,)
            class · GRID_CELLS + cell of the occupied cells but the first one of each class, ascending.
        count : NDArray[np.int64], shape (k,)
            n of these cells.
        confidence : NDArray[np.float64], shape (k,)
            Σc of these cells.
        first_confidence : NDArray[np.float64], shape (K,)
            Σc of the first cell of each class.
        """
        ...


class TabledPairs:
    """Implements `PairsByClass` with a place for every class and cell."""

    def __init__(self, classes: int, loops: Loops) -> None:
        self._loops = loops
        self._count = np.zeros((classes, GRID_CELLS), np.int32)
        self._confidence = np.zeros((classes, GRID_CELLS))

    def add(self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """See `PairsByClass`."""
        self._loops.add_pairs(self._count, self._confidence, class_index, cell, prob)

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """See `PairsByClass`."""
        self._count[:, 0] = 0
        key = _nonzero(self._count.reshape(-1))
        count, confidence = self._count.reshape(-1)[key], self._confidence.reshape(-1)[key]
        return key, count.astype(np.int64), confidence, self._confidence[:, 0]


class SortedPairs:
    """Implements `PairsByClass` by sorting all but the first cells, in which most pairs lie."""

    def __init__(self, classes: int, loops: Loops) -> None:
        self._loops = loops
        self._first_confidence = np.zeros(classes)
        self._others = SortedSums()

    def add(self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]) -> None:
        """See `PairsByClass`."""
        self._others.add(*self._loops.take_first_cell(self._first_confidence, class_index, cell, prob))

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """See `PairsByClass`."""
        return *self._others.sums(), self._first_confidence


def pairs_by_class(classes: int, loops: Loops) -> PairsByClass:
    """No pairs yet."""
    bytes_of_table = classes * GRID_CELLS * (np.dtype(np.int32).itemsize + np.dtype(np.float64).itemsize)
    return (TabledPairs if bytes_of_table <= MAX_TABLE_BYTES else SortedPairs)(classes, loops)


class ClassCellSums:
    """Sums by class and cell of pairs that are known."""

    def __init__(self, classes: int, loops: Loops = PLAIN_LOOPS) -> None:
        self._classes = classes
        self._pairs, self._correct_pairs = (pairs_by_class(classes, loops) for _ in range(2))

    def add_pairs(
        self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]
    ) -> None:
        """Adds pairs, whatever their outcome: class, cell and probability, shape (n,) each."""
        self._pairs.add(class_index, cell, prob)

    def add_correct(
        self, class_index: NDArray[np.int64], cell: NDArray[np.intp], prob: NDArray[np.float64]
    ) -> None:
        """Marks pairs that were added as having outcome 1; shape (n,) each."""
        self._correct_pairs.add(class_index, cell, prob)

    def listed_sums(self) -> NDArray[np.float64]:
        """Σp by class of all pairs so far, shape (K,)."""
        key, _, confidence, first_confidence = self._pairs.sums()
        return first_confidence + np.bincount(key // GRID_CELLS, confidence, self._classes)

    def grid(self, occurrences: NDArray[np.int64], unlisted: NDArray[np.float64]) -> GridSums:
        """The occupied cells.

        Parameters
        ----------
        occurrences : NDArray[np.int64], shape (K,)
            Number of positions at which each class is the right one.
        unlisted : NDArray[np.float64], shape (K,)
            Σp by class of the pairs that were not added, which all lie in the first cell.
        """
        key, count, confidence, first_confidence = self._pairs.sums()
        group, cell = np.divmod(key, GRID_CELLS)
        correct, correct_confidence = np.zeros(key.size, np.int64), np.zeros(key.size)
        correct_key, *of_correct, first_correct_confidence = self._correct_pairs.sums()
        at = np.searchsorted(key, correct_key)  # every correct pair was also added as a pair
        correct[at], correct_confidence[at] = of_correct

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
            confidence=np.insert(confidence, before, (first_confidence + unlisted)[occupied]),
            squared_confidence=np.broadcast_to(np.nan, key.size + occupied.size),
            correct_confidence=np.insert(correct_confidence, before, first_correct_confidence[occupied]),
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

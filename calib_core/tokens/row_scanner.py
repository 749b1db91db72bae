"""Scans long distributions at the speed of memory.

Non-negative floats have the order of their bits, read as integers; anything else (a sign, infinity, NaN) has
larger bits than 1. So a single integer comparison finds both the few entries that matter individually and
everything that may be invalid. All other entries lie in the grid's first cell and are only added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.float_bits import UINT_BY_ITEMSIZE, first_cell_max_bits


def class_block_size(classes: int) -> int:
    """Number of consecutive classes whose unlisted entries are summed together.

    A divisor of K near 1,000 if there is one, so that rows need not be copied into a padded buffer. Always
    a multiple of 16, so that a block of float16 consists of whole 64-bit words that can be folded twice.
    """
    divisors = [size for size in range(512, 2049, 16) if classes % size == 0]
    return min(divisors, key=lambda size: abs(size - 1024), default=1024)


@dataclass(frozen=True, eq=False)
class ScannedRows:
    """R good rows with E listed entries, and sums of the unlisted ones.

    An entry is listed if its bits exceed `bits_limit` or if it is the top label; no unlisted entry is
    greater than a listed one of its row.

    Attributes
    ----------
    usable_rows : NDArray[np.intp], shape (R,)
        Indices of the good rows among those scanned.
    values : NDArray, shape (R, K)
        The good rows in the scanned dtype.
    start : NDArray[np.intp], shape (R + 1,)
        Index of each row's first listed entry, and E at the end; every row has at least one.
    class_index, prob : NDArray, shape (E,)
        Class and probability of each listed entry, by row and ascending class.
    unlisted_sum, unlisted_square_sum : NDArray[np.float64], shape (R,)
        Σp and Σp² of the unlisted entries.
    unlisted_block_sums : NDArray[np.float64] or None, shape (R, blocks)
        `unlisted_sum` by block of `class_block_size(K)` classes; None where all entries are listed.
    bits_limit : int
        Entries with larger bits are listed.
    n_clipped : int
        Number of values that were clipped to 0 or 1.
    """

    usable_rows: NDArray[np.intp]
    values: NDArray[Any]
    start: NDArray[np.intp]
    class_index: NDArray[np.intp]
    prob: NDArray[np.float64]
    unlisted_sum: NDArray[np.float64]
    unlisted_square_sum: NDArray[np.float64]
    unlisted_block_sums: NDArray[np.float64] | None
    bits_limit: int
    n_clipped: int

    @cached_property
    def entry_row(self) -> NDArray[np.intp]:
        """Row of each listed entry, shape (E,)."""
        return np.repeat(np.arange(self.usable_rows.size), np.diff(self.start))

    @cached_property
    def row_sum(self) -> NDArray[np.float64]:
        """Σp of each row, shape (R,)."""
        return self.unlisted_sum + _reduce_by_row(np.add, self.prob, self.start)

    @cached_property
    def top_entry(self) -> NDArray[np.intp]:
        """Index of the listed entry that is each row's top label, the first of ties; shape (R,)."""
        maximum = _reduce_by_row(np.maximum, self.prob, self.start)
        candidates = np.flatnonzero(self.prob == maximum[self.entry_row])
        return candidates[np.searchsorted(candidates, self.start[:-1])]


@dataclass(frozen=True, slots=True, eq=False)
class PositionBlock:
    """R scanned rows with their targets, ready to be added up.

    Attributes
    ----------
    scanned : ScannedRows
        The rows.
    row_number : NDArray[np.int64], shape (R,)
        0-based row in the file.
    target : NDArray[np.int64], shape (R,)
        Right class.
    target_prob : NDArray[np.float64], shape (R,)
        Probability of the right class, p_y.
    target_cell : NDArray[np.intp], shape (R,)
        Grid cell of p_y.
    entry_cell : NDArray[np.intp], shape (E,)
        Grid cell of each listed entry.
    """

    scanned: ScannedRows
    row_number: NDArray[np.int64]
    target: NDArray[np.int64]
    target_prob: NDArray[np.float64]
    target_cell: NDArray[np.intp]
    entry_cell: NDArray[np.intp]

    @property
    def n_rows(self) -> int:
        """Number of rows, R."""
        return self.row_number.size

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.scanned.values.shape[1]


def _reduce_by_row(
    ufunc: np.ufunc, values: NDArray[np.float64], start: NDArray[np.intp]
) -> NDArray[np.float64]:
    return ufunc.reduceat(values, start[:-1]) if values.size else np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class ScanResult:
    """The entries of R rows, good or not, of which E are large.

    Attributes
    ----------
    count : NDArray[np.intp], shape (R,)
        Number of large entries of each row.
    class_index, bits : NDArray, shape (E,)
        Class and bits of each large entry, by row and ascending class.
    block_sums : NDArray[np.float64], shape (R, blocks)
        Σp of the other entries by block of `class_block_size(K)` classes.
    square_sum : NDArray[np.float64], shape (R,)
        Σp² of the other entries.
    """

    count: NDArray[np.intp]
    class_index: NDArray[np.intp]
    bits: NDArray[Any]
    block_sums: NDArray[np.float64]
    square_sum: NDArray[np.float64]


class RowScanner(Protocol):
    """Finds the large entries of rows, using one buffer for all rows."""

    bits_limit: int
    """Entries with larger bits are large."""

    def scan(self, rows: NDArray[Any]) -> ScanResult:
        """Scans rows, shape (R, K)."""
        ...


class WideFloatScanner:
    """Implementation of `RowScanner` for float32 and float64, adding up in float64."""

    def __init__(self, classes: int, dtype: np.dtype[Any]) -> None:
        self.bits_limit = first_cell_max_bits(dtype)
        self._uint_dtype = UINT_BY_ITEMSIZE[dtype.itemsize]
        block_size = class_block_size(classes)
        padded = np.zeros(-(-classes // block_size) * block_size)
        self._row = padded[:classes]
        self._blocks = padded.reshape(-1, block_size)
        self._is_large = np.empty(classes, np.bool_)

    def scan(self, rows: NDArray[Any]) -> ScanResult:
        """See `RowScanner.scan`."""
        block_sums, square_sums = np.empty((rows.shape[0], self._blocks.shape[0])), np.empty(rows.shape[0])
        limit = self._uint_dtype.type(self.bits_limit)
        class_indices: list[NDArray[np.intp]] = []
        bits = [np.zeros(0, self._uint_dtype)]
        for at, row in enumerate(rows.view(self._uint_dtype)):
            np.copyto(self._row, rows[at])
            np.greater(row, limit, out=self._is_large)
            class_index = self._is_large.nonzero()[0]
            class_indices.append(class_index)
            bits.append(row[class_index])
            self._row[class_index] = 0
            np.add.reduce(self._blocks, axis=1, out=block_sums[at])
            # Block by block: a long dot product would wait for threads.
            square_sums[at] = np.add.reduce(np.vecdot(self._blocks, self._blocks))
        count, class_index = concatenate_columns(class_indices)
        return ScanResult(count, class_index, np.concatenate(bits), block_sums, square_sums)


def concatenate_columns(columns: list[NDArray[np.intp]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Lengths of the arrays, and the arrays concatenated."""
    count = np.array([column.size for column in columns], np.intp)
    return count, np.concatenate([np.zeros(0, np.intp), *columns])

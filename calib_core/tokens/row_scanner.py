"""How are long distributions looked through at the speed of memory?

Floats that are not negative order like their bits, read as whole numbers; anything else (a sign, infinity,
NaN) has larger bits than 1. So one comparison of whole numbers finds the few entries that matter one by one
and everything that may be wrong; the others lie in the grid's first cell and are only added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.float_bits import UINT_BY_ITEMSIZE, first_cell_max_bits

# MERGED positions: What is kept of some positions once their distributions have been looked through?
#
# Few entries of a distribution are large enough to matter one by one: they are listed. Of the rest, which
# all lie in the grid's first cell, sums are enough.


def class_block_size(classes: int) -> int:
    """How many classes that follow each other are summed together where they are not listed.

    A divisor of K near 1,000 where there is one, so that a row need not be copied to where there is room for
    more; always a multiple of 16, so that float16 are whole 64-bit words, and these can be folded in four.
    """
    whole = [size for size in range(512, 2049, 16) if classes % size == 0]
    return min(whole, key=lambda size: abs(size - 1024), default=1024)


@dataclass(frozen=True, eq=False)
class ScannedRows:
    """Rows after the look, R of them in order: E entries that are listed, and sums of the others.

    kept: which of the rows are in order, intp of shape (R,); values: these rows, shape (R, K), in the dtype
    looked through; start: first listed entry of each row and E at the end, shape (R + 1,), every row has at
    least one, its top label among them; column, prob: class and probability of each listed entry, row by
    row, ascending by class, shape (E,). rest, squares: Σp and Σp² of the unlisted entries, float64 of shape
    (R,); groups: rest by group, float64 of shape (R, ⌈K / group_size(K)⌉), None where all are listed.
    limit: an entry is listed where its bits are larger, or where it is the top label; no unlisted one is
    greater than a listed one. clipped: values moved onto 0 or 1.
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
        """Listed entry that is the row's top label, the first of equal maxima; shape (R,)."""
        most = _reduce_by_row(np.maximum, self.prob, self.start)
        tied = np.flatnonzero(self.prob == most[self.entry_row])
        return tied[np.searchsorted(tied, self.start[:-1])]


@dataclass(frozen=True, slots=True, eq=False)
class PositionBlock:
    """A look at rows that are all in order, with what is known of them beside it; ready to be added up.

    number: 0-based row in its file, int64; target: right class, int64; target_prob: p_y, float64;
    target_cell: its cell, intp; shape (R,) each. cell: of each listed entry, intp of shape (E,).
    """

    scanned: ScannedRows
    row_number: NDArray[np.int64]
    target: NDArray[np.int64]
    target_prob: NDArray[np.float64]
    target_cell: NDArray[np.intp]
    entry_cell: NDArray[np.intp]

    @property
    def n_rows(self) -> int:
        """R."""
        return self.row_number.size

    @property
    def n_classes(self) -> int:
        """K."""
        return self.scanned.values.shape[1]


def _reduce_by_row(
    ufunc: np.ufunc, values: NDArray[np.float64], start: NDArray[np.intp]
) -> NDArray[np.float64]:
    return ufunc.reduceat(values, start[:-1]) if values.size else np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class ScanResult:
    """What there is in some rows, in order or not. R rows, E entries that have to be looked at one by one.

    count: such entries by row, shape (R,); column, bits: their classes, ascending by row, and their bits,
    shape (E,); groups: Σp of the others by group (`positions.group_size`), shape (R, groups); squares: their
    Σp², shape (R,).
    """

    count: NDArray[np.intp]
    class_index: NDArray[np.intp]
    bits: NDArray[Any]
    block_sums: NDArray[np.float64]
    square_sum: NDArray[np.float64]


class RowScanner(Protocol):
    """Room for one row at a time, used again for the next one."""

    bits_limit: int
    """An entry is found where its bits are larger."""

    def scan(self, rows: NDArray[Any]) -> ScanResult:
        """Looks rows through, shape (R, K)."""
        ...


class WideFloatScanner:
    """For float32 and float64: the other entries as float64."""

    def __init__(self, classes: int, dtype: np.dtype[Any]) -> None:
        self.bits_limit = first_cell_max_bits(dtype)
        self._whole = UINT_BY_ITEMSIZE[dtype.itemsize]
        group = class_block_size(classes)
        room = np.zeros(-(-classes // group) * group)
        self._row = room[:classes]
        self._groups = room.reshape(-1, group)
        self._large = np.empty(classes, np.bool_)

    def scan(self, rows: NDArray[Any]) -> ScanResult:
        """See `Scratch`."""
        groups, squares = np.empty((rows.shape[0], self._groups.shape[0])), np.empty(rows.shape[0])
        limit = self._whole.type(self.bits_limit)
        columns: list[NDArray[np.intp]] = []
        found = [np.zeros(0, self._whole)]
        for at, row in enumerate(rows.view(self._whole)):
            np.copyto(self._row, rows[at])
            np.greater(row, limit, out=self._large)
            column = self._large.nonzero()[0]
            columns.append(column)
            found.append(row[column])
            self._row[column] = 0
            np.add.reduce(self._groups, axis=1, out=groups[at])
            # Group by group: a long dot product would wait for threads.
            squares[at] = np.add.reduce(np.vecdot(self._groups, self._groups))
        count, column = concatenate_columns(columns)
        return ScanResult(count, column, np.concatenate(found), groups, squares)


def concatenate_columns(columns: list[NDArray[np.intp]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Lengths of some arrays, and the arrays one after the other."""
    count = np.array([column.size for column in columns], np.intp)
    return count, np.concatenate([np.zeros(0, np.intp), *columns])

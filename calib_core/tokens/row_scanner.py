"""Scans long distributions.

Non-negative floats have the order of their bits, read as integers; anything else (a sign, infinity, NaN) has
larger bits than 1. So a single integer comparison finds both the few entries that matter individually and
everything that may be invalid. All other entries lie in the grid's first cell and are only added up: by row
as whole multiples of a small unit, whose sum depends on no order, and by class four rows at a time, so that
the compiled scan (`compiled_scan`) has the same sums to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.compiled import compiled_version
from calib_core.tokens.float_bits import (
    FLOAT16_UNIT,
    as_bits,
    first_cell_max_bits,
    unlisted_values,
)

CHUNK: Final = 128
"""Divides the size of a block of classes; the squares of so many float16 units sum to less than 2³²."""

ROWS_AT_ONCE: Final = 4
"""Rows whose entries of a class are added together, (1 + 2) + (3 + 4), before they are added to its sum."""

_UNIT, _SQUARE_UNIT = 2.0**-62, 2.0**-74
"""Entries of the first cell and their squares are rounded to whole multiples of these, fewer than 2⁵¹."""


def class_block_size(classes: int) -> int:
    """Number of consecutive classes whose unlisted entries are summed together.

    A divisor of K near 1,000 if there is one; always a multiple of `CHUNK`.
    """
    divisors = [size for size in range(512, 2049, CHUNK) if classes % size == 0]
    return min(divisors, key=lambda size: abs(size - 1024), default=1024)


def sum_units(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Units of the sums of entries and of their squares."""
    return (FLOAT16_UNIT, FLOAT16_UNIT**2) if dtype == np.float16 else (_UNIT, _SQUARE_UNIT)


def sum_shifts(dtype: np.dtype[Any]) -> tuple[float, float]:
    """What is added to `unlisted_values` and to their squares, so that the last bits count units.

    The sum lies between 3/2 and 2 times a power of 2, 2⁵² units large; the bits of such numbers, read as
    integers, differ by as many as the numbers differ by units.
    """
    unit, square_unit = (1.0, 1.0) if dtype == np.float16 else (_UNIT, _SQUARE_UNIT)
    return 1.5 * 2.0**52 * unit, 1.5 * 2.0**52 * square_unit


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
    class_sums : NDArray[np.float64] or None, shape (K,)
        Σp of the unlisted entries of each class over these rows and all before them, in units of
        `unlisted_unit`; None where they are still to be added.
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
    class_sums: NDArray[np.float64] | None = None

    @property
    def lists_all(self) -> bool:
        """Whether every entry of every row is listed."""
        return self.unlisted_block_sums is None

    @property
    def entry_values(self) -> NDArray[Any]:
        """The listed entries in the scanned dtype, shape (E,)."""
        return self.values.ravel() if self.lists_all else self.prob.astype(self.values.dtype)

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
        if self.lists_all:
            return self.start[:-1] + self.prob.reshape(self.values.shape).argmax(axis=1)
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


# --- The scan ---------------------------------------------------------------------------------------------


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
    class_sums : NDArray[np.float64] or None, shape (K,)
        The sums by class that the scan was given, with the other entries of all rows added, in units of
        `unlisted_unit`; None if it was given none.
    """

    count: NDArray[np.intp]
    class_index: NDArray[np.intp]
    bits: NDArray[Any]
    block_sums: NDArray[np.float64]
    square_sum: NDArray[np.float64]
    class_sums: NDArray[np.float64] | None


RawScan = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any], NDArray[np.int64]]
"""Number of large entries of each row, their classes, their bits, and of the others Σ and Σ of squares by row
and block, shape (2, R, blocks), in `sum_units`."""

ScanFunction = Callable[[NDArray[Any], int, int, NDArray[np.float64] | None], RawScan]
"""Rows, the largest bits that are not large, size of the blocks, and sums by class, to which the other
entries are added in place, in units of `unlisted_unit` → what was found."""


class RowScanner:
    """Finds the large entries of rows of K classes, and adds up the others.

    Parameters
    ----------
    classes : int
        Number of classes, K.
    dtype : np.dtype
        float16, float32 or float64.
    compiled : bool
        Whether to use compiled code if Numba is installed; the results are the same to the last bit.

    Attributes
    ----------
    bits_limit : int
        Entries with larger bits are large.
    """

    def __init__(self, classes: int, dtype: np.dtype[Any], *, compiled: bool = False) -> None:
        self.bits_limit = first_cell_max_bits(dtype)
        self._unit, self._square_unit = sum_units(dtype)
        self._block_size = class_block_size(classes)
        self._scan = compiled_scan_function(dtype) if compiled else scan_rows

    def scan(self, rows: NDArray[Any], class_sums: NDArray[np.float64] | None = None) -> ScanResult:
        """Scans rows.

        Parameters
        ----------
        rows : NDArray, shape (R, K)
            Contiguous; R < 2¹⁷, so that the sums of float16 fit 32 bits.
        class_sums : NDArray[np.float64], shape (K,), optional
            Sums by class of all rows before, in units of `unlisted_unit`.
        """
        class_sums = None if class_sums is None else class_sums.copy()
        count, class_index, bits, (sums, squares) = self._scan(
            rows, self.bits_limit, self._block_size, class_sums
        )
        block_sums = sums * self._unit
        square_sum = (squares * self._square_unit).sum(axis=1)
        return ScanResult(count, class_index, bits, block_sums, square_sum, class_sums)


def compiled_scan_function(dtype: np.dtype[Any]) -> ScanFunction:
    """The scan, compiled for this dtype, if Numba is installed (the extra `fast`); otherwise `scan_rows`."""
    return compiled_version(
        scan_rows,
        "calib_core.tokens.compiled_scan",
        lambda scan: scan(np.zeros((1, CHUNK), dtype), 0, CHUNK, None),
    )


def scan_rows(
    rows: NDArray[Any], bits_limit: int, block_size: int, class_sums: NDArray[np.float64] | None
) -> RawScan:
    """Scans rows with NumPy; see `ScanFunction`."""
    n_rows, classes = rows.shape
    n_blocks = -(-classes // block_size)
    padded, shifted = np.zeros(n_blocks * block_size), np.empty(n_blocks * block_size)
    row, steps = padded[:classes], shifted.view(np.int64).reshape(n_blocks, block_size)
    bits, shifts = as_bits(rows), sum_shifts(rows.dtype)
    limit, is_large = bits.dtype.type(bits_limit), np.empty(classes, np.bool_)
    offsets = block_size * np.array(shifts).view(np.int64)
    block_sums = np.empty((2, n_rows, n_blocks), np.int64)
    class_indices: list[NDArray[np.intp]] = []
    large = [np.zeros(0, bits.dtype)]
    by_class = ClassSumsOfRows(class_sums) if class_sums is not None else None
    for at in range(n_rows):
        np.greater(bits[at], limit, out=is_large)
        class_indices.append(is_large.nonzero()[0])
        large.append(bits[at, class_indices[at]])
        np.copyto(row, unlisted_values(rows[at]))
        row[class_indices[at]] = 0
        if by_class is not None:
            by_class.add(row)
        np.add(padded, shifts[0], out=shifted)
        steps.sum(axis=1, out=block_sums[0, at])
        np.multiply(padded, padded, out=shifted)
        np.add(shifted, shifts[1], out=shifted)
        steps.sum(axis=1, out=block_sums[1, at])
    if by_class is not None:
        by_class.finish()
    block_sums -= offsets[:, np.newaxis, np.newaxis]
    count = np.array([index.size for index in class_indices], np.intp)
    class_index = np.concatenate([np.zeros(0, np.intp), *class_indices])
    return count, class_index, np.concatenate(large), block_sums


class ClassSumsOfRows:
    """Adds rows to sums by class, in place: of four rows (1 + 2) + (3 + 4)."""

    def __init__(self, class_sums: NDArray[np.float64]) -> None:
        self._class_sums = class_sums
        self._first_two, self._last_two = np.zeros_like(class_sums), np.zeros_like(class_sums)
        self._n_rows = 0

    def add(self, row: NDArray[np.float64]) -> None:
        """Adds one row, shape (K,)."""
        pair = self._first_two if self._n_rows < 2 else self._last_two
        if self._n_rows % 2:
            pair += row
        else:
            np.copyto(pair, row)
        self._n_rows += 1
        if self._n_rows == ROWS_AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Adds the rows of a group that is not full."""
        if self._n_rows > 2:
            self._first_two += self._last_two
        if self._n_rows:
            self._class_sums += self._first_two
        self._n_rows = 0

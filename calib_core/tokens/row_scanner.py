"""Scans long distributions.

Non-negative floats have the order of their bits, read as integers; anything else (a sign, infinity, NaN) has
larger bits than 1. So a single integer comparison finds both the few entries that matter individually and
everything that may be invalid. All other entries lie in the grid's first cell and are only added up, in a
fixed order, so that the compiled scan (`compiled_scan`) has the same sums to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.compiled import compiled_version
from calib_core.tokens.float_bits import as_bits, first_cell_max_bits, unlisted_unit, unlisted_values

LANES: Final = 64
"""Partial sums of a block of classes: entry k is added to number k mod 64 of them, in ascending order."""


def class_block_size(classes: int) -> int:
    """Number of consecutive classes whose unlisted entries are summed together.

    A divisor of K near 1,000 if there is one; always a multiple of 2 · `LANES`.
    """
    divisors = [size for size in range(512, 2049, 2 * LANES) if classes % size == 0]
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


RawScan = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any], NDArray[np.float64]]
"""Number of large entries of each row, their classes, their bits, and of the others Σ and Σ of squares by row
and block, shape (2, R, blocks), in units of `unlisted_unit` and of its square."""

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
        self._unit = unlisted_unit(dtype)
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
        square_sum = squares.sum(axis=1) * self._unit**2
        return ScanResult(count, class_index, bits, sums * self._unit, square_sum, class_sums)


def compiled_scan_function(dtype: np.dtype[Any]) -> ScanFunction:
    """The scan, compiled for this dtype, if Numba is installed (the extra `fast`); otherwise `scan_rows`."""
    return compiled_version(
        scan_rows,
        "calib_core.tokens.compiled_scan",
        lambda scan: scan(np.zeros((1, 2 * LANES), dtype), 0, 2 * LANES, None),
    )


def scan_rows(
    rows: NDArray[Any], bits_limit: int, block_size: int, class_sums: NDArray[np.float64] | None
) -> RawScan:
    """Scans rows with NumPy; see `ScanFunction`."""
    n_rows, classes = rows.shape
    n_blocks = -(-classes // block_size)
    padded = np.zeros(n_blocks * block_size)
    row, by_lane = padded[:classes], padded.reshape(n_blocks, -1, LANES)
    bits = as_bits(rows)
    limit, is_large = bits.dtype.type(bits_limit), np.empty(classes, np.bool_)
    lanes = np.empty((2, n_blocks, LANES))
    block_sums = np.empty((2, n_rows, n_blocks))
    class_indices: list[NDArray[np.intp]] = []
    large = [np.zeros(0, bits.dtype)]
    for at in range(n_rows):
        np.greater(bits[at], limit, out=is_large)
        class_indices.append(is_large.nonzero()[0])
        large.append(bits[at, class_indices[at]])
        np.copyto(row, unlisted_values(rows[at]))
        row[class_indices[at]] = 0
        if class_sums is not None:
            class_sums += row
        np.einsum("bel->bl", by_lane, out=lanes[0])
        if rows.dtype == np.float64:
            np.einsum("bel->bl", by_lane * by_lane, out=lanes[1])
        else:  # exact squares, which may be added with or without rounding them
            np.einsum("bel,bel->bl", by_lane, by_lane, out=lanes[1])
        block_sums[:, at] = _sum_lanes(lanes)
    count = np.array([index.size for index in class_indices], np.intp)
    class_index = np.concatenate([np.zeros(0, np.intp), *class_indices])
    return count, class_index, np.concatenate(large), block_sums


def _sum_lanes(lanes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ over the last axis, in halves."""
    lanes = np.ascontiguousarray(np.moveaxis(lanes, -1, 0))
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]

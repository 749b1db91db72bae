"""What is kept of some positions once their distributions have been looked through?

Few entries of a distribution are large enough to matter one by one: they are listed. Of the rest, which
all lie in the grid's first cell, sums are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


def _reduce_by_row(ufunc: np.ufunc, values: NDArray[np.float64], start: NDArray[np.intp]) -> NDArray[np.float64]:
    return ufunc.reduceat(values, start[:-1]) if values.size else np.zeros(0)

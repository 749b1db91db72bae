"""How are long distributions looked through at the speed of memory?

Floats that are not negative order like their bits, read as whole numbers; anything else (a sign, infinity,
NaN) has larger bits than 1. So one comparison of whole numbers finds the few entries that matter one by one
and everything that may be wrong; the others lie in the grid's first cell and are only added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.positions import class_block_size
from calib_core.tokens.stored import UINT_BY_ITEMSIZE, first_cell_max_bits


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
        self.limit = first_cell_max_bits(dtype)
        self._whole = UINT_BY_ITEMSIZE[dtype.itemsize]
        group = class_block_size(classes)
        room = np.zeros(-(-classes // group) * group)
        self._row = room[:classes]
        self._groups = room.reshape(-1, group)
        self._large = np.empty(classes, np.bool_)

    def scan(self, rows: NDArray[Any]) -> ScanResult:
        """See `Scratch`."""
        groups, squares = np.empty((rows.shape[0], self._groups.shape[0])), np.empty(rows.shape[0])
        limit = self._whole.type(self.limit)
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

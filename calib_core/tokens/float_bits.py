"""Bits, values and grid cells of stored floats.

float16 goes through tables of all 65,536 values, about a hundred times faster than NumPy's own arithmetic.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import bin_of
from calib_core.tokens.grid import GRID_CELLS

UINT_BY_ITEMSIZE: Final = {2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}
"""Bytes of a float → the unsigned integer of the same width."""

FLOAT16_UNIT: Final = 2.0**-24
"""Value of the smallest positive float16."""

_ALL_FLOAT16: Final = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def as_bits(values: NDArray[Any]) -> NDArray[Any]:
    """The same memory as unsigned integers, in which non-negative floats keep their order."""
    return values.view(UINT_BY_ITEMSIZE[values.dtype.itemsize])


def bits_of_one(dtype: np.dtype[Any]) -> int:
    """The bits of 1.0; those of negative numbers, infinity and NaN are larger.

    Examples
    --------
    >>> hex(bits_of_one(np.dtype(np.float16)))
    '0x3c00'
    """
    return int(as_bits(np.ones(1, dtype))[0])


@cache
def _float16_values() -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # some of the 65,536 are NaN
        return _ALL_FLOAT16.astype(np.float64)


@cache
def _float16_cells() -> NDArray[np.intp]:
    cells = np.zeros(as_bits(np.array([-0.0], np.float16))[0] + 1, np.intp)  # -0.0 is 0
    n_cells = bits_of_one(np.dtype(np.float16)) + 1
    cells[:n_cells] = bin_of(_ALL_FLOAT16[:n_cells], GRID_CELLS)
    return cells


def to_float64(values: NDArray[Any]) -> NDArray[np.float64]:
    """Floats of any width and shape as float64, exactly."""
    if values.dtype == np.float16:
        return _float16_values().take(as_bits(values))  # more than twice as fast as indexing
    return values.astype(np.float64)


def grid_cell_of(values: NDArray[Any]) -> NDArray[np.intp]:
    """Grid cell of each value in [0, 1], computed in the stored dtype; shape (n,)."""
    if values.dtype == np.float16:
        return _float16_cells().take(as_bits(values))
    return bin_of(values, GRID_CELLS)


@cache
def first_cell_max_bits(dtype: np.dtype[Any]) -> int:
    """Bits of the largest float of this dtype in the grid's first cell."""
    low, high = 0, bits_of_one(dtype)
    while high - low > 1:
        middle = (low + high) // 2
        if bin_of(np.array([middle], UINT_BY_ITEMSIZE[dtype.itemsize]).view(dtype), GRID_CELLS)[0]:
            high = middle
        else:
            low = middle
    return low


def unlisted_values(rows: NDArray[Any]) -> NDArray[Any]:
    """Entries in units of `unlisted_unit`; undefined above the grid's first cell.

    float16 is added up as whole numbers, which is exact; other rows are returned as they are.
    """
    if rows.dtype != np.float16:
        return rows
    # Bits e · 1024 + m stand for the value (1024 + m) · 2^(e - 1), and for m where e = 0; here e < 4. The
    # lines through the pieces of this convex function lie below it.
    bits = rows.view(np.int16)
    return np.maximum(bits, np.maximum((bits << 1) - 2048, (bits << 2) - 8192))


def unlisted_unit(dtype: np.dtype[Any]) -> float:
    """Unit of `unlisted_values`."""
    return FLOAT16_UNIT if dtype == np.float16 else 1.0

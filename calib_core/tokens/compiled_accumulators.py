"""The innermost loops of `accumulators` compiled by Numba, with the same sums to the last bit."""

# Numba has no type information, and takes no objects: hence the many parameters.
# pyright: basic

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calib_core.compiled import compiled
from calib_core.tokens.grid import GRID_CELLS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def add_to_cells(cell: NDArray[np.intp], prob: NDArray[np.float64]) -> NDArray[np.float64]:
    """See `accumulators.add_to_cells`."""
    sums = np.zeros((3, GRID_CELLS))
    # Most entries lie in the first cell: what is in a register need not wait for memory.
    count, confidence, squares = 0, 0.0, 0.0
    for at in range(cell.size):
        p = prob[at]
        if cell[at] == 0:
            count += 1
            confidence += p
            squares += p * p
        else:
            sums[0, cell[at]] += 1
            sums[1, cell[at]] += p
            sums[2, cell[at]] += p * p
    sums[0, 0], sums[1, 0], sums[2, 0] = count, confidence, squares
    return sums


@compiled
def take_first_cell(
    confidence: NDArray[np.float64],
    class_index: NDArray[np.int64],
    cell: NDArray[np.intp],
    prob: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """See `accumulators.take_first_cell`."""
    key, value = np.empty(cell.size, np.int64), np.empty(cell.size)
    n_others = np.uintp(0)
    for at in range(cell.size):
        is_first = cell[at] == 0
        # Adding 0 is no branch, of which every other one would be mispredicted.
        confidence[np.uintp(class_index[at])] += prob[at] if is_first else 0.0
        key[n_others] = class_index[at] * GRID_CELLS + cell[at]
        value[n_others] = prob[at]
        n_others += np.uintp(not is_first)
    return key[:n_others], value[:n_others]


@compiled
def add_by_key(
    count: NDArray[np.int32], total: NDArray[np.float64], key: NDArray[np.int64], value: NDArray[np.float64]
) -> None:
    """See `accumulators.add_by_key`."""
    if value.size:
        for at in range(key.size):
            count[np.uintp(key[at])] += 1
            total[np.uintp(key[at])] += value[at]
    else:
        for at in range(key.size):
            count[np.uintp(key[at])] += 1

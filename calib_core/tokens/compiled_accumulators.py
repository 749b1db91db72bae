"""The innermost loops of `accumulators` compiled by Numba, with the same sums to the last bit."""

# Numba has no type information, and takes no objects: hence the many parameters.
# pyright: basic

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from calib_core.compiled import compiled
from calib_core.tokens.grid import GRID_CELLS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNREAD: Final = 8
"""So many entries later, one that was added to memory has arrived there."""


@compiled
def add_to_cells(cell: NDArray[np.intp], prob: NDArray[np.float64]) -> NDArray[np.float64]:
    """See `accumulators.add_to_cells`."""
    # Of a cell, all sums lie side by side, and behind the cells there are places that nobody reads.
    sums = np.zeros((GRID_CELLS + _UNREAD, 4))
    # Most entries lie in the first cell: what is in a register need not wait for memory. Multiplying by 0
    # needs no branch, which would be mispredicted half of the time.
    count, confidence, squares = 0.0, 0.0, 0.0
    for at in range(np.uintp(cell.size)):
        is_first = np.uintp(cell[at] == 0)
        p, first_p = prob[at], prob[at] * is_first
        count += is_first
        confidence += first_p
        squares += first_p * first_p
        place = np.uintp(cell[at]) + is_first * (np.uintp(GRID_CELLS) + at % np.uintp(_UNREAD))
        sums[place, 0] += 1
        sums[place, 1] += p
        sums[place, 2] += p * p
    sums[0, 0], sums[0, 1], sums[0, 2] = count, confidence, squares
    return sums[:GRID_CELLS, :3].T


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
        # Adding 0 needs no branch, which would be mispredicted half of the time.
        confidence[np.uintp(class_index[at])] += prob[at] if is_first else 0.0
        key[n_others] = class_index[at] * GRID_CELLS + cell[at]
        value[n_others] = prob[at]
        n_others += np.uintp(not is_first)
    return key[:n_others], value[:n_others]


@compiled
def add_pairs(
    count: NDArray[np.int32],
    confidence: NDArray[np.float64],
    class_index: NDArray[np.int64],
    cell: NDArray[np.intp],
    prob: NDArray[np.float64],
) -> None:
    """See `accumulators.add_pairs`."""
    for at in range(cell.size):
        count[np.uintp(class_index[at]), np.uintp(cell[at])] += 1
        confidence[np.uintp(class_index[at]), np.uintp(cell[at])] += prob[at]


@compiled
def count_keys(count: NDArray[np.int32], key: NDArray[np.int64]) -> None:
    """See `accumulators.count_keys`."""
    for at in range(key.size):
        count[np.uintp(key[at])] += 1

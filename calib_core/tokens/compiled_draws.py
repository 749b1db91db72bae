"""The innermost loop of `null_draws` compiled by Numba, with the same draws."""

# Numba has no type information, and takes no objects: hence the many parameters.
# pyright: basic
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from calib_core.compiled import compiled
from calib_core.tokens import null_draws
from calib_core.tokens.grid import GRID_CELLS
from calib_core.tokens.null_draws import DRAW_UNIT, GOLDEN_GAMMA, LOWER_HALF

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUND: Final = 1.5 * 2.0**52
"""Adding this and taking it away rounds a number below 2⁵¹ as np.rint does, without a call."""

_mix64 = compiled(null_draws.mix64)


@compiled
def _cumulate(prob: NDArray[np.float64], ends: NDArray[np.int64]) -> np.int64:
    """Writes where each entry of a row ends, in units; returns the last end."""
    end = np.int64(0)
    for at in range(prob.size):
        end += np.int64((prob[at] / DRAW_UNIT + _ROUND) - _ROUND)
        ends[at] = end
    return end


@compiled
def count_draws(
    state: NDArray[np.uint64],
    prob: NDArray[np.float64],
    start: NDArray[np.intp],
    row_sum: NDArray[np.float64],
    has_unlisted: NDArray[np.bool_],
    class_index: NDArray[np.intp],
    entry_cell: NDArray[np.intp],
    top_entry: NDArray[np.intp],
    top_label: NDArray[np.int32],
    all_labels: NDArray[np.int32],
    n_kept: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """See `null_draws.count_draws`."""
    n_rows, n_draws = state.size, top_label.shape[1]
    key, beyond = np.empty((n_rows, n_kept), np.int64), np.empty((n_rows, n_kept))
    ends, points = np.empty(prob.size, np.int64), np.empty(n_draws, np.int64)
    drawn, distance = np.empty(n_draws, np.intp), np.empty(n_draws)
    for row in range(n_rows):
        first, n = start[row], start[row + 1] - start[row]
        mass = row_sum[row] / DRAW_UNIT
        listed = _cumulate(prob[first : first + n], ends)
        ends[n - 1] = np.iinfo(np.int64).max  # a point beyond all entries finds the last one
        most = np.int64(mass) if has_unlisted[row] else listed - 1
        shift = np.float64(np.int64(_mix64(state[row] + GOLDEN_GAMMA) >> np.uint64(19))) * 2.0**-45
        for place in range(n_draws):
            points[place] = min(np.int64((place + shift) * (1 / n_draws) * mass), most)
        order = _mix64(state[row] + GOLDEN_GAMMA * np.uint64(2))
        # Unsigned indices spare a look at their sign.
        step = np.uintp(1 + (np.int64(order >> np.uint64(32)) * (n_draws - 1) >> 32))
        draw = np.uintp(np.int64(order & LOWER_HALF) * n_draws >> 32)
        top, at = np.uintp(top_entry[row] - first), np.uintp(0)
        for place in range(n_draws):
            point = points[place]
            while ends[at] <= point:
                at += np.uintp(1)
            is_listed = point < listed
            cell = np.uintp(entry_cell[np.uintp(first) + at] if is_listed else 0)
            all_labels[cell, draw] += 1
            if at == top and is_listed:
                top_label[cell, draw] += 1
            drawn[draw] = at
            distance[draw] = -1.0 if is_listed else np.float64(point - listed) * DRAW_UNIT
            draw += step
            draw = min(draw, draw - np.uintp(n_draws))  # modulo n, as numbers below 0 wrap around
        for kept in range(n_kept):
            entry = first + drawn[kept]
            key[row, kept] = class_index[entry] * GRID_CELLS + entry_cell[entry]
            beyond[row, kept] = distance[kept]
    return key, beyond

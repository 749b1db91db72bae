"""The innermost loop of `null_draws` compiled by Numba, with the same draws."""

# Numba has no type information, and takes no objects: hence the many parameters.
# pyright: basic
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from calib_core.compiled import compiled
from calib_core.tokens import null_draws
from calib_core.tokens.null_draws import DRAW_UNIT, GOLDEN_GAMMA

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_PARTS: Final = 256
"""Equally long parts of a row, at most, of each of which is noted with which entry it begins."""

_mix64 = compiled(null_draws.mix64)


@compiled
def _cumulate(prob: NDArray[np.float64], ends: NDArray[np.int64]) -> np.int64:
    """Writes where each entry of a row ends, in units; returns the last end."""
    end = np.int64(0)
    for at in range(prob.size):
        end += np.int64(np.rint(prob[at] / DRAW_UNIT))
        ends[at] = end
    return end


@compiled
def _find_parts(ends: NDArray[np.int64], n: int, listed: int, part_entry: NDArray[np.intp]) -> int:
    """Writes the entry at the beginning of each part of a row of `n` entries.

    Returns
    -------
    int
        A part is two to the power of this many units long.
    """
    n_parts = 2
    while n_parts < min(2 * n, _MAX_PARTS):
        n_parts *= 2
    exponent = 0
    while (n_parts << exponent) <= listed:
        exponent += 1
    at = 0
    for part in range((listed >> exponent) + 1):
        while at < n - 1 and ends[at] <= (part << exponent):
            at += 1
        part_entry[part] = at
    return exponent


@compiled
def count_draws(
    state: NDArray[np.uint64],
    prob: NDArray[np.float64],
    start: NDArray[np.intp],
    row_sum: NDArray[np.float64],
    has_unlisted: NDArray[np.bool_],
    entry_cell: NDArray[np.intp],
    top_entry: NDArray[np.intp],
    top_label: NDArray[np.int32],
    all_labels: NDArray[np.int32],
    n_kept: int,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """See `null_draws.count_draws`."""
    n_rows, n_draws = state.size, top_label.shape[1]
    entry, beyond = np.empty((n_rows, n_kept), np.intp), np.empty((n_rows, n_kept))
    ends, points = np.empty(prob.size, np.int64), np.empty(n_draws, np.int64)
    part_entry = np.empty(_MAX_PARTS, np.intp)
    for row in range(n_rows):
        first, n = start[row], start[row + 1] - start[row]
        mass = row_sum[row] / DRAW_UNIT
        listed = _cumulate(prob[first : first + n], ends)
        last = np.int64(mass) if has_unlisted[row] else listed - 1
        for draw in range(n_draws):
            word = _mix64(state[row] + np.uint64(draw + 1) * GOLDEN_GAMMA)
            uniform = np.float64(np.int64(word >> np.uint64(11))) * 2.0**-53
            points[draw] = min(np.int64(np.floor(uniform * mass)), last)
        exponent = _find_parts(ends, n, listed, part_entry)
        top = top_entry[row] - first
        top_cell = entry_cell[top_entry[row]]
        for draw in range(n_draws):
            point, at, cell, distance = points[draw], n - 1, np.intp(0), -1.0
            if point < listed:
                at = part_entry[point >> exponent]
                while ends[at] <= point:
                    at += 1
                cell = entry_cell[first + at]
                if at == top:
                    top_label[top_cell, draw] += 1
            else:
                distance = np.float64(point - listed) * DRAW_UNIT
            all_labels[cell, draw] += 1
            if draw < n_kept:
                entry[row, draw], beyond[row, draw] = first + at, distance
    return entry, beyond

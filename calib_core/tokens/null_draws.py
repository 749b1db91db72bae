"""Draws outcomes under the null hypothesis that every distribution is calibrated.

One class is drawn per position, from the position's distribution divided by its sum. The K outcomes of a
position exclude each other, so drawing them independently by cell would overstate their variance.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.accumulators import KeyedSums
from calib_core.tokens.float_bits import as_bits, to_float64
from calib_core.tokens.grid import GRID_CELLS
from calib_core.tokens.row_scanner import PositionBlock, ScannedRows, class_block_size
from calib_core.tokens.sums import N_CLASS_DRAWS, N_DRAWS, NullDraws

# --- Random numbers -----------------------------------------------------------
#
# SplitMix64: each position has its own stream, seeded by a hash of the seed, the row number and what is
# stored there. The draws therefore do not depend on the size of the blocks read, and two parts of a data
# set, whose rows are both counted from 0, do not share their draws.

RandomWords = NDArray[np.uint64]

_GOLDEN_GAMMA: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_FACTOR_1: Final = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX_FACTOR_2: Final = np.uint64(0x94D0_49BB_1331_11EB)


def mix64(words: RandomWords) -> RandomWords:
    """The output function of SplitMix64, a bijection of 64-bit words.

    References
    ----------
    Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators", OOPSLA,
    doi:10.1145/2660193.2660195.
    """
    mixed = (words ^ (words >> np.uint64(30))) * _MIX_FACTOR_1
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_FACTOR_2
    return mixed ^ (mixed >> np.uint64(31))


def stream_states(seed: int, *keys: NDArray[np.int64] | NDArray[np.float64]) -> RandomWords:
    """Initial state of each position's stream, shape (n,).

    Parameters
    ----------
    seed : int
        Seed of all streams.
    *keys : NDArray of int64 or float64, shape (n,)
        What distinguishes each position from others.
    """
    state = np.full(keys[0].shape, seed % (1 << 64), np.uint64)
    for key in keys:
        state = mix64((state ^ key.view(np.uint64)) + _GOLDEN_GAMMA)
    return state


def uniform_draws(state: RandomWords, draws: int) -> NDArray[np.float64]:
    """The first numbers of each stream, uniform in [0, 1) and multiples of 2⁻⁵³; shape (n, draws)."""
    steps = np.arange(1, draws + 1, dtype=np.uint64) * _GOLDEN_GAMMA
    return (mix64(state[:, None] + steps) >> np.uint64(11)).astype(np.float64) * 2.0**-53


# --- Draws --------------------------------------------------------------------

DRAW_UNIT: Final = 2.0**-46
"""Probabilities are rounded to multiples of this, so that their sums do not depend on the order."""

_ROW_STRIDE: Final = 1 << 48
"""Offset between rows in units: more than any row's sum, and small enough for 2¹⁵ rows in an int64."""


class NullSampler:
    """Draws classes for positions as they come, and counts the outcomes by cell.

    Parameters
    ----------
    seed : int
        Seed of the draws.
    classes : int
        Number of classes, K.
    by_class : bool
        Whether to count the first `N_CLASS_DRAWS` draws by class, too.
    """

    def __init__(self, seed: int, classes: int, *, by_class: bool) -> None:
        self._seed = seed
        self._classes = classes
        self._top_label = np.zeros((N_DRAWS, GRID_CELLS), np.int32)
        self._all_labels = np.zeros((N_DRAWS, GRID_CELLS), np.int32)
        self._by_class = KeyedSums() if by_class else None

    def add(self, positions: PositionBlock) -> None:
        """Draws `N_DRAWS` classes for each position of a block."""
        scanned = positions.scanned
        squares = scanned.unlisted_square_sum + np.add.reduceat(
            scanned.prob * scanned.prob, scanned.start[:-1]
        )
        state = stream_states(
            self._seed, positions.row_number, positions.target, positions.target_prob, squares
        )
        entry, beyond = _draw_entries(positions.scanned, uniform_draws(state, N_DRAWS))
        is_listed = beyond < 0
        cell = np.where(is_listed, positions.entry_cell[entry], 0)
        draw = np.broadcast_to(np.arange(N_DRAWS), entry.shape)
        np.add.at(self._all_labels.reshape(-1), (draw * GRID_CELLS + cell).ravel(), np.int32(1))
        is_top = is_listed & (entry == positions.scanned.top_entry[:, None])
        np.add.at(self._top_label.reshape(-1), (draw * GRID_CELLS + cell)[is_top], np.int32(1))
        if self._by_class is not None:
            first = np.s_[:, :N_CLASS_DRAWS]
            class_index = np.where(is_listed[first], positions.scanned.class_index[entry[first]], -1)
            row, drawn = np.nonzero(class_index < 0)
            if row.size:
                class_index[row, drawn] = _draw_unlisted_class(positions.scanned, row, beyond[row, drawn])
            key = (draw[first] * self._classes + class_index) * np.int64(GRID_CELLS) + cell[first]
            self._by_class.add(key.ravel(), np.zeros(key.size))

    def result(self) -> NullDraws:
        """The outcomes drawn so far."""
        by_class = None
        if self._by_class is not None:
            key, count, _ = self._by_class.sums()
            key, cell = np.divmod(key, GRID_CELLS)
            draw, group = np.divmod(key, self._classes)
            by_class = np.stack([draw, group, cell, count], axis=1).astype(np.int32)
        return NullDraws(self._seed, self._top_label.copy(), self._all_labels.copy(), by_class)


def _draw_entries(
    scanned: ScannedRows, uniforms: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The entry that each uniform number draws.

    Parameters
    ----------
    scanned : ScannedRows
        R rows.
    uniforms : NDArray[np.float64], shape (R, n)
        Numbers in [0, 1).

    Returns
    -------
    entry : NDArray[np.intp], shape (R, n)
        Index of the listed entry that is drawn.
    beyond : NDArray[np.float64], shape (R, n)
        −1, or where an unlisted entry is drawn, the distance beyond the listed ones, in [0, unlisted sum).
    """
    units = np.rint(scanned.prob / DRAW_UNIT).astype(np.int64)
    ends = np.cumsum(units)
    before = (ends - units)[scanned.start[:-1]]
    listed = ends[scanned.start[1:] - 1] - before
    point = np.floor(uniforms * (scanned.row_sum / DRAW_UNIT)[:, None]).astype(np.int64)
    # Where all entries are listed, rounding must not lead beyond the last one.
    np.minimum(point, listed[:, None] - 1, out=point, where=(scanned.unlisted_sum == 0)[:, None])
    row = np.arange(scanned.usable_rows.size) * _ROW_STRIDE
    ends += (row - before)[scanned.entry_row]
    # Searching for sorted points is five times as fast.
    order = np.argsort(point, axis=1)
    found = np.searchsorted(ends, np.take_along_axis(point, order, axis=1) + row[:, None], side="right")
    entry = np.empty_like(found)
    np.put_along_axis(entry, order, found, axis=1)
    beyond = np.where(point < listed[:, None], -1.0, (point - listed[:, None]) * DRAW_UNIT)
    return np.minimum(entry, scanned.start[1:, None] - 1), beyond


def _draw_unlisted_class(
    scanned: ScannedRows, row: NDArray[np.intp], beyond: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The unlisted class that is drawn, shape (n,).

    Parameters
    ----------
    scanned : ScannedRows
        Scanned rows.
    row : NDArray[np.intp], shape (n,)
        Row of each draw.
    beyond : NDArray[np.float64], shape (n,)
        Distance into the row's unlisted entries.
    """
    assert scanned.unlisted_block_sums is not None  # noqa: S101 - a row with unlisted entries has their sums
    classes: int = scanned.values.shape[1]
    block = _locate(scanned.unlisted_block_sums[row], beyond)
    below = (
        np.cumsum(scanned.unlisted_block_sums, axis=1)[row, block] - scanned.unlisted_block_sums[row, block]
    )
    size = class_block_size(classes)
    class_index: NDArray[np.int64] = block[:, None] * size + np.arange(size)
    is_outside = class_index >= classes
    class_index = np.where(is_outside, 0, class_index)
    value = scanned.values[row[:, None], class_index]
    prob = to_float64(value)
    prob[
        is_outside
        | (as_bits(value) > scanned.bits_limit)
        | (class_index == scanned.class_index[scanned.top_entry[row]][:, None])
    ] = 0
    offset = _locate(prob, np.maximum(beyond - below, 0))
    return class_index[np.arange(row.size), offset]


def _locate(parts: NDArray[np.float64], distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """Index of the part of each row that contains the point at the given distance, shape (n,).

    Where the distance exceeds the row's sum, the last part above 0. parts: shape (n, m); distance: shape
    (n,).
    """
    ends = np.cumsum(parts, axis=1)
    ends[parts == 0] = -1  # never drawn
    index = np.argmax(ends > distance[:, None], axis=1)
    is_beyond = ends[np.arange(index.size), index] <= distance
    index[is_beyond] = ends.shape[1] - 1 - np.argmax(parts[is_beyond, ::-1] > 0, axis=1)
    return index

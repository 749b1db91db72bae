"""Which outcomes would be seen if every distribution were exactly right?

One class is drawn a position, from that position's distribution divided by its sum. The pairs of one
position exclude each other: outcomes drawn cell by cell would vary too much.
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

# MERGED uniform: Which random numbers belong to a position, whatever part of the data is read first?
#
# SplitMix64 (Steele, Lea and Flood 2014): each position has its own stream, begun at a hash of the seed, its
# row and what is stored there. So the size of the parts read changes nothing, and two parts of a data set,
# whose rows are counted from 0 both times, do not share their draws.

RandomWords = NDArray[np.uint64]

_GOLDEN_GAMMA: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_FACTOR_1: Final = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX_FACTOR_2: Final = np.uint64(0x94D0_49BB_1331_11EB)


def mix64(words: RandomWords) -> RandomWords:
    """Each word's bits, well stirred: the output function of SplitMix64, a bijection."""
    stirred = (words ^ (words >> np.uint64(30))) * _MIX_FACTOR_1
    stirred = (stirred ^ (stirred >> np.uint64(27))) * _MIX_FACTOR_2
    return stirred ^ (stirred >> np.uint64(31))


def stream_states(seed: int, *keys: NDArray[np.int64] | NDArray[np.float64]) -> RandomWords:
    """The state in which the stream of each position begins; facts: what tells it from others, shape (n,)."""
    state = np.full(keys[0].shape, seed % (1 << 64), np.uint64)
    for fact in keys:
        state = mix64((state ^ fact.view(np.uint64)) + _GOLDEN_GAMMA)
    return state


def uniform_draws(state: RandomWords, draws: int) -> NDArray[np.float64]:
    """The first numbers of each stream, uniform in [0, 1), multiples of 2⁻⁵³; shape (n, draws)."""
    steps = np.arange(1, draws + 1, dtype=np.uint64) * _GOLDEN_GAMMA
    return (mix64(state[:, None] + steps) >> np.uint64(11)).astype(np.float64) * 2.0**-53


DRAW_UNIT: Final = 2.0**-46
"""Probabilities are drawn by in whole numbers of this, so that sums are exact in any order."""

_ROW_STRIDE: Final = 1 << 48
"""Distance of one row from the next, in such units: more than any row's sum; for up to 2¹⁵ rows at a time."""


class NullSampler:
    """Draws for positions as they come and counts what was drawn."""

    def __init__(self, seed: int, classes: int, *, by_class: bool) -> None:
        self._seed = seed
        self._classes = classes
        self._top = np.zeros((N_DRAWS, GRID_CELLS), np.int32)
        self._all = np.zeros((N_DRAWS, GRID_CELLS), np.int32)
        self._by_class = KeyedSums() if by_class else None

    def add(self, positions: PositionBlock) -> None:
        """Draws DRAWS classes for each position."""
        look = positions.scanned
        squares = look.unlisted_square_sum + np.add.reduceat(look.prob * look.prob, look.start[:-1])
        state = stream_states(
            self._seed, positions.row_number, positions.target, positions.target_prob, squares
        )
        entry, beyond = _draw_entries(positions.scanned, uniform_draws(state, N_DRAWS))
        inside = beyond < 0
        cell = np.where(inside, positions.entry_cell[entry], 0)
        draw = np.broadcast_to(np.arange(N_DRAWS), entry.shape)
        np.add.at(self._all.reshape(-1), (draw * GRID_CELLS + cell).ravel(), np.int32(1))
        hit = inside & (entry == positions.scanned.top_entry[:, None])
        np.add.at(self._top.reshape(-1), (draw * GRID_CELLS + cell)[hit], np.int32(1))
        if self._by_class is not None:
            first = np.s_[:, :N_CLASS_DRAWS]
            column = np.where(inside[first], positions.scanned.class_index[entry[first]], -1)
            row, of = np.nonzero(column < 0)
            if row.size:
                column[row, of] = _draw_unlisted_class(positions.scanned, row, beyond[row, of])
            key = (draw[first] * self._classes + column) * np.int64(GRID_CELLS) + cell[first]
            self._by_class.add(key.ravel(), np.zeros(key.size))

    def result(self) -> NullDraws:
        """What was drawn so far."""
        by_class = None
        if self._by_class is not None:
            key, count, _ = self._by_class.sums()
            key, cell = np.divmod(key, GRID_CELLS)
            draw, group = np.divmod(key, self._classes)
            by_class = np.stack([draw, group, cell, count], axis=1).astype(np.int32)
        return NullDraws(self._seed, self._top.copy(), self._all.copy(), by_class)


def _draw_entries(
    scanned: ScannedRows, uniforms: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """What each number in [0, 1) draws, shape (R, n).

    The listed entry; and, where it draws an entry that is not listed, how far it lies beyond the listed ones,
    in [0, rest), else −1.
    """
    units = np.rint(scanned.prob / DRAW_UNIT).astype(np.int64)
    ends = np.cumsum(units)
    before = (ends - units)[scanned.start[:-1]]
    listed = ends[scanned.start[1:] - 1] - before
    want = np.floor(uniforms * (scanned.row_sum / DRAW_UNIT)[:, None]).astype(np.int64)
    # Where all is listed, rounding must not lead beyond the last entry.
    np.minimum(want, listed[:, None] - 1, out=want, where=(scanned.unlisted_sum == 0)[:, None])
    row = np.arange(scanned.usable_rows.size) * _ROW_STRIDE
    ends += (row - before)[scanned.entry_row]
    # In ascending order they are found five times as fast.
    order = np.argsort(want, axis=1)
    found = np.searchsorted(ends, np.take_along_axis(want, order, axis=1) + row[:, None], side="right")
    entry = np.empty_like(found)
    np.put_along_axis(entry, order, found, axis=1)
    beyond = np.where(want < listed[:, None], -1.0, (want - listed[:, None]) * DRAW_UNIT)
    return np.minimum(entry, scanned.start[1:, None] - 1), beyond


def _draw_unlisted_class(
    scanned: ScannedRows, row: NDArray[np.intp], beyond: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The class drawn for a position of that row, that far into its unlisted entries; all of shape (n,)."""
    assert scanned.unlisted_block_sums is not None  # noqa: S101 - a row with unlisted entries has their sums
    classes: int = scanned.values.shape[1]
    group = _locate(scanned.unlisted_block_sums[row], beyond)
    below = (
        np.cumsum(scanned.unlisted_block_sums, axis=1)[row, group] - scanned.unlisted_block_sums[row, group]
    )
    size = class_block_size(classes)
    column: NDArray[np.int64] = group[:, None] * size + np.arange(size)
    outside = column >= classes
    column = np.where(outside, 0, column)
    value = scanned.values[row[:, None], column]
    prob = to_float64(value)
    prob[
        outside
        | (as_bits(value) > scanned.bits_limit)
        | (column == scanned.class_index[scanned.top_entry[row]][:, None])
    ] = 0
    at = _locate(prob, np.maximum(beyond - below, 0))
    return column[np.arange(row.size), at]


def _locate(parts: NDArray[np.float64], distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """Which part of each row, shape (n, m), lies so far along; the last one above 0 where none does."""
    ends = np.cumsum(parts, axis=1)
    ends[parts == 0] = -1  # never drawn
    at = np.argmax(ends > distance[:, None], axis=1)
    none = ends[np.arange(at.size), at] <= distance
    at[none] = ends.shape[1] - 1 - np.argmax(parts[none, ::-1] > 0, axis=1)
    return at

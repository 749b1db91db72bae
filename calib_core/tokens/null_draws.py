"""Draws outcomes under the null hypothesis that every distribution is calibrated.

One class is drawn per position, from the position's distribution divided by its sum. The K outcomes of a
position exclude each other, so drawing them independently by cell would overstate their variance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.compiled import compiled_version
from calib_core.tokens.accumulators import PLAIN_LOOPS, compiled_loops, keyed_counts
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

GOLDEN_GAMMA: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
LOWER_HALF: Final = np.uint64(0xFFFF_FFFF)
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
        state = mix64((state ^ key.view(np.uint64)) + GOLDEN_GAMMA)
    return state


def stratified_draws(state: RandomWords, draws: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Numbers in [0, 1) of each position in ascending order, and the draw that each belongs to.

    A Latin hypercube: (i + v) / n for i = 0..n − 1, of which draw (a·i + b) mod n gets the i-th. As n is
    prime, any two draws get any two of the numbers equally often. The numbers of a draw are uniform, and
    independent between positions; two draws have the correlation of drawing without replacement,
    −1 / (n − 1). Sorted numbers are found in a distribution without searching.

    Parameters
    ----------
    state : RandomWords, shape (R,)
        State of each position's stream, whose first two words give v (2⁻⁴⁵ apart), a and b.
    draws : int
        Number of draws, n; a prime number, or 1.

    Returns
    -------
    numbers : NDArray[np.float64], shape (R, n)
    draw : NDArray[np.intp], shape (R, n)

    References
    ----------
    McKay, Beckman and Conover (1979), "A comparison of three methods for selecting values of input
    variables", Technometrics 21, doi:10.1080/00401706.1979.10489755.
    """
    place = np.arange(draws)
    shift, order = mix64(np.arange(1, 3, dtype=np.uint64)[:, None] * GOLDEN_GAMMA + state)
    first_half, second_half = (order >> np.uint64(32)).astype(np.int64), (order & LOWER_HALF).astype(np.int64)
    step, first = 1 + (first_half * (draws - 1) >> 32), second_half * draws >> 32
    numbers = (place + ((shift >> np.uint64(19)).astype(np.float64) * 2.0**-45)[:, None]) * (1 / draws)
    return numbers, (first[:, None] + step[:, None] * place) % draws


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
    compiled : bool, default=False
        Whether to use compiled code if Numba is installed; the draws are the same.
    """

    def __init__(self, seed: int, classes: int, *, by_class: bool, compiled: bool = False) -> None:
        self._seed = seed
        self._classes = classes
        self._count_draws = compiled_count_draws() if compiled else count_draws
        # By cell first: most draws of a position are of one class, and so next to each other.
        self._top_label = np.zeros((GRID_CELLS, N_DRAWS), np.int32)
        self._all_labels = np.zeros((GRID_CELLS, N_DRAWS), np.int32)
        self._by_class = None
        if by_class:
            loops = compiled_loops() if compiled else PLAIN_LOOPS
            self._by_class = keyed_counts(N_CLASS_DRAWS * classes * GRID_CELLS, loops)

    def add(self, positions: PositionBlock) -> None:
        """Draws `N_DRAWS` classes for each position of a block."""
        scanned = positions.scanned
        squares = scanned.unlisted_square_sum + np.add.reduceat(
            scanned.prob * scanned.prob, scanned.start[:-1]
        )
        state = stream_states(
            self._seed, positions.row_number, positions.target, positions.target_prob, squares
        )
        key, beyond = self._count_draws(
            state,
            scanned.prob,
            scanned.start,
            scanned.row_sum,
            scanned.unlisted_sum > 0,
            scanned.class_index,
            positions.entry_cell,
            scanned.top_entry,
            self._top_label,
            self._all_labels,
            N_CLASS_DRAWS,
        )
        if self._by_class is not None:
            row, draw = np.nonzero(beyond >= 0)
            if row.size:
                key[row, draw] = _draw_unlisted_class(scanned, row, beyond[row, draw]) * GRID_CELLS
            key += np.arange(N_CLASS_DRAWS) * (self._classes * GRID_CELLS)
            self._by_class.add(key.reshape(-1))

    def result(self) -> NullDraws:
        """The outcomes drawn so far."""
        by_class = None
        if self._by_class is not None:
            key, count = self._by_class.counts()
            columns = np.empty((4, key.size), np.int32)
            draw_and_class, draw = key // GRID_CELLS, key // (GRID_CELLS * self._classes)
            columns[0], columns[1] = draw, draw_and_class - draw * self._classes
            columns[2] = key - draw_and_class * GRID_CELLS
            columns[3] = count
            by_class = np.ascontiguousarray(columns.T)
        top_label, all_labels = (np.ascontiguousarray(of.T) for of in (self._top_label, self._all_labels))
        return NullDraws(self._seed, top_label, all_labels, by_class)


def count_draws(  # noqa: PLR0913, PLR0917  compiled code takes no objects
    state: RandomWords,
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
    """Draws entries of R rows, and counts them by cell and draw.

    Parameters
    ----------
    state : RandomWords, shape (R,)
        State of each row's stream.
    prob, start, row_sum, class_index, top_entry
        As in `ScannedRows`.
    has_unlisted : NDArray[np.bool_], shape (R,)
        Whether a row has entries above 0 that are not listed, all of which lie in the first cell.
    entry_cell : NDArray[np.intp], shape (E,)
        Grid cell of each listed entry.
    top_label, all_labels : NDArray[np.int32], shape (GRID_CELLS, draws)
        Counts of drawn top labels, and of all drawn classes, which are updated in place.
    n_kept : int
        Number of draws whose outcome is returned.

    Returns
    -------
    key : NDArray[np.int64], shape (R, n_kept)
        class · GRID_CELLS + cell of the listed entry that is drawn; of the last one where an unlisted one is.
    beyond : NDArray[np.float64], shape (R, n_kept)
        −1, or where an unlisted entry is drawn, the distance beyond the listed ones, in [0, unlisted sum).
    """
    n_draws: int = top_label.shape[1]
    numbers, draw = stratified_draws(state, n_draws)
    entry, beyond = _draw_entries(prob, start, row_sum, has_unlisted, numbers)
    is_listed = beyond < 0
    cell: NDArray[np.intp] = np.where(is_listed, entry_cell[entry], 0)
    at = cell * n_draws + draw
    np.add.at(all_labels.reshape(-1), at.ravel(), np.int32(1))
    is_top = is_listed & (entry == top_entry[:, None])
    np.add.at(top_label.reshape(-1), at[is_top], np.int32(1))
    key, kept_beyond = np.empty((state.size, n_kept), np.int64), np.empty((state.size, n_kept))
    row, place = np.nonzero(draw < n_kept)
    kept = entry[row, place]
    key[row, draw[row, place]] = class_index[kept] * GRID_CELLS + entry_cell[kept]
    kept_beyond[row, draw[row, place]] = beyond[row, place]
    return key, kept_beyond


def compiled_count_draws() -> Callable[..., tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """`count_draws`, compiled if Numba is installed (the extra `fast`)."""
    one, index, counts = np.ones(1), np.zeros(1, np.intp), np.zeros((1, 1), np.int32)
    of_one_row = (
        np.zeros(1, np.uint64),
        one,
        np.arange(2),
        one,
        one < 0,
        index,
        index,
        index,
        counts,
        counts,
        1,
    )
    return compiled_version(count_draws, "calib_core.tokens.compiled_draws", lambda draw: draw(*of_one_row))


def _draw_entries(
    prob: NDArray[np.float64],
    start: NDArray[np.intp],
    row_sum: NDArray[np.float64],
    has_unlisted: NDArray[np.bool_],
    numbers: NDArray[np.float64],
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Index of the listed entry that each number draws, and `beyond` as of `count_draws`.

    numbers: in [0, 1], ascending by row, shape (R, n).
    """
    units = np.rint(prob / DRAW_UNIT).astype(np.int64)
    ends = np.cumsum(units)
    before = (ends - units)[start[:-1]]
    listed = ends[start[1:] - 1] - before
    point = np.floor(numbers * (row_sum / DRAW_UNIT)[:, None]).astype(np.int64)
    # Where all entries are listed, rounding must not lead beyond the last one.
    np.minimum(point, listed[:, None] - 1, out=point, where=~has_unlisted[:, None])
    row = np.arange(row_sum.size) * _ROW_STRIDE
    ends += np.repeat(row - before, np.diff(start))
    entry = np.searchsorted(ends, point + row[:, None], side="right")
    beyond = np.where(point < listed[:, None], -1.0, (point - listed[:, None]) * DRAW_UNIT)
    return np.minimum(entry, start[1:, None] - 1), beyond


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

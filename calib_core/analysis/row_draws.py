"""Which class would be right if every distribution were exactly right?  One class a row, drawn from it.

Never one outcome a cell: the classes of a row exclude one another, and draws that forget it spread too far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.pair_draws import NULL_SEED
from calib_core.analysis.redrawn import ConfidenceMoments, BinnedNullDraws, sum_draws, sum_sparse_draws
from calib_core.binned import FINEST_BINS, Scheme, Sums
from calib_core.bins import bin_of
from calib_core.pairs import Distribution
from calib_core.tokens.sums import N_DRAWS

MAX_DENSE_CLASSES: Final = 64
"""Up to so many classes a row, each is compared with the random number in turn."""

MAX_TABLE_KEYS: Final = 1_000_000
"""Up to so many keys are told apart by a table, without sorting."""


@dataclass(frozen=True, slots=True, eq=False)
class CellDraws:
    """How often each cell was drawn.

    group, bin: class and bin of each cell, shape (cells,); draw, cell, count: cells that were drawn, by
    draw, shape (n,); pooled: drawn classes of all groups in each piece of [0, 1], shape (DRAWS, pieces);
    piece_bin: bin of each piece; likely: the classes that are drawn there.
    """

    group: NDArray[np.intp]
    bin: NDArray[np.intp]
    draw_index: NDArray[np.int32]
    drawn_cell: NDArray[np.int32]
    count: NDArray[np.int32]
    pooled_counts: NDArray[np.int32]
    piece_bin: NDArray[np.intp]
    moments: ConfidenceMoments


class CategoricalDraws:
    """Draws of the right class of each row, from its probabilities divided by their sum."""

    def __init__(self, distribution: Distribution) -> None:
        self._rows = distribution
        self._latest: dict[int, CellDraws] = {}

    def null_draws(self, sums: Sums, scheme: Scheme) -> BinnedNullDraws:
        """The draws in equal-width bins: by class where `sums` are kept so, else all classes together.

        An M that divides FINEST is read off draws that are kept; any other draws the same classes again.
        """
        on_grid = FINEST_BINS % scheme.bins == 0
        tally = self._fine_draws if on_grid else self._cell_draws_for(scheme.bins)
        step = FINEST_BINS // scheme.bins if on_grid else 1
        binned = sums.binned(scheme)
        if sums.groups == 1:
            place = np.searchsorted(binned.index, tally.piece_bin // step)
            return sum_draws(binned, sums, NULL_SEED, tally.pooled_counts, place, tally.moments)
        key = binned.group * np.int64(scheme.bins) + binned.index
        place = np.searchsorted(key, tally.group * np.int64(scheme.bins) + tally.bin // step)
        return sum_sparse_draws(binned, sums, NULL_SEED, N_DRAWS, tally.draw_index, place[tally.drawn_cell], tally.count)

    @cached_property
    def _fine_draws(self) -> CellDraws:
        return self._cell_draws(bin_of(self._rows.probs, FINEST_BINS), FINEST_BINS)

    def _cell_draws_for(self, bins: int) -> CellDraws:
        """Draws in the bins of an M that the grid does not serve, cut by the grid, too; the last is kept."""
        tally = self._latest.get(bins)
        if tally is None:
            tally = self._cell_draws(bin_of(self._rows.probs, bins), bins)
            self._latest = {bins: tally}
        return tally

    def _cell_draws(self, bin_: NDArray[np.intp], bins: int) -> CellDraws:
        # Both rise with the confidence, so their sum tells every pair of them apart.
        piece = bin_ if bins == FINEST_BINS else bin_ + bin_of(self._rows.probs, FINEST_BINS)
        pieces = FINEST_BINS if bins == FINEST_BINS else FINEST_BINS + bins
        bin_of_piece = np.zeros(pieces, np.intp)
        bin_of_piece[piece] = bin_
        occupied, cell = _factorize(self._rows.class_index * pieces + piece, self._rows.n_classes * pieces)
        draw, drawn, count, pooled = self._count_draws(cell, occupied % pieces, pieces)
        probs = self._rows.probs.astype(np.float64)
        mass = np.bincount(piece, probs, minlength=pieces).astype(np.float64)
        square = np.bincount(piece, probs * probs, minlength=pieces).astype(np.float64)
        pairs = np.bincount(piece, minlength=pieces)
        used = np.flatnonzero(pairs)
        return CellDraws(
            group=occupied // pieces,
            bin=bin_of_piece[occupied % pieces],
            draw_index=draw,
            drawn_cell=drawn,
            count=count,
            pooled_counts=pooled[:, used],
            piece_bin=bin_of_piece[used],
            moments=ConfidenceMoments.from_sums(pairs[used], mass[used], square[used]),
        )

    def _count_draws(
        self, cell: NDArray[np.int32], cell_piece: NDArray[np.intp], pieces: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Tally.draw, .cell, .count and .pooled; cell: of each pair; piece: of each cell."""
        pooled = np.empty((N_DRAWS, pieces), np.int32)
        drawn: list[NDArray[np.intp]] = []
        counts: list[NDArray[np.int32]] = []
        for number, chosen in enumerate(self._drawn_classes()):
            times = np.bincount(cell[chosen], minlength=cell_piece.size)
            pooled[number] = np.bincount(cell_piece, times, minlength=pieces)
            drawn.append(np.flatnonzero(times))
            counts.append(times[drawn[-1]].astype(np.int32))
        draw = np.repeat(np.arange(N_DRAWS, dtype=np.int32), [part.size for part in drawn])
        return draw, np.concatenate(drawn).astype(np.int32), np.concatenate(counts), pooled

    def _drawn_classes(self) -> Iterator[NDArray[np.int64]]:
        """Per draw, where in `probs` the drawn class of each row stands, shape (rows,); ever the same."""
        random = np.random.default_rng(NULL_SEED)
        start, classes = self._rows.row_starts, self._rows.n_classes
        upto = _cumulative_probabilities(self._rows)
        if classes > MAX_DENSE_CLASSES:
            line = upto + np.repeat(np.arange(self._rows.n), self._rows.sizes)
            rows = np.arange(self._rows.n)
            last = start + self._rows.sizes - 1
            for _ in range(N_DRAWS):
                yield np.minimum(np.searchsorted(line, rows + random.random(rows.size), side="right"), last)
            return
        edges = np.full((classes, self._rows.n), np.inf, np.float32)
        edges[self._rows.class_index, np.repeat(np.arange(self._rows.n), self._rows.sizes)] = upto
        for _ in range(N_DRAWS):
            point = random.random(self._rows.n, np.float32)
            passed = np.zeros(self._rows.n, np.uint8)
            for edge in edges[:-1]:
                passed += point >= edge
            yield start + passed


def _cumulative_probabilities(distribution: Distribution) -> NDArray[np.float64]:
    """Σ of the probabilities of a row up to and with each class, over their sum; ends with exactly 1."""
    total = np.cumsum(distribution.probs, dtype=np.float64)
    last = distribution.row_starts + distribution.sizes - 1
    before = total[distribution.row_starts] - distribution.probs[distribution.row_starts]
    within = total - np.repeat(before, distribution.sizes)
    return within / np.repeat(within[last], distribution.sizes)


def _factorize(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The different keys in order, and which of them each key is; keys are below `most`, shape (pairs,)."""
    if n_keys > max(keys.size, MAX_TABLE_KEYS):
        different, number = np.unique(keys, return_inverse=True)
        return different.astype(np.intp), number.astype(np.int32)
    occurs = np.bincount(keys, minlength=n_keys) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[keys]

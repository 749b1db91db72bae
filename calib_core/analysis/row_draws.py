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

from calib_core.analysis.pair_draws import SEED
from calib_core.analysis.redrawn import Likely, Redrawn, added_up, scattered
from calib_core.binned import FINEST, Scheme, Sums
from calib_core.bins import bin_of
from calib_core.pairs import Distribution
from calib_core.tokens.sums import DRAWS

FEW_CLASSES: Final = 64
"""Up to so many classes a row, each is compared with the random number in turn."""

FEW_KEYS: Final = 1_000_000
"""Up to so many keys are told apart by a table, without sorting."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How often each cell was drawn.

    group, bin: class and bin of each cell, shape (cells,); draw, cell, count: cells that were drawn, by
    draw, shape (n,); pooled: drawn classes of all groups in each piece of [0, 1], shape (DRAWS, pieces);
    piece_bin: bin of each piece; likely: the classes that are drawn there.
    """

    group: NDArray[np.intp]
    bin: NDArray[np.intp]
    draw: NDArray[np.int32]
    cell: NDArray[np.int32]
    count: NDArray[np.int32]
    pooled: NDArray[np.int32]
    piece_bin: NDArray[np.intp]
    likely: Likely


class RowDraws:
    """Draws of the right class of each row, from its probabilities divided by their sum."""

    def __init__(self, distribution: Distribution) -> None:
        self._rows = distribution
        self._latest: dict[int, Tally] = {}

    def redrawn(self, sums: Sums, scheme: Scheme) -> Redrawn:
        """The draws in equal-width bins: by class where `sums` are kept so, else all classes together.

        An M that divides FINEST is read off draws that are kept; any other draws the same classes again.
        """
        on_grid = FINEST % scheme.bins == 0
        tally = self._finest if on_grid else self._tally_of(scheme.bins)
        step = FINEST // scheme.bins if on_grid else 1
        binned = sums.binned(scheme)
        if sums.groups == 1:
            place = np.searchsorted(binned.index, tally.piece_bin // step)
            return added_up(binned, sums, SEED, tally.pooled, place, tally.likely)
        key = binned.group * np.int64(scheme.bins) + binned.index
        place = np.searchsorted(key, tally.group * np.int64(scheme.bins) + tally.bin // step)
        return scattered(binned, sums, SEED, DRAWS, tally.draw, place[tally.cell], tally.count)

    @cached_property
    def _finest(self) -> Tally:
        return self._tally(bin_of(self._rows.probs, FINEST), FINEST)

    def _tally_of(self, bins: int) -> Tally:
        """Draws in the bins of an M that the grid does not serve, cut by the grid, too; the last is kept."""
        tally = self._latest.get(bins)
        if tally is None:
            tally = self._tally(bin_of(self._rows.probs, bins), bins)
            self._latest = {bins: tally}
        return tally

    def _tally(self, bin_: NDArray[np.intp], bins: int) -> Tally:
        # Both rise with the confidence, so their sum tells every pair of them apart.
        piece = bin_ if bins == FINEST else bin_ + bin_of(self._rows.probs, FINEST)
        pieces = FINEST if bins == FINEST else FINEST + bins
        bin_of_piece = np.zeros(pieces, np.intp)
        bin_of_piece[piece] = bin_
        occupied, cell = _numbered(self._rows.position * pieces + piece, self._rows.classes * pieces)
        draw, drawn, count, pooled = self._count(cell, occupied % pieces, pieces)
        probs = self._rows.probs.astype(np.float64)
        mass = np.bincount(piece, probs, minlength=pieces).astype(np.float64)
        square = np.bincount(piece, probs * probs, minlength=pieces).astype(np.float64)
        pairs = np.bincount(piece, minlength=pieces)
        used = np.flatnonzero(pairs)
        return Tally(
            group=occupied // pieces,
            bin=bin_of_piece[occupied % pieces],
            draw=draw,
            cell=drawn,
            count=count,
            pooled=pooled[:, used],
            piece_bin=bin_of_piece[used],
            likely=Likely.of(pairs[used], mass[used], square[used]),
        )

    def _count(
        self, cell: NDArray[np.int32], piece: NDArray[np.intp], pieces: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Tally.draw, .cell, .count and .pooled; cell: of each pair; piece: of each cell."""
        pooled = np.empty((DRAWS, pieces), np.int32)
        drawn: list[NDArray[np.intp]] = []
        counts: list[NDArray[np.int32]] = []
        for number, chosen in enumerate(self._chosen()):
            times = np.bincount(cell[chosen], minlength=piece.size)
            pooled[number] = np.bincount(piece, times, minlength=pieces)
            drawn.append(np.flatnonzero(times))
            counts.append(times[drawn[-1]].astype(np.int32))
        draw = np.repeat(np.arange(DRAWS, dtype=np.int32), [part.size for part in drawn])
        return draw, np.concatenate(drawn).astype(np.int32), np.concatenate(counts), pooled

    def _chosen(self) -> Iterator[NDArray[np.int64]]:
        """Per draw, where in `probs` the drawn class of each row stands, shape (rows,); ever the same."""
        random = np.random.default_rng(SEED)
        start, classes = self._rows.start, self._rows.classes
        upto = _upto(self._rows)
        if classes > FEW_CLASSES:
            line = upto + np.repeat(np.arange(self._rows.n), self._rows.sizes)
            rows = np.arange(self._rows.n)
            last = start + self._rows.sizes - 1
            for _ in range(DRAWS):
                yield np.minimum(np.searchsorted(line, rows + random.random(rows.size), side="right"), last)
            return
        edges = np.full((classes, self._rows.n), np.inf, np.float32)
        edges[self._rows.position, np.repeat(np.arange(self._rows.n), self._rows.sizes)] = upto
        for _ in range(DRAWS):
            point = random.random(self._rows.n, np.float32)
            passed = np.zeros(self._rows.n, np.uint8)
            for edge in edges[:-1]:
                passed += point >= edge
            yield start + passed


def _upto(rows: Distribution) -> NDArray[np.float64]:
    """Σ of the probabilities of a row up to and with each class, over their sum; ends with exactly 1."""
    total = np.cumsum(rows.probs, dtype=np.float64)
    last = rows.start + rows.sizes - 1
    before = total[rows.start] - rows.probs[rows.start]
    within = total - np.repeat(before, rows.sizes)
    return within / np.repeat(within[last], rows.sizes)


def _numbered(key: NDArray[np.int64], most: int) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The different keys in order, and which of them each key is; keys are below `most`, shape (pairs,)."""
    if most > max(key.size, FEW_KEYS):
        different, number = np.unique(key, return_inverse=True)
        return different.astype(np.intp), number.astype(np.int32)
    occurs = np.bincount(key, minlength=most) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[key]

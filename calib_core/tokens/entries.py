"""Which pairs of a position are known when only its largest entries are stored, and what is left over?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Floats, bin_of
from calib_core.tokens.bounds import UnstoredMass
from calib_core.tokens.grid import GRID_CELLS

ZERO_REST: Final = 1e-13
"""A rest as small as this is what the rounding of a sum left: the unstored classes have probability 0."""


@dataclass(frozen=True, slots=True, eq=False)
class TopKEntries:
    """The entries stored of some positions, laid end to end.

    probs: probabilities of the k largest classes of each position, in any order, as stored (float16,
    float32 or float64), shape (entries,); ids: their classes, each once a position, whole numbers, shape
    (entries,); sizes: entries of each position, at least 1, shape (n,); target: right class, shape (n,);
    target_prob: its probability where it is not among the entries (elsewhere not looked at), shape (n,);
    row: 0-based position in the file, shape (n,); classes: K.
    """

    probs: Floats
    ids: NDArray[np.integer[Any]]
    sizes: NDArray[np.int64]
    target: NDArray[np.int64]
    target_prob: Floats
    row: NDArray[np.int64]
    classes: int

    def __post_init__(self) -> None:
        """Raises ValueError where shapes differ, a position has no entry, or a class is not in 0..K-1."""
        shapes = {self.sizes.shape, self.target.shape, self.target_prob.shape, self.row.shape}
        if len(shapes) > 1 or self.probs.shape != self.ids.shape or self.sizes.sum() != self.probs.size:
            raise ValueError("an id an entry; a size, a target, its probability and a row a position")
        if self.sizes.size and self.sizes.min() < 1:
            raise ValueError("a position has at least one stored entry")
        for classes in (self.ids, self.target):
            if classes.size and not 0 <= classes.min() <= classes.max() < self.classes:
                raise ValueError(f"a class is a whole number from 0 to {self.classes - 1}")


@dataclass(frozen=True, slots=True, eq=False)
class KnownPairs:
    """All pairs whose probability is known, position by position; n positions, e pairs.

    A position's pairs are its stored entries (largest first, ties by class), then the target where it
    was appended, then the one class that is left where there is exactly one: it has what is left.

    prob, cell, right, column: probability (float64), cell of the grid, outcome and class of each pair, shape
    (e,); start, end: where the pairs of each position begin and end, shape (n,); own: probability of the
    right class, shape (n,); total: what the probabilities of all K classes add up to, shape (n,); excess:
    |1 − total|, shape (n,); order: what sorts the entries, shape (entries,); rest: what is left of the
    positions of which more than one class is left; zeros: classes that are not stored where nothing is left.
    """

    prob: NDArray[np.float64]
    cell: NDArray[np.intp]
    is_correct: NDArray[np.bool_]
    class_index: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    target_prob: NDArray[np.float64]
    row_sum: NDArray[np.float64]
    sum_deviation: NDArray[np.float64]
    order: NDArray[np.intp]
    unstored: UnstoredMass
    n_zero_classes: int

    @property
    def n_rows(self) -> int:
        """Positions."""
        return self.start.size


def known_pairs(entries: TopKEntries) -> KnownPairs:
    """The known pairs of at least one position, and its rest r = max(0, 1 − all stored mass)."""
    sizes, exact = entries.sizes, entries.probs.astype(np.float64)
    owner = np.repeat(np.arange(sizes.size), sizes)
    order = _descending_order(exact, entries.ids, owner)
    hit = entries.ids[order] == entries.target[owner]
    appended = np.ones(sizes.size, np.bool_)
    appended[owner[hit]] = False
    own = entries.target_prob.astype(np.float64)
    own[owner[hit]] = exact[order][hit]
    first = np.cumsum(sizes) - sizes
    stored = np.add.reduceat(exact, first) + np.where(appended, own, 0.0)
    left = entries.classes - sizes - appended
    rest = np.where(left > 0, np.maximum(1.0 - stored, 0.0), 0.0)
    rest[rest <= ZERO_REST] = 0.0
    last = (left == 1) & (rest > 0)

    end = np.cumsum(sizes + appended + last)
    start = end - sizes - appended - last
    at, after = start[owner] + np.arange(owner.size) - first[owner], (start + sizes)[appended]
    prob, right = np.zeros(int(end[-1])), np.zeros(int(end[-1]), np.bool_)
    cell = np.zeros(int(end[-1]), np.intp)
    column = np.zeros(int(end[-1]), np.int64)
    prob[at], cell[at], right[at] = exact[order], bin_of(entries.probs, GRID_CELLS)[order], hit
    column[at] = entries.ids[order]
    prob[after], right[after], column[after] = own[appended], True, entries.target[appended]
    cell[after] = bin_of(entries.target_prob[appended], GRID_CELLS)
    prob[end[last] - 1], cell[end[last] - 1] = rest[last], bin_of(rest[last], GRID_CELLS)
    # All classes together add up to K(K−1)/2: what is lacking is the number of the one that is left.
    every = entries.classes * (entries.classes - 1) // 2
    column[end[last] - 1] = every - np.add.reduceat(column, start)[last]

    smallest = entries.probs[order[first + sizes - 1]]
    rests = _unstored_mass(smallest, rest, left, sizes)
    zeros = int(left.sum() - rests.n_classes.sum() - np.count_nonzero(last))
    total = stored + rest
    excess = np.abs(1.0 - total)
    return KnownPairs(prob, cell, right, column, start, end, own, total, excess, order, rests, zeros)


def _descending_order(
    probs: NDArray[np.float64], ids: NDArray[np.integer[Any]], owner: NDArray[np.intp]
) -> NDArray[np.intp]:
    """What puts the largest entry of each position first, equal ones by class; files mostly have it so."""
    falls = (probs[1:] < probs[:-1]) | ((probs[1:] == probs[:-1]) & (ids[1:] > ids[:-1]))
    if bool(np.all(falls | (owner[1:] > owner[:-1]))):
        return np.arange(probs.size)
    return np.lexsort((ids, -probs, owner))


def _unstored_mass(
    smallest: Floats, rest: NDArray[np.float64], left: NDArray[np.int64], sizes: NDArray[np.int64]
) -> UnstoredMass:
    """What is left of the positions of which more than one class is left: none exceeds min(u, r)."""
    several = (left > 1) & (rest > 0)
    largest = np.minimum(smallest, rest.astype(smallest.dtype))[several]
    return UnstoredMass(
        mass=rest[several],
        max_prob=largest.astype(np.float64),
        cell=bin_of(largest, GRID_CELLS),
        n_classes=left[several],
        n_stored=sizes[several],
    )

"""What do the largest entries of each position, stored without the others, come to as sums?

Spec, section 7. What is not stored shares what is left of the probability, and all of it is put into
the first cell; `bounds.py` says what Full-ECE may be where it may lie elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Floats, bin_of
from calib_core.tokens.accumulators import CellSums, ClassCellSums
from calib_core.tokens.bounds import UnstoredMass
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.null_draws import stream_states, uniform_draws
from calib_core.tokens.sums import (
    EXAMPLE_ENTRIES,
    MAX_EXAMPLES,
    N_DRAWS,
    ExamplePosition,
    NullDraws,
    TokenSums,
    UnstoredBounds,
)

# MERGED entries: Which pairs of a position are known when only its largest entries are stored, and what is left over?

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


NO_CLASS_SUMS: Final = (
    "Only the largest entries of each position are stored, and metrics by class need the probability of "
    "every class at every position."
)
CLASS_SUMS_MISMATCH: Final = (
    "The sums by class stored beside the list do not fit its positions: they may be of other positions, or "
    "rows were left out. Metrics by class need sums over exactly these."
)
_FIT_TOLERANCE: Final = 1e-3
"""Stored sums may differ from the positions' by so much a position, as one distribution's sum may from 1."""

_DRAW_BLOCK: Final = 4096
"""Positions whose outcomes are drawn at once."""


def reduce_topk(entries: TopKEntries, seed: int) -> TokenSums:
    """The sums of these positions; seed: of the draws. Blocks are added up by `TopKReducer`."""
    reducer = TopKReducer(entries.classes, seed)
    reducer.add(entries)
    return reducer.result()


class TopKReducer:
    """Adds positions up, block by block; neither the blocks nor their order changes a draw.

    classes: K; seed: of the draws, which each position begins anew with what is stored of it; columns: Σp by
    class over all positions, stored or not, shape (K,), None where nobody knows them.
    """

    def __init__(self, classes: int, seed: int, class_prob_sums: NDArray[np.float64] | None = None) -> None:
        if class_prob_sums is not None and class_prob_sums.shape != (classes,):
            raise ValueError(f"one sum a class, not {class_prob_sums.shape} for {classes}")
        self._columns = class_prob_sums
        self._by_class = None if class_prob_sums is None else ClassCellSums(classes)
        self._classes = classes
        self._seed = seed
        self._rows = 0
        self._top, self._all = CellSums(), CellSums()
        self._log_loss, self._impossible = 0.0, 0
        self._occurrences = np.zeros(classes, np.int64)
        self._excess = 0.0
        self._left = 0.0
        self._unseen: UnstoredBounds | None = None
        self._drawn_top, self._drawn_all = (np.zeros((N_DRAWS, GRID_CELLS), np.int32) for _ in range(2))
        self._examples: list[ExamplePosition] = []

    def add(self, entries: TopKEntries) -> None:
        """Takes more positions. Raises ValueError where K differs or a class is outside 0..K-1."""
        if entries.classes != self._classes:
            raise ValueError(f"{entries.classes} classes after {self._classes}")
        if not entries.sizes.size:
            return
        known = known_pairs(entries)
        self._rows += known.n_rows
        self._add_pairs(known)
        self._occurrences += np.bincount(entries.target, minlength=self._classes)
        self._excess += float(known.sum_deviation.sum())
        unseen = known.unstored.to_bounds()
        self._unseen = self._unseen.merge(unseen) if self._unseen and unseen else self._unseen or unseen
        self._draw(known, entries)
        wanted = MAX_EXAMPLES - len(self._examples)
        self._examples += [_example_from_topk(entries, known, at) for at in range(min(wanted, known.n_rows))]

    def result(self) -> TokenSums:
        """The sums of all that was added."""
        by_class, no_classes = self._class_sums()
        return TokenSums(
            rows=self._rows,
            classes=self._classes,
            top_label=self._top.grid(self._rows),
            all_labels=self._all.grid(self._rows, self._log_loss, self._impossible),
            by_class=by_class,
            no_class_sums_reason=no_classes,
            occurrences=self._occurrences.copy(),
            sum_deviation=self._excess,
            draws=NullDraws(self._seed, self._drawn_top.copy(), self._drawn_all.copy(), None),
            unstored=self._unseen,
            examples=tuple(self._examples),
        )

    def _class_sums(self) -> tuple[GridSums | None, str | None]:
        """Sums by class, what is not stored in the first cell; or why there are none."""
        if self._columns is None or self._by_class is None:
            return None, NO_CLASS_SUMS
        unlisted = self._columns - self._by_class.listed_sums()
        off = max(-float(unlisted.min()), abs(float(unlisted.sum()) - self._left))
        if off > _FIT_TOLERANCE * max(self._rows, 1):
            return None, CLASS_SUMS_MISMATCH
        return self._by_class.grid(self._occurrences, np.maximum(unlisted, 0.0)), None

    def _add_pairs(self, known: KnownPairs) -> None:
        """The pairs that are known, and in the first cell those of which only the sum is."""
        self._all.add(known.cell, known.prob)
        self._all.add_correct(known.cell[known.is_correct], known.prob[known.is_correct])
        self._all.count[0] += int(known.unstored.n_classes.sum()) + known.n_zero_classes
        self._all.confidence[0] += float(known.unstored.mass.sum())
        self._left += float(known.unstored.mass.sum())
        if self._by_class is not None:
            self._by_class.add_pairs(known.class_index, known.cell, known.prob)
            right = known.is_correct
            self._by_class.add_correct(known.class_index[right], known.cell[right], known.prob[right])
        if known.unstored.mass.size:
            self._all.squared[0] = np.nan  # how the rest is split decides it
        top = known.start
        self._top.add(known.cell[top], known.prob[top])
        top = top[known.is_correct[top]]
        self._top.add_correct(known.cell[top], known.prob[top])
        possible = known.target_prob[known.target_prob > 0]
        self._log_loss -= float(np.log(possible).sum())
        self._impossible += known.n_rows - possible.size

    def _draw(self, known: KnownPairs, entries: TopKEntries) -> None:
        """One class a position and draw, from the position's own distribution.

        A class that is not stored counts in the first cell, where it lies wherever a number is exact.
        """
        state = stream_states(self._seed, entries.row, entries.target, known.target_prob + 0.0, known.row_sum)
        for begin in range(0, known.n_rows, _DRAW_BLOCK):
            some = slice(begin, begin + _DRAW_BLOCK)
            start, end = known.start[some], known.end[some]
            first = int(start[0])
            own = slice(first, int(end[-1]))
            owner = np.repeat(np.arange(start.size), end - start)
            upto = np.cumsum(known.prob[own])
            upto -= (upto[start - first] - known.prob[start])[owner]
            key = owner + np.minimum(upto / known.row_sum[some][owner], 1.0)
            drawn = np.arange(start.size)[:, None] + uniform_draws(state[some], N_DRAWS)
            entry = np.searchsorted(key, drawn.ravel(), side="right").reshape(drawn.shape) + first
            stored = entry < end[:, None]
            cell = np.where(stored, known.cell[np.minimum(entry, known.cell.size - 1)], 0)
            at = cell + np.arange(N_DRAWS) * GRID_CELLS
            self._drawn_all += _count_draws(at.ravel())
            self._drawn_top += _count_draws(at[entry == start[:, None]])


def _count_draws(flat_index: NDArray[np.intp]) -> NDArray[np.int32]:
    """How often each (draw, cell), as one number draw · CELLS + cell, occurs; shape (DRAWS, CELLS)."""
    return (
        np.bincount(flat_index, minlength=N_DRAWS * GRID_CELLS).astype(np.int32).reshape(N_DRAWS, GRID_CELLS)
    )


def _example_from_topk(entries: TopKEntries, known: KnownPairs, at: int) -> ExamplePosition:
    """One position; of its entries the largest `SHOWN`."""
    start = int(known.start[at])
    first, size = int(entries.sizes[:at].sum()), min(int(entries.sizes[at]), EXAMPLE_ENTRIES)
    probs = known.prob[start : start + size]
    return ExamplePosition(
        row=int(entries.row[at]),
        target=int(entries.target[at]),
        ids=tuple(entries.ids[known.order[first : first + size]].tolist()),
        probs=tuple(probs.tolist()),
        target_prob=float(known.target_prob[at]),
        rest=max(0.0, float(known.row_sum[at] - probs.sum())),
        classes=entries.classes,
        width=entries.probs.dtype.itemsize,
    )

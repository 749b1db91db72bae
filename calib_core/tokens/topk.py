"""What do the largest entries of each position, stored without the others, come to as sums?

Spec, section 7. What is not stored shares what is left of the probability, and all of it is put into
the first cell; `bounds.py` says what Full-ECE may be where it may lie elsewhere.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.classes import ClassCellSums
from calib_core.tokens.entries import KnownPairs, TopKEntries, known_pairs
from calib_core.tokens.examples import EXAMPLE_ENTRIES
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.pooled import CellSums
from calib_core.tokens.sums import N_DRAWS, MAX_EXAMPLES, NullDraws, ExamplePosition, TokenSums, UnstoredBounds
from calib_core.tokens.uniform import stream_states, uniform_draws

__all__ = ["NO_CLASSES", "TopK", "TopKReducer", "reduce_topk"]

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
    return np.bincount(flat_index, minlength=N_DRAWS * GRID_CELLS).astype(np.int32).reshape(N_DRAWS, GRID_CELLS)


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

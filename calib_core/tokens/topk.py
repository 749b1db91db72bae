"""What do the largest entries of each position, stored without the others, come to as sums?

Spec, section 7. What is not stored shares what is left of the probability, and all of it is put into
the first cell; `bounds.py` says what Full-ECE may be where it may lie elsewhere.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.classes import ClassCells
from calib_core.tokens.entries import Known, TopK, known_of
from calib_core.tokens.examples import SHOWN
from calib_core.tokens.grid import CELLS, Grid
from calib_core.tokens.pooled import CellSums
from calib_core.tokens.sums import DRAWS, EXAMPLES, Draws, Example, TokenSums, Unseen
from calib_core.tokens.uniform import streams, uniform

__all__ = ["NO_CLASSES", "TopK", "TopKReducer", "reduce_topk"]

NO_CLASSES: Final = (
    "Only the largest entries of each position are stored, and metrics by class need the probability of "
    "every class at every position."
)
CONTRADICTED: Final = (
    "The sums by class stored beside the list do not fit its positions: they may be of other positions, or "
    "rows were left out. Metrics by class need sums over exactly these."
)
_FITS: Final = 1e-3
"""Stored sums may differ from the positions' by so much a position, as one distribution's sum may from 1."""

_AT_ONCE: Final = 4096
"""Positions whose outcomes are drawn at once."""


def reduce_topk(entries: TopK, seed: int) -> TokenSums:
    """The sums of these positions; seed: of the draws. Blocks are added up by `TopKReducer`."""
    reducer = TopKReducer(entries.classes, seed)
    reducer.add(entries)
    return reducer.sums()


class TopKReducer:
    """Adds positions up, block by block; neither the blocks nor their order changes a draw.

    classes: K; seed: of the draws, which each position begins anew with what is stored of it; columns: Σp by
    class over all positions, stored or not, shape (K,), None where nobody knows them.
    """

    def __init__(self, classes: int, seed: int, columns: NDArray[np.float64] | None = None) -> None:
        if columns is not None and columns.shape != (classes,):
            raise ValueError(f"one sum a class, not {columns.shape} for {classes}")
        self._columns = columns
        self._by_class = None if columns is None else ClassCells(classes)
        self._classes = classes
        self._seed = seed
        self._rows = 0
        self._top, self._all = CellSums(), CellSums()
        self._log_loss, self._impossible = 0.0, 0
        self._occurrences = np.zeros(classes, np.int64)
        self._excess = 0.0
        self._left = 0.0
        self._unseen: Unseen | None = None
        self._drawn_top, self._drawn_all = (np.zeros((DRAWS, CELLS), np.int32) for _ in range(2))
        self._examples: list[Example] = []

    def add(self, entries: TopK) -> None:
        """Takes more positions. Raises ValueError where K differs or a class is outside 0..K-1."""
        if entries.classes != self._classes:
            raise ValueError(f"{entries.classes} classes after {self._classes}")
        if not entries.sizes.size:
            return
        known = known_of(entries)
        self._rows += known.rows
        self._add_pairs(known)
        self._occurrences += np.bincount(entries.target, minlength=self._classes)
        self._excess += float(known.excess.sum())
        unseen = known.rest.unseen()
        self._unseen = self._unseen.merge(unseen) if self._unseen and unseen else self._unseen or unseen
        self._draw(known, entries)
        wanted = EXAMPLES - len(self._examples)
        self._examples += [_example(entries, known, at) for at in range(min(wanted, known.rows))]

    def sums(self) -> TokenSums:
        """The sums of all that was added."""
        by_class, no_classes = self._classwise()
        return TokenSums(
            rows=self._rows,
            classes=self._classes,
            top=self._top.grid(self._rows),
            all=self._all.grid(self._rows, self._log_loss, self._impossible),
            by_class=by_class,
            no_classes=no_classes,
            occurrences=self._occurrences.copy(),
            excess=self._excess,
            draws=Draws(self._seed, self._drawn_top.copy(), self._drawn_all.copy(), None),
            unseen=self._unseen,
            examples=tuple(self._examples),
        )

    def _classwise(self) -> tuple[Grid | None, str | None]:
        """Sums by class, what is not stored in the first cell; or why there are none."""
        if self._columns is None or self._by_class is None:
            return None, NO_CLASSES
        unlisted = self._columns - self._by_class.listed()
        off = max(-float(unlisted.min()), abs(float(unlisted.sum()) - self._left))
        if off > _FITS * max(self._rows, 1):
            return None, CONTRADICTED
        return self._by_class.grid(self._occurrences, np.maximum(unlisted, 0.0)), None

    def _add_pairs(self, known: Known) -> None:
        """The pairs that are known, and in the first cell those of which only the sum is."""
        self._all.add(known.cell, known.prob)
        self._all.add_right(known.cell[known.right], known.prob[known.right])
        self._all.count[0] += int(known.rest.classes.sum()) + known.zeros
        self._all.confidence[0] += float(known.rest.mass.sum())
        self._left += float(known.rest.mass.sum())
        if self._by_class is not None:
            self._by_class.add_pairs(known.column, known.cell, known.prob)
            right = known.right
            self._by_class.add_right(known.column[right], known.cell[right], known.prob[right])
        if known.rest.mass.size:
            self._all.squared[0] = np.nan  # how the rest is split decides it
        top = known.start
        self._top.add(known.cell[top], known.prob[top])
        top = top[known.right[top]]
        self._top.add_right(known.cell[top], known.prob[top])
        possible = known.own[known.own > 0]
        self._log_loss -= float(np.log(possible).sum())
        self._impossible += known.rows - possible.size

    def _draw(self, known: Known, entries: TopK) -> None:
        """One class a position and draw, from the position's own distribution.

        A class that is not stored counts in the first cell, where it lies wherever a number is exact.
        """
        state = streams(self._seed, entries.row, entries.target, known.own + 0.0, known.total)
        for begin in range(0, known.rows, _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            start, end = known.start[some], known.end[some]
            first = int(start[0])
            own = slice(first, int(end[-1]))
            owner = np.repeat(np.arange(start.size), end - start)
            upto = np.cumsum(known.prob[own])
            upto -= (upto[start - first] - known.prob[start])[owner]
            key = owner + np.minimum(upto / known.total[some][owner], 1.0)
            drawn = np.arange(start.size)[:, None] + uniform(state[some], DRAWS)
            entry = np.searchsorted(key, drawn.ravel(), side="right").reshape(drawn.shape) + first
            stored = entry < end[:, None]
            cell = np.where(stored, known.cell[np.minimum(entry, known.cell.size - 1)], 0)
            at = cell + np.arange(DRAWS) * CELLS
            self._drawn_all += _counted(at.ravel())
            self._drawn_top += _counted(at[entry == start[:, None]])


def _counted(at: NDArray[np.intp]) -> NDArray[np.int32]:
    """How often each (draw, cell), as one number draw · CELLS + cell, occurs; shape (DRAWS, CELLS)."""
    return np.bincount(at, minlength=DRAWS * CELLS).astype(np.int32).reshape(DRAWS, CELLS)


def _example(entries: TopK, known: Known, at: int) -> Example:
    """One position; of its entries the largest `SHOWN`."""
    start = int(known.start[at])
    first, size = int(entries.sizes[:at].sum()), min(int(entries.sizes[at]), SHOWN)
    probs = known.prob[start : start + size]
    return Example(
        row=int(entries.row[at]),
        target=int(entries.target[at]),
        ids=tuple(entries.ids[known.order[first : first + size]].tolist()),
        probs=tuple(probs.tolist()),
        target_prob=float(known.own[at]),
        rest=max(0.0, float(known.total[at] - probs.sum())),
        classes=entries.classes,
        width=entries.probs.dtype.itemsize,
    )

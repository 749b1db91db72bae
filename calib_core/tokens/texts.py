"""Sums of top labels by the text that their position came from: what a test by text needs.

The positions of one text depend on one another, texts do not. For each text and each of a few cells, equally
wide in logit(c), n, Σy and Σc are kept, from which sums of residuals over the cells follow text by text.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.accumulators import SortedSums
from calib_core.tokens.grid import GRID_CELLS, positions_in_union

TEXT_CELLS: Final = 24
"""Number of cells by text."""

_CELL_LOGITS: Final = 0.75
"""Width of such a cell in logit(c)."""

_CENTRE: Final = (np.arange(GRID_CELLS) + 0.5) / GRID_CELLS

TEXT_CELL_OF: Final[NDArray[np.intp]] = (
    np.floor((np.log(_CENTRE) - np.log1p(-_CENTRE)) / _CELL_LOGITS).astype(np.intp) + TEXT_CELLS // 2
)
"""Cell of the grid → the cell by text that holds it, ascending; the first and the last hold one each."""

MAX_TEXT_NUMBER: Final = 2**31 - 1
"""Largest number of a text."""


def text_logit(cell: NDArray[np.intp]) -> NDArray[np.float64]:
    """logit(c) at the centre of cells by text.

    Examples
    --------
    >>> text_logit(TEXT_CELL_OF[[0, 1499, 1500, 2999]]).tolist()
    [-8.625, -0.375, 0.375, 8.625]
    """
    return (cell.astype(np.float64) - TEXT_CELLS // 2 + 0.5) * _CELL_LOGITS


def text_numbers(names: NDArray[Any] | Sequence[object]) -> NDArray[np.int64]:
    """Number of each text, in 0..`MAX_TEXT_NUMBER`: equal for equal names, in whatever file they are.

    Of different names one pair in two billion shares a number: such texts count as one, which is cautious.

    Parameters
    ----------
    names : array or sequence, shape (n,)
        Whole numbers or texts; 7 and "7" are one name.

    Examples
    --------
    >>> text_numbers([7, "a", "7"]).tolist()
    [1790921346, 1756872259, 1790921346]
    """
    distinct, place = np.unique(np.asarray(names), return_inverse=True)
    numbers = [
        zlib.crc32(str(name).encode("utf-8", "replace")) & MAX_TEXT_NUMBER for name in distinct.tolist()
    ]
    return np.array(numbers, np.int64)[place]


@dataclass(frozen=True, eq=False)
class TextSums:
    """Sums of top labels (c, y) by text and cell; sorted by both.

    Attributes
    ----------
    text : NDArray[np.int32], shape (n,)
        Number of the text, as from `text_numbers`.
    cell : NDArray[np.int32], shape (n,)
        Cell by text, in 0..TEXT_CELLS − 1.
    count, correct : NDArray[np.int64], shape (n,)
        Number of positions, at least 1, and of those whose top label is right.
    confidence : NDArray[np.float64], shape (n,)
        Σ c.
    """

    text: NDArray[np.int32]
    cell: NDArray[np.int32]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]
    confidence: NDArray[np.float64]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of positions of each text, shape (texts,)."""
        start = np.flatnonzero(np.diff(self.text, prepend=-1))
        return np.add.reduceat(self.count, start) if start.size else self.count

    @property
    def key(self) -> NDArray[np.int64]:
        """Text and cell in one number, ascending, shape (n,)."""
        return self.text.astype(np.int64) * TEXT_CELLS + self.cell

    def merge(self, other: TextSums) -> TextSums:
        """The sums of both parts; a text that is in both is one text."""
        own, others = self.key, other.key
        n, here, there = positions_in_union(own, others)
        key = np.zeros(n, np.int64)
        key[here], key[there] = own, others

        def added(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
            total = np.zeros(n, first.dtype)
            total[here] = first
            total[there] += second
            return total

        return TextSums(
            *_text_and_cell(key),
            added(self.count, other.count),
            added(self.correct, other.correct),
            added(self.confidence, other.confidence),
        )


class TextCellSums:
    """The sums of `TextSums`, updated in place; memory grows with the occupied (text, cell)."""

    def __init__(self) -> None:
        self._pairs, self._right_pairs = SortedSums(), SortedSums()

    def add(
        self,
        text: NDArray[np.int64],
        grid_cell: NDArray[np.intp],
        confidence: NDArray[np.float64],
        correct: NDArray[np.bool_],
    ) -> None:
        """Adds positions: number of the text, grid cell, confidence and outcome, shape (n,) each."""
        key = text * TEXT_CELLS + TEXT_CELL_OF[grid_cell]
        self._pairs.add(key, confidence)
        self._right_pairs.add(key[correct], confidence[correct])

    def sums(self) -> TextSums:
        """The sums so far."""
        key, count, confidence = self._pairs.sums()
        right_key, right_count, _ = self._right_pairs.sums()
        correct = np.zeros(key.size, np.int64)
        correct[np.searchsorted(key, right_key)] = right_count
        return TextSums(*_text_and_cell(key), count.copy(), correct, confidence.copy())


def _text_and_cell(key: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    text, cell = np.divmod(key, TEXT_CELLS)
    return text.astype(np.int32), cell.astype(np.int32)

"""Does each top list speak of its own target, or of that of the position beside it?

As `alignment` asks of whole distributions; here a target that a list does not hold has an even share of
what is left.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.token_level.alignment import MAX_POSITIONS, shift_message
from calib_core.files.token_level.entry_lists import TopLists

_PROB_FLOOR: Final = 1e-13
"""Probability taken for 0: one impossible target must not outweigh all others."""


class TopListAlignment:
    """Compares the probability of each position's own target with that of the targets beside it."""

    def __init__(self) -> None:
        self._seen = 0
        self._gains: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])

    def add(self, lists: TopLists, doc: pl.Series | None, position: pl.Series | None) -> None:
        """Looks at positions of one run. doc, position: of every record of their slice, None = not said."""
        lists = lists.select(np.arange(lists.records.size) < MAX_POSITIONS + 1 - self._seen)
        self._seen += lists.records.size
        if lists.records.size < 2:
            return
        adjacent = np.diff(lists.records) == 1
        if doc is not None:
            names = doc.gather(lists.records)
            adjacent &= (names == names.shift(1)).fill_null(value=True).to_numpy()[1:]
        if position is not None:
            adjacent &= (position.gather(lists.records).diff() == 1).fill_null(value=True).to_numpy()[1:]
        here = np.flatnonzero(adjacent)
        own = _class_logprobs(lists, lists.target)
        for gains, at, beside in ((self._gains[0], here, here + 1), (self._gains[1], here + 1, here)):
            wanted = lists.target.copy()
            wanted[at] = lists.target[beside]
            gains.append((_class_logprobs(lists, wanted) - own)[at])

    @property
    def shift_note(self) -> str | None:
        """What to say where the targets one position on, or one back, fit much better; else None."""
        for gains, place in zip(self._gains, ("after", "before"), strict=True):
            if better := shift_message(gains, place):
                return (
                    f"{better}: lists and targets seem to be one position apart. If they are, give each list "
                    f"the target of the row {place}."
                )
        return None


def _class_logprobs(lists: TopLists, classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log-probability of one class a position, as its list has it."""
    prob = np.maximum(1 - lists.stored_mass, 0.0) / np.maximum(lists.n_unstored, 1)
    stored_beside = np.isnan(lists.listed_target_prob) & (classes == lists.target)
    prob[stored_beside] = lists.target_prob[stored_beside]
    hit = lists.ids == classes[lists.owner]
    prob[lists.owner[hit]] = lists.probs[hit]
    return np.log(np.maximum(prob, _PROB_FLOOR))

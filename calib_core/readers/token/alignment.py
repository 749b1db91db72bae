"""Is each target the class that its row predicts, or that of the row beside it?

Saved beside `input_ids`, the distributions of a language model speak of the *next* token: left as they
are, the two are one position apart, and every number about them is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.readers.token.topk_lists import TopLists
from calib_core.tokens.scales import ProbabilityScale

MAX_POSITIONS: Final = 256
"""Positions looked at."""
MIN_POSITIONS: Final = 20
"""With fewer nothing is said."""
MIN_GAIN_NATS: Final = 1.0
"""So many nats of mean log-probability are much better …"""
_MIN_STANDARD_ERRORS: Final = 4.0
"""… if they are as many standard errors."""

_LOGPROB_FLOOR: Final = -30.0
"""Log-probability taken for zero: one impossible target must not outweigh all others."""


def shift_message(gains: Sequence[NDArray[np.float64]], side: str) -> str | None:
    """How much better the neighbour's target fits, as the beginning of a sentence; None where it does not.

    gains: log-probability of the neighbour's target less that of the row's own, in pieces; place: "after" or
    "before".
    """
    gain = np.concatenate(gains) if gains else np.zeros(0)
    if gain.size < MIN_POSITIONS or gain.mean() < max(
        MIN_GAIN_NATS, _MIN_STANDARD_ERRORS * gain.std() / np.sqrt(gain.size)
    ):
        return None
    return (
        f"The target of the row {side} fits better than the row's own, by {gain.mean():.1f} nats over the "
        f"first {gain.size:,} positions"
    )


class DenseAlignment:
    """Compares the probability of each row's own target with that of the targets beside it."""

    def __init__(self, scale: ProbabilityScale) -> None:
        """scale: what the values are."""
        self._scale = scale
        self._seen = 0
        self._gains: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])

    def add(self, values: NDArray[Any], target: NDArray[np.int64]) -> None:
        """Looks at a block. values: shape (rows, K); target: shape (rows,), classes or padding."""
        rows = min(len(target), MAX_POSITIONS + 1 - self._seen)
        if rows < 2:
            return
        self._seen += rows
        logs, target = self._logprobs(values[:rows]), target[:rows]
        inside = (target >= 0) & (target < values.shape[1])
        here, there = np.arange(rows - 1), np.arange(1, rows)
        for gains, at, beside in ((self._gains[0], here, there), (self._gains[1], there, here)):
            both = inside[at] & inside[beside]
            own, other = target[at[both]], target[beside[both]]
            gains.append(logs[at[both], other] - logs[at[both], own])

    @property
    def shift_note(self) -> str | None:
        """What to say where targets one row on, or one row back, fit much better; None where they do not."""
        for gains, place, mend in (
            (self._gains[0], "after", "probs[:-1] with target[1:]"),
            (self._gains[1], "before", "probs[1:] with target[:-1]"),
        ):
            if better := shift_message(gains, place):
                return f"{better}: the two seem to be one position apart. If they are, save {mend}."
        return None

    def _logprobs(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Log-probabilities, not below the floor; what is no number is as improbable as can be."""
        logs = values.astype(np.float64)
        with np.errstate(all="ignore"):
            if self._scale == "probs":
                logs = np.log(logs)
            elif self._scale == "logits":
                logs -= logs.max(axis=1, keepdims=True)
                logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        return np.clip(np.nan_to_num(logs, nan=_LOGPROB_FLOOR, neginf=_LOGPROB_FLOOR), _LOGPROB_FLOOR, 0.0)


# MERGED neighbours: Does each top list speak of its own target, or of that of the position beside it?
#
# As `alignment` asks of whole distributions; here a target that a list does not hold has an even share of
# what is left.

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

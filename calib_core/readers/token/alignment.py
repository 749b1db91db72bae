"""Detects targets that are one position off from their distributions.

The distributions of a language model speak of the *next* token. Saved unshifted beside ``input_ids``, the two
are one position apart, and every metric computed from them is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.readers.token.topk_lists import TopLists
from calib_core.tokens.scales import ProbabilityScale

MAX_EXAMINED_POSITIONS: Final = 256
"""Number of positions examined."""
MIN_POSITIONS: Final = 20
"""Fewer positions are not judged."""
MIN_GAIN_NATS: Final = 1.0
"""Least gain in mean log-probability (nats) that is reported."""
_MIN_STANDARD_ERRORS: Final = 4.0
"""Least gain in standard errors of the mean that is reported."""

_LOGPROB_FLOOR: Final = -30.0
"""Log-probability that stands in for log 0, so that one impossible target does not outweigh all others."""
_PROB_FLOOR: Final = 1e-13
"""The same for probabilities: exp(−30), rounded."""


def shift_message(gains: Sequence[NDArray[np.float64]], side: str) -> str | None:
    """The beginning of a warning where the neighbours' targets fit much better.

    Parameters
    ----------
    gains : Sequence[NDArray[np.float64]]
        Log-probability (nats) of the neighbour's target minus that of the row's own, in blocks.
    side : str
        "after" or "before": on which side the neighbour is.

    Returns
    -------
    str or None
        None where the row's own target fits well enough, or there are too few positions.
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
    """Compares the probability of each row's own target with that of the targets beside it.

    Parameters
    ----------
    scale : ProbabilityScale
        What the values are: probabilities, log-probabilities or logits.
    """

    def __init__(self, scale: ProbabilityScale) -> None:
        self._scale = scale
        self._n_examined = 0
        self._gains: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])

    def add(self, values: NDArray[Any], target: NDArray[np.int64]) -> None:
        """Examines a block, as long as fewer than `MAX_EXAMINED_POSITIONS` positions have been examined.

        Parameters
        ----------
        values : NDArray, shape (n, K)
            Distributions on the given scale.
        target : NDArray[np.int64], shape (n,)
            Right classes; a value outside 0..K − 1 is padding.
        """
        rows = min(len(target), MAX_EXAMINED_POSITIONS + 1 - self._n_examined)
        if rows < 2:
            return
        self._n_examined += rows
        logprobs, target = self._logprobs(values[:rows]), target[:rows]
        inside = (target >= 0) & (target < values.shape[1])
        here, there = np.arange(rows - 1), np.arange(1, rows)
        for gains, at, beside in ((self._gains[0], here, there), (self._gains[1], there, here)):
            both = inside[at] & inside[beside]
            own, other = target[at[both]], target[beside[both]]
            gains.append(logprobs[at[both], other] - logprobs[at[both], own])

    @property
    def shift_note(self) -> str | None:
        """A warning where the targets one row on, or one row back, fit much better; else None."""
        for gains, side, fix in (
            (self._gains[0], "after", "probs[:-1] with target[1:]"),
            (self._gains[1], "before", "probs[1:] with target[:-1]"),
        ):
            if message := shift_message(gains, side):
                return f"{message}: the two seem to be one position apart. If they are, save {fix}."
        return None

    def _logprobs(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Log-probabilities in [floor, 0]; NaN counts as the floor."""
        logprobs = values.astype(np.float64)
        with np.errstate(all="ignore"):
            if self._scale == "probs":
                logprobs = np.log(logprobs)
            elif self._scale == "logits":
                logprobs -= logprobs.max(axis=1, keepdims=True)
                logprobs -= np.log(np.exp(logprobs).sum(axis=1, keepdims=True))
        return np.clip(
            np.nan_to_num(logprobs, nan=_LOGPROB_FLOOR, neginf=_LOGPROB_FLOOR), _LOGPROB_FLOOR, 0.0
        )


# --- Top lists ----------------------------------------------------------------
#
# As for whole distributions; a target that its list lacks gets an even share of the probability that is
# left.


class TopListAlignment:
    """Compares the probability of each position's own target with that of the targets beside it."""

    def __init__(self) -> None:
        self._n_examined = 0
        self._gains: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])

    def add(self, lists: TopLists, doc: pl.Series | None, position: pl.Series | None) -> None:
        """Examines positions of one run.

        Parameters
        ----------
        lists : TopLists
            The run's positions in one slice of the file.
        doc, position : pl.Series or None
            Document and position of every record of that slice; None where the file has no such column.
        """
        lists = lists.select(np.arange(lists.records.size) < MAX_EXAMINED_POSITIONS + 1 - self._n_examined)
        self._n_examined += lists.records.size
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
            shifted = lists.target.copy()
            shifted[at] = lists.target[beside]
            gains.append((_class_logprobs(lists, shifted) - own)[at])

    @property
    def shift_note(self) -> str | None:
        """A warning where the targets one position on, or one back, fit much better; else None."""
        for gains, side in zip(self._gains, ("after", "before"), strict=True):
            if message := shift_message(gains, side):
                return (
                    f"{message}: lists and targets seem to be one position apart. If they are, give each "
                    f"list the target of the row {side}."
                )
        return None


def _class_logprobs(lists: TopLists, classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log-probability (nats) of one class per position, shape (n,)."""
    prob = np.maximum(1 - lists.stored_mass, 0.0) / np.maximum(lists.n_unstored, 1)
    stored_beside = np.isnan(lists.listed_target_prob) & (classes == lists.target)
    prob[stored_beside] = lists.target_prob[stored_beside]
    is_listed = lists.ids == classes[lists.owner]
    prob[lists.owner[is_listed]] = lists.probs[is_listed]
    return np.log(np.maximum(prob, _PROB_FLOOR))

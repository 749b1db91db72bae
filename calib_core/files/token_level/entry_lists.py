"""Which entries does each position have, once what is missing and what only pads is taken out?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.token_level.entries import PAD_ID, PADDING, Told, Values
from calib_core.tokens.topk import TopK


@dataclass(frozen=True, eq=False)
class Lists:
    """Some positions of one slice and their entries, laid end to end.

    at: their records in the slice, shape (n,); ids, probs: shape (entries,); sizes, target, classes (K),
    own (probability of the target as stored beside the list), rest (as stored): shape (n,), NaN = not
    there.
    """

    at: NDArray[np.int64]
    ids: NDArray[np.int64]
    probs: NDArray[np.float64]
    sizes: NDArray[np.int64]
    target: NDArray[np.int64]
    classes: NDArray[np.int64]
    own: NDArray[np.float64]
    rest: NDArray[np.float64]

    def where(self, positions: NDArray[np.bool_]) -> Lists:
        """Some of them. positions: shape (n,)."""
        if positions.all():
            return self
        entries = positions[self.owner]
        return Lists(
            self.at[positions], self.ids[entries], self.probs[entries], self.sizes[positions],
            self.target[positions], self.classes[positions], self.own[positions], self.rest[positions],
        )

    def keep(self, entries: NDArray[np.bool_]) -> Lists:
        """All of them that have an entry left. entries: shape (entries,)."""
        sizes = np.bincount(self.owner[entries], minlength=self.at.size)
        return replace(self, ids=self.ids[entries], probs=self.probs[entries], sizes=sizes).where(sizes > 0)

    def topk(self, offset: int) -> TopK:
        """Positions of one run, ready to be added up. offset: records of the file before this slice."""
        return TopK(
            self.probs, self.ids, self.sizes, self.target, self.own, self.at + offset, int(self.classes[0])
        )

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The position of each entry."""
        return np.repeat(np.arange(self.at.size), self.sizes)

    @cached_property
    def is_target(self) -> NDArray[np.bool_]:
        """Whether an entry is the target's."""
        return self.ids == self.target[self.owner]

    @cached_property
    def smallest(self) -> NDArray[np.float64]:
        """The smallest entry of each position."""
        return self._each(np.minimum)

    @cached_property
    def listed(self) -> NDArray[np.float64]:
        """The target's entry in the list; NaN where there is none."""
        listed = np.full(self.at.size, np.nan)
        listed[self.owner[self.is_target]] = self.probs[self.is_target]
        return listed

    @cached_property
    def top(self) -> NDArray[np.float64]:
        """The mass of the list."""
        return self._each(np.add)

    @cached_property
    def stored(self) -> NDArray[np.float64]:
        """The mass of all that is stored, an appended target's included."""
        return self.top + np.where(np.isnan(self.listed), self.own, 0.0)

    @cached_property
    def left(self) -> NDArray[np.int64]:
        """How many classes are not stored."""
        return self.classes - self.sizes - np.isnan(self.listed)

    def _each(self, of: np.ufunc) -> NDArray[np.float64]:
        """One number a list."""
        if not self.at.size:
            return np.zeros(0)
        return np.asarray(of.reduceat(self.probs, np.cumsum(self.sizes) - self.sizes), np.float64)

    @property
    def off_sum(self) -> NDArray[np.float64]:
        """How far the sum of all K probabilities is from 1, as far as that is known."""
        return np.where(self.left > 0, np.maximum(self.stored - 1, 0.0), np.abs(self.stored - 1))


def lists_of(values: Values, usable: NDArray[np.bool_], told: Told) -> Lists:
    """The positions of a slice that have all they need, pads taken out.

    usable: records without a bad value, shape (rows,). Missing, and so left out: a target, a list or K that
    is not there, a list of pads alone, and one in which an id or a log-probability is not there.
    """
    target, classes = values.whole("target", PADDING), values.whole("vocab_size", told.vocab_size or 0)
    ids, logs = values.columns["top_ids"], values.columns["top_logprobs"]
    there = (ids.is_not_null() & logs.is_not_null()).to_numpy()
    at = np.flatnonzero(usable & there & (target != PADDING) & (classes > 0))
    sizes = ids.gather(at).list.len().to_numpy().astype(np.int64)
    if not at.size:
        flat_ids, flat_logs = pl.Series([], dtype=pl.Int64), pl.Series([], dtype=pl.Float64)
    else:
        flat_ids, flat_logs = ids.gather(at).explode(), logs.gather(at).explode().cast(pl.Float64)
    logs_or_nan = flat_logs.fill_null(np.nan).to_numpy()
    probs = np.exp(logs_or_nan)
    held = flat_ids.fill_null(PAD_ID).to_numpy()
    own = np.exp(values.real("target_logprob"))
    lists = Lists(
        at, held, probs, sizes, target[at], classes[at], own[at], values.real("rest_mass")[at]
    )
    pad = (held == PAD_ID) | np.isneginf(logs_or_nan)
    unknown_id, unknown_log = flat_ids.is_null().to_numpy(), np.isnan(logs_or_nan)
    hole = (unknown_log & (held != PAD_ID)) | (unknown_id & np.isfinite(logs_or_nan))
    whole = np.ones(at.size, np.bool_)
    whole[lists.owner[hole]] = False
    return lists.keep(~pad & whole[lists.owner])

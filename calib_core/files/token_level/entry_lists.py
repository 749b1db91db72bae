"""Which entries does each position have, once what is missing and what only pads is taken out?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.token_level.entries import PADDING_CLASS, PADDING_TARGET, TopKMetadata, JudgedSlice
from calib_core.tokens.topk import TopKEntries


@dataclass(frozen=True, eq=False)
class TopLists:
    """Some positions of one slice and their entries, laid end to end.

    at: their records in the slice, shape (n,); ids, probs: shape (entries,); sizes, target, classes (K),
    own (probability of the target as stored beside the list), rest (as stored): shape (n,), NaN = not
    there.
    """

    records: NDArray[np.int64]
    ids: NDArray[np.int64]
    probs: NDArray[np.float64]
    sizes: NDArray[np.int64]
    target: NDArray[np.int64]
    n_classes: NDArray[np.int64]
    target_prob: NDArray[np.float64]
    rest_mass: NDArray[np.float64]

    def select(self, positions: NDArray[np.bool_]) -> TopLists:
        """Some of them. positions: shape (n,)."""
        if positions.all():
            return self
        entries = positions[self.owner]
        return TopLists(
            self.records[positions], self.ids[entries], self.probs[entries], self.sizes[positions],
            self.target[positions], self.n_classes[positions], self.target_prob[positions], self.rest_mass[positions],
        )

    def keep_entries(self, entries: NDArray[np.bool_]) -> TopLists:
        """All of them that have an entry left. entries: shape (entries,)."""
        sizes = np.bincount(self.owner[entries], minlength=self.records.size)
        return replace(self, ids=self.ids[entries], probs=self.probs[entries], sizes=sizes).select(sizes > 0)

    def as_topk(self, offset: int) -> TopKEntries:
        """Positions of one run, ready to be added up. offset: records of the file before this slice."""
        return TopKEntries(
            self.probs, self.ids, self.sizes, self.target, self.target_prob, self.records + offset, int(self.n_classes[0])
        )

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The position of each entry."""
        return np.repeat(np.arange(self.records.size), self.sizes)

    @cached_property
    def is_target(self) -> NDArray[np.bool_]:
        """Whether an entry is the target's."""
        return self.ids == self.target[self.owner]

    @cached_property
    def smallest_prob(self) -> NDArray[np.float64]:
        """The smallest entry of each position."""
        return self._reduce_lists(np.minimum)

    @cached_property
    def listed_target_prob(self) -> NDArray[np.float64]:
        """The target's entry in the list; NaN where there is none."""
        listed = np.full(self.records.size, np.nan)
        listed[self.owner[self.is_target]] = self.probs[self.is_target]
        return listed

    @cached_property
    def list_mass(self) -> NDArray[np.float64]:
        """The mass of the list."""
        return self._reduce_lists(np.add)

    @cached_property
    def stored_mass(self) -> NDArray[np.float64]:
        """The mass of all that is stored, an appended target's included."""
        return self.list_mass + np.where(np.isnan(self.listed_target_prob), self.target_prob, 0.0)

    @cached_property
    def n_unstored(self) -> NDArray[np.int64]:
        """How many classes are not stored."""
        return self.n_classes - self.sizes - np.isnan(self.listed_target_prob)

    def _reduce_lists(self, ufunc: np.ufunc) -> NDArray[np.float64]:
        """One number a list."""
        if not self.records.size:
            return np.zeros(0)
        return np.asarray(ufunc.reduceat(self.probs, np.cumsum(self.sizes) - self.sizes), np.float64)

    @property
    def sum_error(self) -> NDArray[np.float64]:
        """How far the sum of all K probabilities is from 1, as far as that is known."""
        return np.where(self.n_unstored > 0, np.maximum(self.stored_mass - 1, 0.0), np.abs(self.stored_mass - 1))


def top_lists_of(values: JudgedSlice, is_usable: NDArray[np.bool_], metadata: TopKMetadata) -> TopLists:
    """The positions of a slice that have all they need, pads taken out.

    usable: records without a bad value, shape (rows,). Missing, and so left out: a target, a list or K that
    is not there, a list of pads alone, and one in which an id or a log-probability is not there.
    """
    target, classes = values.integers("target", PADDING_TARGET), values.integers("vocab_size", metadata.vocab_size or 0)
    ids, logs = values.columns["top_ids"], values.columns["top_logprobs"]
    there = (ids.is_not_null() & logs.is_not_null()).to_numpy()
    at = np.flatnonzero(is_usable & there & (target != PADDING_TARGET) & (classes > 0))
    sizes = ids.gather(at).list.len().to_numpy().astype(np.int64)
    if not at.size:
        flat_ids, flat_logs = pl.Series([], dtype=pl.Int64), pl.Series([], dtype=pl.Float64)
    else:
        flat_ids, flat_logs = ids.gather(at).explode(), logs.gather(at).explode().cast(pl.Float64)
    logs_or_nan = flat_logs.fill_null(np.nan).to_numpy()
    probs = np.exp(logs_or_nan)
    held = flat_ids.fill_null(PADDING_CLASS).to_numpy()
    own = np.exp(values.floats("target_logprob"))
    lists = TopLists(
        at, held, probs, sizes, target[at], classes[at], own[at], values.floats("rest_mass")[at]
    )
    pad = (held == PADDING_CLASS) | np.isneginf(logs_or_nan)
    unknown_id, unknown_log = flat_ids.is_null().to_numpy(), np.isnan(logs_or_nan)
    hole = (unknown_log & (held != PADDING_CLASS)) | (unknown_id & np.isfinite(logs_or_nan))
    whole = np.ones(at.size, np.bool_)
    whole[lists.owner[hole]] = False
    return lists.keep_entries(~pad & whole[lists.owner])

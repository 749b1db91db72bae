"""Can these be the largest entries of a distribution over this vocabulary, and this its target?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import MAX_CELLS_SHOWN
from calib_core.readers.table.cells import (
    CellFault,
    ColumnJudge,
    JudgedColumn,
    faults_where,
    integer_judge,
    judge_log_probability,
    judge_probability,
    judge_text,
    parse_numbers,
    true_positions,
)
from calib_core.readers.table.columns import COLUMN_JUDGES
from calib_core.readers.table.list_cells import SUM_TOLERANCE, list_judge
from calib_core.readers.table.raw import Slice
from calib_core.runs import INFO_COLUMNS
from calib_core.tokens.topk import TopKEntries

# MERGED entries: Is every value of a position what it must be: its target, its largest entries, the size of its vocabulary?
#
# Traps of top lists (padding, repeated ids, an appended target) are those of the tools that write them.

PADDING_TARGET: Final = -100
"""A target that marks what is no position."""
PADDING_CLASS: Final = -1
"""A class that marks what is no entry."""

CLIP_TOLERANCE: Final = 1e-3
"""A log-probability this little above 0 is taken for 0: half precision writes such."""


def _judge_rounded_log_probability(raw: pl.Series) -> JudgedColumn:
    """As `numbers.log_probability`, rounding of half precision forgiven."""
    values, _ = parse_numbers(raw)
    small = ((values > 0) & (values <= CLIP_TOLERANCE)).fill_null(value=False)
    if not small.any():
        return judge_log_probability(raw)
    zero = pl.Series([0], dtype=pl.Int8).cast(raw.dtype).new_from_index(0, raw.len())
    judged = judge_log_probability(raw.zip_with(~small, zero))
    return JudgedColumn(judged.values, judged.faults, true_positions(small))


def _judge_target(raw: pl.Series) -> JudgedColumn:
    """A class: a whole number. Whether it is in the vocabulary is judged with it."""
    values, wrong = parse_numbers(raw)
    exact = values.cast(pl.Float64)
    whole = ((exact.floor() == exact) & (exact.abs() < 2**31)).fill_null(value=False)
    wrong = wrong | (values.is_not_null() & ~whole)
    fault = faults_where(
        raw, wrong, "not a class", "the right class as a whole number", "Write its token id."
    )
    kept = pl.select(pl.when(whole).then(exact)).to_series().cast(pl.Int64)
    return JudgedColumn(kept.alias(raw.name), fault)


TOPK_COLUMN_JUDGES: Final = MappingProxyType[str, ColumnJudge](
    {
        "target": _judge_target,
        "target_logprob": _judge_rounded_log_probability,
        "top_ids": list_judge(integer_judge(PADDING_CLASS, pl.Int64()), pl.Int64()),
        "top_logprobs": list_judge(_judge_rounded_log_probability, pl.Float64()),
        "vocab_size": integer_judge(1, pl.Int64()),
        "rest_mass": judge_probability,
        "doc": judge_text,
        "position": integer_judge(0, pl.Int64()),
        **{name: COLUMN_JUDGES[name] for name in INFO_COLUMNS},
    }
)
"""Column → who judges it."""

REQUIRED_COLUMNS: Final = ("target", "top_ids", "top_logprobs")
"""Columns without which nothing can be read."""


@dataclass(frozen=True, slots=True, eq=False)
class TopKMetadata:
    """What the file's metadata says of all its positions; None = not said.

    vocab_size: K; k: how many entries a list has without an appended target; column_sums: Σp by class over
    all positions, float64 of shape (K,), read-only.
    """

    vocab_size: int | None = None
    k: int | None = None
    column_sums: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSlice:
    """One slice of a file, each value judged by itself.

    rows: records; columns: name → values, null where missing or wrong; faults: (file column, fault);
    clipped: file column → the row of each value that was moved; unread: file column → texts that could not
    be read and are no fault; source: name → file column.
    """

    n_rows: int
    columns: Mapping[str, pl.Series]
    faults: tuple[tuple[str, CellFault], ...]
    clipped_positions: Mapping[str, NDArray[np.int64]]
    unreadable: Mapping[str, tuple[str, ...]]
    source_columns: Mapping[str, str]

    def integers(self, name: str, default: int) -> NDArray[np.int64]:
        """A column of whole numbers; `default` where one is missing, or all of them are."""
        if name not in self.columns:
            return np.full(self.n_rows, default, np.int64)
        return self.columns[name].fill_null(default).to_numpy().astype(np.int64)

    def floats(self, name: str) -> NDArray[np.float64]:
        """A column of numbers; NaN where one is missing."""
        if name not in self.columns:
            return np.full(self.n_rows, np.nan)
        return self.columns[name].cast(pl.Float64).fill_null(np.nan).to_numpy()

    @property
    def run_columns(self) -> pl.DataFrame:
        """What the rows say of their run."""
        told = {name: self.columns[name] for name in INFO_COLUMNS if name in self.columns}
        return pl.DataFrame({"row": np.arange(self.n_rows), **told})


def judge_topk_slice(part: Slice, roles: Mapping[str, str]) -> JudgedSlice:
    """Judges the columns of a slice. roles: file column → name in `JUDGES`."""
    columns: dict[str, pl.Series] = {}
    found_wrong: list[tuple[str, CellFault]] = []
    clipped: dict[str, NDArray[np.int64]] = {}
    unread: dict[str, tuple[str, ...]] = {}
    for column, name in roles.items():
        result = TOPK_COLUMN_JUDGES[name](part.columns[column])
        columns[name] = result.values
        found_wrong += [(column, fault) for fault in result.faults]
        if result.clipped_positions.size:
            clipped[column] = result.clipped_positions
        if result.unreadable is not None and result.unreadable.height:
            unread[column] = tuple(result.unreadable["found"].to_list())
    for name in REQUIRED_COLUMNS:  # JSON lines may leave out what is null
        if name not in columns:
            columns[name] = TOPK_COLUMN_JUDGES[name](
                pl.Series(name, [None]).new_from_index(0, part.n_rows)
            ).values
    source = {name: column for column, name in roles.items()}
    return JudgedSlice(part.n_rows, columns, tuple(found_wrong), clipped, unread, source)


# MERGED entry_lists: Which entries does each position have, once what is missing and what only pads is taken out?


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
            self.records[positions],
            self.ids[entries],
            self.probs[entries],
            self.sizes[positions],
            self.target[positions],
            self.n_classes[positions],
            self.target_prob[positions],
            self.rest_mass[positions],
        )

    def keep_entries(self, entries: NDArray[np.bool_]) -> TopLists:
        """All of them that have an entry left. entries: shape (entries,)."""
        sizes = np.bincount(self.owner[entries], minlength=self.records.size)
        return replace(self, ids=self.ids[entries], probs=self.probs[entries], sizes=sizes).select(sizes > 0)

    def as_topk(self, offset: int) -> TopKEntries:
        """Positions of one run, ready to be added up. offset: records of the file before this slice."""
        return TopKEntries(
            self.probs,
            self.ids,
            self.sizes,
            self.target,
            self.target_prob,
            self.records + offset,
            int(self.n_classes[0]),
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
        return np.where(
            self.n_unstored > 0, np.maximum(self.stored_mass - 1, 0.0), np.abs(self.stored_mass - 1)
        )


def top_lists_of(values: JudgedSlice, is_usable: NDArray[np.bool_], metadata: TopKMetadata) -> TopLists:
    """The positions of a slice that have all they need, pads taken out.

    usable: records without a bad value, shape (rows,). Missing, and so left out: a target, a list or K that
    is not there, a list of pads alone, and one in which an id or a log-probability is not there.
    """
    target, classes = (
        values.integers("target", PADDING_TARGET),
        values.integers("vocab_size", metadata.vocab_size or 0),
    )
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
    lists = TopLists(at, held, probs, sizes, target[at], classes[at], own[at], values.floats("rest_mass")[at])
    pad = (held == PADDING_CLASS) | np.isneginf(logs_or_nan)
    unknown_id, unknown_log = flat_ids.is_null().to_numpy(), np.isnan(logs_or_nan)
    hole = (unknown_log & (held != PADDING_CLASS)) | (unknown_id & np.isfinite(logs_or_nan))
    whole = np.ones(at.size, np.bool_)
    whole[lists.owner[hole]] = False
    return lists.keep_entries(~pad & whole[lists.owner])


_DECIMAL_ROUNDING: Final = 1e-12
"""What adding a few decimals may lose."""


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """One way in which a position can be bad.

    kind, expected, fix: as in `BadCell`; column: the contract name it is blamed on; wrong: which positions
    are, shape (n,); found: the number that shows it, shape (n,).
    """

    kind: str
    column: str
    expected: str
    fix: str
    is_wrong: Callable[[TopLists], NDArray[np.bool_]]
    shown_value: Callable[[TopLists], NDArray[np.float64] | NDArray[np.int64]]


def _positions_with(lists: TopLists, entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which positions have such an entry."""
    wrong = np.zeros(lists.records.size, np.bool_)
    wrong[lists.owner[entries]] = True
    return wrong


def _repeated_entries(lists: TopLists) -> NDArray[np.bool_]:
    """Which entries have the class of another one of their position, but for the first."""
    order = np.lexsort((lists.ids, lists.owner))
    owner, ids = lists.owner[order], lists.ids[order]
    again = np.zeros(ids.size, np.bool_)
    again[order[1:]] = (owner[1:] == owner[:-1]) & (ids[1:] == ids[:-1])
    return again


def _first_class(lists: TopLists, entries: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The class of the first such entry of each position; 0 where there is none."""
    shown = np.zeros(lists.records.size, np.int64)
    at = np.flatnonzero(entries)[::-1]
    shown[lists.owner[at]] = lists.ids[at]
    return shown


def _outside_vocabulary(lists: TopLists) -> NDArray[np.bool_]:
    return lists.ids >= lists.n_classes[lists.owner]


ID_CHECKS: Final = (
    PositionCheck(
        "target outside the vocabulary",
        "target",
        "a class from 0 to vocab_size − 1, or -100 for padding",
        "Write the token's id, and as vocab_size the number of columns of the output layer.",
        lambda lists: (lists.target < 0) | (lists.target >= lists.n_classes),
        lambda lists: lists.target,
    ),
    PositionCheck(
        "class outside the vocabulary",
        "top_ids",
        "classes from 0 to vocab_size − 1, or -1 for padding",
        "Write as vocab_size the number of columns of the output layer.",
        lambda lists: _positions_with(lists, _outside_vocabulary(lists)),
        lambda lists: _first_class(lists, _outside_vocabulary(lists)),
    ),
    PositionCheck(
        "repeated class",
        "top_ids",
        "each class once a position",
        "Keep one entry of each class; a target that was added to the list belongs in target_logprob.",
        lambda lists: _positions_with(lists, _repeated_entries(lists)),
        lambda lists: _first_class(lists, _repeated_entries(lists)),
    ),
)
"""What must hold of ids before their probabilities are looked at."""

MASS_CHECKS: Final = (
    PositionCheck(
        "target without a probability",
        "target",
        "a class of top_ids, or its log-probability in target_logprob",
        "Store target_logprob at every position: without it nothing is known of the right class.",
        lambda lists: np.isnan(lists.stored_mass),
        lambda lists: lists.target,
    ),
    PositionCheck(
        "more than all the probability",
        "top_logprobs",
        "stored probabilities that add up to at most 1.001, the target's included",
        "Store natural logarithms of the model's probabilities.",
        lambda lists: lists.stored_mass > 1 + SUM_TOLERANCE + _DECIMAL_ROUNDING,
        lambda lists: lists.stored_mass,
    ),
    PositionCheck(
        "target above the list",
        "target_logprob",
        "a target that is not in the list to be no more probable than the smallest of the list",
        "Take the list and the target's log-probability from the same position and distribution.",
        lambda lists: (
            np.isnan(lists.listed_target_prob) & (lists.target_prob > lists.smallest_prob + SUM_TOLERANCE)
        ),
        lambda lists: lists.target_prob,
    ),
    PositionCheck(
        "two probabilities of the target",
        "target_logprob",
        "the same probability as in the list, within 0.001",
        "Take both from the same position and distribution.",
        lambda lists: np.abs(lists.listed_target_prob - lists.target_prob) > SUM_TOLERANCE,
        lambda lists: lists.target_prob,
    ),
    PositionCheck(
        "less than all the probability",
        "top_logprobs",
        "a list whose smallest entry, given to every other class, makes up what is left to 1",
        "Store the largest entries of the whole distribution (not cut by top-p, not of another temperature), "
        "and the right vocab_size.",
        lambda lists: (
            lists.stored_mass + lists.n_unstored * lists.smallest_prob < 1 - SUM_TOLERANCE - _DECIMAL_ROUNDING
        ),
        lambda lists: lists.stored_mass,
    ),
    PositionCheck(
        "another rest",
        "rest_mass",
        "1 minus the probabilities of the list, within 0.001",
        "Compute it from the list that is stored.",
        lambda lists: (
            np.minimum(
                np.abs(1 - lists.list_mass - lists.rest_mass), np.abs(1 - lists.stored_mass - lists.rest_mass)
            )
            > SUM_TOLERANCE + _DECIMAL_ROUNDING
        ),
        lambda lists: lists.rest_mass,
    ),
)
"""What must hold of the probabilities."""


def check_positions(
    lists: TopLists, metadata: TopKMetadata
) -> tuple[TopLists, tuple[tuple[str, CellFault], ...]]:
    """The positions that pass, an appended target taken out of the list; and (contract name, fault)."""
    faults: list[tuple[str, CellFault]] = []
    for check in ID_CHECKS:
        lists = _apply_check(lists, check, faults)
    lists = _remove_appended_targets(lists, metadata)
    for check in MASS_CHECKS:
        lists = _apply_check(lists, check, faults)
    return lists, tuple(faults)


def _apply_check(lists: TopLists, check: PositionCheck, faults: list[tuple[str, CellFault]]) -> TopLists:
    wrong = check.is_wrong(lists)
    if not wrong.any():
        return lists
    shown = tuple(f"{value:.6g}" for value in check.shown_value(lists)[wrong][:MAX_CELLS_SHOWN].tolist())
    fault = CellFault(check.kind, check.expected, check.fix, lists.records[wrong], shown)
    faults.append((check.column, fault))
    return lists.select(~wrong)


def _remove_appended_targets(lists: TopLists, metadata: TopKMetadata) -> TopLists:
    """The target as no part of a list that it was added to: one longer than others, and its smallest entry.

    It is not one of the k largest, so nothing that is not stored is bounded by it (spec, section 7).
    """
    if not lists.records.size:
        return lists
    longer = lists.sizes > (lists.sizes.min() if metadata.k is None else metadata.k)
    appended = longer & (lists.sizes > 1) & (lists.listed_target_prob <= lists.smallest_prob)
    own = np.where(appended, lists.listed_target_prob, lists.target_prob)
    kept = ~(lists.is_target & appended[lists.owner])
    return replace(lists, target_prob=own).keep_entries(kept)

"""The lists of a top-k file: parsing, checking, and flattening into arrays.

The checks cover the traps of the tools that write such files: padding, repeated ids, and a target appended to
the list.
"""

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
from calib_core.readers.table.list_cells import list_judge
from calib_core.readers.table.raw import Slice
from calib_core.runs import INFO_COLUMNS
from calib_core.tokens.dense import PADDING_TARGET
from calib_core.tokens.row_checks import SUM_TOLERANCE
from calib_core.tokens.texts import text_numbers
from calib_core.tokens.topk import TopKEntries
from calib_core.wording import ROUNDING_TOLERANCE

# --- Values of single columns -------------------------------------------------

PADDING_CLASS: Final = -1
"""Class of a list element that is not an entry."""

LOGPROB_TOLERANCE: Final = 1e-3
"""Log-probabilities up to this far above 0 count as 0: they come from half precision."""


def _judge_rounded_log_probability(raw: pl.Series) -> JudgedColumn:
    """As `judge_log_probability`, but with the rounding of half precision forgiven."""
    values, _ = parse_numbers(raw)
    is_rounded = ((values > 0) & (values <= LOGPROB_TOLERANCE)).fill_null(value=False)
    if not is_rounded.any():
        return judge_log_probability(raw)
    zero = pl.Series([0], dtype=pl.Int8).cast(raw.dtype).new_from_index(0, raw.len())
    judged = judge_log_probability(raw.zip_with(~is_rounded, zero))
    return JudgedColumn(judged.values, judged.faults, true_positions(is_rounded))


def _judge_target(raw: pl.Series) -> JudgedColumn:
    """A class, that is, an integer; whether it is in the vocabulary is checked later."""
    values, is_wrong = parse_numbers(raw)
    floats = values.cast(pl.Float64)
    is_class = ((floats.floor() == floats) & (floats.abs() < 2**31)).fill_null(value=False)
    is_wrong = is_wrong | (values.is_not_null() & ~is_class)
    fault = faults_where(
        raw, is_wrong, "not a class", "the right class as a whole number", "Write its token id."
    )
    classes = pl.select(pl.when(is_class).then(floats)).to_series().cast(pl.Int64)
    return JudgedColumn(classes.alias(raw.name), fault)


TOPK_COLUMN_JUDGES: Final = MappingProxyType[str, ColumnJudge](
    {
        "target": _judge_target,
        "target_logprob": _judge_rounded_log_probability,
        "top_ids": list_judge(integer_judge(PADDING_CLASS, pl.Int64()), pl.Int64()),
        "top_logprobs": list_judge(_judge_rounded_log_probability, pl.Float64()),
        "vocab_size": integer_judge(1, pl.Int64()),
        "rest_mass": judge_probability,
        "doc": judge_text,
        "text": judge_text,
        "position": integer_judge(0, pl.Int64()),
        **{name: COLUMN_JUDGES[name] for name in INFO_COLUMNS},
    }
)
"""Column → the function that parses and checks its values."""

REQUIRED_COLUMNS: Final = ("target", "top_ids", "top_logprobs")
"""Columns that a top-k file must have."""


@dataclass(frozen=True, slots=True, eq=False)
class TopKMetadata:
    """What a file's metadata says of all its positions; None where it does not say.

    Attributes
    ----------
    vocab_size : int or None
        Number of classes, K.
    k : int or None
        Number of entries of a list without an appended target.
    column_sums : NDArray[np.float64] or None, shape (K,)
        Sum of p over all positions by class, read-only.
    """

    vocab_size: int | None = None
    k: int | None = None
    column_sums: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSlice:
    """One slice of a file, with each value judged by itself.

    Attributes
    ----------
    n_rows : int
        Number of records.
    columns : Mapping[str, pl.Series]
        Canonical name → values; null where missing or bad.
    faults : tuple[tuple[str, CellFault], ...]
        (file column, fault).
    clipped_positions : Mapping[str, NDArray[np.int64]]
        File column → the row of each value that was clipped.
    unreadable : Mapping[str, tuple[str, ...]]
        File column → texts that count as missing because they are not numbers.
    source_columns : Mapping[str, str]
        Canonical name → file column.
    """

    n_rows: int
    columns: Mapping[str, pl.Series]
    faults: tuple[tuple[str, CellFault], ...]
    clipped_positions: Mapping[str, NDArray[np.int64]]
    unreadable: Mapping[str, tuple[str, ...]]
    source_columns: Mapping[str, str]

    def integers(self, name: str, default: int) -> NDArray[np.int64]:
        """A column of integers, shape (rows,); `default` where a value or the whole column is missing."""
        if name not in self.columns:
            return np.full(self.n_rows, default, np.int64)
        return self.columns[name].fill_null(default).to_numpy().astype(np.int64)

    def floats(self, name: str) -> NDArray[np.float64]:
        """A column of floats, shape (rows,); NaN where a value or the whole column is missing."""
        if name not in self.columns:
            return np.full(self.n_rows, np.nan)
        return self.columns[name].cast(pl.Float64).fill_null(np.nan).to_numpy()

    @property
    def run_columns(self) -> pl.DataFrame:
        """The columns that describe the run, with the number of each record as `row`."""
        present = {name: self.columns[name] for name in INFO_COLUMNS if name in self.columns}
        return pl.DataFrame({"row": np.arange(self.n_rows), **present})


def judge_topk_slice(part: Slice, roles: Mapping[str, str]) -> JudgedSlice:
    """Parses and checks the columns of a slice.

    Parameters
    ----------
    part : Slice
        The slice.
    roles : Mapping[str, str]
        File column → name in `TOPK_COLUMN_JUDGES`.
    """
    columns: dict[str, pl.Series] = {}
    faults: list[tuple[str, CellFault]] = []
    clipped: dict[str, NDArray[np.int64]] = {}
    unreadable: dict[str, tuple[str, ...]] = {}
    for column, name in roles.items():
        result = TOPK_COLUMN_JUDGES[name](part.columns[column])
        columns[name] = result.values
        faults += [(column, fault) for fault in result.faults]
        if result.clipped_positions.size:
            clipped[column] = result.clipped_positions
        if result.unreadable is not None and result.unreadable.height:
            unreadable[column] = tuple(result.unreadable["found"].to_list())
    for name in REQUIRED_COLUMNS:  # JSON lines may omit null values
        if name not in columns:
            columns[name] = TOPK_COLUMN_JUDGES[name](
                pl.Series(name, [None]).new_from_index(0, part.n_rows)
            ).values
    source_columns = {name: column for column, name in roles.items()}
    return JudgedSlice(part.n_rows, columns, tuple(faults), clipped, unreadable, source_columns)


# --- Flattened lists, without missing entries and padding ---------------------


@dataclass(frozen=True, eq=False)
class TopLists:
    """Some positions of one slice with their entries, flattened.

    Attributes
    ----------
    records : NDArray[np.int64], shape (n,)
        Indices of the positions' records in the slice.
    ids : NDArray[np.int64], shape (entries,)
        Class of each entry.
    probs : NDArray[np.float64], shape (entries,)
        Probability of each entry.
    sizes : NDArray[np.int64], shape (n,)
        Number of entries of each position.
    target : NDArray[np.int64], shape (n,)
        Right class.
    n_classes : NDArray[np.int64], shape (n,)
        Number of classes, K.
    target_prob : NDArray[np.float64], shape (n,)
        Probability of the target as stored beside the list; NaN where missing.
    rest_mass : NDArray[np.float64], shape (n,)
        Probability outside the list as stored; NaN where missing.
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
        """The selected positions; positions: shape (n,)."""
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
        """The positions that keep at least one of the given entries; entries: shape (entries,)."""
        sizes = np.bincount(self.owner[entries], minlength=self.records.size)
        return replace(self, ids=self.ids[entries], probs=self.probs[entries], sizes=sizes).select(sizes > 0)

    def as_topk(self, offset: int, text: pl.Series | None) -> TopKEntries:
        """Positions of one run, ready to be reduced.

        Parameters
        ----------
        offset : int
            Records in the file before this slice.
        text : pl.Series or None
            Text of every record of the slice; None where the file has no such column.
        """
        own = None if text is None else text.gather(self.records)
        return TopKEntries(
            self.probs,
            self.ids,
            self.sizes,
            self.target,
            self.target_prob,
            self.records + offset,
            int(self.n_classes[0]),
            None if own is None or own.null_count() else text_numbers(own.to_numpy()),
        )

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """Index of the position of each entry, shape (entries,)."""
        return np.repeat(np.arange(self.records.size), self.sizes)

    @cached_property
    def is_target(self) -> NDArray[np.bool_]:
        """Whether an entry is the target's, shape (entries,)."""
        return self.ids == self.target[self.owner]

    @cached_property
    def smallest_prob(self) -> NDArray[np.float64]:
        """The smallest entry of each list, shape (n,)."""
        return self._reduce_lists(np.minimum)

    @cached_property
    def listed_target_prob(self) -> NDArray[np.float64]:
        """The target's entry in the list, shape (n,); NaN where the list lacks the target."""
        listed = np.full(self.records.size, np.nan)
        listed[self.owner[self.is_target]] = self.probs[self.is_target]
        return listed

    @cached_property
    def list_mass(self) -> NDArray[np.float64]:
        """The sum of each list, shape (n,)."""
        return self._reduce_lists(np.add)

    @cached_property
    def stored_mass(self) -> NDArray[np.float64]:
        """The sum of all stored probabilities, an unlisted target's included, shape (n,)."""
        return self.list_mass + np.where(np.isnan(self.listed_target_prob), self.target_prob, 0.0)

    @cached_property
    def n_unstored(self) -> NDArray[np.int64]:
        """Number of classes that are not stored, shape (n,)."""
        return self.n_classes - self.sizes - np.isnan(self.listed_target_prob)

    def _reduce_lists(self, ufunc: np.ufunc) -> NDArray[np.float64]:
        """One number per list."""
        if not self.records.size:
            return np.zeros(0)
        return np.asarray(ufunc.reduceat(self.probs, np.cumsum(self.sizes) - self.sizes), np.float64)

    @property
    def sum_error(self) -> NDArray[np.float64]:
        """How far the sum of all K probabilities is from 1, as far as this is known; shape (n,)."""
        return np.where(
            self.n_unstored > 0, np.maximum(self.stored_mass - 1, 0.0), np.abs(self.stored_mass - 1)
        )


def top_lists_of(values: JudgedSlice, is_usable: NDArray[np.bool_], metadata: TopKMetadata) -> TopLists:
    """The positions of a slice that are complete, without padding.

    A position is incomplete, and so left out, if its target, a list or K is missing, if its list is all
    padding, or if an entry lacks its id or its log-probability.

    Parameters
    ----------
    values : JudgedSlice
        The slice.
    is_usable : NDArray[np.bool_], shape (rows,)
        Records without a bad value.
    metadata : TopKMetadata
        The file's metadata.
    """
    target = values.integers("target", PADDING_TARGET)
    classes = values.integers("vocab_size", metadata.vocab_size or 0)
    ids, logprobs = values.columns["top_ids"], values.columns["top_logprobs"]
    has_lists = (ids.is_not_null() & logprobs.is_not_null()).to_numpy()
    records = np.flatnonzero(is_usable & has_lists & (target != PADDING_TARGET) & (classes > 0))
    sizes = ids.gather(records).list.len().to_numpy().astype(np.int64)
    if not records.size:
        flat_ids, flat_logprobs = pl.Series([], dtype=pl.Int64), pl.Series([], dtype=pl.Float64)
    else:
        flat_ids = ids.gather(records).explode()
        flat_logprobs = logprobs.gather(records).explode().cast(pl.Float64)
    flat_values = flat_logprobs.fill_null(np.nan).to_numpy()
    probs = np.exp(flat_values)
    ids_or_padding = flat_ids.fill_null(PADDING_CLASS).to_numpy()
    target_probs = np.exp(values.floats("target_logprob"))
    lists = TopLists(
        records=records,
        ids=ids_or_padding,
        probs=probs,
        sizes=sizes,
        target=target[records],
        n_classes=classes[records],
        target_prob=target_probs[records],
        rest_mass=values.floats("rest_mass")[records],
    )
    is_padding = (ids_or_padding == PADDING_CLASS) | np.isneginf(flat_values)
    lacks_id, lacks_logprob = flat_ids.is_null().to_numpy(), np.isnan(flat_values)
    is_incomplete = (lacks_logprob & (ids_or_padding != PADDING_CLASS)) | (
        lacks_id & np.isfinite(flat_values)
    )
    is_complete = np.ones(records.size, np.bool_)
    is_complete[lists.owner[is_incomplete]] = False
    return lists.keep_entries(~is_padding & is_complete[lists.owner])


# --- Checks of whole positions ------------------------------------------------


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """One way in which a position can be bad.

    Attributes
    ----------
    kind, expected, fix : str
        As in `BadCell`.
    column : str
        Canonical name of the column that is blamed.
    is_wrong : Callable
        The positions that are bad, bool of shape (n,).
    shown_value : Callable
        The value to show for each position, shape (n,).
    """

    kind: str
    column: str
    expected: str
    fix: str
    is_wrong: Callable[[TopLists], NDArray[np.bool_]]
    shown_value: Callable[[TopLists], NDArray[np.float64] | NDArray[np.int64]]


def _positions_with(lists: TopLists, entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a position has any of the given entries, shape (n,)."""
    has_entry = np.zeros(lists.records.size, np.bool_)
    has_entry[lists.owner[entries]] = True
    return has_entry


def _repeated_entries(lists: TopLists) -> NDArray[np.bool_]:
    """Whether an earlier entry of the same position has the same class, shape (entries,)."""
    order = np.lexsort((lists.ids, lists.owner))
    owner, ids = lists.owner[order], lists.ids[order]
    is_repeated = np.zeros(ids.size, np.bool_)
    is_repeated[order[1:]] = (owner[1:] == owner[:-1]) & (ids[1:] == ids[:-1])
    return is_repeated


def _first_class(lists: TopLists, entries: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The class of the first of the given entries of each position; 0 where there is none."""
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
        "each class once per position",
        "Keep one entry of each class; a target that was added to the list belongs in target_logprob.",
        lambda lists: _positions_with(lists, _repeated_entries(lists)),
        lambda lists: _first_class(lists, _repeated_entries(lists)),
    ),
)
"""Checks of ids, made before those of probabilities."""

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
        lambda lists: lists.stored_mass > 1 + SUM_TOLERANCE + ROUNDING_TOLERANCE,
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
            lists.stored_mass + lists.n_unstored * lists.smallest_prob
            < 1 - SUM_TOLERANCE - ROUNDING_TOLERANCE
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
            > SUM_TOLERANCE + ROUNDING_TOLERANCE
        ),
        lambda lists: lists.rest_mass,
    ),
)
"""Checks of probabilities."""


def check_positions(
    lists: TopLists, metadata: TopKMetadata
) -> tuple[TopLists, tuple[tuple[str, CellFault], ...]]:
    """The positions that pass all checks, without appended targets in their lists.

    Returns
    -------
    lists : TopLists
        The good positions.
    faults : tuple[tuple[str, CellFault], ...]
        (canonical name of the column, fault).
    """
    faults: list[tuple[str, CellFault]] = []
    for check in ID_CHECKS:
        lists = _apply_check(lists, check, faults)
    lists = _remove_appended_targets(lists, metadata)
    for check in MASS_CHECKS:
        lists = _apply_check(lists, check, faults)
    return lists, tuple(faults)


def _apply_check(lists: TopLists, check: PositionCheck, faults: list[tuple[str, CellFault]]) -> TopLists:
    is_wrong = check.is_wrong(lists)
    if not is_wrong.any():
        return lists
    shown = tuple(f"{value:.6g}" for value in check.shown_value(lists)[is_wrong][:MAX_CELLS_SHOWN].tolist())
    fault = CellFault(check.kind, check.expected, check.fix, lists.records[is_wrong], shown)
    faults.append((check.column, fault))
    return lists.select(~is_wrong)


def _remove_appended_targets(lists: TopLists, metadata: TopKMetadata) -> TopLists:
    """Removes targets that were appended to their list: the smallest entry of a list longer than others.

    Such a target is not one of the k largest entries, so it does not bound the unstored ones.
    """
    if not lists.records.size:
        return lists
    is_longer = lists.sizes > (lists.sizes.min() if metadata.k is None else metadata.k)
    is_appended = is_longer & (lists.sizes > 1) & (lists.listed_target_prob <= lists.smallest_prob)
    target_prob = np.where(is_appended, lists.listed_target_prob, lists.target_prob)
    is_kept = ~(lists.is_target & is_appended[lists.owner])
    return replace(lists, target_prob=target_prob).keep_entries(is_kept)

"""Is every value of a position what it must be: its target, its largest entries, the size of its vocabulary?

Traps of top lists (padding, repeated ids, an appended target) are those of the tools that write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.tables import lists, numbers, words
from calib_core.files.tables.columns import COLUMN_JUDGES
from calib_core.files.tables.judged import CellFault, ColumnJudge, JudgedColumn, faults_where, true_positions
from calib_core.files.tables.raw import Slice
from calib_core.records import INFO_COLUMNS

PADDING_TARGET: Final = -100
"""A target that marks what is no position."""
PADDING_CLASS: Final = -1
"""A class that marks what is no entry."""

CLIP_TOLERANCE: Final = 1e-3
"""A log-probability this little above 0 is taken for 0: half precision writes such."""


def _judge_rounded_log_probability(raw: pl.Series) -> JudgedColumn:
    """As `numbers.log_probability`, rounding of half precision forgiven."""
    values, _ = numbers.parse_numbers(raw)
    small = ((values > 0) & (values <= CLIP_TOLERANCE)).fill_null(value=False)
    if not small.any():
        return numbers.judge_log_probability(raw)
    zero = pl.Series([0], dtype=pl.Int8).cast(raw.dtype).new_from_index(0, raw.len())
    judged = numbers.judge_log_probability(raw.zip_with(~small, zero))
    return JudgedColumn(judged.values, judged.faults, true_positions(small))


def _judge_target(raw: pl.Series) -> JudgedColumn:
    """A class: a whole number. Whether it is in the vocabulary is judged with it."""
    values, wrong = numbers.parse_numbers(raw)
    exact = values.cast(pl.Float64)
    whole = ((exact.floor() == exact) & (exact.abs() < 2**31)).fill_null(value=False)
    wrong = wrong | (values.is_not_null() & ~whole)
    fault = faults_where(raw, wrong, "not a class", "the right class as a whole number", "Write its token id.")
    kept = pl.select(pl.when(whole).then(exact)).to_series().cast(pl.Int64)
    return JudgedColumn(kept.alias(raw.name), fault)


TOPK_COLUMN_JUDGES: Final = MappingProxyType[str, ColumnJudge]({
    "target": _judge_target,
    "target_logprob": _judge_rounded_log_probability,
    "top_ids": lists.list_judge(numbers.integer_judge(PADDING_CLASS, pl.Int64()), pl.Int64()),
    "top_logprobs": lists.list_judge(_judge_rounded_log_probability, pl.Float64()),
    "vocab_size": numbers.integer_judge(1, pl.Int64()),
    "rest_mass": numbers.judge_probability,
    "doc": words.judge_text,
    "position": numbers.integer_judge(0, pl.Int64()),
    **{name: COLUMN_JUDGES[name] for name in INFO_COLUMNS},
})
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
            columns[name] = TOPK_COLUMN_JUDGES[name](pl.Series(name, [None]).new_from_index(0, part.n_rows)).values
    source = {name: column for column, name in roles.items()}
    return JudgedSlice(part.n_rows, columns, tuple(found_wrong), clipped, unread, source)

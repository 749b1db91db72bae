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
from calib_core.files.tables.columns import COLUMNS
from calib_core.files.tables.judged import Fault, Judge, Judged, faults, where
from calib_core.files.tables.raw import Slice
from calib_core.records import INFO_COLUMNS

PADDING: Final = -100
"""A target that marks what is no position."""
PAD_ID: Final = -1
"""A class that marks what is no entry."""

CLIPPED: Final = 1e-3
"""A log-probability this little above 0 is taken for 0: half precision writes such."""


def _log_probability(raw: pl.Series) -> Judged:
    """As `numbers.log_probability`, rounding of half precision forgiven."""
    values, _ = numbers.parsed(raw)
    small = ((values > 0) & (values <= CLIPPED)).fill_null(value=False)
    if not small.any():
        return numbers.log_probability(raw)
    zero = pl.Series([0], dtype=pl.Int8).cast(raw.dtype).new_from_index(0, raw.len())
    judged = numbers.log_probability(raw.zip_with(~small, zero))
    return Judged(judged.values, judged.faults, where(small))


def _target(raw: pl.Series) -> Judged:
    """A class: a whole number. Whether it is in the vocabulary is judged with it."""
    values, wrong = numbers.parsed(raw)
    exact = values.cast(pl.Float64)
    whole = ((exact.floor() == exact) & (exact.abs() < 2**31)).fill_null(value=False)
    wrong = wrong | (values.is_not_null() & ~whole)
    fault = faults(raw, wrong, "not a class", "the right class as a whole number", "Write its token id.")
    kept = pl.select(pl.when(whole).then(exact)).to_series().cast(pl.Int64)
    return Judged(kept.alias(raw.name), fault)


JUDGES: Final = MappingProxyType[str, Judge]({
    "target": _target,
    "target_logprob": _log_probability,
    "top_ids": lists.list_of(numbers.whole(PAD_ID, pl.Int64()), pl.Int64()),
    "top_logprobs": lists.list_of(_log_probability, pl.Float64()),
    "vocab_size": numbers.whole(1, pl.Int64()),
    "rest_mass": numbers.probability,
    "doc": words.text,
    "position": numbers.whole(0, pl.Int64()),
    **{name: COLUMNS[name] for name in INFO_COLUMNS},
})
"""Column → who judges it."""

NEEDED: Final = ("target", "top_ids", "top_logprobs")
"""Columns without which nothing can be read."""


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the file's metadata says of all its positions; None = not said.

    vocab_size: K; k: how many entries a list has without an appended target; column_sums: Σp by class over
    all positions, float64 of shape (K,), read-only.
    """

    vocab_size: int | None = None
    k: int | None = None
    column_sums: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One slice of a file, each value judged by itself.

    rows: records; columns: name → values, null where missing or wrong; faults: (file column, fault);
    clipped: file column → the row of each value that was moved; unread: file column → texts that could not
    be read and are no fault; source: name → file column.
    """

    rows: int
    columns: Mapping[str, pl.Series]
    faults: tuple[tuple[str, Fault], ...]
    clipped: Mapping[str, NDArray[np.int64]]
    unread: Mapping[str, tuple[str, ...]]
    source: Mapping[str, str]

    def whole(self, name: str, default: int) -> NDArray[np.int64]:
        """A column of whole numbers; `default` where one is missing, or all of them are."""
        if name not in self.columns:
            return np.full(self.rows, default, np.int64)
        return self.columns[name].fill_null(default).to_numpy().astype(np.int64)

    def real(self, name: str) -> NDArray[np.float64]:
        """A column of numbers; NaN where one is missing."""
        if name not in self.columns:
            return np.full(self.rows, np.nan)
        return self.columns[name].cast(pl.Float64).fill_null(np.nan).to_numpy()

    @property
    def info(self) -> pl.DataFrame:
        """What the rows say of their run."""
        told = {name: self.columns[name] for name in INFO_COLUMNS if name in self.columns}
        return pl.DataFrame({"row": np.arange(self.rows), **told})


def judged(part: Slice, roles: Mapping[str, str]) -> Values:
    """Judges the columns of a slice. roles: file column → name in `JUDGES`."""
    columns: dict[str, pl.Series] = {}
    found_wrong: list[tuple[str, Fault]] = []
    clipped: dict[str, NDArray[np.int64]] = {}
    unread: dict[str, tuple[str, ...]] = {}
    for column, name in roles.items():
        result = JUDGES[name](part.columns[column])
        columns[name] = result.values
        found_wrong += [(column, fault) for fault in result.faults]
        if result.clipped.size:
            clipped[column] = result.clipped
        if result.unread is not None and result.unread.height:
            unread[column] = tuple(result.unread["found"].to_list())
    for name in NEEDED:  # JSON lines may leave out what is null
        if name not in columns:
            columns[name] = JUDGES[name](pl.Series(name, [None]).new_from_index(0, part.rows)).values
    source = {name: column for column, name in roles.items()}
    return Values(part.rows, columns, tuple(found_wrong), clipped, unread, source)

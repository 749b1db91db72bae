"""What comes of a raw column once its values have been judged?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.tables.raw import as_json_text
from calib_core.problems import MAX_CELLS_SHOWN, shorten

RowPositions: TypeAlias = NDArray[np.int64]
"""Positions of rows or values within what was judged, ascending."""


def no_positions() -> RowPositions:
    """No position at all."""
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class CellFault:
    """Values of one column that are there and wrong for one reason.

    at: their positions; found: the first `FIRST` of them as text.
    """

    kind: str
    expected: str
    fix: str
    positions: RowPositions
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedColumn:
    """A column that has been looked at.

    values: what is used, null where missing or wrong; clipped: a position for every value that was
    moved onto the edge of its range; off_sum: rows whose distribution sums to 1 only nearly; unread:
    values that are there, cannot be used and are no fault: columns at (position) and found (text).
    """

    values: pl.Series
    faults: tuple[CellFault, ...] = ()
    clipped_positions: RowPositions = field(default_factory=no_positions)
    inexact_sums: RowPositions = field(default_factory=no_positions)
    unreadable: pl.DataFrame | None = None


ColumnJudge: TypeAlias = Callable[[pl.Series], JudgedColumn]
"""Raw values of one column → those the program works with."""


def true_positions(mask: pl.Series) -> RowPositions:
    """The positions at which a boolean series is true (null is not)."""
    return mask.arg_true().cast(pl.Int64).to_numpy()


def faults_where(raw: pl.Series, is_wrong: pl.Series, kind: str, expected: str, fix: str) -> tuple[CellFault, ...]:
    """The one fault of the values of `raw` that are `wrong`, or none."""
    at = true_positions(is_wrong)
    if not at.size:
        return ()
    return (CellFault(kind, expected, fix, at, tuple(map(value_text, raw.gather(at[:MAX_CELLS_SHOWN]).to_list()))),)


def value_text(value: object, *, limit: int | None = 80) -> str:
    """A raw value as a message shows it, cut to `limit` characters (None: whole)."""
    try:
        shown = as_json_text(value) or ""
    except TypeError:  # a date, bytes or another value that JSON has no word for
        shown = str(value)
    return shown if limit is None else shorten(shown, limit)


def null_where(values: pl.Series, mask: pl.Series) -> pl.Series:
    """The values, null where the mask is true."""
    if not mask.any():
        return values
    return pl.select(pl.when(~mask).then(values).alias(values.name)).to_series()


def null_series(raw: pl.Series, dtype: pl.DataType) -> pl.Series:
    """A column of missing values as long as `raw`."""
    return pl.Series(raw.name, [None], dtype=dtype).new_from_index(0, raw.len())

"""Which values has a run in a column that it may not have, and which of its rows can be used?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.problems import Unavailable
from calib_core.records import ANSWER_SCHEMA, AnswerRun


def column(run: AnswerRun, name: str) -> pl.Series:
    """The column as stored, or all nulls of the schema's dtype where the run does not have it."""
    if name in run.rows.columns:
        return run.rows[name]
    return pl.Series(name, [None], dtype=ANSWER_SCHEMA[name]).new_from_index(0, run.rows.height)


def as_float64(lists: pl.Series) -> pl.Series:
    """A List of floats of any width as List(Float64)."""
    return lists.cast(pl.List(pl.Float64))


def first_reason(rows: int, *reasons: tuple[str, pl.Series]) -> pl.Series:
    """Why each row cannot be used: the first reason whose mask is true there, null where none is.

    reasons: (reason, Boolean mask of shape (rows,); null counts as false). Returns String, shape (rows,).
    """
    why = pl.Series("why", [None], dtype=pl.String).new_from_index(0, rows)
    for reason, mask in reversed(reasons):
        why = why.set(mask.fill_null(value=False), reason)
    return why


def usable(why: pl.Series) -> tuple[NDArray[np.intp], Mapping[str, int]]:
    """Positions of the rows without a reason against them, and how many rows each reason takes.

    The two add up to the number of rows. Raises Unavailable, naming the reasons, where no row is left.
    """
    counts = why.alias("why").drop_nulls().value_counts()
    counts = counts.sort("count", "why", descending=[True, False])
    missing = {str(reason): int(count) for reason, count in counts.iter_rows()}
    rows = np.flatnonzero(why.is_null().to_numpy())
    if not rows.size:
        said = ", ".join(f"{reason} (rows: {count:,})" for reason, count in missing.items())
        raise Unavailable(f"not one row can be used: {said}" if said else "the run has no rows")
    return rows, MappingProxyType(missing)

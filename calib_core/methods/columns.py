"""Which values has a run in a column that it may not have, and which of its rows can be used?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.runs import ANSWER_SCHEMA, AnswerRun

UNANSWERED_STATUSES: Final = ("error", "refused", "unscored")
"""Values of `status` that leave a row without an answer to judge; "no_answer" is a wrong one."""


def column(run: AnswerRun, name: str) -> pl.Series:
    """The column as stored, or all nulls of the schema's dtype where the run does not have it."""
    if name in run.rows.columns:
        return run.rows[name]
    return pl.Series(name, [None], dtype=ANSWER_SCHEMA[name]).new_from_index(0, run.rows.height)


def missing_columns_phrase(run: AnswerRun, *names: str) -> str:
    """What is said of columns without a value: "no column a or b", "column a is empty in every row"."""
    absent = [name for name in names if name not in run.rows.columns]
    empty = [name for name in names if name in run.rows.columns]
    said = [f"no column {' or '.join(absent)}"] if absent else []
    if empty:
        are = "column {} is" if len(empty) == 1 else "columns {} are"
        said.append(f"{are.format(' and '.join(empty))} empty in every row")
    return ", and ".join(said)


def origin_phrases(stored: NDArray[np.bool_], computed: str, as_stored: str) -> tuple[str, ...]:
    """What the recipe says of rows of which some are computed and some stand in the file.

    stored: which used rows stand in the file; computed, as_is: what is said where all rows are of one sort.
    """
    count = int(stored.sum())
    if count == stored.size:
        return (as_stored,)
    return (computed, f"{count:,} of {stored.size:,} as stored") if count else (computed,)


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


def unanswered_reason(run: AnswerRun) -> pl.Series:
    """Why the file itself says that a row has nothing to judge: String, "status: error", null elsewhere."""
    status = column(run, "status")
    return ("status: " + status).set(~status.is_in(UNANSWERED_STATUSES).fill_null(value=False), None)


def usable_rows(run: AnswerRun, reasons: pl.Series) -> tuple[NDArray[np.intp], Mapping[str, int]]:
    """Positions of the rows without a reason against them, and how many rows each reason takes.

    A status that leaves nothing to judge is a reason before any other. The two add up to the number of
    rows. Raises Unavailable, naming the reasons, where no row is left.
    """
    reasons = unanswered_reason(run).fill_null(reasons)
    counts = reasons.alias("why").drop_nulls().value_counts()
    counts = counts.sort("count", "why", descending=[True, False])
    missing = {str(reason): int(count) for reason, count in counts.iter_rows()}
    rows = np.flatnonzero(reasons.is_null().to_numpy())
    if not rows.size:
        said = ", ".join(f"{reason} (rows: {count:,})" for reason, count in missing.items())
        raise Unavailable(f"not one row can be used: {said}" if said else "the run has no rows")
    return rows, MappingProxyType(missing)


# MERGED choices__to__columns: moved.


def flatten_rows(values: pl.Series, rows: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The numbers of some rows laid end to end, and how many each row has; the dtype is kept.

    values: List without null or empty rows among `rows`.
    """
    chosen = values.gather(pl.Series(rows))
    return chosen.explode().to_numpy(), chosen.list.len().cast(pl.Int64).to_numpy()

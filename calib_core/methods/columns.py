"""Which values does a run have in an optional column, and which of its rows can be used?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.runs import ANSWER_SCHEMA, AnswerRun, schema_name
from calib_core.wording import join_names

UNANSWERED_STATUSES: Final = (
    "error",
    "refused",
    "unscored",
    "missing",
    "blocked",
    "box",
    "unknown type",
)
"""Values of `status` for rows without an answer to judge; "no_answer" is not one, as it counts as wrong."""


def column(run: AnswerRun, name: str) -> pl.Series:
    """The column as stored, or nulls of the schema's dtype if the run does not have it; shape (rows,)."""
    if name in run.rows.columns:
        return run.rows[name]
    return pl.Series(name, [None], dtype=ANSWER_SCHEMA[schema_name(name)]).new_from_index(0, run.rows.height)


def missing_columns_phrase(run: AnswerRun, *names: str) -> str:
    """How columns are missing: "no column a or b", "column a is empty in every row"."""
    absent = [name for name in names if name not in run.rows.columns]
    empty = [name for name in names if name in run.rows.columns]
    phrases = [f"no column {join_names(absent, 'or')}"] if absent else []
    if empty:
        are = "column {} is" if len(empty) == 1 else "columns {} are"
        phrases.append(f"{are.format(join_names(empty))} empty in every row")
    return ", and ".join(phrases)


def origin_phrases(stored: NDArray[np.bool_], computed: str, as_stored: str) -> tuple[str, ...]:
    """Recipe phrases for values of which some are computed and some stored in the file.

    Parameters
    ----------
    stored : NDArray[np.bool_], shape (n,)
        Which of the used rows have a stored value.
    computed, as_stored : str
        The phrase if all values are computed, or all are stored.
    """
    count = int(stored.sum())
    if count == stored.size:
        return (as_stored,)
    return (computed, f"{count:,} of {stored.size:,} as stored") if count else (computed,)


def as_float64(lists: pl.Series) -> pl.Series:
    """A List of floats of any precision as List(Float64)."""
    return lists.cast(pl.List(pl.Float64))


def first_reason(rows: int, *reasons: tuple[str, pl.Series]) -> pl.Series:
    """Why each row cannot be used: the first reason that applies to it.

    Parameters
    ----------
    rows : int
        Number of rows.
    *reasons : (str, pl.Series)
        A reason, and a Boolean mask of shape (rows,) of the rows it applies to; null counts as false.

    Returns
    -------
    pl.Series of String, shape (rows,)
        Null where no reason applies.
    """
    result = pl.Series("why", [None], dtype=pl.String).new_from_index(0, rows)
    for reason, mask in reversed(reasons):
        if mask.any():
            result = result.set(mask.fill_null(value=False), reason)
    return result


def fill_reasons(reasons: pl.Series, others: pl.Series) -> pl.Series:
    """The reasons, and the others where a row has no reason; all nulls on either side cost no copy."""
    if reasons.null_count() == reasons.len():
        return others
    return reasons if others.null_count() == others.len() else reasons.fill_null(others)


def unanswered_reason(run: AnswerRun) -> pl.Series:
    """Why a row has no answer to judge, by the file's own status: "status: error", null elsewhere."""
    status = column(run, "status")
    if not run.has_columns("status"):
        return status.cast(pl.String)
    return ("status: " + status).set(~status.is_in(UNANSWERED_STATUSES).fill_null(value=False), None)


def usable_rows_if_not_all(
    run: AnswerRun, reasons: pl.Series
) -> tuple[NDArray[np.intp] | None, Mapping[str, int]]:
    """The rows that can be used, and how many cannot for each reason.

    A status without an answer to judge comes before any other reason.

    Parameters
    ----------
    run : AnswerRun
        The run.
    reasons : pl.Series of String, shape (rows,)
        Why each row cannot be used, null where it can, as from `first_reason`.

    Returns
    -------
    rows : NDArray[np.intp] or None, shape (n,)
        Positions of the usable rows, ascending; None for all rows.
    missing : Mapping[str, int]
        Reason → number of rows, most frequent first; these and n add up to the number of rows.

    Raises
    ------
    Unavailable
        If no row can be used; the message names the reasons.
    """
    reasons = fill_reasons(unanswered_reason(run), reasons)
    if reasons.len() and reasons.null_count() == reasons.len():
        return None, MappingProxyType({})
    counts = reasons.alias("why").drop_nulls().value_counts()
    counts = counts.sort("count", "why", descending=[True, False])
    missing = {str(reason): int(count) for reason, count in counts.iter_rows()}
    is_usable = reasons.is_null()
    if not is_usable.any():
        listed = ", ".join(f"{reason} (rows: {count:,})" for reason, count in missing.items())
        raise Unavailable(f"no row can be used: {listed}" if listed else "the run has no rows")
    rows = None if is_usable.all() else np.flatnonzero(is_usable.to_numpy())
    return rows, MappingProxyType(missing)


def usable_rows(run: AnswerRun, reasons: pl.Series) -> tuple[NDArray[np.intp], Mapping[str, int]]:
    """As `usable_rows_if_not_all`, with the positions of all rows where all can be used."""
    rows, missing = usable_rows_if_not_all(run, reasons)
    return np.arange(reasons.len()) if rows is None else rows, missing


def flatten_rows(values: pl.Series, rows: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The numbers of some rows in one array, in their stored dtype, and how many each row has.

    Parameters
    ----------
    values : pl.Series of List
        Numbers; none of the chosen rows is null or empty.
    rows : NDArray[np.intp], shape (n,)
        Positions of the chosen rows.

    Returns
    -------
    numbers : array, shape (Σ sizes,)
    sizes : NDArray[np.int64], shape (n,)
    """
    chosen = values.gather(pl.Series(rows))
    return chosen.explode().to_numpy(), chosen.list.len().cast(pl.Int64).to_numpy()

"""A table of confidences and outcomes in which every value is good, as arrays in memory usually are.

What a file may need besides is not looked for: roles, dialects, lists, and what a bad value may have meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.readers.table.cells import no_positions
from calib_core.readers.table.columns import COLUMN_JUDGES
from calib_core.readers.table.run_split import Origin, RowJudgement, split_into_runs
from calib_core.runs import ROW_DTYPE, RunInfo

_CONFIDENCES: Final = frozenset({"confidence", "event_prob"})
_OUTCOMES: Final = frozenset({"correct", "event"})
_NUMBERS: Final = _CONFIDENCES | _OUTCOMES | {"weight"}
"""Columns of one number in each row, which no other column of the row can contradict."""


def read_good_numbers(frame: pl.DataFrame, file: str, format_id: str, options: ReadOptions) -> Reading | None:
    """Return what `reader.read` makes of such a table; None if it is another, which only that can read.

    Parameters
    ----------
    frame
        The table.
    file, format_id
        What messages call it, and the id of its format.
    options
        As in `readers.read`; beside the name of the data set, any option needs the reader of tables.
    """
    names = frozenset(frame.columns)
    has_both = names & _CONFIDENCES and names & _OUTCOMES
    if not has_both or names - _NUMBERS or not frame.height or replace(options, dataset="") != AS_IT_LIES:
        return None
    if not all(dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean for dtype in frame.dtypes):
        return None
    judged = {name: COLUMN_JUDGES[name](frame[name]) for name in frame.columns}
    if any(column.faults or column.clipped_positions.size for column in judged.values()):
        return None
    rows = pl.DataFrame([judged[name].values.alias(name) for name in COLUMN_JUDGES if name in judged])
    rows = rows.select(pl.int_range(1, pl.len() + 1, dtype=ROW_DTYPE).alias("row"), pl.all())
    none = np.zeros(frame.height, np.bool_)
    runs, notes = split_into_runs(
        rows, RowJudgement(none, none, {}, no_positions(), {}), Origin(file, format_id, RunInfo())
    )
    return Reading(
        file=file,
        format=format_id,
        n_rows=frame.height,
        n_bad_rows=0,
        problems=(),
        good_runs=runs,
        columns=tuple(frame.columns),
        unused_columns=(),
        notes=notes,
        column_roles={name: name for name in frame.columns},
    )

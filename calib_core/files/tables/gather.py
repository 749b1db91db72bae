"""How do several columns of the file become one list, an element a column?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from calib_core.files.tables.judged import null_where
from calib_core.files.tables.raw import Slice
from calib_core.files.tables.roles import ColumnRoles
from calib_core.problems import shorten
from calib_core.records import is_missing


def gather_lists(part: Slice, roles: ColumnRoles, column_order: Sequence[str]) -> tuple[Slice, dict[str, str]]:
    """The slice with the columns of each list put together, and column → name of all that is read.

    order: the file's columns; one that this slice lacks is empty in it. A list is called by the names
    of all its columns.
    """
    columns = dict(part.columns)
    meant = {column: name for column in columns if (name := roles.role(column))}
    for name, members in roles.combined_lists(column_order).items():
        empty = pl.Series([None], dtype=pl.Null()).new_from_index(0, part.n_rows)
        together = combine_columns([columns.pop(member, empty) for member in members])
        meant = {column: role for column, role in meant.items() if role != name}
        label = shorten(", ".join(members))
        columns[label], meant[label] = together, name
    return replace(part, columns=columns), meant


def combine_columns(raw: Sequence[pl.Series]) -> pl.Series:
    """Raw columns of one length → lists, in the given order.

    An empty cell is a null element, and a row of empty cells alone is null. Numbers stay numbers;
    columns that differ otherwise become text. Where one column holds lists itself, no value is a list
    of plain elements: structs are given, which every judge of lists finds wrong.
    """
    held = [null_where(values, is_missing(values)).alias(str(at)) for at, values in enumerate(raw)]
    frame = pl.DataFrame(held)
    if any(dtype.is_nested() or dtype == pl.Binary for dtype in frame.dtypes):
        return frame.to_struct("list")
    kinds = [dtype for dtype in frame.dtypes if dtype != pl.Null]
    if len(set(kinds)) > 1 and not all(dtype.is_numeric() for dtype in kinds):
        frame = frame.cast(pl.String)
    empty = pl.all_horizontal(pl.all().is_null())
    return frame.select(pl.when(~empty).then(pl.concat_list(pl.all())).alias("list"))["list"]

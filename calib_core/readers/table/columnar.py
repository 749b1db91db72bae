"""Files and tables that are stored by column: Parquet, Arrow, and data frames that are in memory already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from calib_core.readers.format import ContentKind, Head
from calib_core.readers.table.arrow_reader import first_arrow_values, open_arrow
from calib_core.readers.table.parquet_reader import first_parquet_values, open_parquet
from calib_core.readers.table.raw import ColumnFilter, RawTable, Slice, check_column_count, undo_storage_types

COLUMNAR_KINDS: Final = frozenset[ContentKind]({"parquet", "arrow", "frame"})

FRAME_ROWS_PER_SLICE: Final = 262_144
"""Rows checked at a time."""


def first_columnar_values(head: Head, columns: Sequence[str], n_rows: int) -> list[pl.Series]:
    """Return the first `n_rows` values of columns of such a file or table; null if they cannot be read."""
    match head.kind:
        case "parquet":
            return first_parquet_values(head.all_bytes, columns, n_rows)
        case "arrow":
            return first_arrow_values(head.all_bytes, columns, n_rows)
        case _:
            return [undo_storage_types(head.frame[name].head(n_rows)) for name in columns]


def open_columnar(head: Head, is_used: ColumnFilter) -> RawTable:
    """Open such a file or table; only the columns for which `is_used` is True are unpacked.

    Raises
    ------
    Refused
        As `open_parquet` and `open_arrow`.
    """
    match head.kind:
        case "parquet":
            return open_parquet(head.all_bytes, head.file, is_used)
        case "arrow":
            return open_arrow(head.all_bytes, head.file, is_used)
        case _:
            check_column_count(head.names, head.file)
            return RawTable(head.names, _frame_slices(head.frame, list(filter(is_used, head.names))))


def _frame_slices(frame: pl.DataFrame, names: Sequence[str]) -> Iterator[Slice]:
    for start in range(0, frame.height, FRAME_ROWS_PER_SLICE):
        rows = frame.slice(start, FRAME_ROWS_PER_SLICE)
        columns = {name: undo_storage_types(rows[name]) for name in names}
        yield Slice(rows.height, columns, None, (start + rows.height) / frame.height)

"""Reads Parquet files as raw columns.

pyarrow reads the footer first: it rejects a schema nested so deeply that it would overflow polars' stack, and
reports the numbers of rows and values. polars then reads the columns, from bytes and never from a path, since
it interprets a path as a glob pattern or an address.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.table.raw import ColumnFilter, RawTable, Slice, check_column_count, undo_storage_types

PARQUET_MAGIC: Final = b"PAR1"
PARQUET_ROWS_PER_SLICE: Final = 262_144
"""Rows checked at a time."""

MAX_ROW_GROUPS: Final = 20_000
"""Limit on row groups: writers put 100,000 rows or more in one; groups of one row are very slow to read."""


def check_footer(data: bytes, file: str) -> None:
    """Compare the numbers of rows and values in the footer before any of them is unpacked.

    If the footer states fewer rows than there are values, polars reads only those and reports no error.

    Parameters
    ----------
    data
        All bytes of the file.
    file
        What messages call the file.

    Raises
    ------
    Refused
        The footer cannot be read, its schema is nested too deep (pyarrow reads at most 100 levels), there are
        more than `MAX_ROW_GROUPS` row groups, or the numbers of rows contradict each other.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415  a tenth of a second that only Parquet files take

    try:
        footer = pq.read_metadata(io.BytesIO(data))  # pyright: ignore[reportUnknownMemberType]
        if footer.num_row_groups > MAX_ROW_GROUPS:
            raise Refused(
                f"{file} is cut into {footer.num_row_groups:,} row groups, but at most {MAX_ROW_GROUPS:,} "
                "are read. Write it again with larger ones, such as 100,000 rows."
            )
        columns = [footer.schema.column(index) for index in range(footer.num_columns)]
        unrepeated = [
            (index, column.path) for index, column in enumerate(columns) if not column.max_repetition_level
        ]
        groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
        for group in groups:
            for index, name in unrepeated:
                values = group.column(index).num_values
                _check_rows(group.num_rows, values, f"values of {shorten(name)!r}", file)
        _check_rows(footer.num_rows, sum(group.num_rows for group in groups), "rows in its parts", file)
    except (OSError, ValueError, NotImplementedError) as error:
        raise _damaged_parquet(file, error) from None


def _check_rows(n_rows: int, n_values: int, what: str, file: str) -> None:
    if n_rows != n_values:
        raise Refused(
            f"{file}: its footer counts {n_rows:,} rows but {n_values:,} {what}, so it is unclear which "
            "rows it has. It is damaged or was put together by hand: write it again."
        )


def parquet_metadata(data: bytes) -> Mapping[str, str]:
    """Return the key-value pairs of the footer; empty if it cannot be read (`open_parquet` raises)."""
    try:
        return pl.read_parquet_metadata(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return {}


def parquet_schema(data: bytes, file: str) -> Mapping[str, pl.DataType]:
    """Map each column to its dtype; raises Refused if the footer is damaged."""
    try:
        return pl.read_parquet_schema(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged_parquet(file, error) from None


def first_parquet_values(data: bytes, columns: Sequence[str], n_rows: int) -> list[pl.Series]:
    """Return the first `n_rows` values of columns; null if they cannot be read (`open_parquet` raises)."""
    try:
        frame = pl.read_parquet(io.BytesIO(data), columns=list(columns), n_rows=n_rows)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        frame = pl.DataFrame({name: [None] for name in columns})
    return [undo_storage_types(frame[name]) for name in columns]


def open_parquet(data: bytes, file: str, is_used: ColumnFilter) -> RawTable:
    """Open a Parquet file; only the columns for which `is_used` is True are unpacked.

    Raises
    ------
    Refused
        The file is damaged or has more than `MAX_COLUMNS` columns.
    """
    names = tuple(parquet_schema(data, file))
    check_column_count(names, file)
    return RawTable(names, _parquet_slices(data, file, [name for name in names if is_used(name)]))


def _parquet_slices(data: bytes, file: str, names: list[str]) -> Iterator[Slice]:
    try:
        frame = pl.read_parquet(io.BytesIO(data), columns=names)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged_parquet(file, error) from None
    del data  # of a large file only the columns stay in memory
    for start in range(0, frame.height, PARQUET_ROWS_PER_SLICE):
        rows = frame.slice(start, PARQUET_ROWS_PER_SLICE)
        columns = {name: undo_storage_types(rows[name]) for name in names}
        yield Slice(rows.height, columns, None, (start + rows.height) / frame.height)


def _damaged_parquet(file: str, error: BaseException) -> Refused:
    if "too deeply nested" in str(error):
        return Refused(
            f"{file}: its columns are nested more than 100 levels deep, but at most 100 are read. It may "
            "be malicious. Write plain columns and lists."
        )
    return Refused(
        f"{file}: this is a Parquet file that cannot be read ({shorten(' '.join(str(error).split()), 200)}). "
        f"It may be half written or damaged: write or copy it again."
    )

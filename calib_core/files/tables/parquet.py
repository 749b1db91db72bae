"""How does a Parquet file become raw columns?

polars is given the bytes, never a path: it would take the text of a path for a pattern or an address.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from calib_core.files.tables.raw import MAX_COLUMNS, RawTable, Slice, Wanted
from calib_core.problems import Refused, shorten

MAGIC: Final = b"PAR1"
ROWS: Final = 262_144
"""Rows judged at a time."""


def metadata_of(data: bytes) -> Mapping[str, str]:
    """The key-value pairs of the footer; none where it cannot be read (`open_parquet` says why)."""
    try:
        return pl.read_parquet_metadata(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return {}


def schema_of(data: bytes, file: str) -> Mapping[str, pl.DataType]:
    """Column → dtype. Raises Refused where the footer is damaged."""
    try:
        return pl.read_parquet_schema(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(file, error) from None


def first_of_parquet(data: bytes, columns: Sequence[str], rows: int) -> list[pl.Series]:
    """The first values of these columns; null where they cannot be read (`open_parquet` says why)."""
    try:
        frame = pl.read_parquet(io.BytesIO(data), columns=list(columns), n_rows=rows)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        frame = pl.DataFrame({name: [None] for name in columns})
    return [_plain(frame[name]) for name in columns]


def open_parquet(data: bytes, file: str, wanted: Wanted) -> RawTable:
    """The rows of a Parquet file; only the wanted columns are unpacked.

    Raises Refused where the file is damaged or has too many columns.
    """
    names = tuple(schema_of(data, file))
    if len(names) > MAX_COLUMNS:
        raise Refused(
            f"{file}: the file has {len(names):,} columns and at most {MAX_COLUMNS:,} are read. "
            f"Keep only the columns that are needed."
        )
    return RawTable(names, _slices(data, file, [name for name in names if wanted(name)]))


def _slices(data: bytes, file: str, names: list[str]) -> Iterator[Slice]:
    try:
        frame = pl.read_parquet(io.BytesIO(data), columns=names)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(file, error) from None
    for start in range(0, frame.height, ROWS):
        part = frame.slice(start, ROWS)
        columns = {name: _plain(part[name]) for name in names}
        yield Slice(part.height, columns, None, (start + part.height) / frame.height)


def _plain(values: pl.Series) -> pl.Series:
    """The values with storage tricks undone: categories as text, arrays as lists, decimals as floats."""
    match values.dtype:
        case pl.Categorical() | pl.Enum():
            return values.cast(pl.String)
        case pl.Array(inner=inner):
            return values.cast(pl.List(inner))
        case pl.Decimal():
            return values.cast(pl.Float64)
        case _:
            return values


def _damaged(file: str, error: BaseException) -> Refused:
    return Refused(
        f"{file}: this is a Parquet file that cannot be read ({shorten(str(error), 200)}). "
        f"It may be half written or damaged: write or copy it again."
    )

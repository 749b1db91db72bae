"""Reads Arrow streams, as Hugging Face datasets saves them, and Arrow files (Feather 2), as raw columns.

Neither pyarrow nor polars checks offsets, lengths and texts as it reads them. So pyarrow validates the used
columns of every batch in full before polars sees them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.table.raw import ColumnFilter, RawTable, Slice, check_column_count, undo_storage_types

if TYPE_CHECKING:
    import pyarrow as pa

ARROW_FILE_MAGIC: Final = b"ARROW1"
_MESSAGE_MARK: Final = b"\xff\xff\xff\xff"
"""The first bytes of each message; the length of its metadata follows."""

ARROW_ROWS_PER_SLICE: Final = 262_144
"""Rows checked at a time. Smaller batches are combined, since some writers make a batch of every ten rows."""


def is_arrow(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is an Arrow file or stream."""
    length = int.from_bytes(start[4:8], "little", signed=True)
    return start.startswith(ARROW_FILE_MAGIC) or (start.startswith(_MESSAGE_MARK) and length > 0)


def arrow_schema(data: bytes, file: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the names of the columns, and the key-value pairs of the schema.

    Parameters
    ----------
    data
        All bytes of the file.
    file
        What messages call the file.

    Raises
    ------
    Refused
        The schema is damaged, two columns have the same name, or there are more than `MAX_COLUMNS`.
    """
    with _translate_errors(file):
        schema = _read_schema(data)
        names = tuple(schema.names)
        metadata = {
            key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
            for key, value in (schema.metadata or {}).items()
        }
    check_column_count(names, file)
    name, count = next(iter(Counter(names).most_common(1)), ("", 0))
    if count > 1:
        raise Refused(
            f"{file} has {count:,} columns named {shorten(name)!r}, so it is unclear which one is meant. "
            "Keep one."
        )
    return names, metadata


def first_arrow_values(data: bytes, columns: Sequence[str], n_rows: int) -> list[pl.Series]:
    """Return the first `n_rows` values of columns; null if they cannot be read (`open_arrow` raises)."""
    with suppress(Refused):
        for part in _arrow_slices(data, "", columns, n_rows):
            return [part.columns[name] for name in columns]
    return [pl.Series(name, [None]) for name in columns]


def open_arrow(data: bytes, file: str, is_used: ColumnFilter) -> RawTable:
    """Open an Arrow file; only the columns for which `is_used` is True are unpacked.

    Raises
    ------
    Refused
        As `arrow_schema`. The slices raise it if rows are damaged or missing.
    """
    names, _ = arrow_schema(data, file)
    used = [name for name in names if is_used(name)]
    return RawTable(names, _arrow_slices(data, file, used, ARROW_ROWS_PER_SLICE))


def _arrow_slices(data: bytes, file: str, names: Sequence[str], rows_per_slice: int) -> Iterator[Slice]:
    """Yield the rows in slices of at most `rows_per_slice`."""
    pending, n_pending = list["pa.RecordBatch"](), 0
    for batch, share in _valid_batches(data, file, names):
        pending.append(batch)
        n_pending += batch.num_rows
        if n_pending >= rows_per_slice:
            yield from _slices_of(pending, names, rows_per_slice, share)
            pending, n_pending = [], 0
    yield from _slices_of(pending, names, rows_per_slice, 1.0)


def _slices_of(
    batches: Sequence[pa.RecordBatch], names: Sequence[str], rows_per_slice: int, share: float
) -> Iterator[Slice]:
    import pyarrow as pa  # noqa: PLC0415  a tenth of a second that only Arrow files take

    table = pa.Table.from_batches(batches) if batches else pa.table({})
    for start in range(0, table.num_rows, rows_per_slice):
        rows = table.slice(start, rows_per_slice)
        columns = {name: _to_series(name, rows.column(name)) for name in names}
        yield Slice(rows.num_rows, columns, None, share)


def _to_series(name: str, values: pa.ChunkedArray[Any]) -> pl.Series:
    """Convert a validated column.

    A type that polars does not have (such as a union) becomes a struct that names it. Nothing reads a
    struct as values, so the column is reported if it is needed, and ignored if it is not.
    """
    import pyarrow as pa  # noqa: PLC0415  as above

    dtype: Any = values.type
    if pa.types.is_dictionary(dtype) and pa.types.is_primitive(dtype.value_type):
        values = values.cast(dtype.value_type)  # polars would make several batches of it text
    try:
        return undo_storage_types(pl.Series(name, values))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException, ValueError):
        unknown = pl.Series(name, [{"unknown Arrow type": str(dtype)}])
        return unknown.new_from_index(0, len(values))


def _valid_batches(data: bytes, file: str, names: Sequence[str]) -> Generator[tuple[pa.RecordBatch, float]]:
    """Yield the batches of these columns, and the share of the file up to the end of each.

    Raises
    ------
    Refused
        A batch is damaged, or batches are missing.
    """
    import pyarrow as pa  # noqa: PLC0415  as above

    with _translate_errors(file):
        positions = {name: position for position, name in enumerate(_read_schema(data).names)}
        options = pa.ipc.IpcReadOptions(
            use_threads=False, included_fields=[positions[name] for name in names]
        )
        read = _file_batches if data.startswith(ARROW_FILE_MAGIC) else _stream_batches
        for batch, share in read(data, file, options):
            batch.validate(full=True)
            yield batch, share


def _read_schema(data: bytes) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415  as above

    is_file = data.startswith(ARROW_FILE_MAGIC)
    return pa.ipc.open_file(data).schema if is_file else pa.ipc.open_stream(data).schema


def _file_batches(
    data: bytes, file: str, options: pa.ipc.IpcReadOptions
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Yield the batches that the footer lists; raises Refused if others lie between the messages."""
    import pyarrow as pa  # noqa: PLC0415  as above

    reader = pa.ipc.open_file(data, options=options)
    n_batches, n_stored = reader.num_record_batches, _count_batches(data)
    if n_batches != n_stored:
        raise Refused(
            f"{file}: its footer lists {n_batches:,} batches of rows, but it holds {n_stored:,}, so it is "
            "unclear which rows it has. It is damaged or was put together by hand: write it again."
        )
    for index in range(n_batches):
        yield reader.get_batch(index), (index + 1) / n_batches


def _count_batches(data: bytes) -> int:
    """Count the batches in an Arrow file without its footer, from message to message."""
    import pyarrow as pa  # noqa: PLC0415  as above

    source = pa.BufferReader(data)
    start = data.find(_MESSAGE_MARK)  # polars leaves out the mark of the first message, the schema
    source.seek(max(0, start))
    messages = pa.ipc.MessageReader.open_stream(source)
    return sum(message.type == "record batch" for message in messages)


def _stream_batches(
    data: bytes, file: str, options: pa.ipc.IpcReadOptions
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Yield the batches of a stream; raises Refused if it does not end where the file does."""
    import pyarrow as pa  # noqa: PLC0415  as above

    source = pa.BufferReader(data)
    reader = pa.ipc.open_stream(source, options=options)
    end = source.tell()
    with suppress(StopIteration):
        while True:
            batch = reader.read_next_batch()
            end = source.tell()
            yield batch, end / len(data)
    if source.tell() == end:  # no mark of the end was read
        raise Refused(
            f"{file} is cut off: it is an Arrow stream without an end mark, so rows may be missing. Write "
            "or copy it again."
        )
    if source.tell() < len(data):
        raise Refused(
            f"{file}: {len(data) - source.tell():,} bytes follow the end of its Arrow stream. Write each "
            "stream to a separate file."
        )


@contextmanager
def _translate_errors(file: str) -> Generator[None]:
    """Turn what pyarrow raises for a damaged file into `Refused`."""
    import pyarrow as pa  # noqa: PLC0415  as above

    try:
        yield
    except MemoryError:  # pyarrow's is also an ArrowException
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        text = " ".join(str(error).split())
        if "recursion depth" in text:
            raise Refused(
                f"{file}: its columns are nested more than 60 levels deep, but at most 60 are read. It may "
                "be malicious. Write plain columns and lists."
            ) from None
        raise Refused(
            f"{file}: this is an Arrow file that cannot be read ({shorten(text, 200)}). It may be half "
            f"written or damaged: write or copy it again."
        ) from None

"""An Arrow stream or file becomes raw columns, and nothing of a damaged one is used."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pytest

from calib_core.errors import Refused
from calib_core.readers.table import arrow_reader, raw

QUIZ: Final = pa.table(
    {
        "id": ["a", "b", "c", "d", "e"],
        "confidence": [0.5, 0.25, None, 1.0, 0.75],
        "subject": pa.array(["x", "y", None, "x", "y"]).dictionary_encode(),
    }
)


def written(table: pa.Table, writer: Any = pa.ipc.new_stream, rows_a_batch: int = 2, **options: Any) -> bytes:
    """The table as pyarrow writes it."""
    stored = io.BytesIO()
    with writer(stored, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as sink:
        sink.write_table(table, max_chunksize=rows_a_batch)
    return stored.getvalue()


def by_polars(write: Callable[..., object], **options: Any) -> bytes:
    """The quiz as polars writes it."""
    stored = io.BytesIO()
    write(pl.DataFrame(QUIZ), stored, **options)
    return stored.getvalue()


def columns(data: bytes, is_used: raw.ColumnFilter = raw.every_column) -> dict[str, list[object]]:
    """All values of the columns that are used."""
    parts = list(arrow_reader.open_arrow(data, "quiz.arrow", is_used).slices)
    return {name: pl.concat([part.columns[name] for part in parts]).to_list() for name in parts[0].columns}


@pytest.mark.parametrize(
    "data",
    [
        written(QUIZ),
        written(QUIZ, compression="lz4"),
        written(QUIZ, pa.ipc.new_file),
        written(QUIZ, pa.ipc.new_file, compression="zstd"),
        by_polars(pl.DataFrame.write_ipc_stream),
        by_polars(pl.DataFrame.write_ipc, record_batch_size=2),
        by_polars(pl.DataFrame.write_ipc, compression="zstd"),
    ],
    ids=["stream", "stream-lz4", "file", "file-zstd", "polars-stream", "polars-file", "polars-zstd"],
)
def test_every_writer_and_compression_gives_the_same_columns(data: bytes) -> None:
    assert arrow_reader.is_arrow(data)
    assert arrow_reader.arrow_schema(data, "quiz.arrow")[0] == tuple(QUIZ.column_names)
    assert columns(data) == QUIZ.to_pydict()


def test_only_wanted_columns_are_unpacked_and_checked() -> None:
    data = written(QUIZ).replace(b"abc"[:2], b"\xff\xff")  # the ids of the first batch are no text
    assert columns(data, lambda name: name == "confidence") == {"confidence": [0.5, 0.25, None, 1.0, 0.75]}
    with pytest.raises(Refused, match=r"Arrow file that cannot be read .*UTF8"):
        columns(data)


def test_small_batches_become_large_slices_and_large_batches_small_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrow_reader, "ARROW_ROWS_PER_SLICE", 3)
    for rows_a_batch, sizes in ((1, [3, 2]), (2, [3, 1, 1]), (5, [3, 2])):
        data = written(QUIZ, rows_a_batch=rows_a_batch)
        parts = list(arrow_reader.open_arrow(data, "quiz.arrow", raw.every_column).slices)
        assert [part.n_rows for part in parts] == sizes
        assert [part.share for part in parts] == sorted(part.share for part in parts)
        assert parts[-1].share > 0.9


def test_storage_tricks_are_undone_within_lists_too() -> None:
    table = pa.table(
        {
            "category": pa.array(["x", None]).dictionary_encode(),
            "number": pa.array([3, None]).dictionary_encode(),
            "fixed": pa.array([[0.5, 0.25], None], pa.list_(pa.float32(), 2)),
            "decimal": pa.array([Decimal("0.5"), None]),
            "decimals": pa.array([[Decimal("0.5")], None]),
            "labels": pa.array([["x", "y"], None], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
            "flag": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None], pa.int8())),
        }
    )
    data = written(table, rows_a_batch=1)
    (part,) = arrow_reader.open_arrow(data, "quiz.arrow", raw.every_column).slices
    dtypes = {name: values.dtype for name, values in part.columns.items()}
    assert dtypes == {
        "category": pl.String(),
        "number": pl.Int64(),
        "fixed": pl.List(pl.Float32()),
        "decimal": pl.Float64(),
        "decimals": pl.List(pl.Float64()),
        "labels": pl.List(pl.String()),
        "flag": pl.Int8(),
    }
    assert [values.to_list()[0] for values in part.columns.values()] == [
        "x", 3, [0.5, 0.25], 0.5, [0.5], ["x", "y"], 1,
    ]  # fmt: skip
    assert all(values.to_list()[1] is None for values in part.columns.values())


def test_a_type_that_is_not_known_stops_nothing_and_is_named() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    table = pa.table({"n": [1, 2], "union": union, "zone": pa.array([1, 2], pa.timestamp("s", "Mars/Base"))})
    found = columns(written(table))
    assert found["n"] == [1, 2]
    assert [str(found[name][1])[:40] for name in ("union", "zone")] == [
        "{'unknown Arrow type': 'sparse_union<0: ",
        "{'unknown Arrow type': 'timestamp[s, tz=",
    ]


def test_the_key_value_pairs_of_the_schema() -> None:
    data = written(QUIZ.replace_schema_metadata({b"calib": b"{}", b"\xff": b"\xff"}))
    assert arrow_reader.arrow_schema(data, "quiz.arrow")[1] == {"calib": "{}", "\ufffd": "\ufffd"}


@pytest.mark.parametrize("writer", [pa.ipc.new_stream, pa.ipc.new_file])
def test_no_beginning_of_a_file_is_read_as_the_whole(writer: Any) -> None:
    data = written(QUIZ.select(["id", "confidence"]), writer)
    for end in range(8, len(data)):
        with pytest.raises(Refused, match=r"^quiz.arrow.*(cut off|half written or damaged).*copy it again"):
            columns(data[:end])


OFFSETS: Final = struct.pack("<3i", 0, 1, 2)


@pytest.mark.parametrize("writer", [pa.ipc.new_stream, pa.ipc.new_file])
@pytest.mark.parametrize("lie", [(0, 1, 2**30), (0, -5, 2), (0, 2, 1)])
def test_offsets_out_of_bounds_are_refused_before_they_are_followed(
    writer: Any, lie: tuple[int, int, int]
) -> None:
    data = written(QUIZ.select(["id"]), writer)
    assert OFFSETS in data
    data = data.replace(OFFSETS, struct.pack("<3i", *lie))
    with pytest.raises(Refused, match=r"quiz.arrow: this is an Arrow file that cannot be read"):
        columns(data)
    (values,) = arrow_reader.first_arrow_values(data, ["id"], 10)
    assert values.to_list() == [None]


def test_first_values_are_no_more_than_asked_for() -> None:
    (values,) = arrow_reader.first_arrow_values(written(QUIZ), ["confidence"], 3)
    assert values.to_list() == [0.5, 0.25, None]


@pytest.mark.parametrize("told", [2, 0])
def test_a_footer_that_tells_of_other_batches_is_refused(told: int) -> None:
    data = written(QUIZ, pa.ipc.new_file)
    three, other = struct.pack("<I", 3), struct.pack("<I", told)
    size = struct.unpack("<I", data[-10:-6])[0]
    altered = [
        data[:at] + other + data[at + 4 :]
        for at in range(len(data) - size - 10, len(data) - 10)
        if data[at : at + 4] == three
    ]
    data = next(one for one in altered if pa.ipc.open_file(one).num_record_batches == told)
    with pytest.raises(Refused, match=rf"footer lists {told} batches of rows, but it holds 3.*damaged"):
        columns(data)


def test_two_streams_in_one_file_are_refused() -> None:
    data = written(QUIZ)
    with pytest.raises(Refused, match=rf"quiz.arrow: {len(data):,} bytes follow the end of its Arrow stream"):
        columns(data * 2)


def test_a_column_that_is_there_twice_is_refused() -> None:
    data = written(pa.table([pa.array([1])] * 3, names=["a", "b", "a"]))
    with pytest.raises(Refused, match=r"has 2 columns named 'a'.*Keep one"):
        columns(data)


def test_too_many_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw, "MAX_COLUMNS", 2)
    with pytest.raises(Refused, match=r"3 columns and at most 2"):
        columns(written(QUIZ))


def test_columns_nested_too_deep_are_refused() -> None:
    frame, stored = pl.DataFrame({"deep": 1}), io.BytesIO()
    for _ in range(70):
        frame = frame.select(deep=pl.struct("deep"))
    frame.write_ipc_stream(stored)
    with pytest.raises(Refused, match=r"quiz.arrow: its columns are nested more than 60 levels deep"):
        columns(stored.getvalue())


def test_a_claimed_size_beyond_all_memory_is_reported_as_such() -> None:
    data = written(QUIZ.select(["confidence"]), rows_a_batch=5, compression="zstd")
    at = data.index(b"\x28\xb5\x2f\xfd") - 8
    with pytest.raises(MemoryError):
        columns(data[:at] + struct.pack("<q", 2**60) + data[at + 8 :])

"""A Parquet file becomes raw columns, and a damaged one is refused clearly."""

from __future__ import annotations

import io
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calib_core.errors import Refused
from calib_core.readers.table import parquet_reader, raw


def parquet_bytes(frame: pl.DataFrame, **metadata: str) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata=metadata or None)
    return buffer.getvalue()


def slices(data: bytes) -> list[raw.Slice]:
    return list(parquet_reader.open_parquet(data, "quiz.parquet", lambda name: name != "unread").slices)


def test_only_wanted_columns_are_unpacked() -> None:
    data = parquet_bytes(pl.DataFrame({"a": [1], "unread": [2]}))
    table = parquet_reader.open_parquet(data, "quiz.parquet", lambda name: name == "a")
    assert table.columns == ("a", "unread")
    (part,) = table.slices
    assert list(part.columns) == ["a"]
    assert part.lines is None


def test_storage_tricks_are_undone() -> None:
    frame = pl.DataFrame(
        {
            "category": pl.Series(["x", None], dtype=pl.Categorical),
            "enum": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"])),
            "array": pl.Series([[0.5, 0.5], None], dtype=pl.Array(pl.Float32, 2)),
            "decimal": pl.Series([Decimal("0.5"), None]),
            "half": pl.Series([0.1, None], dtype=pl.Float16),
        }
    )
    (part,) = slices(parquet_bytes(frame))
    dtypes = {name: values.dtype for name, values in part.columns.items()}
    assert dtypes == {
        "category": pl.String(),
        "enum": pl.String(),
        "array": pl.List(pl.Float32()),
        "decimal": pl.Float64(),
        "half": pl.Float16(),
    }
    assert part.columns["array"].to_list() == [[0.5, 0.5], None]
    assert part.columns["decimal"].to_list() == [0.5, None]


def test_metadata_of_the_footer() -> None:
    data = parquet_bytes(pl.DataFrame({"a": [1]}), calib="{}")
    assert parquet_reader.parquet_metadata(data)["calib"] == "{}"
    assert parquet_reader.parquet_metadata(b"PAR1") == {}


@pytest.mark.parametrize("cut", [4, 20, -9])
def test_a_damaged_file_is_refused(cut: int) -> None:
    data = parquet_bytes(pl.DataFrame({"a": list(range(100))}))[:cut]
    with pytest.raises(Refused, match=r"Parquet file that cannot be read.*half written"):
        parquet_reader.parquet_schema(data, "quiz.parquet")


def test_a_damaged_page_is_refused() -> None:
    data = bytearray(parquet_bytes(pl.DataFrame({"a": [str(number) for number in range(1000)]})))
    data[8:200] = bytes(192)
    with pytest.raises(Refused, match=r"Parquet file that cannot be read"):
        slices(bytes(data))


def test_too_many_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw, "MAX_COLUMNS", 1)
    with pytest.raises(Refused, match=r"2 columns and at most 1"):
        slices(parquet_bytes(pl.DataFrame({"a": [1], "b": [2]})))


def test_slices_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_reader, "PARQUET_ROWS_PER_SLICE", 2)
    parts = slices(parquet_bytes(pl.DataFrame({"a": [1, 2, 3, 4, 5]})))
    assert [part.columns["a"].to_list() for part in parts] == [[1, 2], [3, 4], [5]]
    assert [part.share for part in parts] == [0.4, 0.8, 1.0]


ROWS_TOLD = (5003 << 1, (5002 << 1))
"""Rows of the files below, and one fewer, as Thrift's zigzag varints encode them."""


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def with_contradicting_footer(occurrence: int) -> bytes:
    """A file of 5,003 rows in one column whose footer states one row fewer in one of three places.

    The places, in the footer's order: the file's rows, the column's values, the row group's rows.
    """
    data = parquet_bytes(pl.DataFrame({"id": ["a"] * 5003}))
    size = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - size], data[-8 - size :]
    true, wrong = (varint(value) for value in ROWS_TOLD)
    parts = footer.split(true)
    assert len(parts) >= 4
    return body + true.join(parts[: occurrence + 1]) + wrong + true.join(parts[occurrence + 1 :])


def nested(levels: int) -> bytes:
    """A file with one column of structs within structs."""
    dtype: pa.DataType = pa.int64()
    value: object = 1
    for _ in range(levels):
        dtype, value = pa.struct([("a", dtype)]), {"a": value}
    buffer = io.BytesIO()
    pq.write_table(pa.table({"deep": pa.array([value], dtype), "n": [1]}), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("rows_a_group", [None, 1])
def test_footers_as_libraries_write_them_pass(rows_a_group: int | None) -> None:
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c", "d"],
            "n": [1, 2, None, 4],
            "l": [[1.0, 2.0], [], None, [3.0]],
            "s": [{"x": 1}, None, {"x": None}, {"x": 2}],
        }
    )
    by_polars, by_pyarrow = io.BytesIO(), io.BytesIO()
    frame.write_parquet(by_polars, row_group_size=rows_a_group)
    pq.write_table(frame.to_arrow(), by_pyarrow, row_group_size=rows_a_group)
    parquet_reader.check_footer(by_polars.getvalue(), "quiz.parquet")
    parquet_reader.check_footer(by_pyarrow.getvalue(), "quiz.parquet")


@pytest.mark.parametrize(
    ("occurrence", "words"),
    [
        (0, r"5,002 rows but 5,003 rows in its parts"),
        (1, r"5,003 rows but 5,002 values of 'id'"),
    ],
)
def test_counts_that_contradict_each_other_are_refused(occurrence: int, words: str) -> None:
    with pytest.raises(Refused, match=f"quiz.parquet: its footer counts {words}.*write it again"):
        parquet_reader.check_footer(with_contradicting_footer(occurrence), "quiz.parquet")


def test_too_many_row_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_reader, "MAX_ROW_GROUPS", 2)
    buffer = io.BytesIO()
    pl.DataFrame({"a": [1, 2, 3]}).write_parquet(buffer, row_group_size=1)
    with pytest.raises(Refused, match=r"cut into 3 row groups, but at most 2"):
        parquet_reader.check_footer(buffer.getvalue(), "quiz.parquet")


def test_a_schema_nested_too_deep_is_refused_before_polars_sees_it() -> None:
    parquet_reader.check_footer(nested(64), "quiz.parquet")
    with pytest.raises(Refused, match=r"quiz.parquet: its columns are nested more than 100 levels deep"):
        parquet_reader.check_footer(nested(120), "quiz.parquet")


@pytest.mark.parametrize("cut", range(4, 60, 5))
def test_a_damaged_footer_is_refused(cut: int) -> None:
    data = parquet_bytes(pl.DataFrame({"a": [1]}))
    for damaged in (data[: len(data) - 8 - cut] + data[-8:], data[:cut]):
        with pytest.raises(Refused, match=r"Parquet file that cannot be read.*half written"):
            parquet_reader.check_footer(damaged, "quiz.parquet")

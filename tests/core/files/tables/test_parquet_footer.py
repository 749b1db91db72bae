"""Is what a Parquet file's footer says of itself checked before the library unpacks anything?"""

from __future__ import annotations

import io

import polars as pl
import pytest

from calib_core.files.tables.parquet_footer import check_footer
from calib_core.problems import Refused

FRAME = pl.DataFrame({
    "id": ["a", "b", "c", "d"], "n": [1, 2, None, 4], "l": [[1.0, 2.0], [], None, [3.0]], "s": [{"x": 1}] * 4,
})


def written(rows_a_group: int | None = None) -> bytes:
    stored = io.BytesIO()
    FRAME.write_parquet(stored, row_group_size=rows_a_group)
    return stored.getvalue()


def of(body: bytes) -> bytes:
    """A file that is nothing but this footer."""
    return b"PAR1" + body + len(body).to_bytes(4, "little") + b"PAR1"


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def number(field: int, type_: int, value: int) -> bytes:
    """One field of a struct, its id counted from the one before."""
    return bytes([field << 4 | type_]) + varint(value << 1)


def column(name: bytes, values: int) -> bytes:
    """A column of a row group: its metadata with path and number of values."""
    path = bytes([3 << 4 | 9, 1 << 4 | 8, len(name)]) + name
    return bytes([3 << 4 | 12]) + path + number(2, 6, values) + b"\0" + b"\0"


def footer(told: int, *groups: tuple[int, bytes]) -> bytes:
    """A file that is nothing but a footer: its rows, and row groups of one column each."""
    listed = b"".join(
        bytes([1 << 4 | 9, 1 << 4 | 12]) + one + number(2, 6, rows) + b"\0" for rows, one in groups
    )
    return of(number(3, 6, told) + bytes([1 << 4 | 9, len(groups) << 4 | 12]) + listed + b"\0")


@pytest.mark.parametrize("rows_a_group", [None, 1])
def test_what_a_library_writes_passes(rows_a_group: int | None) -> None:
    check_footer(written(rows_a_group), "a.parquet")


def test_counts_that_agree_pass() -> None:
    check_footer(footer(5, (2, column(b"id", 2)), (3, column(b"id", 3))), "a.parquet")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (footer(3, (3, column(b"id", 4))), r"3 rows and of 4 values of 'id'"),
        (footer(4, (4, column(b"id", 3))), r"4 rows and of 3 values of 'id'"),
        (footer(9, (4, column(b"id", 4))), r"9 rows and of 4 rows in its parts"),
    ],
)
def test_counts_that_do_not_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(Refused, match=f"a.parquet: .*{said}.*write it again"):
        check_footer(data, "a.parquet")


def test_too_many_row_groups_are_refused() -> None:
    many = of(number(3, 6, 1) + bytes([1 << 4 | 9, 15 << 4 | 12]) + varint(20_001))
    with pytest.raises(Refused, match="20,001 row groups"):
        check_footer(many, "a.parquet")


def test_a_schema_nested_too_deep_is_refused() -> None:
    element = number(5, 5, 1) + b"\0"
    deep = of(bytes([2 << 4 | 9, 15 << 4 | 12]) + varint(100) + element * 100 + b"\0")
    with pytest.raises(Refused, match="nested 100 levels deep"):
        check_footer(deep, "a.parquet")


@pytest.mark.parametrize("cut", range(4, 60, 5))
def test_what_cannot_be_understood_is_left_to_the_library(cut: int) -> None:
    data = written()
    check_footer(data[: len(data) - 8 - cut] + data[-8:], "a.parquet")
    check_footer(data[:cut], "a.parquet")

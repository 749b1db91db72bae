"""Does a Parquet file become raw columns, and a damaged one a clear refusal?"""

from __future__ import annotations

import io
from decimal import Decimal

import polars as pl
import pytest

from calib_core.files.tables import parquet, raw
from calib_core.problems import Refused


def stored(frame: pl.DataFrame, **metadata: str) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata=metadata or None)
    return buffer.getvalue()


def slices(data: bytes) -> list[raw.Slice]:
    return list(parquet.open_parquet(data, "quiz.parquet", lambda name: name != "unread").slices)


def test_only_wanted_columns_are_unpacked() -> None:
    data = stored(pl.DataFrame({"a": [1], "unread": [2]}))
    table = parquet.open_parquet(data, "quiz.parquet", lambda name: name == "a")
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
    (part,) = slices(stored(frame))
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
    data = stored(pl.DataFrame({"a": [1]}), calib="{}")
    assert parquet.metadata_of(data)["calib"] == "{}"
    assert parquet.metadata_of(b"PAR1") == {}


@pytest.mark.parametrize("cut", [4, 20, -9])
def test_a_damaged_file_is_refused(cut: int) -> None:
    data = stored(pl.DataFrame({"a": list(range(100))}))[:cut]
    with pytest.raises(Refused, match=r"Parquet file that cannot be read.*half written"):
        parquet.schema_of(data, "quiz.parquet")


def test_a_damaged_page_is_refused() -> None:
    data = bytearray(stored(pl.DataFrame({"a": [str(number) for number in range(1000)]})))
    data[8:200] = bytes(192)
    with pytest.raises(Refused, match=r"Parquet file that cannot be read"):
        slices(bytes(data))


def test_too_many_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MAX_COLUMNS", 1)
    with pytest.raises(Refused, match=r"2 columns and at most 1"):
        slices(stored(pl.DataFrame({"a": [1], "b": [2]})))


def test_slices_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 2)
    parts = slices(stored(pl.DataFrame({"a": [1, 2, 3, 4, 5]})))
    assert [part.columns["a"].to_list() for part in parts] == [[1, 2], [3, 4], [5]]
    assert [part.share for part in parts] == [0.4, 0.8, 1.0]

"""Python values become columns without loss."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.readers.table.raw import as_json_text, series_from_values


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0.5, None], pl.Float64()),
        ([1, 2], pl.Int64()),
        ([True, None], pl.Boolean()),
        (["a"], pl.String()),
        ([None], pl.Null()),
        ([[0.5], None], pl.List(pl.Float64())),
        ([["a", None]], pl.List(pl.String())),
        ([[], None], pl.List(pl.Null())),
    ],
)
def test_values_of_one_type_keep_it(values: list[object], dtype: pl.DataType) -> None:
    series, nested = series_from_values("x", values)
    assert series.dtype == dtype
    assert series.to_list() == values
    assert not nested


def test_mixed_values_become_their_text() -> None:
    series, nested = series_from_values("x", [1, 2.5, "q", True, None, [0.5], {"a": "naïve"}])
    assert series.to_list() == ["1", "2.5", "q", "true", None, "[0.5]", '{"a": "naïve"}']
    assert nested == {5, 6}


def test_mixed_elements_become_their_text() -> None:
    series, _ = series_from_values("x", [[7, "7", 7.0, True, None]])
    assert series.to_list() == [["7", "7", "7.0", "true", None]]


def test_lists_of_lists_become_text() -> None:
    series, nested = series_from_values("x", [[["7"]], ["8"]])
    assert series.to_list() == ['[["7"]]', '["8"]']
    assert nested == {0, 1}


@pytest.mark.parametrize("big", [2**63, 2**70, -(2**70), 10**400])
def test_whole_numbers_beyond_64_bits_are_kept_to_the_last_digit(big: int) -> None:
    assert series_from_values("x", [big, 1])[0].to_list() == [str(big), "1"]
    assert series_from_values("x", [[big, 1]])[0].to_list() == [[str(big), "1"]]


def test_text_of_numbers_that_json_has_no_word_for() -> None:
    assert [as_json_text(value) for value in (float("nan"), float("inf"), -0.0)] == [
        "NaN",
        "Infinity",
        "-0.0",
    ]


@pytest.mark.parametrize(
    "lists",
    [
        [["a", "b"], ["c", "d"]],
        [["a"], None, ["b", None], ["c", "d", "e"]],
        [None, [1.5, 2.5], None],
        [[1], [], None, [2, 3]],
        [[], None],
        [[None], [None, None]],
        [[1, "a"], [2.5], None],
        [[True, False], [None, True]],
        [[2**70], [1]],
    ],
)
def test_lists_of_any_sizes_keep_their_values(lists: list[list[object] | None]) -> None:
    made, nested = series_from_values("x", lists)
    inner = {type(value) for part in lists if part for value in part if value is not None}
    as_they_are = len(inner) < 2 and 2**70 not in (lists[0] or [])
    texts = [None if part is None else [as_json_text(value) for value in part] for part in lists]
    assert made.to_list() == (lists if as_they_are else texts)
    assert (made.name, nested) == ("x", frozenset())

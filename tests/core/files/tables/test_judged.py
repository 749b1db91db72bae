"""How are wrong values shown?"""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from calib_core.files.tables.judged import faults, found, null, where, without


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"),
        (None, ""),
        (0.1, "0.1"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (True, "true"),
        ([0.5], "[0.5]"),
        ({"p": 0.5}, '{"p": 0.5}'),
        (date(2024, 1, 2), "2024-01-02"),
        (b"\x00", "b'\\x00'"),
    ],
)
def test_a_value_as_a_message_shows_it(value: object, shown: str) -> None:
    assert found(value) == shown


def test_long_values_are_cut_unless_asked_whole() -> None:
    assert len(found("x" * 100)) == 80
    assert found("x" * 100, limit=None) == "x" * 100


def test_faults_hold_every_position_and_the_first_twenty_values() -> None:
    raw = pl.Series([str(value) for value in range(50)])
    (fault,) = faults(raw, raw != "3", "kind", "expected", "fix")
    assert fault.at.size == 49
    assert fault.found[:4] == ("0", "1", "2", "4")
    assert len(fault.found) == 20
    assert faults(raw, raw == "x", "kind", "expected", "fix") == ()


def test_masks() -> None:
    assert where(pl.Series([True, None, False, True])).tolist() == [0, 3]
    assert without(pl.Series([[1], [2]]), pl.Series([False, True])).to_list() == [[1], None]
    assert null(pl.Series("x", [1, 2]), pl.String()).to_list() == [None, None]

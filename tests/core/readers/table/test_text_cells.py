"""Which values are texts, and which mean right or wrong."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from calib_core.readers.table import cells
from calib_core.readers.table.cells import JudgedColumn


def positions_by_kind(judged: JudgedColumn) -> dict[str, list[int]]:
    return {fault.kind: fault.positions.tolist() for fault in judged.faults}


def test_text_stays_as_it_is_written() -> None:
    written = ["007", "7", " q1", "NA", "None", "null", "1e3", "é"]
    assert cells.judge_text(pl.Series(written)).values.to_list() == written


def test_absent_text_is_missing() -> None:
    assert cells.judge_text(pl.Series(["", " \t", None, "x"])).values.to_list() == [None, None, None, "x"]


def test_numbers_and_dates_become_their_text() -> None:
    assert cells.judge_text(pl.Series([9007199254740993, None])).values.to_list() == [
        "9007199254740993",
        None,
    ]
    assert cells.judge_text(pl.Series([2.5, 7.0])).values.to_list() == ["2.5", "7.0"]
    assert cells.judge_text(pl.Series([True])).values.to_list() == ["true"]
    assert cells.judge_text(pl.Series([date(2024, 1, 2)])).values.to_list() == ["2024-01-02"]
    assert cells.judge_text(pl.Series([None, None])).values.to_list() == [None, None]


def test_no_number_is_no_text() -> None:
    judged = cells.judge_text(pl.Series([1.0, float("nan"), None]))
    assert (judged.values.to_list(), positions_by_kind(judged)) == (["1.0", None, None], {"not a text": [1]})


def test_several_values_are_not_one_text() -> None:
    judged = cells.judge_text(pl.Series([["A"], None, ["A", "B"]]))
    assert positions_by_kind(judged) == {"not a text": [0, 2]}
    assert judged.faults[0].examples == ('["A"]', '["A", "B"]')
    assert positions_by_kind(cells.judge_text(pl.Series([b"\x00"]))) == {"not a text": [0]}


def test_display_only_columns_may_hold_anything() -> None:
    judged = cells.judge_display_text(pl.Series([[{"role": "user", "content": "x" * 200}], None]))
    assert judged.values.to_list() == ['[{"role": "user", "content": "' + "x" * 200 + '"}]', None]


def test_an_empty_sample_was_given_all_the_same() -> None:
    assert cells.judge_sample_text(pl.Series(["", " ", None])).values.to_list() == ["", " ", None]


@pytest.mark.parametrize("right", ["1", "1.0", "true", "True", "YES", "y", "Correct", "right", "C", " 1 "])
def test_right_in_many_spellings(right: str) -> None:
    assert cells.judge_flag(pl.Series([right])).values.to_list() == [True]


@pytest.mark.parametrize("wrong", ["0", "0.0", "false", "False", "No", "N", "incorrect", "Wrong", "i"])
def test_wrong_in_many_spellings(wrong: str) -> None:
    assert cells.judge_flag(pl.Series([wrong])).values.to_list() == [False]


@pytest.mark.parametrize("missing", ["", " ", "Unparseable", None])
def test_no_outcome_is_missing(missing: str | None) -> None:
    judged = cells.judge_flag(pl.Series([missing, "1"], dtype=pl.String))
    assert judged.values.to_list() == [None, True]
    assert not judged.faults


@pytest.mark.parametrize("bad", ["2", "0.5", "-1", "maybe", "P", "nan"])
def test_unjudged_words_are_neither_right_nor_wrong(bad: str) -> None:
    judged = cells.judge_flag(pl.Series(["1", bad]))
    assert judged.values.to_list() == [True, None]
    assert positions_by_kind(judged) == {"neither right nor wrong": [1]}


def test_stored_outcomes() -> None:
    assert cells.judge_flag(pl.Series([True, None])).values.to_list() == [True, None]
    assert cells.judge_flag(pl.Series([1, 0, None], dtype=pl.Int8)).values.to_list() == [True, False, None]
    assert positions_by_kind(cells.judge_flag(pl.Series([1.0, 0.5, float("nan")]))) == {
        "neither right nor wrong": [1, 2]
    }
    assert positions_by_kind(cells.judge_flag(pl.Series([[1]]))) == {"neither right nor wrong": [0]}


def test_a_duration_is_text() -> None:
    values = pl.Series([1500, None], dtype=pl.Duration("ms"))
    assert cells.judge_sample_text(values).values.to_list() == ["PT1.5S", None]

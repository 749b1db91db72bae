"""Every known column has a judge and the dtype that the rest of the program relies on."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.readers.table.columns import (
    COLUMN_JUDGES,
    LIST_COLUMNS,
    PROBABILITY_COLUMNS,
    SINGLE_TEXT_COLUMNS,
    MappedName,
)
from calib_core.runs import ANSWER_SCHEMA, INFO_COLUMNS

INFO_DTYPES = {
    "model": pl.String(),
    "dataset": pl.String(),
    "shots": pl.Int32(),
    "checkpoint": pl.String(),
    "params_b": pl.Float64(),
    "tuning": pl.String(),
    "temperature": pl.Float64(),
    "tokens_seen": pl.Int64(),
    "choices_are": pl.String(),
}


def test_the_columns_are_those_of_a_row_and_those_of_its_run() -> None:
    assert set(COLUMN_JUDGES) == (set(ANSWER_SCHEMA) - {"row"}) | set(INFO_COLUMNS)
    assert set(INFO_DTYPES) == set(INFO_COLUMNS)


@pytest.mark.parametrize("name", COLUMN_JUDGES)
@pytest.mark.parametrize("raw", [pl.Series([None, None]), pl.Series(["", " "])], ids=["null", "blank"])
def test_an_all_null_column_keeps_its_dtype(name: str, raw: pl.Series) -> None:
    judged = COLUMN_JUDGES[name](raw)
    assert judged.values.dtype == {**ANSWER_SCHEMA, **INFO_DTYPES}[name]
    assert judged.values.to_list() == [None, None]
    assert not judged.faults


def test_prose_and_lists_are_not_held_to_be_one_text() -> None:
    assert {"id", "gold", "model"} <= SINGLE_TEXT_COLUMNS
    assert not {"question", "samples", "confidence"} & SINGLE_TEXT_COLUMNS


def test_lists_and_probabilities_are_told_by_their_judges_and_dtypes() -> None:
    assert {"samples", "choices", "choice_probs", "choice_logprobs", "choice_token_counts"} <= LIST_COLUMNS
    assert {
        "choice_other_mass",
        "confidence",
        "event_prob",
        "p_true",
        "p_false",
        "path_mean_prob",
        "answer_mean_prob",
        "verbal_confidence",
    } == PROBABILITY_COLUMNS


@pytest.mark.parametrize("name", ["params_b", "temperature", "tokens_seen"])
def test_what_only_describes_a_run_makes_no_row_bad(name: str) -> None:
    assert not COLUMN_JUDGES[name](pl.Series(["unknown"])).faults
    assert COLUMN_JUDGES["shots"](pl.Series(["unknown"])).faults


def test_a_column_of_words_takes_them_in_any_case_and_no_others() -> None:
    judged = COLUMN_JUDGES["choices_are"](pl.Series(["levels", "Options", "order", None]))
    assert judged.values.to_list() == ["levels", "options", None, None]
    (fault,) = judged.faults
    assert (fault.positions.tolist(), fault.expected) == ([2], "options or levels")


def test_printed_probabilities_may_miss_a_sum_of_one_by_their_last_digits() -> None:
    raw = pl.Series([[0.33, 0.33, 0.33], [0.33, 0.33, 0.32], [0.34, 0.34, 0.33], [0.3, 0.6]])
    strict, printed = (MappedName.parse(text).judge(raw) for text in ("choice_probs", "choice_probs:printed"))
    assert [fault.positions.tolist() for fault in strict.faults] == [[0, 1, 2, 3]]
    assert [fault.positions.tolist() for fault in printed.faults] == [[1, 3]]
    assert printed.values.to_list() == [[0.33, 0.33, 0.33], None, [0.34, 0.34, 0.33], None]

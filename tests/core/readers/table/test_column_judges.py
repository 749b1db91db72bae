"""Every known column has a judge and the dtype that the rest of the program relies on."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.readers.table.columns import (
    COLUMN_JUDGES,
    LIST_COLUMNS,
    PROBABILITY_COLUMNS,
    SINGLE_TEXT_COLUMNS,
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

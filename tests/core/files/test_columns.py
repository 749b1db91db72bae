"""Is every column of the contract judged, and into the dtype the floors above rely on?"""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.files.columns import COLUMNS, ONE_TEXT
from calib_core.records import ANSWER_SCHEMA, INFO_COLUMNS

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
    assert set(COLUMNS) == (set(ANSWER_SCHEMA) - {"row"}) | set(INFO_COLUMNS)
    assert set(INFO_DTYPES) == set(INFO_COLUMNS)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("raw", [pl.Series([None, None]), pl.Series(["", " "])], ids=["null", "blank"])
def test_a_column_where_nothing_is_there_has_its_dtype_all_the_same(name: str, raw: pl.Series) -> None:
    judged = COLUMNS[name](raw)
    assert judged.values.dtype == {**ANSWER_SCHEMA, **INFO_DTYPES}[name]
    assert judged.values.to_list() == [None, None]
    assert not judged.faults


def test_prose_and_lists_are_not_held_to_be_one_text() -> None:
    assert {"id", "gold", "model"} <= ONE_TEXT
    assert not {"question", "samples", "confidence"} & ONE_TEXT

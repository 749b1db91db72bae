"""Absent columns are empty, and every row is either used or missing for one reason."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from calib_core.errors import Unavailable
from calib_core.methods.columns import (
    as_float64,
    column,
    first_reason,
    missing_columns_phrase,
    origin_phrases,
    unanswered_reason,
    usable_rows,
)
from core.confidence_runs import run_of


def test_an_absent_column_is_all_null_in_its_dtype() -> None:
    run = run_of([{"gold": "1"}, {"gold": "2"}])
    assert column(run, "gold").to_list() == ["1", "2"]
    assert column(run, "samples").to_list() == [None, None]
    assert column(run, "samples").dtype == pl.List(pl.String)


def test_a_list_of_narrow_floats_is_widened_exactly() -> None:
    narrow = pl.Series([[0.1, None], None], dtype=pl.List(pl.Float32))
    assert as_float64(narrow).to_list() == [[0.10000000149011612, None], None]


def test_the_first_reason_counts_and_null_is_none() -> None:
    why = first_reason(
        3, ("one", pl.Series([True, None, False])), ("two", pl.Series([True, True, None], dtype=pl.Boolean))
    )
    assert why.to_list() == ["one", "two", None]


def test_rows_without_a_reason_are_usable_and_the_others_are_counted() -> None:
    rows, missing = usable_rows(run_of([{}] * 5), pl.Series(["b", None, "a", "b", None], dtype=pl.String))
    assert rows.tolist() == [1, 4]
    assert list(missing.items()) == [("b", 2), ("a", 1)]


def test_where_no_row_is_left_the_reasons_are_reported() -> None:
    with pytest.raises(Unavailable, match=r"^no row can be used: no gold \(rows: 2\), late \(rows: 1\)$"):
        usable_rows(run_of([{}] * 3), pl.Series(["late", "no gold", "no gold"]))
    with pytest.raises(Unavailable, match="the run has no rows"):
        usable_rows(run_of([]), pl.Series([], dtype=pl.String))


def test_a_status_without_an_answer_is_the_first_reason() -> None:
    run = run_of([{"status": said} for said in ("ok", "error", "refused", "unscored", "no_answer", None)])
    assert unanswered_reason(run).to_list() == [
        None,
        "status: error",
        "status: refused",
        "status: unscored",
        None,
        None,
    ]
    rows, missing = usable_rows(run, pl.Series([None, "late", None, None, None, "late"], dtype=pl.String))
    assert rows.tolist() == [0, 4]
    assert list(missing.items()) == [  # as often: by name
        ("late", 1),
        ("status: error", 1),
        ("status: refused", 1),
        ("status: unscored", 1),
    ]


def test_an_absent_column_is_told_from_an_empty_one() -> None:
    run = run_of([{"gold": None, "prediction": None}])
    assert missing_columns_phrase(run, "samples") == "no column samples"
    assert missing_columns_phrase(run, "samples", "p_true") == "no column samples or p_true"
    assert missing_columns_phrase(run, "gold") == "column gold is empty in every row"
    assert (
        missing_columns_phrase(run, "gold", "prediction")
        == "columns gold and prediction are empty in every row"
    )
    assert (
        missing_columns_phrase(run, "gold", "samples")
        == "no column samples, and column gold is empty in every row"
    )


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ([False, False], ("made",)),
        ([True, True], ("as stored",)),
        ([True] + [False] * 1019, ("made", "1 of 1,020 as stored")),
    ],
)
def test_the_recipe_counts_what_stands_in_the_file(stored: list[bool], said: tuple[str, ...]) -> None:
    assert origin_phrases(np.array(stored), "made", "as stored") == said

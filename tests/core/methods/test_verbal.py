"""The column is used as stored, in its dtype, and judged on the greedy answer."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.errors import Unavailable
from core.confidence_runs import Row, confidences, run_of


@pytest.mark.parametrize("dtype", [pl.Float16(), pl.Float32(), pl.Float64()])
def test_it_is_the_stored_value(dtype: pl.DataType) -> None:
    rows: list[Row] = [
        {"verbal_confidence": 0.3, "correct": True},
        {"verbal_confidence": None, "correct": True},
        {"verbal_confidence": 1.0, "correct": False},
        {"verbal_confidence": 0.5, "correct": None},
    ]
    result = confidences("verbal", run_of(rows, dtypes={"verbal_confidence": dtype}))
    stored = pl.Series([0.3, 1.0], dtype=dtype).to_numpy()
    assert result.pairs.confidence.dtype == stored.dtype
    assert result.pairs.confidence.tolist() == stored.tolist()
    assert result.pairs.correct.tolist() == [True, False]
    assert result.pairs.rows.tolist() == [0, 2]
    assert not result.pairs.computed
    assert result.recipe == ("as stated",)
    assert result.judged == "greedy answer"
    assert dict(result.missing) == {"empty confidence": 1, "no stored outcome": 1}


def test_the_greedy_answer_is_compared_with_gold_where_no_outcome_is_stored() -> None:
    rows: list[Row] = [
        {"verbal_confidence": 0.25, "prediction": "2.0", "gold": "2", "samples": ["3", "3"]},
        {"verbal_confidence": 0.75, "prediction": "3", "gold": "2"},
        {"verbal_confidence": 0.75, "gold": "2"},
    ]
    result = confidences("verbal", run_of(rows))
    assert result.pairs.correct.tolist() == [True, False]
    assert result.answers is not None
    assert result.answers.to_list() == ["2.0", "3"]
    assert dict(result.missing) == {"no prediction": 1}


def test_without_a_value_or_an_outcome_it_is_refused() -> None:
    with pytest.raises(Unavailable, match=r"^column verbal_confidence is empty in every row: "):
        confidences("verbal", run_of([{"verbal_confidence": None, "correct": True}]))
    with pytest.raises(Unavailable, match=r"^no gold and no outcome to judge by$"):
        confidences("verbal", run_of([{"verbal_confidence": 0.5}]))
    with pytest.raises(Unavailable, match=r"^no row can be used: empty confidence \(rows: 1\), no gold"):
        confidences(
            "verbal", run_of([{"correct": None, "gold": "1", "prediction": "1"}, {"verbal_confidence": 0.5}])
        )

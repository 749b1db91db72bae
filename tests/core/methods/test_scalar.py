"""Is a row used just when it has a value and an outcome?"""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.errors import Unavailable
from calib_core.methods.answers.outcomes import Outcomes
from calib_core.methods.row_confidences import RowConfidences, pair_with_outcomes
from core.confidence_runs import run_of

OUTCOME = Outcomes(
    judged="greedy answer",
    correct=pl.Series([True, None, False]),
    unknown_reason=pl.Series([None, "no gold", None], dtype=pl.String),
    answers=pl.Series(["a", "b", None]),
    remarks=("one remark",),
    recipe=("judged so",),
)
RUN = run_of([{}] * 3)


def test_the_value_s_reason_comes_before_the_outcome_s() -> None:
    scalar = RowConfidences(pl.Series([0.5, None, 0.25]), ("raw",), computed=True, remarks=("another",))
    said = pair_with_outcomes(RUN, scalar, OUTCOME)
    assert said.pairs.confidence.tolist() == [0.5, 0.25]
    assert said.pairs.correct.tolist() == [True, False]
    assert said.pairs.rows.tolist() == [0, 2]
    assert dict(said.missing) == {"empty confidence": 1}
    assert said.recipe == ("raw", "judged so")
    assert said.remarks == ("another", "one remark")
    assert said.answers is not None
    assert said.answers.to_list() == ["a", None]


def test_the_reason_of_the_method_is_kept() -> None:
    why = pl.Series(["too long", None, None], dtype=pl.String)
    said = pair_with_outcomes(
        RUN, RowConfidences(pl.Series([None, 0.5, 0.25]), (), computed=True, missing_reason=why), OUTCOME
    )
    assert dict(said.missing) == {"no gold": 1, "too long": 1}


def test_no_row_left_is_refused() -> None:
    with pytest.raises(Unavailable, match="empty confidence"):
        pair_with_outcomes(
            RUN, RowConfidences(pl.Series([None, 0.5, None], dtype=pl.Float64), (), computed=True), OUTCOME
        )

"""Is the path's confidence the mean probability of its tokens, judged on the answer it speaks of?"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.problems import Unavailable
from calib_core.records import RunInfo
from core import confidence_oracle as oracle
from core.confidence_oracle import Said
from core.confidence_runs import LOGS, Row, agrees, confidences, run_of


@st.composite
def question(draw: st.DrawFn) -> Row:
    return {
        "path_logprobs": draw(st.one_of(st.none(), st.lists(LOGS, max_size=6))),
        "correct": draw(st.sampled_from([True, False, None])),
    }


@given(st.lists(question(), min_size=1, max_size=6))
def test_it_is_the_exact_mean(rows: list[Row]) -> None:
    means = [oracle.mean_probability(row["path_logprobs"]) for row in rows]
    expected = [
        Said(mean, row["correct"]) if mean is not None and row["correct"] is not None else None
        for mean, row in zip(means, rows, strict=True)
    ]
    if any(expected):
        assert agrees(confidences("logit_path", run_of(rows)), expected)
    else:
        with pytest.raises(Unavailable):
            confidences("logit_path", run_of(rows))


def test_a_stored_mean_serves_only_a_run_without_lists_and_keeps_its_dtype() -> None:
    rows: list[Row] = [{"path_mean_prob": 0.3, "correct": True}, {"path_mean_prob": None, "correct": True}]
    said = confidences("logit_path", run_of(rows, dtypes={"path_mean_prob": pl.Float32()}))
    assert said.pairs.confidence.dtype == np.float32
    assert said.pairs.confidence.tolist() == [float(np.float32(0.3))]
    assert (said.pairs.computed, said.recipe) == (False, ("mean as stored",))
    assert dict(said.missing) == {"empty confidence": 1}
    both = confidences("logit_path", run_of([{**rows[0], "path_logprobs": [0.0]}, rows[0]]))
    assert both.pairs.confidence.tolist() == [1.0]
    assert (both.pairs.computed, both.recipe) == (True, ("mean token probability",))
    assert dict(both.missing) == {"no token log-probabilities": 1}


def test_it_is_judged_on_the_answer_it_was_computed_for() -> None:
    row: Row = {"path_logprobs": [-1.0], "gold": "1", "correct": True, "samples": ["2", "3", "3"]}
    right_majority: Row = {"path_logprobs": [-1.0], "gold": "3", "correct": False, "samples": ["2", "3", "3"]}
    rows = [row, right_majority]
    judged = {
        "greedy": ([True, False], "greedy answer"),
        "majority": ([False, True], "majority answer"),
        "sample_0": ([False, False], "first sampled answer"),
    }
    for answer in ("greedy", "majority", "sample_0"):
        said = confidences("logit_path", run_of(rows, RunInfo(path_of=answer, p_true_of="greedy")))
        assert (said.pairs.correct.tolist(), said.judged) == judged[answer]


def test_without_tokens_it_is_refused() -> None:
    with pytest.raises(Unavailable, match=r"^no column path_logprobs or path_mean_prob: "):
        confidences("logit_path", run_of([{"correct": True}]))

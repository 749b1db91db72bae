"""Is the held-out share that of the answer chosen by half of the samples, among the others?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.methods.self_consistency import HELD_OUT_JUDGED, HELD_OUT_PHRASE
from core import confidence_oracle as oracle
from core.confidence_runs import FEWER, Row, agrees, confidences, run_of, sampled_question


@pytest.mark.parametrize("rule", ["own", "one", "drop"])
@FEWER
@given(rows=st.lists(sampled_question(), min_size=1, max_size=6))
def test_it_is_the_exact_number(rule: str, rows: list[Row]) -> None:
    expected = [oracle.held_out_share(row, rule) for row in rows]
    if any(expected):
        assert agrees(confidences("cluster_size", run_of(rows), unparseable=rule, held_out=True), expected)
    else:
        with pytest.raises(Unavailable):
            confidences("cluster_size", run_of(rows), unparseable=rule, held_out=True)


def test_worked_example() -> None:
    rows: list[Row] = [
        {"gold": "1", "samples": ["1", "1", "2", "2", "2"]},  # 1 is chosen by two, and none of three gives it
        {"gold": "2", "samples": ["1", "1", "2", "1"]},
        {"gold": "1", "samples": ["2", "1"]},
    ]
    result = confidences("cluster_size", run_of(rows), held_out=True)
    assert result.pairs.confidence.tolist() == [0, 0.5, 0]
    assert result.pairs.correct.tolist() == [True, False, False]
    assert result.answers is not None
    assert result.answers.to_list() == ["1", "1", "2"]
    assert result.judged == HELD_OUT_JUDGED
    assert result.recipe[:2] == ("N=2–5", HELD_OUT_PHRASE)
    assert result.remarks == ()
    tied = run_of([{"gold": "1", "samples": ["1", "2", "1", "1"]}])
    assert confidences("cluster_size", tied, held_out=True).remarks == (
        "1 tie, the first sampled answer taken",
    )


@FEWER
@given(half=st.permutations(["1", "1", "1", "2", "x"]), other=st.permutations(["1", "1", "2", "2", "x", "3"]))
def test_the_order_within_a_half_does_not_matter(half: list[str], other: list[str]) -> None:
    result = confidences("cluster_size", run_of([{"gold": "1", "samples": half + other}]), held_out=True)
    assert result.pairs.confidence.tolist() == [2 / 6]


def test_rows_in_which_a_half_says_nothing_are_missing() -> None:
    rows: list[Row] = [
        {"gold": "1", "samples": ["1", "1"]},
        {"gold": "1", "samples": ["x", "1"]},
        {"gold": "1", "samples": ["x", "1", "1", "1"]},
        {"gold": "1", "samples": ["1", "1", "x", "x"]},
        {"gold": "1", "samples": ["1"]},
        {"gold": "1", "samples": ["x", "x"]},
    ]
    result = confidences("cluster_size", run_of(rows), unparseable="drop", held_out=True)
    assert result.pairs.confidence.tolist() == [1, 1]
    assert dict(result.missing) == {
        "no sample counts in the second half": 1,
        "no sample parses": 1,
        "one sample only": 2,
    }
    own = confidences("cluster_size", run_of(rows[1:2] + rows[3:4]), held_out=True)
    assert own.pairs.confidence.tolist() == [0]
    assert dict(own.missing) == {"no sample parses in the first half": 1}


def test_a_judgement_of_the_majority_of_all_is_no_outcome() -> None:
    row: Row = {"sample_cluster": [0, 0, 1, 1, 1], "correct_majority": True}
    assert confidences("cluster_size", run_of([row])).pairs.n == 1
    with pytest.raises(Unavailable, match="sample_correct, whether each sample is right, is missing"):
        confidences("cluster_size", run_of([row]), held_out=True)
    judged = {**row, "sample_correct": [False, False, True, True, True]}
    result = confidences("cluster_size", run_of([judged]), held_out=True)
    assert (result.pairs.confidence.tolist(), result.pairs.correct.tolist()) == ([0], [False])


@pytest.mark.parametrize("method", ["cluster_number", "pairwise"])
def test_the_other_two_are_no_share_of_an_answer_and_do_not_change(method: str) -> None:
    run = run_of([{"gold": "1", "samples": ["1", "2", "1", "3"]}])
    held_out: Any = METHODS[method].confidences(run, MethodOptions(held_out=True))
    assert not METHODS[method].holds_out
    assert held_out.pairs.confidence.tolist() == confidences(method, run).pairs.confidence.tolist()
    assert HELD_OUT_PHRASE not in held_out.recipe


def test_both_readings_of_one_run_stand_side_by_side() -> None:
    run = run_of([{"gold": "1", "samples": ["1", "1", "2", "2", "2"]}])
    values = [
        confidences("cluster_size", run, held_out=held_out).pairs.confidence[0]
        for held_out in (False, True, False)
    ]
    assert values == [0.6, 0, 0.6]

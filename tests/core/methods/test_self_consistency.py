"""Which rows have a self-consistency confidence, and the recipe of how it was computed."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.methods.answers.cluster import OPEN_ANSWERS_NEED, SAMPLES_REQUIRED
from core import confidence_oracle as oracle
from core.confidence_runs import FEWER, Row, agrees, confidences, run_of, sampled_question

METHODS = ("cluster_number", "cluster_size", "pairwise")
RULES = st.sampled_from(["own", "one", "drop"])
"""Drawn with the rows: each method is compared with the exact number under each rule by a test of its own."""


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_enough_samples_are_missing(method: str) -> None:
    rows: list[Row] = [
        {"gold": "1", "samples": ["1", "2"]},
        {"gold": "1", "samples": ["1"]},
        {"gold": "1", "samples": ["x", "y"]},
        {"gold": "1", "samples": []},
        {"samples": ["1", "1"]},
    ]
    result = confidences(method, run_of(rows))
    assert result.pairs.rows.tolist() == [0]
    assert dict(result.missing) == {
        "no gold": 1,
        "no sample parses": 1,
        "no samples": 1,
        "one sample only": 1,
    }


@pytest.mark.parametrize("method", METHODS)
def test_a_sample_left_out_may_leave_one_alone(method: str) -> None:
    rows: list[Row] = [{"gold": "1", "samples": ["1", "x"]}, {"gold": "1", "samples": ["1", "1"]}]
    assert confidences(method, run_of(rows)).pairs.n == 2
    assert confidences(method, run_of(rows), unparseable="one").pairs.n == 2
    result = confidences(method, run_of(rows), unparseable="drop")
    assert dict(result.missing) == {"one sample only": 1}


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_cannot_give_it_is_refused_with_the_reason(method: str) -> None:
    reasons: list[tuple[str, list[Row]]] = [
        (f"^no column samples, samples_parsed or sample_cluster: {SAMPLES_REQUIRED}$", [{"gold": "1"}]),
        ("^every row has only one sample; ", [{"gold": "1", "samples": ["1"]}, {"gold": "1", "samples": []}]),
        (
            "^no sample parses as a number: .*sample_cluster.* and sample_correct",
            [{"gold": "1", "samples": ["so it is 1", "it is 2"]}],
        ),
        (f"^no gold to compare the samples with; {re.escape(OPEN_ANSWERS_NEED)}$", [{"samples": ["1", "2"]}]),
        ("sample_correct, whether each sample is right, is missing$", [{"sample_cluster": [0, 0]}]),
        ("sample_correct, .* is missing$", [{"sample_cluster": [0, 0], "gold": "x"}]),
        ("^no column samples, samples_parsed or sample_cluster: ", [{"sample_correct": [True, False]}]),
        (r"one sample only \(rows: 1\)", [{"gold": "1", "samples": ["1"]}, {"samples": ["1", "2"]}]),
    ]
    for reason, rows in reasons:
        with pytest.raises(Unavailable, match=reason):
            confidences(method, run_of(rows))


def test_the_recipe_says_how_many_samples_which_equality_and_which_rule() -> None:
    rows: list[Row] = [
        {"gold": "1", "samples": ["1", "2"]},
        {"gold": "1", "samples": ["1", "x", "1", "2", "2"]},
    ]
    same = "answers compared as numbers"
    result = confidences("cluster_size", run_of(rows))
    assert result.recipe == ("N=2–5", same, "unparseable samples own clusters")
    assert result.remarks == ("2 ties, the first sampled answer taken", "1 sample does not parse")
    assert result.judged == "majority answer"
    assert result.pairs.computed
    alone = confidences("cluster_size", run_of(rows[1:]), unparseable="drop")
    assert alone.recipe == ("N=4", same, "unparseable samples left out")
    one = confidences(
        "cluster_size", run_of([{"gold": "Rome", "samples": ["Oslo", "Oslo"]}]), unparseable="one"
    )
    assert one.recipe == ("N=2", "answers compared as texts", "unparseable samples one cluster")
    assert one.remarks == ()
    labelled = confidences("cluster_size", run_of([{"sample_cluster": [1, 1], "correct_majority": True}]))
    assert labelled.recipe == ("N=2", "clusters as labelled in the file", "unparseable samples own clusters")


def test_open_texts_that_are_never_equal_are_told_to_be_compared_as_texts() -> None:
    all_different: list[Row] = [
        {"gold": "Rome", "samples": [f"Rome {at}", f"it is Rome {at}"]} for at in range(8)
    ]
    equal: list[Row] = [{"gold": "Rome", "samples": ["Rome", "Rome"]}] * 7
    remark = f"in 8 of 15 rows no two samples are equal as texts: {OPEN_ANSWERS_NEED}"
    assert remark in confidences("cluster_size", run_of([*all_different, *equal])).remarks
    number: list[Row] = [{"gold": str(at), "samples": ["1", "2"]} for at in range(20)]
    labelled = [{**row, "sample_cluster": [0, 1]} for row in [*all_different, *all_different]]
    for rows in ([*all_different, *equal, equal[0]], [*all_different, equal[0]], number, labelled):
        assert not any("equal as texts" in text for text in confidences("cluster_size", run_of(rows)).remarks)


def test_it_is_judged_on_the_majority_and_never_on_the_greedy_answer() -> None:
    rows: list[Row] = [
        {"gold": "18", "prediction": "18", "correct": True, "samples": ["17", "17", "18"]},
        {"gold": "17", "prediction": "18", "correct": False, "samples": ["17", "17", "18"]},
    ]
    result = confidences("cluster_size", run_of(rows))
    assert result.pairs.correct.tolist() == [False, True]
    assert result.answers is not None
    assert result.answers.to_list() == ["17", "17"]


def test_another_rule_is_not_answered_from_memory() -> None:
    run = run_of([{"gold": "1", "samples": ["1", "1", "x", "y"]}])
    values = [
        confidences("cluster_number", run, unparseable=rule).pairs.confidence[0]
        for rule in ("own", "one", "drop")
    ]
    assert values == [1 / 4, 2 / 4, 1 / 2]


@FEWER
@given(st.lists(sampled_question(every_parses=True), min_size=1, max_size=6))
def test_the_three_bound_each_other(rows: list[Row]) -> None:
    run = run_of(rows)
    number, size, pairwise = (confidences(method, run).pairs.confidence for method in METHODS)
    for at, row in enumerate(rows):
        n, clusters = len(row["samples"]), round((1 - number[at]) * len(row["samples"]))
        assert number[at] <= 1 - 1 / n + 1e-12
        assert pairwise[at] <= size[at] + 1e-12
        assert size[at] <= number[at] + 1 / n + 1e-12
        assert size[at] >= 1 / clusters - 1e-12
        assert pairwise[at] >= 2.0 ** -(clusters - 1) - 1e-12


@given(RULES, st.lists(sampled_question(), min_size=1, max_size=6))
def test_the_bounds_that_hold_where_some_do_not_parse(rule: str, rows: list[Row]) -> None:
    run = run_of([*rows, {"answer_kind": "number", "gold": "1", "samples": ["1", "1"]}])
    number, size, pairwise = (
        confidences(method, run, unparseable=rule).pairs.confidence for method in METHODS
    )
    used = confidences("cluster_size", run).pairs.rows
    counted = run.rows["samples"].list.len().gather(pl.Series(used)).to_list()
    assert (pairwise <= size + 1e-12).all()
    assert (number < 1).all()
    if rule == "own":
        assert all(value <= 1 - 1 / n + 1e-12 for value, n in zip(number, counted, strict=True))
        assert all(s <= c + 1 / n + 1e-12 for s, c, n in zip(size, number, counted, strict=True))


@st.composite
def many_samples(draw: st.DrawFn) -> Row:
    """A question with up to 64 samples, from unanimous to all different."""
    most = draw(st.integers(1, 64))
    answers = st.integers(0, most - 1).map(str) | st.none()
    drawn = st.lists(answers, min_size=1, max_size=64) | st.permutations([str(at) for at in range(most)])
    return {"answer_kind": "number", "gold": "0", "samples": draw(drawn)}


@given(RULES, st.lists(many_samples(), min_size=1, max_size=5))
def test_up_to_64_samples_are_exact(rule: str, rows: list[Row]) -> None:
    rows = [*rows, {"answer_kind": "number", "gold": "0", "samples": [str(at) for at in range(64)]}]
    run = run_of(rows)
    for method in METHODS:
        expected = [oracle.self_consistency(row, method, rule) for row in rows]
        assert agrees(confidences(method, run, unparseable=rule), expected)


@FEWER
@given(RULES, st.lists(many_samples(), min_size=1, max_size=5), st.data())
def test_another_order_of_samples_changes_nothing_but_ties(rule: str, rows: list[Row], data: Any) -> None:
    rows = [*rows, {"answer_kind": "number", "gold": "0", "samples": ["0", "0", "1"]}]
    shuffled = [{**row, "samples": data.draw(st.permutations(row["samples"]))} for row in rows]
    run, other = run_of(rows), run_of(shuffled)
    for method in METHODS:
        result = confidences(method, run, unparseable=rule)
        again = confidences(method, other, unparseable=rule)
        assert result.pairs.confidence.tolist() == again.pairs.confidence.tolist()
        assert (result.remarks, result.missing) == (again.remarks, again.missing)
        exact = [oracle.cluster_samples(rows[at], rule) for at in result.pairs.rows]
        untied = [at for at, one in enumerate(exact) if one is not None and not one.tied]
        assert result.pairs.correct[untied].tolist() == again.pairs.correct[untied].tolist()
        ties = sum(one is not None and one.tied for one in exact)
        tie_remarks = [text for text in result.remarks if "tie" in text]
        assert tie_remarks == (
            [f"{ties} tie{'s' * (ties > 1)}, the first sampled answer taken"] if ties else []
        )

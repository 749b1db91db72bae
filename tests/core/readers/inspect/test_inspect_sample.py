"""The scores of a sample, and what happens with unexpected values."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from calib_core.errors import Refused
from calib_core.results.files import check_file
from core.readers.inspect_logs import (
    SURE,
    confidences,
    letter_sample,
    log_of,
    read_json_log,
    results,
    run_of,
    sample,
)


@pytest.mark.parametrize(
    ("value", "correct", "note"),
    [
        ("C", True, ""),
        ("I", False, ""),
        ("N", False, ""),
        (1, True, ""),
        (0.0, False, ""),
        (True, True, ""),
        ("yes", True, ""),
        ("P", None, "partly right"),
        (0.25, None, "partly right"),
        (0.95, None, "partly right"),
        (math.nan, None, "not scored"),
        (None, None, "not scored"),
    ],
)
def test_the_values_of_scores(tmp_path: Path, value: object, correct: object, note: str) -> None:
    reading = read_json_log(tmp_path, log_of([sample(1, value=value), sample(2)]))
    assert run_of(reading).rows["correct"].to_list() == [correct, True]
    assert (note in " ".join(reading.notes)) if note else not reading.notes


@pytest.mark.parametrize("value", ["maybe", 7, -1, [1]])
def test_a_score_that_is_not_an_outcome_is_a_bad_row(tmp_path: Path, value: object) -> None:
    samples = [sample(1), sample(2, value=value), sample(3)]
    reading = read_json_log(tmp_path, log_of(samples))
    if value == [1]:  # the part of a value that has several: another score
        assert reading.n_rows == 3
    else:
        assert [(cell.row, cell.column) for cell in reading.problems[0].first_cells] == [(2, "scores.match")]


def test_of_several_scorers_the_first_counts_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    both = {"match": {"value": "I"}, "graded": {"value": "C", "answer": "four"}}
    log = log_of([sample(1, scores=both)], results=results(0.0))
    first = read_json_log(tmp_path, log)
    assert run_of(first).rows["correct"].to_list() == [False]
    assert "--map scores.graded=correct" in first.notes[0]
    other = read_json_log(tmp_path, log, columns={"scores.graded": "correct"})
    assert run_of(other).rows["correct"].to_list() == [True]
    assert run_of(other).rows["prediction"].to_list() == ["four"]
    assert run_of(other).reported_metrics[0].method is None
    assert first.group_columns == other.group_columns == ()


def test_one_of_several_score_values_has_to_be_chosen(tmp_path: Path) -> None:
    scores = {"judge": {"value": {"right": "C", "polite": 0}}}
    reading = read_json_log(tmp_path, log_of([sample(1, scores=scores)]))
    assert "correct" not in run_of(reading).rows.columns
    assert "--map scores.judge.right=correct" in reading.notes[0]
    said = read_json_log(
        tmp_path, log_of([sample(1, scores=scores)]), columns={"scores.judge.right": "correct"}
    )
    assert run_of(said).rows["correct"].to_list() == [True]


def test_what_a_scorer_adds_can_be_the_confidence(tmp_path: Path) -> None:
    scores = {"match": {"value": "C", "metadata": {"said": 0.75}}}
    reading = read_json_log(
        tmp_path, log_of([sample(1, scores=scores)]), columns={"scores.match.said": "confidence"}
    )
    assert confidences(run_of(reading), "given") == [(0.75, True)]


def test_an_old_log_has_one_score_without_a_name(tmp_path: Path) -> None:
    old = sample(1)
    old["score"] = old.pop("scores")["match"]
    assert run_of(read_json_log(tmp_path, log_of([old], results=results(1.0)))).rows["correct"].to_list() == [
        True
    ]


def test_several_right_letters_are_one_answer(tmp_path: Path) -> None:
    both = letter_sample(1, SURE, target="AC", said="A, C")
    run = run_of(read_json_log(tmp_path, log_of([both, letter_sample(2, SURE)])))
    assert run.rows["gold"].to_list() == ["A, C", "Rome"]
    assert run.rows["choice_logprobs"].to_list()[0] is None


def test_outcomes_alone_are_refused_with_rows_and_accuracy(tmp_path: Path) -> None:
    report = check_file(read_json_log(tmp_path, log_of([sample(1), sample(2, value="I")])))
    assert report.status == "refused"
    assert "2 rows" in report.message
    assert "Accuracy where outcomes are known: 0.5000" in report.message


@pytest.mark.parametrize("odd", [3, None, "x", [], {"value": []}])
@pytest.mark.parametrize("key", ["output", "scores", "metadata", "choices", "target", "input", "epoch", "id"])
def test_anything_may_stand_anywhere(tmp_path: Path, key: str, odd: object) -> None:
    reading = read_json_log(
        tmp_path, log_of([sample(1) | {key: odd}, letter_sample(2, SURE) | {key: odd}, sample(3)])
    )
    assert reading.n_rows in (2, 3)


@pytest.mark.parametrize("odd", ["x", math.nan, 2, True, [1], {"a": 1}])
def test_invalid_log_probabilities_are_bad_rows(tmp_path: Path, odd: object) -> None:
    samples = [letter_sample(1, SURE), letter_sample(2, {"A": 0.7, "B": odd, "C": 0.1})]
    reading = read_json_log(tmp_path, log_of(samples))
    assert {(cell.row, cell.column) for problem in reading.problems for cell in problem.first_cells} == {
        (2, "top_logprobs")
    }


def test_a_list_summing_above_one_is_a_bad_row(tmp_path: Path) -> None:
    reading = read_json_log(
        tmp_path, log_of([letter_sample(1, SURE), letter_sample(2, {"A": 0.9, "B": 0.4})])
    )
    assert [(cell.row, cell.column) for problem in reading.problems for cell in problem.first_cells] == [
        (2, "top_logprobs")
    ]


def test_an_invalid_value_listed_at_another_token_is_a_bad_row(tmp_path: Path) -> None:
    odd = letter_sample(2, SURE)
    odd["output"]["choices"][0]["logprobs"]["content"][0]["top_logprobs"][0]["logprob"] = 3.0
    reading = read_json_log(tmp_path, log_of([letter_sample(1, SURE), odd]))
    assert [(cell.row, cell.column) for problem in reading.problems for cell in problem.first_cells] == [
        (2, "top_logprobs")
    ]


def test_a_sample_that_is_not_an_object_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="sample 2 in it is not a JSON object"):
        read_json_log(tmp_path, log_of([sample(1), 3]))

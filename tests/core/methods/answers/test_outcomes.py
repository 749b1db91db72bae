"""The right answer is judged against the right gold, and nothing is filled in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.methods.answers.outcomes import Outcomes, answer_outcomes, greedy_correct
from calib_core.methods.method import MethodOptions
from calib_core.runs import AnswerSource
from core import confidence_oracle as oracle
from core.confidence_runs import ANSWERS, Row, confidences, run_of, sampled_question


def outcomes_of(answer: AnswerSource, *rows: Row) -> Outcomes:
    return answer_outcomes(run_of(rows), answer, MethodOptions())


def greedy_outcomes(*rows: Row) -> list[bool | None]:
    return greedy_correct(run_of(rows)).to_list()


@st.composite
def predicted_question(draw: st.DrawFn) -> Row:
    question = dict(draw(sampled_question()))
    question["prediction"] = draw(ANSWERS[question["answer_kind"]].map(lambda text: text or None))
    return question


@given(st.lists(predicted_question(), min_size=1, max_size=6))
def test_a_prediction_is_right_when_it_equals_gold_once_both_are_normalised(rows: list[Row]) -> None:
    assert greedy_outcomes(*rows) == [oracle.greedy_right(row) for row in rows]


def test_a_stored_outcome_comes_first_and_is_not_filled_in() -> None:
    rows: list[Row] = [
        {"gold": "1", "prediction": "2", "correct": True},
        {"gold": "1", "prediction": "1", "correct": None},
    ]
    found = outcomes_of("greedy", *rows)
    assert found.correct.to_list() == [True, None]
    assert found.unknown_reason.to_list() == [None, "no stored outcome"]
    assert found.answers.to_list() == ["2", "1"]


def test_one_of_several_golds_is_enough() -> None:
    rows: list[Row] = [
        {"gold_all": ["Rome", "Roma"], "prediction": "roma"},
        {"gold": "Rome", "gold_all": ["Roma"], "prediction": "Rome."},
        {"gold_all": ["Rome"], "prediction": "Paris"},
    ]
    assert greedy_outcomes(*rows) == [True, True, False]


def test_an_index_is_judged_where_there_is_no_text() -> None:
    rows: list[Row] = [
        {"gold_index": 2, "prediction_index": 2},
        {"gold_index": 2, "prediction_index": 1},
        {"gold_index": 2, "prediction": "(c)"},
        {"gold_index": 2, "prediction": None},
    ]
    assert greedy_outcomes(*rows) == [True, False, True, None]
    assert outcomes_of("greedy", *rows).unknown_reason.to_list() == [None, None, None, "no prediction"]
    assert outcomes_of("greedy", *rows).answers.to_list() == ["C", "B", "(c)", None]


def test_an_index_may_name_any_of_several_right_choices() -> None:
    asked = {"choices": ["x", "y", "x"], "gold": "x", "gold_index": 2, "gold_all": ["y"]}
    assert greedy_outcomes(*({**asked, "prediction_index": index} for index in range(3))) == [
        False,
        True,
        True,
    ]


def test_a_choice_is_right_by_text_letter_or_index() -> None:
    asked = {"choices": ["salt", "sugar"], "gold": "sugar", "gold_index": 1}
    rows: list[Row] = [{**asked, "prediction": said} for said in ("Sugar.", "B", "1", "A", "pepper")]
    assert greedy_outcomes(*rows) == [True, True, True, False, False]


def test_a_prediction_that_does_not_parse_is_wrong_and_counted() -> None:
    found = outcomes_of("greedy", {"gold": "1", "prediction": "none"}, {"gold": "2", "prediction": "2.0"})
    assert found.correct.to_list() == [False, True]
    assert found.remarks == ("1 prediction does not parse and counts as wrong",)


def test_equal_texts_are_equal_where_the_kind_reads_neither() -> None:
    rows: list[Row] = [
        {"answer_kind": "number", "gold": "x = 3", "prediction": said} for said in ("x = 3", "3")
    ]
    assert greedy_outcomes(*rows) == [True, None]
    assert outcomes_of("greedy", *rows).unknown_reason.to_list() == [None, "the gold does not parse"]


def test_a_longer_prediction_is_judged_by_what_stands_at_its_marker() -> None:
    rows: list[Row] = [
        {"gold": "16 - 3 = 13\n#### 13", "prediction": "He has 3. So the answer is $13.00."},
        {"gold": "13", "prediction": "He has 13 left"},
        {"gold": "13", "prediction": "The answer is 12. No: the answer is 13."},
    ]
    assert greedy_outcomes(*rows) == [True, False, False]


def test_the_majority_is_judged_by_gold_before_the_stored_judgement() -> None:
    found = outcomes_of(
        "majority",
        {"gold": "1", "samples": ["1", "2", "1.0"], "sample_correct": [False] * 3, "correct_majority": False},
        {"samples": ["5", "6", "6"], "sample_correct": [False, True, None], "correct_majority": False},
        {"samples": ["5", "6", "6"], "correct_majority": False},
        {"gold": "1", "samples": ["1", "2", "2"], "correct": True},
        {"samples": ["1", "2", "2"]},
    )
    assert found.correct.to_list() == [True, True, False, False, None]
    assert found.answers.to_list() == ["1", "6", "6", "2", "2"]
    assert found.unknown_reason.to_list() == [None, None, None, None, "no gold"]
    assert found.judged == "majority answer"


def test_where_the_file_labels_clusters_its_judgement_comes_first() -> None:
    asked = {"gold": "Paris", "samples": ["the capital", "Paris", "Rome"], "sample_cluster": [0, 0, 1]}
    found = outcomes_of(
        "majority",
        {**asked, "sample_correct": [True, True, False]},
        {**asked, "correct_majority": True},
        asked,
    )
    assert found.correct.to_list() == [True, True, False]


def test_the_first_sample_is_judged_where_the_file_says_so() -> None:
    found = outcomes_of(
        "sample_0",
        {"gold": "1", "samples": ["1", "2", "2"]},
        {"gold": "2", "samples": ["1", "2", "2"]},
        {"samples": ["1"], "sample_correct": [True]},
        {"gold": "1", "samples": ["1"], "sample_correct": [False]},
        {"gold": "2", "samples": []},
        {"gold": "2", "samples": ["what", "2"]},
        {"gold": "2", "samples_parsed": [None, "2"]},
        {"samples": ["2"]},
    )
    assert found.correct.to_list() == [True, False, True, True, None, False, False, None]
    assert found.unknown_reason.to_list() == [None] * 4 + ["no sampled answer", None, None, "no gold"]
    assert found.judged == "first sampled answer"


def test_labels_without_texts_need_a_stored_judgement() -> None:
    rows: list[Row] = [
        {"gold": "1", "sample_cluster": [0, 0, 1], "sample_correct": [True, True, False]},
        {"gold": "1", "sample_cluster": [0, 0, 1]},
    ]
    found = outcomes_of("majority", *rows)
    assert found.correct.to_list() == [True, None]
    assert found.unknown_reason.to_list() == [None, "no sampled answer"]


@pytest.mark.parametrize(
    ("row", "recipe"),
    [
        ({"gold": "Rome", "prediction": "rome"}, ("judged by prediction = gold, as text",)),
        ({"gold": "1", "prediction": "1.0"}, ("judged by prediction = gold, as number",)),
        ({"gold_index": 1, "prediction_index": 1}, ("judged by prediction = gold, as choice",)),
        ({"gold": "Rome", "prediction": "rome", "correct": False}, ()),
    ],
)
def test_an_outcome_that_no_file_states_is_part_of_the_recipe(row: Row, recipe: tuple[str, ...]) -> None:
    assert outcomes_of("greedy", row).recipe == recipe
    result = confidences("given", run_of([{**row, "confidence": 0.5}]))
    assert result.recipe == ("as given", *recipe)


def test_all_kinds_that_are_judged_are_named() -> None:
    kinds = ("number", "text", "choice")
    rows: list[Row] = [{"answer_kind": kind, "gold": "1", "prediction": "1"} for kind in kinds[:2]]
    unjudged: Row = {"answer_kind": "choice", "gold": "1"}
    assert outcomes_of("greedy", *rows, unjudged).recipe == (
        "judged by prediction = gold, as number or text",
    )


@pytest.mark.parametrize(
    ("right", "wrong", "warned"), [(0, 10, True), (1, 49, True), (1, 48, False), (0, 9, False)]
)
def test_free_text_that_hardly_ever_equals_its_gold_is_remarked(
    right: int, wrong: int, *, warned: bool
) -> None:
    rows: list[Row] = [{"gold": "Rome", "prediction": "Rome"}] * right
    rows += [{"gold": "Rome", "prediction": "It is Rome"}] * wrong
    said = (
        f"{right} of {right + wrong} predictions equal their gold as text: free text needs a separate "
        "judgement in the column correct"
    )
    assert outcomes_of("greedy", *rows).remarks == ((said,) if warned else ())


def test_a_row_whose_status_says_so_is_not_judged() -> None:
    rows: list[Row] = [{"status": status, "correct": False} for status in ("ok", "error", "no_answer")]
    assert greedy_outcomes(*rows) == [False, None, False]


def test_without_gold_and_outcome_there_is_nothing_to_judge_by() -> None:
    for answer in ("greedy", "majority", "sample_0"):
        with pytest.raises(Unavailable, match=r"^no gold and no outcome to judge by$"):
            outcomes_of(answer, {"prediction": "1", "samples": ["1", "2"]})
    with pytest.raises(Unavailable, match=r"^no greedy answer can be judged: no prediction$"):
        outcomes_of("greedy", {"gold": "1", "confidence": 0.5})

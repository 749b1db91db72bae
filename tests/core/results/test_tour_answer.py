"""The tour's first two steps: one answer and one bin."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.results.concentration import Concentration
from calib_core.results.tour import ConfidenceAccuracyPairs, SingleAnswer
from core.run_builders import make_answer_run
from core.token_run_builders import dense_sums, random_rows, token_run
from core.tour_runs import CALIBRATED, OVER, UNDER, block_answers, make_step


def test_the_answer_nearest_to_the_average() -> None:
    step = make_step("answer", block_answers((0.9, 2, 2), (0.6, 1, 0), (0.2, 2, 0)))
    assert step.sentences == (
        "Asked “What is 2?”, red answers “none” and is 60.0 % sure: that number is the confidence.",
        (
            "This answer is wrong (the right answer is “2”), but one answer cannot show whether 60.0 % is "
            "too much or too little: that takes all 5 answers."
        ),
    )
    assert isinstance(step.picture, SingleAnswer)
    assert [(one.text, round(one.confidence, 9), one.chosen, one.right) for one in step.picture.options] == [
        ("none", 0.6, True, False),
        ("answer is wrong", 0.4, False, None),
    ]
    assert "one whose confidence is closest to the average" in step.selection_note


def test_every_choice_of_a_question() -> None:
    run = make_answer_run(
        {
            "question": ["Which?"] * 2,
            "choices": [["a", "b", "c"]] * 2,
            "gold_index": [1, 1],
            "choice_probs": [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]],
        }
    )
    picture = make_step("answer", run, method="choice_softmax").picture
    assert isinstance(picture, SingleAnswer)
    assert [(one.text, one.confidence, one.chosen, one.right) for one in picture.options] == [
        ("a", 0.7, True, False),
        ("b", 0.2, False, True),
        ("c", 0.1, False, False),
    ]


def test_choices_without_texts_have_letters() -> None:
    run = make_answer_run({"gold_index": [0], "choice_probs": [[0.7, 0.3]]})
    step = make_step("answer", run, method="choice_softmax")
    assert isinstance(step.picture, SingleAnswer)
    assert [one.text for one in step.picture.options] == ["A", "B"]
    assert step.sentences[0].startswith("On row 1, model · quiz answers “A”")


def test_a_run_without_texts_says_the_row_or_the_id() -> None:
    bare = {"confidence": [0.5], "correct": [True]}
    assert make_step("answer", make_answer_run(bare)).sentences == (
        "On row 1, model · quiz gives an answer and is 50.0 % sure: that number is the confidence.",
        (
            "This answer is right, but one answer cannot show whether 50.0 % is too much or too little: "
            "that takes more than one answer."
        ),
    )
    assert (
        make_step("answer", make_answer_run({**bare, "id": ["q7"]}))
        .sentences[0]
        .startswith("On question q7, ")
    )


def test_a_long_question_is_cut_and_the_answer_stays() -> None:
    step = make_step(
        "answer",
        make_answer_run(
            {
                "question": ["word " * 200],
                "prediction": ["yes"],
                "confidence": [0.5],
                "correct": [True],
            }
        ),
    )
    assert "…”, model · quiz answers “yes”" in step.sentences[0]
    assert len(step.sentences[0]) < 330


def test_of_a_text_all_positions_are_shown() -> None:
    run = token_run(dense_sums(*random_rows(400, 5), text=np.arange(400) // 2))
    step = make_step("answer", run, method="tokens")
    assert isinstance(step.picture, Concentration)
    assert step.sentences[0].startswith(
        "At each of 400 positions of a text, model · text predicts the next token"
    )
    assert "The figure shows all positions" in step.sentences[1]
    assert make_step("bin", run, method="tokens").sentences[1].endswith("positions can tell.")
    unknown = make_step("bin", token_run(dense_sums(*random_rows(400, 5))), method="tokens")
    assert unknown.sentences[0].endswith(" of them are right.")
    assert unknown.sentences[1].endswith(
        ": chance may explain any difference, as positions of a text depend on one another."
    )


@pytest.mark.parametrize(
    ("blocks", "verdict"),
    [
        (CALIBRATED, "as often as the model says, as far as 100 answers can tell."),
        (OVER, "less often than the model says, by more than chance."),
        (UNDER, "more often than the model says, by more than chance."),
        (((0.9, 29, 1),), "29 answers are too few for a verdict."),
    ],
)
def test_the_fullest_bin(blocks: tuple[tuple[float, int, int], ...], verdict: str) -> None:
    assert make_step("bin", block_answers(*blocks)).sentences[1].endswith(verdict)


def test_the_numbers_of_the_fullest_bin() -> None:
    step = make_step("bin", block_answers(*OVER))
    assert step.sentences == (
        (
            "Sort the answers of red by confidence into ten bins. The fullest bin, 90–100 % (0.9, 1], "
            "holds 200 answers with a mean confidence of 95.0 %: calibrated means that 95.0 % of them are "
            "right, give or take 4.0 percentage points of chance."
        ),  # two bins: 2.24·√9.5 + 1.17 of 200 rows
        "120 of 200 are right, which is 60.0 %: less often than the model says, by more than chance.",
    )
    assert isinstance(step.picture, ConfidenceAccuracyPairs)
    (pair,) = step.picture.pairs
    assert (pair.mean_confidence, pair.accuracy, pair.count) == (pytest.approx(0.95), 0.6, 200)
    assert pair.low < 0.6 < pair.high < 0.95
    assert step.to_frame()["right"].to_list() == [0.6]


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [(1, "as often as the model says, as far as 500"), (12, "less often than the model says, by more than")],
)
def test_a_bin_of_stated_certainty(wrong: int, verdict: str) -> None:
    """1.00 stands for .995 and more, of which 1 wrong answer in 500 shows nothing."""
    step = make_step("bin", block_answers((1.0, 500, 500 - wrong)))
    assert step.sentences[0].endswith(" percentage points of chance and rounding.")
    assert verdict in step.sentences[1]
    all_right = make_step("bin", block_answers((1.0, 500, 500)))
    assert all_right.sentences[0].endswith("give or take 0.2 percentage points of chance.")


def test_one_row() -> None:
    step = make_step("bin", block_answers((0.9, 1, 1)))
    assert "holds 1 answer with a mean confidence of 90.0 %: calibrated" in step.sentences[0]
    assert step.sentences[1] == "1 of 1 is right, which is 100.0 %: 1 answer is too few for a verdict."


@pytest.mark.parametrize(
    ("said", "right", "told_of_it"),
    [
        (
            1.0,
            0,
            "wrong, so 100.0 % was too much, but one answer cannot show by how much: that takes",
        ),
        (
            0.0,
            9,
            "right, so 0.0 % was too little, but one answer cannot show by how much: that takes",
        ),
        (
            1.0,
            9,
            "right, but one answer cannot show whether 100.0 % is too much or too little: that",
        ),
    ],
)
def test_one_wrong_answer_makes_certainty_miscalibrated(said: float, right: int, told_of_it: str) -> None:
    run = make_answer_run({"confidence": [said] * 9, "correct": [right > 0] * 9})
    assert make_step("answer", run).sentences[1].startswith(f"This answer is {told_of_it}")


def test_few_answers_have_no_stated_spread() -> None:
    assert "give or take" in make_step("bin", block_answers((0.8, 30, 24))).sentences[0]
    one = make_step("bin", block_answers((0.5, 1, 1))).sentences[0]
    assert one.endswith("calibrated means that 50.0 % of them are right.")

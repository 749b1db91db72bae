"""The run that the tour is about, and the stated reason."""

from __future__ import annotations

from calib_core.results.tour import choice_reason, default_tour_run
from core.run_builders import make_answer_run
from core.token_run_builders import dense_sums, random_rows, token_run
from core.tour_runs import OVER, block_answers, candidates

TEXT = token_run(dense_sums(*random_rows(50, 4)))
FEW = make_answer_run({"confidence": [0.5] * 9, "correct": [True] * 9})


def test_answers_before_texts_and_of_them_the_run_that_other_pages_show() -> None:
    first, second = block_answers(*OVER, model="first"), block_answers(*OVER, (0.8, 500, 400), model="second")
    runs = candidates(TEXT, FEW, first, second)
    assert default_tour_run(runs) == "2"
    assert choice_reason(runs, "2") == "This run is the first of the 4 loaded that has at least 30 answers."
    assert default_tour_run(candidates(second, first)) == "0"
    assert default_tour_run(candidates(TEXT, FEW)) == "1"  # one answer teaches more than sums of positions
    assert default_tour_run(candidates(TEXT)) == "0"


def test_a_run_is_shown_by_the_method_that_stands_for_it() -> None:
    run = block_answers(*OVER, verbal_confidence=[0.5] * 29 + [None] * 271)
    runs = candidates(run, block_answers(*OVER))
    assert default_tour_run(runs) == "1"  # the first states too few confidences
    assert runs["0"].default_evidence.method.id == "verbal"


def test_every_case_has_a_reason() -> None:
    assert choice_reason(candidates(TEXT), "0") == "This is the only run loaded."
    assert choice_reason(candidates(TEXT, FEW), "1") == "This run has the most answers of the 2 runs loaded."
    reason = choice_reason(candidates(TEXT, TEXT), "0")
    assert reason == "This run is the first of the 2 loaded that has at least 30 positions."


def test_a_model_is_called_by_its_name() -> None:
    runs = candidates(block_answers(*OVER, model="blue"), FEW)
    assert [one.name for one in runs.values()] == ["blue", "model · quiz"]

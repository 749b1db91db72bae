"""Every step has two sentences with numbers, a picture and a recipe, on any data."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from calib_core.results.tour import STEP_KINDS, TourSubject, tour_step
from calib_core.runs import Run, RunInfo
from core.run_builders import make_answer_run
from core.sampled_runs import make_questions, make_run
from core.token_run_builders import dense_sums, random_rows, token_run
from core.tour_runs import CALIBRATED, OVER, UNDER, block_answers, candidates, step_text

TEXT = token_run(dense_sums(*random_rows(120, 5)))
HOSTILE = "![x](http://x.test) <b>y</b> $x^2$ :red[z]"

DATA: dict[str, tuple[list[Run], str]] = {
    "calibrated": ([block_answers(*CALIBRATED)], "given"),
    "over-confident": ([block_answers(*OVER)], "given"),
    "under-confident": ([block_answers(*UNDER)], "given"),
    "one row": ([block_answers((0.7, 1, 0))], "given"),
    "all certain": ([block_answers((1.0, 40, 40))], "given"),
    "all wrong": ([block_answers((0.0, 40, 0))], "given"),
    "a text": ([TEXT], "tokens"),
    "texts and answers": ([TEXT, block_answers(*OVER)], "tokens"),
    "forty runs": ([block_answers((0.9, 30, 20 + at % 9), model=f"m{at}") for at in range(40)], "given"),
    "samples": ([make_run(make_questions(12))], "cluster_size"),
    "hostile": ([block_answers(*OVER, model=HOSTILE, id=[HOSTILE] * 300)], "given"),
    "no texts": ([make_answer_run({"confidence": [0.4] * 50, "correct": [True, False] * 25})], "given"),
}


@pytest.mark.parametrize("name", DATA)
def test_two_sentences_with_numbers_a_picture_and_a_recipe(name: str) -> None:
    runs, method = DATA[name]
    subject = TourSubject("0", method, candidates(*runs))
    for kind in STEP_KINDS:
        step: Any = tour_step(kind, subject)
        assert step.kind == kind
        assert len(step.sentences) == 2
        for sentence in step.sentences:
            assert re.search(r"\d", sentence), sentence
            assert sentence.endswith(".")
            assert not re.search(r"nan|None|inf\b|  | ,|\.\.", sentence), sentence
        assert step.recipe
        assert step.selection_note.endswith(".")
        frame = step.to_frame()
        assert frame.height
        assert set(frame["recipe"]) == {step.recipe}


def test_five_steps_in_their_order() -> None:
    assert STEP_KINDS == ("answer", "bin", "whole", "bins", "models")


def test_every_step_is_about_one_run_and_one_accuracy() -> None:
    """A run with other confidences and samples, whose accuracies differ, is told by one method alone."""
    sampled = make_run(
        [{**row, "confidence": 0.9, "correct": at % 3 > 0} for at, row in enumerate(make_questions(60))]
    )
    run = replace(sampled, info=RunInfo(model="red", dataset="quiz"))
    subject = TourSubject("0", "given", candidates(run, block_answers(*OVER, model="blue")))
    accuracies = {
        method: f"{100 * (evidence.accuracy or 0):.1f} %"
        for method, evidence in subject.candidate.usable.items()
    }
    assert accuracies["given"] == "66.7 %"
    assert accuracies["cluster_size"] != "66.7 %"
    for kind in STEP_KINDS:
        step = tour_step(kind, subject)
        sentences = re.findall(r"red [^.]*is right (\d+\.\d %)", step_text(step))
        assert set(sentences) <= {"66.7 %"}
        assert accuracies["cluster_size"] not in step_text(step)
    assert "red scores 0" in step_text(tour_step("models", TourSubject("0", "given", candidates(run))))

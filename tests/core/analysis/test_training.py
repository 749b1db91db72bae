"""Does each line hold the numbers of its checkpoints, and does the sentence claim no more than the null?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from calib_core.analysis.evidence import Evidence, gather
from calib_core.analysis.null import null_of
from calib_core.analysis.score import score
from calib_core.analysis.training import training
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.records import RunInfo
from core.made_runs import made_run


def checkpoint(step: int, *parts: tuple[float, int, int], **info: Any) -> Evidence:
    """Rows in blocks of (confidence, rows, right ones among them), at this step."""
    run = made_run({
        "confidence": [value for value, rows, _ in parts for _ in range(rows)],
        "correct": [place < right for _, rows, right in parts for place in range(rows)],
    })
    told = RunInfo(**{"model": "gpt", "checkpoint": f"step{step}", **info})
    return gather(replace(run, info=told), "given")


OFF = ((0.9, 200, 100),)
LESS_OFF = ((0.9, 200, 140),)
RIGHT = ((0.9, 200, 180),)


def test_a_point_is_the_score_of_its_run() -> None:
    evidences = {"late": checkpoint(900, *RIGHT), "early": checkpoint(10, *OFF)}
    result = training(evidences, "ece", Scheme("width", 20))
    (line,) = result.lines
    assert [(point.run, point.at, point.label) for point in line.points] == [
        ("early", 10, "step10"), ("late", 900, "step900"),
    ]
    for point in line.points:
        evidence = evidences[point.run]
        number = score(evidence, "ece", Scheme("width", 20))
        null = null_of(evidence, METRICS["ece"], (Scheme("width", 20),), (number.value,))
        assert (point.value, point.recipe, point.p) == (number.value, number.recipe, number.p)
        assert null is not None
        assert (point.null_median, point.null_low, point.null_high) == (
            null.median[0], null.low[0], null.high[0],
        )
    assert (result.metric, result.bins, result.axis) == ("ece", 20, "Training step")


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (OFF, LESS_OFF, "both are beyond chance."),
        (LESS_OFF, OFF, "both are beyond chance."),
        (OFF, RIGHT, "beyond chance at first, within it at the end."),
        (RIGHT, OFF, "within chance at first, beyond it at the end."),
        (RIGHT, RIGHT, "both are within chance."),
    ],
)
def test_the_sentence_claims_what_the_null_allows(first: Any, last: Any, said: str) -> None:
    result = training({"a": checkpoint(10, *first), "b": checkpoint(2000, *last)}, "ece")
    low, high = (f"{point.value:.4f}" for point in result.lines[0].points)
    assert result.reading == f"ECE is {low} at step 10 and {high} at step 2,000: {said}"


def test_a_single_checkpoint_and_several_lines_are_spoken_of_too() -> None:
    evidences = {"a": checkpoint(10, *OFF), "b": checkpoint(20, *RIGHT, model="bigram")}
    assert training(evidences, "ece").reading == (
        "gpt: ECE is 0.4000 at step 10: beyond chance. "
        "bigram: ECE is 0.0000 at step 20: within chance."
    )


def test_a_metric_without_bins_has_no_null() -> None:
    result = training({"a": checkpoint(1, *OFF), "b": checkpoint(2, *RIGHT)}, "accuracy")
    assert [point.value for point in result.lines[0].points] == [0.5, 0.9]
    assert {point.p for point in result.lines[0].points} == {None}
    assert result.reading == "Accuracy is 0.5000 at step 1 and 0.9000 at step 2."


def test_tokens_seen_are_said_as_such() -> None:
    result = training({"a": checkpoint(1, *OFF, tokens_seen=8192)}, "ece")
    assert result.reading.startswith("ECE is 0.4000 at 8,192 tokens")


def test_who_cannot_give_the_metric_is_refused_by_name() -> None:
    result = training({"a": checkpoint(1, *OFF), "b": checkpoint(2, *OFF)}, "full_ece")
    assert result.lines == ()
    assert set(result.refused) == {"a", "b"}
    assert result.reading == "No run here is a checkpoint that gives this number."
    with pytest.raises(Unavailable):
        training({}, "no_such_metric")


def test_who_is_no_checkpoint_is_told_apart() -> None:
    result = training({"a": checkpoint(1, *OFF), "b": checkpoint(2, *OFF, checkpoint=None)}, "ece")
    assert list(result.without) == ["b"]
    assert len(result.lines[0].points) == 1


def test_the_frame_has_a_row_a_checkpoint() -> None:
    result = training({"a": checkpoint(1, *OFF), "b": checkpoint(2, *RIGHT)}, "ece")
    frame = result.to_frame()
    assert frame["line"].to_list() == ["gpt", "gpt"]
    assert frame["value"].to_list() == [point.value for point in result.lines[0].points]
    assert training({}, "ece").to_frame().columns == frame.columns

"""Training lines hold the numbers of their checkpoints; the headline claims only what the null allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.null import null_distribution
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.score import score
from calib_core.results.training import Training, training_curves, training_headline
from calib_core.runs import RunInfo
from core.figures.sweep_builders import make_line
from core.run_builders import make_answer_run


def checkpoint(step: int, *parts: tuple[float, int, int], **info: Any) -> Evidence:
    """Rows in blocks of (confidence, rows, right ones among them), at this step."""
    run = make_answer_run(
        {
            "confidence": [value for value, rows, _ in parts for _ in range(rows)],
            "correct": [place < right for _, rows, right in parts for place in range(rows)],
        }
    )
    told = RunInfo(**{"model": "gpt", "checkpoint": f"step{step}", **info})
    return gather_evidence(replace(run, info=told), "given")


OFF = ((0.9, 200, 100),)
LESS_OFF = ((0.9, 200, 140),)
RIGHT = ((0.9, 200, 180),)


def test_a_point_is_the_score_of_its_run() -> None:
    evidences = {"late": checkpoint(900, *RIGHT), "early": checkpoint(10, *OFF)}
    result = training_curves(evidences, "ece", Scheme("width", 20))
    (line,) = result.lines
    assert [(point.run, point.position, point.label) for point in line.points] == [
        ("early", 10, "step10"),
        ("late", 900, "step900"),
    ]
    for point in line.points:
        evidence = evidences[point.run]
        number = score(evidence, "ece", Scheme("width", 20))
        null = null_distribution(evidence, METRICS["ece"], (Scheme("width", 20),), (number.value,))
        assert (point.value, point.recipe, point.p) == (number.value, number.recipe, number.p)
        assert null is not None
        assert (point.null_median, point.null_low, point.null_high) == (
            null.median[0],
            null.low[0],
            null.high[0],
        )
    assert (result.metric, result.bins, result.axis) == ("ece", 20, "Training step")


@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        (OFF, LESS_OFF, "over-confident at first and at the end."),
        (LESS_OFF, OFF, "over-confident at first and at the end."),
        (OFF, RIGHT, "over-confident at first, no evidence of miscalibration at the end."),
        (RIGHT, OFF, "no evidence of miscalibration at first, over-confident at the end."),
        (RIGHT, RIGHT, "no evidence of miscalibration at first and at the end."),
    ],
)
def test_the_sentence_claims_what_the_null_allows(first: Any, last: Any, message: str) -> None:
    result = training_curves({"a": checkpoint(10, *first), "b": checkpoint(2000, *last)}, "ece")
    low, high = (f"{point.value:.4f}" for point in result.lines[0].points)
    assert result.headline == f"ECE {low} → {high}: {message}"
    clear = sum(part != RIGHT for part in (first, last))
    assert result.line_summaries == (
        f"gpt: ECE {low} at step 10, {high} at step 2,000; {clear} of 2 checkpoints miscalibrated.",
    )


def trainings(*ends: tuple[Any, Any], metric: str = "ece") -> Training:
    """A line of two checkpoints for each."""
    return training_curves(
        {
            f"{at}-{step}": checkpoint(step, *parts, model=f"m{at}")
            for at, pair in enumerate(ends)
            for step, parts in zip((10, 20), pair, strict=True)
        },
        metric,
    )


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (
            [(OFF, RIGHT), (OFF, OFF)],
            "1, the first on both.",
        ),
        (
            [(RIGHT, OFF), (OFF, OFF)],
            "both, the first on 1.",
        ),
        (
            [(OFF, RIGHT), (OFF, RIGHT), (RIGHT, RIGHT)],
            "none, the first on 2.",
        ),
        ([(RIGHT, OFF)] * 3, "all, the first on none."),
    ],
)
def test_several_lines_are_counted_in_one_sentence(ends: list[tuple[Any, Any]], message: str) -> None:
    result = trainings(*ends)
    opening = f"Of {len(ends)} lines, the last checkpoint is miscalibrated on "
    assert result.headline == opening + message
    assert [told.partition(":")[0] for told in result.line_summaries] == [line.title for line in result.lines]


def test_the_verdict_is_on_the_checkpoint_whatever_the_metric() -> None:
    headlines = {trainings((OFF, RIGHT), (RIGHT, RIGHT), metric=id_).headline for id_ in ("ece", "brier")}
    assert headlines == {"Of 2 lines, the last checkpoint is miscalibrated on none, the first on 1."}


def test_lines_with_too_few_rows_are_not_called_calibrated() -> None:
    known, unknown = make_line("a", (1, 0.3), (2, 0.2)), make_line("b", (1, 0.3), (2, 0.4), rows=20)
    assert training_headline("ece", [known, unknown]) == (
        "ECE is lower at the last checkpoint than at the first of 1 of 2 lines."
    )


def test_only_single_checkpoints_still_have_a_headline() -> None:
    evidences = {"a": checkpoint(10, *OFF), "b": checkpoint(20, *RIGHT, model="bigram")}
    result = training_curves(evidences, "ece")
    assert result.headline == "Each of the 2 lines has one checkpoint, so there is no way to follow."
    assert result.line_summaries == (
        "gpt: ECE 0.4000 at step 10; 1 of 1 checkpoint miscalibrated.",
        "bigram: ECE 0.0000 at step 20; 0 of 1 checkpoint miscalibrated.",
    )
    (_, alone) = evidences.popitem()
    assert (
        training_curves({"b": alone}, "ece").headline
        == "ECE is 0.0000 at its only checkpoint: no evidence of miscalibration."
    )


def test_a_model_s_only_checkpoint_is_shown_beside_lines_on_request() -> None:
    evidences = {
        "a": checkpoint(10, *OFF),
        "b": checkpoint(20, *RIGHT),
        "c": checkpoint(20, *OFF, model="bigram"),
    }
    plain, asked = training_curves(evidences, "ece"), training_curves(evidences, "ece", include_single=True)
    assert [line.title for line in plain.lines] == ["gpt"]
    assert list(plain.unplaced) == ["c"]
    assert "only checkpoint of its model" in plain.unplaced["c"]
    assert (
        plain.headline
        == "ECE 0.4000 → 0.0000: over-confident at first, no evidence of miscalibration at the end."
    )
    assert [line.title for line in asked.lines] == ["gpt", "bigram"]
    assert asked.unplaced == {}
    assert asked.headline == f"gpt: {plain.headline}"
    assert asked.line_summaries == plain.line_summaries


def test_a_metric_without_bins_has_no_null() -> None:
    result = training_curves({"a": checkpoint(1, *OFF), "b": checkpoint(2, *RIGHT)}, "accuracy")
    assert [point.value for point in result.lines[0].points] == [0.5, 0.9]
    assert {point.p for point in result.lines[0].points} == {None}
    assert result.headline == (
        "Accuracy 0.5000 → 0.9000: over-confident at first, no evidence of miscalibration at the end."
    )
    assert result.line_summaries == (
        "gpt: Accuracy 0.5000 at step 1, 0.9000 at step 2; 1 of 2 checkpoints miscalibrated.",
    )


def test_an_undefined_number_is_described_as_undefined() -> None:
    all_right = checkpoint(1, (0.9, 40, 40))
    result = training_curves({"a": all_right, "b": checkpoint(2, *OFF)}, "auroc")
    assert result.headline == (
        "AUROC not defined → 0.5000: no evidence of miscalibration at first, over-confident at the end."
    )
    assert result.line_summaries == (
        "gpt: AUROC not defined at step 1, 0.5000 at step 2; 1 of 2 checkpoints miscalibrated.",
    )
    assert training_curves({"a": all_right}, "auroc").headline == (
        "AUROC is not defined at its only checkpoint: no evidence of miscalibration."
    )


def test_tokens_seen_are_labelled_as_such() -> None:
    result = training_curves({"a": checkpoint(1, *OFF, tokens_seen=8192)}, "ece")
    assert result.line_summaries[0].startswith("gpt: ECE 0.4000 at 8,192 tokens")


def test_runs_without_the_metric_are_refused_by_name() -> None:
    result = training_curves({"a": checkpoint(1, *OFF), "b": checkpoint(2, *OFF)}, "full_ece")
    assert result.lines == ()
    assert set(result.unavailable) == {"a", "b"}
    assert result.headline == "No run here is a checkpoint that gives this number."
    with pytest.raises(Unavailable):
        training_curves({}, "no_such_metric")


def test_runs_that_are_not_checkpoints_are_listed_separately() -> None:
    result = training_curves({"a": checkpoint(1, *OFF), "b": checkpoint(2, *OFF, checkpoint=None)}, "ece")
    assert list(result.unplaced) == ["b"]
    assert len(result.lines[0].points) == 1


def test_the_frame_has_one_row_per_checkpoint() -> None:
    result = training_curves({"a": checkpoint(1, *OFF), "b": checkpoint(2, *RIGHT)}, "ece")
    frame = result.to_frame()
    assert frame["line"].to_list() == ["gpt", "gpt"]
    assert frame["value"].to_list() == [point.value for point in result.lines[0].points]
    assert training_curves({}, "ece").to_frame().columns == frame.columns

"""Training lines hold the numbers of their checkpoints; a change is claimed only by its interval."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.null import null_distribution
from calib_core.inference.pairing import row_number_advice
from calib_core.metrics import METRICS
from calib_core.results.changes import NO_ROWS_TO_PAIR
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence
from calib_core.results.score import score
from calib_core.results.training import (
    Training,
    default_training_metrics,
    line_summary,
    training_curves,
    training_headline,
)
from calib_core.results.uncertainty import paired_difference
from calib_core.runs import RunInfo
from calib_core.views.training import training_view
from calib_core.wording import as_clause, format_significant
from core.figures.sweep_builders import make_line
from core.run_builders import make_answer_run
from core.token_run_builders import dense_evidence, random_rows


def checkpoint(
    step: int, *parts: tuple[float, int, int], numbered: bool = True, **info: Any
) -> AnswerEvidence:
    """Rows in blocks of (confidence, rows, right ones among them), at this step; `numbered` from 0."""
    n_rows = sum(rows for _, rows, _ in parts)
    run = make_answer_run(
        {
            **({"id": [str(place) for place in range(n_rows)]} if numbered else {}),
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
        assert (point.value, point.recipe) == (number.value, number.recipe)
        assert point.verdict == evidence.verdict
        assert null is not None
        assert (point.null_median, point.null_low, point.null_high) == (
            null.median[0],
            null.low[0],
            null.high[0],
        )
    assert (result.metric, result.bins, result.axis) == ("ece", 20, "Training step")


UNCLEAR = ((0.9, 200, 177),)


@pytest.mark.parametrize(
    ("first", "last", "change"),
    [
        (OFF, LESS_OFF, "lower"),
        (LESS_OFF, OFF, "higher"),
        (OFF, RIGHT, "lower"),
        (RIGHT, UNCLEAR, "no clear"),
    ],
)
def test_a_change_is_said_by_the_difference_on_the_same_questions(first: Any, last: Any, change: str) -> None:
    evidences = {"a": checkpoint(10, *first), "b": checkpoint(2000, *last)}
    result = training_curves(evidences, "ece")
    low, high = (f"{point.value:.4f}" for point in result.lines[0].points)
    found = paired_difference([(evidences["a"], evidences["b"])], "ece")
    ends = f"{found.low:+.4f} to {found.high:+.4f}".replace("-", "−")
    value = f"{found.value:+.4f}".replace("-", "−")
    verb = {"lower": "falls", "higher": "rises"}.get(change, "does not clearly change")
    assert result.headline == (
        f"ECE {verb} from {low} at step 10 to {high} at step 2,000: {value} (95 % {ends}) on 200 questions."
    )
    n_off = sum(part in (OFF, LESS_OFF) for part in (first, last))
    assert result.line_summaries == (
        f"gpt: ECE {low} at step 10, {high} at step 2,000; {n_off} of 2 checkpoints miscalibrated.",
    )


def test_clear_here_and_not_clear_there_is_no_change() -> None:
    """One checkpoint is miscalibrated beyond chance and the other is not, and they may well be the same."""
    first, last = checkpoint(10, (0.9, 200, 170)), checkpoint(20, (0.9, 200, 174))
    assert (first.verdict.kind, last.verdict.kind) == ("over", "none")
    result = training_curves({"a": first, "b": last}, "ece")
    assert result.headline.startswith(
        "ECE does not clearly change from 0.0500 at step 10 to 0.0300 at step 20: "
    )
    assert ": −0.0200 (95 % " in result.headline


def test_checkpoints_that_cannot_be_paired_claim_no_change() -> None:
    evidences = {"a": checkpoint(10, *OFF, numbered=False), "b": checkpoint(20, *RIGHT, numbered=False)}
    result = training_curves(evidences, "ece")
    assert result.headline == "ECE falls from 0.4000 at step 10 to 0.0000 at step 20; not tested."
    assert result.line_summaries[0].endswith("1 of 2 checkpoints miscalibrated.")
    assert result.no_test_reason == (
        "The change is not tested: model · quiz and model · quiz cannot be paired: both need an id or the "
        f"question's text in every row. {row_number_advice()}"
    )


def test_token_runs_claim_no_change() -> None:
    """Only sums are kept, so nothing can be paired."""
    tokens: dict[str, Evidence] = {}
    for step in (10, 20, 30):
        made = dense_evidence(*random_rows(200, 4, seed=step))
        info = RunInfo(model="gpt", checkpoint=f"step{step}")
        tokens[str(step)] = replace(made, run=replace(made.run, info=info))
    result = training_curves(tokens, "ece")
    first, middle, last = (point.value or 0.0 for point in result.lines[0].points)
    verb = "falls" if last < first else "rises"
    n_steps = sum((later < earlier) == (last < first) for earlier, later in ((first, middle), (middle, last)))
    assert result.headline == (
        f"ECE {verb} from {first:.4f} at step 10 to {last:.4f} at step 30, in {n_steps} of 2 steps; "
        "not tested."
    )
    assert result.no_test_reason == f"The change is not tested: {as_clause(NO_ROWS_TO_PAIR)}."
    assert result.step_summaries[0].startswith("Does ECE fall throughout? As observed, the values fall in ")


def test_few_questions_claim_no_change() -> None:
    result = training_curves({"a": checkpoint(10, (0.9, 29, 2)), "b": checkpoint(20, (0.9, 29, 26))}, "ece")
    assert result.headline.startswith("ECE falls from ")
    assert result.headline.endswith(" at step 20; not tested.")
    change = result.lines[0].change
    assert change is not None
    assert change.reason == "Only 29 questions in common; a difference of ECE needs 60."


def trainings(*ends: tuple[Any, Any], metric: str = "ece") -> Training:
    """A line of two checkpoints for each."""
    return training_curves(
        {
            f"{at}-{step}": checkpoint(step, *parts, model=f"m{at}", numbered=parts is not UNPAIRED)
            for at, pair in enumerate(ends)
            for step, parts in zip((10, 20), pair, strict=True)
        },
        metric,
    )


UNPAIRED = ((0.9, 201, 100),)


def test_lines_that_cannot_be_compared_are_said_by_their_ends() -> None:
    apart = trainings((RIGHT, UNPAIRED), (UNPAIRED, RIGHT))
    alike = trainings((UNPAIRED, OFF), (UNPAIRED, OFF))
    assert apart.headline == "Of 2 lines, ECE falls without a test on 1 and rises without a test on 1."
    assert alike.headline == "Of 2 lines, ECE falls without a test on 2."


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([(OFF, RIGHT), (OFF, OFF)], "falls on 1 and does not clearly change on 1"),
        ([(RIGHT, OFF), (OFF, RIGHT)], "falls on 1 and rises on 1"),
        ([(OFF, RIGHT)] * 3, "falls on 3"),
        (
            [(RIGHT, OFF), (OFF, OFF), (UNPAIRED, OFF)],
            "rises on 1, does not clearly change on 1 and falls without a test on 1",
        ),
    ],
)
def test_several_lines_are_counted_in_one_sentence(ends: list[tuple[Any, Any]], message: str) -> None:
    result = trainings(*ends)
    n_tested = sum(UNPAIRED not in pair for pair in ends)
    note = f" (paired differences, corrected for {n_tested} differences (Holm))"
    assert result.headline == f"Of {len(ends)} lines, ECE {message}{note}."
    assert [told.partition(":")[0] for told in result.line_summaries] == [line.title for line in result.lines]


def test_each_of_several_lines_has_its_own_change() -> None:
    first, second = trainings((OFF, RIGHT), (OFF, OFF)).line_summaries
    assert ", 0.0000 at step 20: lower, −0.4000 (95 % −" in first
    assert ", 0.4000 at step 20: no clear change, +0.0000 (95 % " in second


def test_changes_of_several_lines_are_corrected_together() -> None:
    barely = (((0.9, 200, 168),), ((0.9, 200, 180),))
    alone, among = trainings(barely), trainings(barely, (RIGHT, RIGHT), (RIGHT, RIGHT))
    (single,), (first, *_) = alone.lines, among.lines
    assert single.change is not None
    assert first.change is not None
    assert single.change.p is not None
    assert first.change.p == pytest.approx(min(1, 3 * single.change.p))


def test_checkpoints_are_counted_by_q_over_all_lines() -> None:
    barely = (0.9, 200, 171)
    assert checkpoint(1, barely).verdict.p == pytest.approx(0.046, abs=0.001)
    alone = training_curves({"a": checkpoint(1, barely), "b": checkpoint(2, barely)}, "ece")
    assert alone.line_summaries[0].endswith("; 2 of 2 checkpoints miscalibrated.")
    fine = {f"{step}": checkpoint(step, *RIGHT) for step in range(3, 9)}
    among = training_curves({"a": checkpoint(1, barely), **fine}, "ece")
    assert among.line_summaries[0].endswith(
        "; 0 of 7 checkpoints miscalibrated. 1 checkpoint has p ≤ 0.05 but q > 0.05 and does not count."
    )
    assert among.lines[0].points[0].verdict.miscalibrated


def test_lines_with_too_few_rows_are_not_called_calibrated() -> None:
    known, unknown = make_line("a", (1, 0.3), (2, 0.2)), make_line("b", (1, 0.3), (2, 0.4), rows=20)
    assert line_summary(known, "ece", "Training step").endswith("; 2 of 2 checkpoints miscalibrated.")
    assert "calibrated" not in line_summary(unknown, "ece", "Training step")


def test_only_single_checkpoints_still_have_a_headline() -> None:
    evidences = {"a": checkpoint(10, *OFF), "b": checkpoint(20, *RIGHT, model="bigram")}
    result = training_curves(evidences, "ece")
    assert result.headline == "Each of the 2 lines has one checkpoint, so there is no change to follow."
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
    assert plain.headline.startswith("ECE falls from 0.4000 at step 10 to 0.0000 at step 20: −0.4000 (95 % ")
    assert [line.title for line in asked.lines] == ["gpt", "bigram"]
    assert asked.unplaced == {}
    assert asked.headline == f"gpt: {plain.headline}"
    assert asked.line_summaries == plain.line_summaries


def test_a_metric_without_bins_has_no_null() -> None:
    result = training_curves({"a": checkpoint(1, *OFF), "b": checkpoint(2, *RIGHT)}, "accuracy")
    assert [point.value for point in result.lines[0].points] == [0.5, 0.9]
    assert {point.null_median for point in result.lines[0].points} == {None}
    assert result.headline.startswith(
        "Accuracy rises from 0.5000 at step 1 to 0.9000 at step 2: +0.4000 (95 % "
    )
    assert result.line_summaries == (
        "gpt: Accuracy 0.5000 at step 1, 0.9000 at step 2; 1 of 2 checkpoints miscalibrated.",
    )


def test_an_undefined_number_is_described_as_undefined() -> None:
    all_right = checkpoint(1, (0.9, 40, 40))
    result = training_curves({"a": all_right, "b": checkpoint(2, *OFF)}, "auroc")
    assert result.headline == "AUROC is not defined at step 1 and 0.5000 at step 2; the change is not tested."
    assert result.line_summaries == (
        "gpt: AUROC not defined at step 1, 0.5000 at step 2; 1 of 2 checkpoints miscalibrated.",
    )
    assert result.no_test_reason == (
        "The change is not tested: AUROC is not defined on the questions both runs share."
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
    assert result.headline == "No run is a checkpoint with this metric."
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


def test_improving_throughout_needs_every_step_to_be_clear() -> None:
    def summary(*right: int, metric: str = "ece") -> str:
        made = {
            str(step): checkpoint(step, (0.9, 200, right_ones)) for step, right_ones in enumerate(right, 1)
        }
        return training_curves(made, metric).step_summaries[0]

    assert summary(80, 120, 160) == (
        "Does ECE fall throughout? Yes: each of the 2 steps is clearly lower, corrected for 2 differences "
        "(Holm)."
    )
    assert summary(80, 120, 160, metric="accuracy").startswith(
        "Does accuracy rise throughout? Yes: each of the 2 "
    )
    against = summary(80, 160, 120)
    assert against.startswith(
        "Does ECE fall throughout? No: clearly higher from step2 to step3, +0.2000 (95 % "
    )
    assert summary(80, 160, 162) == (
        "Does ECE fall throughout? Undecided: the values fall in 2 of 2 steps, 1 of them clearly, corrected "
        "for 2 differences (Holm)."
    )
    assert summary(160, 120, metric="accuracy").startswith(
        "Does accuracy rise throughout? No: clearly lower from "
    )
    assert (
        training_curves({"a": checkpoint(1, *OFF), "b": checkpoint(2, *RIGHT)}, "bias").step_summaries == ()
    )


def test_steps_of_runs_that_cannot_be_paired_are_only_counted() -> None:
    made = {
        str(step): checkpoint(step, *parts, numbered=False) for step, parts in enumerate((OFF, RIGHT, OFF), 1)
    }
    (summary,) = training_curves(made, "ece").step_summaries
    assert summary.startswith(
        "Does ECE fall throughout? As observed, the values fall in 1 of 2 steps, but not every step can be "
        "tested."
    )
    (twice, _) = training_curves(
        {**made, "b1": checkpoint(1, *OFF, model="b"), "b2": checkpoint(2, *RIGHT, model="b")}, "ece"
    ).step_summaries
    assert twice.startswith("gpt: Does ECE fall throughout?")


def test_steps_are_sorted_as_numbers_and_tokens_are_short() -> None:
    made = {name: checkpoint(step, *OFF) for name, step in (("b", 1000), ("a", 256))}
    (line,) = training_curves(made, "ece").lines
    assert [point.label for point in line.points] == ["step256", "step1000"]
    seen = training_curves({"a": checkpoint(1, *OFF, tokens_seen=12_800_000_000_000)}, "ece")
    assert "at 12.8T tokens" in seen.line_summaries[0]


def test_full_ece_leads_where_tokens_are_followed() -> None:
    assert default_training_metrics(dense_evidence(*random_rows(50, 4))) == ("full_ece", "nll", "accuracy")
    assert default_training_metrics(checkpoint(1, *OFF)) == ("ece", "accuracy")


def untrained_until(n_untrained: int, n_checkpoints: int) -> Training:
    """Full-ECE of a model whose first checkpoints give every token the same probability, up to rounding."""

    def at(step: int) -> Evidence:
        probs = (
            np.full((60, 40), 1 / 40)
            if step <= n_untrained
            else random_rows(60, 40, sharp=0.05, seed=step)[0]
        )
        evidence = dense_evidence(probs, np.arange(60) % 40)
        return replace(
            evidence, run=replace(evidence.run, info=RunInfo(model="gpt", checkpoint=f"step{step}"))
        )

    return training_curves({str(step): at(step) for step in range(1, n_checkpoints + 1)}, "full_ece")


def test_a_checkpoint_with_all_probabilities_in_one_bin_says_nothing_and_starts_no_change() -> None:
    result = untrained_until(1, 3)
    (line,) = result.lines
    assert [point.is_one_bin for point in line.points] == [True, False, False]
    assert line.points[0].value == pytest.approx(0, abs=1e-12)
    first, last = (point.value or 0.0 for point in line.informative_points)
    verb = "falls" if last < first else "rises"
    ends = f"from {format_significant(first)} at step 2 to {format_significant(last)} at step 3"
    assert result.headline == f"Full-ECE {verb} {ends}; not tested."
    assert result.line_summaries[0].startswith(f"gpt: Full-ECE {format_significant(first)} at step 2, ")
    assert len(line.steps) == 1
    assert "the values fall in " in result.step_summaries[0]
    assert " of 1 step, " in result.step_summaries[0]
    view = training_view(result)
    assert view.caveat == (
        "Hollow: at step1 all probabilities lie in one bin, where gaps cancel and Full-ECE is 0 whatever the "
        "model knows."
    )
    assert [text for name, text in view.facts if name == "Not tested"] == [result.no_test_reason]


def test_where_one_checkpoint_or_none_says_something_there_is_no_change() -> None:
    (one,) = untrained_until(2, 3).lines[0].informative_points
    assert untrained_until(2, 3).headline == (
        f"Full-ECE is {format_significant(one.value)} at the only checkpoint that says something."
    )
    assert untrained_until(2, 2).headline == (
        "Full-ECE is uninformative here: at each checkpoint all probabilities lie in one bin."
    )
    assert untrained_until(2, 3).lines[0].change is None


def test_values_that_are_written_alike_do_not_change() -> None:
    line = make_line("gpt", (1, 0.3), (2, 0.30001), (3, 0.2), (4, 0.20001))
    assert training_headline("ece", [line], "Training step") == (
        "ECE falls from 0.3000 at step 1 to 0.2000 at step 4, in 1 of 3 steps; not tested."
    )
    assert training_headline("ece", [replace(line, points=line.points[:2])], "Training step") == (
        "ECE is 0.3000 at step 1 and 0.3000 at step 2; the change is not tested."
    )

"""The tool's own numbers are compared with ours on the same rows, and differences explained."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calib_core.results.evidence import survey_methods
from calib_core.results.reported_metrics import (
    ReportedComparison,
    compare_reported_metrics,
    reported_metrics_frame,
)
from calib_core.runs import AnswerRun, ReportedMetric, RowCounts
from core.run_builders import make_answer_run


def run_with(*reported: ReportedMetric, left_out: int = 0) -> AnswerRun:
    """Four rows: three have a right top label, two a right greedy answer, one of them no outcome."""
    run = make_answer_run(
        {
            "subject": ["law", "law", "art", None],
            "choice_logprobs": [[-0.5, -1.0]] * 4,
            "gold_index": [0, 1, 0, 0],
            "correct": [True, False, True, None],
        }
    )
    return replace(run, reported_metrics=reported, row_counts=RowCounts(4 + left_out, left_out))


def compare_one(reported: ReportedMetric, left_out: int = 0) -> ReportedComparison:
    run = run_with(reported, left_out=left_out)
    (found,) = compare_reported_metrics(run, survey_methods(run).usable)
    return found


def test_a_methods_accuracy() -> None:
    found = compare_one(ReportedMetric("acc", 0.75, 4, "choice_softmax"))
    assert (found.ours, found.n_rows, found.agrees, found.reason) == (0.75, 4, True, "")
    assert "softmax" in found.ours_description


def test_the_greedy_answers_accuracy_is_of_known_outcomes() -> None:
    found = compare_one(ReportedMetric("exact_match", 2 / 3, 3, ""))
    assert (found.ours, found.n_rows, found.agrees) == (pytest.approx(2 / 3), 3, True)


def test_of_one_subject_alone() -> None:
    found = compare_one(ReportedMetric("acc", 0.5, 2, "choice_softmax", subject="law"))
    assert (found.ours, found.n_rows, found.agrees) == (0.5, 2, True)


def test_a_difference_is_explained_by_rows_and_by_the_tools_own_way() -> None:
    found = compare_one(ReportedMetric("acc", 0.6, 5, "choice_softmax", "It votes."), left_out=1)
    assert found.agrees is False
    assert found.reason == "The tool used 5 rows, Calib 4, as 1 bad row is left out. It votes."
    plain = compare_one(ReportedMetric("acc", 0.6, 4, "choice_softmax"))
    assert "the file does not explain the difference" in plain.reason


@pytest.mark.parametrize(
    ("value", "agrees"),
    [
        (0.667, "yes"),
        (0.6667, "yes"),
        (0.666667, "yes"),
        (0.67, "no"),
        (0.7, "no"),
        (0.668, "no"),
        (0.6665, "no"),
    ],
)
def test_a_number_that_agrees_to_three_or_more_decimals_is_equal(value: float, agrees: str) -> None:
    assert compare_one(ReportedMetric("exact_match", value, 3, "")).agrees is (agrees == "yes")


def test_without_a_counterpart_the_reason_is_given() -> None:
    assert compare_one(ReportedMetric("bytes", 0.5, 4, None, "By bytes.")).reason == "By bytes."
    assert compare_one(ReportedMetric("odd", 0.5)).reason
    lacking = compare_one(ReportedMetric("acc", 0.5, 4, "pairwise"))
    assert (lacking.ours, lacking.agrees) == (None, None)
    assert lacking.reason


def test_the_frame_has_one_row_per_number() -> None:
    run = run_with(ReportedMetric("acc", 0.75, 4, "choice_softmax"), ReportedMetric("bytes", 0.5))
    frame = reported_metrics_frame(compare_reported_metrics(run, survey_methods(run).usable))
    assert frame["ours"].to_list() == [0.75, None]
    assert frame["agrees"].to_list() == [True, None]
    assert reported_metrics_frame(()).is_empty()

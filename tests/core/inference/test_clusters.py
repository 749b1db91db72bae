"""Rows that repeat a question widen an interval as much as they should."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from calib_core.edges import Scheme
from calib_core.inference.clusters import (
    cluster_numbers,
    clustered_inflation,
    repeated_question_keys,
    sum_variance,
)
from calib_core.results.abstention import abstention_curve
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.overview import run_summary
from calib_core.results.reliability import reliability_diagram
from calib_core.results.uncertainty import metric_interval, paired_difference
from calib_core.runs import ANSWER_SCHEMA, RunInfo
from core.run_builders import make_answer_run

EVERY = ("accuracy", "brier", "ece")


def run_of(
    confidence: list[float], correct: list[bool], trial_of: Sequence[str | None] | None, **more: Any
) -> AnswerEvidence:
    ids = [f"r{at}" for at in range(len(correct))]
    columns = {"id": ids, "confidence": confidence, "correct": correct, **more}
    run = make_answer_run(columns if trial_of is None else {**columns, "trial_of": trial_of})
    return gather_evidence(replace(run, info=RunInfo(model="m")), "given")


def questions_asked_thrice(trial_of: list[str | None] | None = None, questions: int = 60) -> AnswerEvidence:
    """Sixty questions asked three times, with the same answer each time."""
    random = np.random.default_rng(5)
    confidence = np.repeat(0.5 + 0.5 * random.random(questions), 3)
    correct = np.repeat(random.random(questions) < 0.6, 3)
    return run_of(confidence.tolist(), correct.tolist(), trial_of)


def names(questions: int = 60) -> list[str | None]:
    return [f"q{at}" for at in range(questions) for _ in range(3)]


@pytest.mark.parametrize("metric", EVERY)
def test_copies_of_a_question_add_no_information(metric: str) -> None:
    repeated = questions_asked_thrice(names())
    once = run_of(repeated.pairs.confidence[::3].tolist(), repeated.pairs.correct[::3].tolist(), None)
    together, alone, unclustered = (
        metric_interval(repeated, metric),
        metric_interval(once, metric),
        metric_interval(questions_asked_thrice(), metric),
    )
    assert together is not None
    assert alone is not None
    assert unclustered is not None
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=5e-3)  # t for z
    assert together.high - together.low > 1.3 * (unclustered.high - unclustered.low)
    assert "60 questions, some repeated" in together.interval_method
    assert "repeated" not in unclustered.interval_method


@pytest.mark.parametrize(
    ("tenths", "residuals", "of_two_parts", "is_larger"),
    [
        ((1, 1, 2, 6), (-1, 0, 3, -2), (True, True), True),
        ((1, 1, 2, 6), (-3, -3, 2, 4), (True, False), True),
        ((1, 2, 3, 4), (0, -2, 3, -1), (False, True), True),
        ((1, 1, 2, 6), (-3, -2, -2, 7), (True, True), False),
    ],
)
def test_the_variance_of_a_sum_in_exact_fractions(
    tenths: tuple[int, ...], residuals: tuple[int, ...], of_two_parts: tuple[bool, bool], *, is_larger: bool
) -> None:
    """The jackknife's, or where it is larger what all sizes say: a Σ h + b Σ h², over 1 − Σ h²."""
    shares = [Fraction(one, 10) for one in tenths]
    n, pairs = len(shares), list(zip(residuals, shares, strict=True))
    jackknife = Fraction(n - 1, n) * sum((r / (1 - h)) ** 2 for r, h in pairs)
    rows, means = sum(r**2 / h for r, h in pairs), sum(r**2 / h**2 for r, h in pairs)
    a = (means - n * rows) / (sum(1 / h for h in shares) - n * n)
    b = rows - n * a
    assert (a > 0, b > 0) == of_two_parts
    a, b = (a, b) if min(a, b) > 0 else (Fraction(0), rows) if b > 0 else (rows / n, Fraction(0))
    squares = sum(h * h for h in shares)
    of_all = (a + b * squares) / (1 - squares)
    assert (of_all > jackknife) == is_larger
    found = sum_variance(np.array(residuals, float), np.array(tenths) / 10)
    assert found == pytest.approx(float(max(jackknife, of_all)))


def test_the_variance_of_a_sum_does_not_rest_on_one_large_cluster() -> None:
    """A cluster with half of the rows lies at the mean by chance; the others show how alike rows are."""
    residual, share = np.array([0.0, *[1.0, -1.0] * 10]), np.array([0.5, *[0.025] * 20])
    jackknife = 20 / 21 * 20 / 0.975**2
    assert sum_variance(residual, share) > 2 * jackknife
    assert sum_variance(np.append(residual, 0.0), np.append(share, 0.0)) == sum_variance(residual, share)
    equal = np.array([1.0, -2.0, 3.0, -2.0])
    assert sum_variance(equal, np.full(4, 0.25)) == pytest.approx(4 / 3 * 18)


def test_clustered_inflation_in_exact_fractions() -> None:
    """The jackknife's variance over that of independent rows, with half a question of equal rows added."""
    question = np.repeat(np.arange(4), 2)
    right = np.array([1, 1, 1, 0, 0, 0, 1, 0], bool)
    share = Fraction(1, 2)
    sums = [2 * (1 - share), 1 - 2 * share, -2 * share, 1 - 2 * share]
    jackknife = Fraction(3, 4) * sum((one / (1 - Fraction(1, 4))) ** 2 for one in sums)
    independent = 8 * share * (1 - share)  # of which each of the 4 questions has as much
    expected = (4 * jackknife / independent + Fraction(1, 2) * 2) / (4 + Fraction(1, 2))
    assert clustered_inflation(right - 0.5, question) == pytest.approx(float(expected))


def test_clustered_inflation_of_few_errors_is_near_that_of_equal_rows() -> None:
    """Each error in a question of its own: the fewer they are, the less is known of their correlation."""
    question = np.repeat(np.arange(40), 5)
    found: list[float] = []
    for n_errors in (40, 10, 2, 1):
        wrong = np.zeros(200)
        wrong[: 5 * n_errors : 5] = 1
        found.append(clustered_inflation(wrong - wrong.mean(), question))
    assert found == sorted(found)
    assert found[0] == 1  # one error in each question
    assert 2 < found[-1] < 5
    assert clustered_inflation(np.zeros(200), question) == 5
    assert clustered_inflation(np.array([0.5, -0.5]), np.zeros(2, np.intp)) == 2


def test_clustered_inflation_of_equal_rows_counts_each_by_its_kind() -> None:
    """One labelled row a question that weighs three times as much as another: (3 + 1)² over 3² + 1²."""
    question, kind = np.repeat(np.arange(30), 2), np.tile([0, 1], 30)
    assert clustered_inflation(np.zeros(60), question, kind) == 2
    sign = np.repeat(np.tile([1.0, -1.0], 15), 2)
    estimate = 30 / 29 * 16 / 10
    expected = (30 * estimate + 0.5 * 1.6) / 30.5
    assert clustered_inflation(sign * np.where(kind == 0, 3, 1), question, kind) == pytest.approx(expected)


def test_a_question_is_one_within_its_subject_and_rows_without_a_name_are_alone() -> None:
    trial_of: list[str | None] = ["a", "a", "a", None, None, "b"]
    subject = ["law", "law", "art", "law", "law", "law"]
    run = run_of([0.5] * 6, [True] * 6, trial_of, subject=subject).run
    named = repeated_question_keys(run)
    assert named is not None
    assert named[0] == named[1]
    assert named.n_unique() == 5
    numbers = cluster_numbers(run, np.arange(6))
    assert numbers is not None
    assert len(set(numbers.tolist())) == int(numbers.max()) + 1 == 5
    assert cluster_numbers(run, np.array([0, 2, 3])) is None  # none of these is repeated
    assert repeated_question_keys(run_of([0.5] * 2, [True] * 2, ["a", "b"]).run) is None
    assert repeated_question_keys(run_of([0.5] * 2, [True] * 2, None).run) is None


def test_rows_of_one_text_ask_one_question_unless_their_choices_or_right_answers_differ() -> None:
    asked: dict[str, list[object]] = {
        "question": ["2+2?", "2+2?", "which?", "which?", "which?", "one?", None, None, "1+1?", "1+1?"],
        "choices": [None, None, ["a", "b"], ["b", "a"], ["a", "c"], None, None, None, None, None],
        "gold": ["4", "4", "A", "B", "A", "1", "2", "2", "2", "10"],
    }

    def questions_of(**columns: Sequence[object]) -> list[int]:
        run = run_of([0.5] * 10, [True] * 10, None).run
        added = [pl.Series(name, values, ANSWER_SCHEMA[name]) for name, values in columns.items()]
        numbers = cluster_numbers(replace(run, rows=run.rows.with_columns(added)), np.arange(10))
        return list(range(10)) if numbers is None else numbers.tolist()

    assert questions_of(**asked) == [0, 0, 1, 1, 2, 3, 4, 5, 6, 7]
    trial_of: list[object] = ["x", "y", None, None, "y", None, None, None, None, None]
    assert questions_of(**asked, trial_of=trial_of) == [0, 1, 2, 2, 1, 3, 4, 5, 6, 7]
    subject: list[object] = ["law", "art", *["law"] * 8]
    assert questions_of(**asked, subject=subject) == [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]
    assert questions_of(question=[f"{at}?" for at in range(10)]) == list(range(10))
    assert questions_of(question=["again?"] * 10) == list(range(10)), "an instruction"
    assert questions_of(question=["again?"] * 9 + ["more?"]) == [0] * 9 + [1]
    gold_index: list[object] = [0, 1] * 5
    assert questions_of(question=["again?"] * 8 + ["more?"] * 2, gold_index=gold_index) == [0, 1] * 4 + [2, 3]


def test_design_effect_of_repeated_rows() -> None:
    assert run_of([0.5] * 4, [True] * 4, None).design_effect == 1
    assert run_of([0.5] * 6, [True] * 6, ["a", "b"] * 3).design_effect == 3
    assert run_of([0.5] * 6, [True] * 6, ["a", "a", "a", "a", "b", "c"]).design_effect == (16 + 1 + 1) / 6


def test_the_verdict_does_not_count_a_question_again() -> None:
    right = [at < 24 for at in range(60)]
    confidence = [0.5] * 60  # 24 of 60 right: 6 off, 1.5 σ; three times over it would be 2.7 σ
    again = run_of(confidence * 3, right * 3, [f"q{at % 60}" for at in range(180)])
    assert "No evidence of miscalibration" in reliability_diagram(again, "ece", Scheme()).headline
    assert run_summary("run", again).verdict.kind == "none"
    lone = run_of(confidence * 3, right * 3, None)
    assert "Over-confident" in reliability_diagram(lone, "ece", Scheme()).headline
    assert run_summary("run", lone).verdict.kind == "over"


def test_whiskers_of_bins_and_steps_do_not_count_a_question_again() -> None:
    again = questions_asked_thrice(names())
    once = run_of(again.pairs.confidence[::3].tolist(), again.pairs.correct[::3].tolist(), None)
    ends = ["accuracy_low", "accuracy_high"]
    bins = [
        reliability_diagram(seen, "ece", Scheme()).table.select(ends).to_numpy() for seen in (again, once)
    ]
    assert bins[0] == pytest.approx(bins[1])
    steps = [np.array(abstention_curve(seen).accuracy_interval) for seen in (again, once)]
    assert steps[0] == pytest.approx(steps[1])
    unclustered = reliability_diagram(questions_asked_thrice(), "ece", Scheme()).table.select(ends).to_numpy()
    assert (unclustered[:, 1] - unclustered[:, 0] < bins[0][:, 1] - bins[0][:, 0]).all()


def test_one_question_has_no_interval_but_of_its_accuracy() -> None:
    evidence = run_of([0.5, 0.6, 0.7], [True, False, True], ["a"] * 3)
    assert metric_interval(evidence, "brier") is None
    found = metric_interval(evidence, "accuracy")
    assert found is not None
    assert found.high - found.low > 0.7


def test_a_difference_draws_questions_whole() -> None:
    first, second = questions_asked_thrice(names()), questions_asked_thrice(names())
    other = run_of(
        np.clip(second.pairs.confidence + 0.1, 0, 1).tolist(), second.pairs.correct.tolist(), names()
    )
    together = paired_difference([(first, other)], "brier")
    assert together.n_questions == 60
    lone = run_of(other.pairs.confidence.tolist(), other.pairs.correct.tolist(), None)
    unclustered = paired_difference([(questions_asked_thrice(), lone)], "brier")
    assert unclustered.n_questions == 180
    assert together.value == pytest.approx(unclustered.value)
    assert together.high - together.low > 1.4 * (unclustered.high - unclustered.low)

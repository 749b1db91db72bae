"""Rows without a confidence are compared with the others exactly, and questions that repeat count as one."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from calib_core.inference.missingness import Missingness, compare_missing, missing_caveat


def exact_p(n_right: int, n: int, n_right_with: int, n_with: int) -> Fraction:
    """Twice the smaller tail of the hypergeometric distribution."""
    right, rows = n_right + n_right_with, n + n_with
    ways = [comb(right, k) * comb(rows - right, n - k) for k in range(n + 1)]
    tails = sum(ways[: n_right + 1]), sum(ways[n_right:])
    return min(Fraction(1), Fraction(2 * min(tails), comb(rows, n)))


def compared(n_right: int, n: int, n_right_with: int, n_with: int) -> Missingness:
    correct = np.concatenate([np.arange(n) < n_right, np.arange(n_with) < n_right_with])
    return compare_missing(correct, np.arange(n + n_with) >= n)


@pytest.mark.parametrize(
    "counts",
    [(0, 3, 9, 9), (0, 117, 531, 683), (5, 5, 20, 60), (2, 20, 50, 80), (1, 1, 1, 40), (9, 30, 200, 400)],
)
def test_the_p_value_is_exact(counts: tuple[int, int, int, int]) -> None:
    found = compared(*counts)
    assert (found.n_right, found.n, found.n_right_with, found.n_with) == counts
    assert found.p == pytest.approx(float(exact_p(*counts)), rel=1e-9)


def test_equal_accuracies_are_not_clear() -> None:
    found = compared(7, 10, 70, 100)
    assert found.p is not None
    assert found.p > 0.5
    assert (found.accuracy_without, found.accuracy_with, found.finding) == (0.7, 0.7, "")


@pytest.mark.parametrize(("p", "clear"), [(0.05, True), (0.0501, False), (None, False)])
def test_a_difference_is_clear_up_to_one_in_twenty(p: float | None, clear: bool) -> None:  # noqa: FBT001
    found = Missingness(10, 1, 90, 60, p)
    assert found.is_clear is clear
    assert bool(found.finding) is clear


def test_the_finding_says_how_many_and_in_which_direction() -> None:
    assert Missingness(1, 1, 99, 50, 0.04).finding == (
        "1 of 100 rows has no confidence and is right more often (100.0 % against 50.5 %)"
    )


def test_trials_that_are_copies_make_nothing_clearer() -> None:
    correct, has_confidence = np.arange(80) >= 24, np.arange(80) % 8 > 0
    correct[::8] = np.arange(10) < 4
    once = compare_missing(correct, has_confidence)
    question = np.repeat(np.arange(80), 5)
    trials = compare_missing(np.repeat(correct, 5), np.repeat(has_confidence, 5), question)
    as_rows = compare_missing(np.repeat(correct, 5), np.repeat(has_confidence, 5))
    assert once.p is not None
    assert trials.p is not None
    assert as_rows.p is not None
    assert as_rows.p < 0.005
    assert trials.p > 0.05
    assert trials.p == pytest.approx(once.p, abs=0.08)


def test_weights_count_in_accuracies_and_in_what_rows_are_worth() -> None:
    # Wrong rows without a confidence weigh much, right ones with a confidence little, and the other way.
    correct = np.array([True, False] * 100)
    has_confidence = np.arange(200) >= 40
    weight = np.where(correct == has_confidence, 3.0, 1.0)
    found = compare_missing(correct, has_confidence, weight=weight)
    assert (found.accuracy_without, found.accuracy_with, found.n, found.n_right) == (0.25, 0.75, 40, 20)
    assert found.shift == pytest.approx(0.75 - (0.25 * 80 + 0.75 * 320) / 400)
    # Each part is worth (Σw)²/Σw² rows: 32 of 40 and 128 of 160.
    assert found.p == pytest.approx(
        compare_missing(
            np.repeat([True, False, True, False], [8, 24, 96, 32]), np.repeat([False, True], [32, 128])
        ).p
    )
    assert found.finding.endswith("are right less often (25.0 % against 75.0 %, weighted)")
    assert compare_missing(correct, has_confidence).p == 1.0
    assert compare_missing(correct, has_confidence, weight=np.full(200, 7.0)).p == 1.0
    # Copies of rows, a question each, tell hardly more.
    question = np.repeat(np.arange(200), 4)
    repeated, four = (np.repeat(correct, 4), np.repeat(has_confidence, 4)), np.repeat(weight, 4)
    copies = compare_missing(*repeated, question, weight=four)
    as_rows = compare_missing(*repeated, weight=four)
    assert copies.p is not None
    assert as_rows.p is not None
    assert as_rows.p < 1e-9 < copies.p < 1e-4
    none = compare_missing(correct, np.zeros(200, np.bool_), weight=weight)
    assert (none.p, none.accuracy_with, none.no_p_reason) == (None, None, "no row has a confidence")


def test_few_questions_have_no_p_and_a_reason() -> None:
    question = np.repeat(np.arange(59), 2)
    found = compare_missing(question % 2 > 0, question % 3 > 0, question)
    assert (found.p, found.is_clear) == (None, False)
    assert found.no_p_reason == "only 59 different questions: with repeated questions, a p-value needs 60"


def test_without_any_confidence_there_is_nothing_to_compare() -> None:
    found = compare_missing(np.arange(40) < 20, np.zeros(40, np.bool_))
    assert (found.n, found.p, found.accuracy_with, found.no_p_reason) == (
        40,
        None,
        None,
        "no row has a confidence",
    )


def test_places_with_one_finding_share_it() -> None:
    lacking, other = Missingness(10, 0, 90, 60, 0.001), Missingness(20, 0, 80, 60, 0.001)
    said = missing_caveat([("in A", lacking), ("in B", None), ("in C", lacking), ("in D", other)], "beware")
    assert said == f"In D, {other.finding}; in A and in C, {lacking.finding}: beware."
    least = Missingness(10, 4, 90, 60, 0.04)
    said = missing_caveat([("in E", least), ("in A", lacking), ("in D", other)], "beware")
    assert said == f"In D, {other.finding}; in A, {lacking.finding}; and 1 more differ: beware."
    assert missing_caveat([("", lacking)], "beware") == f"{lacking.finding}: beware."
    assert missing_caveat([("", None), ("in B", Missingness(10, 6, 90, 60, 0.4))], "beware") == ""

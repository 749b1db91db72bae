"""A guaranteed threshold is the last that passes an exact test, of tests in a fixed order."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.optimize import brentq

from calib_core.inference.guaranteed_accuracy import (
    MIN_ANSWERED,
    AccuracyTest,
    RepeatedAnswers,
    clopper_pearson_low,
)


def tail(least: int, n: int, share: Fraction) -> Fraction:
    """Probability of at least so many successes among n."""
    return sum(
        (comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(least, n + 1)), start=Fraction(0)
    )


@pytest.mark.parametrize(("n_correct", "n"), [(1, 1), (3, 7), (59, 60), (60, 60), (45, 50)])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_bound_is_where_so_many_successes_become_unlikely(
    n_correct: int, n: int, confidence: float
) -> None:
    low = clopper_pearson_low(n_correct, n, confidence)
    assert float(tail(n_correct, n, Fraction(low))) == pytest.approx(1 - confidence, rel=1e-9)


def test_no_success_bounds_nothing() -> None:
    assert clopper_pearson_low(0, 10, 0.95) == 0


def steps(*blocks: tuple[int, int], confidence: float = 0.95) -> AccuracyTest:
    """Steps of (rows, right ones among them), the most confident first."""
    n, right = np.cumsum(np.array(blocks), axis=0).T
    return AccuracyTest(n, right, confidence)


def test_tests_end_at_the_first_failure_and_begin_again() -> None:
    good, bad = (100, 100), (100, 80)
    passed = steps(good, good, good).guaranteed_step(0.9)
    assert passed is not None
    assert passed.step == 2
    # The fifth twentieth is the second of these steps, the tenth the third.
    for blocks, expected in (
        ((good, bad, (200, 200)), 0),
        ((good, bad, (1_000, 1_000)), 2),
        ((bad, (400, 400), (500, 300)), 1),
        ((bad, (300, 180), (600, 600)), None),
    ):
        found = steps(*blocks).guaranteed_step(0.9)
        assert (found and found.step) == expected


def last_step(right: np.ndarray, target: Fraction) -> int | None:
    """The last grid point that passes, by exact tails; three starts share the permitted error of 5 %."""
    n, found, error = right.size, None, Fraction(0)
    starts = {1: Fraction(1, 40), 5: Fraction(1, 80), 10: Fraction(1, 80)}
    waiting, begun = Fraction(0), False
    for part in range(1, 21):
        size = -(-n * part // 20)
        waiting += starts.get(part, 0)
        if not begun and (
            size < MIN_ANSWERED or target**size > sum(starts[one] for one in starts if one <= part)
        ):
            continue
        begun, error, waiting = True, error + waiting, Fraction(0)
        if error and tail(int(right[:size].sum()), size, target) <= error:
            found = size - 1
        else:
            error = Fraction(0)
    return found


def test_the_last_step_that_passes_is_the_one_by_brute_force() -> None:
    random = np.random.default_rng(3)
    expected: list[int | None] = []
    for n in (50, 73, 300, 400, 1_001):
        for shape in (2, 4, 8):
            chance = np.sort(random.beta(shape, 1, n))[::-1]
            chance[: n // 10] = random.choice([0.5, 1])
            right = (random.random(n) < chance).astype(int)
            found = steps(*((1, int(one)) for one in right)).guaranteed_step(0.8)
            expected.append(last_step(right, Fraction(4, 5)))
            assert (found and found.step) == expected[-1]
    assert None in expected
    assert len(set(expected)) > 6


def test_ties_are_answered_together() -> None:
    found = steps((300, 290), (200, 190)).guaranteed_step(0.9)
    assert found is not None
    assert found.step == 1
    only = steps((60, 60)).guaranteed_step(0.9)
    assert only is not None
    assert only.accuracy_low == pytest.approx(0.05 ** (1 / 60))


@pytest.mark.parametrize(("target", "least"), [(0.5, 50), (0.9, 50), (0.95, 59), (0.99, 299)])
def test_the_grid_starts_where_a_test_can_pass(target: float, least: int) -> None:
    assert steps((1, 1)).fewest_units(target) == least
    all_right = [(1, 1)] * (least - 1)
    assert steps(*all_right).guaranteed_step(target) is None
    assert f"at least {least}" in (steps(*all_right).too_few_reason(target) or "")
    enough = steps(*all_right, (1, 1))
    assert enough.too_few_reason(target) is None
    assert enough.guaranteed_step(target) is not None


def repeated(answers: np.ndarray) -> AccuracyTest:
    """Trials of questions, all equally confident: outcomes of shape (questions, trials)."""
    n_questions, trials = answers.shape
    question = np.repeat(np.arange(n_questions), trials)
    rows = RepeatedAnswers(np.zeros(question.size, np.intp), answers.ravel().astype(bool), question)
    return AccuracyTest(np.array([question.size]), np.array([answers.sum()]), 0.95, rows)


def test_the_expected_wealth_at_the_target_is_one() -> None:
    target, n_questions = 0.75, 6
    for trials in (np.array([[1, 1], [0, 0]]), np.array([[1, 1], [1, 0]])):
        # Right with a chance of 3/4: both trials or none, or one of them always right.
        chances = np.array([0.75, 0.25]) if trials[1, 0] == 0 else np.array([0.5, 0.5])
        expected = 0.0
        for drawn in product((0, 1), repeat=n_questions):
            test = repeated(trials[list(drawn)])
            assert test.repeated is not None
            wealth = test._wealth(test.repeated.scores(0, target), target, n_questions, 0.95)
            assert wealth >= 0
            expected += float(np.prod(chances[list(drawn)])) * wealth
        assert expected == pytest.approx(1, abs=1e-9)


def test_only_answered_rows_score() -> None:
    rows = RepeatedAnswers(
        np.array([0, 1, 0, 0, 1]), np.array([True, False, True, False, True]), np.array([0, 0, 1, 1, 2])
    )
    assert rows.scores(0, 0.9).tolist() == pytest.approx([0.05, -0.4, 0])
    assert rows.scores(1, 0.9).tolist() == pytest.approx([-0.4, -0.4, 0.05])


def test_the_stakes_are_once_and_twice_the_best() -> None:
    n, correct = 200, 190
    low = repeated(np.array([[at < correct] for at in range(n)])).accuracy_low(0)

    def divergence(share: float) -> float:
        return share * np.log(share / low) + (1 - share) * np.log((1 - share) / (1 - low))

    reached = brentq(lambda share: n * divergence(share) - np.log(20), low + 1e-9, 1 - 1e-12)
    best = (reached / low - 1) / (1 - low)
    wealth = [
        (1 + stake * (1 - low)) ** correct * (1 - stake * low) ** (n - correct)
        for stake in (min(times * best, 0.99 / low) for times in (1, 2))
    ]
    assert np.mean(wealth) == pytest.approx(20, rel=1e-6)


def test_repeating_a_question_is_no_more_evidence() -> None:
    one, five = np.ones((60, 1)), np.ones((60, 5))
    low, same = (repeated(answers).accuracy_low(0) for answers in (one, five))
    assert same == pytest.approx(low)
    independent = steps((300, 300)).accuracy_low(0)
    assert same < independent


def test_a_bound_from_repeated_questions_is_tighter_where_trials_differ() -> None:
    random = np.random.default_rng(4)
    alike = np.repeat(random.random((400, 1)) < 0.95, 5, axis=1)
    apart = np.stack([random.permutation(column) for column in alike.T], axis=1)
    test = repeated(apart)
    low = test.accuracy_low(0)
    assert repeated(alike).accuracy_low(0) < low < apart.mean()
    found = test.guaranteed_step(0.9)
    assert found is not None
    assert found.accuracy_low == pytest.approx(low, abs=1e-9)
    below, above = (test.guaranteed_step(low + shift) for shift in (-1e-6, 1e-6))
    assert below is not None
    assert above is None


def test_few_questions_are_too_few_however_often_they_are_asked() -> None:
    test = repeated(np.ones((MIN_ANSWERED - 1, 40)))
    assert test.guaranteed_step(0.9) is None
    assert "49 different questions are too few" in (test.too_few_reason(0.9) or "")
    assert repeated(np.ones((MIN_ANSWERED, 2))).guaranteed_step(0.9) is not None
    assert repeated(np.ones((60, 2))).fewest_units(0.99) > 299


@pytest.mark.parametrize("target", [1e-9, 0.5, 1 - 1e-9])
def test_extreme_targets_have_an_answer(target: float) -> None:
    found = repeated(np.ones((60, 2))).guaranteed_step(target)
    assert (found is None) == (target > 0.9)
    assert (steps((60, 60)).guaranteed_step(target) is None) == (target > 0.9)

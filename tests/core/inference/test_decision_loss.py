"""How much more a threshold costs than the best one, against fractions, and its band over all thresholds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.inference import decision_loss as module
from calib_core.inference.decision_loss import ErrorCosts, decision_loss

ROW = st.tuples(st.integers(0, 6), st.booleans())
COST = st.fractions(Fraction(1, 8), 8, max_denominator=8)


def exact_loss(rows: list[tuple[int, bool]], believed: int, wrong: Fraction, handed_on: Fraction) -> Fraction:
    """Cost of one threshold minus the lowest cost of all, each added up row by row."""

    def cost(last: int) -> Fraction:
        answered = (Fraction(0) if right else wrong for step, right in rows if step <= last)
        return sum(answered, Fraction()) + handed_on * sum(step > last for step, _ in rows)

    return (cost(believed) - min(cost(last) for last in range(-1, 7))) / len(rows)


@given(st.lists(ROW, min_size=1, max_size=40), st.integers(-1, 6), COST, COST)
def test_the_loss_is_the_exact_one_and_inside_its_interval(
    rows: list[tuple[int, bool]], believed: int, wrong: Fraction, handed_on: Fraction
) -> None:
    step, right = (np.array(part) for part in zip(*rows, strict=True))
    believed = min(believed, int(step.max()))
    found = decision_loss(step, right, believed, ErrorCosts(float(wrong), float(handed_on)))
    assert found.value == pytest.approx(float(exact_loss(rows, believed, wrong, handed_on)), abs=1e-12)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value <= found.high


def blocks(*parts: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Steps and outcomes of blocks of (rows, right ones among them), the most confident first."""
    step = np.repeat(np.arange(len(parts)), [rows for rows, _ in parts])
    return step, np.concatenate([np.arange(rows) < right for rows, right in parts])


def test_the_interval_is_clear_of_0_where_the_threshold_is_clearly_too_low() -> None:
    step, right = blocks((300, 285), (700, 420))
    found = decision_loss(step, right, 1, ErrorCosts(10, 1))
    # Answering the second block costs 280 · 10 where handing it on costs 700.
    assert found.value == pytest.approx((2800 - 700) / 1000)
    assert 1.7 < found.low < found.value < found.high < 2.5


def test_the_best_threshold_has_no_clear_loss_and_a_chance_of_one() -> None:
    step, right = blocks((300, 285), (700, 420))
    found = decision_loss(step, right, 0, ErrorCosts(10, 1))
    assert (found.value, found.low) == (0, 0)
    assert found.high > 0


def test_ten_right_answers_between_two_thresholds_may_be_chance() -> None:
    step, right = blocks((200, 190), (10, 10), (200, 100))
    assert decision_loss(step, right, 0, ErrorCosts(10, 1)).low == 0


def test_trials_of_a_question_are_no_further_evidence() -> None:
    step, right = blocks((40, 38), (60, 50))
    once = decision_loss(step, right, 1, ErrorCosts(10, 1))
    five = decision_loss(
        np.repeat(step, 5), np.repeat(right, 5), 1, ErrorCosts(10, 1), np.repeat(np.arange(100), 5)
    )
    assert (five.value, five.low, five.high) == pytest.approx((once.value, once.low, once.high), abs=1e-12)
    independent = decision_loss(np.repeat(step, 5), np.repeat(right, 5), 1, ErrorCosts(10, 1))
    assert independent.high - independent.low < 0.7 * (five.high - five.low)


def test_the_same_seed_draws_the_same() -> None:
    step, right = blocks((300, 285), (700, 420))
    costs = ErrorCosts(10, 1)
    first, again, other = (decision_loss(step, right, 1, costs, seed=seed) for seed in (0, 0, 1))
    assert first == again != other


def test_many_thresholds_share_cells_and_keep_the_one_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    step = np.arange(2_000)
    right = step % 10 > 0
    right[1_200:] = step[1_200:] % 2 > 0
    costs = ErrorCosts(4, 1)
    fine = decision_loss(step, right, 1_999, costs)
    monkeypatch.setattr(module, "_MAX_CELLS", 50)
    coarse = decision_loss(step, right, 1_999, costs)
    assert coarse.value == fine.value
    assert (coarse.low, coarse.high) == pytest.approx((fine.low, fine.high), rel=0.1)
    cell = module._cells(step, 2_000, 1_234)
    assert cell.max() < 60
    assert cell[1_234] < cell[1_235]


@pytest.mark.parametrize(
    ("wrong", "handed_on", "threshold"), [(10, 1, 0.9), (2, 1, 0.5), (1, 2, 0), (3, 0, 1), (1, 1, 0)]
)
def test_a_calibrated_answer_pays_from_this_confidence_on(
    wrong: float, handed_on: float, threshold: float
) -> None:
    costs = ErrorCosts(wrong, handed_on)
    assert costs.calibrated_threshold == pytest.approx(threshold)
    if 0 < threshold < 1:  # there, answering is expected to cost as much as handing on
        assert (1 - costs.calibrated_threshold) * wrong == pytest.approx(handed_on)

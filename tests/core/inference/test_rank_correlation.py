"""ρ in exact fractions, p over all orders, and an interval that suits few points."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import scipy  # its statistics are loaded when they are asked for: not by every process that collects
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.inference.rank_correlation import _fisher_z_interval, rank_correlation

SMALL = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=6)


def ranks(values: list[int]) -> list[Fraction]:
    """Average ranks of the values, counted one by one."""
    return [
        Fraction(sum(other < value for other in values) * 2 + sum(other == value for other in values) + 1, 2)
        for value in values
    ]


def products(x: list[Fraction], y: list[Fraction]) -> Fraction:
    n = len(x)
    together = sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))
    return together - sum(x, Fraction(0)) * sum(y, Fraction(0)) / n


@given(SMALL)
def test_it_is_what_exact_fractions_say(points: list[tuple[int, int]]) -> None:
    x, y = ranks([a for a, _ in points]), ranks([b for _, b in points])
    spread = products(x, x) * products(y, y)
    if not spread:
        with pytest.raises(Unavailable, match="the same value on one side"):
            rank_correlation([a for a, _ in points], [b for _, b in points])
        return
    found = rank_correlation([a for a, _ in points], [b for _, b in points])
    assert found.rho == pytest.approx(float(products(x, y)) / math.sqrt(spread), abs=1e-12)
    orders = list(permutations(y))
    as_large = sum(abs(products(x, list(order))) >= abs(products(x, y)) for order in orders)
    assert found.p == pytest.approx(as_large / len(orders), abs=1e-12)
    assert found.low <= found.rho <= found.high
    assert found.n_points == len(points)


def test_it_is_scipys_with_ties_and_without() -> None:
    random = np.random.default_rng(3)
    for decimals in (1, 6):
        x = np.round(random.random(30), decimals)
        y = np.round(x + random.random(30), decimals)
        found = rank_correlation(x.tolist(), y.tolist())
        assert found.rho == pytest.approx(float(scipy.stats.spearmanr(x, y).statistic), abs=1e-12)


def test_a_perfect_order_of_few_points_is_not_significant() -> None:
    three = rank_correlation([1, 2, 3], [9, 8, 7])
    assert (three.rho, three.p, three.low, three.high) == (-1, pytest.approx(1 / 3), -1, 1)
    assert not three.significant
    assert not rank_correlation([1, 2, 3, 4], [9, 8, 7, 6]).significant
    five = rank_correlation([1, 2, 3, 4, 5], [9, 8, 7, 6, 5])
    assert (five.p, five.low) == (pytest.approx(2 / 120), -1)
    assert five.high > 0
    assert not five.significant
    assert rank_correlation([1, 2, 3, 4, 5, 6], [9, 8, 7, 6, 5, 4]).significant
    assert five.procedure.endswith("permutation p of all 120 orders")


def test_the_interval_of_five_points_by_hand() -> None:
    """ρ = 1 − 6·4/(5·24) = 0.8; t of 3 degrees of freedom is 3.182446, √((1 + 0.8²/2)/(5 − 3)) 0.812404."""
    found = rank_correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    half = 3.182446 * 0.812404
    assert found.rho == pytest.approx(0.8)
    assert found.low == pytest.approx(math.tanh(math.atanh(0.8) - half), abs=1e-6)
    assert found.high == pytest.approx(math.tanh(math.atanh(0.8) + half), abs=1e-6)


def test_eight_are_counted_and_nine_are_drawn() -> None:
    assert "all 40,320 orders" in rank_correlation(range(8), [3, 1, 2, 0, 5, 4, 7, 6]).procedure
    nine = [3, 1, 2, 0, 5, 4, 7, 6, 8]
    drawn = rank_correlation(range(9), nine)
    assert "9,999 random orders, seed 0" in drawn.procedure
    assert drawn == rank_correlation(range(9), nine)
    assert drawn.p != rank_correlation(range(9), nine, seed=1).p or drawn.p < 0.01
    assert rank_correlation(range(40), range(40)).p == pytest.approx(1 / 10_000)


def test_p_is_never_zero_and_agrees_with_the_t_test_for_many() -> None:
    random = np.random.default_rng(8)
    x = random.random(40)
    y = x + 2.5 * random.random(40)
    wanted = float(scipy.stats.spearmanr(x, y).pvalue)
    assert rank_correlation(x.tolist(), y.tolist()).p == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize(("x", "message"), [([], "0 points"), ([1.0], "1 point:"), ([1.0, 2.0], "2 points")])
def test_fewer_than_three_are_refused(x: list[float], message: str) -> None:
    with pytest.raises(Unavailable, match=message):
        rank_correlation(x, x)


@pytest.mark.parametrize(("n", "rho"), [(4, 0.0), (6, 0.8), (8, 0.9), (12, 0.5)])
def test_the_interval_holds_rho_as_often_as_it_says(n: int, rho: float) -> None:
    random = np.random.default_rng(n)
    truth = 6 / math.pi * math.asin(rho / 2)
    held = 0
    for _ in range(300):
        x = random.standard_normal(n)
        y = rho * x + math.sqrt(1 - rho**2) * random.standard_normal(n)
        low, high = _fisher_z_interval(float(scipy.stats.spearmanr(x, y).statistic), n)
        held += low <= truth <= high
    assert held / 300 >= 0.94

"""The band of a rising curve is what Clopper and Pearson allow all stretches, and holds the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from calib_core.inference.honest_band import MAX_STRETCH_ENDS, honest_band


def by_hand(count: list[int], correct: list[int]) -> tuple[list[float], list[float]]:
    """Each end from all stretches that lie wholly on its side, one after the other."""
    n_cells = len(count)
    alpha = 0.05 / (n_cells * (n_cells + 1))
    low, high = [0.0] * n_cells, [1.0] * n_cells
    for first in range(n_cells):
        for last in range(first, n_cells):
            n, right = sum(count[first : last + 1]), sum(correct[first : last + 1])
            least = beta.ppf(alpha, right, n - right + 1) if right else 0.0
            most = beta.ppf(1 - alpha, right + 1, n - right) if right < n else 1.0
            for cell in range(last, n_cells):
                low[cell] = max(low[cell], least)
            for cell in range(first + 1):
                high[cell] = min(high[cell], most)
    return low, high


@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0, 1)), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_it_is_the_best_of_all_stretches(cells: list[tuple[int, float]]) -> None:
    count = [n for n, _ in cells]
    correct = [round(n * share) for n, share in cells]
    # So few rows are not grouped where each cell has its own share of them.
    if len({(int(end) - 1) * MAX_STRETCH_ENDS // sum(count) for end in np.cumsum(count)}) < len(count):
        return
    low, high = honest_band(np.array(count), np.array(correct))
    expected = by_hand(count, correct)
    assert low == pytest.approx(expected[0], abs=1e-9)
    assert high == pytest.approx(expected[1], abs=1e-9)


def test_it_holds_the_whole_curve_also_where_cells_are_grouped() -> None:
    random = np.random.default_rng(0)
    missed = 0
    for _ in range(100):
        confidence, count = np.unique(random.beta(4, 2, 3000).round(3), return_counts=True)
        assert confidence.size > 5 * MAX_STRETCH_ENDS
        truth = confidence**1.5
        low, high = honest_band(count, random.binomial(count, truth))
        missed += bool(((truth < low) | (truth > high)).any())
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()
    assert missed <= 5


def test_a_curve_far_off_the_diagonal_is_told_from_it() -> None:
    low, high = honest_band(np.array([500, 500]), np.array([150, 450]))
    assert low[1] > 0.8
    assert high[0] < 0.4

"""The isotonic curve: exact against the min-max formula in fractions, whatever the ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.inference.isotonic import isotonic_curve

PAIRS = st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=12)


def min_max(pairs: list[tuple[int, bool]], at: int) -> Fraction:
    """Max over starts ≤ at of the min over ends ≥ at of the mean outcome between (Robertson et al. 1988)."""
    values = sorted({c for c, _ in pairs})

    def mean(low: int, high: int) -> Fraction:
        inside = [y for c, y in pairs if low <= c <= high]
        return Fraction(sum(inside), len(inside))

    return max(min(mean(low, high) for high in values if high >= at) for low in values if low <= at)


@given(PAIRS)
def test_the_curve_is_that_of_the_min_max_formula(pairs: list[tuple[int, bool]]) -> None:
    curve = isotonic_curve(np.array([c / 8 for c, _ in pairs]), np.array([y for _, y in pairs]))
    expected = [float(min_max(pairs, round(c * 8))) for c in curve.confidence]
    assert curve.probability == pytest.approx(expected)
    assert curve.count.sum() == len(pairs)


def test_between_confidences_the_curve_is_linear_and_beyond_them_constant() -> None:
    curve = isotonic_curve(np.array([0.25, 0.75]), np.array([False, True]))
    assert curve.at(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist() == [0, 0, 0.5, 1, 1]


def test_no_pair_has_no_curve() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        isotonic_curve(np.array([]), np.array([], np.bool_))

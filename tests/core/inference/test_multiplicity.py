"""q-values are those of the textbook, and of SciPy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from calib_core.inference.multiplicity import benjamini_hochberg

P_VALUES = st.lists(st.none() | st.floats(0, 1), max_size=30)


def test_a_family_by_hand() -> None:
    """The example of Benjamini and Hochberg (1995): at 5 %, the four smallest of 15 are discoveries."""
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262]
    p_values += [0.5719, 0.6528, 0.7590, 1.0]
    q_values = benjamini_hochberg(p_values)
    assert [q is not None and q <= 0.05 for q in q_values] == [True] * 4 + [False] * 11
    assert q_values[:2] == pytest.approx((0.0015, 0.0030))


@given(P_VALUES)
def test_as_scipy_has_it(p_values: list[float | None]) -> None:
    known = [p for p in p_values if p is not None]
    found = benjamini_hochberg(p_values)
    assert [q is None for q in found] == [p is None for p in p_values]
    expected = false_discovery_control(known).tolist() if known else []
    assert [q for q in found if q is not None] == pytest.approx(expected, rel=1e-12)

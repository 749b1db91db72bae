"""Is the discrimination what recalibrated confidences gain over always stating the accuracy?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.brier_decomposition import BRIER_DISCRIMINATION
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("brier_discrimination", pairs, how)


@pytest.mark.parametrize(
    ("confidence", "discrimination"),
    [
        ([0.1, 0.2, 0.8, 0.9], 0.25),  # in the right order, whatever the values
        ([0.9, 0.8, 0.2, 0.1], 0.0),  # in the wrong order: the fit is constant
        ([0.7, 0.7, 0.7, 0.7], 0.0),
    ],
)
def test_it_depends_on_the_order_alone(confidence: list[float], discrimination: float) -> None:
    sums = BinSums.from_pairs(confidence, [0, 0, 1, 1])
    assert BRIER_DISCRIMINATION.compute(sums, Scheme()) == discrimination


def test_nothing_has_no_discrimination() -> None:
    assert BRIER_DISCRIMINATION.compute(BinSums.from_pairs([], []), Scheme()) is None

"""Is the uncertainty the Brier score of always stating the accuracy?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.brier_decomposition import BRIER_UNCERTAINTY
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("brier_uncertainty", pairs, how)


@pytest.mark.parametrize("right", range(5))
def test_it_is_the_brier_score_of_the_accuracy(right: int) -> None:
    outcomes = [1] * right + [0] * (4 - right)
    constant = BinSums.from_pairs([right / 4] * 4, outcomes)
    found = BRIER_UNCERTAINTY.compute(BinSums.from_pairs([0.1, 0.2, 0.3, 0.4], outcomes), Scheme())
    assert found == METRICS["brier"].compute(constant, Scheme())


def test_nothing_has_no_uncertainty() -> None:
    assert BRIER_UNCERTAINTY.compute(BinSums.from_pairs([], []), Scheme()) is None

"""Is the Brier score the mean squared distance of confidence and outcome?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.brier import BRIER
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("brier", pairs, how)


def test_by_hand() -> None:
    sums = BinSums.from_pairs([0.25, 0.5, 0.75], [1, 0, 1])
    assert BRIER.compute(sums, Scheme()) == pytest.approx((0.5625 + 0.25 + 0.0625) / 3, abs=1e-15)


def test_half_scores_a_quarter_whatever_happens() -> None:
    assert BRIER.compute(BinSums.from_pairs([0.5] * 4, [1, 0, 0, 0]), Scheme()) == 0.25


@pytest.mark.parametrize("power", [10, 20, 40])
def test_a_tiny_error_is_not_lost_or_made_negative(power: int) -> None:
    nearly = 1 - 2.0**-power / 3
    value = BRIER.compute(BinSums.from_pairs([nearly] * 1000, [1] * 1000), Scheme())
    assert value == pytest.approx((1 - nearly) ** 2, rel=1e-12, abs=0)


def test_bins_do_not_matter() -> None:
    sums = BinSums.from_pairs([0.1, 0.7, 0.9], [1, 0, 1])
    assert BRIER.compute(sums, Scheme("width", 1)) == BRIER.compute(sums, Scheme("mass", 500))


def test_nothing_has_no_brier_score() -> None:
    assert BRIER.compute(BinSums.from_pairs([], []), Scheme()) is None

"""Is ECE the gap between confidence and accuracy, weighted by count?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.ece import ECE
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("ece", pairs, how)


def test_two_bins_by_hand() -> None:
    sums = BinSums.from_pairs([0.25, 0.25, 0.25, 0.75], [1, 1, 0, 1])
    # (3/4)·|2/3 − 1/4| + (1/4)·|1 − 3/4|
    assert ECE.compute(sums, Scheme("width", 2)) == pytest.approx((3 / 4) * (5 / 12) + 1 / 16, abs=1e-15)


def test_the_edge_decides_which_rows_may_cancel() -> None:
    sums = BinSums.from_pairs([0.5, 0.75], [1, 0])  # 0.5 is the last of the first bin
    assert ECE.compute(sums, Scheme("width", 2)) == (0.5 + 0.75) / 2
    assert ECE.compute(sums, Scheme("width", 1)) == 0.125


def test_always_sure_and_always_wrong_is_one() -> None:
    assert ECE.compute(BinSums.from_pairs([1.0] * 3, [0] * 3), Scheme()) == 1.0


def test_nothing_has_no_ece() -> None:
    assert ECE.compute(BinSums.from_pairs([], []), Scheme()) is None

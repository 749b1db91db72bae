"""Is classwise ECE binned class by class and divided by N·K?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.classwise_ece import CW_ECE
from core.edge_cases import agrees, any_rows, class_sums_of, widths_only
from core.oracle import Bins, Row


@given(any_rows(), widths_only())
def test_it_is_the_exact_number(rows: list[Row], how: Bins) -> None:
    assert agrees("cw_ece", rows, how)


def test_by_hand() -> None:
    # one bin: class 0: |1 − 1.25|, class 1: |1 − 0.5|, class 2: |0 − 0.25|; N·K = 6
    sums = class_sums_of([Row((0.5, 0.25, 0.25), 8, 0), Row((0.75, 0.25, 0.0), 8, 1)])
    assert CW_ECE.compute(sums, Scheme("width", 1)) == pytest.approx((0.25 + 0.5 + 0.25) / 6, abs=1e-15)


def test_pairs_of_two_classes_in_one_bin_do_not_cancel() -> None:
    sums = class_sums_of([Row((0.5, 0.5), 8, 0)])
    assert CW_ECE.compute(sums, Scheme()) == 0.5


def test_nothing_has_no_classwise_ece() -> None:
    assert CW_ECE.compute(BinSums.from_pairs([], []), Scheme()) is None

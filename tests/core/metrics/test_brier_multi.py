"""Is the multi-class Brier score summed over the choices and averaged over the rows?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.brier import BRIER_MULTI
from core.edge_cases import agrees, any_rows, class_sums_of, schemes
from core.oracle import Bins, Row


@given(any_rows(), schemes())
def test_it_is_the_exact_number(rows: list[Row], how: Bins) -> None:
    assert agrees("brier_multi", rows, how)


def test_by_hand() -> None:
    sums = class_sums_of([Row((0.5, 0.25, 0.25), 8, 0), Row((0.0, 1.0), 8, 1)])
    assert BRIER_MULTI.compute(sums, Scheme()) == pytest.approx((0.25 + 0.0625 + 0.0625) / 2, abs=1e-15)


def test_sure_of_the_wrong_choice_is_two() -> None:
    assert BRIER_MULTI.compute(class_sums_of([Row((1.0, 0.0), 8, 1)]), Scheme()) == 2.0


def test_nothing_has_no_brier_score() -> None:
    assert BRIER_MULTI.compute(BinSums.from_pairs([], []), Scheme()) is None

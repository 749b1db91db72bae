"""Is each pair of mass-weighted Full-ECE weighted by its own probability?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.full_ece import FULL_ECE_MASS
from core.edge_cases import agrees, any_rows, class_sums_of, widths_only
from core.oracle import Bins, Row


@given(any_rows(), widths_only())
def test_it_is_the_exact_number(rows: list[Row], how: Bins) -> None:
    assert agrees("full_ece_mass", rows, how)


def test_by_hand() -> None:
    # [0, .5]: Σ p·y = .25 + .5 and Σ p² = 3/16 + 1/4; (.5, 1]: 0 and 9/16
    sums = class_sums_of([Row((0.25, 0.75), 8, 0), Row((0.25, 0.25, 0.5), 8, 2)])
    low = abs(0.25 + 0.5 - 3 / 16 - 0.25)
    assert FULL_ECE_MASS.compute(sums, Scheme("width", 2)) == pytest.approx((low + 9 / 16) / 2, abs=1e-15)


def test_a_choice_that_is_never_drawn_weighs_nothing() -> None:
    assert FULL_ECE_MASS.compute(class_sums_of([Row((1.0, 0.0), 8, 1)]), Scheme()) == 1.0


def test_nothing_has_no_full_ece() -> None:
    assert FULL_ECE_MASS.compute(BinSums.from_pairs([], []), Scheme()) is None

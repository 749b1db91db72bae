"""Is Full-ECE pooled over all choices and divided by rows, not by pairs?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.full_ece import FULL_ECE
from core.edge_cases import agrees, any_rows, class_sums_of, widths_only
from core.oracle import Bins, Row


@given(any_rows(), widths_only())
def test_it_is_the_exact_number(rows: list[Row], how: Bins) -> None:
    assert agrees("full_ece", rows, how)


def test_by_hand() -> None:
    # [0, .5]: Y = 2 and C = .5 + 3·.25 + 0; (.5, 1]: Y = 0 and C = .75; N = 2 rows, not 6 pairs
    sums = class_sums_of([Row((0.5, 0.25, 0.25), 8, 0), Row((0.75, 0.25, 0.0), 8, 1)])
    assert FULL_ECE.compute(sums, Scheme("width", 2)) == pytest.approx(((2 - 1.25) + 0.75) / 2, abs=1e-15)


def test_pairs_of_two_classes_in_one_bin_do_cancel() -> None:
    assert FULL_ECE.compute(class_sums_of([Row((0.5, 0.5), 8, 0)]), Scheme()) == 0.0


def test_sure_of_the_wrong_choice_is_two() -> None:
    assert FULL_ECE.compute(class_sums_of([Row((1.0, 0.0), 8, 1)]), Scheme()) == 2.0


def test_nothing_has_no_full_ece() -> None:
    assert FULL_ECE.compute(BinSums.from_pairs([], []), Scheme()) is None

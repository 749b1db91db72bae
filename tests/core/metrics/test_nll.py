"""Is NLL the mean of −ln p of the right answer, and infinite when that was given nothing?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from calib_core.bins import BinSums, RawPairs
from calib_core.edges import Scheme
from calib_core.metrics.nll import NLL
from core.edge_cases import agrees, any_rows, class_sums_of, schemes
from core.oracle import Bins, Row


@given(any_rows(), schemes())
def test_it_is_the_exact_number(rows: list[Row], how: Bins) -> None:
    assert agrees("nll", rows, how)


def test_by_hand() -> None:
    sums = class_sums_of([Row((0.5, 0.5), 8, 0), Row((0.25, 0.75), 8, 0)])
    assert NLL.compute(sums, Scheme()) == pytest.approx(1.5 * math.log(2), abs=1e-15)
    assert NLL.remark(sums) is None


def test_certainty_of_the_right_answer_is_plain_zero() -> None:
    value = NLL.compute(class_sums_of([Row((1.0, 0.0), 8, 0)]), Scheme())
    assert str(value) == "0.0"


def test_a_right_answer_given_nothing_is_infinite_and_said() -> None:
    sums = class_sums_of([Row((1.0, 0.0), 8, 1), Row((0.0, 1.0), 4, 0), Row((0.5, 0.5), 8, 0)])
    assert NLL.compute(sums, Scheme()) == math.inf
    remark = NLL.remark(sums)
    assert remark == "Infinite: the right answer was given probability 0 in 2 of 3 rows."


def test_a_wrong_answer_given_nothing_is_no_matter() -> None:
    sums = class_sums_of([Row((0.5, 0.0, 0.5), 8, 2)])
    assert NLL.compute(sums, Scheme()) == pytest.approx(math.log(2), abs=1e-15)


def test_the_smallest_probability_is_still_finite() -> None:
    sums = class_sums_of([Row((5e-324, 1.0), 8, 0)])
    assert NLL.compute(sums, Scheme()) == pytest.approx(-math.log(5e-324), rel=1e-15, abs=0)


def test_what_is_next_to_nothing_is_possible_however_it_is_kept() -> None:
    pairs = RawPairs(np.array([0.001, 5e-324, 0.0]), np.array([True, True, True]), None)
    assert pairs.impossible == pairs.distinct().impossible == 1


def test_nothing_has_no_nll() -> None:
    assert NLL.compute(BinSums.from_pairs([], []), Scheme()) is None

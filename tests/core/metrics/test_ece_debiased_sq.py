"""Is the debiased squared ECE free of what chance adds, and is it the number of its definition?"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.ece import ECE, ECE_DEBIASED_SQ
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair

CHANCES = {0.25: Fraction(1, 2), 0.375: Fraction(1, 8), 0.75: Fraction(3, 4)}
"""Confidence → the true chance of being right; the first two share the lower of two bins."""


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("ece_debiased_sq", pairs, how)


def expectation(confidences: tuple[float, ...], scheme: Scheme) -> float:
    """The mean over all outcomes, each weighted by its probability."""
    mean = 0.0
    for outcome in product((0, 1), repeat=len(confidences)):
        weight = Fraction(1)
        for c, y in zip(confidences, outcome, strict=True):
            weight *= CHANCES[c] if y else 1 - CHANCES[c]
        value = ECE_DEBIASED_SQ.compute(BinSums.from_pairs(confidences, outcome), scheme)
        assert value is not None
        mean += float(weight) * value
    return mean


def test_it_is_unbiased_for_the_squared_gaps_of_the_bins() -> None:
    """Over all draws of three pairs in the lower bin and two in the upper one."""
    lower, upper = (0.25, 0.375), (0.75,)
    found = [expectation((*low, *upper, *upper), Scheme("width", 2)) for low in product(lower, repeat=3)]
    gap_low = sum((Fraction(c) - CHANCES[c] for c in lower), Fraction(0)) / 2
    gap_high = Fraction(upper[0]) - CHANCES[upper[0]]
    expected = Fraction(3, 5) * gap_low**2 + Fraction(2, 5) * gap_high**2
    assert sum(found) / len(found) == pytest.approx(float(expected), abs=1e-15)


def test_without_a_gap_it_is_zero_on_average_where_ece_is_not() -> None:
    calibrated = {(y1, y2): ECE_DEBIASED_SQ.compute(BinSums.from_pairs([0.5, 0.5], [y1, y2]), Scheme())
                  for y1, y2 in product((0, 1), repeat=2)}  # fmt: skip
    assert calibrated == {(0, 0): 0.25, (0, 1): -0.25, (1, 0): -0.25, (1, 1): 0.25}
    assert (ECE.compute(BinSums.from_pairs([0.5, 0.5], [1, 1]), Scheme()) or 0) > 0


def test_a_bin_with_one_pair_adds_nothing() -> None:
    together = ECE_DEBIASED_SQ.compute(BinSums.from_pairs([0.75, 0.75, 0.05], [0, 0, 1]), Scheme())
    assert together == pytest.approx(2 * 0.75**2 / 3, abs=1e-15)
    assert ECE_DEBIASED_SQ.compute(BinSums.from_pairs([0.3, 0.9], [0, 0]), Scheme()) == 0.0
    assert "one pair add nothing" in ECE_DEBIASED_SQ.help


def test_its_least_and_largest_values() -> None:
    one_bin = Scheme("width", 1)
    assert ECE_DEBIASED_SQ.compute(BinSums.from_pairs([0.0, 1.0], [1, 0]), one_bin) == -1.0
    assert ECE_DEBIASED_SQ.compute(BinSums.from_pairs([1.0, 1.0], [0, 0]), one_bin) == 1.0


def test_nothing_has_no_value() -> None:
    assert ECE_DEBIASED_SQ.compute(BinSums.from_pairs([], []), Scheme()) is None

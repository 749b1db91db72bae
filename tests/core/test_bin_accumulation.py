"""Unsorted pairs and sorted cells add up to the same bins in any order, up to rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from calib_core.bins import (
    BinSums,
    RawPairs,
    bins_from_distinct,
    bins_in_one_pass,
    equal_width_index,
    one_pass_is_faster,
    validate_pairs,
)
from calib_core.edges import Scheme

FIELDS = ("group", "index", "low", "high", "count", "correct")
SUMS = ("confidence", "squared_confidence", "correct_confidence")


def random_pairs(rows: int, dtype: str, groups: int = 1) -> RawPairs:
    random = np.random.default_rng(rows)
    confidence = random.beta(5, 2, rows).astype(dtype)
    group = random.integers(0, groups, rows) if groups > 1 else None
    return validate_pairs(confidence, random.random(rows) < confidence, group, groups)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("bins", [1, 7, 10, 500, 3000])
@pytest.mark.parametrize("groups", [1, 4])
def test_both_ways_give_the_same_bins(dtype: str, bins: int, groups: int) -> None:
    given = random_pairs(50_000, dtype, groups)  # more than one piece
    fast = bins_in_one_pass(given, Scheme("width", bins), groups)
    cells = given.distinct()
    slow = bins_from_distinct(cells, Scheme("width", bins), equal_width_index(cells, bins))
    for name in FIELDS:
        assert np.array_equal(getattr(fast, name), getattr(slow, name)), name
    for name in SUMS:
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-14)


def test_a_million_equal_terms_keep_twelve_digits() -> None:
    given = validate_pairs(np.full(1_000_000, 0.1), np.ones(1_000_000), None, 1)
    (total,) = bins_in_one_pass(given, Scheme("width", 10), 1).confidence
    (squared,) = bins_in_one_pass(given, Scheme("width", 10), 1).squared_confidence
    exact = 1_000_000 * Fraction(0.1)
    assert abs(Fraction(total) / exact - 1) < Fraction(1, 10**15)
    assert abs(Fraction(squared) / (exact * Fraction(0.1)) - 1) < Fraction(1, 10**15)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_order_of_pairs_changes_no_bit(dtype: str) -> None:
    given = random_pairs(40_000, dtype)
    order = np.random.default_rng(1).permutation(given.n_pairs)
    mixed = RawPairs(given.confidence[order], given.correct[order], None)
    one, other = (bins_in_one_pass(pairs, Scheme("width", 50), 1) for pairs in (given, mixed))
    for name in (*FIELDS, *SUMS):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_tiny_confidences_add_up_beside_large_ones(dtype: str) -> None:
    confidence = (np.random.default_rng(3).random(40_000) ** 8).astype(dtype)
    (total,) = bins_in_one_pass(
        validate_pairs(confidence, confidence > 0.5, None, 1), Scheme("width", 1), 1
    ).confidence
    assert total == math.fsum(confidence.tolist())


def test_more_keys_than_pairs_in_a_chunk_miss_no_pair() -> None:
    given = random_pairs(60_000, "f8", 20)  # 20 classes · 1000 bins · 2 outcomes
    binned = bins_in_one_pass(given, Scheme("width", 1000), 20)
    assert binned.count.sum() == 60_000
    assert binned.confidence.sum() == pytest.approx(given.confidence.sum(), rel=1e-12)


def test_many_classes_of_few_pairs_are_sorted_instead() -> None:
    given = random_pairs(1000, "f8", 4)
    assert one_pass_is_faster(given, Scheme("width", 3000), 4)
    assert not one_pass_is_faster(given, Scheme("width", 3000), 1000)
    assert not one_pass_is_faster(given, Scheme("mass", 10), 1)


def test_what_was_given_is_copied() -> None:
    confidence = np.array([0.9, 0.9])
    sums = BinSums.from_pairs(confidence, [1, 0])
    confidence[:] = 0.1
    assert sums.binned(Scheme("width", 10)).index.tolist() == [8]

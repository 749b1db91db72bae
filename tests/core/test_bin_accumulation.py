"""Unsorted pairs and sorted cells add up to the same bins in any order, up to rounding."""

from __future__ import annotations

import gc
import math
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from weakref import ref

import numpy as np
import pytest
from numpy.typing import NDArray

from calib_core import bins as bins_module
from calib_core import compiled_bins
from calib_core.bins import (
    BinSums,
    RawPairs,
    bins_from_distinct,
    bins_in_one_pass,
    equal_width_index,
    one_pass_is_faster,
    pairwise_sum,
    running_sum,
    validate_pairs,
)
from calib_core.edges import Scheme, assign_bins, bin_of

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
    slow = bins_from_distinct(cells, Scheme("width", bins), equal_width_index(cells, bins).__getitem__)
    for name in FIELDS:
        assert np.array_equal(getattr(fast, name), getattr(slow, name)), name
    for name in SUMS:
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-14)


@pytest.mark.parametrize("dtypes", [("f2",), ("f4",), ("f8",), ("f4", "f8")])
@pytest.mark.parametrize("bins", [7, 9, 37, 128, 999])
@pytest.mark.parametrize("groups", [1, 4])
def test_bins_whose_edges_cut_the_finest_bins(dtypes: tuple[str, ...], bins: int, groups: int) -> None:
    """Added up from whole finest bins and the rows of those that are cut, they are the bins of all rows."""
    parts = [random_pairs(3_000 + number, dtype, groups) for number, dtype in enumerate(dtypes)]
    for part in parts:
        near = np.arange(1, 11) / bins
        part.confidence[:30] = np.concatenate([near, near + 1e-7, near - 1e-7]).clip(0, 1)
    scheme = Scheme("width", bins)
    sums = BinSums(parts[0], 3_000, groups)
    for part in parts[1:]:
        sums = sums.merge(BinSums(part, 3_001, groups))
    whole = bins_from_distinct(sums.distinct, scheme, equal_width_index(sums.distinct, bins).__getitem__)
    binned = sums.binned(scheme)
    for name in FIELDS:
        assert np.array_equal(getattr(binned, name), getattr(whole, name)), name
    for name in SUMS:
        np.testing.assert_allclose(getattr(binned, name), getattr(whole, name), rtol=1e-14)


def test_the_number_of_classes_may_be_of_numpy() -> None:
    given = random_pairs(45_000, "f8", 1_200)
    sums = BinSums.from_pairs(
        given.confidence, given.correct, group=given.group, n_groups=np.array([1_200], np.int64).max()
    )
    expected = bins_in_one_pass(given, Scheme("width", 17), 1_200)
    assert sums.binned(Scheme("width", 17)).confidence.tobytes() == expected.confidence.tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_either_byte_order_gives_the_same_bins(dtype: str) -> None:
    given = random_pairs(9_000, dtype)
    turned = given.confidence.astype(given.confidence.dtype.newbyteorder(">"))
    one, other = (BinSums.from_pairs(values, given.correct) for values in (given.confidence, turned))
    for scheme in (Scheme("width", 10), Scheme("width", 37)):
        for name in (*FIELDS, *SUMS):
            expected, found = getattr(one.binned(scheme), name), getattr(other.binned(scheme), name)
            assert found.tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8"])
def test_arrays_are_kept_as_they_are_only_where_asked_and_possible(dtype: str) -> None:
    confidence, correct = np.array([0.25, 1.0, 0.0], dtype), np.array([True, False, True])
    copied = validate_pairs(confidence, correct, None, 1)
    kept = validate_pairs(confidence, correct, None, 1, copy=False)
    assert (kept.confidence is confidence) is (dtype != ">f8")
    assert kept.correct is correct
    other = validate_pairs(confidence[::-1], correct[::-1], None, 1, copy=False)
    with_minus_0 = np.array([-0.0, 0.5, 1.0], dtype)
    positive = validate_pairs(with_minus_0, correct, None, 1, copy=False)
    confidence[:], correct[:] = 0.5, False
    assert copied.confidence.tolist() == [0.25, 1.0, 0.0]
    assert copied.correct.tolist() == [True, False, True]
    assert other.confidence.tolist() == [0.0, 1.0, 0.25]
    assert other.correct.tolist() == [True, False, True]
    assert not np.signbit(positive.confidence).any()
    assert np.signbit(with_minus_0).tolist() == [True, False, False]
    for wrong in (-0.25, 1.0009765625, np.nan, np.inf, -np.nan):
        for copy in (True, False):
            with pytest.raises(ValueError, match="confidences must be numbers from 0 to 1"):
                validate_pairs(np.array([0.5, wrong], dtype), np.zeros(2), None, 1, copy=copy)


@pytest.mark.parametrize("scheme", [Scheme("natural"), Scheme("mass", 4), Scheme("width", 7)], ids=str)
def test_pieces_of_several_dtypes_add_up_to_the_bins(scheme: Scheme) -> None:
    """float16 0.3 is below 0.3 of the grid, where it falls by its own edges: cells and ranks go apart."""
    half = BinSums.from_pairs(np.array([0.3, 0.7], np.float16), [1, 0])
    sums = half.merge(BinSums.from_pairs([0.3, 0.30003, 0.31, 0.7, 0.9], [1, 1, 0, 1, 1]))
    cut, binned = sums.cut_bins(scheme), sums.binned(scheme)
    n_bins = int(binned.index.max()) + 1
    for name in ("count", "correct", "confidence"):
        added = np.bincount(cut.bin_index, getattr(cut.pieces, name), n_bins)[binned.index]
        assert added.tolist() == pytest.approx(getattr(binned, name).tolist(), abs=1e-15)
    assert np.bincount(cut.find_pieces(), minlength=1).max() <= 1


@pytest.mark.parametrize("scheme", [Scheme("width", 37), Scheme("mass", 7), Scheme("natural")], ids=str)
def test_pieces_of_the_finest_bins(scheme: Scheme) -> None:
    given = random_pairs(2_000, "f4")
    sums = BinSums(given, 2_000)
    cut, bin_ = sums.cut_bins(scheme), assign_bins(given.confidence, scheme)
    if scheme.binning == "width":  # only pairs in bins that are cut are sorted
        ends = {3000 * edge // scheme.bins for edge in range(1, scheme.bins) if 3000 * edge % scheme.bins}
        assert set(np.flatnonzero(cut.is_cut).tolist()) == ends
        assert cut.cut_pairs.n_pairs < sums.n_pairs / 10
        assert "distinct" not in sums.__dict__
    rows = Counter(zip(bin_of(given.confidence, 3000).tolist(), bin_.tolist(), strict=True))
    pieces = list(zip(cut.pieces.index.tolist(), cut.bin_index.tolist(), strict=True))
    assert dict(zip(pieces, cut.pieces.count.tolist(), strict=True)) == rows
    assert pieces == sorted(pieces)
    cut_rows = np.repeat(cut.find_pieces(), cut.cut_pairs.count.astype(np.int64))
    parts, count = np.unique(cut_rows, return_counts=True)
    assert cut.pieces.count[parts].tolist() == count.tolist()
    assert set(parts.tolist()) == set(np.flatnonzero(cut.is_cut[cut.pieces.index]).tolist())
    shared = [cell for cell, times in Counter(cell for cell, _ in pieces).items() if times > 1]
    assert shared
    assert cut.is_cut[shared].all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bins", [1, 7, 3000])
@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("power", [1, 2])
def test_compiled_code_adds_up_the_same_to_the_last_bit(
    dtype: str, bins: int, groups: int, power: int
) -> None:
    given = random_pairs(3_000, dtype, groups)
    given.confidence[:7] = np.array([0, 1, 0.5, 1 / 3, 1e-9, 1 / 7, 0.3], dtype)
    before = np.random.default_rng(2).random((groups * bins * 2, 3))
    before[:, :2] = np.floor(1000 * before[:, :2])  # as whole numbers are multiples of the power of 2
    sums = np.array([before, before])
    compiled = bins_module.compiled_add_pairs(given.confidence.dtype)
    assert compiled is compiled_bins.add_pairs
    for number, add in enumerate((bins_module.add_pairs, compiled)):
        add(sums[number], given.confidence, given.correct, given.group, bins, 14, 1_000, power)
    assert sums[0].tobytes() == sums[1].tobytes()


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3])
@pytest.mark.parametrize(
    ("rows", "n_keys"), [(2**15 - 1, 2), (2**15, 2), (2**15 + 1, 2), (2**16, 2**16), (1, 2), (2, 2)]
)
def test_compiled_code_counts_as_many_equal_pairs_as_a_chunk_has(
    value: float, rows: int, n_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Number and sum share 64 bits, which the largest of both just fill."""
    given = validate_pairs(np.full(rows, value), np.ones(rows), None, 1)
    monkeypatch.setattr(bins_module, "MIN_PAIRS_WITH_NUMBA", 1)
    sums = bins_module._sum_by_key(given, Scheme("width", 1), n_keys)
    (used,) = np.flatnonzero(sums[:, 0])
    assert sums[used, 0] == rows
    assert sums[used, 1] + sums[used, 2] == pytest.approx(rows * value, rel=1e-15)
    monkeypatch.setattr(bins_module, "compiled_add_pairs", lambda _dtype: bins_module.add_pairs)
    assert bins_module._sum_by_key(given, Scheme("width", 1), n_keys).tobytes() == sums.tobytes()


def test_compiled_code_is_used_where_it_is_at_hand_or_repays_its_loading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def compiled_version(plain: Callable[..., None], module: str, _call: object) -> Callable[..., None]:
        asked.append(module)
        return plain

    monkeypatch.setattr(bins_module, "compiled_version", compiled_version)
    monkeypatch.setattr(bins_module, "compiled_add_pairs", bins_module.compiled_add_pairs.__wrapped__)
    given = random_pairs(100, "f8")
    monkeypatch.setattr(bins_module, "MIN_PAIRS_WITH_NUMBA", 100)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    first = bins_in_one_pass(given, Scheme(), 1)
    assert asked == []
    monkeypatch.setattr(bins_module, "MIN_COMPILED_PAIRS", 100)
    assert bins_in_one_pass(given, Scheme(), 1).confidence.tobytes() == first.confidence.tobytes()
    assert asked == ["calib_core.compiled_bins"]
    monkeypatch.setattr(bins_module, "MIN_COMPILED_PAIRS", 101)
    monkeypatch.setitem(sys.modules, "numba", ModuleType("numba"))
    bins_in_one_pass(given, Scheme(), 1)
    assert asked == ["calib_core.compiled_bins"] * 2
    bins_in_one_pass(random_pairs(99, "f8"), Scheme(), 1)
    bins_in_one_pass(random_pairs(100, "f2"), Scheme(), 1)  # of float16 NumPy looks the bins up
    assert asked == ["calib_core.compiled_bins"] * 2


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


@pytest.mark.parametrize("n", [0, 1, 127, 2**15, 2**15 + 1, 100_003, 300_000])
def test_a_sum_made_part_by_part_is_that_of_one_array_to_the_bit(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n) * 10.0 ** np.random.default_rng(n + 1).integers(-9, 9, n)
    assert pairwise_sum(n, lambda part: values[part]) == values.sum()
    running = running_sum()
    parts = [running(values[begin : begin + 1_000]) for begin in range(0, n, 1_000)]
    assert np.array_equal(np.concatenate([np.zeros(0), *parts]), np.cumsum(values))


def test_a_sum_made_part_by_part_lets_go_of_its_terms() -> None:
    """At once, not when garbage is collected: they may be columns of millions of rows."""
    values = np.ones(100)

    def terms(part: slice) -> NDArray[np.float64]:
        return values[part]

    kept = ref(terms)
    gc.disable()
    try:
        pairwise_sum(100, terms)
        del terms
        assert kept() is None
    finally:
        gc.enable()


def test_a_running_sum_of_small_whole_numbers_does_not_overflow() -> None:
    running, ones = running_sum(), np.ones(100, np.int8)
    assert [int(running(ones)[-1]) for _ in range(3)] == [100, 200, 300]

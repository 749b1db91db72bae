"""Every confidence falls into the bin that the conventions give."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import MAX_BINS, Binning, Scheme, assign_bins, bin_of
from core import oracle
from core.edge_cases import (
    CHECKED_BINS,
    MAX_PAIRS,
    WIDTHS,
    confidences,
    same_sums,
    some_pairs,
    sums_of,
    values_around_edge,
)
from core.oracle import Bins, Pair

# --- where an edge is


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("bins", CHECKED_BINS)
def test_values_at_and_beside_every_edge_fall_where_the_definition_says(bins: int, width: int) -> None:
    values = [value for m in range(bins + 1) for value in values_around_edge(m, bins, width)]
    expected = [oracle.bin_index(value, width, bins) for value in values]
    assert bin_of(np.array(values, f"f{width}"), bins).tolist() == expected


@pytest.mark.parametrize("width", WIDTHS)
def test_a_stored_m_of_m_is_the_last_of_bin_m_for_every_m(width: int) -> None:
    for bins in range(1, MAX_BINS + 1):
        stored = (np.arange(1, bins + 1) / bins).astype(f"f{width}")
        assert np.array_equal(bin_of(stored, bins), np.arange(bins))


def test_a_bin_holds_its_upper_edge_and_not_its_lower() -> None:
    confidence = np.array([0.0, 0.05, 0.1, 0.11, 0.2, 0.95, 1.0])
    assert bin_of(confidence, 10).tolist() == [0, 0, 0, 1, 1, 9, 9]


def test_a_computed_confidence_may_pass_its_edge_by_a_rounding() -> None:
    assert 0.1 + 0.2 > 0.3
    assert bin_of(np.array([0.1 + 0.2, 0.3 + 9e-13, 0.3 + 2e-12]), 10).tolist() == [2, 2, 3]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_narrow_value_is_judged_in_its_own_dtype(dtype: type[np.floating]) -> None:
    tenths = np.array([m / 10 for m in range(1, 11)], dtype)
    assert np.any(tenths.astype(np.float64) > np.arange(1, 11) / 10 + 1e-12)  # as float64 they would slip
    assert bin_of(tenths, 10).tolist() == list(range(10))


def test_a_bin_of_one_value_is_told_from_one_of_two_near_ones() -> None:
    sums = BinSums.from_pairs([0.05, 0.05 + 1e-9, 0.45, 0.4501, 0.9], [0, 1, 0, 1, 1])
    assert sums.binned(Scheme("width", 10)).has_single_value.tolist() == [True, False, True]


@pytest.mark.parametrize("bins", [3, 5, 7, 10, 20, 50, 100])
@pytest.mark.parametrize("factor", [2, 3, 7, 10])
def test_bins_of_m_nest_in_those_of_km(bins: int, factor: int) -> None:
    values = np.array([v for m in range(bins + 1) for v in values_around_edge(m, bins, 8)])
    assert np.array_equal(bin_of(values, bins), bin_of(values, bins * factor) // factor)


def test_the_oracle_s_edges_are_exact_ones_rounded_once() -> None:
    """For float16 and float32 to the bit; for float64 within the last two digits of 1e-12's tolerance."""
    for bins in CHECKED_BINS:
        for m in range(1, bins):
            exact = Fraction(m, bins) + Fraction(1, 10**12)
            for width in (2, 4):
                assert oracle.edges(bins, width)[m - 1] == oracle.as_stored(float(exact), width)
            assert abs(Fraction(oracle.edges(bins, 8)[m - 1]) - exact) <= Fraction(math.ulp(1.0))


def test_left_closed_histograms_agree_where_no_confidence_is_on_an_edge() -> None:
    """NumPy's histogram is left-closed, so it is a peer only off the edges."""
    confidence = np.random.default_rng(3).integers(0, 4000, 5000) / 4000 + 1 / 8000
    for bins in (5, 10, 20, 50, 100, 200, 500, 1000):
        counts, _ = np.histogram(confidence, bins=bins, range=(0, 1))
        assert np.array_equal(np.bincount(bin_of(confidence, bins), minlength=bins), counts)


# --- schemes


@pytest.mark.parametrize("bins", [0, -1, 1001, 2.5])
def test_an_impossible_number_of_bins_is_refused(bins: int) -> None:
    with pytest.raises(ValueError, match=r"bins \(M\) must be a whole number from 1 to 1000"):
        Scheme("width", bins)


def test_an_unknown_binning_is_refused() -> None:
    with pytest.raises(ValueError, match="binning must be one of width, mass, natural, not 'height'"):
        Scheme("height")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("binning", ["width", "mass", "natural"])
@given(data=st.data())
def test_bins_hold_what_the_definition_puts_there(binning: Binning, data: st.DataObject) -> None:
    pairs = data.draw(some_pairs())
    bins = data.draw(st.sampled_from(CHECKED_BINS))
    how = Bins(binning, bins)
    binned = sums_of(pairs).binned(Scheme(how.binning, bins))
    members = oracle.members(pairs, how)
    assert binned.index.tolist() == sorted(set(oracle.indices(pairs, how)))
    assert binned.count.tolist() == [len(inside) for inside in members]
    assert binned.correct.tolist() == [sum(pair.correct for pair in inside) for inside in members]
    for at, inside in enumerate(members):
        values = [Fraction(pair.confidence) for pair in inside]
        hits = sum((v for v, pair in zip(values, inside, strict=True) if pair.correct), Fraction(0))
        assert float(binned.confidence[at]) == pytest.approx(float(sum(values)), rel=0, abs=1e-12)
        squares = float(sum(v * v for v in values))
        assert float(binned.squared_confidence[at]) == pytest.approx(squares, rel=0, abs=1e-12)
        assert float(binned.correct_confidence[at]) == pytest.approx(float(hits), rel=0, abs=1e-12)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("binning", ["width", "mass", "natural"])
@given(data=st.data())
def test_assign_numbers_bins_as_the_sums_do(binning: Binning, width: int, data: st.DataObject) -> None:
    values = np.array(data.draw(st.lists(confidences(width), min_size=1, max_size=24)), f"f{width}")
    scheme = Scheme(binning, data.draw(st.sampled_from(CHECKED_BINS)))
    index, count = np.unique(assign_bins(values, scheme), return_counts=True)
    binned = BinSums.from_pairs(values, np.zeros(values.size)).binned(scheme)
    assert (index.tolist(), count.tolist()) == (binned.index.tolist(), binned.count.tolist())


def test_low_and_high_are_edges_of_fixed_bins_and_extremes_of_others() -> None:
    sums = sums_of([Pair(0.25, 8, 1), Pair(0.375, 2, 0), Pair(0.28125, 4, 1), Pair(1.0, 8, 1)])
    fixed, mass, natural = (sums.binned(Scheme(binning, 2)) for binning in ("width", "mass", "natural"))
    assert (fixed.low.tolist(), fixed.high.tolist()) == ([0.0, 0.5], [0.5, 1.0])
    assert (mass.low.tolist(), mass.high.tolist()) == ([0.25, 0.375], [0.28125, 1.0])
    assert natural.low.tolist() == natural.high.tolist() == [0.25, 0.28125, 0.375, 1.0]


# --- equal mass and ties


@given(some_pairs(), st.integers(1, 50))
def test_equal_mass_never_cuts_a_tie_and_keeps_to_m(pairs: list[Pair], bins: int) -> None:
    binned = sums_of(pairs).binned(Scheme("mass", bins))
    assert binned.n_bins <= bins
    assert np.all(binned.high[:-1] < binned.low[1:])


def test_equal_mass_without_ties_fills_bins_evenly() -> None:
    sums = BinSums.from_pairs(np.arange(1, 13) / 13, np.zeros(12))
    assert sums.binned(Scheme("mass", 4)).count.tolist() == [3, 3, 3, 3]
    assert sums.binned(Scheme("mass", 5)).count.tolist() == [2, 2, 3, 2, 3]  # ⌈5r/12⌉ by hand


def test_equal_mass_says_how_many_bins_there_really_are() -> None:
    sums = BinSums.from_pairs([0.2] * 6 + [0.9] * 2, [0] * 8)
    binned = sums.binned(Scheme("mass", 4))
    assert binned.index.tolist() == [2, 3]  # ⌈4·6/8⌉ = 3 and ⌈4·8/8⌉ = 4
    assert binned.count.tolist() == [6, 2]


@given(some_pairs(widths=(8,)), st.integers(1, 50), st.permutations(range(MAX_PAIRS)))
def test_equal_mass_does_not_depend_on_order(pairs: list[Pair], bins: int, order: list[int]) -> None:
    values = np.array([pair.confidence for pair in pairs])
    moved = np.array([at for at in order if at < values.size])
    scheme = Scheme("mass", bins)
    assert np.array_equal(assign_bins(values[moved], scheme), assign_bins(values, scheme)[moved])
    assert same_sums(sums_of([pairs[at] for at in moved]), sums_of(pairs))


@pytest.mark.parametrize("binning", ["mass", "natural"])
@given(data=st.data())
def test_computed_confidences_are_tied_to_twelve_decimals(binning: Binning, data: st.DataObject) -> None:
    base = data.draw(st.lists(confidences(8), min_size=1, max_size=8))
    wobble = data.draw(st.lists(st.sampled_from((0.0, 1e-16, 3e-13, 2e-12)), min_size=1, max_size=3))
    pairs = [Pair(min(1.0, c + w), 8, int(w > 0)) for c in base for w in wobble]
    bins = data.draw(st.integers(1, 30))
    how = Bins(binning, bins, computed=True)
    scheme = Scheme(how.binning, bins)
    binned = sums_of(pairs, computed=True).binned(scheme)
    assert binned.count.tolist() == [len(inside) for inside in oracle.members(pairs, how)]
    values = np.array([pair.confidence for pair in pairs])
    assert assign_bins(values, scheme, computed=True).tolist() == oracle.indices(pairs, how)


def test_stored_confidences_are_tied_only_when_equal() -> None:
    values = [0.5, 0.5 + 1e-13]
    assert BinSums.from_pairs(values, [0, 1]).natural_bins().n_bins == 2
    assert BinSums.from_pairs(values, [0, 1], computed=True).natural_bins().n_bins == 1
    assert assign_bins(np.array(values), Scheme("natural")).tolist() == [0, 1]
    assert assign_bins(np.array(values), Scheme("natural"), computed=True).tolist() == [0, 0]


def test_one_number_stored_in_two_dtypes_is_one_level() -> None:
    assert sums_of([Pair(0.5, 2, 1), Pair(0.5, 4, 0), Pair(0.5, 8, 1)]).natural_bins().count.tolist() == [3]

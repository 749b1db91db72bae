"""The sums are additive and exact, and reject invalid pairs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Binning, Scheme, assign_bins, bin_of
from core.edge_cases import CELLS, MAX_PAIRS, same_sums, some_pairs, sums_of
from core.oracle import Pair


@given(
    some_pairs(),
    st.lists(st.integers(0, 3), min_size=MAX_PAIRS, max_size=MAX_PAIRS),
    st.permutations(range(4)),
)
def test_merging_parts_in_any_order_is_the_whole(
    pairs: list[Pair], part_of: list[int], order: list[int]
) -> None:
    merged = BinSums.from_pairs([], [])
    for wanted in order:
        part = [pair for pair, at in zip(pairs, part_of, strict=False) if at == wanted]
        merged = merged.merge(sums_of(part))
    assert same_sums(merged, sums_of(pairs))


def test_merging_keeps_classes_apart_and_adds_rows() -> None:
    one = BinSums.from_pairs([0.25, 0.75], [1, 0], group=[0, 1], n_rows=1, n_groups=2)
    other = BinSums.from_pairs([0.25, 0.25, 0.5], [0, 1, 0], group=[0, 1, 2], n_rows=1, n_groups=3)
    both = one.merge(other)
    assert (both.n_rows, both.n_groups, both.n_pairs) == (2, 3, 5)
    assert both.group.tolist() == [0, 1, 1, 2]
    assert both.count.tolist() == [2, 1, 1, 1]
    assert both.correct.tolist() == [1, 1, 0, 0]
    assert same_sums(both, other.merge(one))
    pooled = both.pooled()
    assert (pooled.n_groups, pooled.count.tolist()) == (1, [3, 1, 1])
    assert pooled.pooled() is pooled


@pytest.mark.parametrize("computed", [False, True])
@given(pairs=some_pairs(), bins=st.sampled_from([1, 3, 7, 10, 3000]))
def test_sorting_one_class_gives_what_sorting_classes_gives(
    pairs: list[Pair], bins: int, *, computed: bool
) -> None:
    confidence = np.array([pair.confidence for pair in pairs], np.float64)
    correct = [pair.correct for pair in pairs]
    one = BinSums.from_pairs(confidence, correct, computed=computed)
    classes = BinSums.from_pairs(
        confidence, correct, group=np.zeros(confidence.size, int), n_groups=2, computed=computed
    )
    assert same_sums(one, dataclasses.replace(classes, n_groups=1))
    for scheme in (Scheme("width", bins), Scheme("mass", bins)):
        fast, general = one.cut_bins(scheme), classes.cut_bins(scheme)
        assert fast.bin_index.tolist() == general.bin_index.tolist()
        assert fast.find_pieces().tolist() == general.find_pieces().tolist()
    n_bins = one.natural_bins().n_bins
    assert one.n_natural_bins == n_bins
    assert [one.has_more_natural_bins(n_bins + more) for more in (-1, 0)] == [True, False]


def test_merging_with_computed_confidences_judges_ties_as_computed() -> None:
    stored, computed = BinSums.from_pairs([0.5], [1]), BinSums.from_pairs([0.5 + 1e-14], [1], computed=True)
    assert stored.merge(computed).natural_bins().n_bins == computed.merge(stored).natural_bins().n_bins == 1


def test_the_state_cannot_be_changed() -> None:
    sums = BinSums.from_pairs([0.5], [1])
    for name in CELLS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(sums, name)[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        sums.n_rows = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_minus_zero_is_zero() -> None:
    sums = BinSums.from_pairs([-0.0, 0.0], [0, 1])
    assert sums.count.tolist() == [2]
    assert not np.signbit(sums.value).any()


def test_whole_numbers_and_booleans_are_confidences_too() -> None:
    assert BinSums.from_pairs([0, 1], [False, True]).itemsize.tolist() == [8, 8]
    assert BinSums.from_pairs(np.array([0.5], np.longdouble), [1]).itemsize.tolist() == [8]


@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([0.5, 0.5], [1], "two flat lists of the same length"),
        ([[0.5]], [[1]], "two flat lists of the same length"),
        ([1.1], [1], "confidences must be numbers from 0 to 1"),
        ([-0.1], [1], "confidences must be numbers from 0 to 1"),
        ([math.nan], [1], "confidences must be numbers from 0 to 1"),
        ([0.5], [2], "outcomes must be 0 or 1"),
        ([0.5], [math.nan], "outcomes must be 0 or 1"),
        ([0.5] * 40_000 + [math.nan], [1] * 40_001, "confidences must be numbers from 0 to 1"),
        ([0.5] * 40_000 + [1.5], [1] * 40_001, "confidences must be numbers from 0 to 1"),
        ([0.5] * 40_001, [1] * 40_000 + [2], "outcomes must be 0 or 1"),
    ],
    ids=range(10),
)
def test_what_is_not_a_pair_is_refused(confidence: list[float], correct: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BinSums.from_pairs(confidence, correct)


@pytest.mark.parametrize("group", [[2], [-1], [0, 1]])
def test_a_class_out_of_range_is_refused(group: list[int]) -> None:
    with pytest.raises(ValueError, match="classes must be whole numbers from 0 to 1, one per pair"):
        BinSums.from_pairs([0.5], [1], group=group, n_groups=2)


# --- the table


def test_the_table_has_one_row_per_non_empty_bin() -> None:
    table = BinSums.from_pairs([0.05, 0.1, 0.95, 1.0], [0, 1, 1, 1]).table(10)
    assert table.columns == ["bin", "low", "high", "count", "confidence", "accuracy"]
    assert table["bin"].to_list() == [1, 10]
    assert table["low"].to_list() == [0.0, 0.9]
    assert table["high"].to_list() == [0.1, 1.0]
    assert table["count"].to_list() == [2, 2]
    assert table["confidence"].to_list() == pytest.approx([0.075, 0.975], abs=1e-12)
    assert table["accuracy"].to_list() == [0.5, 1.0]


@pytest.mark.parametrize("binning", ["width", "mass", "natural"])
def test_nothing_has_no_bins(binning: Binning) -> None:
    scheme = Scheme(binning)
    empty = BinSums.from_pairs([], [])
    assert (empty.n_pairs, empty.n_rows, empty.binned(scheme).n_bins) == (0, 0, 0)
    assert empty.table(binning=scheme.binning).height == 0
    assert assign_bins(np.zeros(0), scheme).size == 0


def test_edges_of_neighbouring_bins_are_one_number() -> None:
    binned = BinSums.from_pairs(np.arange(1, 1001) / 1000, np.zeros(1000)).binned(Scheme("width", 1000))
    assert np.array_equal(binned.high[:-1], binned.low[1:])


def test_a_million_pairs_add_up_as_a_careful_sum_does() -> None:
    random = np.random.default_rng(11)
    confidence = random.random(1_000_000)
    correct = random.random(confidence.size) < confidence
    binned = BinSums.from_pairs(confidence, correct).binned(Scheme("width", 10))
    index = bin_of(confidence, 10)
    for at in range(10):
        inside = confidence[index == at]
        for ours, exact in (
            (binned.confidence[at], math.fsum(inside.tolist())),
            (binned.squared_confidence[at], math.fsum((inside * inside).tolist())),
            (binned.correct_confidence[at], math.fsum((inside * correct[index == at]).tolist())),
        ):
            assert abs(ours - exact) <= 1e-14 * inside.size
        assert binned.correct[at] == np.count_nonzero(correct[index == at])


def test_a_bin_s_sums_are_rounded_once_whatever_the_order() -> None:
    confidence = 0.3 + 0.1 * np.random.default_rng(0).random(3000)  # one bin of 7
    for ordered in (confidence, confidence[::-1]):
        binned = BinSums.from_pairs(ordered, np.ones(3000)).binned(Scheme("width", 7))
        assert binned.confidence.tolist() == [math.fsum(confidence)]
        assert binned.squared_confidence.tolist() == [math.fsum(confidence * confidence)]


def test_the_last_bins_are_kept_those_that_nest_apart_from_the_others() -> None:
    sums = BinSums.from_pairs([0.25, 0.35, 0.75, 0.75], [0, 1, 1, 1])
    ten, seven = sums.binned(Scheme("width", 10)), sums.binned(Scheme("width", 7))
    assert sums.binned(Scheme("width", 10)) is ten
    assert sums.binned(Scheme("width", 7)) is seven
    assert sums.binned(Scheme("width", 20)).count.tolist() == [1, 1, 2]
    assert sums.binned(Scheme("width", 7)) is seven
    assert sums.binned(Scheme("mass", 2)).scheme == Scheme("mass", 2)
    assert sums.binned(Scheme("width", 10)).count.tolist() == ten.count.tolist() == [1, 1, 2]

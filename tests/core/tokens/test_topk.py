"""Top-k lists give the same results as whole distributions wherever that is claimed."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.edges import Scheme
from calib_core.tokens.bounds import full_ece_bounds, largest_exact_bins
from calib_core.tokens.grid import GRID_CELLS, SERVED_BINS, GridSums
from calib_core.tokens.sums import MAX_EXAMPLES, N_DRAWS, TokenSums
from calib_core.tokens.topk import TopKEntries, TopKReducer
from core.oracle import Bins, Pair, Row, brier_multi, ece, full_ece, nll
from core.topk_builders import random_positions, reduce_topk, topk_entries, whole_and_cut_rows
from core.topk_completions import Stored, cut_list

EXACT = 1e-12


def value(grid: GridSums, bins: int) -> float:
    return float(grid.binned(Scheme("width", bins)).absolute_gap.sum()) / grid.n_rows


def top_pair(row: Row) -> Pair:
    top = max(row.probs)
    return Pair(top, row.width, int(row.probs.index(top) == row.label))


def is_exact(answer: float, truth: Any) -> bool:
    return abs(answer - float(truth)) <= EXACT


@given(st.integers(0, 10**6), st.integers(3, 12), st.integers(1, 11), st.sampled_from([8, 64, 100, 360]))
def test_topk_is_dense_wherever_it_is_exact(seed: int, classes: int, k: int, lattice: int) -> None:
    rows, positions = whole_and_cut_rows(np.random.default_rng(seed), classes, lattice, 6, min(k, classes))
    sums = reduce_topk(topk_entries(positions), 0)
    assert (sums.n_rows, sums.n_classes, sums.all_labels.n_pairs) == (6, classes, 6 * classes)
    for bins in SERVED_BINS[: SERVED_BINS.index(largest_exact_bins(sums)) + 1]:
        low, high = full_ece_bounds(sums, bins)
        truth = full_ece(rows, Bins("width", bins))
        assert low == high
        assert is_exact(low, truth)
        assert is_exact(value(sums.all_labels, bins), truth)
    for bins in (2, 10, 1000):
        assert is_exact(
            value(sums.top_label, bins), ece([top_pair(row) for row in rows], Bins("width", bins))
        )
    impossible = sum(row.probs[row.label] == 0 for row in rows)
    possible = [row for row in rows if row.probs[row.label] > 0]
    assert sums.all_labels.n_infinite_losses == impossible
    assert math.isclose(
        sums.all_labels.log_loss_sum,
        float((nll(possible, Bins()) or 0) * len(possible)),
        rel_tol=1e-12,
        abs_tol=1e-12,
    )


@pytest.mark.parametrize(("dtype", "width"), [(np.float16, 2), (np.float32, 4), (np.float64, 8)])
def test_a_stored_dtype_decides_where_a_value_falls(dtype: Any, width: int) -> None:
    rows, positions = whole_and_cut_rows(
        np.random.default_rng(7), 9, 64, 12, 8
    )  # 64ths are exact in every dtype
    rows = [replace(row, width=width) for row in rows]
    sums = reduce_topk(topk_entries(positions, dtype), 0)
    for bins in (5, 10, 250):
        assert is_exact(value(sums.all_labels, bins), full_ece(rows, Bins("width", bins)))


@pytest.mark.parametrize("short_of", [0, 1])
def test_all_but_one_entry_is_all_there_is_to_know(short_of: int) -> None:
    rows, positions = whole_and_cut_rows(np.random.default_rng(3), 6, 90, 20, 6 - short_of)
    sums = reduce_topk(topk_entries(positions), 0)
    assert sums.unstored is None
    assert largest_exact_bins(sums) == SERVED_BINS[-1]
    for bins in SERVED_BINS:
        assert is_exact(value(sums.all_labels, bins), full_ece(rows, Bins("width", bins)))
    assert is_exact(sums.all_labels.squared_error_sum / 20, brier_multi(rows, Bins()))
    assert sums.sum_deviation <= 20 * 1e-15


def test_a_small_rest_is_a_rest_and_an_error_of_rounding_is_none() -> None:
    millionth = reduce_topk(topk_entries([Stored(9, 10**6, {0: 600_000, 1: 399_999}, 0, 600_000)]), 0)
    assert millionth.unstored is not None
    assert millionth.all_labels.confidence[0] == pytest.approx(1e-6)
    nothing = reduce_topk(
        topk_entries([Stored(9, 2 * 10**14, {0: 10**14, 1: 10**14 - 10}, 0, 10**14)]), 0
    )  # 5e-14
    assert nothing.unstored is None
    assert nothing.all_labels.confidence[0] == 0


def test_how_an_unknown_rest_is_split_is_left_unknown() -> None:
    sums = reduce_topk(topk_entries([Stored(9, 10, {0: 5, 1: 2}, 0, 5)]), 0)
    assert sums.unstored is not None
    assert sums.by_class is None
    assert "every class" in (sums.no_class_sums_reason or "")
    assert np.isnan(sums.all_labels.squared_confidence[0])
    assert not np.isnan(sums.all_labels.squared_confidence[1:]).any()
    assert sums.all_labels.count.tolist() == [7, 1, 1]
    assert sums.all_labels.confidence.tolist() == pytest.approx([0.3, 0.2, 0.5])


def test_occurrences_and_the_top_label() -> None:
    # Equal largest entries: the first class is the top label, whatever the order of the list.
    positions = [Stored(4, 10, {2: 4, 1: 4}, target, 4) for target in (1, 1, 2)]
    sums = reduce_topk(topk_entries(positions), 0)
    assert sums.occurrences.tolist() == [0, 2, 1, 0]
    assert (sums.top_label.n_correct, sums.top_label.n_pairs) == (2, 3)
    assert sums.top_label.confidence_sum == pytest.approx(1.2)
    assert sums.examples[0].ids == (1, 2)


def test_an_impossible_target_counts_and_costs_no_finite_loss() -> None:
    sums = reduce_topk(
        topk_entries([Stored(4, 10, {0: 6, 1: 4}, 3, 0), Stored(4, 10, {0: 5, 1: 5}, 1, 5)]), 0
    )
    assert sums.all_labels.n_infinite_losses == 1
    assert sums.all_labels.log_loss_sum == pytest.approx(math.log(2))
    assert sums.all_labels.n_correct == 2


def parts_of(positions: list[Stored], *cuts: int) -> list[TopKEntries]:
    edges = [0, *cuts, len(positions)]
    return [topk_entries(positions[low:high], row=low) for low, high in pairwise(edges)]


def assert_same(one: TokenSums, two: TokenSums) -> None:
    for name in ("top_label", "all_labels"):
        mine, theirs = getattr(one, name), getattr(two, name)
        assert (mine.n_rows, mine.n_infinite_losses) == (theirs.n_rows, theirs.n_infinite_losses)
        assert mine.cell.tolist() == theirs.cell.tolist()
        for field in ("count", "correct", "confidence", "squared_confidence", "correct_confidence"):
            np.testing.assert_allclose(getattr(mine, field), getattr(theirs, field), rtol=0, atol=EXACT)
        assert mine.log_loss_sum == pytest.approx(theirs.log_loss_sum, abs=EXACT)
    assert one.occurrences.tolist() == two.occurrences.tolist()
    assert one.sum_deviation == pytest.approx(two.sum_deviation, abs=EXACT)
    assert one.draws is not None
    assert two.draws is not None
    assert np.array_equal(one.draws.all_labels, two.draws.all_labels)
    assert np.array_equal(one.draws.top_label, two.draws.top_label)


def test_parts_in_any_order_are_the_whole() -> None:
    positions = random_positions(np.random.default_rng(11), 7, 50, 40)
    whole = reduce_topk(topk_entries(positions), 4)
    parts = parts_of(positions, 1, 17, 30)
    for order in ((0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)):
        reducer = TopKReducer(7, 4)
        merged = reduce_topk(parts[order[0]], 4)
        for at in order:
            reducer.add(parts[at])
        for at in order[1:]:
            merged = merged.merge(reduce_topk(parts[at], 4))
        assert_same(reducer.result(), whole)
        assert_same(merged, whole)
        assert largest_exact_bins(reducer.result()) == largest_exact_bins(merged) == largest_exact_bins(whole)


def test_a_reader_of_the_sums_may_go_on_adding() -> None:
    positions = random_positions(np.random.default_rng(2), 7, 50, 6)
    reducer = TopKReducer(7, 0)
    reducer.add(topk_entries(positions[:3]))
    before = reducer.result()
    said = (
        before.all_labels.confidence_sum,
        before.occurrences.sum(),
        before.draws and before.draws.all_labels.sum(),
    )
    reducer.add(topk_entries(positions[3:], row=3))
    assert said == (
        before.all_labels.confidence_sum,
        before.occurrences.sum(),
        before.draws and before.draws.all_labels.sum(),
    )


def test_nothing_added_is_nothing() -> None:
    sums = TopKReducer(5, 0).result()
    assert (sums.n_rows, sums.all_labels.n_pairs, sums.unstored, sums.examples) == (0, 0, None, ())


def test_k_has_to_stay() -> None:
    reducer = TopKReducer(5, 0)
    with pytest.raises(ValueError, match="9 classes after 5"):
        reducer.add(topk_entries([Stored(9, 10, {0: 5}, 0, 5)]))


def test_one_class_per_position_is_drawn_from_what_is_stored() -> None:
    position = cut_list(8, 100, [50, 30, 10, 4, 2, 2, 1, 1], 2, 5)
    number = 400
    draws = reduce_topk(topk_entries([position] * number), 1).draws
    assert draws is not None
    assert draws.all_labels.shape == draws.top_label.shape == (N_DRAWS, GRID_CELLS)
    assert (draws.all_labels.sum(axis=1) == number).all()
    cells = np.flatnonzero(draws.all_labels.sum(axis=0)).tolist()
    shares = {cell: float(draws.all_labels[:, cell].mean()) / number for cell in cells}
    assert set(shares) == {0, 59, 899, 1499}
    for cell, prob in ((1499, 0.5), (899, 0.3), (59, 0.02), (0, 0.18)):  # the target is appended: .02
        assert abs(shares[cell] - prob) < 5 * math.sqrt(prob * (1 - prob) / (number * N_DRAWS))
    assert np.flatnonzero(draws.top_label.sum(axis=0)).tolist() == [1499]
    assert np.array_equal(draws.top_label[:, 1499], draws.all_labels[:, 1499])
    spread = draws.all_labels[:, 1499].std()
    assert 0.8 < spread / math.sqrt(number * 0.25) < 1.2


def test_another_seed_gives_other_draws() -> None:
    positions = random_positions(np.random.default_rng(2), 7, 50, 20)
    one, two = (reduce_topk(topk_entries(positions), seed).draws for seed in (1, 2))
    assert one is not None
    assert two is not None
    assert not np.array_equal(one.all_labels, two.all_labels)


def test_a_certain_position_always_draws_its_label() -> None:
    draws = reduce_topk(topk_entries([Stored(9, 10, {4: 10}, 4, 10)]), 0).draws
    assert draws is not None
    assert (draws.all_labels[:, GRID_CELLS - 1] == 1).all()


def test_a_sum_below_one_draws_nothing_that_is_not_stored() -> None:
    position = Stored(2, 10_000, {0: 6_000, 1: 3_991}, 0, 6_000)
    draws = reduce_topk(topk_entries([position] * 100), 0).draws
    assert draws is not None
    assert np.flatnonzero(draws.all_labels.sum(axis=0)).tolist() == [1197, 1799]


def test_examples_are_the_first_positions_as_they_were_stored() -> None:
    position = Stored(9, 100, {3: 20, 1: 50}, 7, 5)
    reducer = TopKReducer(9, 0)
    for start in range(0, 100, 40):
        reducer.add(topk_entries([position] * 40, row=start))
    examples = reducer.result().examples
    assert [example.row for example in examples] == list(range(MAX_EXAMPLES))
    assert (examples[0].ids, examples[0].probs, examples[0].target) == ((1, 3), (0.5, 0.2), 7)
    assert (examples[0].target_prob, examples[0].n_classes) == (0.05, 9)
    assert examples[0].rest_mass == pytest.approx(0.3)


def test_an_example_keeps_the_largest_of_a_long_list() -> None:
    position = cut_list(40, 820, list(range(1, 41)), 30, 39)
    (example,) = reduce_topk(topk_entries([position]), 0).examples
    assert example.ids == tuple(range(39, 19, -1))
    assert example.rest_mass == pytest.approx(sum(range(1, 21)) / 820)

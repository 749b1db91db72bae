"""The bounds of Full-ECE hold for every completion, are attained, and "exact" means exact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.tokens.bounds import full_ece_bounds, largest_exact_bins
from calib_core.tokens.grid import SERVED_BINS
from calib_core.tokens.sums import TokenSums
from calib_core.tokens.topk import TopKReducer
from core.topk_builders import random_positions, reduce_topk, topk_entries
from core.topk_completions import Stored, cut_list, full_eces

EXAMPLE = [
    Stored(8, 100, {0: 50, 1: 20, 2: 10}, 0, 50),
    Stored(8, 1000, {0: 900, 1: 30, 2: 20}, 6, 5),
    Stored(8, 100, {0: 15, 1: 14, 2: 13}, 3, 13),
]


def sums_of(positions: Sequence[Stored]) -> TokenSums:
    return reduce_topk(topk_entries(positions), 0)


def test_bounds_hold_for_every_completion_and_are_mostly_reached() -> None:
    chance = np.random.default_rng(5)
    open_, low_reached, high_reached = 0, 0, 0
    for _ in range(250):
        classes, bins = int(chance.integers(3, 8)), int(chance.integers(2, 7))
        lattice = int(chance.choice([10, 12, 15, 20, 24]))
        positions = random_positions(chance, classes, lattice, int(chance.integers(1, 3)))
        truth = full_eces(positions, bins)
        low, high = full_ece_bounds(sums_of(positions), bins)
        assert low - 1e-12 <= min(truth) <= max(truth) <= high + 1e-12, positions
        if low == high:
            assert len(truth) == 1
            continue
        open_ += 1
        low_reached += abs(low - float(min(truth))) < 1e-9
        high_reached += abs(high - float(max(truth))) < 1e-9
    assert open_ > 40
    assert low_reached > 0.7 * open_
    assert high_reached > 0.5 * open_


@st.composite
def positions_and_bins(draw: st.DrawFn) -> tuple[list[Stored], int]:
    classes, bins = draw(st.integers(3, 7)), draw(st.sampled_from([2, 3, 4, 5, 6]))
    lattice = bins * draw(st.integers(2, 6)) + draw(st.integers(0, 1))  # on the edges, and beside them
    positions: list[Stored] = []
    for _ in range(draw(st.integers(1, 2))):
        cuts = sorted(draw(st.lists(st.integers(0, lattice), min_size=classes - 1, max_size=classes - 1)))
        steps = [high - low for low, high in zip([0, *cuts], [*cuts, lattice], strict=True)]
        k, target = draw(st.integers(1, classes - 1)), draw(st.integers(0, classes - 1))
        positions.append(cut_list(classes, lattice, steps, k, target))
    return positions, bins


@settings(max_examples=60)
@given(positions_and_bins())
def test_no_adversary_gets_out_of_the_bounds(way: tuple[list[Stored], int]) -> None:
    positions, bins = way
    truth = full_eces(positions, bins)
    low, high = full_ece_bounds(sums_of(positions), bins)
    assert 0 <= low <= float(min(truth)) + 1e-12
    assert float(max(truth)) - 1e-12 <= high <= 2 + 1e-12


def test_the_worked_example() -> None:
    sums = sums_of(EXAMPLE)
    assert full_ece_bounds(sums, 5) == pytest.approx((0.6, 0.6), abs=1e-12)
    low, high = full_ece_bounds(sums, 10)
    assert low < 2 / 3 < high
    assert largest_exact_bins(sums) == 6
    unseen = sums.unstored
    assert unseen is not None
    assert unseen.min_stored == 3
    assert (unseen.n_ambiguous[6], unseen.n_ambiguous[8], unseen.n_ambiguous[10]) == (0, 1, 1)
    # r = 1 − .55 = .45; four classes are left, each at most .13, all above .1 or none above .2.
    assert unseen.mass_bounds[10] == pytest.approx([0.45, 0.45, *[0.0] * 8], abs=1e-12)
    # M = 20: the first position's rest .2 is ambiguous too (its smallest entry is .1), above .05 only.
    assert unseen.mass_bounds[20][:4] == pytest.approx([0.65, 0.65, 0.45, 0.0], abs=1e-12)


def test_how_many_unstored_values_reach_a_bin_is_bounded_by_the_rest() -> None:
    # .4 and .3 are stored, .3 is left: above .2 lies at most one value, and it is no larger than .3.
    unseen = sums_of([Stored(9, 100, {0: 40, 1: 30}, 0, 40)]).unstored
    assert unseen is not None
    assert unseen.mass_bounds[5] == pytest.approx([0.3, 0.3, 0, 0, 0], abs=1e-12)
    # .26 and .24 are stored, .5 is left: above .2 lie two values, no larger than .24 each.
    unseen = sums_of([Stored(9, 100, {0: 26, 1: 24}, 0, 26)]).unstored
    assert unseen is not None
    assert unseen.mass_bounds[5] == pytest.approx([0.5, 0.48, 0, 0, 0], abs=1e-12)
    # .24 and .22 are stored, .54 is left: five values fit above .1, two above .2, no larger than .22 each.
    unseen = sums_of([Stored(9, 100, {0: 24, 1: 22}, 0, 24)]).unstored
    assert unseen is not None
    assert unseen.mass_bounds[10] == pytest.approx([0.54, 0.54, 0.44, *[0.0] * 7], abs=1e-12)
    # .58 and .12 are stored, .3 is left (.30000000000000004 in floats): above .1 lie two values, not three.
    unseen = sums_of([Stored(9, 100, {0: 58, 1: 12}, 0, 58)]).unstored
    assert unseen is not None
    assert unseen.mass_bounds[10] == pytest.approx([0.3, 0.24, *[0.0] * 8], abs=1e-12)


def test_a_rest_on_an_edge_is_not_ambiguous() -> None:
    # r = 1 − .9 = .1 in decimals is .09999999999999998 or .10000000000000003 in floats.
    unseen = sums_of([Stored(9, 10, {0: 7, 1: 2}, 0, 7)]).unstored
    assert unseen is not None
    assert (unseen.n_ambiguous[10], unseen.n_ambiguous[12]) == (0, 1)


def test_ambiguity_only_grows_with_the_bins() -> None:
    unseen = sums_of(random_positions(np.random.default_rng(1), 9, 60, 40)).unstored
    assert unseen is not None
    counts = [unseen.n_ambiguous[bins] for bins in SERVED_BINS]
    assert counts == sorted(counts)
    assert counts[:2] == [0, 0]
    assert counts[-1] > 0


def test_all_that_is_stored_is_exact_everywhere() -> None:
    sums = sums_of([Stored(3, 10, {0: 6, 1: 3, 2: 1}, 2, 1)])
    assert sums.unstored is None
    assert largest_exact_bins(sums) == SERVED_BINS[-1]
    assert full_ece_bounds(sums, 1000) == pytest.approx((1.8, 1.8), abs=1e-12)


def test_the_arrays_cannot_be_changed() -> None:
    unseen = sums_of(EXAMPLE).unstored
    assert unseen is not None
    with pytest.raises(ValueError, match="read-only"):
        unseen.mass_bounds[10][0] = 0


@pytest.mark.parametrize("bins", [7, 999])
def test_an_m_that_the_grid_does_not_serve_is_refused(bins: int) -> None:
    with pytest.raises(Unavailable, match=f"M={bins} cannot be read off"):
        full_ece_bounds(sums_of(EXAMPLE), bins)


def test_no_position_has_no_bounds() -> None:
    with pytest.raises(Unavailable, match="no position"):
        full_ece_bounds(TopKReducer(5, 0).result(), 10)


def test_bounds_of_parts_are_those_of_the_whole() -> None:
    positions = random_positions(np.random.default_rng(3), 8, 40, 30)
    whole = sums_of(positions)
    one, two = sums_of(positions[:11]), sums_of(positions[11:])
    for merged in (one.merge(two), two.merge(one)):
        for bins in (5, 20, 100):
            assert full_ece_bounds(merged, bins) == pytest.approx(full_ece_bounds(whole, bins), abs=1e-12)
        assert largest_exact_bins(merged) == largest_exact_bins(whole)
        assert merged.unstored is not None
        assert whole.unstored is not None
        assert merged.unstored.min_stored == whole.unstored.min_stored
        assert np.allclose(
            merged.unstored.mass_bounds[100], whole.unstored.mass_bounds[100], atol=1e-12, rtol=0
        )

"""A bin is called clearly off only where its rows show it."""

from __future__ import annotations

from math import comb

import pytest

from calib_core.bins import Binned, BinSums
from calib_core.edges import Scheme
from calib_core.inference.bin_gaps import bin_gaps
from core.tour_runs import Block, calibrated_answers


def binned(*blocks: Block) -> Binned:
    said = [value for value, rows, _ in blocks for _ in range(rows)]
    right = [at < good for _, rows, good in blocks for at in range(rows)]
    return BinSums.from_pairs(said, right).binned(Scheme())


def test_the_direction_and_the_clear_bins() -> None:
    found = bin_gaps(binned((0.95, 200, 120), (0.35, 20, 8)))
    assert found.over.tolist() == pytest.approx([0.0, 70.0])
    assert found.under.tolist() == pytest.approx([1.0, 0.0])
    assert found.clear.tolist() == [False, True]
    assert found.clear_over.tolist() == pytest.approx([0.0, 70.0])
    assert found.clear_under.tolist() == [0.0, 0.0]
    assert found.limit.tolist() == pytest.approx([5.952, 8.079], abs=1e-3)


def test_no_bins() -> None:
    assert bin_gaps(binned()).clear.tolist() == []


def test_calibrated_runs_rarely_have_a_clear_bin() -> None:
    n_clear = 0
    for seed in range(400):
        rows = calibrated_answers(300, seed).rows
        pairs = BinSums.from_pairs(rows["confidence"].to_numpy(), rows["correct"].to_numpy())
        n_clear += bool(bin_gaps(pairs.binned(Scheme())).clear.any())
    assert n_clear <= 0.08 * 400  # 5 % of 400, and 2.7 σ of it


def test_copies_change_no_bin() -> None:
    for off in (150, 175, 180, 181, 190, 220):
        once, thrice = binned((0.5, 400, off)), binned((0.5, 1200, 3 * off))
        assert bin_gaps(thrice, design_effect=3).clear.tolist() == bin_gaps(once).clear.tolist()
        assert bin_gaps(thrice, design_effect=3).limit.tolist() == pytest.approx(
            (3 * bin_gaps(once).limit).tolist()
        )


@pytest.mark.parametrize(("said", "rows"), [(0.9985, 100), (0.99, 50), (0.995, 400), (0.01, 100), (0.9, 30)])
def test_near_certain_bins_are_not_called_off_more_often(said: float, rows: int) -> None:
    """All numbers of right answers, each as probable as it is where every confidence is exactly right."""
    called = sum(
        comb(rows, right) * said**right * (1 - said) ** (rows - right)
        for right in range(rows + 1)
        if bin_gaps(binned((said, rows, right))).clear.any()
    )
    assert called <= 0.05


def test_what_0_and_1_stand_for_is_rounding() -> None:
    """A bin at 1.00 of which 1 in 500 is wrong is off by no more than .998 rounds away, one at 0 likewise."""
    blocks = ((0.0, 500, 1), (0.5, 100, 50), (1.0, 500, 499))
    exactly, found = bin_gaps(binned(*blocks)), bin_gaps(binned(*blocks), (1.0, -1.0))
    assert exactly.clear.tolist() == [False, False, False]
    assert found.rounding.tolist() == [1.0, 0.0, 1.0]
    # z of .05/6 in each tail, variance Σ c(1 − c) ≤ 1: 2.394 √1 + (2.394² + 2)/6 + 1 of rounding.
    at_end = 2.394 + 1.288 + 1
    assert found.limit.tolist() == pytest.approx([at_end, exactly.limit[1], at_end], abs=1e-3)
    assert (found.over - found.under).tolist() == (exactly.over - exactly.under).tolist()
    copies = bin_gaps(binned((1.0, 1000, 998)), (0.0, -2.0), 2)
    once = bin_gaps(binned((1.0, 500, 499)), (0.0, -1.0))
    assert copies.limit.tolist() == pytest.approx((2 * once.limit).tolist())

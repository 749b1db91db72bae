"""Is the Brier score miscalibration − discrimination + uncertainty, the first what recalibration removes?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.brier_decomposition import BRIER_MISCALIBRATION, decompose_brier
from core.edge_cases import TOLERANCE, agrees, schemes, some_pairs, sums_of
from core.oracle import Bins, Pair, recalibrated


def part(name: str, sums: BinSums) -> float:
    """One part of the Brier score, or the score itself."""
    value = METRICS[name].compute(sums, Scheme())
    assert value is not None
    return value


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("brier_miscalibration", pairs, how)


@given(some_pairs())
def test_the_parts_add_up_to_the_brier_score(pairs: list[Pair]) -> None:
    sums = sums_of(pairs)
    miscalibration, discrimination, uncertainty = (
        part(f"brier_{name}", sums) for name in ("miscalibration", "discrimination", "uncertainty")
    )
    assert miscalibration >= 0
    assert 0 <= discrimination <= uncertainty + TOLERANCE
    total = miscalibration - discrimination + uncertainty
    assert total == pytest.approx(part("brier", sums), rel=0, abs=TOLERANCE)


@given(some_pairs())
def test_a_recalibrated_forecast_has_none_and_keeps_the_rest(pairs: list[Pair]) -> None:
    levels = sums_of(pairs).natural_bins()
    before = decompose_brier(levels.low, levels.count, levels.correct)
    fit = [float(value) for value in recalibrated(tuple(pairs), computed=False)]
    after = BinSums.from_pairs(fit, [pair.correct for pair in pairs])
    assert part("brier_miscalibration", after) <= TOLERANCE
    assert part("brier_discrimination", after) == pytest.approx(before.discrimination, abs=TOLERANCE)


def test_by_hand() -> None:
    sums = BinSums.from_pairs([0.5, 0.75, 1.0], [1, 0, 1])
    # Recalibrated: 0.5, 0.5, 1. Brier score (0.25 + 0.5625 + 0) / 3, afterwards (0.25 + 0.25) / 3.
    assert part("brier_miscalibration", sums) == pytest.approx(0.3125 / 3, abs=1e-15)
    assert part("brier_discrimination", sums) == pytest.approx(2 / 9 - 0.5 / 3, abs=1e-15)


@pytest.mark.parametrize("power", [10, 20, 40])
def test_a_tiny_part_is_not_lost(power: int) -> None:
    nearly = 1 - 2.0**-power / 3
    value = part("brier_miscalibration", BinSums.from_pairs([nearly] * 1000, [1] * 1000))
    assert value == pytest.approx((1 - nearly) ** 2, rel=1e-12, abs=0)


def test_computed_confidences_that_differ_by_a_rounding_are_one_level() -> None:
    # As two levels, the fit could tell the right answer from the wrong one.
    values, outcomes = [0.3, 0.1 + 0.2], [0, 1]
    assert part("brier_discrimination", BinSums.from_pairs(values, outcomes, computed=True)) == 0.0
    assert part("brier_discrimination", BinSums.from_pairs(values, outcomes)) == 0.25


def test_nothing_has_no_miscalibration() -> None:
    assert BRIER_MISCALIBRATION.compute(BinSums.from_pairs([], []), Scheme()) is None


def test_a_hundred_thousand_calibrated_rows_have_next_to_none() -> None:
    random = np.random.default_rng(3)
    confidence = random.random(100_000)
    sums = BinSums.from_pairs(confidence, random.random(confidence.size) < confidence)
    assert part("brier_miscalibration", sums) < 0.001
    assert part("brier_discrimination", sums) == pytest.approx(1 / 12, abs=0.003)  # variance of the chances

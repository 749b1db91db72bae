"""The score test of calibration has the statistic and the p-value that theory gives."""

from __future__ import annotations

import math
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference import calibration_test
from calib_core.inference.calibration_test import (
    FINEST,
    FIRST_DRAWS,
    MAX_DRAWS,
    MIN_INFORMATION,
    CalibrationSums,
    cox_test,
    cox_test_of_sums,
    fit_recalibration,
)

Block = tuple[float, int, int]
"""(confidence, rows, right ones among them)."""


def pairs_of(*blocks: Block) -> tuple[np.ndarray, np.ndarray]:
    said = np.repeat([value for value, _, _ in blocks], [rows for _, rows, _ in blocks])
    right = np.concatenate([np.arange(rows) < good for _, rows, good in blocks])
    return said, right


def drawn(n: int, seed: int, power: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Confidences between .02 and .98; `power` is the true β."""
    random = np.random.default_rng(seed)
    c = 0.02 + 0.96 * random.random(n)
    return c, random.random(n) < 1 / (1 + (1 / c - 1) ** power)


def test_level_of_one_confidence() -> None:
    # 400 rows at .5: σ = 10 rows, and 181 right ones are 1.9 σ too few.
    test = cox_test(*pairs_of((0.5, 400, 181)))
    assert test.p == test.level_p == pytest.approx(math.erfc(1.9 / math.sqrt(2)), rel=1e-9)
    assert (test.slope_p, test.slope, test.beta, test.n_draws) == (None, None, 1.0, 0)
    assert test.level == pytest.approx(19 / 400)
    assert test.deviation == pytest.approx(19 / 400, rel=1e-3)


def test_slope_of_two_confidences() -> None:
    # The scores are 0 and −20 x, the variances 37.5 and 37.5 x²: the statistic is 400 / 37.5.
    test = cox_test(*pairs_of((0.25, 200, 70), (0.75, 200, 130)))
    assert test.p == pytest.approx(math.exp(-1600 / 75 / 2), rel=0.01)
    assert test.level_p == pytest.approx(1.0)
    assert test.slope == pytest.approx(40 / math.sqrt(75), rel=0.001)
    assert test.slope_p == pytest.approx(math.erfc(40 / math.sqrt(75) / math.sqrt(2)), rel=0.01)
    assert test.alpha == pytest.approx(0, abs=0.005)
    assert test.beta == pytest.approx(math.log(0.35 / 0.65) / math.log(0.25 / 0.75), rel=0.005)
    assert test.deviation == pytest.approx(0.1, rel=0.001)


def test_level_and_slope_add_up() -> None:
    test = cox_test(*drawn(2000, 3, 0.8))
    assert test.n_draws == 0
    assert test.slope is not None
    level = math.sqrt(2) * _erfc_inverse(test.level_p)
    assert -2 * math.log(test.p) == pytest.approx(level**2 + test.slope**2, rel=1e-6)


def _erfc_inverse(p: float) -> float:
    low, high = 0.0, 30.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(middle) > p else (low, middle)
    return low


def test_one_cell_of_the_sums_is_one_of_the_finest_bins() -> None:
    c, y = drawn(500, 4)
    assert cox_test(c, y) == cox_test_of_sums(
        CalibrationSums.from_bins(BinSums.from_pairs(c, y).binned(FINEST))
    )
    with pytest.raises(ValueError, match="3000 bins"):
        CalibrationSums.from_bins(BinSums.from_pairs(c, y).binned(Scheme("width", 10)))


@given(st.integers(0, 300), st.integers(2, 298))
@settings(max_examples=25, deadline=None)
def test_merged_sums_are_the_sums_of_all_rows_in_any_order(seed: int, cut: int) -> None:
    c, y = drawn(300, seed)
    order = np.random.default_rng(seed).permutation(300)
    parts = [CalibrationSums.from_pairs(c[part], y[part]) for part in (order[:cut], order[cut:])]
    merged, whole = cox_test_of_sums(parts[0].merge(parts[1])), cox_test(c, y)
    assert merged.p == pytest.approx(whole.p, rel=1e-9)
    assert merged.beta == pytest.approx(whole.beta, rel=1e-6)
    assert (merged.n, whole.n) == (300, 300)


@given(st.integers(0, 300), st.sampled_from([0.5, 1.0, 1.6]))
@settings(max_examples=25, deadline=None)
def test_flipping_confidences_and_outcomes_flips_the_level_only(seed: int, power: float) -> None:
    c, y = drawn(2000, seed, power)
    test, flipped = cox_test(c, y), cox_test(1 - c, ~y)
    assert flipped.level == pytest.approx(-test.level, abs=1e-12)
    assert flipped.alpha == pytest.approx(-test.alpha, abs=1e-6)
    assert flipped.beta == pytest.approx(test.beta, abs=1e-6)
    assert flipped.p == pytest.approx(test.p, rel=1e-6)


@pytest.mark.parametrize(
    ("said", "rows"),
    [(0.9985, 100), (0.99, 50), (0.995, 400), (0.01, 100), (0.9, 30), (0.7, 60), (0.5, 1000)],
)
def test_calibrated_rows_of_one_confidence_are_rarely_called_miscalibrated(said: float, rows: int) -> None:
    """All numbers of right answers, each as probable as it is for a calibrated model."""
    called = sum(
        comb(rows, right) * said**right * (1 - said) ** (rows - right)
        for right in range(rows + 1)
        if cox_test(*pairs_of((said, rows, right))).p <= 0.05
    )
    assert called <= 0.06


def test_few_answers_are_compared_with_draws() -> None:
    test = cox_test(*pairs_of((0.9985, 100, 99)))
    assert test.n_draws > 0
    assert test.p == pytest.approx(1 - 0.9985**100, abs=0.06)
    far = cox_test(*pairs_of((0.9985, 100, 90)))
    assert far.p == 1 / (1 + far.n_draws)
    assert (test.n_draws, far.n_draws) == (FIRST_DRAWS, MAX_DRAWS)
    v = 0.09
    assert cox_test(*pairs_of((0.9, math.ceil(MIN_INFORMATION / v) + 1, 500))).n_draws == 0


def test_impossible_outcomes_refute_calibration() -> None:
    test = cox_test(*pairs_of((1.0, 50, 48), (0.0, 20, 3), (0.5, 100, 50)))
    assert (test.p, test.n_wrong_at_one, test.n_right_at_zero) == (0.0, 2, 3)
    possible = cox_test(*pairs_of((1.0, 50, 50), (0.0, 20, 0)))
    assert (possible.p, possible.n_wrong_at_one, possible.n_right_at_zero) == (1.0, 0, 0)
    merged = CalibrationSums.from_pairs([1.0], [0]).merge(CalibrationSums.from_pairs([0.0, 1.0], [1, 0]))
    assert (merged.n_wrong_at_one, merged.n_right_at_zero, merged.n_impossible) == (2, 1, 3)


def test_a_fit_of_right_answers_only_is_finite() -> None:
    alpha, beta, deviation = fit_recalibration(CalibrationSums.from_pairs([0.6, 0.7, 0.9] * 20, [1] * 60))
    assert np.isfinite([alpha, beta]).all()
    assert deviation == pytest.approx(1 - (0.6 + 0.7 + 0.9) / 3, abs=0.01)


@pytest.mark.parametrize("times", [3, 5])
def test_identical_trials_are_no_evidence(times: int) -> None:
    c, y = drawn(1500, 7, 0.8)
    cluster = np.repeat(np.arange(1500), times)
    once, often = cox_test(c, y), cox_test(c.repeat(times), y.repeat(times), cluster)
    assert often.correlation == pytest.approx(1.0)
    assert often.p == pytest.approx(once.p, rel=1e-6)
    assert often.slope == pytest.approx(once.slope, rel=1e-6)
    assert (often.n, often.n_clusters) == (1500 * times, 1500)


def test_independent_trials_are_evidence() -> None:
    c, y = drawn(3000, 8, 0.8)
    independent, clustered = cox_test(c, y), cox_test(c, y, np.repeat(np.arange(600), 5))
    assert clustered.correlation < 0.05
    assert clustered.slope == pytest.approx(independent.slope, rel=0.15)


@given(st.integers(0, 300))
@settings(max_examples=15, deadline=None)
def test_names_and_order_of_clusters_do_not_matter(seed: int) -> None:
    c, y = drawn(600, seed)
    random = np.random.default_rng(seed)
    cluster = random.integers(0, 150, 600)
    order, names = random.permutation(600), random.permutation(400)
    one, other = cox_test(c, y, cluster), cox_test(c[order], y[order], names[cluster][order])
    assert other.p == pytest.approx(one.p, rel=1e-9)
    assert (other.n_clusters, other.correlation) == (one.n_clusters, pytest.approx(one.correlation))


def test_whole_numbers_are_confidences_too() -> None:
    cluster = np.arange(200) % 100
    test = cox_test([0, 1] * 100, [0, 1] * 99 + [0, 0], cluster)
    assert (test.p, test.n_wrong_at_one, test.n_clusters) == (0.0, 1, 100)
    assert cox_test([0, 1] * 100, [0, 1] * 100, cluster).p == 1


def test_rows_that_share_no_cluster_are_independent() -> None:
    c, y = drawn(200, 9)
    assert cox_test(c, y, np.random.default_rng(0).permutation(200)) == cox_test(c, y)


def test_no_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="needs rows"):
        cox_test([], [])


def test_a_drawn_float32_is_below_the_threshold_where_it_is_below_the_confidence() -> None:
    confidence = np.concatenate([[0.0, 1.0, 0.1, 0.9, 1e-12], np.random.default_rng(0).random(1000)])
    threshold = calibration_test._float32_at_least(confidence)
    for drawn in (np.nextafter(threshold, np.float32(0)), threshold, np.nextafter(threshold, np.float32(2))):
        assert ((drawn < threshold) == (drawn.astype(np.float64) < confidence)).all()

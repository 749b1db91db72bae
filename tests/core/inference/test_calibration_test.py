"""The score test of calibration has the statistic and the p-value that theory gives."""

from __future__ import annotations

import math
from functools import cache
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import FINEST_BINS, Scheme
from calib_core.inference import calibration_test
from calib_core.inference.calibration_test import (
    FINEST,
    FIRST_DRAWS,
    MAX_DRAWS,
    MIN_INFORMATION,
    Z_95,
    CalibrationSums,
    HiddenDeviation,
    cox_test,
    cox_test_of_sums,
    fit_recalibration,
    rounding_half_width,
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
    assert -2 * math.log(test.logistic_p) == pytest.approx(level**2 + test.slope**2, rel=1e-6)


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


def test_answers_stated_to_be_certain_are_counted_and_stand_for_what_rounds_to_them() -> None:
    test = cox_test(*pairs_of((1.0, 500, 499), (0.0, 200, 1), (0.5, 100, 50)))
    assert (test.n_wrong_at_one, test.n_right_at_zero) == (1, 1)
    assert test.p > 0.5  # of 500 at “1.00”, up to 2.5 are expected to be wrong
    assert test.level == pytest.approx((500 + 50 - 550) / 800)  # as stated
    wrong = cox_test(*pairs_of((1.0, 500, 480), (0.55, 100, 55)))
    assert wrong.p < 1e-3
    assert wrong.level == pytest.approx(20 / 600)
    assert 0 < cox_test(*pairs_of((0.9, 5000, 2500))).p < 1e-100


@pytest.mark.parametrize(
    ("values", "dtype", "half_width"),
    [
        ([0.1, 0.7, 1.0], float, 0.05),
        ([0.1, 0.75, 1.0], float, 0.005),
        ([0.1, 0.75, 1.0], np.float16, 0.005),
        ([0.125, 0.5], float, 0.0005),
        ([0.0] * 20_000 + [0.75], float, 0.005),
        ([0.0, 1.0], float, 0.005),
        ([0.1234, 1.0], np.float32, 2.0**-25),
        ([0.1234, 1.0], np.float16, 2.0**-12),
        ([0.33203125, 1.0], np.float32, 2.0**-9),  # 0.33203125 is a bfloat16
        ([1 / 3, 1.0], float, 2.0**-54),
    ],
)
def test_how_finely_confidences_are_written_is_seen_from_all_of_them(
    values: list[float], dtype: type, half_width: float
) -> None:
    assert rounding_half_width(np.array(values, dtype)) == pytest.approx(half_width, rel=1e-12)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_rounded_confidences_are_not_evidence(power: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beta(20, 1) rounded to two decimals: a fifth of the answers are stated to be certain."""
    monkeypatch.setattr(calibration_test, "MAX_DRAWS", FIRST_DRAWS)  # more of them do not move p over 0.05
    random = np.random.default_rng(3)
    called = {"stated": 0, "meant": 0}
    for _ in range(100):
        c = random.beta(20, 1, 1000)
        y = random.random(1000) < c**power
        called["stated"] += cox_test(c.round(2), y).p <= 0.05
        called["meant"] += cox_test(c, y).p <= 0.05
    assert abs(called["stated"] - called["meant"]) <= 10
    assert (called["stated"] > 90) == (power > 1)


def test_errors_that_cancel_in_level_and_slope_are_found() -> None:
    test = cox_test(*pairs_of((0.6, 300, 158), (0.8, 300, 276), (0.95, 300, 271)))
    assert test.logistic_p > 0.1
    assert test.curve_p is not None
    # χ² of the three groups, less what level and slope explain of it.
    total = sum(
        (right - rows * c) ** 2 / (rows * c * (1 - c))
        for c, rows, right in ((0.6, 300, 158), (0.8, 300, 276), (0.95, 300, 271))
    )
    explained = -2 * math.log(test.logistic_p)
    assert test.n_groups == 3
    assert test.curve_p > 1e-12
    drawn = cox_test(*pairs_of((0.6, 3000, 1720), (0.8, 3000, 2440), (0.95, 3000, 2820)))
    total = sum(
        (right - rows * c) ** 2 / (rows * c * (1 - c))
        for c, rows, right in ((0.6, 3000, 1720), (0.8, 3000, 2440), (0.95, 3000, 2820))
    )
    explained = -2 * math.log(drawn.logistic_p)
    assert drawn.curve_p is not None
    assert drawn.curve_p == pytest.approx(math.erfc(math.sqrt((total - explained) / 2)), rel=1e-3)
    assert drawn.p == pytest.approx(min(drawn.logistic_p / 0.9, drawn.curve_p / 0.1), rel=1e-12)
    assert drawn.group_deviation == pytest.approx((80 + 40 + 30) / 9000)
    variance = 3000 * (0.24 + 0.16 + 0.0475)
    assert drawn.deviation_bound == pytest.approx((150 + Z_95 * math.sqrt(variance)) / 9000)


def test_confidences_are_grouped_by_what_they_tell() -> None:
    few = CalibrationSums.from_pairs(*pairs_of((0.3, 50, 15), (0.5, 4, 2), (0.9, 100, 90), (0.95, 9, 9)))
    # .5 has 1 of the 2 answers of variance 1 that a group needs and waits for .9; what is left joins it.
    assert few.groups.tolist() == [0, 1, 1, 1]
    random = np.random.default_rng(0)
    many = CalibrationSums.from_pairs(random.random(5000), np.ones(5000))
    information = np.bincount(many.groups, many.variance)
    assert 11 <= many.n_groups <= 12
    assert information.min() > 0.9 * information.mean()


def zigzag_by_twentieths(n_each: int, size: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Two confidences within each twentieth from .1 to .9, right a `size` too often and too rarely."""
    confidence = np.arange(10, 90) / 100
    right = np.rint(n_each * (confidence + size * np.where(np.arange(80) % 2, 1, -1))).astype(int)
    return np.repeat(confidence, n_each), (np.arange(n_each) < right[:, None]).ravel()


def test_gaps_that_cancel_within_groups_are_in_the_bound() -> None:
    c, right = zigzag_by_twentieths(2000, 0.03)
    test = cox_test(c, right)
    assert test.n_groups <= 12 < test.n_fine_groups
    assert test.group_deviation < 0.005
    assert test.deviation_bound > 0.03
    # Repeated questions and weights see the same; what is finer than the finer groups stays unseen.
    twice = cox_test(np.tile(c, 2), np.tile(right, 2), np.tile(np.arange(c.size), 2))
    assert twice.deviation_bound > 0.03
    assert cox_test(c, right, weight=np.full(c.size, 3.0)).deviation_bound > 0.03
    few = cox_test(c[::100], right[::100])
    assert few.n_fine_groups == few.n_groups


def test_the_bound_joins_gaps_of_groups_with_what_they_hide() -> None:
    gap, count = np.array([30.0, -15.0]), np.array([2000.0, 1000.0])
    hidden = HiddenDeviation(np.array([4e-4, -1e-4]), np.array([2e-4, 1e-4]), 9)
    roots = (2 * math.sqrt(0.015**2 + 3e-4) + 0.015) / 3
    assert hidden.deviation_bound(gap, count, 6.0) == pytest.approx(roots + Z_95 * 6 / 3000)
    alone = hidden.deviation_bound(np.zeros(2), count, 0.0)
    assert alone == pytest.approx(
        (2 * math.sqrt(4e-4 + Z_95 / math.sqrt(2) * 2e-4) + math.sqrt(Z_95 / math.sqrt(2) * 1e-4 - 1e-4)) / 3
    )


def test_what_groups_hide_is_estimated_without_bias() -> None:
    random = np.random.default_rng(5)
    whole, count = np.repeat(np.arange(3), 4), np.full(12, 200)
    for deviation in (0.0, 0.1):
        chance = 0.5 + deviation * np.tile([1.0, -1.0], 6)
        gaps = random.binomial(200, chance, (4000, 12)) - 100.0
        found = [HiddenDeviation.of_fine(whole, count, gap, np.full(12, 50.0)) for gap in gaps]
        square, error = (np.array([getattr(one, name) for one in found]) for name in ("square", "error"))
        # Σ (y − ½)² is 50, but the variance of a sum is 48 where chances are off by .1.
        truth = deviation**2 * (1 - 0.75 / 200)
        assert square.mean() == pytest.approx(truth, abs=4 * square.std() / np.sqrt(square.size))
        assert 0.95 < np.sqrt((error**2).mean()) / square.std() < 1.3  # never below that of nothing hidden


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
    assert other.logistic_p == pytest.approx(one.logistic_p, rel=1e-9)
    assert other.curve_p == pytest.approx(one.curve_p, rel=0.5)  # drawn, in the order of the rows
    assert (other.n_clusters, other.correlation) == (one.n_clusters, pytest.approx(one.correlation))


def test_whole_numbers_are_confidences_too() -> None:
    cluster = np.arange(200) % 100
    test = cox_test([0, 1] * 100, [0, 1] * 99 + [0, 0], cluster)
    assert (test.n_wrong_at_one, test.n_clusters) == (1, 100)
    assert cox_test([0, 1] * 100, [0, 1] * 100, cluster).p == 1
    assert cox_test([0, 1] * 100, [0, 1] * 80 + [0, 0] * 20, cluster).p < 0.01


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_repeated_questions_are_tested_in_any_precision(dtype: type) -> None:
    """On the edges of cells a float16 and the same number as float64 lie in different ones."""
    random = np.random.default_rng(0)
    c = random.integers(1, 20, 400) / 20
    y, cluster = random.random(400) < c, np.arange(400) // 2
    coarse, fine = cox_test(c.astype(dtype), y, cluster), cox_test(c, y, cluster)
    assert (coarse.n, coarse.n_groups, coarse.n_clusters) == (400, fine.n_groups, 200)
    assert coarse.level_p == pytest.approx(fine.level_p, rel=0.02)
    assert coarse.slope_p == pytest.approx(fine.slope_p, rel=0.02)


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


def test_every_run_is_drawn_by_one_row_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether kept from the run before or made anew, wherever a part of them begins and ends."""
    monkeypatch.setattr(calibration_test, "_UNIFORMS_OF_A_CHUNK", 8)
    monkeypatch.setattr(calibration_test, "_KEPT_CHUNKS", 2)
    monkeypatch.setattr(calibration_test, "_kept_chunk", cache(calibration_test._chunk))
    wanted = np.random.default_rng(calibration_test.DRAW_SEED).random(40, np.float32)
    for first, n in ((0, 8), (3, 5), (3, 6), (8, 32), (15, 3), (0, 40)):
        assert np.array_equal(calibration_test._uniforms(first, n), wanted[first : first + n])


@pytest.mark.parametrize("digits", [1, 6], ids=["cells of many rows", "a row each"])
def test_p_values_of_draws_are_those_of_drawing_row_by_row(digits: int) -> None:
    random = np.random.default_rng(11)
    said = ((random.permutation(np.arange(300, 2900))[:90] + 0.5) / FINEST_BINS).round(digits)
    sums = CalibrationSums.from_pairs(said, random.random(90) < said**1.5)
    tested = cox_test_of_sums(sums)
    chance, count = sums.confidence / sums.count, np.asarray(sums.count, np.int64)
    covariance = sums.design.T @ (sums.design * sums.variance[:, None])
    parts = calibration_test.CalibrationParts.of_scores(sums.x, sums.variance, covariance)
    numbers = np.random.default_rng(calibration_test.DRAW_SEED)
    if digits == 6:
        assert (count == 1).all()
        right = numbers.random((tested.n_draws, chance.size), np.float32) < chance
    else:
        right = numbers.binomial(count, chance, size=(tested.n_draws, chance.size))
    drawn = parts.statistics((right - count * chance) @ sums.design)
    own = parts.statistics(sums.residual @ sums.design)
    n_far = (drawn >= own - 1e-9 * (1 + own)).sum(axis=0)
    assert tested.n_draws >= calibration_test.FIRST_DRAWS
    assert tested.curve_p == (1 + n_far[3]) / (1 + tested.n_draws)
    assert parts.effective >= calibration_test.MIN_INFORMATION or tested.level_p == (1 + n_far[1]) / (
        1 + tested.n_draws
    )

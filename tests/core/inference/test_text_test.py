"""The test by text has the statistic of its formula, and false alarms as stated under dependence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg, stats

from calib_core.edges import FINEST_BINS, bin_of
from calib_core.inference.calibration_test import (
    FINEST,
    Z_95,
    CalibrationSums,
    CalibrationTest,
    cox_test_of_sums,
    joint_p,
)
from calib_core.inference.text_test import cox_test_by_text, too_few_texts
from calib_core.inference.verdict import DEFAULT_TOLERANCE, judge_texts
from calib_core.tokens.accumulators import CellSums
from calib_core.tokens.texts import TEXT_CELL_OF, TextCellSums, TextSums, text_logit

Positions = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]
"""Text, confidence and outcome of each position."""


def sums_of(positions: Positions) -> tuple[CalibrationSums, TextSums]:
    text, c, right = positions
    cell, grid, texts = bin_of(c, FINEST_BINS), CellSums(), TextCellSums()
    grid.add(cell, c)
    grid.add_correct(cell[right], c[right])
    texts.add(text, cell, c, right)
    return CalibrationSums.from_bins(grid.grid(c.size).binned(FINEST)), texts.sums()


def by_text(positions: Positions) -> CalibrationTest:
    return cox_test_by_text(*sums_of(positions))


def alike(n_texts: int, length: int, seed: int, shift: float = 0.0) -> Positions:
    """Texts whose positions are right or wrong by one number, common to half of them."""
    random = np.random.default_rng(seed)
    shape = n_texts, length
    c = random.uniform(0.1, 0.95, shape)
    own, common = random.random(shape), random.random((n_texts, 1))
    right = np.where(random.random(shape) < 0.5, common, own) < c - shift
    return np.repeat(np.arange(n_texts), length), c.ravel(), right.ravel()


def test_level_of_one_confidence_is_students_t_over_texts() -> None:
    # 100 texts of 10 positions at .5: the sums of y − c by text have a mean and a standard error.
    random = np.random.default_rng(1)
    n_right = random.choice([0, 2, 6, 10], 100)
    right = (np.arange(10) < n_right[:, None]).ravel()
    test = by_text((np.repeat(np.arange(100), 10), np.full(1_000, 0.5), right))
    t = stats.ttest_1samp(n_right - 5.0, 0.0).statistic
    # Leaving out each in turn: (G − 1)/G Σ (r / (1 − 1/G))², the variance of the mean times G/(G − 1).
    expected = 2 * stats.t.sf(abs(t), 99)
    assert test.p == test.level_p == pytest.approx(expected, rel=1e-9)
    assert (test.slope_p, test.curve_p, test.n_clusters, test.n_draws) == (None, None, 100, 0)
    assert test.level == pytest.approx(0.5 - right.mean())


def test_level_and_slope_are_hotellings() -> None:
    # Two confidences far from the edges of cells, so that level and slope are all there is.
    random = np.random.default_rng(2)
    low, high = random.binomial(10, random.beta(2, 6, 80)), random.binomial(10, random.beta(6, 2, 80))
    right = np.concatenate([np.arange(10) < low[:, None], np.arange(10) < high[:, None]], axis=1)
    c = np.tile(np.repeat([0.25, 0.75], 10), 80)
    test = by_text((np.repeat(np.arange(80), 20), c, right.ravel()))
    scores = np.column_stack([low - 2.5 + high - 7.5, high - 7.5 - (low - 2.5)])
    total = scores.sum(axis=0)
    residual = (scores - total / 80) / (1 - 1 / 80)
    covariance = 79 / 80 * residual.T @ residual
    squared = total @ np.linalg.solve(covariance, total)
    assert test.logistic_p == pytest.approx(stats.f.sf(squared * 78 / (2 * 79), 2, 78), rel=1e-9)
    assert test.level_p == pytest.approx(stats.f.sf(total[0] ** 2 / covariance[0, 0], 1, 79), rel=1e-9)
    assert test.slope_p == pytest.approx(stats.f.sf(total[1] ** 2 / covariance[1, 1], 1, 79), rel=1e-9)
    assert test.slope == pytest.approx(-total[1] / math.sqrt(covariance[1, 1]), rel=1e-9)
    assert (test.curve_p, test.p) == (None, test.logistic_p)


@pytest.mark.parametrize("spread", [8.0, np.inf])
def test_curve_is_what_neither_level_nor_slope_explains(spread: float) -> None:
    # Four confidences leave two contrasts a with Σ a v = Σ a v x = 0, orthonormal in v.
    random = np.random.default_rng(7)
    confidences, length = np.array([0.2, 0.4, 0.6, 0.8]), 40
    chance = confidences + np.array([0.05, -0.05, 0.05, -0.05])
    if spread < np.inf:
        chance = random.beta(spread * chance, spread * (1 - chance), (90, 4))
        n_right = random.binomial(length, chance)
    else:  # all texts are alike, and vary less than independent positions
        n_right = np.rint(length * np.tile(chance, (90, 1))).astype(np.int64)
    right = (np.arange(length) < n_right[:, :, None]).ravel()
    test = by_text((np.repeat(np.arange(90), 4 * length), np.tile(np.repeat(confidences, length), 90), right))
    x = text_logit(TEXT_CELL_OF[bin_of(confidences, FINEST_BINS)])
    variance = 90 * length * confidences * (1 - confidences)
    nuisance = np.stack([np.ones(4), x]) * np.sqrt(variance)
    contrasts = linalg.null_space(nuisance) / np.sqrt(variance)[:, None]
    score = (n_right - length * confidences) @ contrasts
    residual = (score - score.mean(axis=0)) / (1 - 1 / 90)
    covariance = 89 / 90 * residual.T @ residual
    trace = float(np.trace(covariance))
    above = trace**2 / float((covariance**2).sum()) if spread < np.inf else 2.0
    squared = float((score.sum(axis=0) ** 2).sum())
    assert test.curve_p == pytest.approx(stats.f.sf(squared / max(trace, 2), above, 89), rel=1e-6, abs=0)
    assert test.curve_p is not None
    assert test.p == joint_p(test.logistic_p, test.curve_p)
    gap = (n_right - length * confidences).sum(axis=0)
    signed = (n_right - length * confidences) @ np.sign(gap)
    error = math.sqrt(max(89 / 90 * (((signed - signed.mean()) * 90 / 89) ** 2).sum(), variance.sum()))
    assert test.group_deviation == pytest.approx(np.abs(gap).sum() / right.size)
    assert test.deviation_bound == pytest.approx(test.group_deviation + Z_95 * error / right.size)


def test_every_position_twice_tells_nothing_new() -> None:
    text, c, right = alike(120, 100, seed=3, shift=0.02)
    once, twice = by_text((text, c, right)), by_text((np.tile(text, 2), np.tile(c, 2), np.tile(right, 2)))
    for part in ("p", "logistic_p", "level_p", "slope_p", "curve_p", "deviation", "group_deviation"):
        assert getattr(twice, part) == pytest.approx(getattr(once, part), rel=1e-6), part
    assert twice.deviation_bound == pytest.approx(once.deviation_bound, rel=1e-6)
    assert once.curve_p is not None
    assert once.p == joint_p(once.logistic_p, once.curve_p)


def test_the_names_and_the_order_of_texts_do_not_matter() -> None:
    text, c, right = alike(60, 20, seed=4)
    order = np.random.default_rng(0).permutation(c.size)
    other = by_text(((7 * (60 - text))[order], c[order], right[order]))
    assert other.p == pytest.approx(by_text((text, c, right)).p, rel=1e-9)


def test_no_text_varies_less_than_independent_positions() -> None:
    # 60 texts of 20 positions at .9 with 18 right ones each: by text there is no variance at all.
    right = np.tile(np.arange(20) < 17, 60)
    test = by_text((np.repeat(np.arange(60), 20), np.full(1_200, 0.9), right))
    assert test.level_p == pytest.approx(stats.f.sf(60**2 / (1_200 * 0.09), 1, 59), rel=1e-9)
    assert test.correlation == 0.0


def test_ends_stand_for_what_rounds_to_them() -> None:
    # All at .9999 in float16 steps of 2⁻¹¹: 1 wrong of 2,000 is within the rounding, and nothing is off.
    right = np.arange(2_000) > 0
    test = by_text((np.repeat(np.arange(100), 20), np.full(2_000, 0.9999), right))
    assert test.level_p > 0.5


def test_false_alarms_under_dependence() -> None:
    runs = [sums_of(alike(80, 25, seed)) for seed in range(120)]
    rejected = np.mean([cox_test_by_text(*sums).p <= 0.05 for sums in runs])
    independent = np.mean([cox_test_of_sums(sums, draw=False).p <= 0.05 for sums, _ in runs])
    assert rejected <= 0.1  # 5 % and 2.5 standard errors
    assert independent > 0.25
    # A quarter of pairs share a number, and Cov is then min(c, c') − cc', about 0.58 √(vv') here.
    assert np.median([cox_test_by_text(*sums).correlation for sums in runs]) == pytest.approx(
        0.25 * 0.58, abs=0.02
    )


def test_errors_are_found_by_text() -> None:
    found = [by_text(alike(200, 25, seed, shift=0.08)) for seed in range(10)]
    assert all(test.p < 0.01 and test.level > 0.04 for test in found)


def test_few_texts_and_unknown_ones_are_not_judged() -> None:
    sums, texts = sums_of(alike(60, 5, seed=5))
    assert judge_texts(sums, texts).is_tested
    unknown = judge_texts(sums, None)
    assert (unknown.kind, unknown.words, unknown.p, unknown.test) == ("dependent", "not judged", None, None)
    assert unknown.reason == (
        "Not judged: the file does not say which text each of its 300 positions came from, and positions of "
        "a text depend on one another."
    )
    assert unknown.level == pytest.approx(float(-sums.residual.sum()) / 300)
    assert not unknown.miscalibrated
    assert unknown.with_tolerance(0.5) is unknown
    sums, texts = sums_of(alike(59, 5, seed=5))
    few = judge_texts(sums, texts, tolerance=DEFAULT_TOLERANCE)
    assert (few.kind, few.reason) == (
        "dependent",
        "Not judged: only 59 texts: a p-value needs 60, as positions of a text depend on one another.",
    )
    tiny, _ = sums_of(alike(29, 1, seed=5))
    assert judge_texts(tiny, None).kind == "few"


def test_one_long_text_is_worth_one() -> None:
    text, c, right = alike(70, 10, seed=6)
    text[:200] = 0
    _, texts = sums_of((text, c, right))
    # 200 positions of one text and 10 of each of 50: 700² / (200² + 50 · 10²).
    assert too_few_texts(texts) == "only 51 texts: a p-value needs 60"
    text[200:] += np.arange(500) // 2
    _, texts = sums_of((text, c, right))
    assert (
        too_few_texts(texts) == f"only {texts.sizes.size} texts, worth 11 of one length: a p-value needs 60"
    )

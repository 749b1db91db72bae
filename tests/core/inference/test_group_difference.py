"""A group is compared with the other rows as Cochran, Mantel and Haenszel do it, in exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from calib_core.inference.cluster_draws import correlated_uniforms, residual_correlation
from calib_core.inference.group_difference import (
    MAX_STRATA,
    MIN_NORMAL_INFORMATION,
    cluster_inflation,
    compare_groups,
    confidence_strata,
    group_differences,
    stratum_counts,
)

Stratum = tuple[int, int, int, int]
"""Rows of the group, right ones among them, other rows, right ones among them."""


def compared(*strata: Stratum, inflation: float | None = None) -> tuple[float, float, float, float]:
    """Difference, low, high and p of one group."""
    m, a, others, b = (np.array(column) for column in zip(*strata, strict=True))
    factor = None if inflation is None else np.array([inflation])
    found = group_differences(m[None], a[None], m + others, a + b, factor)
    return float(found.difference[0]), float(found.low[0]), float(found.high[0]), float(found.p[0])


def exact_p(*strata: Stratum) -> Fraction:
    """Twice the smaller tail, by going through every way to be right."""
    weights: dict[int, Fraction] = {0: Fraction(1)}
    for m, a, others, b in strata:
        n, right = m + others, a + b
        terms = {
            k: Fraction(math.comb(right, k) * math.comb(n - right, m - k), math.comb(n, m))
            for k in range(m + 1)
            if k <= right and m - k <= n - right
        }
        made: dict[int, Fraction] = {}
        for (x, one), (k, two) in itertools.product(weights.items(), terms.items()):
            made[x + k] = made.get(x + k, Fraction(0)) + one * two
        weights = made
    observed = sum(a for _, a, _, _ in strata)
    lower = sum((p for x, p in weights.items() if x <= observed), Fraction(0))
    upper = sum((p for x, p in weights.items() if x >= observed), Fraction(0))
    return min(Fraction(1), 2 * min(lower, upper))


def null_moments(*strata: Stratum) -> tuple[Fraction, Fraction, Fraction]:
    """Excess of right answers, its variance, and the sum of the weights."""
    excess = variance = weight = Fraction(0)
    for m, a, others, b in strata:
        n, right = m + others, a + b
        excess += a - Fraction(m * right, n)
        weight += Fraction(m * others, n)
        variance += Fraction(m * others * right * (n - right), n * n * max(n - 1, 1))
    return excess, variance, weight


strata_lists = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 12), st.integers(0, 12))
    .map(lambda four: (four[0], min(four[0], four[1]), four[2], min(four[2], four[3])))
    .filter(lambda four: four[0] + four[2] > 0),
    min_size=1,
    max_size=4,
)


@given(strata_lists)
@settings(max_examples=200)
def test_difference_and_p_of_few_rows_are_exact(strata: list[Stratum]) -> None:
    excess, variance, weight = null_moments(*strata)
    difference, low, high, p = compared(*strata)
    if not weight:
        assert math.isnan(difference)
        assert math.isnan(p)
        return
    assert variance < MIN_NORMAL_INFORMATION
    assert difference == pytest.approx(float(excess / weight), abs=1e-12)
    assert -1 <= low <= difference + 1e-12
    assert difference - 1e-12 <= high <= 1
    normal = math.erfc(abs(float(excess)) / math.sqrt(2 * float(variance))) if variance else 1.0
    assert p == pytest.approx(float(exact_p(*strata)) if normal <= 0.2 else normal, rel=1e-9)
    assert (low <= 0 <= high) or p <= 0.05


def test_p_of_many_rows_is_that_of_the_normal_distribution() -> None:
    strata = ((200, 120, 300, 210), (150, 60, 100, 55))
    excess, variance, weight = null_moments(*strata)
    assert variance > MIN_NORMAL_INFORMATION
    difference, _, _, p = compared(*strata)
    assert difference == pytest.approx(float(excess / weight))
    assert p == pytest.approx(math.erfc(abs(float(excess)) / math.sqrt(2 * float(variance))))
    *_, inflated = compared(*strata, inflation=2.0)
    assert inflated == pytest.approx(math.erfc(abs(float(excess)) / math.sqrt(4 * float(variance))))


def test_the_interval_is_that_of_two_proportions_in_one_stratum() -> None:
    """In one stratum Sato's variance is p₁q₁/n₁ + p₂q₂/n₂."""
    difference, low, high, _ = compared((200, 90, 300, 180))
    error = math.sqrt(0.45 * 0.55 / 200 + 0.6 * 0.4 / 300)
    null_error = math.sqrt(0.54 * 0.46 * 500 / 499 * (1 / 200 + 1 / 300))
    assert difference == pytest.approx(-0.15)
    half = 1.959964 * max(error, null_error)
    assert (low, high) == pytest.approx((-0.15 - half, -0.15 + half), abs=1e-5)


def test_clusters_take_the_larger_p_and_a_wider_interval() -> None:
    few = (20, 5, 60, 40)
    _, low, high, p = compared(few)
    _, wide_low, wide_high, inflated = compared(few, inflation=3.0)
    assert wide_low < low
    assert wide_high > high
    assert inflated > p
    assert compared(few, inflation=0.01)[3] == pytest.approx(p), "never below the exact one"


def test_rows_of_other_confidences_are_never_compared() -> None:
    """A group that is surer and right more often than the rest, in step, does not differ."""
    confidence = np.repeat([0.3, 0.9], 500)
    correct = np.tile(np.arange(10) < 3, 50).tolist() + np.tile(np.arange(10) < 9, 50).tolist()
    group = np.array([0] * 100 + [1] * 400 + [0] * 400 + [1] * 100)
    size, found = compare_groups(confidence_strata(confidence), np.array(correct), group, 2)
    assert size.tolist() == [500, 500]
    assert found.difference == pytest.approx([0, 0], abs=1e-12)
    assert found.p == pytest.approx([1, 1])


@given(st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), max_size=400))
def test_strata_are_in_order_and_keep_equal_confidences_together(values: list[float]) -> None:
    confidence = np.array(values)
    stratum = confidence_strata(confidence)
    for place in range(int(stratum.max(initial=-1)) + 1):
        assert (stratum == place).any()
    order = np.argsort(confidence, kind="stable")
    assert (np.diff(stratum[order]) >= 0).all()
    for value in set(values):
        assert len(set(stratum[confidence == value].tolist())) == 1


@pytest.mark.parametrize(("n", "n_strata"), [(100, 5), (1_000, 20), (100_000, MAX_STRATA)])
def test_strata_hold_about_fifty_rows(n: int, n_strata: int) -> None:
    stratum = confidence_strata(np.random.default_rng(0).random(n))
    sizes = np.bincount(stratum)
    assert sizes.size == n_strata
    assert sizes.max() - sizes.min() <= 2


def test_counts_leave_out_rows_in_no_group() -> None:
    stratum, correct = np.array([0, 0, 1, 1, 1]), np.array([True, False, True, True, False])
    count, right = stratum_counts(stratum, correct, np.array([0, 2, 0, 1, 0]), 2)
    assert count.tolist() == [[1, 2], [0, 1]]
    assert right.tolist() == [[1, 1], [0, 1]]


def test_groups_need_rows_and_questions_on_both_sides() -> None:
    correct = np.tile([True, False], 50)
    stratum = np.zeros(100, np.intp)
    group = np.repeat([0, 1], [29, 71])
    assert np.isnan(compare_groups(stratum, correct, group, 2)[1].p).all(), "29 in one, 29 beside the other"
    group = np.repeat([0, 1], [30, 70])
    assert not np.isnan(compare_groups(stratum, correct, group, 2)[1].p).any()
    cluster = np.concatenate([np.arange(29), [28], 29 + np.arange(70)])
    assert np.isnan(compare_groups(stratum, correct, group, 2, cluster)[1].p).all()
    assert not np.isnan(compare_groups(stratum, correct, group, 2, np.arange(100))[1].p).any()


def trials(n_questions: int, shared: float, seed: int = 0) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    cluster = np.repeat(np.arange(n_questions), 5)
    random = np.random.default_rng(seed)
    return correlated_uniforms(random, cluster, shared) < 0.7, cluster


def test_identical_trials_count_as_one_answer() -> None:
    """In one stratum, five identical trials of whole questions make the variance five times as large."""
    correct, cluster = trials(200, 1.0)
    group = np.where(cluster < 80, 0, 1)
    stratum = np.zeros(1000, np.intp)
    assert cluster_inflation(stratum, correct, group, 1, cluster)[0] == pytest.approx(5.0, rel=0.02)
    one_of_each = np.where(np.arange(1000) % 5 == 0, 0, 1)
    (across,) = cluster_inflation(stratum, correct, one_of_each, 1, cluster)
    assert across < 0.1, "a group of one trial of each question differs from the rest by nothing"


def test_independent_trials_are_not_inflated() -> None:
    correct, cluster = trials(2000, 0.0)
    group = np.where(cluster < 900, 0, 1)
    (inflation,) = cluster_inflation(np.zeros(10_000, np.intp), correct, group, 1, cluster)
    assert inflation == pytest.approx(1.0, abs=0.15)


def test_the_inflation_of_many_groups_is_the_formula_of_each() -> None:
    """Groups that cut through questions of unequal sizes, against the sum over clusters as it is defined."""
    random = np.random.default_rng(8)
    cluster = np.sort(random.integers(0, 90, 600))
    correct = correlated_uniforms(random, cluster, 0.6) < 0.7
    stratum, group = random.integers(0, 4, 600), random.integers(0, 4, 600)
    found = cluster_inflation(stratum, correct, group, 3, cluster)
    total, right = np.bincount(stratum), np.bincount(stratum, correct)
    accuracy = (right / total)[stratum]
    correlation = residual_correlation(accuracy, correct, cluster)
    for at in range(3):
        share = np.bincount(stratum[group == at], minlength=4) / total
        scaled = ((group == at) - share[stratum]) * np.sqrt(accuracy * (1 - accuracy))
        clustered = sum(scaled[cluster == question].sum() ** 2 for question in range(90))
        ratio = clustered / (scaled @ scaled)
        assert found[at] == pytest.approx(1 - correlation + correlation * ratio)


def test_clustered_groups_of_a_calibrated_run_are_rarely_clear() -> None:
    clear = 0
    for seed in range(60):
        correct, cluster = trials(200, 1.0, seed)
        group = (cluster >= 100).astype(np.intp)
        clear += compare_groups(np.zeros(1000, np.intp), correct, group, 2, cluster)[1].p[0] <= 0.05
    assert clear <= 8, "independent rows would give about 20"


@pytest.mark.parametrize("off", [0.0, 0.15])
def test_intervals_of_a_family_leave_out_0_where_q_is_clear(off: float) -> None:
    random, n_clear = np.random.default_rng(8), 0
    for _ in range(60):
        c = random.beta(4, 1, 1500)
        group = random.integers(0, 12, c.size)
        right = random.random(c.size) < c - off * (group < 4)
        _, found = compare_groups(confidence_strata(c), right, group, 12)
        corrected, q = found.of_family()
        assert q == pytest.approx(stats.false_discovery_control(corrected.p))
        assert ((corrected.low > 0) | (corrected.high < 0)).tolist() == (q <= 0.05).tolist()
        assert (corrected.p >= found.p).all()
        half = stats.norm.isf(0.025 * max((q <= 0.05).sum(), 1) / 12) * found.error
        assert (found.difference - half)[q <= 0.05] == pytest.approx(corrected.low[q <= 0.05])
        n_clear += int((q <= 0.05).sum())
    assert (n_clear > 100) == bool(off)

"""The interval of a sum of |gap| over bins: its covariance, its ends, and that it contains the estimate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from calib_core.bins import BinSums
from calib_core.edges import Scheme, bin_of
from calib_core.inference.directional import (
    DIFFERENCE_DRAWS,
    NULL_LEVEL,
    BinMeans,
    Gaps,
    directional_contrasts,
    directional_interval,
    joint_bin_means,
)
from calib_core.inference.intervals import Z_975

TEN = Scheme("width", 10)


def rows(n: int, seed: int, off: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    c = random.random(n)
    return c, random.random(n) < c - off


def of_pairs(gap: np.ndarray, bin_: np.ndarray, cluster: np.ndarray, divisor: float) -> BinMeans:
    return joint_bin_means([Gaps(gap, bin_, cluster, divisor)], int(cluster.max()) + 1)


def means_of(mean: list[float], variance: list[float], n: int = 100) -> BinMeans:
    return BinMeans(np.array(mean), np.diag(variance), n)


def test_covariance_of_rows_is_that_of_their_contributions() -> None:
    c, y = rows(60, 1)
    by_row = np.zeros((60, 10))
    by_row[np.arange(60), bin_of(c, 10)] = c - y
    expected = np.cov(by_row.T) / 60
    of_bins = BinMeans.from_bins(BinSums.from_pairs(c, y).binned(TEN))
    from_pairs = of_pairs(c - y, bin_of(c, 10), np.arange(60), 60)
    for found in (of_bins, from_pairs):
        assert found.mean == pytest.approx(by_row.mean(axis=0))
        assert found.covariance == pytest.approx(expected)
        assert found.n_clusters == 60


def test_covariance_of_clusters_by_hand() -> None:
    # Clusters of 1, 1 and 2 rows in one bin: m = 1/4; s − m·w is 3/4, −1/4 and −1/2.
    found = of_pairs(np.array([1.0, 0.0, 1.0, -1.0]), np.zeros(4, np.intp), np.array([0, 1, 2, 2]), 4)
    assert found.mean.tolist() == [0.25]
    assert found.covariance[0, 0] == pytest.approx((9 / 16 + 1 / 16 + 1 / 4) / 16 * 3 / 2)


def test_copies_of_a_row_add_no_information() -> None:
    c, y = rows(80, 2)
    once = of_pairs(c - y, bin_of(c, 10), np.arange(80), 80)
    c3, y3 = c.repeat(3), y.repeat(3)
    thrice = of_pairs(c3 - y3, bin_of(c3, 10), np.arange(80).repeat(3), 240)
    assert thrice.mean == pytest.approx(once.mean)
    assert thrice.covariance == pytest.approx(once.covariance)


def test_clear_bins_have_the_normal_interval() -> None:
    # Both gaps are 10 standard errors wide, so that the errors add up with their signs.
    low, high = directional_interval(means_of([0.1, -0.1], [1e-4, 1e-4]), 0.005, 1.0, n_draws=40_000)
    half = Z_975 * math.sqrt(2) * 0.01
    assert high == pytest.approx(0.2 + half)
    assert low == pytest.approx(0.2 - half, abs=4e-4)


def test_errors_of_bins_that_are_not_clear_count_by_their_size() -> None:
    # κ = √ln 100 = 2.15, so that 2 standard errors are not clear: low is 2 − q.975 |N(0, 1)| = 2 − 2.2414.
    low, high = directional_interval(means_of([0.02], [1e-4]), 0.005, 1.0, n_draws=40_000)
    assert low == 0
    assert high == pytest.approx(0.02 + Z_975 * 0.01)
    low, _high = directional_interval(means_of([0.0225], [1e-4]), 0.005, 1.0, n_draws=40_000)
    assert low == pytest.approx(0.0225 - Z_975 * 0.01, abs=3e-4)
    low, _high = directional_interval(means_of([0.03, 0.02], [1e-4, 1e-4]), 0.005, 1.0, n_draws=40_000)
    normal, folded = np.random.default_rng(1).standard_normal((2, 400_000))
    assert low == pytest.approx(0.05 - 0.01 * np.quantile(normal + np.abs(folded), 0.975), abs=4e-4)


def test_low_is_0_where_calibration_is_not_rejected() -> None:
    bins = means_of([0.1, -0.1], [1e-4, 1e-4])
    assert directional_interval(bins, NULL_LEVEL, 1.0)[0] > 0
    assert directional_interval(bins, NULL_LEVEL + 1e-9, 1.0)[0] == 0


def test_high_is_cut_at_the_range_and_not_without_one() -> None:
    bins = means_of([0.95], [0.01])
    assert directional_interval(bins, 0.005, 1.0)[1] == 1
    assert directional_interval(bins, 0.005, None)[1] == pytest.approx(0.95 + Z_975 * 0.1)


@given(st.integers(0, 1000), st.integers(2, 60), st.sampled_from([0.005, 0.5]))
@settings(max_examples=60, deadline=None)
def test_an_interval_contains_its_estimate(seed: int, n: int, p: float) -> None:
    c, y = rows(n, seed, 0.2)
    bins = BinMeans.from_bins(BinSums.from_pairs(c, y).binned(TEN))
    low, high = directional_interval(bins, p, 1.0)
    assert 0 <= low <= np.abs(bins.mean).sum() + 1e-12
    assert np.abs(bins.mean).sum() - 1e-12 <= high <= 1


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_order_and_names_do_not_matter(seed: int) -> None:
    c, y = rows(90, seed)
    random = np.random.default_rng(seed)
    order, names, cluster = random.permutation(90), random.permutation(30), np.arange(90) % 30
    one = of_pairs(c - y, bin_of(c, 10), cluster, 90)
    other = of_pairs((c - y)[order], bin_of(c, 10)[order], names[cluster][order], 90)
    assert other.covariance == pytest.approx(one.covariance)
    assert directional_interval(other, 0.005, 1.0) == pytest.approx(directional_interval(one, 0.005, 1.0))


def ends_of(bins: BinMeans, weight: np.ndarray, *, n_draws: int = DIFFERENCE_DRAWS) -> tuple[float, float]:
    low, high, _ = directional_contrasts(bins, weight[None, :], n_draws=n_draws)
    return float(low[0]), float(high[0])


def test_contrasts_are_those_of_each_alone() -> None:
    bins = means_of([0.3, -0.02, 0.1], [1e-3, 4e-3, 1e-3])
    weights = np.array([[1.0, -1.0, 0.0], [0.0, 0.5, -0.5], [1.0, 1.0, 1.0]])
    low, high, _ = directional_contrasts(bins, weights)
    alone = [ends_of(bins, weight) for weight in weights]
    assert list(zip(low, high, strict=True)) == [pytest.approx(ends) for ends in alone]


def test_a_difference_errs_by_the_unfavourable_sign_where_a_gap_is_unclear() -> None:
    """One clear bin added and one unclear bin subtracted, against the quantiles of normal numbers."""
    mean, error = np.array([0.2, 0.001]), np.array([0.01, 0.02])
    bins = BinMeans(mean, np.diag(error**2), 1000)
    low, high = ends_of(bins, np.array([1.0, -1.0]), n_draws=40_000)
    normal = np.random.default_rng(5).standard_normal((400_000, 2)) * error
    largest = normal[:, 0] - normal[:, 1]
    smallest = normal[:, 0] - np.abs(normal[:, 1])
    assert low == pytest.approx(0.199 - np.quantile(largest, 0.975), abs=1e-3)
    assert high == pytest.approx(0.199 - np.quantile(smallest, 0.025), abs=1e-3)


def test_a_difference_of_clear_gaps_is_that_of_a_normal_distribution() -> None:
    mean = np.array([0.3, -0.2, 0.1])
    covariance = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]) * 1e-5
    weight = np.array([0.5, 0.5, -0.5])
    low, high = ends_of(BinMeans(mean, covariance, 500), weight, n_draws=40_000)
    signed = weight * np.sign(mean)
    half = 1.96 * np.sqrt(signed @ covariance @ signed)
    assert (low, high) == pytest.approx((0.2 - half, 0.2 + half), abs=2e-4)


def test_p_of_clear_gaps_is_that_of_a_normal_distribution() -> None:
    bins = means_of([0.3, -0.2], [1e-4, 3e-4], 500)
    _, _, p = directional_contrasts(bins, np.array([[1.0, -1.0], [1.0, 1.0], [0.0, 0.0]]), n_draws=40_000)
    assert p[0] == pytest.approx(2 * stats.norm.sf(0.1 / 0.02), rel=0.3)
    assert p[1] < 1e-100
    assert p[2] == 1


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.floats(-0.3, 0.3), st.floats(1e-5, 1e-2), st.sampled_from([-1, 1])),
        min_size=1,
        max_size=6,
    )
)
def test_p_is_clear_exactly_where_the_interval_excludes_0(found: list[tuple[float, float, int]]) -> None:
    mean, variance, sign = (list(column) for column in zip(*found, strict=True))
    low, high, p = directional_contrasts(means_of(mean, variance), np.array([sign], np.float64))
    assume(abs(p[0] - 0.05) > 1e-3)
    assert (p[0] <= 0.05) == (low[0] > 0 or high[0] < 0)


def test_p_counts_noise_that_makes_every_gap_larger() -> None:
    """Eight gaps that may all be 0, against the share of draws in which noise alone is as large."""
    bins = means_of([0.015] * 8, [1e-4] * 8)
    _, _, p = directional_contrasts(bins, np.ones((1, 8)), n_draws=40_000)
    normal = np.abs(np.random.default_rng(6).standard_normal((400_000, 8)) * 0.01).sum(axis=1)
    assert p[0] == pytest.approx(2 * (normal >= 0.12).mean(), rel=0.25)


def test_a_difference_lies_in_its_interval_even_without_spread() -> None:
    bins = BinMeans(np.array([0.1, 0.1]), np.zeros((2, 2)), 50)
    assert ends_of(bins, np.array([1.0, -0.5])) == pytest.approx((0.05, 0.05))


# --- Differences -----------------------------------------------------------------------------------


def test_joint_covariance_is_that_of_the_contributions_of_both_metrics() -> None:
    """Clusters of unequal sizes, the second metric with rows of its own."""
    random = np.random.default_rng(5)
    parts = [
        Gaps(random.normal(size=n), random.permutation(np.arange(n) % bins), np.arange(n) % 20, n)
        for n, bins in ((50, 3), (70, 4))
    ]
    found = joint_bin_means(parts, 20)
    alone = [of_pairs(part.gap, part.bin, part.cluster, part.divisor) for part in parts]
    assert found.mean == pytest.approx(np.concatenate([one.mean for one in alone]))
    assert found.covariance[:3, :3] == pytest.approx(alone[0].covariance)
    assert found.covariance[3:, 3:] == pytest.approx(alone[1].covariance)
    one, two = (
        [
            sum(part.gap[(part.cluster == q) & (part.bin == at)]) - (part.cluster == q).sum() * mean
            for q in range(20)
        ]
        for part, at, mean in ((parts[0], 1, alone[0].mean[1]), (parts[1], 2, alone[1].mean[2]))
    )
    assert found.covariance[1, 5] == pytest.approx(np.dot(one, two) * 20 / 19 / 50 / 70)


def test_clear_gaps_differ_by_a_normal_error() -> None:
    bins = means_of([0.3, -0.2, 0.4], [1e-4, 4e-4, 1e-4])
    low, high = ends_of(bins, np.array([1.0, 1.0, -1.0]))
    half = Z_975 * math.sqrt(6e-4)
    assert (low, high) == pytest.approx((0.1 - half, 0.1 + half), abs=0.06 * half)


def test_gaps_that_may_be_0_widen_the_end_that_noise_moves() -> None:
    """Noise alone makes |m| too large: of the added metric the lower end, of the subtracted the upper."""
    bins = means_of([0.01] * 8, [1e-4] * 8)
    low, high = ends_of(bins, np.ones(8))
    assert (low, high) == pytest.approx((0.08 - 0.096, 0.08 + Z_975 * math.sqrt(8e-4)), abs=0.006)
    below, above = ends_of(bins, -np.ones(8))
    assert (below, above) == pytest.approx((-high, -low), abs=0.006)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 0.1), st.sampled_from([-1, 1])), min_size=1, max_size=6)
)
def test_a_difference_is_in_its_interval(found: list[tuple[float, float, int]]) -> None:
    mean, variance, sign = (list(column) for column in zip(*found, strict=True))
    signs = np.array(sign, np.float64)
    low, high = ends_of(means_of(mean, variance), signs)
    assert low <= signs @ np.abs(mean) <= high

"""The Wilson interval, compared with scipy's; the intervals of means and the AUROC, with sums by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy  # its statistics are loaded when they are asked for: not by every process that collects
from hypothesis import given
from hypothesis import strategies as st

from calib_core.inference.intervals import (
    Z_975,
    auroc_interval,
    mean_interval,
    mean_interval_of_rows,
    wilson_interval,
)


def test_z_is_the_normal_point() -> None:
    assert abs(Z_975 - scipy.stats.norm.ppf(0.975)) <= 1e-15


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(counts: tuple[int, int]) -> None:
    correct, count = counts
    low, high = wilson_interval(np.array([correct]), np.array([count]))
    expected = scipy.stats.binomtest(correct, count).proportion_ci(confidence_level=0.95, method="wilson")
    assert low[0] == pytest.approx(expected.low, abs=1e-12)
    assert high[0] == pytest.approx(expected.high, abs=1e-12)


@given(st.integers(1, 10**12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_seen_share_lies_inside(counts: tuple[int, int]) -> None:
    correct, count = counts
    (low,), (high,) = wilson_interval(np.array([correct]), np.array([count]))
    assert 0 <= low <= correct / count <= high <= 1


def test_an_effective_sample_has_at_least_one_row() -> None:
    right, rows = np.array([1, 4]), np.array([2, 8])
    counted_once = wilson_interval(np.array([0.5, 1.0]), np.array([1.0, 2.0]))
    assert np.array(wilson_interval(right, rows, 4.0)) == pytest.approx(np.array(counted_once))
    two, nine = (np.array(wilson_interval(right[:1], rows[:1], alike)) for alike in (2.0, 9.0))
    assert two == pytest.approx(nine)


def test_the_interval_of_none_or_all_right_reaches_the_end() -> None:
    low, high = wilson_interval(np.array([0, 7]), np.array([7, 7]))
    assert (low[0], high[1]) == (0.0, 1.0)
    assert 0 < high[0] < 1
    assert 0 < low[1] < 1


# --- Means and the AUROC ----------------------------------------------------------------------------


def test_a_mean_of_clusters_by_hand() -> None:
    # Clusters of 1 and 3 rows with sums 1 and 0, one of 2 rows added at 0 and one at 1: m = 3/8, and t − m·w
    # is 5/8, −9/8, −3/4 and 5/4; without their own shares of the rows, 5/7, −9/5, −1 and 5/3.
    low, high = mean_interval(np.array([1.0, 0.0]), np.array([1.0, 3.0]), (0.0, 1.0))
    squares = (5 / 7) ** 2 + (9 / 5) ** 2 + 1 + (5 / 3) ** 2
    half = scipy.stats.t.ppf(0.975, 64 / (1 + 9 + 4 + 4) - 1) * np.sqrt(3 / 4 * squares) / 8
    assert (low, high) == pytest.approx((3 / 8 - half, 3 / 8 + half))


def test_a_mean_near_the_end_of_its_range_stays_in_its_interval() -> None:
    for n in (2, 30, 10_000):
        low, high = mean_interval(np.zeros(n), np.ones(n), (0.0, 1.0))
        assert low <= 0 < high
        assert mean_interval(np.full(n, 0.25), np.ones(n), None) == pytest.approx((0.25, 0.25))


@pytest.mark.parametrize("added", [None, (-0.25, 1.0)])
def test_a_mean_of_rows_made_part_by_part_has_the_interval_of_all_at_once(
    added: tuple[float, float] | None,
) -> None:
    for n in (2, 65_535, 100_000):
        values = np.random.default_rng(n).random(n)
        of_rows = mean_interval_of_rows(n, lambda part, of=values: of[part], added)
        assert of_rows == mean_interval(values, np.ones(n), added)


def test_the_auroc_of_many_rows_has_the_interval_of_rows_that_are_clusters_of_their_own() -> None:
    random = np.random.default_rng(3)
    confidence = random.random(70_000)
    correct = random.random(70_000) < confidence
    alone = np.arange(70_000)
    assert auroc_interval(confidence, correct) == pytest.approx(
        auroc_interval(confidence, correct, alone), rel=1e-7
    )


def test_the_auroc_of_clusters_is_summed_by_cluster() -> None:
    """Placements counted pair by pair, in clusters of unequal size."""
    random = np.random.default_rng(8)
    cluster = np.sort(random.integers(0, 25, 120))
    cluster = np.unique(cluster, return_inverse=True)[1]
    confidence, correct = random.integers(0, 20, 120) / 20, random.random(120) < 0.9
    above = confidence[correct][:, None] - confidence[~correct]
    wins = (above > 0) + 0.5 * (above == 0)
    area = wins.mean()
    error = np.zeros(120)
    error[correct] = (wins.mean(axis=1) - area) / correct.sum()
    error[~correct] = (wins.mean(axis=0) - area) / (~correct).sum()
    rarer = min(len(set(cluster[correct])), len(set(cluster[~correct])))
    assert rarer < min((~correct).sum(), len(set(cluster)))
    variance = rarer / (rarer - 1) * sum(error[cluster == at].sum() ** 2 for at in range(cluster.max() + 1))
    half = scipy.stats.t.ppf(0.975, rarer - 1) * np.sqrt(variance) / (area * (1 - area))
    logit = np.log(area / (1 - area))
    expected = (1 / (1 + np.exp(half - logit)), 1 / (1 + np.exp(-half - logit)))
    assert auroc_interval(confidence, correct, cluster) == pytest.approx(expected)

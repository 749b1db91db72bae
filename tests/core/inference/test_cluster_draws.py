"""Draws for clustered rows are as alike within a cluster as the data, and have the right mean and spread."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.cluster_draws import (
    MIN_CLUSTERS,
    ClusterDraws,
    correlated_uniforms,
    residual_correlation,
    shared_probability,
    too_few_clusters,
)
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.score import score
from core.run_builders import choice_evidence, make_answer_run


def trials(
    n_clusters: int, shared: float, seed: int, size: int = 5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated confidences, outcomes and clusters."""
    random = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    c = random.beta(4, 2, n_clusters)[cluster]
    return c, correlated_uniforms(random, cluster, shared) < c, cluster


def test_correlation_by_hand() -> None:
    # Residuals ½, ½ in one cluster, ½, −½ in another, all of variance ¼.
    c, y = np.full(4, 0.5), np.array([True, True, True, False])
    half = Fraction(1, 2)
    products = 2 * half * half - 2 * half * half
    assert residual_correlation(c, y, np.array([0, 0, 1, 1])) == products == 0
    # Three clusters of two, one of which disagrees: (2 − 1)/3.
    c, y = np.full(6, 0.5), np.array([True, True, False, False, True, False])
    assert residual_correlation(c, y, np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(1 / 3)
    assert shared_probability(c, y, np.array([0, 0, 1, 1, 2, 2])) == pytest.approx((1 / 3) ** 0.5)


def test_shared_probability_of_unequal_confidences_by_hand() -> None:
    # min(c) − c·c' = ¼ − 3/16 = 1/16 for the only pair; e·e' = ¾ · ¼; Σ e² / Σ v = (9 + 1) / (3 + 3).
    c, y = np.array([0.25, 0.75]), np.array([True, True])
    squared = Fraction(3, 16) / Fraction(1, 16) / Fraction(10, 6)
    assert squared > 1
    assert shared_probability(c, y, np.array([0, 0])) == 1
    # Two such pairs, and three with the products −¼ · ¼.
    c, cluster = np.tile(c, 5), np.repeat(np.arange(5), 2)
    y = np.array([True, True] * 2 + [False, True] * 3)
    ratio = Fraction(2 * 3 - 3, 16) / Fraction(5, 16)
    scale = Fraction(2 * 10 + 3 * 2, 16) / Fraction(5 * 6, 16)
    assert shared_probability(c, y, cluster) == pytest.approx(float(ratio / scale) ** 0.5)
    # The spread of both rows is √3/4, whose product is 3/16.
    assert residual_correlation(c, y, cluster) == pytest.approx(float(ratio / 3 / scale))


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.8, 1.0])
def test_shared_probability_is_recovered(shared: float) -> None:
    c, y, cluster = trials(4000, shared, 1)
    assert shared_probability(c, y, cluster) == pytest.approx(shared, abs=0.12 if shared == 0 else 0.03)


def test_uniforms_are_uniform_and_shared() -> None:
    cluster = np.repeat(np.arange(20_000), 2)
    u = correlated_uniforms(np.random.default_rng(0), cluster, 0.7)
    assert u.mean() == pytest.approx(0.5, abs=0.01)
    assert (u[::2] == u[1::2]).mean() == pytest.approx(0.49, abs=0.02)


@given(st.integers(0, 100))
@settings(max_examples=15, deadline=None)
def test_names_and_order_of_clusters_do_not_matter(seed: int) -> None:
    c, y, cluster = trials(40, 0.6, seed)
    random = np.random.default_rng(seed)
    order, names = random.permutation(c.size), random.permutation(60)
    for estimate in (residual_correlation, shared_probability):
        assert estimate(c[order], y[order], names[cluster][order]) == pytest.approx(estimate(c, y, cluster))
        assert 0 <= estimate(c, y, cluster) <= 1


def correct_counts(draws: ClusterDraws, scheme: Scheme) -> np.ndarray:
    """Right outcomes, shape (draws, bins)."""
    return np.array([outcome.binned(scheme).correct for outcome in draws.null_draws(scheme)])


@pytest.mark.parametrize(
    "scheme", [Scheme("width", 1), Scheme("width", 10), Scheme("width", 7), Scheme("mass", 4)]
)
def test_draws_have_the_mean_and_the_inflated_spread(scheme: Scheme) -> None:
    c, y, cluster = trials(1000, 1.0, 2)
    sums = BinSums.from_pairs(c, y)
    right, binned = correct_counts(ClusterDraws(sums, c, y, cluster), scheme), sums.binned(scheme)
    variance = 5 * (binned.confidence - binned.squared_confidence)  # identical trials: a design effect of 5
    assert np.abs((right.mean(axis=0) - binned.confidence) / np.sqrt(variance / len(right))).max() < 4
    assert np.abs(right.var(axis=0) / variance - 1).max() < 0.5
    assert (right % 5 == 0).all()


def test_one_draw_serves_every_m() -> None:
    c, y, cluster = trials(100, 0.7, 3)
    draws = ClusterDraws(BinSums.from_pairs(c, y), c, y, cluster)
    total = correct_counts(draws, Scheme("width", 1))[:, 0]
    for scheme in (Scheme("width", 500), Scheme("width", 7), Scheme("mass", 9)):
        assert np.array_equal(correct_counts(draws, scheme).sum(axis=1), total)


@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_every_scheme_counts_the_same_outcomes(n: int, n_values: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    c = np.round(random.random(n_values), 2)[random.integers(0, n_values, n)]
    y, cluster = random.random(n) < c, random.integers(0, 1 + n // 3, n)
    draws = ClusterDraws(BinSums.from_pairs(c, y), c, y, cluster, seed=seed)
    by_value, values = correct_counts(draws, Scheme("natural")), np.unique(c)
    assert (by_value <= np.unique(c, return_counts=True)[1]).all()
    assert by_value[:, values == 0].max(initial=0) == 0
    assert (by_value[:, values == 1] == np.count_nonzero(c == 1)).all()
    rank = np.searchsorted(np.sort(c), values, side="right")
    for scheme, bin_ in (
        (Scheme("width", 10), np.ceil(values * 10 - 1e-9).clip(1)),
        (Scheme("width", 7), np.ceil(values * 7 - 1e-9).clip(1)),
        (Scheme("mass", 4), -(-4 * rank // n)),
    ):
        of_bin = np.array([by_value[:, bin_ == one].sum(axis=1) for one in np.unique(bin_)]).T
        assert np.array_equal(correct_counts(draws, scheme), of_bin)


def test_rows_of_a_cluster_are_drawn_as_alike_as_the_data() -> None:
    # Two rows a cluster, near .3 and .8, whose covariance is λ²(.3 − .3 · .8); 40 sorts of clusters.
    c = np.repeat(np.array([0.3, 0.8]) + np.arange(40)[:, None] / 1e5, 500, axis=0)
    c, cluster = c.ravel(), np.repeat(np.arange(20_000), 2)
    y = correlated_uniforms(np.random.default_rng(5), cluster, 0.5**0.5) < c
    draws = ClusterDraws(BinSums.from_pairs(c, y), c, y, cluster)
    assert draws.shared == pytest.approx(0.5**0.5, abs=0.02)
    right = correct_counts(draws, Scheme("natural"))
    low, high = right[:, :40], right[:, 40:]
    assert low.shape == high.shape
    covariance = ((low - low.mean(axis=0)) * (high - high.mean(axis=0))).mean()
    error = 500 * (0.21 * 0.16 / right.shape[0] / 40) ** 0.5
    assert covariance == pytest.approx(500 * 0.06 * draws.shared**2, abs=4 * error)
    assert right.mean(axis=0) == pytest.approx(500 * np.unique(c), abs=4.5 * (500 * 0.21 / 199) ** 0.5)


def test_draws_follow_their_seed() -> None:
    c, y, cluster = trials(100, 0.7, 3)
    sums, scheme = BinSums.from_pairs(c, y), Scheme("width", 10)
    first, again, other = (
        correct_counts(ClusterDraws(sums, c, y, cluster, seed=seed), scheme) for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert np.corrcoef(first.sum(axis=1), other.sum(axis=1))[0, 1] < 0.3


@pytest.mark.parametrize("scheme", [Scheme("width", 10), Scheme("width", 7), Scheme("mass", 4)])
def test_draws_have_the_squared_errors_of_their_outcomes(scheme: Scheme) -> None:
    values = np.array([0.0, 0.1, 0.2001, 0.35, 0.4, 0.6, 0.75, 1.0])
    c = np.repeat(values, 20)
    y = np.random.default_rng(4).random(c.size) < c
    draws = ClusterDraws(BinSums.from_pairs(c, y), c, y, np.arange(c.size) // 4)
    by_value = correct_counts(draws, Scheme("natural"))
    for right, outcome in zip(by_value, draws.null_draws(scheme), strict=True):
        exact = (right * (1 - values) ** 2 + (20 - right) * values**2).sum()
        assert outcome.squared_error_sum == pytest.approx(exact, abs=1e-9)


def evidence_of(c: np.ndarray, y: np.ndarray, cluster: np.ndarray) -> AnswerEvidence:
    columns = {"confidence": c.tolist(), "correct": y.tolist(), "trial_of": [f"q{one}" for one in cluster]}
    return gather_evidence(make_answer_run(columns), "given")


def test_p_of_repeated_questions_is_that_of_questions() -> None:
    rows_clear = questions_clear = 0
    for seed in range(100):
        c, y, cluster = trials(MIN_CLUSTERS, 1.0, seed)
        questions_clear += (score(evidence_of(c, y, cluster), "ece", with_remark=False).p or 1) <= 0.05
        rows_clear += (score(evidence_of(c, y, np.arange(c.size)), "ece", with_remark=False).p or 1) <= 0.05
    assert questions_clear <= 13  # 5 % of 100, and 3.5 σ of it
    assert rows_clear > 50


def test_few_questions_have_no_p() -> None:
    c, y, cluster = trials(MIN_CLUSTERS - 1, 1.0, 0)
    evidence = evidence_of(c, y, cluster)
    assert score(evidence, "ece").p is None
    assert evidence.no_null_reason == too_few_clusters(cluster)
    assert (
        evidence.no_null_reason == "only 59 different questions: with repeated questions, a p-value needs 60"
    )
    assert evidence_of(c[::5], y[::5], cluster[::5]).no_null_reason is None


def test_metrics_of_all_classes_draw_repeated_questions_alike() -> None:
    random = np.random.default_rng(4)
    probs, size = random.dirichlet(np.ones(3), 100), 4
    gold = (random.random((100, 1)) >= np.cumsum(probs, axis=1)[:, :2]).sum(axis=1)
    trial_of = [f"q{question}" for question in np.repeat(np.arange(100), size)]
    often = choice_evidence(probs.repeat(size, 0).tolist(), gold.repeat(size).tolist(), trial_of=trial_of)
    alone = choice_evidence(probs.repeat(size, 0).tolist(), gold.repeat(size).tolist())
    clustered, independent = (score(one, "full_ece") for one in (often, alone))
    assert clustered.value == independent.value
    assert clustered.null_median == pytest.approx(2 * (independent.null_median or 0), rel=0.25)

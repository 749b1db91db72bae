"""The fitted model: cross-fitted by cluster, gaps of one sign, and draws that have its probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.edges import FINEST_BINS, Scheme, bin_of
from calib_core.inference.fitted_null import (
    FOLD_SEED,
    FOLDS,
    FittedNull,
    cross_fitted_probabilities,
    isotonic_curve,
    one_signed_probabilities,
    smooth_curve,
)
from calib_core.metrics import METRICS
from calib_core.results.evidence import NOT_FITTED_TO_SUMS, AnswerEvidence
from calib_core.results.robustness import SweepCurve, sweep_bins
from core.run_builders import block_evidence, choice_evidence, given_evidence
from core.token_run_builders import dense_evidence, random_rows

ROWS = st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.integers(0, 8)), min_size=1, max_size=40)


def drawn(n: int, seed: int, swing: float = 0.0, off: float = 0.0) -> AnswerEvidence:
    """Confidences from ½ to 1, right with that probability less `off` and less a wave of size `swing`."""
    random = np.random.default_rng(seed)
    confidence = 0.5 + 0.5 * random.random(n)
    chance = confidence - off - swing * np.sin(8 * np.pi * confidence)
    return given_evidence(confidence, random.random(n) < chance)


def ece_curve(evidence: AnswerEvidence, *bins: int) -> SweepCurve:
    (curve,) = sweep_bins(evidence, ("ece",), bins or (5, 500)).curves
    return curve


def fold_of(cluster: np.ndarray) -> np.ndarray:
    return (np.random.default_rng(FOLD_SEED).permutation(cluster.max() + 1) % FOLDS)[cluster]


def test_no_row_is_fitted_with_its_own_cluster() -> None:
    """Flipping the outcomes of a fold changes every other fold's probabilities, and not its own."""
    random = np.random.default_rng(1)
    cluster = random.permutation(np.repeat(np.arange(30), 4))
    confidence, correct = random.random(120), random.random(120) < 0.5
    before = cross_fitted_probabilities(confidence, correct, cluster)
    own = fold_of(cluster) == 2
    after = cross_fitted_probabilities(confidence, np.where(own, ~correct, correct), cluster)
    assert np.array_equal(before[own], after[own])
    for other in set(range(FOLDS)) - {2}:
        assert not np.array_equal(before[fold_of(cluster) == other], after[fold_of(cluster) == other])


def test_two_values_are_fitted_by_their_shares_in_the_other_folds() -> None:
    random = np.random.default_rng(2)
    confidence = np.repeat([0.25, 0.75], 50)
    correct = random.random(100) < np.repeat([0.1, 0.9], 50)
    found = cross_fitted_probabilities(confidence, correct)
    fold = fold_of(np.arange(100))
    for row in range(100):
        others = (fold != fold[row]) & (confidence == confidence[row])
        assert found[row] == pytest.approx(correct[others].mean())


def test_between_confidences_the_fit_is_linear_and_beyond_them_constant() -> None:
    confidence = np.array([0.1, 0.5, 0.9] + [0.25] * 20 + [0.75] * 20)
    correct = np.array([False, True, True] + [False] * 20 + [True] * 20)
    assert cross_fitted_probabilities(confidence, correct)[[0, 2]].tolist() == [0, 1]
    middle = np.array([0.5] + [0.25] * 20 + [0.75] * 20)
    right = np.array([True] + [False] * 20 + [True] * 20)
    assert cross_fitted_probabilities(middle, right)[0] == pytest.approx(0.5, abs=1e-12)


def test_a_smooth_curve_is_the_gap_near_by_and_what_that_left_over() -> None:
    """The same by a sum over all pairs of confidences."""
    confidence, rows = np.array([0.1, 0.13, 0.18, 0.6, 0.7]), np.array([4.0, 1, 2, 5, 1])
    right = np.array([3.0, 0, 1, 2, 1])
    cell = np.floor(confidence * FINEST_BINS)
    weight = np.clip(1 - np.abs(cell[:, None] - cell) / (0.1 * FINEST_BINS), 0, None) * rows
    weight /= weight.sum(axis=1, keepdims=True)
    first = weight @ (confidence - right / rows)
    second = first + weight @ (confidence - right / rows - first)
    found = smooth_curve(confidence, rows, right, width=0.1)
    assert found == pytest.approx(np.clip(confidence - second, 0, 1), abs=1e-12)


def test_a_smooth_curve_is_taken_only_where_it_predicts_clearly_better() -> None:
    random = np.random.default_rng(5)
    confidence = random.random(4_000)
    dip = np.where(np.abs(confidence - 0.7) < 0.1, 0.3, confidence)
    step = np.where(confidence > 0.5, 0.9, 0.1)
    uniform = random.random(4_000)
    for chance, is_smooth in ((dip, True), (step, False)):
        correct = uniform < chance
        found = cross_fitted_probabilities(confidence, correct)
        isotonic = cross_fitted_probabilities(confidence, correct, curves=[isotonic_curve])
        assert np.array_equal(found, isotonic) != is_smooth
        assert np.abs(found - chance).mean() < 0.05


def test_what_is_clearly_better_is_judged_by_cluster() -> None:
    """Forty copies of fifty rows say no more than the fifty rows."""
    random = np.random.default_rng(6)
    confidence = random.random(50)
    correct = random.random(50) < np.where(np.abs(confidence - 0.7) < 0.1, 0.3, confidence)
    copies = np.tile(np.arange(50), 40)
    by_row = cross_fitted_probabilities(confidence[copies], correct[copies])
    by_cluster = cross_fitted_probabilities(confidence[copies], correct[copies], copies)
    assert np.array_equal(
        by_cluster,
        cross_fitted_probabilities(confidence[copies], correct[copies], copies, curves=[isotonic_curve]),
    )
    assert not np.array_equal(
        by_row, cross_fitted_probabilities(confidence[copies], correct[copies], curves=[isotonic_curve])
    )


def test_folds_need_as_many_clusters() -> None:
    with pytest.raises(ValueError, match="5 folds need as many clusters, not 3"):
        cross_fitted_probabilities(np.full(6, 0.5), np.zeros(6, np.bool_), np.repeat([0, 1, 2], 2))


@given(ROWS)
def test_gaps_of_a_bin_have_one_sign_and_its_sum(rows: list[tuple[int, bool, int]]) -> None:
    said, right, fitted = (np.array(column) for column in zip(*rows, strict=True))
    confidence, probability, bin_ = 0.3 + said / 100, fitted / 8, said // 10
    found = one_signed_probabilities(confidence, right, probability, bin_)
    gap = confidence - found
    for number in set(bin_.tolist()):
        inside = bin_ == number
        residual = (confidence - right)[inside]
        target = np.sqrt(max(0.0, residual.sum() ** 2 - (residual**2).sum())) * np.sign(residual.sum())
        assert (gap[inside] * np.sign(target) >= -1e-12).all()
        if ((found[inside] > 0) & (found[inside] < 1)).all():
            assert gap[inside].sum() == pytest.approx(target, abs=1e-9)
        assert abs(gap[inside].sum()) <= abs(target) + 1e-9


def test_the_variance_of_a_bin_is_that_of_its_clusters() -> None:
    confidence, right = np.full(8, 0.75), np.array([0, 0, 0, 0, 0, 0, 1, 1], np.bool_)
    one_bin, cluster = np.zeros(8, np.intp), np.repeat(np.arange(4), 2)
    total = 6 * 0.75 - 2 * 0.25
    for groups, squares in ((None, 6 * 0.75**2 + 2 * 0.25**2), (cluster, 3 * 1.5**2 + 0.5**2)):
        found = one_signed_probabilities(confidence, right, confidence, one_bin, groups)
        assert (confidence - found).sum() == pytest.approx(np.sqrt(total**2 - squares))


def test_a_fit_keeps_its_shape_within_a_bin() -> None:
    confidence = np.array([0.5, 0.6, 0.7] * 40)
    right = np.array([False, False, True] * 40)
    probability = np.array([0.4, 0.3, 0.9] * 40)
    gap = confidence - one_signed_probabilities(confidence, right, probability, np.zeros(120, np.intp))
    assert gap[1] == pytest.approx(3 * gap[0])
    assert gap[2] == 0


@pytest.mark.parametrize("scheme", [Scheme("width", 10), Scheme("width", 7), Scheme("mass", 9)])
@pytest.mark.parametrize("clustered", [False, True])
def test_draws_have_the_model_s_probabilities(scheme: Scheme, *, clustered: bool) -> None:
    """Per bin the mean of the draws is the sum of the probabilities, which are not the confidences."""
    evidence = drawn(600, 3, off=0.2)
    pairs = evidence.pairs
    cluster = np.repeat(np.arange(120), 5) if clustered else None
    null = FittedNull(evidence.sums, pairs.confidence, pairs.correct, cluster, Scheme("width", 5))
    binned = evidence.sums.binned(scheme)
    draws = np.array([sums.bins.correct for sums in null.null_draws(METRICS["ece"], scheme)])
    order = np.argsort(pairs.confidence)
    ends = np.cumsum(binned.count.astype(np.int64))
    expected = np.diff(np.cumsum(null.probability[order])[ends - 1], prepend=0)
    error = draws.std(axis=0) / np.sqrt(draws.shape[0])
    assert np.abs(draws.mean(axis=0) - expected).max() < 4.5 * error.max()
    assert (binned.confidence - expected).sum() > 0.15 * 600


def test_bins_that_cut_a_cell_are_drawn_with_the_model_s_probabilities_too() -> None:
    """All confidences lie in one cell of the finest grid, which equal-mass bins cut."""
    random = np.random.default_rng(9)
    evidence = given_evidence(0.8001 + 0.0001 * random.random(300), random.random(300) < 0.5)
    null = evidence.fitted_null(Scheme("mass", 2))
    draws = np.array([sums.n_correct for sums in null.null_draws(METRICS["ece"], Scheme("mass", 6))])
    assert null.probability.mean() == pytest.approx(0.5, abs=0.1)
    assert draws.mean() == pytest.approx(null.probability.sum(), abs=4)


def test_draws_of_one_draw_are_the_same_at_every_m() -> None:
    evidence = drawn(400, 4)
    null = evidence.fitted_null(Scheme("width", 5))
    totals = [
        [sums.n_correct for sums in null.null_draws(METRICS["ece"], Scheme("width", bins))]
        for bins in (1, 5, 500)
    ]
    assert totals[0] == totals[1] == totals[2]


def test_the_model_s_own_ece_is_the_same_at_every_m() -> None:
    evidence = drawn(2000, 5, swing=0.3, off=0.1)
    null = evidence.fitted_null(Scheme("width", 5))
    confidence = evidence.pairs.confidence
    cell = bin_of(confidence, FINEST_BINS)
    gap = confidence - null.probability
    values = [np.abs(np.bincount(cell // (FINEST_BINS // bins), gap)).sum() / 2000 for bins in (5, 50, 500)]
    assert values[1:] == pytest.approx([values[0]] * 2)
    assert values[0] > 0.08


def test_the_model_is_made_once_for_each_widest_scheme() -> None:
    evidence = drawn(200, 6)
    wide = evidence.fitted_null(Scheme("width", 5))
    assert evidence.fitted_null(Scheme("width", 5)) is wide
    assert evidence.fitted_null(Scheme("width", 2)) is not wide


def test_gaps_that_cancel_are_found_and_gaps_that_do_not_are_not() -> None:
    """Waves whose true ECE rises from .115 to .187; a calibrated model would rise about as much."""
    cancelling = ece_curve(drawn(3000, 7, swing=0.3, off=0.1))
    assert cancelling.null is not None
    assert cancelling.null.change_p is not None
    assert cancelling.null.change_p > 0.05
    assert cancelling.fitted is not None
    assert cancelling.fitted.change_p == 1 / 200
    for off in (0.0, 0.1):
        constant = ece_curve(drawn(3000, 8, off=off)).fitted
        assert constant is not None
        assert constant.change_p is not None
        assert constant.change_p > 0.05


def test_p_is_seldom_small_where_nothing_cancels() -> None:
    ps = [ece_curve(drawn(150, seed, off=0.06), 5, 100).fitted for seed in range(40)]
    assert sum(p is not None and (p.change_p or 1) <= 0.05 for p in ps) <= 5


def test_there_is_a_reason_where_no_model_is_fitted() -> None:
    probs, label = random_rows(80, 4, seed=2)
    choices, tokens = choice_evidence(probs.tolist(), label.tolist()), dense_evidence(probs, label)
    for evidence, metric, reason in (
        (choices, "full_ece", "a fitted model has one confidence per row"),
        (choices, "mce", "a fitted model is compared with a sum of gaps only"),
        (tokens, "ece", NOT_FITTED_TO_SUMS),
        (block_evidence((0.8, 20, 15)), "ece", "20 rows, fewer than 30"),
        (
            given_evidence([0.7] * 60, [1, 0] * 30, trial_of=[f"q{at // 2}" for at in range(60)]),
            "ece",
            "only 30 different questions: with repeated questions, a p-value needs 60",
        ),
    ):
        (curve,) = sweep_bins(evidence, (metric,), (5, 10)).curves
        assert (curve.fitted, curve.not_fitted) == (None, reason)
    assert ece_curve(choices).fitted is not None
    assert ece_curve(choices, 10).not_fitted == "needs several M"

"""Binomial draws agree with drawing single rows, whatever the bins."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.bins import BinSums
from calib_core.edges import FINEST_BINS, Binning, Scheme
from calib_core.inference.null import MAX_INVERTED_PAIRS, BinomialDraws
from calib_core.metrics import METRICS
from calib_core.tokens.sums import N_DRAWS


def sums_of(confidence: np.ndarray, seed: int = 0) -> BinSums:
    random = np.random.default_rng(seed)
    return BinSums.from_pairs(confidence, random.random(confidence.size) < confidence)


MANY = np.random.default_rng(5).beta(2, 1, 6000)


def correct_counts(draws: BinomialDraws, scheme: Scheme) -> np.ndarray:
    """Right outcomes, shape (draws, bins)."""
    return np.array([outcome.binned(scheme).correct for outcome in draws.null_draws(scheme)])


@pytest.mark.parametrize(
    "scheme", [Scheme("width", 10), Scheme("width", 1), Scheme("width", 7), Scheme("mass", 9)]
)
def test_mean_and_spread_are_those_of_rows_drawn_one_by_one(scheme: Scheme) -> None:
    sums = sums_of(MANY)
    right, binned = correct_counts(BinomialDraws(sums), scheme), sums.binned(scheme)
    variance = binned.confidence - binned.squared_confidence  # Σ c(1 − c)
    off = (right.mean(axis=0) - binned.confidence) / np.sqrt(variance / N_DRAWS)
    assert np.abs(off).max() < 4
    # The variance of 199 draws is known to ± 10 %.
    assert np.abs(right.var(axis=0) / variance - 1).max() < 0.45


@pytest.mark.parametrize("scheme", [Scheme("width", 10), Scheme("width", 7), Scheme("mass", 4)])
def test_a_draw_keeps_all_but_the_outcomes(scheme: Scheme) -> None:
    sums = sums_of(MANY)
    binned = sums.binned(scheme)
    for outcome in BinomialDraws(sums).null_draws(scheme):
        drawn = outcome.binned(scheme)
        assert np.array_equal(drawn.count, binned.count)
        assert np.array_equal(drawn.confidence, binned.confidence)
        assert bool((drawn.correct <= drawn.count).all())
        assert (outcome.n_rows, outcome.n_groups, outcome.n_pairs) == (sums.n_rows, 1, sums.n_pairs)


def test_one_draw_serves_every_m() -> None:
    draws = BinomialDraws(sums_of(MANY))
    wide, fine = correct_counts(draws, Scheme("width", 5)), correct_counts(draws, Scheme("width", 500))
    assert np.array_equal(wide.sum(axis=1), fine.sum(axis=1))
    inside = sums_of(MANY).binned(Scheme("width", 500)).index < 100
    assert np.array_equal(wide[:, 0], fine[:, inside].sum(axis=1))


def test_cells_that_no_edge_cuts_are_the_same_draws_whatever_the_bins() -> None:
    draws = BinomialDraws(sums_of(MANY))
    # Seven bins cut six of three thousand cells: nearly everything is shared.
    total = correct_counts(draws, Scheme("width", 1)).sum(axis=1)
    cut = correct_counts(draws, Scheme("width", 7)).sum(axis=1)
    apart = BinomialDraws(sums_of(np.random.default_rng(6).beta(2, 1, 6000)))
    other = correct_counts(apart, Scheme("width", 7)).sum(axis=1)
    assert np.corrcoef(total, cut)[0, 1] > 0.99
    assert np.abs(np.corrcoef(total, other)[0, 1]) < 0.99


def test_parts_of_a_cut_cell_are_drawn_at_their_own_mean() -> None:
    """Equal-mass bins inside one cell of the grid: drawn at the cell's mean each would have a gap."""
    confidence = np.concatenate([np.full(50_000, 0.99970), np.full(50_000, 0.99999)])
    sums = sums_of(confidence)
    right = correct_counts(BinomialDraws(sums), Scheme("mass", 2))
    assert right.shape == (N_DRAWS, 2)
    assert right.mean(axis=0) == pytest.approx([50_000 * 0.99970, 50_000 * 0.99999], abs=2)


def test_right_outcomes_have_the_confidence_of_their_part_of_a_cell() -> None:
    """M = 7 cuts the cell of 1/7 between two values, and leaves the cells of the others alone."""
    values = np.array([0.05, 1 / 7 - 5e-5, 1 / 7 + 5e-5, 0.6])
    draws = BinomialDraws(sums_of(np.repeat(values, [10, 20, 30, 40])))
    for outcome in draws.null_draws(Scheme("width", 7)):
        drawn = outcome.binned(Scheme("width", 7))
        assert drawn.count.tolist() == [30, 30, 40]
        first, cut, last = drawn.correct_confidence - drawn.correct * np.array([0, *values[2:]])
        assert (cut, last) == pytest.approx((0, 0), abs=1e-9)
        assert drawn.correct[0] * values[0] - 1e-9 <= first <= drawn.correct[0] * values[1] + 1e-9


@pytest.mark.parametrize("binning", ["width", "mass", "natural"])
def test_certainty_is_never_drawn_otherwise(binning: Binning) -> None:
    sums = BinSums.from_pairs([0.0] * 5 + [1.0] * 7, [1] * 5 + [0] * 7)
    right = correct_counts(BinomialDraws(sums), Scheme(binning, 7))
    assert bool((right[:, 0] == 0).all())
    assert bool((right[:, -1] == 7).all())


def test_stored_dtypes_are_kept_apart() -> None:
    """A float16 0.3 and a float64 0.3 lie on both sides of an edge at 3/10."""
    half = BinSums.from_pairs(np.array([0.3], np.float16), [1])
    both = half.merge(BinSums.from_pairs([0.3, 0.31], [1, 0]))
    for scheme in (Scheme("width", 10), Scheme("width", 7), Scheme("mass", 2)):
        for outcome in BinomialDraws(both).null_draws(scheme):
            assert outcome.binned(scheme).n_bins == both.binned(scheme).n_bins


def test_the_same_seed_gives_the_same_draws() -> None:
    for scheme in (Scheme("width", 10), Scheme("width", 7)):
        one, other = (correct_counts(BinomialDraws(sums_of(MANY)), scheme) for _ in range(2))
        assert np.array_equal(one, other)


@pytest.mark.parametrize("scheme", [Scheme("width", 10), Scheme("width", 7), Scheme("mass", 4)])
def test_draws_have_the_squared_errors_of_their_outcomes(scheme: Scheme) -> None:
    """Values alone in their cells say which confidences were drawn as right."""
    values = np.array([0.0, 0.1, 0.2001, 0.35, 0.4, 0.6, 0.75, 1.0])
    sums = sums_of(np.repeat(values, 20))
    draws = BinomialDraws(sums)
    by_value = correct_counts(draws, Scheme("natural"))
    for right, outcome in zip(by_value, draws.null_draws(scheme), strict=True):
        if scheme.binning == "width":  # whose cells no edge cuts, so that they are the same draws
            exact = (right * (1 - values) ** 2 + (20 - right) * values**2).sum()
            assert outcome.squared_error_sum == pytest.approx(exact, abs=1e-9)
        binned = outcome.binned(scheme)
        low, high = binned.correct * binned.low, binned.correct * np.minimum(binned.high, 1)
        assert bool(
            ((low - 1e-9 <= binned.correct_confidence) & (binned.correct_confidence <= high + 1e-9)).all()
        )


def test_the_debiased_error_of_calibrated_rows_is_on_both_sides_of_zero() -> None:
    metric, scheme = METRICS["ece_debiased_sq"], Scheme()
    drawn = [metric.compute(outcome, scheme) for outcome in BinomialDraws(sums_of(MANY)).null_draws(scheme)]
    values = np.array(drawn, np.float64)
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(values.size)
    assert (values < 0).mean() > 0.3


@pytest.mark.parametrize("most", [1, 3, MAX_INVERTED_PAIRS, MAX_INVERTED_PAIRS + 1])
def test_cells_drawn_together_have_the_numbers_of_numpy(most: int) -> None:
    random = np.random.default_rng(most)
    of_cell = random.integers(1, most + 1, 400)
    of_cell[200] = most
    confidence = np.repeat(np.sort(np.append(random.beta(2, 1, 398), [0.0, 1.0])), of_cell)
    fine = sums_of(confidence).binned(Scheme("width", FINEST_BINS))
    chance = np.clip(fine.confidence / fine.count, 0, 1)
    wanted = np.random.default_rng(0).binomial(
        np.asarray(fine.count, np.int64), chance, size=(N_DRAWS, fine.n_bins)
    )
    drawn = correct_counts(BinomialDraws(sums_of(confidence)), Scheme("width", FINEST_BINS))
    assert np.array_equal(drawn, wanted)

"""The null of a mass-weighted metric, whose draws treat the confidences of a cell as equal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.null import ConfidenceMoments, null_distribution, sum_draws
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.score import score
from core.run_builders import choice_evidence
from core.token_run_builders import dense_evidence, random_rows


@pytest.mark.parametrize(
    "of", [dense_evidence, lambda probs, gold: choice_evidence(probs.tolist(), gold.tolist())]
)
def test_mass_of_the_drawn_is_expected_to_be_that_of_the_data(of: Callable[..., Evidence]) -> None:
    """E Σpy = Σp² in every bin, though a cell of the smallest probabilities holds very different ones."""
    scheme = Scheme("width", 1000)
    shares: list[float] = []
    for seed in range(12):  # of one data set, the draws alone move the smallest mass by 5 %
        probs, label = random_rows(400, 300, seed=seed, sharp=0.02)
        redrawn = of(probs, label).null_draws(get_metric("full_ece_mass"), scheme)
        assert redrawn is not None
        drawn = np.array([outcome.binned(scheme).correct_confidence for outcome in redrawn])
        expected = redrawn.data_bins.squared_confidence
        shares.append(drawn[:, 0].mean() / expected[0])
        assert drawn.sum(axis=1).mean() == pytest.approx(expected.sum(), rel=0.01)
    assert np.mean(shares) == pytest.approx(1, rel=0.05)


def test_mass_of_probabilities_that_share_a_cell_has_no_null() -> None:
    """All below 1/3000: their draws would all be the same."""
    row = np.concatenate([np.full(3000, 0.0003), np.full(3000, 0.1 / 3000)])
    evidence = dense_evidence(np.tile(row, (40, 1)), np.arange(40), by_class=False)
    assert null_distribution(evidence, get_metric("full_ece_mass"), (Scheme(),), (1e-5,)) is None
    assert null_distribution(evidence, get_metric("full_ece"), (Scheme(),), (1e-5,)) is not None
    even = choice_evidence([[0.5, 0.5]] * 40, [0, 1, 0, 1] * 10)
    assert score(even, "full_ece_mass").p == 1.0


def test_what_the_draws_lack_in_spread_is_added_bin_by_bin() -> None:
    """One pair drawn as right a bin, of the variances 0.09 and 0.16, on 10 rows: (0.3 + 0.4) / 10."""
    sums = BinSums.from_pairs([0.25, 0.75], [0, 1], n_rows=10)
    moments = ConfidenceMoments(np.array([0.25, 0.75]), np.array([0.09, 0.16]))
    drawn = sum_draws(
        sums.binned(Scheme("width", 2)), sums, 0, np.ones((3, 2), np.int32), np.arange(2), moments
    )
    assert drawn.missing_spread == pytest.approx(0.07)


@pytest.mark.parametrize(
    ("n", "total", "squares", "bound"),
    [
        (11, 3.3, 0.99 * (1 + 1e-15), 0.0),  # equal confidences: what is left is rounding
        (2, 4e-4, 1.5e-4**2 + 2.5e-4**2, 2.5e-9 * 8 / 3),  # the variance, times (2e-4 + 1/3000) / 2e-4
        (2, 1 / 3000, 1 / 3000**2, 1 / 6000**2),  # 0 and 1/3000: no more than half a cell, squared
    ],
)
def test_confidences_of_a_cell_vary_by_no_more(n: int, total: float, squares: float, bound: float) -> None:
    moments = ConfidenceMoments.from_sums(np.array([n]), np.array([total]), np.array([squares]))
    assert moments.mean[0] == pytest.approx(squares / total)
    assert moments.variance_bound[0] == pytest.approx(bound, rel=1e-9, abs=0)

"""Is the null of a mass-weighted metric, whose draws count a cell's confidences as one, a null at all?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.inference.null import null_distribution
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.score import score
from core.made_runs import choice_evidence
from core.made_tokens import dense_evidence, some_rows


@pytest.mark.parametrize(
    "of", [dense_evidence, lambda probs, gold: choice_evidence(probs.tolist(), gold.tolist())]
)
def test_mass_of_the_drawn_is_expected_to_be_that_of_the_data(of: Callable[..., Evidence]) -> None:
    """E Σpy = Σp² in every bin, though a cell of the smallest probabilities holds very different ones."""
    probs, label = some_rows(400, 300, seed=6, sharp=0.02)
    scheme = Scheme("width", 1000)
    redrawn = of(probs, label).null_draws(get_metric("full_ece_mass"), scheme)
    assert redrawn is not None
    drawn = np.array([outcome.binned(scheme).confident_correct for outcome in redrawn])
    expected = redrawn.data_bins.squared
    assert drawn[:, 0].mean() == pytest.approx(expected[0], rel=0.05)
    assert drawn.sum(axis=1).mean() == pytest.approx(expected.sum(), rel=0.01)


def test_mass_of_probabilities_that_share_a_cell_has_no_null() -> None:
    """All below 1/3000: their draws would all be the same."""
    row = np.concatenate([np.full(3000, 0.0003), np.full(3000, 0.1 / 3000)])
    evidence = dense_evidence(np.tile(row, (40, 1)), np.arange(40), by_class=False)
    assert null_distribution(evidence, get_metric("full_ece_mass"), (Scheme(),), (1e-5,)) is None
    assert null_distribution(evidence, get_metric("full_ece"), (Scheme(),), (1e-5,)) is not None
    even = choice_evidence([[0.5, 0.5]] * 4, [0, 1, 0, 1])
    assert score(even, "full_ece_mass").p == 1.0

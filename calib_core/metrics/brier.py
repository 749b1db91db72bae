"""How far is each confidence from its own outcome, squared?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import BootstrapUnits, Metric


def brier(sums: Sums, _scheme: Scheme) -> float | None:
    """Σ (c − y)² / n, in [0, 1]; None without pairs."""
    return sums.squared_error_sum / sums.n_pairs if sums.n_pairs else None


def _weighted_brier(units: BootstrapUnits, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights @ units.squared_error / weights.sum(1)


def brier_skill(brier_score: float, accuracy: float) -> float | None:
    """1 − Brier/(a(1−a)), at most 1; 0 is what always stating the accuracy a gives; None for a of 0 or 1."""
    constant = accuracy * (1 - accuracy)
    return 1 - brier_score / constant if constant > 0 else None


BRIER: Final = Metric(
    id="brier",
    title="Brier score",
    title_in_sentence="Brier score",
    recipe_name="Brier",
    meaning=(
        "The mean squared distance between confidence and outcome: it rewards being right as well "
        "as being honest, and needs no bins; lower is better, and always saying 50 % scores 0.25."
    ),
    source="Brier 1950, of one confidence a row: mean (c − y)²; self-consistency paper (Wang et al. 2024)",
    needs="pairs",
    low=0.0,
    high=1.0,
    direction="lower",
    binned=False,
    compute=brier,
    required_sums="squares",
    all_labels=True,
    is_proper=True,
    sampling_default="shown",
    bootstrap_coverage=(92, 98),
    weighted_form=_weighted_brier,
)


# MERGED brier_multi: How far is the whole distribution over the choices from the right answer, squared?


def brier_multi(sums: Sums, _scheme: Scheme) -> float | None:
    """Σ_i Σ_k (p_ik − [y_i = k])² / N, in [0, 2]; None without rows."""
    return sums.squared_error_sum / sums.rows if sums.n_pairs else None


BRIER_MULTI: Final = Metric(
    id="brier_multi",
    title="Brier score, all choices",
    title_in_sentence="Brier score, all choices",
    recipe_name="Brier, multi-class",
    meaning=(
        "The squared distance between all the choices' probabilities and the right answer, summed over "
        "the choices and averaged over the rows; from 0 to 2, lower is better."
    ),
    source="Brier 1950: mean over rows of Σ_k (p_k − [y = k])²",
    needs="distribution",
    low=0.0,
    high=2.0,
    direction="lower",
    binned=False,
    compute=brier_multi,
    required_sums="squares",
    is_proper=True,
)

"""How far is the whole distribution over the choices from the right answer, squared?"""

from __future__ import annotations

from typing import Final

from calib_core.binned import Scheme, Sums
from calib_core.metrics.metric import Metric


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

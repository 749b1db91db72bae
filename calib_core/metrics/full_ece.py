"""How far are the probabilities of all choices from how often they are right?"""

from __future__ import annotations

from typing import Final

from calib_core.binned import Scheme, Sums
from calib_core.metrics.metric import Metric


def full_ece(sums: Sums, scheme: Scheme) -> float | None:
    """Σ_b |Y_b − C_b| / N over the pairs of every class, in [0, 2]; None without rows.

    Full-ECE paper eq. 11-13: divided by rows, not by pairs. sums: one pair a choice.
    """
    if not sums.n_pairs:
        return None
    return float(sums.pooled().binned(scheme).absolute_gap.sum()) / sums.rows


FULL_ECE: Final = Metric(
    id="full_ece",
    title="Full-ECE",
    title_in_sentence="Full-ECE",
    recipe_name="Full-ECE-L1",
    meaning=(
        "The distance between probability and frequency over the probabilities of all choices, pooled "
        "in one set of bins and divided by the rows; from 0 to 2, lower is better."
    ),
    source="Full-ECE paper (Liu et al. 2024), eq. 11-13",
    needs="distribution",
    low=0.0,
    high=2.0,
    direction="lower",
    binned=True,
    compute=full_ece,
    binning="width",
    has_ceiling=True,
    in_default_sweep=True,
)

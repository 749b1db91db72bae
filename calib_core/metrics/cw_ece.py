"""How far is each choice's probability from how often that choice is right, class by class?"""

from __future__ import annotations

from typing import Final

from calib_core.binned import Scheme, Sums
from calib_core.metrics.metric import Metric


def cw_ece(sums: Sums, scheme: Scheme) -> float | None:
    """Σ_k Σ_b |Y_kb − C_kb| / (N·K), in [0, 2/K]; None without rows. Full-ECE paper eq. 7.

    sums: one pair a choice, kept by class.
    """
    if not sums.n_pairs:
        return None
    return float(sums.binned(scheme).absolute_gap.sum()) / (sums.rows * sums.groups)


CW_ECE: Final = Metric(
    id="cw_ece",
    title="cw-ECE",
    title_in_sentence="cw-ECE",
    recipe_name="cw-ECE-L1",
    meaning=(
        "Classwise ECE: that of each choice's probability against how often that choice is right, averaged "
        "over the K choices (classes): lower is better, and it shrinks as K grows."
    ),
    source="Full-ECE paper (Liu et al. 2024), eq. 7",
    needs="distribution",
    low=0.0,
    high=1.0,
    direction="lower",
    binned=True,
    compute=cw_ece,
    binning="width",
    required_sums="classes",
    in_default_sweep=True,
)

"""How large is the classwise ECE on the scale of Full-ECE, summed over the classes?"""

from __future__ import annotations

from typing import Final

from calib_core.binned import Scheme, Sums
from calib_core.metrics.metric import Metric


def cw_ece_sum(sums: Sums, scheme: Scheme) -> float | None:
    """K · classwise ECE = Σ_k Σ_b |Y_kb − C_kb| / N, in [0, 2]; None without rows.

    sums: one pair a choice, kept by class.
    """
    if not sums.n_pairs:
        return None
    return float(sums.binned(scheme).absolute_gap.sum()) / sums.rows


CW_ECE_SUM: Final = Metric(
    id="cw_ece_sum",
    title="K·cw-ECE",
    title_in_sentence="K·cw-ECE",
    recipe_name="K·cw-ECE-L1",
    meaning=(
        "cw-ECE (classwise ECE) summed over the choices instead of averaged, so that it can be read beside "
        "Full-ECE, which it is never below; from 0 to 2, lower is better."
    ),
    source="K times eq. 7 of the Full-ECE paper (Liu et al. 2024)",
    needs="distribution",
    low=0.0,
    high=2.0,
    direction="lower",
    binned=True,
    compute=cw_ece_sum,
    binning="width",
    required_sums="classes",
    has_ceiling=True,
    in_default_sweep=True,
)

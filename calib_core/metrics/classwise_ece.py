"""How far is each choice's probability from how often that choice is right, class by class?

Classwise ECE averaged over the classes, as the Full-ECE paper defines it, and summed over them, on the scale
of Full-ECE.
"""

from __future__ import annotations

from typing import Final

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import Metric


def cw_ece(sums: Sums, scheme: Scheme) -> float | None:
    """Classwise ECE Σ_k Σ_b |Y_kb − C_kb| / (N·K), in [0, 2/K]; None without rows.

    Parameters
    ----------
    sums : Sums
        Sums of one pair per choice, by class.
    scheme : Scheme
        Equal-width bins.

    References
    ----------
    Liu et al. (2024), Full-ECE, arXiv:2406.11345, eq. 7.
    """
    if not sums.n_pairs:
        return None
    return float(sums.binned(scheme).absolute_gap.sum()) / (sums.n_rows * sums.n_groups)


CW_ECE: Final = Metric(
    id="cw_ece",
    title="cw-ECE",
    title_in_sentence="cw-ECE",
    recipe_name="cw-ECE-L1",
    meaning=(
        "Classwise ECE: the ECE of each choice's probability against how often that choice is right, "
        "averaged over the K choices (classes): lower is better, and it shrinks as K grows."
    ),
    source="Full-ECE paper (Liu et al. 2024), eq. 7",
    needs="distribution",
    high=1.0,
    binned=True,
    compute=cw_ece,
    divisor=lambda sums: sums.n_rows * sums.n_groups,
    interval_method="directional",
    binning="width",
    required_sums="classes",
    in_default_sweep=True,
)


def cw_ece_sum(sums: Sums, scheme: Scheme) -> float | None:
    """Classwise ECE summed over the K classes, Σ_k Σ_b |Y_kb − C_kb| / N, in [0, 2]; None without rows.

    Parameters
    ----------
    sums : Sums
        Sums of one pair per choice, by class.
    scheme : Scheme
        Equal-width bins.
    """
    if not sums.n_pairs:
        return None
    return float(sums.binned(scheme).absolute_gap.sum()) / sums.n_rows


CW_ECE_SUM: Final = Metric(
    id="cw_ece_sum",
    title="K·cw-ECE",
    title_in_sentence="K·cw-ECE",
    recipe_name="K·cw-ECE-L1",
    meaning=(
        "cw-ECE (classwise ECE) summed over the choices instead of averaged, so that it can be compared "
        "with Full-ECE, which it is never below; from 0 to 2, lower is better."
    ),
    source="K times eq. 7 of the Full-ECE paper (Liu et al. 2024)",
    needs="distribution",
    high=2.0,
    binned=True,
    compute=cw_ece_sum,
    divisor=lambda sums: sums.n_rows,
    interval_method="directional",
    interval_coverage=(96, 100),
    binning="width",
    required_sums="classes",
    has_ceiling=True,
    in_default_sweep=True,
)

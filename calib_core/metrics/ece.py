"""How far is the confidence from the accuracy, on average over the bins?

Expected calibration error with equal-width bins (ECE) or equal-mass bins (ACE); the formula is the same.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import BootstrapUnits, EventWords, Metric


def ece(sums: Sums, scheme: Scheme) -> float | None:
    """Expected calibration error Σ_b |Y_b − C_b| / Σ_b n_b, in [0, 1]; None without pairs.

    Parameters
    ----------
    sums : Sums
        Sums of one pair per row, or of one pair per choice ("all labels", then divided by N·K), in one group.
    scheme : Scheme
        Any bins.

    References
    ----------
    Liu et al. (2024), Full-ECE, arXiv:2406.11345, eq. 3.
    Wang et al. (2024), arXiv:2403.09849, eq. 6.
    """
    if not sums.n_pairs:
        return None
    return float(sums.binned(scheme).absolute_gap.sum()) / sums.n_pairs


def _weighted_ece(units: BootstrapUnits, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.abs(np.add.reduceat(weights * units.gap, units.starts, axis=1)).sum(1) / weights.sum(1)


ECE: Final = Metric(
    id="ece",
    title="ECE",
    title_in_sentence="ECE",
    recipe_name="ECE-L1",
    meaning=(
        "Expected calibration error: the average distance between confidence and accuracy over the "
        "bins, each weighted by its rows; lower is better and 0 means that confidence and accuracy "
        "agree in every bin."
    ),
    source="Full-ECE paper (Liu et al. 2024), eq. 3; self-consistency paper (Wang et al. 2024), eq. 6",
    high=1.0,
    binned=True,
    compute=ece,
    all_labels=True,
    in_default_sweep=True,
    sampling_default="shown",
    divisor=lambda sums: sums.n_pairs,
    interval_method="directional",
    interval_coverage=(93, 100),
    weighted_form=_weighted_ece,
    event_words=EventWords(
        "Expected calibration error: the average distance between the probability of yes and the share of "
        "yes over the bins, each weighted by its rows; lower is better and 0 means that the two agree in "
        "every bin.",
    ),
)


# Nixon et al. (2019), arXiv:1904.01685, average over the classes; here one confidence per row is binned, tied
# confidences stay together, and bins are weighted by their number of rows.
ACE: Final = Metric(
    id="ace",
    title="ACE",
    title_in_sentence="ACE",
    recipe_name="ACE-L1",
    meaning=(
        "Adaptive calibration error: ECE over bins of about equally many rows, so that no bin is "
        "thin and rows of equal confidence stay together; lower is better."
    ),
    source="after Nixon et al. 2019: ECE with ⌈M·r/n⌉ bins, of one confidence per row, weighted by count",
    high=1.0,
    binned=True,
    compute=ece,
    binning="mass",
    required_sums="values",
    all_labels=True,
    divisor=lambda sums: sums.n_pairs,
    interval_method="directional",
    interval_coverage=(93, 100),
    event_words=EventWords(
        "Adaptive calibration error: ECE over bins of about equally many rows, so that no bin is thin and "
        "rows of equal probability stay together; lower is better.",
        source="after Nixon et al. 2019: ECE with ⌈M·r/n⌉ bins, weighted by count",
    ),
)


def ece_debiased_sq(sums: Sums, scheme: Scheme) -> float | None:
    """Squared calibration error without the part that chance adds, in [−1, 1]; None without pairs.

    Σ_b (S_b² − Σ_{i∈b} d_i²) / (n (n_b − 1)) with d = c − y and S_b its sum over bin b. For independent rows
    and given bins and counts, its expectation is Σ_b (n_b/n)·(mean gap of b)² over the bins of two pairs or
    more; a bin with one pair contributes nothing.

    References
    ----------
    Bröcker (2012), doi:10.1007/s00382-011-1191-1; Kumar, Liang, Ma (2019), arXiv:1909.10155, section 4.
    """
    if not sums.n_pairs:
        return None
    binned = sums.binned(scheme)
    squares = binned.squared_confidence - 2 * binned.correct_confidence + binned.correct
    cross_products = binned.absolute_gap**2 - squares
    shared = binned.count > 1
    return float((cross_products[shared] / (binned.count[shared] - 1)).sum()) / sums.n_pairs


ECE_DEBIASED_SQ: Final = Metric(
    id="ece_debiased_sq",
    title="Debiased squared ECE",
    title_in_sentence="debiased squared ECE",
    recipe_name="squared ECE-L2, debiased",
    meaning=(
        "The squared gap over the bins without what chance adds to it, so that runs of different length "
        "compare fairly: lower is better, about 0 if calibrated, and chance can push it below 0."
    ),
    source=(
        "Bröcker 2012, Kumar et al. 2019: Σ_b (S_b² − Σ d²) / (n (n_b − 1)), d = c − y; bins with one pair "
        "add nothing, and rows count as independent"
    ),
    low=-1.0,
    high=1.0,
    binned=True,
    compute=ece_debiased_sq,
    takes_weights=False,
    required_sums="squares",
    interval_method="none",
    no_interval_reason="none has been tested in simulations",
)

"""How far is the confidence from the accuracy, on average over the bins?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import BootstrapUnits, Metric


def ece(sums: Sums, scheme: Scheme) -> float | None:
    """Σ_b |Y_b − C_b| / Σ_b n_b, in [0, 1]; None without pairs. Full-ECE paper eq. 3.

    sums: one pair a row, or one a choice ("all labels", then divided by N·K); one group.
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
    needs="pairs",
    low=0.0,
    high=1.0,
    direction="lower",
    binned=True,
    compute=ece,
    all_labels=True,
    in_default_sweep=True,
    sampling_default="shown",
    bootstrap_coverage=(76, 93),
    weighted_form=_weighted_ece,
)


# MERGED ace: How large is the ECE when every bin holds about the same number of rows?

ACE: Final = Metric(
    id="ace",
    title="ACE",
    title_in_sentence="ACE",
    recipe_name="ACE-L1",
    meaning=(
        "Adaptive calibration error: ECE over bins of about equally many rows, so that no bin is "
        "thin and rows of equal confidence stay together; lower is better."
    ),
    source="after Nixon et al. 2019: ECE with ⌈M·r/n⌉ bins, of one confidence a row, weighted by count",
    needs="pairs",
    low=0.0,
    high=1.0,
    direction="lower",
    binned=True,
    compute=ece,
    binning="mass",
    required_sums="values",
    all_labels=True,
)

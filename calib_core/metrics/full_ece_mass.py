"""How far off is the probability of an answer that is drawn from the model's own distribution?"""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.binned import Scheme, Sums
from calib_core.metrics.metric import Metric


def full_ece_mass(sums: Sums, scheme: Scheme) -> float | None:
    """Σ_b |Σ p·y − Σ p²| / N over the pairs of every class, in [0, 1]; None without rows.

    Full-ECE paper eq. 8-9 read as sampling: each pair weighs as much as its probability. sums: one
    pair a choice.
    """
    if not sums.n_pairs:
        return None
    binned = sums.pooled().binned(scheme)
    return float(np.abs(binned.confident_correct - binned.squared).sum()) / sums.rows


FULL_ECE_MASS: Final = Metric(
    id="full_ece_mass",
    title="Mass-weighted Full-ECE",
    title_in_sentence="mass-weighted Full-ECE",
    recipe_name="Full-ECE-L1, mass-weighted",
    meaning=(
        "Full-ECE with each choice weighted by its own probability, which is the error to expect of an "
        "answer sampled from the model; from 0 to 1, lower is better."
    ),
    source="Full-ECE paper (Liu et al. 2024), eq. 8-9 read as sampling",
    needs="distribution",
    low=0.0,
    high=1.0,
    direction="lower",
    binned=True,
    compute=full_ece_mass,
    binning="width",
    required_sums="squares",
    in_default_sweep=True,
)

"""How far are the probabilities of all choices from how often they are right?"""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.bins import Sums
from calib_core.edges import Scheme
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


# MERGED full_ece_mass: How far off is the probability of an answer that is drawn from the model's own distribution?


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

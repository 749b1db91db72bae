"""How far are the probabilities of all choices from how often those choices are right?

Full-ECE, and its mass-weighted form: the error to expect of an answer sampled from the model's distribution.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import Metric


def full_ece(sums: Sums, scheme: Scheme) -> float | None:
    """Full-ECE Σ_b |Y_b − C_b| / N over the pairs of all classes, in [0, 2]; None without rows.

    The divisor is the number of rows, not of pairs.

    Parameters
    ----------
    sums : Sums
        Sums of one pair per choice.
    scheme : Scheme
        Equal-width bins.

    References
    ----------
    Liu et al. (2024), Full-ECE, arXiv:2406.11345, eq. 11–13.
    """
    if not sums.n_pairs:
        return None
    return float(sums.pooled().binned(scheme).absolute_gap.sum()) / sums.n_rows


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
    high=2.0,
    binned=True,
    compute=full_ece,
    divisor=lambda sums: sums.n_rows,
    interval_method="directional",
    interval_coverage=(96, 100),
    binning="width",
    has_ceiling=True,
    in_default_sweep=True,
)


def full_ece_mass(sums: Sums, scheme: Scheme) -> float | None:
    """Mass-weighted Full-ECE Σ_b |Σ p·y − Σ p²| / N over all classes, in [0, 1]; None without rows.

    Each pair is weighted by its probability, as if the answer were sampled from the distribution.

    Parameters
    ----------
    sums : Sums
        Sums of one pair per choice.
    scheme : Scheme
        Equal-width bins.

    References
    ----------
    Liu et al. (2024), Full-ECE, arXiv:2406.11345, eq. 8–9 read as sampling.
    """
    if not sums.n_pairs:
        return None
    binned = sums.pooled().binned(scheme)
    return float(np.abs(binned.correct_confidence - binned.squared_confidence).sum()) / sums.n_rows


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
    high=1.0,
    binned=True,
    compute=full_ece_mass,
    divisor=lambda sums: sums.n_rows,
    interval_method="directional",
    interval_coverage=(96, 100),
    binning="width",
    required_sums="squares",
    weighted_by_confidence=True,
    in_default_sweep=True,
)

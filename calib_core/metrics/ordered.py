"""How far are the probabilities of a scale's levels from the right level?

Levels have an order, so a probability on the neighbour of the right level is a smaller error than one at the
other end of the scale.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import BinSums, Sums
from calib_core.edges import Scheme
from calib_core.metrics.brier import squared_error
from calib_core.metrics.metric import Metric


def rps(sums: Sums, _scheme: Scheme) -> float | None:
    """Ranked probability score, the mean over cuts of the Brier score of each; in [0, 1], None without rows.

    Parameters
    ----------
    sums : Sums
        Sums of one pair for each row and cut t of K levels: P(level ≥ t), and whether the right level is at
        least t.

    References
    ----------
    Epstein (1969), doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2; here divided by K − 1.
    """
    return sums.squared_error_sum / sums.n_pairs if sums.n_pairs else None


def expectation_error(sums: Sums, _scheme: Scheme) -> float | None:
    """Mean |Σ k·p_k − level| in levels, in [0, K − 1]; None without rows.

    Parameters
    ----------
    sums : Sums
        Sums of one pair for each row: the distance as a share of K − 1, with the outcome 0 and K groups.
    """
    if not sums.n_pairs or not isinstance(sums, BinSums):
        return None
    return sums.confidence_sum / sums.n_pairs * (sums.n_groups - 1)


def _distance(confidence: NDArray[np.float64], _correct: NDArray[np.bool_]) -> NDArray[np.float64]:
    return confidence


RPS: Final = Metric(
    id="rps",
    title="Ranked probability score",
    title_in_sentence="ranked probability score",
    recipe_name="RPS",
    meaning=(
        "The Brier score of P(level ≥ t), averaged over the cuts t of a scale: probability far from the "
        "right level costs more than probability beside it; lower is better."
    ),
    source="Epstein 1969, divided by K − 1: mean over rows and cuts of (P(level ≥ t) − [gold ≥ t])²",
    needs="distribution",
    high=1.0,
    compute=rps,
    required_sums="cuts",
    is_proper=True,
    interval_method="mean",
    pair_term=squared_error,
    interval_coverage=(95, 100),
)

EXPECTATION_ERROR: Final = Metric(
    id="expectation_error",
    title="Error of the expected level",
    title_in_sentence="error of the expected level",
    recipe_name="Expectation error",
    meaning=(
        "How far the expected level of a scale is from the right one on average, in levels; lower is better."
    ),
    source="mean |Σ_k k·p_k − gold| over levels counted from 0",
    needs="distribution",
    high=None,
    compute=expectation_error,
    required_sums="distances",
    interval_method="mean",
    pair_term=_distance,
    interval_coverage=(95, 100),
)

"""Is the model over-confident or under-confident on average?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import BootstrapUnits, EventWords, Metric


def bias(sums: Sums, _scheme: Scheme) -> float | None:
    """Mean confidence minus accuracy, (Σ c − Σ y) / n, in [−1, 1]; positive means over-confident.

    None without pairs.
    """
    return (sums.confidence_sum - sums.n_correct) / sums.n_pairs if sums.n_pairs else None


def _weighted_bias(units: BootstrapUnits, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights @ units.gap / weights.sum(1)


def _gap(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> NDArray[np.float64]:
    return confidence - correct


BIAS: Final = Metric(
    id="bias",
    title="Bias",
    title_in_sentence="bias",
    recipe_name="bias",
    meaning=(
        "Mean confidence minus accuracy: above 0 is over-confident, below 0 under-confident, and nearest "
        "to 0 is best, though gaps of opposite sign cancel here."
    ),
    source="mean c − mean y",
    low=-1.0,
    high=1.0,
    direction="zero",
    compute=bias,
    interval_method="mean",
    pair_term=_gap,
    interval_coverage=(92, 100),
    event_words=EventWords(
        "Mean probability of yes minus share of yes: above 0 yes is expected too often, below 0 too rarely, "
        "and nearest to 0 is best, though gaps of opposite sign cancel here.",
    ),
    weighted_form=_weighted_bias,
)

"""How often is the model right?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import BootstrapUnits, EventWords, Metric


def accuracy(sums: Sums, _scheme: Scheme) -> float | None:
    """Accuracy Σ y / n, in [0, 1]; None without pairs."""
    return sums.n_correct / sums.n_pairs if sums.n_pairs else None


def _weighted_accuracy(units: BootstrapUnits, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights @ units.accuracy / weights.sum(1)


def _outcome(_confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> NDArray[np.float64]:
    return correct.astype(np.float64)


ACCURACY: Final = Metric(
    id="accuracy",
    title="Accuracy",
    title_in_sentence="accuracy",
    recipe_name="accuracy",
    meaning="The share of rows that are right, whatever confidence was stated; higher is better.",
    source="mean y",
    high=1.0,
    direction="higher",
    compute=accuracy,
    shown_in_percent=True,
    sampling_default="shown",
    interval_method="wilson",
    interval_coverage=(90, 98),
    pair_term=_outcome,
    event_words=EventWords(
        "The share of rows in which yes is true, whatever its probability: neither high nor low is better.",
        title="Share of yes",
        title_in_sentence="share of yes",
        recipe_name="share of yes",
    ),
    weighted_form=_weighted_accuracy,
)

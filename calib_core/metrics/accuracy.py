"""How often is it right?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.binned import Scheme, Sums
from calib_core.metrics.metric import Metric, Units


def accuracy(sums: Sums, _scheme: Scheme) -> float | None:
    """Σ y / n, in [0, 1]; None without pairs."""
    return sums.right / sums.pairs if sums.pairs else None


def _reweighted(units: Units, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights @ units.right / weights.sum(1)


ACCURACY: Final = Metric(
    id="accuracy",
    title="Accuracy",
    in_sentence="accuracy",
    recipe="accuracy",
    meaning="The share of rows that are right, whatever confidence was stated; higher is better.",
    source="mean y",
    needs="pairs",
    low=0.0,
    high=1.0,
    better="higher",
    binned=False,
    of=accuracy,
    percent=True,
    over_samples="shown",
    interval="wilson",
    reweighted=_reweighted,
)

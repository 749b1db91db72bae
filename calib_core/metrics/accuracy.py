"""How often is it right?"""

from __future__ import annotations

from typing import Final

from calib_core.binned import Scheme, Sums
from calib_core.metrics.metric import Metric


def accuracy(sums: Sums, _scheme: Scheme) -> float | None:
    """Σ y / n, in [0, 1]; None without pairs."""
    return sums.right / sums.pairs if sums.pairs else None


ACCURACY: Final = Metric(
    id="accuracy",
    title="Accuracy",
    recipe="accuracy",
    meaning="The share of rows that are right, whatever confidence was stated; higher is better.",
    source="mean y",
    needs="pairs",
    low=0.0,
    high=1.0,
    better="higher",
    binned=False,
    of=accuracy,
)

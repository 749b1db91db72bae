"""How surprised is the model by the right answers?"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from calib_core.bins import BinSums, Scheme
from calib_core.metrics.metric import Metric


def _zero_labels(sums: BinSums) -> int:
    """Rows whose right answer was given probability 0."""
    return int(sums.correct[sums.value == 0].sum())


def nll(sums: BinSums, _scheme: Scheme) -> float | None:
    """−Σ_i ln p_i,y_i / N, in [0, ∞]; infinite once a right answer has probability 0, None without rows."""
    if not sums.pairs:
        return None
    if _zero_labels(sums):
        return math.inf
    hit = sums.correct > 0
    # From 0.0 downward, so that certainty everywhere gives 0 and not -0.
    return (0.0 - float((sums.correct[hit] * np.log(sums.value[hit])).sum())) / sums.rows


def _infinite(sums: BinSums) -> str | None:
    zeros = _zero_labels(sums)
    if not zeros:
        return None
    return f"Infinite: the right answer was given probability 0 in {zeros:,} of {sums.rows:,} rows."


NLL: Final = Metric(
    id="nll",
    title="Negative log-likelihood",
    recipe="NLL",
    meaning=(
        "The mean of −ln of the probability given to the right answer (nats): lower is better, and one "
        "right answer that was given probability 0 makes it infinite."
    ),
    source="mean over rows of −ln p_y",
    needs="distribution",
    low=0.0,
    high=None,
    better="lower",
    binned=False,
    of=nll,
    remark=_infinite,
)

"""How surprised is the model by the right answers?"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import Metric
from calib_core.wording import part_of_rows


def nll(sums: Sums, _scheme: Scheme) -> float | None:
    """Negative log-likelihood −Σ_i ln p_i,y_i / N in nats, in [0, ∞]; None without rows.

    It is infinite if any right answer has probability 0.
    """
    if not sums.n_pairs:
        return None
    return math.inf if sums.n_infinite_losses else sums.log_loss_sum / sums.n_rows


def _infinite_remark(sums: Sums) -> str | None:
    if not sums.n_infinite_losses:
        return None
    rows = part_of_rows(sums.n_infinite_losses, sums.n_rows)
    return f"Infinite: the right answer was given probability 0 in {rows}."


def _log_loss(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> NDArray[np.float64]:
    return -np.log(np.where(correct, confidence, 1.0))


NLL: Final = Metric(
    id="nll",
    title="Negative log-likelihood",
    title_in_sentence="negative log-likelihood",
    recipe_name="NLL",
    meaning=(
        "The mean of −ln of the probability given to the right answer (nats): lower is better, and one "
        "right answer that was given probability 0 makes it infinite."
    ),
    source="mean over rows of −ln p_y",
    needs="distribution",
    high=None,
    compute=nll,
    remark=_infinite_remark,
    interval_method="mean",
    pair_term=_log_loss,
    interval_coverage=(92, 96),
    is_proper=True,
)

"""How far is the confidence from the accuracy in the worst bin?"""

from __future__ import annotations

from typing import Final

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import EventWords, Metric


def mce(sums: Sums, scheme: Scheme) -> float | None:
    """Maximum calibration error max_b |Y_b − C_b| / n_b, in [0, 1]; None without pairs.

    Only non-empty bins count.

    References
    ----------
    Naeini et al. (2015), doi:10.1609/aaai.v29i1.9602.
    """
    if not sums.n_pairs:
        return None
    binned = sums.binned(scheme)
    return float((binned.absolute_gap / binned.count).max())


MCE: Final = Metric(
    id="mce",
    title="MCE",
    title_in_sentence="MCE",
    recipe_name="MCE",
    meaning=(
        "Maximum calibration error: the distance between confidence and accuracy in the worst bin, "
        "however few rows that bin has; lower is better."
    ),
    source="Naeini et al. 2015: max over non-empty bins of |accuracy − confidence|",
    high=1.0,
    binned=True,
    compute=mce,
    all_labels=True,
    interval_method="none",
    no_interval_reason="no method covers a maximum over bins",
    event_words=EventWords(
        "Maximum calibration error: the distance between the probability of yes and the share of yes in "
        "the worst bin, however few rows that bin has; lower is better.",
        source="Naeini et al. 2015: max over non-empty bins of |share of yes − probability of yes|",
    ),
)

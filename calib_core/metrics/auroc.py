"""Is it more confident where it is right than where it is wrong?"""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import Metric


def auroc(sums: Sums, _scheme: Scheme) -> float | None:
    """Share of (right, wrong) pairs of rows in which the right one is more confident, ties half.

    In [0, 1]; None unless both outcomes occur. Counted in whole numbers, divided once.
    """
    levels = sums.natural_bins()
    wrong = levels.count - levels.correct
    rights, wrongs = int(levels.correct.sum()), int(wrong.sum())
    if not rights or not wrongs:
        return None
    below = np.cumsum(wrong) - wrong
    twice_won = int((levels.correct * (2 * below + wrong)).sum())
    return twice_won / (2 * rights * wrongs)


AUROC: Final = Metric(
    id="auroc",
    title="AUROC",
    title_in_sentence="AUROC",
    recipe_name="AUROC",
    meaning=(
        "The chance that a right answer was given more confidence than a wrong one, ties counted half: "
        "higher is better, 0.5 tells nothing, and it says whether confidence ranks, not whether it is "
        "calibrated."
    ),
    source="Mann–Whitney U of confidence against correctness / (rights · wrongs)",
    needs="pairs",
    low=0.0,
    high=1.0,
    direction="higher",
    binned=False,
    compute=auroc,
    required_sums="values",
    sampling_default="offered",
)

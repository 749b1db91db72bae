"""Is the model more confident where it is right than where it is wrong?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums, pairwise_sum, running_sum
from calib_core.edges import FINEST_BINS, Scheme
from calib_core.metrics.metric import EventWords, Metric


def auroc(sums: Sums, _scheme: Scheme) -> float | None:
    """Area under the ROC curve of confidence as a predictor of correctness, in [0, 1].

    This is the probability that a right answer has a higher confidence than a wrong one, where ties count
    half. None unless both outcomes occur.
    """
    levels = sums.natural_bins()

    def wrong(part: slice) -> NDArray[Any]:
        return levels.count[part] - levels.correct[part]

    n_correct, n_wrong = levels.correct.sum().item(), pairwise_sum(levels.n_bins, wrong)
    if n_correct <= 0 or n_wrong <= 0:
        return None
    # Twice the Mann–Whitney U, so that it is a whole number and the quotient is rounded once: of each right
    # answer, 2 · (wrong ones below it) + (wrong ones beside it).
    up_to = running_sum()

    def doubled(part: slice) -> NDArray[Any]:
        beside = wrong(part)
        return (2 * (up_to(beside) - beside) + beside) * levels.correct[part]

    doubled_u = pairwise_sum(levels.n_bins, doubled)
    return doubled_u / (2 * n_correct * n_wrong)


def least_auroc(sums: Sums) -> float:
    """A lower bound of the AUROC, for which nothing is sorted; both outcomes have to occur.

    Only wrong answers count as below a right one that lie at least two of the finest bins below it: those of
    neighbouring bins may be tied with it, but for rounding.
    """
    binned = sums.binned(Scheme("width", FINEST_BINS))
    correct, wrong = np.zeros((2, FINEST_BINS + 2))
    correct[binned.index + 2] = binned.correct
    wrong[binned.index + 2] = binned.count - binned.correct
    return float((correct[2:] * np.cumsum(wrong)[:-2]).sum() / (correct.sum() * wrong.sum()))


AUROC: Final = Metric(
    id="auroc",
    title="AUROC",
    title_in_sentence="AUROC",
    recipe_name="AUROC",
    meaning=(
        "The chance that a right answer was given more confidence than a wrong one, ties counted half: "
        "higher is better, 0.5 is no better than chance, and it measures ranking, not calibration."
    ),
    source="Mann–Whitney U of confidence against correctness / (rights · wrongs)",
    high=1.0,
    direction="higher",
    compute=auroc,
    required_sums="values",
    sampling_default="offered",
    interval_method="auroc",
    interval_coverage=(92, 100),
    event_words=EventWords(
        "The chance that a row with yes was given a higher probability than a row with no, ties counted "
        "half: higher is better, 0.5 is no better than chance, and it measures ranking, not calibration.",
        source="Mann–Whitney U of the probability against the outcome / (yes · no)",
    ),
)

SERVER_AUROC: Final = Metric(
    id="server_auroc",
    title="AUROC of the server's confidence",
    title_in_sentence="AUROC of the server's confidence",
    recipe_name="AUROC of the server's confidence, as a rank",
    meaning=(
        "The chance that a right decision has a higher `confidence` of its server than a wrong one, ties "
        "counted half: higher is better, and only the order is read, since each server has a formula of its "
        "own and none gives a probability."
    ),
    source="Mann–Whitney U of the server's confidence against correctness / (rights · wrongs)",
    needs="distribution",
    high=1.0,
    direction="higher",
    compute=auroc,
    required_sums="ranks",
    interval_method="auroc",
    event_words=EventWords(
        "The AUROC of the order in which a server has its decisions, which is one of top labels, not of "
        "events: higher is better.",
        title="AUROC of the server's rank",
        title_in_sentence="AUROC of the server's rank",
        recipe_name="AUROC of the server's rank",
        source="as AUROC",
    ),
)

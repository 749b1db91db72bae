"""How many answers are wrong if only the most confident ones are given?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Counts, Sums, pairwise_sum, running_sum
from calib_core.edges import Scheme
from calib_core.metrics.metric import EventWords, Metric


def risk_coverage_area(n_answered: Counts, n_correct: Counts) -> float:
    """Area under risk against coverage: over the rows, the mean share wrong at each row's own threshold.

    Parameters
    ----------
    n_answered, n_correct : NDArray[np.int64], shape (steps,)
        Rows with at least the confidence of each step, or the sum of their weights, and the correct ones
        among them; both ascending. Rows of equal confidence make one step, since no threshold tells them
        apart; there is at least one.

    Returns
    -------
    float
        In [0, 1].

    References
    ----------
    Geifman, El-Yaniv (2017), arXiv:1705.08500; Geifman, Uziel, El-Yaniv (2019), arXiv:1805.08206.

    Examples
    --------
    >>> risk_coverage_area(np.array([1, 4]), np.array([1, 2]))
    0.375
    """
    return float(_wrong_shares(n_answered, n_correct, 0).sum()) / n_answered[-1].item()


def _wrong_shares(n_answered: Counts, n_correct: Counts, n_before: float) -> NDArray[Any]:
    """The share wrong at each step, times the rows that it adds to the number before the first."""
    return (1 - n_correct / n_answered) * np.diff(n_answered, prepend=n_before)


def aurc(sums: Sums, _scheme: Scheme) -> float | None:
    """Area under the risk–coverage curve, in [0, 1]; None without pairs."""
    if not sums.n_pairs:
        return None
    levels = sums.natural_bins()
    count, correct = levels.count[::-1], levels.correct[::-1]
    answered, right, n_answered = running_sum(), running_sum(), 0

    def wrong_shares(part: slice) -> NDArray[Any]:
        nonlocal n_answered
        up_to = answered(count[part])
        shares = _wrong_shares(up_to, right(correct[part]), n_answered)
        n_answered = up_to[-1]
        return shares

    area = pairwise_sum(count.size, wrong_shares)  # as `risk_coverage_area`, part by part
    return area / float(n_answered)


AURC: Final = Metric(
    id="aurc",
    title="AURC",
    title_in_sentence="AURC",
    recipe_name="AURC",
    meaning=(
        "The share of wrong answers if only the most confident are given, averaged over how many are "
        "given: lower is better, and it rewards both accuracy and ranking."
    ),
    source="Geifman 2017: mean over rows i of the share wrong among the rows with a confidence ≥ c_i",
    high=1.0,
    compute=aurc,
    required_sums="values",
    interval_method="none",
    no_interval_reason="a bootstrap held the truth in only 58 to 97 % of simulated data sets",
    event_words=EventWords(
        "The share of no among the rows with the highest probability of yes, averaged over how many are "
        "taken: lower is better, and it rewards both a high share of yes and ranking.",
        source="Geifman 2017: mean over rows i of the share of no among the rows with a probability ≥ p_i",
    ),
)

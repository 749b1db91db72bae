"""How many answers are wrong if only the most confident ones are given?"""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.bins import Counts, Sums
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
    wrong = n_correct / n_answered
    np.subtract(1, wrong, out=wrong)
    wrong[1:] *= np.diff(n_answered)
    wrong[0] *= n_answered[0]
    return float(wrong.sum()) / n_answered[-1].item()


def aurc(sums: Sums, _scheme: Scheme) -> float | None:
    """Area under the risk–coverage curve, in [0, 1]; None without pairs."""
    if not sums.n_pairs:
        return None
    levels = sums.natural_bins()
    return risk_coverage_area(np.cumsum(levels.count[::-1]), np.cumsum(levels.correct[::-1]))


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

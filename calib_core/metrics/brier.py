"""What is the squared distance between confidence and outcome?

The Brier score of one confidence per row, and its multi-class form over the probabilities of all choices.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.metrics.metric import BootstrapUnits, EventWords, Metric


def brier(sums: Sums, _scheme: Scheme) -> float | None:
    """Brier score Σ (c − y)² / n, in [0, 1]; None without pairs.

    References
    ----------
    Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2.
    """
    return sums.squared_error_sum / sums.n_pairs if sums.n_pairs else None


def _weighted_brier(units: BootstrapUnits, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights @ units.squared_error / weights.sum(1)


def squared_error(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(c − y)² of each pair; shape (pairs,)."""
    return (confidence - correct) ** 2


def brier_skill(brier_score: float, accuracy: float) -> float | None:
    """Brier skill score against a forecast that always states the accuracy.

    Parameters
    ----------
    brier_score : float
        Brier score, in [0, 1].
    accuracy : float
        Accuracy a of the same rows, in [0, 1].

    Returns
    -------
    float or None
        1 − Brier / (a(1 − a)), at most 1 and 0 for the constant forecast; None if a is 0 or 1.

    Examples
    --------
    >>> brier_skill(0.25, 0.5), brier_skill(0.0, 0.5), brier_skill(0.1, 1.0)
    (0.0, 1.0, None)
    """
    reference_score = accuracy * (1 - accuracy)
    return 1 - brier_score / reference_score if reference_score > 0 else None


def _linearised_brier_skill(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], weight: NDArray[np.float64] | None
) -> tuple[float, NDArray[np.float64]]:
    """The Brier skill score, and the influence of each pair on it, for its weight.

    Parameters
    ----------
    confidence : NDArray[np.float64], shape (n,)
        In [0, 1]; at least one.
    correct : NDArray[np.bool_], shape (n,)
    weight : NDArray[np.float64] or None, shape (n,)
        By which means are taken.

    Returns
    -------
    value : float
        NaN if all pairs have the same outcome.
    influence : NDArray[np.float64], shape (n,)
        With v = a(1 − a) and the Brier score B: −((c − y)² − B)/v + B(1 − 2a)(y − a)/v².
    """
    accuracy = float(np.average(correct, weights=weight))
    squared_error = (confidence - correct) ** 2
    score = float(np.average(squared_error, weights=weight))
    value = brier_skill(score, accuracy)
    if value is None:
        return np.nan, np.zeros(correct.size)
    reference_score = accuracy * (1 - accuracy)
    influence = (squared_error - score) / -reference_score
    influence += score * (1 - 2 * accuracy) / reference_score**2 * (correct - accuracy)
    return value, influence


def brier_skill_of_sums(sums: Sums, _scheme: Scheme) -> float | None:
    """Brier skill score of the pairs, at most 1; None without pairs, or where all have one outcome."""
    score = brier(sums, _scheme)
    return None if score is None else brier_skill(score, sums.n_correct / sums.n_pairs)


BRIER: Final = Metric(
    id="brier",
    title="Brier score",
    title_in_sentence="Brier score",
    recipe_name="Brier",
    meaning=(
        "The mean squared distance between confidence and outcome: it rewards being right as well "
        "as being honest, and needs no bins; lower is better, and always saying 50 % scores 0.25."
    ),
    source="Brier 1950, of one confidence per row: mean (c − y)²; self-consistency paper (Wang et al. 2024)",
    high=1.0,
    compute=brier,
    required_sums="squares",
    all_labels=True,
    is_proper=True,
    sampling_default="shown",
    interval_method="mean",
    pair_term=squared_error,
    interval_coverage=(92, 100),
    weighted_form=_weighted_brier,
    event_words=EventWords(
        "The mean squared distance between the probability of yes and what came of it, 1 for yes and 0 for "
        "no: it rewards telling them apart as well as being honest, and needs no bins; lower is better, and "
        "always saying 50 % scores 0.25.",
        source="Brier 1950: mean (p − y)²; self-consistency paper (Wang et al. 2024)",
    ),
)


BRIER_SKILL: Final = Metric(
    id="brier_skill",
    title="Brier skill score",
    title_in_sentence="Brier skill score",
    recipe_name="Brier skill",
    meaning=(
        "The Brier score against that of always stating the accuracy: higher is better, 1 is perfect, and "
        "below 0 the confidences are worse than that constant."
    ),
    source="Murphy 1973: 1 − Brier / (a(1 − a)) for the accuracy a",
    low=None,
    high=1.0,
    direction="higher",
    compute=brier_skill_of_sums,
    required_sums="squares",
    interval_method="none",
    no_interval_reason="a bootstrap held the truth in 87 to 100 % of simulated data sets",
    linearise=_linearised_brier_skill,
    event_words=EventWords(
        "The Brier score against that of always stating the share of yes: higher is better, 1 is perfect, "
        "and below 0 the probabilities are worse than that constant.",
        source="Murphy 1973: 1 − Brier / (a(1 − a)) for the share of yes a",
    ),
)


def brier_multi(sums: Sums, _scheme: Scheme) -> float | None:
    """Multi-class Brier score Σ_i Σ_k (p_ik − [y_i = k])² / N, in [0, 2]; None without rows.

    Parameters
    ----------
    sums : Sums
        Sums of one pair per choice.

    References
    ----------
    Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2.
    """
    return sums.squared_error_sum / sums.n_rows if sums.n_pairs else None


BRIER_MULTI: Final = Metric(
    id="brier_multi",
    title="Brier score, all choices",
    title_in_sentence="Brier score, all choices",
    recipe_name="Brier, multi-class",
    meaning=(
        "The squared distance between all the choices' probabilities and the right answer, summed over "
        "the choices and averaged over the rows; from 0 to 2, lower is better."
    ),
    source="Brier 1950: mean over rows of Σ_k (p_k − [y = k])²",
    needs="distribution",
    high=2.0,
    compute=brier_multi,
    required_sums="squares",
    is_proper=True,
    interval_method="mean",
    pair_term=squared_error,
    interval_coverage=(95, 98),
)

"""How much of a gap between confidence and accuracy comes from counting the samples that chose the answer?

Optimism is what an estimate gains by being made on the data that chose it (Efron 1983,
doi:10.2307/2288636): here the gap of a share of samples, minus that of the held-out share
(`methods.answers.held_out`). Measured in `benchmarks/held_out.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.clusters import effective_clusters
from calib_core.inference.intervals import mean_interval
from calib_core.pairs import Pairs
from calib_core.wording import format_number

MIN_QUESTIONS: Final = 30
"""Of fewer questions, repeated ones counted as what they are worth, no optimism is estimated."""


@dataclass(frozen=True, slots=True)
class GapEstimate:
    """A mean over questions, with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (format_number(number, "+.3f") for number in (self.value, self.low, self.high))
        return f"{value} (95 %: {low} to {high})"


@dataclass(frozen=True, slots=True)
class Optimism:
    """The gap of a share of samples, in two parts.

    Attributes
    ----------
    gap : float
        Mean share minus accuracy, in [−1, 1], where all samples choose the answer and count.
    optimism : GapEstimate
        The part that vanishes where half of the samples choose and the others count.
    held_out_gap : GapEstimate
        The rest, the gap of the held-out share.
    n : int
        Rows with both shares.
    """

    gap: float
    optimism: GapEstimate
    held_out_gap: GapEstimate
    n: int


def split_gap(pairs: Pairs, held_out: Pairs, cluster: NDArray[np.intp] | None) -> Optimism | None:
    """Split the gap of a share of samples into optimism and the gap of the held-out share.

    Parameters
    ----------
    pairs, held_out : Pairs
        The two shares, each with the outcome of its own answer. Rows that have one only are left out.
    cluster : NDArray[np.intp] or None, shape (pairs.n,)
        Question of each row of `pairs`; None if none is repeated.

    Returns
    -------
    Optimism or None
        None for fewer than `MIN_QUESTIONS` questions.
    """
    _, own, other = np.intersect1d(pairs.rows, held_out.rows, assume_unique=True, return_indices=True)
    common = None if cluster is None else np.unique(cluster[own], return_inverse=True)[1]
    if (own.size if common is None else effective_clusters(common)) < MIN_QUESTIONS:
        return None
    gap = pairs.confidence[own] - pairs.correct[own].astype(np.float64)
    rest = held_out.confidence[other] - held_out.correct[other].astype(np.float64)
    return Optimism(float(gap.mean()), _estimate(gap - rest, common), _estimate(rest, common), own.size)


def _estimate(values: NDArray[np.float64], cluster: NDArray[np.intp] | None) -> GapEstimate:
    total, weight = values, np.ones(values.size)
    if cluster is not None:
        total = np.bincount(cluster, values).astype(np.float64)
        weight = np.bincount(cluster).astype(np.float64)
    return GapEstimate(float(values.mean()), *mean_interval(total, weight, None))


def score_note(score: str, optimism: Optimism | None, *, is_share: bool, held_out: bool) -> str:
    """Whether the numbers of a self-consistency confidence are about the model, in a sentence or two.

    Parameters
    ----------
    score : str
        Its name: "F_CS".
    optimism : Optimism or None
        None where it is not known.
    is_share : bool
        Whether it is the share of samples with the judged answer, and so estimates its probability.
    held_out : bool
        Whether the share is the held-out one.
    """
    if not is_share:
        return f"This is about {score} as a score: it does not estimate how probable the answer is."
    if held_out:
        rest = "" if optimism is None else f" The gap of the mean is {optimism.held_out_gap}."
        return (
            f"Held out, the mean of {score} estimates without bias how probable the model makes its answers."
            f"{rest} Individual shares of few samples vary by chance, too: the verdict, p and the bins are "
            f"about {score} as a score."
        )
    about = (
        f"This is about {score} as a score, not about the model: the samples that choose an answer count "
        "for it, too"
    )
    if optimism is None:
        return f"{about}, which makes {score} too high."
    return (
        f"{about}. Where half of them choose and the others count, {optimism.optimism} of the gap of "
        f"{format_number(optimism.gap, '+.3f')} vanishes and {optimism.held_out_gap} is left."
    )

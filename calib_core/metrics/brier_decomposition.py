"""How much of the Brier score is miscalibration, and how much is knowing right from wrong?

The CORP decomposition: each confidence is recalibrated by isotonic regression, and the Brier score is
miscalibration − discrimination + uncertainty. Nothing is binned and nothing has to be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Counts, Sums, chunks, pairwise_sum
from calib_core.edges import Scheme
from calib_core.metrics.metric import EventWords, Metric


@dataclass(frozen=True, slots=True)
class BrierDecomposition:
    """The parts of a Brier score, which is miscalibration − discrimination + uncertainty.

    Attributes
    ----------
    miscalibration : float
        By how much recalibration lowers the Brier score, in [0, 1].
    discrimination : float
        By how much the recalibrated confidences beat always stating the accuracy, in [0, ¼].
    uncertainty : float
        a(1 − a), the Brier score of always stating the accuracy a, in [0, ¼].
    """

    miscalibration: float
    discrimination: float
    uncertainty: float


def recalibrated_accuracy(count: Counts, correct: NDArray[Any]) -> NDArray[np.float64]:
    """The accuracy at each confidence if it may never fall with the confidence, fitted by least squares.

    Parameters
    ----------
    count : array, shape (k,)
        Number of pairs at each confidence, at least 1; k is at least 1. The confidences rise strictly.
    correct : array, shape (k,)
        Number of correct ones among them.

    Returns
    -------
    NDArray[np.float64], shape (k,)
        In [0, 1].

    References
    ----------
    Pool adjacent violators: Ayer et al. (1955), doi:10.1214/aoms/1177728423.

    Examples
    --------
    >>> recalibrated_accuracy(np.array([1, 1, 2]), np.array([1, 0, 2])).tolist()
    [0.5, 0.5, 1.0]
    """
    start, accuracy = _recalibrated_blocks(count, correct)
    return np.repeat(accuracy, np.diff(start, append=count.size))


def _recalibrated_blocks(
    count: Counts, correct: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Where each block of one recalibrated accuracy begins, and that accuracy, shape (blocks,).

    Of very many confidences, parts are fitted first, in little memory: what is pooled in a part is pooled in
    the whole.
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import, and rarely needed

    parts = list(chunks(count.size))
    if len(parts) > 1:
        blocks = [_recalibrated_blocks(count[part], correct[part])[0] for part in parts]
        start = np.concatenate([part.start + within for part, within in zip(parts, blocks, strict=True)])
        if 2 * start.size <= count.size:
            sums = (
                np.concatenate(
                    [np.add.reduceat(of[part], at) for part, at in zip(parts, blocks, strict=True)]
                )
                for of in (count, correct)
            )
            of_all, accuracy = _recalibrated_blocks(*sums)
            return start[of_all], accuracy
    fitted = isotonic_regression(correct / count, weights=count)
    start = fitted.blocks[:-1].copy()  # not a view, which would keep an array as long as all confidences
    return start, fitted.x[start]


def decompose_brier(confidence: NDArray[np.float64], count: Counts, correct: Counts) -> BrierDecomposition:
    """The CORP decomposition of the Brier score.

    Parameters
    ----------
    confidence : NDArray[np.float64], shape (k,)
        The distinct confidences in [0, 1], rising strictly; at least one.
    count, correct : NDArray[np.int64], shape (k,)
        Number of pairs at each, and of correct ones among them.

    References
    ----------
    Dimitriadis, Gneiting, Jordan (2021), doi:10.1073/pnas.2016191118, eq. 5.

    Examples
    --------
    >>> decompose_brier(np.array([0.25, 0.75]), np.array([2, 2]), np.array([0, 2]))
    BrierDecomposition(miscalibration=0.0625, discrimination=0.25, uncertainty=0.25)
    """
    n, accuracy = count.sum(), correct.sum() / count.sum()
    start, of_block = _recalibrated_blocks(count, correct)

    def recalibrated(part: slice) -> NDArray[np.float64]:
        at = np.arange(int(part.start), int(part.stop))
        return of_block[np.searchsorted(start, at, side="right") - 1]

    def variance(part: slice) -> NDArray[np.float64]:
        return count[part] * (recalibrated(part) - accuracy) ** 2

    def excess(part: slice) -> NDArray[np.float64]:
        """Differences of squared errors as products, so that small ones don't cancel."""
        better, stated, right = recalibrated(part), confidence[part], correct[part]
        of_right = right * ((better - stated) * ((1 - stated) + (1 - better)))
        return of_right + (count[part] - right) * ((stated - better) * (stated + better))

    # The fit is calibrated in each of its blocks, hence its score is the uncertainty less this variance.
    discrimination = float(pairwise_sum(count.size, variance) / n)
    uncertainty = float(accuracy * (1 - accuracy))
    return BrierDecomposition(
        max(0.0, float(pairwise_sum(count.size, excess) / n)), discrimination, uncertainty
    )


def _decomposition(sums: Sums) -> BrierDecomposition | None:
    if not sums.n_pairs:
        return None
    levels = sums.natural_bins()
    return decompose_brier(levels.low, levels.count, levels.correct)  # all confidences of a level are tied


def brier_miscalibration(sums: Sums, _scheme: Scheme) -> float | None:
    """The miscalibration of `decompose_brier`, in [0, 1]; None without pairs."""
    parts = _decomposition(sums)
    return parts and parts.miscalibration


def brier_discrimination(sums: Sums, _scheme: Scheme) -> float | None:
    """The discrimination of `decompose_brier`, in [0, ¼]; None without pairs."""
    parts = _decomposition(sums)
    return parts and parts.discrimination


def brier_uncertainty(sums: Sums, _scheme: Scheme) -> float | None:
    """The uncertainty a(1 − a) of the outcomes, in [0, ¼]; None without pairs."""
    if not sums.n_pairs:
        return None
    accuracy = sums.n_correct / sums.n_pairs
    return accuracy * (1 - accuracy)


_SOURCE: Final = "CORP (Dimitriadis, Gneiting, Jordan 2021)"

BRIER_MISCALIBRATION: Final = Metric(
    id="brier_miscalibration",
    title="Miscalibration (Brier)",
    title_in_sentence="miscalibration (Brier)",
    recipe_name="Brier miscalibration, CORP",
    meaning=(
        "The part of the Brier score that recalibrating the confidences would remove: lower is better, "
        "and on finite data even a calibrated model shows a little."
    ),
    source=f"{_SOURCE}: Brier score less that of isotonic recalibration",
    high=1.0,
    compute=brier_miscalibration,
    required_sums="values",
    interval_method="none",
    no_interval_reason="none has been tested in simulations",
    event_words=EventWords(
        "The part of the Brier score that recalibrating the probabilities would remove: lower is better, "
        "and on finite data even a calibrated model shows a little.",
    ),
)

BRIER_DISCRIMINATION: Final = Metric(
    id="brier_discrimination",
    title="Discrimination (Brier)",
    title_in_sentence="discrimination (Brier)",
    recipe_name="Brier discrimination, CORP",
    meaning=(
        "By how much the recalibrated confidences beat always stating the accuracy: higher is better, "
        "and 0 means that confidence does not tell right answers from wrong ones."
    ),
    source=f"{_SOURCE}: a(1 − a) less the Brier score of isotonic recalibration",
    high=0.25,
    direction="higher",
    compute=brier_discrimination,
    required_sums="values",
    interval_method="none",
    no_interval_reason="none has been tested in simulations",
    event_words=EventWords(
        "By how much the recalibrated probabilities beat always stating the share of yes: higher is better, "
        "and 0 means that they do not tell yes from no.",
    ),
)

BRIER_UNCERTAINTY: Final = Metric(
    id="brier_uncertainty",
    title="Uncertainty (Brier)",
    title_in_sentence="uncertainty (Brier)",
    recipe_name="Brier uncertainty, CORP",
    meaning=(
        "The Brier score of always stating the accuracy, which depends on the accuracy alone: lower is "
        "better, and it is largest, 0.25, where half of the answers are right."
    ),
    source=f"{_SOURCE}: a(1 − a) of the accuracy a",
    high=0.25,
    compute=brier_uncertainty,
    interval_method="none",
    no_interval_reason="it says the same as the accuracy, which has one",
    event_words=EventWords(
        "The Brier score of always stating the share of yes, which depends on that share alone: it is "
        "largest, 0.25, where yes is true in half of the rows.",
        source=f"{_SOURCE}: a(1 − a) of the share of yes a",
        no_interval_reason="it says the same as the share of yes, which has one",
    ),
)

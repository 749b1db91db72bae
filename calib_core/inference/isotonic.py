"""How often are answers right at each confidence, if it can only rise with the confidence?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.metrics.brier_decomposition import recalibrated_accuracy


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicCurve:
    """An isotonic regression of the outcomes on the confidence.

    Attributes
    ----------
    confidence : NDArray[np.float64], shape (k,)
        The distinct confidences, rising strictly.
    count : NDArray[np.float64], shape (k,)
        Number of pairs at each.
    probability : NDArray[np.float64], shape (k,)
        The fitted accuracy at each, in [0, 1], never falling.
    """

    confidence: NDArray[np.float64]
    count: NDArray[np.float64]
    probability: NDArray[np.float64]

    def at(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The fitted accuracy at any confidences, linear between those that were fitted, constant outside."""
        return np.interp(confidence, self.confidence, self.probability)


def isotonic_curve(confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> IsotonicCurve:
    """Fits the accuracy as a function of the confidence that never falls, by least squares.

    Parameters
    ----------
    confidence : NDArray[np.float64], shape (n,)
        In [0, 1]; at least one.
    correct : NDArray[np.bool_], shape (n,)

    Returns
    -------
    IsotonicCurve
        Pairs of one confidence share one fitted accuracy.

    Raises
    ------
    ValueError
        If there is no pair.

    References
    ----------
    Pool adjacent violators: Ayer et al. (1955), doi:10.1214/aoms/1177728423.

    Examples
    --------
    >>> curve = isotonic_curve(np.array([0.2, 0.6, 0.6, 0.9]), np.array([True, False, False, True]))
    >>> curve.confidence.tolist(), curve.count.tolist()
    ([0.2, 0.6, 0.9], [1.0, 2.0, 1.0])
    >>> np.round(curve.probability, 3).tolist()
    [0.333, 0.333, 1.0]
    """
    if not confidence.size:
        raise ValueError("an isotonic curve needs at least one pair")
    distinct, position, count = np.unique(confidence, return_inverse=True, return_counts=True)
    right = np.bincount(position, weights=correct, minlength=distinct.size).astype(np.float64)
    return isotonic_curve_of_counts(distinct.astype(np.float64), count.astype(np.float64), right)


def isotonic_curve_of_counts(
    confidence: NDArray[np.float64], count: NDArray[np.float64], correct: NDArray[np.float64]
) -> IsotonicCurve:
    """The curve of pairs that are counted already: `count` of each confidence, `correct` of them right.

    The confidences, at least one, rise strictly; each count is at least 1. All arrays have shape (k,).
    """
    return IsotonicCurve(confidence, count, recalibrated_accuracy(count, correct))

"""How far is confidence from accuracy, averaged over a kernel instead of over bins?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums, chunks
from calib_core.edges import Scheme
from calib_core.metrics.metric import Metric

KERNEL_INTERVALS: Final = 8192
"""Number of equal intervals of [0, 1] between whose nodes the confidences are divided and smoothed."""

_BISECTIONS: Final = 28
"""Halvings of [0, 1] in search of the bandwidth; the nodes limit the accuracy before these do."""


def spread_to_nodes(confidence: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divides each weight between the two nodes around its confidence, so that its mean stays in place.

    Parameters
    ----------
    confidence, weight : NDArray[np.float64], shape (n,)
        Confidences in [0, 1].

    Returns
    -------
    NDArray[np.float64], shape (KERNEL_INTERVALS + 1,)
        Sum of the weights at each node j / KERNEL_INTERVALS.

    Examples
    --------
    >>> at = spread_to_nodes(np.array([0.25 / KERNEL_INTERVALS]), np.array([1.0]))
    >>> at[:3].tolist()
    [0.75, 0.25, 0.0]
    """
    return _spread_parts(confidence, lambda part: weight[part])


def _spread_parts(
    confidence: NDArray[np.float64], weight: Callable[[slice], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """As `spread_to_nodes`, with weights that are made part by part."""
    of_lower, of_upper = np.zeros((2, KERNEL_INTERVALS))
    for part in chunks(confidence.size):
        place, weights = confidence[part] * KERNEL_INTERVALS, weight(part)
        below = place.astype(np.intp)
        np.minimum(below, KERNEL_INTERVALS - 1, out=below)
        place -= below
        upper = np.multiply(weights, place, out=place)
        np.add.at(of_lower, below, weights - upper)
        np.add.at(of_upper, below, upper)
    nodes = np.zeros(KERNEL_INTERVALS + 1)
    nodes[:-1] += of_lower
    nodes[1:] += of_upper
    return nodes


class KernelSmoother:
    """Smooths weights with the Gaussian kernel that is reflected at 0 and 1.

    The reflected kernel Σ_k φ_σ(x − y + 2k) + φ_σ(x + y + 2k) is the heat kernel of [0, 1]: it multiplies the
    cosine coefficient of frequency k by exp(−(πkσ)²/2).

    Parameters
    ----------
    nodes : NDArray[np.float64], shape (..., KERNEL_INTERVALS + 1)
        Weights at the nodes, from `spread_to_nodes`.
    """

    def __init__(self, nodes: NDArray[np.float64]) -> None:
        ends_doubled = nodes.copy()
        ends_doubled[..., [0, -1]] *= 2
        self._coefficients = _cosine_sums(ends_doubled) / 2

    def density(self, bandwidth: float) -> NDArray[np.float64]:
        """Density of the smoothed weights at the nodes; its integral over [0, 1] is their sum.

        Parameters
        ----------
        bandwidth : float
            Standard deviation σ of the kernel, at least 0.

        Returns
        -------
        NDArray[np.float64], shape (..., KERNEL_INTERVALS + 1)
        """
        damping = np.exp(-((np.pi * np.arange(KERNEL_INTERVALS + 1) * bandwidth) ** 2) / 2)
        return _cosine_sums(self._coefficients * damping)


def _cosine_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """v_0 + (−1)^k v_N + 2 Σ_j v_j cos(πjk/N) for each k, over the last axis."""
    return np.fft.rfft(np.concatenate([values, values[..., -2:0:-1]], axis=-1)).real


def mean_absolute(density: NDArray[np.float64]) -> float:
    """∫ |density| over [0, 1], by the trapezoidal rule."""
    size = np.abs(density)
    return float((size.sum() - (size[0] + size[-1]) / 2) / KERNEL_INTERVALS)


def smooth_calibration_error(residual_nodes: NDArray[np.float64]) -> float:
    """The smooth ECE: the bandwidth σ at which the error smoothed with σ is σ itself.

    Parameters
    ----------
    residual_nodes : NDArray[np.float64], shape (KERNEL_INTERVALS + 1,)
        Σ (y − c) / n, as divided between the nodes by `spread_to_nodes`.

    Returns
    -------
    float
        In [0, 1]. The error never grows with the bandwidth, so there is one such σ.
    """
    smoother = KernelSmoother(residual_nodes)
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if mean_absolute(smoother.density(middle)) > middle:
            low = middle
        else:
            high = middle
    return high if high > 2.0**-_BISECTIONS else 0.0


def smooth_ece(sums: Sums, _scheme: Scheme) -> float | None:
    """Smooth ECE, in [0, 1]; None without pairs.

    The residuals are smoothed on a grid of `KERNEL_INTERVALS` intervals, which moves the value by less than
    the width of one.

    References
    ----------
    Błasiok, Nakkiran (2023), arXiv:2309.12236, definitions of smECE_σ and smECE_*.
    """
    if not sums.n_pairs:
        return None
    levels = sums.natural_bins()

    def residual(part: slice) -> NDArray[np.float64]:
        return (levels.correct[part] - levels.confidence[part]) / sums.n_pairs

    return smooth_calibration_error(_spread_parts(levels.low, residual))


SMOOTH_ECE: Final = Metric(
    id="smooth_ece",
    title="Smooth ECE",
    title_in_sentence="smooth ECE",
    recipe_name="smECE, reflected Gaussian kernel",
    meaning=(
        "ECE with a smooth kernel in place of bins, as wide as the error it finds: lower is better, and "
        "no number of bins has to be chosen."
    ),
    source="Błasiok, Nakkiran 2023: the σ at which ∫ |mean of K_σ(t, c)·(y − c)| dt = σ",
    high=1.0,
    compute=smooth_ece,
    required_sums="values",
    interval_method="none",
    no_interval_reason="none has been tested in simulations",
)

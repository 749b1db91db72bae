"""`bins.add_pairs` compiled by Numba: each pair is read once."""

# Numba has no type information.
# pyright: basic

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from calib_core.compiled import compiled
from calib_core.edges import inner_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def _add_pairs(
    sums: NDArray[np.float64],
    confidence: NDArray[Any],
    correct: NDArray[np.bool_],
    group: NDArray[np.int32],
    bins: int,
    upper_edges: NDArray[Any],
    shift: float,
    power: int,
) -> None:
    width, half = confidence.dtype.type(bins), confidence.dtype.type(0.5)
    has_groups, n_bins, two = group.size > 0, np.uintp(bins), np.uintp(2)
    sums[:, 3] = 0.0
    for at in range(confidence.size):
        value = confidence[at]
        key = np.uintp(np.intp(value * width - half))
        key += np.uintp(value > upper_edges[key])  # as in `edges.bin_of`
        if has_groups:
            key += np.uintp(group[at]) * n_bins
        key = two * key + np.uintp(correct[at])
        term = np.float64(value)
        if power == 2:
            term = term * term
        multiple = (term + shift) - shift
        sums[key, 0] += 1.0
        sums[key, 1] += multiple
        sums[key, 3] += term - multiple  # apart, as NumPy adds them up: the last bit is the same
    sums[:, 2] += sums[:, 3]


def add_pairs(
    sums: NDArray[np.float64],
    confidence: NDArray[Any],
    correct: NDArray[np.bool_],
    group: NDArray[np.int32] | None,
    bins: int,
    shift: float,
    power: int,
) -> None:
    """Adds pairs to the sums of their keys; see `bins.add_pairs`."""
    classes = np.zeros(0, np.int32) if group is None else group
    _add_pairs(sums, confidence, correct, classes, bins, _upper_edges(bins, confidence.dtype), shift, power)


@lru_cache(maxsize=4)
def _upper_edges(bins: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.append(inner_edges(bins, dtype), dtype.type(np.inf))

"""`bins.add_pairs` compiled by Numba: each pair is read once."""

# Numba has no type information.
# pyright: basic

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calib_core.compiled import compiled
from calib_core.edges import ROUNDING_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK_PAIRS = 512
"""Pairs whose keys and terms are computed together, with vector instructions, before they are added up."""


@compiled
def _find_keys(
    keys: NDArray[np.int64],
    confidence: NDArray[Any],
    correct: NDArray[np.bool_],
    group: NDArray[np.int32],
    bins: int,
) -> None:
    """Writes the keys of these pairs to the front of `keys`; an empty `group` means one class."""
    width, half, n_bins = confidence.dtype.type(bins), confidence.dtype.type(0.5), np.float64(bins)
    for at in range(confidence.size):
        index = np.int64(np.int32(confidence[at] * width - half))
        edge = confidence.dtype.type((index + 1) / n_bins + ROUNDING_TOLERANCE)
        index += np.int64(confidence[at] > edge)  # as in `edges.bin_of`
        keys[at] = 2 * index + np.int64(correct[at])
    for at in range(group.size):
        keys[at] += 2 * bins * np.int64(group[at])


@compiled
def _add_pairs(
    sums: NDArray[np.float64],
    confidence: NDArray[Any],
    correct: NDArray[np.bool_],
    group: NDArray[np.int32],
    bins: int,
    exponent: int,
    n_chunk: int,
    power: int,
) -> None:
    shift, unit = 1.5 * 2.0**exponent, 2.0 ** (exponent - 52)
    keys = np.empty(_BLOCK_PAIRS, np.int64)
    shifted, remainder = np.empty(_BLOCK_PAIRS), np.empty(_BLOCK_PAIRS)
    shifted_bits = shifted.view(np.uint64)
    n_count_bits = 1  # of the number of pairs with one key, which may be all of a chunk
    while n_chunk >> n_count_bits:
        n_count_bits += 1
    n_sum_bits = np.uint64(64 - n_count_bits)
    # Of each key, number of pairs and sum of multiples, as the upper and lower bits of one whole number, and
    # beside it the sum of remainders. The bits of a shifted term less those of `shift` are its multiple.
    number = np.zeros((sums.shape[0], 2), np.uint64)
    remainders = number.view(np.float64)
    shifted[0] = shift
    one_pair = np.uint64(1) << n_sum_bits
    addend = one_pair - shifted_bits[0]
    for begin in range(0, confidence.size, n_chunk):
        end = min(begin + n_chunk, confidence.size)
        for first in range(begin, end, _BLOCK_PAIRS):
            last = min(first + _BLOCK_PAIRS, end)
            values = confidence[first:last]
            _find_keys(keys, values, correct[first:last], group[first:last], bins)
            for at in range(values.size):
                term = np.float64(values[at])
                if power == 2:
                    term = term * term
                shifted[at] = term + shift
                remainder[at] = term - (shifted[at] - shift)
            for at in range(values.size):
                key = np.uintp(keys[at])
                number[key, 0] += shifted_bits[at] + addend
                remainders[key, 1] += remainder[at]
        for key in range(sums.shape[0]):
            sums[key, 0] += np.float64(np.int64(number[key, 0] >> n_sum_bits))
            sums[key, 1] += np.float64(np.int64(number[key, 0] & (one_pair - np.uint64(1)))) * unit
            sums[key, 2] += remainders[key, 1]  # chunk by chunk, as NumPy adds them up
            number[key, 0] = 0
            remainders[key, 1] = 0.0


def add_pairs(
    sums: NDArray[np.float64],
    confidence: NDArray[Any],
    correct: NDArray[np.bool_],
    group: NDArray[np.int32] | None,
    bins: int,
    exponent: int,
    n_chunk: int,
    power: int,
) -> None:
    """Adds pairs to the sums of their keys; see `bins.add_pairs`."""
    classes = np.zeros(0, np.int32) if group is None else group
    views = [array.view() for array in (confidence, correct, classes)]
    for view in views:
        view.flags.writeable = False  # Numba compiles a function of its own for arrays that cannot be written
    _add_pairs(sums, *views, bins, exponent, n_chunk, power)

"""How are pairs added up into bins?  Unsorted in one pass, or cell by cell once they are sorted."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.binned import Binned, Scheme
from calib_core.cells import DistinctConfidences, RawPairs, segment_starts
from calib_core.edges import bin_of

_MAX_EMPTY_BINS: Final = 300_000
"""More bins than this, most of them empty, and it is quicker to sort the pairs."""

_CHUNK_PAIRS: Final = 2**15
"""Pairs looked at together: their intermediate results stay in the processor's cache."""

_ROUNDING_SHIFT: Final = 1.5 * 2.0**26
"""Added and taken away again it rounds to multiples of 2^-26, which add up exactly, in any order, to 2^27."""


def one_pass_is_faster(raw: RawPairs, scheme: Scheme, groups: int) -> bool:
    """Whether `counted` serves these bins and is the quicker way: not where nearly all would be empty."""
    return scheme.binning == "width" and groups * scheme.bins <= max(_MAX_EMPTY_BINS, raw.n_pairs)


def bins_in_one_pass(raw: RawPairs, scheme: Scheme, groups: int) -> Binned:
    """Equal-width bins in one pass over unsorted pairs, a piece that fits the cache at a time."""
    size = groups * scheme.bins
    counts = np.zeros((size, 2), np.int64)
    coarse, fine = np.zeros((2, size, 2)), np.zeros((2, size, 2))  # of c, and of c²
    for begin in range(0, raw.n_pairs, _CHUNK_PAIRS):
        piece = slice(begin, begin + _CHUNK_PAIRS)
        c = raw.confidence[piece].astype(np.float64)
        key = bin_of(raw.confidence[piece], scheme.bins)
        if raw.group is not None:
            key += raw.group[piece] * np.int64(scheme.bins)
        key *= 2
        key += raw.correct[piece]
        counts += np.bincount(key, minlength=2 * size).reshape(size, 2)
        for power, term in enumerate((c, c * c)):
            rounded = (term + _ROUNDING_SHIFT) - _ROUNDING_SHIFT
            coarse[power] += np.bincount(key, rounded, minlength=2 * size).reshape(size, 2)
            fine[power] += np.bincount(key, term - rounded, minlength=2 * size).reshape(size, 2)
    confidence, squared = coarse + fine
    used = np.flatnonzero(counts.any(axis=1))
    index = used % scheme.bins
    return Binned(
        scheme=scheme,
        group=(used // scheme.bins).astype(np.int32),
        index=index,
        low=index / scheme.bins,
        high=(index + 1) / scheme.bins,
        count=counts[used].sum(axis=1),
        correct=counts[used, 1],
        confidence=confidence[used].sum(axis=1),
        squared=squared[used].sum(axis=1),
        confident_correct=confidence[used, 1],
    )


def bins_from_distinct(distinct: DistinctConfidences, scheme: Scheme, bin_index: NDArray[np.intp]) -> Binned:
    """Bins of sorted cells, whose bin `index` says; only equal-width bins keep classes apart."""
    fixed = scheme.binning == "width"
    group = distinct.group if fixed else np.zeros_like(distinct.group)
    key = group * np.int64(scheme.bins) + bin_index
    order = np.argsort(key, kind="stable")  # nearly always in order already: linear
    value, count, correct = distinct.value[order], distinct.count[order], distinct.correct[order]
    start = segment_starts(key[order])
    bin_index = bin_index[order][start]
    add = np.add.reduceat  # adds floats pairwise, so a million of them keep 1e-12
    return Binned(
        scheme=scheme,
        group=group[order][start],
        index=bin_index,
        low=bin_index / scheme.bins if fixed else np.minimum.reduceat(value, start),
        high=(bin_index + 1) / scheme.bins if fixed else np.maximum.reduceat(value, start),
        count=add(count, start),
        correct=add(correct, start),
        confidence=add(value * count, start),
        squared=add(value * value * count, start),
        confident_correct=add(value * correct, start),
    )


def equal_width_index(distinct: DistinctConfidences, bins: int) -> NDArray[np.intp]:
    """Equal-width bin of each cell, judged in the dtype its value was stored in."""
    index = np.empty(distinct.value.shape, np.intp)
    for width in (2, 4, 8):
        same = distinct.itemsize == width
        index[same] = bin_of(distinct.value[same].astype(f"f{width}"), bins)
    return index

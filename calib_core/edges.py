"""Into which bin does a confidence fall?

The only module that compares a confidence with an edge. Conventions: spec of the three papers'
defaults in decisions/0001 (right-closed bins), 0002 (stored dtype) and 0003 (equal mass and ties).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

TIE_DECIMALS: Final = 12
"""Computed confidences that agree to this many decimals are tied."""


def inner_edges(bins: int, dtype: np.dtype[Any]) -> Floats:
    """The inner edges 1/M … (M−1)/M as a confidence of this dtype meets them, shape (bins − 1,).

    The quotient is one correct rounding of m/M, so bins of M nest in those of kM; 1e-12 forgives the
    rounding of a computed confidence; the cast lets a stored float32 0.3 fall where 3/10 falls.
    """
    return (np.arange(1, bins) / bins + 1e-12).astype(dtype)


def bin_of(confidence: Floats, bins: int) -> NDArray[np.intp]:
    """Bin 0..bins-1 of each confidence in [0, 1]: the number of edges below it.

    Bin m (from 0) is (m/M, (m+1)/M], and c = 0 is in the first.
    """
    if confidence.dtype.itemsize == 2:
        return _float16_bins(bins)[confidence.view(np.uint16)]
    edges = inner_edges(bins, confidence.dtype)
    if confidence.size < bins:
        return np.searchsorted(edges, confidence, side="left")
    # The product is off by less than a bin: one look at the edges on both sides makes it right.
    below = np.concatenate([[-np.inf], edges]).astype(edges.dtype)
    above = np.concatenate([edges, [np.inf]]).astype(edges.dtype)
    index = (confidence * edges.dtype.type(bins)).astype(np.intp)
    np.clip(index, 0, bins - 1, out=index)
    index -= confidence <= below[index]
    index += confidence > above[index]
    return index


@cache
def _float16_bins(bins: int) -> NDArray[np.intp]:
    """The bin of each of the 65,536 float16, by its bits: their edges may fall together."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    return np.searchsorted(inner_edges(bins, every.dtype), every, side="left")


def assign_bins(confidence: Floats, scheme: Scheme, *, computed: bool = False) -> NDArray[np.intp]:
    """Bin 0.. of each confidence under any scheme, numbered as in `BinSums.binned`."""
    if scheme.binning == "width":
        return bin_of(confidence, scheme.bins)
    value = confidence.astype(np.float64)
    return bin_by_rank(value, np.ones(value.shape, np.int64), scheme, round_ties=computed)


def bin_by_rank(
    value: NDArray[np.float64], count: NDArray[np.int64], scheme: Scheme, *, round_ties: bool
) -> NDArray[np.intp]:
    """Bin 0.. of each value, `count` rows each. Natural: one a level; equal mass: ⌈M·r/n⌉ from 1.

    r = rows whose confidence is no greater, n = all rows: whole numbers, so ties are never cut.
    """
    tied = np.round(value, TIE_DECIMALS) if round_ties else value
    levels, level = np.unique(tied, return_inverse=True)
    if scheme.binning == "natural":
        return level
    rows = np.zeros(levels.size, np.int64)
    np.add.at(rows, level, count)
    up_to_here = np.cumsum(rows)
    return (-(-scheme.bins * up_to_here // up_to_here[-1:]) - 1).astype(np.intp)[level]


# MERGED binned__to__edges: moved.

Binning = Literal["width", "mass", "natural"]


BINNINGS: Final[tuple[Binning, ...]] = ("width", "mass", "natural")


MAX_BINS: Final = 1000
"""The largest M somebody may choose."""


FINEST_BINS: Final = 3000
"""Equal-width bins that sums are first made in: they serve every M that divides it, without the pairs."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """How confidences are put into bins: the binning and, but for natural bins, M (1..1000, or FINEST)."""

    binning: Binning = "width"
    bins: int = 10

    def __post_init__(self) -> None:
        if self.binning not in BINNINGS:
            raise ValueError(f"binning is one of {', '.join(BINNINGS)}, not {self.binning!r}")
        allowed = 1 <= self.bins <= MAX_BINS or self.bins == FINEST_BINS
        if not allowed or self.bins != int(self.bins):
            raise ValueError(f"M is a whole number from 1 to {MAX_BINS}, not {self.bins}")


# MERGED cells__to__edges: moved.

Floats: TypeAlias = NDArray[np.floating[Any]]


# MERGED limits__to__edges: moved.

DEFAULT_SCHEME: Final = Scheme()
"""The bins where nobody has chosen: ten of equal width, the usual ones of the papers."""

"""Into which bin does a confidence fall?

This is the only module that compares a confidence with a bin edge. The conventions are those of decisions
0001 (right-closed bins), 0002 (stored dtype) and 0003 (equal mass and ties).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from calib_core.wording import ROUNDING_TOLERANCE

Floats: TypeAlias = NDArray[np.floating[Any]]
Floats64: TypeAlias = NDArray[np.float64]
"""A float16, float32 or float64 array: confidences keep the dtype their file stores."""

Binning = Literal["width", "mass", "natural"]
"""Bins of equal width, of equal mass (about as many pairs in each), or one per distinct confidence."""

BINNINGS: Final[tuple[Binning, ...]] = ("width", "mass", "natural")

Closed = Literal["left", "right"]
"""The side on which an equal-width bin holds its edge: (0.1, 0.2] is closed on the right, as ours are."""

MAX_BINS: Final = 1000
"""Largest number of bins M that a user can choose."""

FINEST_BINS: Final = 3000
"""Number of the finest equal-width bins; every M that divides it is added up from them, without the pairs."""

TIE_DECIMALS: Final = 12
"""Computed confidences that agree to this many decimals are tied."""

_CHECKED_TOGETHER: Final = 2**15
"""Values looked at together: of very many, each byte counts."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """How confidences are put into bins.

    Attributes
    ----------
    binning : {"width", "mass", "natural"}
        Kind of bins.
    bins : int
        Number of bins M, 1 to 1000, or 3000 for the finest grid; natural bins ignore it.

    Raises
    ------
    ValueError
        If the binning is unknown or M is not a whole number in the allowed range.
    """

    binning: Binning = "width"
    bins: int = 10

    def __post_init__(self) -> None:
        if self.binning not in BINNINGS:
            raise ValueError(f"binning must be one of {', '.join(BINNINGS)}, not {self.binning!r}")
        bins = cast("object", self.bins)
        is_whole = isinstance(bins, (int, float, np.number)) and bins == int(cast("int", bins))
        if not is_whole or not (1 <= self.bins <= MAX_BINS or self.bins == FINEST_BINS):
            raise ValueError(f"bins (M) must be a whole number from 1 to {MAX_BINS}, not {bins!r}")
        object.__setattr__(self, "bins", int(self.bins))


DEFAULT_SCHEME: Final = Scheme()
"""Ten bins of equal width, the default of all three papers."""


def inner_edges(bins: int, dtype: np.dtype[Any], closed: Closed = "right") -> Floats:
    """The inner edges 1/M … (M−1)/M in the dtype of the confidences they are compared with.

    Parameters
    ----------
    bins : int
        Number of bins M.
    dtype : dtype
        Floating-point dtype of the confidences.
    closed : {"right", "left"}
        Side on which the bins hold their edges.

    Returns
    -------
    float array, shape (M − 1,)

    Notes
    -----
    The quotient m/M is rounded once, so the bins of M nest exactly in those of k·M. Adding
    `ROUNDING_TOLERANCE` forgives rounding in a computed confidence, and the cast puts a stored float32 0.3
    into the bin of 3/10. For bins closed on the left it is subtracted instead.
    """
    tolerance = ROUNDING_TOLERANCE if closed == "right" else -ROUNDING_TOLERANCE
    return (np.arange(1, bins) / bins + tolerance).astype(dtype)


def bin_between(confidence: Floats, edges: Floats, closed: Closed) -> NDArray[np.intp]:
    """Bin of each confidence between inner edges that another tool has computed, counted from 0.

    Parameters
    ----------
    confidence : float array, shape (n,)
    edges : float array, shape (M − 1,)
        Inner edges, ascending.
    closed : {"right", "left"}
        Whether a confidence that equals an edge belongs to the bin below it ("right") or above it.

    Returns
    -------
    NDArray[np.intp], shape (n,)
        In 0..M−1.

    Examples
    --------
    >>> confidence, edges = np.array([0.2, 0.5, 0.7]), np.array([0.5])
    >>> bin_between(confidence, edges, "right").tolist(), bin_between(confidence, edges, "left").tolist()
    ([0, 0, 1], [0, 1, 1])
    """
    return np.searchsorted(edges, confidence, side="left" if closed == "right" else "right")


def bin_of(confidence: Floats, bins: int) -> NDArray[np.intp]:
    """Equal-width bin of each confidence, counted from 0: the number of inner edges below it.

    Bin m is (m/M, (m+1)/M]; a confidence of 0 belongs to the first bin.

    Parameters
    ----------
    confidence : float array, shape (n,)
        Confidences in [0, 1].
    bins : int
        Number of bins M.

    Returns
    -------
    NDArray[np.intp], shape (n,)
        In 0..M−1.

    Examples
    --------
    >>> bin_of(np.array([0.0, 0.1, 0.11, 0.3, 1.0]), 10).tolist()
    [0, 0, 1, 2, 9]
    """
    if confidence.dtype.itemsize == 2:
        return _float16_bins(bins)[confidence.view(np.uint16)]
    edges = inner_edges(bins, confidence.dtype)
    if confidence.size < bins // 8:  # making a copy of the edges would take longest
        return np.searchsorted(edges, confidence, side="left")
    # c·M is off by far less than half a bin, so the bin is the whole part of c·M − ½ or the next one.
    product = confidence * edges.dtype.type(bins)
    product -= edges.dtype.type(0.5)
    index = product.astype(np.intp)
    index += confidence > np.append(edges, edges.dtype.type(np.inf)).take(index)
    return index


@cache
def _float16_bins(bins: int) -> NDArray[np.intp]:
    """The bin of each of the 65,536 float16 bit patterns; several edges may round to the same float16."""
    every_float16 = np.arange(2**16, dtype=np.uint16).view(np.float16)
    return np.searchsorted(inner_edges(bins, every_float16.dtype), every_float16, side="left")


def assign_bins(
    confidence: Floats,
    scheme: Scheme,
    *,
    computed: bool = False,
    weight: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """Bin of each confidence under any scheme, counted from 0 as in `BinSums.binned`.

    Parameters
    ----------
    confidence : float array, shape (n,)
        Confidences in [0, 1].
    scheme : Scheme
        Binning and number of bins.
    computed : bool
        Whether the confidences were computed here; ties are then judged after rounding to 12 decimals.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each, above 0; 1 each where omitted.

    Returns
    -------
    NDArray[np.intp], shape (n,)
    """
    if scheme.binning == "width":
        return bin_of(confidence, scheme.bins)
    value = confidence.astype(np.float64)
    count: NDArray[np.int64 | np.float64] = np.ones(value.shape, np.int64) if weight is None else weight
    return bin_by_rank(value, count, scheme, round_ties=computed).astype(np.intp, copy=False)


def n_levels(value: NDArray[np.float64], *, round_ties: bool) -> int:
    """Number of natural bins of these values; `round_ties` as in `bin_by_rank`."""
    return np.unique(np.round(value, TIE_DECIMALS) if round_ties else value).size


def is_each_a_level(value: NDArray[np.float64], *, round_ties: bool) -> bool:
    """Whether the values rise, so that each is a natural bin of its own; `round_ties` as in `bin_by_rank`."""
    for begin in range(0, value.size, _CHECKED_TOGETHER):
        some = value[begin : begin + _CHECKED_TOGETHER + 1]
        some = np.round(some, TIE_DECIMALS) if round_ties else some
        if not bool((some[1:] > some[:-1]).all()):
            return False
    return True


def bin_by_rank(
    value: NDArray[np.float64], count: NDArray[np.int64 | np.float64], scheme: Scheme, *, round_ties: bool
) -> NDArray[np.integer]:
    """Natural or equal-mass bin of each value, counted from 0.

    Parameters
    ----------
    value : NDArray[np.float64], shape (n,)
        Confidences.
    count : NDArray[np.int64], shape (n,)
        Number of pairs with each value, at least 1, or the sum of their weights, above 0.
    scheme : Scheme
        A scheme whose binning is "natural" or "mass".
    round_ties : bool
        Whether values that agree to 12 decimals are tied.

    Returns
    -------
    array of whole numbers, shape (n,)
        In no more bytes than they need, as there may be very many.

    Notes
    -----
    An equal-mass bin, counted from 1, is ⌈M·r/n⌉, where r is the number of pairs whose confidence is no
    greater and n is the number of all pairs. Both are whole numbers, so a bin never separates tied pairs.
    Of weights, r and n are sums (decision 0018): whole numbers where all weights are, else a quotient that is
    whole to 12 digits counts as whole.
    """
    if is_each_a_level(value, round_ties=round_ties):
        if scheme.binning == "natural":
            return np.arange(value.size, dtype=np.int32)
        return _mass_bin_of(count, scheme.bins)
    level = _level_of(np.round(value, TIE_DECIMALS) if round_ties else value)
    if scheme.binning == "natural":
        return level
    level_counts = np.zeros(int(level.max(initial=-1)) + 1, count.dtype)
    np.add.at(level_counts, level, count)
    return _mass_bin_of(level_counts, scheme.bins)[level]


def _least_integer(largest: int) -> np.dtype[np.integer]:
    """The dtype of whole numbers up to the largest that takes the fewest bytes, and has a sign."""
    return np.min_scalar_type(-1 - largest)


def _mass_bin_of(level_counts: NDArray[np.int64 | np.float64], bins: int) -> NDArray[np.integer]:
    """Equal-mass bin of each level, counted from 0; see `bin_by_rank`."""
    if level_counts.dtype.kind == "i" or _are_whole(level_counts, bins):
        n = int(level_counts.sum())
        last = np.arange(1, bins + 1) * n // bins  # ⌈M·r/n⌉ ≤ m up to r = ⌊m·n/M⌋
        n_up_to = last  # where each count is 1, as in most large runs
        if n != level_counts.size:
            rank = np.cumsum(level_counts, dtype=_least_integer(n))
            n_up_to = np.searchsorted(rank, last.astype(rank.dtype), side="right")
        return np.repeat(np.arange(bins, dtype=_least_integer(bins)), np.diff(n_up_to, prepend=0))
    sums = np.cumsum(level_counts)
    place = bins * (sums / sums[-1:])
    exact = np.rint(place)
    is_exact = np.abs(place - exact) <= ROUNDING_TOLERANCE * bins
    index = np.where(is_exact, exact, np.ceil(place)) - 1
    return np.clip(index, 0, bins - 1).astype(np.intp)


def _level_of(value: NDArray[np.float64]) -> NDArray[np.intp]:
    """How many distinct values are below each one, shape (n,); what is sorted is not sorted again."""
    if bool((value[1:] < value[:-1]).any()):
        return np.unique(value, return_inverse=True)[1]
    is_new = np.zeros(value.shape, np.bool_)
    is_new[1:] = value[1:] != value[:-1]
    return np.cumsum(is_new, dtype=np.intp)


def _are_whole(weight: NDArray[np.int64 | np.float64], bins: int) -> bool:
    """Whether all weights are whole numbers whose sum times M is exact."""
    return bool(np.all(weight == np.rint(weight))) and bins * float(weight.sum()) < 2**53

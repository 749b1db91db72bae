"""What is summed in each bin?

`BinSums` turns pairs of (confidence, outcome) into the sums that every metric of answers is computed from.
Which bin a confidence falls into is decided in `edges` and nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import gcd
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from calib_core.compiled import compiled_version
from calib_core.edges import (
    FINEST_BINS,
    Binning,
    Floats,
    Scheme,
    bin_by_rank,
    bin_of,
    is_each_a_level,
    n_levels,
)

MAX_NATURAL_BINS: Final = 64
"""Natural bins are offered up to this many distinct confidences."""

SAME_VALUE_TOLERANCE: Final = 1e-6
"""Confidences whose standard deviation is at most this share of their mean count as one value."""

_CANCELLATION_LIMIT: Final = 1e-4
"""A mean squared error below this is summed term by term, since the bins' sums nearly cancel."""

_MAX_EMPTY_BINS: Final = 300_000
"""With more bins than this, most of them empty, sorting the pairs is faster."""

_MAX_KEPT_BINS: Final = 2**20
"""More bins than this, such as natural ones of a large run, take much memory and are soon made again."""

_CHUNK_PAIRS: Final = 2**15
"""Pairs processed together, so that intermediate results stay in the processor's cache."""

MIN_COMPILED_PAIRS: Final = 2**26
"""From this many pairs on, compiled code repays the time that loading Numba takes (benchmarks/peers.md)."""

MIN_PAIRS_WITH_NUMBA: Final = 2**13
"""The same where Numba is loaded already."""

_MAX_CUT_BINS: Final = 300
"""If more of the finest bins than this are cut, adding up all pairs anew is faster."""

Counts: TypeAlias = NDArray[np.int64 | np.float64]
"""Numbers of pairs, or sums of their weights where pairs have weights."""

BinIndex: TypeAlias = Callable[[slice], NDArray[np.integer]]
"""Finds the bins, from 0, of some distinct confidences; those of all at once take much memory."""


@dataclass(frozen=True, eq=False)
class Binned:
    """The non-empty bins of one scheme, sorted by (group, index).

    Attributes
    ----------
    scheme : Scheme
        Binning and number of bins.
    group : NDArray[np.int32], shape (bins,)
        Class of the bin; 0 where classes are pooled.
    numbers : NDArray[np.intp], shape (bins,), or None
        Number of each bin within its scheme, from 0. None where they are 0, 1, 2 and so on: a large run may
        have very many. See `index`.
    count : NDArray[np.int64], shape (bins,)
        Number of pairs n, at least 1; Σ w where pairs have weights (NDArray[np.float64]), which then count in
        every other sum.
    correct : NDArray[np.int64], shape (bins,)
        Σ y.
    confidence : NDArray[np.float64], shape (bins,)
        Σ c.
    sum_products, sum_squares : Callable[[], NDArray[np.float64]]
        Compute `correct_confidence` and `squared_confidence`, which most metrics do not need.
    find_limits : Callable[[], tuple of two NDArray[np.float64]], optional
        Finds `low` and `high`; where omitted, they are the edges of equal-width bins.
    pairs : NDArray[np.int64], shape (bins,), optional
        Number of pairs where they have weights; where omitted, `count` says it.
    squared_weight : NDArray[np.float64], shape (bins,), optional
        Σ w² where pairs have weights.
    """

    scheme: Scheme
    group: NDArray[np.int32]
    numbers: NDArray[np.intp] | None
    count: Counts
    correct: Counts
    confidence: NDArray[np.float64]
    sum_products: Callable[[], NDArray[np.float64]]
    sum_squares: Callable[[], NDArray[np.float64]]
    find_limits: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]] | None = None
    pairs: NDArray[np.int64] | None = None
    squared_weight: NDArray[np.float64] | None = None

    @property
    def index(self) -> NDArray[np.intp]:
        """Number of each bin within its scheme, from 0, shape (bins,)."""
        return np.arange(self.n_bins) if self.numbers is None else self.numbers

    @property
    def n_pairs(self) -> Counts:
        """Number of pairs in each bin, whatever their weights, shape (bins,)."""
        return self.count if self.pairs is None else self.pairs

    @property
    def effective(self) -> Counts:
        """Number of pairs of equal weight worth as much as those of each bin, (Σ w)² / Σ w², shape (bins,).

        References
        ----------
        Kish (1965), *Survey Sampling*, Wiley.
        """
        return self.count if self.squared_weight is None else self.count**2 / self.squared_weight

    @cached_property
    def correct_confidence(self) -> NDArray[np.float64]:
        """Σ c·y, shape (bins,)."""
        return self.sum_products()

    @cached_property
    def squared_confidence(self) -> NDArray[np.float64]:
        """Σ c², shape (bins,)."""
        return self.sum_squares()

    @cached_property
    def _limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.find_limits is not None:
            return self.find_limits()
        return self.index / self.scheme.bins, (self.index + 1) / self.scheme.bins

    @property
    def low(self) -> NDArray[np.float64]:
        """Lower edge of an equal-width bin; otherwise the smallest confidence in the bin. Shape (bins,)."""
        return self._limits[0]

    @property
    def high(self) -> NDArray[np.float64]:
        """Upper edge of an equal-width bin; otherwise the largest confidence in the bin. Shape (bins,)."""
        return self._limits[1]

    @property
    def n_bins(self) -> int:
        """Number of non-empty bins."""
        return self.count.size

    @property
    def absolute_gap(self) -> NDArray[np.float64]:
        """|Σy − Σc| of each bin, the term that every binned metric sums."""
        return np.abs(self.correct - self.confidence)

    @property
    def has_single_value(self) -> NDArray[np.bool_]:
        """Whether all confidences of a bin are equal, up to a millionth of their mean."""
        mean = self.confidence / self.count
        return self.squared_confidence / self.count - mean**2 <= (SAME_VALUE_TOLERANCE * mean) ** 2

    def with_outcomes(self, correct: Counts, correct_confidence: NDArray[np.float64]) -> Binned:
        """The same bins with other outcomes."""
        # Not `replace`, which is slow: each draw from a null distribution calls this.
        return Binned(
            self.scheme,
            self.group,
            self.numbers,
            self.count,
            correct,
            self.confidence,
            lambda: correct_confidence,
            lambda: self.squared_confidence,
            lambda: self._limits,
            self.pairs,
            self.squared_weight,
        )

    def coarsened(self, scheme: Scheme) -> Binned:
        """The bins of an equal-width scheme whose M divides this one's; such bins nest (decision 0001)."""
        return self.merged(scheme, self.index // (self.scheme.bins // scheme.bins))

    def merged(self, scheme: Scheme, index: NDArray[np.intp]) -> Binned:
        """The bins of an equal-width scheme, each made of bins that are next to one another here.

        Parameters
        ----------
        scheme : Scheme
        index : NDArray[np.intp], shape (bins,)
            Bin of the scheme that each bin belongs to, ascending within a class.
        """
        has_classes = bool(self.group.size and self.group[0] != self.group[-1])
        start = segment_starts(index, self.group) if has_classes else segment_starts(index)
        add = np.add.reduceat
        return Binned(
            scheme,
            self.group[start],
            index[start],
            add(self.count, start),
            add(self.correct, start),
            add(self.confidence, start),
            sum_products=lambda: add(self.correct_confidence, start),
            sum_squares=lambda: add(self.squared_confidence, start),
            pairs=None if self.pairs is None else add(self.pairs, start),
            squared_weight=None if self.squared_weight is None else add(self.squared_weight, start),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per non-empty bin: bin (from 1), low, high, count, and mean confidence and accuracy.

        Where pairs have weights, the means are weighted, and the column "effective" follows.
        """
        frame = pl.DataFrame(
            {
                "bin": self.index + 1,
                "low": self.low,
                "high": self.high,
                "count": self.n_pairs,
                "confidence": self.confidence / self.count,
                "accuracy": self.correct / self.count,
            }
        )
        return frame if self.pairs is None else frame.with_columns(effective=pl.Series(self.effective))


class Sums(Protocol):
    """The sums a metric is computed from, however the pairs are stored (`BinSums`, the sums of tokens)."""

    @property
    def n_rows(self) -> float:
        """Number of questions or positions, or the sum of their weights: divides metrics over all classes."""
        ...

    @property
    def n_groups(self) -> int:
        """K if there are sums by class, otherwise 1."""
        ...

    @property
    def n_pairs(self) -> float:
        """Number of pairs; Σ w where they have weights, which then count in every other sum."""
        ...

    @property
    def n_correct(self) -> float:
        """Σ y over all pairs."""
        ...

    @property
    def confidence_sum(self) -> float:
        """Σ c over all pairs."""
        ...

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² over all pairs, never below 0."""
        ...

    @property
    def log_loss_sum(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        ...

    @property
    def n_infinite_losses(self) -> float:
        """Pairs with y = 1 and c = 0."""
        ...

    def binned(self, scheme: Scheme) -> Binned:
        """The non-empty bins; raises Unavailable for a scheme that these sums do not support."""
        ...

    def pooled(self) -> Sums:
        """The same pairs with all classes in one group."""
        ...

    def natural_bins(self) -> Binned:
        """One bin per distinct confidence; raises Unavailable where single confidences are not stored."""
        ...


# --- Pairs, as given and by distinct confidence -------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class DistinctConfidences:
    """Pairs counted by distinct stored confidence and class; read-only, sorted by (group, itemsize, value).

    Attributes
    ----------
    value : NDArray[np.float64], shape (n,)
        The confidence, exactly as stored.
    itemsize : NDArray[np.uint8], shape (n,)
        Bytes of the stored dtype: 2, 4 or 8.
    group : NDArray[np.int32], shape (n,)
        Class of the pairs.
    count : NDArray[np.int64], shape (n,)
        Number of pairs.
    correct : NDArray[np.int64], shape (n,)
        Σ y of the pairs.
    pairs : NDArray[np.int64], shape (n,), optional
        Number of pairs where they have weights; `count` is then Σ w, `correct` is Σ w·y, both of float64.
    squared_weight : NDArray[np.float64], shape (n,), optional
        Σ w² where pairs have weights.
    """

    value: NDArray[np.float64]
    itemsize: NDArray[np.uint8]
    group: NDArray[np.int32]
    count: Counts
    correct: Counts
    pairs: NDArray[np.int64] | None = None
    squared_weight: NDArray[np.float64] | None = None

    @classmethod
    def weighted(cls, pairs: RawPairs, weight: NDArray[np.float64]) -> DistinctConfidences:
        """The pairs with these weights, above 0 and of shape (n,), by distinct confidence."""
        value = pairs.confidence.astype(np.float64)
        return _aggregate_distinct(
            cls(
                value=value,
                itemsize=np.full(value.shape, pairs.confidence.dtype.itemsize, np.uint8),
                group=np.zeros(value.shape, np.int32) if pairs.group is None else pairs.group,
                count=weight,
                correct=weight * pairs.correct,
                pairs=np.ones(value.shape, np.int64),
                squared_weight=weight**2,
            )
        )

    def selected(self, rows: NDArray[Any] | slice) -> DistinctConfidences:
        """Some of the distinct confidences, by position, as a mask or as a slice."""
        return DistinctConfidences(
            self.value[rows],
            self.itemsize[rows],
            self.group[rows],
            self.count[rows],
            self.correct[rows],
            None if self.pairs is None else self.pairs[rows],
            None if self.squared_weight is None else self.squared_weight[rows],
        )

    @property
    def n_pairs(self) -> float:
        """Number of pairs, or the sum of their weights."""
        return self.count.sum().item()

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² over the pairs; never below 0, since its terms do not cancel."""
        right = self.correct * (1 - self.value) ** 2
        wrong = (self.count - self.correct) * self.value**2
        return float((right + wrong).sum())

    @property
    def log_loss_sum(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        possible = (self.correct > 0) & (self.value > 0)
        return _log_loss_sum(self.value[possible], self.correct[possible])

    @property
    def n_infinite_losses(self) -> float:
        """Pairs with y = 1 and c = 0; the sum of their weights where they have any."""
        return self.correct[self.value == 0].sum().item()


@dataclass(frozen=True, eq=False)
class RawPairs:
    """Pairs as they were given.

    Attributes
    ----------
    confidence : float array, shape (n,)
        Confidences in [0, 1], in their stored dtype.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    group : NDArray[np.int32] or None, shape (n,)
        Class of each pair; None if there is only one class.
    """

    confidence: Floats
    correct: NDArray[np.bool_]
    group: NDArray[np.int32] | None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.confidence.size

    @property
    def n_infinite_losses(self) -> int:
        """Pairs with y = 1 and c = 0."""
        return int(np.count_nonzero(self.confidence[self.correct] == 0))

    @cached_property
    def finest_index(self) -> NDArray[np.uint16]:
        """The finest bin of each pair, shape (n,)."""
        index = np.empty(self.confidence.shape, np.uint16)
        for chunk in chunks(index.size):
            index[chunk] = bin_of(self.confidence[chunk], FINEST_BINS)
        return index

    def distinct(self) -> DistinctConfidences:
        """The pairs counted by distinct confidence; this sorts them, which takes time."""
        c = self.confidence
        if self.group is None:
            return _distinct_of_one_class(c, self.correct)
        return _aggregate_distinct(
            DistinctConfidences(
                value=c.astype(np.float64),
                itemsize=np.full(c.shape, c.dtype.itemsize, np.uint8),
                group=self.group,
                count=np.ones(c.shape, np.int64),
                correct=self.correct.astype(np.int64),
            )
        )


def _log_loss_sum(confidence: NDArray[np.float64], counts: Counts) -> float:
    """−Σ count · ln c, summed in order of c, so that the order of the pairs does not change the last bit."""
    if bool((confidence[1:] <= confidence[:-1]).any()):  # of several classes or dtypes
        confidence, level = np.unique(confidence, return_inverse=True)
        counts = np.bincount(level, counts).astype(np.float64)
    # Subtracted from 0.0, so that a confidence of 1 everywhere yields 0 and not −0.
    return 0.0 - pairwise_sum(counts.size, lambda part: counts[part] * np.log(confidence[part]))


def chunks(size: int) -> Iterator[slice]:
    """So many pairs after one another that intermediate results stay in the processor's cache."""
    return (slice(begin, begin + _CHUNK_PAIRS) for begin in range(0, size, _CHUNK_PAIRS))


def pairwise_sum(size: int, terms: Callable[[slice], NDArray[Any]]) -> float:
    """The sum of terms that are made part by part, from the first on, to the bit that of all in one array.

    NumPy adds up an array by halves, too, which are multiples of 8 long.
    """
    return _pairwise_sum(0, size, terms)


def _pairwise_sum(begin: int, end: int, terms: Callable[[slice], NDArray[Any]]) -> float:
    # A function within `pairwise_sum` would refer to itself, and so keep `terms` until garbage is collected.
    if end - begin <= _CHUNK_PAIRS:
        return terms(slice(begin, end)).sum().item()
    middle = begin + (end - begin) // 16 * 8
    return _pairwise_sum(begin, middle, terms) + _pairwise_sum(middle, end, terms)


def running_sum() -> Callable[[NDArray[Any]], NDArray[Any]]:
    """What continues `np.cumsum` from one part of an array to the next."""
    total: Any = 0

    def continued(values: NDArray[Any]) -> NDArray[Any]:
        nonlocal total
        sums = values.astype(np.result_type(values, np.int64))
        sums[:1] += total
        np.cumsum(sums, out=sums)
        total = sums[-1]
        return sums

    return continued


def validate_pairs(
    confidence: ArrayLike, correct: ArrayLike, group: ArrayLike | None, n_groups: int, *, copy: bool = True
) -> RawPairs:
    """The pairs with checked shapes and values.

    Parameters
    ----------
    confidence, correct, group, n_groups, copy
        As in `BinSums.from_pairs`.

    Raises
    ------
    ValueError
        As in `BinSums.from_pairs`.
    """
    c, y = np.asarray(confidence), np.asarray(correct)
    if c.dtype.kind != "f" or c.dtype.itemsize > 8:
        c = c.astype(np.float64)
    if c.ndim != 1 or c.shape != y.shape:
        raise ValueError(
            f"confidence and correct must be two flat lists of the same length, not {c.shape} and {y.shape}"
        )
    classes = None if group is None else np.array(group, np.int32)
    values, is_correct = _validate_confidences(c, copy=copy), _validate_outcomes(y, copy=copy)
    if classes is not None and (
        classes.shape != c.shape or bool(np.any((classes < 0) | (classes >= n_groups)))
    ):
        raise ValueError(f"classes must be whole numbers from 0 to {n_groups - 1}, one per pair")
    return RawPairs(values, is_correct, classes)


def _validate_confidences(c: Floats, *, copy: bool) -> Floats:
    """The confidences in native byte order, without −0.0; raises ValueError for one outside [0, 1]."""
    keeps = not copy and c.dtype.isnative and c.flags.c_contiguous
    values = c if keeps else np.empty(c.shape, c.dtype.newbyteorder("="))
    bits = values.view(f"u{c.dtype.itemsize}")
    bits_of_one, bits_of_minus_0 = np.array([1, -0.0], values.dtype).view(bits.dtype)
    for chunk in chunks(c.size):
        if not keeps:
            values[chunk] = c[chunk]
        if bits[chunk].max() > bits_of_one:  # bits order as numbers from 0 do; those of all others are larger
            if keeps:
                return _validate_confidences(c, copy=True)  # in which −0.0 becomes 0
            bits[chunk][bits[chunk] == bits_of_minus_0] = 0
            if bits[chunk].max() > bits_of_one:
                raise ValueError("confidences must be numbers from 0 to 1")
    return values


def _validate_outcomes(y: NDArray[Any], *, copy: bool) -> NDArray[np.bool_]:
    """The outcomes as booleans; raises ValueError for one that is neither 0 nor 1."""
    if y.dtype == np.bool_:
        return y.copy() if copy or not y.flags.c_contiguous else y
    is_correct = np.empty(y.shape, np.bool_)
    for chunk in chunks(y.size):
        is_correct[chunk] = y[chunk] == 1
        n_right, n_wrong = np.count_nonzero(is_correct[chunk]), np.count_nonzero(y[chunk] == 0)
        if n_right + n_wrong < is_correct[chunk].size:
            raise ValueError("outcomes must be 0 or 1")
    return is_correct


def merge_distinct(parts: Sequence[DistinctConfidences]) -> DistinctConfidences:
    """The pairs of all parts together; the order of the parts does not matter."""
    return _aggregate_distinct(_concatenated(parts))


def _concatenated(parts: Sequence[DistinctConfidences]) -> DistinctConfidences:
    has_weights, counts = any(part.pairs is not None for part in parts), [part.count for part in parts]
    return DistinctConfidences(
        value=np.concatenate([part.value for part in parts]),
        itemsize=np.concatenate([part.itemsize for part in parts]),
        group=np.concatenate([part.group for part in parts]),
        count=np.concatenate(counts),
        correct=np.concatenate([part.correct for part in parts]),
        pairs=_joined([part.pairs for part in parts], counts, np.int64) if has_weights else None,
        squared_weight=_joined([part.squared_weight for part in parts], counts, np.float64)
        if has_weights
        else None,
    )


def _joined(
    parts: Sequence[NDArray[Any] | None], counts: Sequence[Counts], dtype: type[np.int64 | np.float64]
) -> NDArray[Any]:
    """The parts one after another, with counts for those that are missing: of pairs without weights."""
    return np.concatenate(
        [count.astype(dtype) if part is None else part for part, count in zip(parts, counts, strict=True)]
    )


def pool_classes(distinct: DistinctConfidences) -> DistinctConfidences:
    """The same pairs with all classes in one group."""
    return _aggregate_distinct(replace(distinct, group=np.zeros_like(distinct.group)))


def segment_starts(*keys: NDArray[Any]) -> NDArray[np.intp]:
    """Where each segment of equal keys begins.

    Parameters
    ----------
    *keys : array, shape (n,)
        One or more keys, sorted; a segment ends where any of them changes.

    Examples
    --------
    >>> segment_starts(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6])).tolist()
    [0, 2, 3]
    """
    is_start = np.ones(keys[0].shape, np.bool_)
    is_start[1:] = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        is_start[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(is_start)


def _sum_segments(start: NDArray[np.intp], size: int, terms: Callable[[slice], NDArray[Any]]) -> NDArray[Any]:
    """The sum of each segment, of terms that are made for a few whole segments at a time."""
    if size <= _CHUNK_PAIRS:
        return np.add.reduceat(terms(slice(0, size)), start)
    ends, sums, first = np.append(start[1:], size), list[NDArray[Any]](), 0
    while first < start.size:
        after = max(first + 1, int(np.searchsorted(ends, start[first] + _CHUNK_PAIRS, side="right")))
        part = slice(start[first], ends[after - 1])
        sums.append(np.add.reduceat(terms(part), start[first:after] - start[first]))
        first = after
    return np.concatenate(sums)


def _aggregate_distinct(distinct: DistinctConfidences) -> DistinctConfidences:
    """The same pairs with one entry per (group, itemsize, value), sorted and read-only."""
    order = np.argsort(distinct.value, kind="stable")
    for key in (distinct.itemsize, distinct.group):
        if key.size and key.min() != key.max():
            order = order[np.argsort(key[order], kind="stable")]
    value, itemsize, group = distinct.value[order], distinct.itemsize[order], distinct.group[order]
    start = segment_starts(value, itemsize, group)
    aggregated = DistinctConfidences(
        value=value[start],
        itemsize=itemsize[start],
        group=group[start],
        count=np.add.reduceat(distinct.count[order], start),
        correct=np.add.reduceat(distinct.correct[order], start),
        pairs=None if distinct.pairs is None else np.add.reduceat(distinct.pairs[order], start),
        squared_weight=None
        if distinct.squared_weight is None
        else np.add.reduceat(distinct.squared_weight[order], start),
    )
    return _read_only(aggregated)


def _distinct_of_one_class(confidence: Floats, correct: NDArray[np.bool_]) -> DistinctConfidences:
    """The pairs counted by distinct confidence, sorted by it and read-only.

    The bits of a float64 in [0, 1] order as the numbers do, and its sign is free for the outcome, so that one
    sort in place orders both: much faster than finding the order first.
    """
    key = confidence.astype(np.float64).view(np.uint64)
    key <<= np.uint64(1)
    key |= correct
    key.sort()
    right: NDArray[Any] = np.empty(key.shape, np.int8)  # a byte each, as there may be very many
    np.bitwise_and(key, np.uint64(1), out=right, casting="unsafe")
    key >>= np.uint64(1)
    value = key.view(np.float64)
    count = np.broadcast_to(np.int64(1), value.shape)
    if not is_each_a_level(value, round_ties=False):  # in most large files there is nothing to add up
        start = segment_starts(value)
        count, right = np.diff(start, append=value.size), np.add.reduceat(right, start)
        value = value[start]
    return _read_only(
        DistinctConfidences(
            value=value,
            itemsize=np.broadcast_to(np.uint8(confidence.dtype.itemsize), value.shape),
            group=np.broadcast_to(np.int32(0), value.shape),
            count=count,
            correct=right,
        )
    )


def _read_only(distinct: DistinctConfidences) -> DistinctConfidences:
    for array in (distinct.value, distinct.itemsize, distinct.group, distinct.count, distinct.correct):
        array.flags.writeable = False
    return distinct


# --- From pairs to bins -------------------------------------------------------------------------------------


def one_pass_is_faster(raw: RawPairs, scheme: Scheme, n_groups: int) -> bool:
    """Whether `bins_in_one_pass` can make these bins and is faster than sorting the pairs.

    It is not where nearly all bins would be empty.
    """
    return scheme.binning == "width" and n_groups * scheme.bins <= max(_MAX_EMPTY_BINS, raw.n_pairs)


def bins_in_one_pass(raw: RawPairs, scheme: Scheme, n_groups: int) -> Binned:
    """Equal-width bins from one pass over unsorted pairs, whose order changes no sum."""
    size = n_groups * scheme.bins
    sums = _sum_by_key(raw, scheme, 2 * size)
    pairs, correct = sums[::2, 0] + sums[1::2, 0], sums[1::2, 0]
    by_outcome = sums[:, 1] + sums[:, 2]
    used = np.flatnonzero(pairs > 0)
    correct_confidence = by_outcome[1::2][used]
    group = used // scheme.bins

    def sum_squares() -> NDArray[np.float64]:
        sums = _sum_by_key(raw, scheme, 2 * size, power=2)
        return (sums[:, 1] + sums[:, 2]).reshape(size, 2)[used].sum(axis=1)

    return Binned(
        scheme=scheme,
        group=group.astype(np.int32),
        numbers=used - group * scheme.bins,
        count=pairs[used].astype(np.int64),
        correct=correct[used].astype(np.int64),
        confidence=by_outcome[::2][used] + correct_confidence,
        sum_products=lambda: correct_confidence,
        sum_squares=sum_squares,
    )


def _sum_by_key(raw: RawPairs, scheme: Scheme, n_keys: int, *, power: int = 1) -> NDArray[np.float64]:
    """The sums of all pairs; see `add_pairs`."""
    add = add_pairs
    if raw.n_pairs >= (MIN_PAIRS_WITH_NUMBA if "numba" in sys.modules else MIN_COMPILED_PAIRS):
        add = compiled_add_pairs(raw.confidence.dtype)
    sums = np.zeros((n_keys, 3))
    # With smaller chunks, adding up the sums of the chunks would take most of the time.
    n_chunk = max(1, min(raw.n_pairs, max(_CHUNK_PAIRS, n_keys)))
    exponent = max(raw.n_pairs.bit_length(), 2 * n_chunk.bit_length() - 12)
    add(sums, raw.confidence, raw.correct, raw.group, scheme.bins, exponent, n_chunk, power)
    return sums


def add_pairs(
    sums: NDArray[np.float64],
    confidence: Floats,
    correct: NDArray[np.bool_],
    group: NDArray[np.int32] | None,
    bins: int,
    exponent: int,
    n_chunk: int,
    power: int,
) -> None:
    """Adds pairs to the sums of their keys (group·M + bin)·2 + y, in any order the same.

    Each term is split into a multiple of a power of 2, so coarse that all of them add up exactly, and a
    remainder, so small that its rounding error does not matter; single precision mostly leaves none, unless
    there are very many keys.

    Parameters
    ----------
    sums : NDArray[np.float64], shape (n_keys, 3)
        Number of terms, Σ of their multiples and Σ of their remainders, to which this adds.
    confidence, correct, group
        As in `RawPairs`.
    bins : int
        Number of bins M.
    exponent : int
        Multiples are those of 2^(exponent − 52). There are fewer than 2^exponent pairs, and it is at least
        2·b − 12, where b is the bit length of `n_chunk`: the compiled function packs the number of pairs of a
        chunk and the sum of their multiples into 64 bits.
    n_chunk : int
        Number of pairs whose remainders are added up together, at least 1.
    power : {1, 2}
        Power of the confidences that is added up.
    """
    n_keys, shift = sums.shape[0], 1.5 * 2.0**exponent
    for begin in range(0, confidence.size, n_chunk):
        chunk = slice(begin, begin + n_chunk)
        key = bin_of(confidence[chunk], bins)
        if group is not None:
            key += group[chunk] * np.int64(bins)
        key *= 2
        key += correct[chunk]
        term = confidence[chunk].astype(np.float64, copy=False)
        if power == 2:
            term = term * term
        multiple = term + shift
        multiple -= shift
        sums[:, 0] += np.bincount(key, minlength=n_keys)
        sums[:, 1] += np.bincount(key, multiple, minlength=n_keys)
        remainder = term - multiple
        if remainder.any():
            sums[:, 2] += np.bincount(key, remainder, minlength=n_keys)


@cache
def compiled_add_pairs(dtype: np.dtype[Any]) -> Callable[..., None]:
    """`add_pairs` compiled for confidences of this dtype, where that is possible.

    Not for float16, of which NumPy looks the bins up.
    """
    if dtype.itemsize == 2:
        return add_pairs

    def call(add: Callable[..., None]) -> None:
        add(np.zeros((2, 3)), np.zeros(0, dtype), np.zeros(0, np.bool_), None, 1, 1, 1, 1)

    return compiled_version(add_pairs, "calib_core.compiled_bins", call)


def bins_from_distinct(distinct: DistinctConfidences, scheme: Scheme, bin_index: BinIndex) -> Binned:
    """The bins of pairs counted by distinct confidence; only equal-width bins have sums by class.

    Parameters
    ----------
    distinct : DistinctConfidences
        The pairs.
    scheme : Scheme
        Binning and number of bins.
    bin_index : BinIndex
        Finds their bins.
    """
    equal_width = scheme.binning == "width"
    group = distinct.group if equal_width else np.broadcast_to(np.int32(0), distinct.group.shape)
    rising = _rising_starts(group, bin_index)
    if rising is None:  # of several classes or dtypes
        number = bin_index(slice(None)).astype(np.intp)
        order = np.lexsort((number, group))
        distinct, group, number = distinct.selected(order), group[order], number[order]
        start = segment_starts(number, group)
        rising = start, number[start]
    start, numbers = rising
    value, count, correct = distinct.value, distinct.count, distinct.correct
    pairs, squared_weight = distinct.pairs, distinct.squared_weight

    def add(terms: Callable[[slice], NDArray[Any]]) -> NDArray[Any]:
        """Pairwise summation: a million floats are exact to 1e-12."""
        return _sum_segments(start, value.size, terms)

    return Binned(
        scheme=scheme,
        group=group[start],
        numbers=numbers,
        count=add(lambda part: count[part]),
        correct=add(lambda part: correct[part]),
        confidence=add(lambda part: value[part] * count[part]),
        sum_products=lambda: add(lambda part: value[part] * correct[part]),
        sum_squares=lambda: add(lambda part: value[part] * value[part] * count[part]),
        find_limits=None
        if equal_width
        else lambda: (np.minimum.reduceat(value, start), np.maximum.reduceat(value, start)),
        pairs=None if pairs is None else add(lambda part: pairs[part]),
        squared_weight=None if squared_weight is None else add(lambda part: squared_weight[part]),
    )


def _rising_starts(
    group: NDArray[np.int32], number: BinIndex
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Where each segment of equal classes and numbers begins, and its number.

    The classes rise; None if the numbers of a class don't.
    """
    starts, numbers = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    last_class = last_number = -1
    for chunk in chunks(group.size):
        of_chunk = number(chunk).astype(np.intp)
        is_next_class = np.diff(group[chunk], prepend=np.int32(last_class)) != 0
        step = np.diff(of_chunk, prepend=last_number)
        if bool((step[~is_next_class] < 0).any()):
            return None
        at = np.flatnonzero((step != 0) | is_next_class)
        starts.append(at + chunk.start)
        numbers.append(of_chunk[at])
        last_class, last_number = group[chunk][-1], of_chunk[-1]
    return np.concatenate(starts), np.concatenate(numbers)


def _bin_each(distinct: DistinctConfidences, scheme: Scheme) -> Binned:
    """A bin for each distinct confidence: nothing is added up, and little copied."""
    value, count, correct = distinct.value, distinct.count, distinct.correct
    return Binned(
        scheme=scheme,
        group=np.broadcast_to(np.int32(0), value.shape),
        numbers=None,
        count=count,
        correct=correct,
        confidence=value if count.max(initial=1) == count.min(initial=1) == 1 else value * count,
        sum_products=lambda: value * correct,
        sum_squares=lambda: value * value * count,
        find_limits=lambda: (value, value),
        pairs=distinct.pairs,
        squared_weight=distinct.squared_weight,
    )


def equal_width_index(distinct: DistinctConfidences, bins: int) -> NDArray[np.uint16]:
    """Equal-width bin of each distinct confidence, decided in the dtype it was stored in."""
    index = np.empty(distinct.value.shape, np.uint16)
    for chunk in chunks(index.size):
        for itemsize in (2, 4, 8):
            has_dtype = distinct.itemsize[chunk] == itemsize
            index[chunk][has_dtype] = bin_of(distinct.value[chunk][has_dtype].astype(f"f{itemsize}"), bins)
    return index


@dataclass(frozen=True, slots=True, eq=False)
class CutBins:
    """The finest bins, cut where a bin of some scheme ends within one of them.

    Attributes
    ----------
    pieces : Binned
        Finest bins and parts of them, sorted by class and confidence; `index` is the finest bin.
    bin_index : NDArray[np.intp], shape (pieces,)
        Bin of the scheme that each piece belongs to.
    is_cut : NDArray[np.bool_], shape (FINEST_BINS,)
        Whether a bin of the scheme may end within the finest bin.
    cut_pairs : DistinctConfidences
        The pairs in finest bins that are cut.
    find_pieces : Callable[[], NDArray[np.intp]]
        Finds the piece of each distinct confidence of `cut_pairs`.
    """

    pieces: Binned
    bin_index: NDArray[np.intp]
    is_cut: NDArray[np.bool_]
    cut_pairs: DistinctConfidences
    find_pieces: Callable[[], NDArray[np.intp]]


def _finest_bins_cut_by(scheme: Scheme) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """In which of the finest bins a bin of the scheme may end, and the bin that each other one belongs to."""
    if scheme.binning != "width":
        return np.ones(FINEST_BINS, np.bool_), np.zeros(FINEST_BINS, np.intp)
    edges = FINEST_BINS * np.arange(1, scheme.bins)
    is_cut = np.zeros(FINEST_BINS, np.bool_)
    is_cut[edges[edges % scheme.bins > 0] // scheme.bins] = True
    return is_cut, -(-scheme.bins * np.arange(1, FINEST_BINS + 1) // FINEST_BINS) - 1


@dataclass(frozen=True, eq=False)
class BinSums:
    """The additive state behind every metric of answers.

    Attributes
    ----------
    source : RawPairs or DistinctConfidences
        The pairs as given, or counted by distinct confidence. Equal-width bins need only one pass over the
        pairs; everything else sorts them into `distinct`.
    n_rows : int
        Number of questions the pairs come from, the divisor of metrics over all classes; the sum of their
        weights where they have any.
    n_groups : int
        Number of classes.
    computed : bool
        Whether the confidences were computed here, so that ties are judged after rounding to 12 decimals,
        or stored in a file.

    Examples
    --------
    >>> sums = BinSums.from_pairs([0.9, 0.9, 0.6, 0.6], [1, 0, 1, 1])
    >>> sums.n_correct, round(sums.confidence_sum, 12)
    (3, 3.0)
    >>> sums.binned(Scheme("width", 10)).count.tolist()
    [2, 2]
    """

    source: RawPairs | DistinctConfidences
    n_rows: float
    n_groups: int = 1
    computed: bool = False

    @classmethod
    def from_pairs(
        cls,
        confidence: ArrayLike,
        correct: ArrayLike,
        *,
        group: ArrayLike | None = None,
        n_rows: float | None = None,
        n_groups: int = 1,
        computed: bool = False,
        copy: bool = True,
        weight: NDArray[np.float64] | None = None,
    ) -> BinSums:
        """The sums of pairs of (confidence, outcome).

        Parameters
        ----------
        confidence : array_like, shape (n,)
            Confidences in [0, 1]. float16, float32 and float64 keep their dtype; anything else becomes
            float64.
        correct : array_like, shape (n,)
            Outcomes, 0 or 1.
        group : array_like of int, shape (n,), optional
            Class of each pair, 0 to n_groups − 1.
        n_rows : int, optional
            Number of questions; n by default, which holds if each question has one pair.
        n_groups : int
            Number of classes.
        computed : bool
            Whether the confidences were computed here rather than stored in a file.
        copy : bool
            Whether confidences and outcomes are copied. What is not copied must not change afterwards.
        weight : NDArray[np.float64], shape (n,), optional
            Number of cases that each pair stands for, finite and above 0; 1 each where omitted.

        Raises
        ------
        ValueError
            If the shapes differ, a confidence is NaN or outside [0, 1], an outcome is neither 0 nor 1, a
            class is outside 0..groups−1, or a weight is not above 0 and finite.
        """
        given = validate_pairs(confidence, correct, group, n_groups, copy=copy)
        source: RawPairs | DistinctConfidences = given
        if weight is not None:
            if weight.shape != given.confidence.shape or not bool(np.all((weight > 0) & np.isfinite(weight))):
                raise ValueError("weights must be finite numbers above 0, one per pair")
            source = DistinctConfidences.weighted(given, weight)
        return cls(source, source.n_pairs if n_rows is None else n_rows, int(n_groups), computed)

    def merge(self, other: BinSums) -> BinSums:
        """The sums of both parts together; the order of the parts does not matter."""
        return BinSums(
            merge_distinct([self.distinct, other.distinct]),
            self.n_rows + other.n_rows,
            max(self.n_groups, other.n_groups),
            self.computed or other.computed,
        )

    def pooled(self) -> BinSums:
        """The same pairs with all classes in one group."""
        if self.n_groups == 1:
            return self
        source = self.source
        pooled = replace(source, group=None) if isinstance(source, RawPairs) else pool_classes(source)
        return replace(self, source=pooled, n_groups=1)

    @cached_property
    def distinct(self) -> DistinctConfidences:
        """The pairs counted by distinct stored confidence and class."""
        return self.source if isinstance(self.source, DistinctConfidences) else self.source.distinct()

    @property
    def value(self) -> NDArray[np.float64]:
        """The distinct confidences, exactly as stored."""
        return self.distinct.value

    @property
    def itemsize(self) -> NDArray[np.uint8]:
        """Bytes of the dtype that each distinct confidence was stored in: 2, 4 or 8."""
        return self.distinct.itemsize

    @property
    def group(self) -> NDArray[np.int32]:
        """Class of each distinct confidence."""
        return self.distinct.group

    @property
    def count(self) -> Counts:
        """Number of pairs with each distinct confidence."""
        return self.distinct.count

    @property
    def correct(self) -> Counts:
        """Σ y of the pairs with each distinct confidence."""
        return self.distinct.correct

    @property
    def n_pairs(self) -> float:
        """Number of pairs; Σ w where they have weights, which then count in every other sum."""
        return self.source.n_pairs

    @property
    def n_correct(self) -> float:
        """Σ y."""
        return self.source.correct.sum().item()

    @property
    def confidence_sum(self) -> float:
        """Σ c, summed over the bins, so that it agrees with them to the last bit."""
        return float(self._finest_bins.confidence.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)²."""
        fine = self._finest_bins
        error = float((fine.squared_confidence - 2 * fine.correct_confidence).sum()) + self.n_correct
        # The sums cancel; the result is exact enough unless it is close to 0.
        return error if error > _CANCELLATION_LIMIT * self.n_pairs else self.distinct.squared_error_sum

    @property
    def log_loss_sum(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        return self.distinct.log_loss_sum

    @property
    def n_infinite_losses(self) -> float:
        """Pairs with y = 1 and c = 0."""
        return self.source.n_infinite_losses

    def natural_bins(self) -> Binned:
        """One bin per distinct confidence over all classes; `computed` decides what counts as a tie."""
        return self.binned(Scheme("natural"))

    @cached_property
    def n_natural_bins(self) -> int:
        """Number of natural bins, which are not made for it."""
        return n_levels(self.distinct.value, round_ties=self.computed)

    def has_more_natural_bins(self, number: int) -> bool:
        """Whether there are more natural bins than this; the first pairs often tell without sorting all."""
        if isinstance(self.source, RawPairs):
            first = self.source.confidence[:_CHUNK_PAIRS].astype(np.float64)
            if n_levels(first, round_ties=self.computed) > number:
                return True
        return self.n_natural_bins > number

    def binned(self, scheme: Scheme) -> Binned:
        """The non-empty bins: equal-width bins by class, natural and equal-mass bins over all pairs."""
        nests = scheme.binning == "width" and FINEST_BINS % scheme.bins == 0
        binned = self._last_binned.get(nests)
        if binned is None or binned.scheme != scheme:
            self._last_binned.pop(nests, None)
            binned = self._finest_bins.coarsened(scheme) if nests else self._compute_bins(scheme)
            if binned.n_bins <= _MAX_KEPT_BINS:
                self._last_binned[nests] = binned
        return binned

    @cached_property
    def _last_binned(self) -> dict[bool, Binned]:
        """Whether bins are made of the finest ones → the most recent such bins.

        A number, its null distribution, its interval and its diagram need the same ones in turn.
        """
        return {}

    @cached_property
    def _finest_bins(self) -> Binned:
        """The finest bins, from which every M that divides FINEST_BINS is added up without the pairs."""
        return self._compute_bins(Scheme("width", FINEST_BINS))

    def _compute_bins(self, scheme: Scheme) -> Binned:
        source = self.source
        if isinstance(source, RawPairs) and one_pass_is_faster(source, scheme, self.n_groups):
            if self._is_cut_from_finest(scheme):
                cut = self.cut_bins(scheme)
                return cut.pieces.merged(scheme, cut.bin_index)
            return bins_in_one_pass(source, scheme, self.n_groups)
        distinct = self.distinct
        if scheme.binning == "natural" and is_each_a_level(distinct.value, round_ties=self.computed):
            return _bin_each(distinct, scheme)
        return bins_from_distinct(distinct, scheme, self._bin_index(distinct, scheme))

    def _is_cut_from_finest(self, scheme: Scheme) -> bool:
        """Whether these equal-width bins are made from the finest ones, which are known or soon needed."""
        n_cut = scheme.bins - gcd(scheme.bins, FINEST_BINS)
        if scheme.bins == FINEST_BINS or n_cut > _MAX_CUT_BINS:
            return False
        return self.n_groups == 1 or "_finest_bins" in self.__dict__

    def cut_bins(self, scheme: Scheme) -> CutBins:
        """The finest bins, cut where a bin of the scheme ends; only pairs in bins that are cut are sorted.

        Natural and equal-mass bins may end in any of them, and are for pairs of one class.
        """
        cut_bins = self._last_cut.get(scheme)
        if cut_bins is None:
            cut_bins = self._cut_bins(scheme)
            self._last_cut.clear()
            self._last_cut[scheme] = cut_bins
        return cut_bins

    @cached_property
    def _last_cut(self) -> dict[Scheme, CutBins]:
        return {}

    def _cut_bins(self, scheme: Scheme) -> CutBins:
        fine = self._finest_bins
        is_cut, bin_of_whole = _finest_bins_cut_by(scheme)
        pairs = self._pairs_in(is_cut)
        n_numbers = max(self.n_natural_bins if scheme.binning == "natural" else scheme.bins, 1)

        def piece_numbers() -> BinIndex:
            """Finds the pieces that pairs lie in, of those of their class, numbered as confidences ascend."""
            bin_index = self._bin_index(pairs, scheme)
            return lambda part: (
                n_numbers * equal_width_index(pairs.selected(part), FINEST_BINS).astype(np.intp)
                + bin_index(part)
            )

        parts = bins_from_distinct(pairs, Scheme("width", FINEST_BINS), piece_numbers())
        whole = np.flatnonzero(~is_cut[fine.index])
        cell = fine.index[whole]
        group = np.concatenate([fine.group[whole], parts.group])
        numbers = np.concatenate([cell * n_numbers + bin_of_whole[cell], parts.index])
        order = np.lexsort((numbers, group))
        group, numbers = group[order], numbers[order]

        def joined(of_finest: NDArray[Any], of_parts: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([of_finest[whole], of_parts])[order]

        pieces = Binned(
            Scheme("width", FINEST_BINS),
            group,
            numbers // n_numbers,
            joined(fine.count, parts.count),
            joined(fine.correct, parts.correct),
            joined(fine.confidence, parts.confidence),
            sum_products=lambda: joined(fine.correct_confidence, parts.correct_confidence),
            sum_squares=lambda: joined(fine.squared_confidence, parts.squared_confidence),
        )

        def find_pieces() -> NDArray[np.intp]:
            size = np.int64(FINEST_BINS * n_numbers)
            return np.searchsorted(group * size + numbers, pairs.group * size + piece_numbers()(slice(None)))

        return CutBins(pieces, numbers % n_numbers, is_cut, pairs, find_pieces)

    def _pairs_in(self, is_wanted: NDArray[np.bool_]) -> DistinctConfidences:
        """The pairs in some of the finest bins, shape (FINEST_BINS,)."""
        if bool(is_wanted.all()):
            return self.distinct
        if isinstance(source := self.source, RawPairs) and "distinct" not in self.__dict__:
            rows = np.flatnonzero(is_wanted[source.finest_index])
            group = None if source.group is None else source.group[rows]
            return RawPairs(source.confidence[rows], source.correct[rows], group).distinct()
        distinct = self.distinct
        return distinct.selected(is_wanted[equal_width_index(distinct, FINEST_BINS)])

    def _bin_index(self, distinct: DistinctConfidences, scheme: Scheme) -> BinIndex:
        """Bins of the distinct confidences, numbered as in `binned`; all of them unless of equal width."""
        if scheme.binning == "width":
            return lambda part: equal_width_index(distinct.selected(part), scheme.bins)
        return bin_by_rank(distinct.value, distinct.count, scheme, round_ties=self.computed).__getitem__

    def table(self, bins: int = 10, binning: Binning = "width") -> pl.DataFrame:
        """The bins as a data frame; see `Binned.to_frame`."""
        return self.binned(Scheme(binning, bins)).to_frame()

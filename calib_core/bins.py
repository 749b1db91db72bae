"""What is summed in each bin?  Pairs → sums, from which every metric of answers is read.

Into which bin a confidence falls is decided in `edges` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from calib_core.edges import (
    FINEST_BINS,
    Binning,
    Floats,
    Scheme,
    bin_by_rank,
    bin_of,
)

# MERGED binned: How may confidences be put into bins, and what does one such way give?

SAME_VALUE_TOLERANCE: Final = 1e-6
"""Confidences that spread no farther, beside their mean, are one value."""


@dataclass(frozen=True, slots=True, eq=False)
class Binned:
    """The non-empty bins of one scheme, one entry a bin, sorted by (group, bin).

    group: class of the bin (0 where classes are pooled); index: bin from 0; low, high: edges for
    equal width, else the smallest and largest confidence in the bin; count: pairs; correct: Σy;
    confidence: Σc; squared: Σc²; confident_correct: Σcy. Shape (non-empty bins,) each.
    """

    scheme: Scheme
    group: NDArray[np.int32]
    index: NDArray[np.intp]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]
    confidence: NDArray[np.float64]
    squared: NDArray[np.float64]
    confident_correct: NDArray[np.float64]

    @property
    def size(self) -> int:
        """Number of non-empty bins."""
        return self.count.size

    @property
    def absolute_gap(self) -> NDArray[np.float64]:
        """|Σy − Σc| of each bin: what every binned metric here sums."""
        return np.abs(self.correct - self.confidence)

    @property
    def has_single_value(self) -> NDArray[np.bool_]:
        """Whether all confidences of a bin are one value, to a millionth of it: told by their spread."""
        mean = self.confidence / self.count
        return self.squared / self.count - mean**2 <= (SAME_VALUE_TOLERANCE * mean) ** 2

    def with_outcomes(self, correct: NDArray[np.int64], confident_correct: NDArray[np.float64]) -> Binned:
        """The same bins with other outcomes; written out, as it is asked for in every draw of a null."""
        return Binned(
            self.scheme,
            self.group,
            self.index,
            self.low,
            self.high,
            self.count,
            correct,
            self.confidence,
            self.squared,
            confident_correct,
        )

    def coarsened(self, scheme: Scheme) -> Binned:
        """The bins of another equal-width scheme whose M divides this one's: bins nest (decision 0001)."""
        index = self.index // (self.scheme.bins // scheme.bins)
        key = self.group * np.int64(scheme.bins) + index
        start = np.flatnonzero(np.diff(key, prepend=-1))
        index, add = index[start], np.add.reduceat
        return Binned(
            scheme=scheme,
            group=self.group[start],
            index=index,
            low=index / scheme.bins,
            high=(index + 1) / scheme.bins,
            count=add(self.count, start),
            correct=add(self.correct, start),
            confidence=add(self.confidence, start),
            squared=add(self.squared, start),
            confident_correct=add(self.confident_correct, start),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row a non-empty bin: bin (from 1), low, high, count, confidence and accuracy (means)."""
        return pl.DataFrame(
            {
                "bin": self.index + 1,
                "low": self.low,
                "high": self.high,
                "count": self.count,
                "confidence": self.confidence / self.count,
                "accuracy": self.correct / self.count,
            }
        )


class Sums(Protocol):
    """What a metric is read off, however its pairs are kept (`bins.BinSums`, `tokens.grid.Grid`)."""

    @property
    def rows(self) -> int:
        """Questions or positions, which metrics of all classes divide by."""
        ...

    @property
    def groups(self) -> int:
        """K where classes are kept apart, else 1."""
        ...

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        ...

    @property
    def n_correct(self) -> int:
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
    def log_loss(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        ...

    @property
    def impossible(self) -> int:
        """Pairs with y = 1 and c = 0."""
        ...

    def binned(self, scheme: Scheme) -> Binned:
        """The non-empty bins; raises Unavailable for a scheme that these sums do not serve."""
        ...

    def pooled(self) -> Sums:
        """The same pairs with all classes in one group."""
        ...

    def natural_bins(self) -> Binned:
        """One bin per distinct confidence; raises Unavailable where those are not kept."""
        ...


# MERGED cells: Which distinct confidences occur, and how many pairs and right outcomes has each?
#
# No confidence is compared with an edge here: that is `bins`.


@dataclass(frozen=True, slots=True, eq=False)
class DistinctConfidences:
    """One cell per distinct stored confidence and class, sorted by (group, width, value), read-only.

    value: the confidence, float64, exactly as stored; width: bytes of its stored dtype (2, 4, 8);
    group: class of the pair; count: pairs; correct: Σy. All of shape (cells,).
    """

    value: NDArray[np.float64]
    itemsize: NDArray[np.uint8]
    group: NDArray[np.int32]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]

    @property
    def n_pairs(self) -> int:
        """Number of pairs in all cells."""
        return int(self.count.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² over the pairs: ≥ 0, since no large sums are subtracted from one another."""
        right = self.correct * (1 - self.value) ** 2
        wrong = (self.count - self.correct) * self.value**2
        return float((right + wrong).sum())

    @property
    def log_loss(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        hit = (self.correct > 0) & (self.value > 0)
        return _log_loss_sum(self.value[hit], self.correct[hit])

    @property
    def impossible(self) -> int:
        """Pairs with y = 1 and c = 0."""
        return int(self.correct[self.value == 0].sum())


@dataclass(frozen=True, slots=True, eq=False)
class RawPairs:
    """Pairs as they were given: confidence in its stored dtype, outcome, class (None: all of one class)."""

    confidence: Floats
    correct: NDArray[np.bool_]
    group: NDArray[np.int32] | None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.confidence.size

    @property
    def log_loss(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        right = self.confidence[self.correct].astype(np.float64)
        right = right[right > 0]
        return _log_loss_sum(right, np.ones(right.size, np.int64))

    @property
    def impossible(self) -> int:
        """Pairs with y = 1 and c = 0."""
        return int(np.count_nonzero(self.confidence[self.correct] == 0))

    def distinct(self) -> DistinctConfidences:
        """Added up by distinct confidence: the one thing here that sorts."""
        c = self.confidence
        return _aggregate_distinct(
            DistinctConfidences(
                value=c.astype(np.float64),
                itemsize=np.full(c.shape, c.dtype.itemsize, np.uint8),
                group=np.zeros(c.shape, np.int32) if self.group is None else self.group,
                count=np.ones(c.shape, np.int64),
                correct=self.correct.astype(np.int64),
            )
        )


def _log_loss_sum(confidence: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """−Σ times · ln c, added up in order of c, so that the order of pairs changes no bit of it."""
    levels, level = np.unique(confidence, return_inverse=True)
    # From 0.0 downward, so that certainty everywhere gives 0 and not -0.
    return 0.0 - float((np.bincount(level, counts, minlength=levels.size) * np.log(levels)).sum())


def validate_pairs(
    confidence: ArrayLike, correct: ArrayLike, group: ArrayLike | None, groups: int
) -> RawPairs:
    """A private copy of the pairs; raises ValueError where they are none (see `BinSums.from_pairs`)."""
    c, y = np.array(confidence), np.asarray(correct)
    if c.dtype.kind != "f" or c.dtype.itemsize > 8:
        c = c.astype(np.float64)
    if c.ndim != 1 or c.shape != y.shape:
        raise ValueError(f"confidence and correct: two lists of one length, not {c.shape} and {y.shape}")
    if not bool(np.all((c >= 0) & (c <= 1))):
        raise ValueError("a confidence is a number from 0 to 1")
    if not bool(np.all((y == 0) | (y == 1))):
        raise ValueError("an outcome is 0 or 1")
    of = None if group is None else np.array(group, np.int32)
    if of is not None and (of.shape != c.shape or bool(np.any((of < 0) | (of >= groups)))):
        raise ValueError(f"a class is one whole number a pair, from 0 to {groups - 1}")
    c += c.dtype.type(0)  # -0.0 is 0
    return RawPairs(c, y.astype(np.bool_), of)


def merge_distinct(parts: Sequence[DistinctConfidences]) -> DistinctConfidences:
    """The cells of all parts together; their order changes nothing."""
    return _aggregate_distinct(
        DistinctConfidences(
            value=np.concatenate([part.value for part in parts]),
            itemsize=np.concatenate([part.itemsize for part in parts]),
            group=np.concatenate([part.group for part in parts]),
            count=np.concatenate([part.count for part in parts]),
            correct=np.concatenate([part.correct for part in parts]),
        )
    )


def pool_classes(distinct: DistinctConfidences) -> DistinctConfidences:
    """The same pairs with all classes in one group."""
    group = np.zeros_like(distinct.group)
    return _aggregate_distinct(
        DistinctConfidences(distinct.value, distinct.itemsize, group, distinct.count, distinct.correct)
    )


def segment_starts(*keys: NDArray[Any]) -> NDArray[np.intp]:
    """Where each run of equal keys begins; keys of one shape (n,), sorted."""
    new = np.ones(keys[0].shape, np.bool_)
    if new.size:
        new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(new)


def _aggregate_distinct(distinct: DistinctConfidences) -> DistinctConfidences:
    """The same sums with one cell a key (group, width, value), sorted and read-only."""
    order = np.argsort(distinct.value, kind="stable")
    for key in (distinct.itemsize, distinct.group):
        if key.size and key.min() != key.max():
            order = order[np.argsort(key[order], kind="stable")]
    value, width, group = distinct.value[order], distinct.itemsize[order], distinct.group[order]
    start = segment_starts(value, width, group)
    added = DistinctConfidences(
        value=value[start],
        itemsize=width[start],
        group=group[start],
        count=np.add.reduceat(distinct.count[order], start),
        correct=np.add.reduceat(distinct.correct[order], start),
    )
    for array in (added.value, added.itemsize, added.group, added.count, added.correct):
        array.flags.writeable = False
    return added


# MERGED adding: How are pairs added up into bins?  Unsorted in one pass, or cell by cell once they are sorted.

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


MAX_NATURAL_BINS: Final = 64
"""Natural bins are offered up to this many distinct confidences."""

_CANCELLATION_LIMIT: Final = 1e-4
"""A mean squared error that is smaller is added up from its own terms."""


@dataclass(frozen=True, eq=False)
class BinSums:
    """The additive state behind every metric of answers.

    source: the pairs as given, or already added up by distinct confidence; equal-width bins need no
    more than one pass over the pairs, all else asks for `cells`. rows: questions the pairs come from,
    which is what metrics over all classes divide by; groups: number of classes; computed: whether the
    values were computed here (ties are then judged to 12 decimals) or stored in a file.
    """

    source: RawPairs | DistinctConfidences
    rows: int
    groups: int = 1
    computed: bool = False

    @classmethod
    def from_pairs(
        cls,
        confidence: ArrayLike,
        correct: ArrayLike,
        *,
        group: ArrayLike | None = None,
        rows: int | None = None,
        groups: int = 1,
        computed: bool = False,
    ) -> BinSums:
        """Sums of pairs (confidence in [0, 1], correct in {0, 1}), both of shape (n,).

        float16, float32 and float64 keep their dtype, anything else is read as float64. group: class
        0..groups-1 of each pair, shape (n,); rows: n unless the pairs of one question are several.
        Raises ValueError for shapes that differ, a confidence outside [0, 1] or NaN, an outcome that
        is neither 0 nor 1, or a class outside 0..groups-1.
        """
        given = validate_pairs(confidence, correct, group, groups)
        return cls(given, given.n_pairs if rows is None else rows, groups, computed)

    def merge(self, other: BinSums) -> BinSums:
        """The sums of both parts together; the order of parts changes nothing."""
        return BinSums(
            merge_distinct([self.distinct, other.distinct]),
            self.rows + other.rows,
            max(self.groups, other.groups),
            self.computed or other.computed,
        )

    def pooled(self) -> BinSums:
        """The same pairs with all classes in one group."""
        if self.groups == 1:
            return self
        source = self.source
        one = replace(source, group=None) if isinstance(source, RawPairs) else pool_classes(source)
        return replace(self, source=one, groups=1)

    @cached_property
    def distinct(self) -> DistinctConfidences:
        """One cell per distinct stored confidence and class."""
        return self.source if isinstance(self.source, DistinctConfidences) else self.source.distinct()

    @property
    def value(self) -> NDArray[np.float64]:
        """The confidence of each cell, shape (cells,), exactly as stored."""
        return self.distinct.value

    @property
    def itemsize(self) -> NDArray[np.uint8]:
        """Bytes of the dtype each cell's confidence was stored in: 2, 4 or 8."""
        return self.distinct.itemsize

    @property
    def group(self) -> NDArray[np.int32]:
        """Class of each cell."""
        return self.distinct.group

    @property
    def count(self) -> NDArray[np.int64]:
        """Pairs in each cell."""
        return self.distinct.count

    @property
    def correct(self) -> NDArray[np.int64]:
        """Σy of each cell."""
        return self.distinct.correct

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.source.n_pairs

    @property
    def n_correct(self) -> int:
        """Σ y."""
        return int(self.source.correct.sum())

    @property
    def confidence_sum(self) -> float:
        """Σ c, added up bin by bin, as the bins are."""
        return float(self._finest_bins.confidence.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)²."""
        fine = self._finest_bins
        error = float((fine.squared - 2 * fine.confident_correct).sum()) + self.n_correct
        # What is left of such sums once they cancel is exact enough, unless next to nothing is left.
        return error if error > _CANCELLATION_LIMIT * self.n_pairs else self.distinct.squared_error_sum

    @property
    def log_loss(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        return self.source.log_loss

    @property
    def impossible(self) -> int:
        """Pairs with y = 1 and c = 0."""
        return self.source.impossible

    def natural_bins(self) -> Binned:
        """One bin per distinct confidence of all groups together, ties judged as `computed` says."""
        return self.binned(Scheme("natural"))

    def binned(self, scheme: Scheme) -> Binned:
        """The non-empty bins; equal width per class, natural and equal-mass bins over all pairs."""
        if scheme.binning == "width" and FINEST_BINS % scheme.bins == 0:
            return self._finest_bins.coarsened(scheme)
        binned = self._last_binned.get(scheme)
        if binned is None:
            binned = self._compute_bins(scheme)
            self._last_binned.clear()
            self._last_binned[scheme] = binned
        return binned

    @cached_property
    def _last_binned(self) -> dict[Scheme, Binned]:
        """The bins last asked for: a number, its recipe and its diagram ask for the same ones in turn."""
        return {}

    @cached_property
    def _finest_bins(self) -> Binned:
        """The finest bins, from which every M that divides FINEST is added up without the pairs."""
        return self._compute_bins(Scheme("width", FINEST_BINS))

    def _compute_bins(self, scheme: Scheme) -> Binned:
        source = self.source
        if isinstance(source, RawPairs) and one_pass_is_faster(source, scheme, self.groups):
            return bins_in_one_pass(source, scheme, self.groups)
        return bins_from_distinct(self.distinct, scheme, self.bin_index(scheme))

    def bin_index(self, scheme: Scheme) -> NDArray[np.intp]:
        """Bin of each of `cells`, numbered as in `binned`."""
        if scheme.binning == "width":
            return equal_width_index(self.distinct, scheme.bins)
        return bin_by_rank(self.distinct.value, self.distinct.count, scheme, round_ties=self.computed)

    def table(self, bins: int = 10, binning: Binning = "width") -> pl.DataFrame:
        """One row a non-empty bin: bin, low, high, count, confidence, accuracy (means)."""
        return self.binned(Scheme(binning, bins)).to_frame()

"""Into which bin does a confidence fall, and what is summed there?

The only module that compares a confidence with an edge. Conventions: spec of the three papers'
defaults in decisions/0001 (right-closed bins), 0002 (stored dtype) and 0003 (equal mass and ties).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from calib_core.binned import BINNINGS, MAX_BINS, Binned, Binning, Scheme

__all__ = [
    "BINNINGS", "MAX_BINS", "MAX_NATURAL", "TIE_DECIMALS", "BinSums", "Binned", "Binning", "Floats", "Scheme",
    "assign", "bin_of",
]

MAX_NATURAL: Final = 64
"""Natural bins are offered up to this many distinct confidences."""

TIE_DECIMALS: Final = 12
"""Computed confidences that agree to this many decimals are tied."""

Floats: TypeAlias = NDArray[np.floating[Any]]


def bin_of(confidence: Floats, bins: int) -> NDArray[np.intp]:
    """Bin 0..bins-1 of each confidence: bin m (from 0) is (m/M, (m+1)/M], and c = 0 is in the first.

    The quotient is one correct rounding of m/M, so bins of M nest in those of kM; 1e-12 forgives the
    rounding of a computed confidence; the cast lets a stored float32 0.3 fall where 3/10 falls.
    """
    edges = (np.arange(1, bins) / bins + 1e-12).astype(confidence.dtype)
    return np.searchsorted(edges, confidence, side="left")


def assign(confidence: Floats, scheme: Scheme, *, computed: bool = False) -> NDArray[np.intp]:
    """Bin 0.. of each confidence under any scheme, numbered as in `BinSums.binned`."""
    if scheme.binning == "width":
        return bin_of(confidence, scheme.bins)
    value = confidence.astype(np.float64)
    return _bin_by_rank(value, np.ones(value.shape, np.int64), scheme, computed=computed)


def _bin_by_rank(
    value: NDArray[np.float64], count: NDArray[np.int64], scheme: Scheme, *, computed: bool
) -> NDArray[np.intp]:
    """Bin 0.. of each value, `count` rows each. Natural: one a level; equal mass: ⌈M·r/n⌉ from 1.

    r = rows whose confidence is no greater, n = all rows: whole numbers, so ties are never cut.
    """
    tied = np.round(value, TIE_DECIMALS) if computed else value
    levels, level = np.unique(tied, return_inverse=True)
    if scheme.binning == "natural":
        return level
    rows = np.zeros(levels.size, np.int64)
    np.add.at(rows, level, count)
    up_to_here = np.cumsum(rows)
    return (-(-scheme.bins * up_to_here // up_to_here[-1:]) - 1).astype(np.intp)[level]


@dataclass(frozen=True, eq=False)
class BinSums:
    """The additive state behind every metric: one cell per distinct stored confidence.

    value: the confidence, float64, exactly as stored; width: bytes of its stored dtype (2, 4, 8);
    group: class of the pair; count: pairs; correct: Σy. All of shape (cells,), sorted by
    (group, width, value). rows: questions the pairs come from, which is what metrics over all
    classes divide by; groups: number of classes; computed: whether the values were computed here
    (ties are then judged to 12 decimals) or stored in a file.
    """

    value: NDArray[np.float64]
    width: NDArray[np.uint8]
    group: NDArray[np.int32]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]
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
        c, y = _checked(confidence, correct)
        of = np.zeros(c.shape, np.int32) if group is None else np.asarray(group, np.int32)
        if of.shape != c.shape or bool(np.any((of < 0) | (of >= groups))):
            raise ValueError(f"a class is one whole number a pair, from 0 to {groups - 1}")
        return _added_up(cls(
            value=c.astype(np.float64) + 0.0,  # -0.0 is 0
            width=np.full(c.shape, c.dtype.itemsize, np.uint8),
            group=of,
            count=np.ones(c.shape, np.int64),
            correct=y.astype(np.int64),
            rows=c.size if rows is None else rows,
            groups=groups,
            computed=computed,
        ))

    def merge(self, other: BinSums) -> BinSums:
        """The sums of both parts together; the order of parts changes nothing."""
        return _added_up(BinSums(
            value=np.concatenate([self.value, other.value]),
            width=np.concatenate([self.width, other.width]),
            group=np.concatenate([self.group, other.group]),
            count=np.concatenate([self.count, other.count]),
            correct=np.concatenate([self.correct, other.correct]),
            rows=self.rows + other.rows,
            groups=max(self.groups, other.groups),
            computed=self.computed or other.computed,
        ))

    def pooled(self) -> BinSums:
        """The same pairs with all classes in one group."""
        if self.groups == 1:
            return self
        return _added_up(replace(self, group=np.zeros_like(self.group), groups=1))

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())

    def levels(self) -> Binned:
        """One bin per distinct confidence of all groups together, ties judged as `computed` says."""
        return self.binned(Scheme("natural"))

    def binned(self, scheme: Scheme) -> Binned:
        """The non-empty bins; equal width per class, natural and equal-mass bins over all pairs."""
        if scheme.binning == "width" and MAX_BINS % scheme.bins == 0:
            return self._finest.coarser(scheme)
        binned = self._latest.get(scheme)
        if binned is None:
            binned = self._binned(scheme)
            self._latest.clear()
            self._latest[scheme] = binned
        return binned

    @cached_property
    def _latest(self) -> dict[Scheme, Binned]:
        """The bins last asked for: a number, its recipe and its diagram ask for the same ones in turn."""
        return {}

    @cached_property
    def _finest(self) -> Binned:
        """The finest bins, from which every M that divides MAX_BINS is added up without the cells."""
        return self._binned(Scheme("width", MAX_BINS))

    def _binned(self, scheme: Scheme) -> Binned:
        fixed = scheme.binning == "width"
        if fixed:
            index = self._fixed_bins(scheme.bins)
        else:
            index = _bin_by_rank(self.value, self.count, scheme, computed=self.computed)
        group = self.group if fixed else np.zeros_like(self.group)
        key = group * np.int64(scheme.bins) + index
        order = np.argsort(key, kind="stable")  # nearly always in order already: linear
        value, count, correct = self.value[order], self.count[order], self.correct[order]
        start = _starts(key[order])
        index = index[order][start]
        add = np.add.reduceat  # adds floats pairwise, so a million of them keep 1e-12
        return Binned(
            scheme=scheme,
            group=group[order][start],
            index=index,
            low=index / scheme.bins if fixed else np.minimum.reduceat(value, start),
            high=(index + 1) / scheme.bins if fixed else np.maximum.reduceat(value, start),
            count=add(count, start),
            correct=add(correct, start),
            confidence=add(value * count, start),
            squared=add(value * value * count, start),
            confident_correct=add(value * correct, start),
        )

    def table(self, bins: int = 10, binning: Binning = "width") -> pl.DataFrame:
        """One row a non-empty bin: bin, low, high, count, confidence, accuracy (means)."""
        return self.binned(Scheme(binning, bins)).to_frame()

    def _fixed_bins(self, bins: int) -> NDArray[np.intp]:
        """Equal-width bin of each cell, judged in the dtype its value was stored in."""
        index = np.empty(self.value.shape, np.intp)
        for width in (2, 4, 8):
            same = self.width == width
            index[same] = bin_of(self.value[same].astype(f"f{width}"), bins)
        return index


def _checked(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    c, y = np.asarray(confidence), np.asarray(correct)
    if c.dtype.kind != "f" or c.dtype.itemsize > 8:
        c = c.astype(np.float64)
    if c.ndim != 1 or c.shape != y.shape:
        raise ValueError(f"confidence and correct: two lists of one length, not {c.shape} and {y.shape}")
    if not bool(np.all((c >= 0) & (c <= 1))):
        raise ValueError("a confidence is a number from 0 to 1")
    if not bool(np.all((y == 0) | (y == 1))):
        raise ValueError("an outcome is 0 or 1")
    return c, y


def _starts(*keys: NDArray[Any]) -> NDArray[np.intp]:
    """Where each run of equal keys begins; keys of one shape (n,), sorted."""
    new = np.ones(keys[0].shape, np.bool_)
    if new.size:
        new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(new)


def _added_up(sums: BinSums) -> BinSums:
    """The same sums with one cell a key (group, width, value), sorted and read-only."""
    order = np.argsort(sums.value, kind="stable")
    for key in (sums.width, sums.group):
        if key.size and key.min() != key.max():
            order = order[np.argsort(key[order], kind="stable")]
    value, width, group = sums.value[order], sums.width[order], sums.group[order]
    start = _starts(value, width, group)
    cells = {
        "value": value[start],
        "width": width[start],
        "group": group[start],
        "count": np.add.reduceat(sums.count[order], start),
        "correct": np.add.reduceat(sums.correct[order], start),
    }
    for array in cells.values():
        array.flags.writeable = False
    return replace(sums, **cells)

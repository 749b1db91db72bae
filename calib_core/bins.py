"""What is summed in each bin?  Pairs → sums, from which every metric of answers is read.

Into which bin a confidence falls is decided in `edges` and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from calib_core.adding import bins_from_distinct, one_pass_is_faster, bins_in_one_pass, equal_width_index
from calib_core.binned import BINNINGS, FINEST_BINS, MAX_BINS, Binned, Binning, Scheme
from calib_core.cells import DistinctConfidences, Floats, RawPairs, validate_pairs, merge_distinct, pool_classes
from calib_core.edges import TIE_DECIMALS, assign_bins, bin_by_rank, bin_of

__all__ = [
    "BINNINGS", "MAX_BINS", "MAX_NATURAL", "TIE_DECIMALS", "BinSums", "Binned", "Binning", "Floats", "Scheme",
    "assign", "bin_of",
]

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

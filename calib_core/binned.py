"""How may confidences be put into bins, and what does one such way give?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

Binning = Literal["width", "mass", "natural"]
BINNINGS: Final[tuple[Binning, ...]] = ("width", "mass", "natural")
MAX_BINS: Final = 1000
"""The largest M somebody may choose."""

FINEST_BINS: Final = 3000
"""Equal-width bins that sums are first made in: they serve every M that divides it, without the pairs."""

SAME_VALUE_TOLERANCE: Final = 1e-6
"""Confidences that spread no farther, beside their mean, are one value."""


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
            self.scheme, self.group, self.index, self.low, self.high, self.count, correct, self.confidence,
            self.squared, confident_correct,
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
        return pl.DataFrame({
            "bin": self.index + 1,
            "low": self.low,
            "high": self.high,
            "count": self.count,
            "confidence": self.confidence / self.count,
            "accuracy": self.correct / self.count,
        })


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

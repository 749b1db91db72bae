"""Which sums does a token-level run keep, cell by cell?

Cells are so many equal-width bins: `bins.bin_of(confidence, CELLS)` puts a confidence into one, and the
bins of every M that divides CELLS are whole numbers of them. Spec, section 1: (n, Y, C, Σc², Σcy).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.edges import FINEST_BINS, MAX_BINS, Scheme
from calib_core.errors import Unavailable

GRID_CELLS: Final = FINEST_BINS
"""Cells between 0 and 1: they serve the paper's seven M, and 15 too."""

SERVED_BINS: Final = tuple(bins for bins in range(1, MAX_BINS + 1) if GRID_CELLS % bins == 0)
"""Every M that can be read off the grid."""


def nearest_served_bins(bins: int) -> int:
    """The served M nearest to this one, the smaller of two."""
    return min(SERVED_BINS, key=lambda served: (abs(served - bins), served))


def unserved_reason(scheme: Scheme) -> str | None:
    """Why this grid cannot give such bins, or None."""
    if scheme.binning != "width":
        bins = "equal-mass bins" if scheme.binning == "mass" else "natural bins"
        return (
            f"Token-level sums are kept on a fixed grid of {GRID_CELLS:,} cells: "
            f"{bins} need every single confidence."
        )
    if GRID_CELLS % scheme.bins:
        return (
            f"M={scheme.bins} cannot be read off a grid of {GRID_CELLS:,} cells, which serves every M that "
            f"divides it; the nearest is {nearest_served_bins(scheme.bins)}."
        )
    return None


@dataclass(frozen=True, eq=False)
class GridSums:
    """Sums of pairs (c, y) on the grid, of one group or of one group a class; cells that occur only.

    group: class of the cell, int32 (0 where classes are pooled); cell: 0..CELLS-1, int32; sorted by
    (group, cell). count: pairs, int64; correct: Σy, int64; confidence: Σc; squared: Σc²;
    confident_correct: Σcy, float64. Shape (cells that occur,) each. By class `squared` is NaN: nothing
    that is read off the classes needs it. rows: positions; groups: K, or 1 where pooled. log_loss:
    Σ −ln p_y over the positions with p_y > 0 (nats); impossible: positions with p_y = 0; both only where
    all classes of a row are pooled, else 0.
    """

    group: NDArray[np.int32]
    cell: NDArray[np.int32]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]
    confidence: NDArray[np.float64]
    squared: NDArray[np.float64]
    confident_correct: NDArray[np.float64]
    rows: int
    groups: int = 1
    log_loss: float = 0.0
    impossible: int = 0

    @classmethod
    def empty(cls, groups: int = 1) -> GridSums:
        """No pairs at all."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        ids = np.zeros(0, np.int32)
        return cls(ids, ids, whole, whole, real, real, real, rows=0, groups=groups)

    def merge(self, other: GridSums) -> GridSums:
        """The sums of both parts together; the order of parts changes nothing but the last bit."""
        joined = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("group", "cell", "count", "correct", "confidence", "squared", "confident_correct")
        }
        return replace(
            _aggregate_cells(replace(self, **joined)),
            rows=self.rows + other.rows,
            groups=max(self.groups, other.groups),
            log_loss=self.log_loss + other.log_loss,
            impossible=self.impossible + other.impossible,
        )

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())

    @property
    def n_correct(self) -> int:
        """Σ y over all pairs."""
        return int(self.correct.sum())

    @property
    def confidence_sum(self) -> float:
        """Σ c over all pairs."""
        return float(self.confidence.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² over all pairs."""
        return max(0.0, float((self.squared - 2 * self.confident_correct).sum()) + self.n_correct)

    def pooled(self) -> GridSums:
        """Itself: sums by class are kept beside the pooled ones, which know more (`TokenSums.all`)."""
        if self.groups > 1:
            raise ValueError("sums by class are not pooled: TokenSums.all is")
        return self

    def natural_bins(self) -> Binned:
        """Raises Unavailable: the grid does not keep distinct confidences."""
        raise Unavailable(unserved_reason(Scheme("natural")) or "")

    def binned(self, scheme: Scheme) -> Binned:
        """The non-empty bins of a scheme the grid serves; raises Unavailable for another."""
        if reason := unserved_reason(scheme):
            raise Unavailable(reason)
        if not self.count.size:
            return self._finest_bins
        return self._finest_bins.coarsened(scheme)

    @cached_property
    def _finest_bins(self) -> Binned:
        return Binned(
            scheme=Scheme("width", GRID_CELLS),
            group=self.group,
            index=self.cell.astype(np.intp),
            low=self.cell / GRID_CELLS,
            high=(self.cell + 1) / GRID_CELLS,
            count=self.count,
            correct=self.correct,
            confidence=self.confidence,
            squared=self.squared,
            confident_correct=self.confident_correct,
        )


def _aggregate_cells(grid: GridSums) -> GridSums:
    """The same sums with one entry a (group, cell), sorted and read-only."""
    key = grid.group * np.int64(GRID_CELLS) + grid.cell
    order = np.argsort(key, kind="stable")
    key = key[order]
    start = np.flatnonzero(np.diff(key, prepend=-1))
    added: dict[str, NDArray[Any]] = {
        name: np.add.reduceat(getattr(grid, name)[order], start) if key.size else getattr(grid, name)
        for name in ("count", "correct", "confidence", "squared", "confident_correct")
    }
    kept = {"group": grid.group[order][start], "cell": grid.cell[order][start], **added}
    for array in kept.values():
        array.flags.writeable = False
    return replace(grid, **kept)

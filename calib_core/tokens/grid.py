"""The fixed grid of equal-width cells on which a token-level run keeps its sums.

`bin_of(confidence, GRID_CELLS)` puts a confidence into its cell. For every M that divides GRID_CELLS, a bin
consists of whole cells. Each cell keeps n, Σy, Σc, Σc² and Σcy.
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
"""Number of cells in [0, 1]; it serves the seven M of the Full-ECE paper, and 15."""

SERVED_BINS: Final = tuple(bins for bins in range(1, MAX_BINS + 1) if GRID_CELLS % bins == 0)
"""Every M for which the grid yields bins."""

_SUMMED_ARRAYS: Final = ("count", "correct", "confidence", "squared_confidence", "correct_confidence")
"""The arrays of `GridSums` that are added up where cells are merged."""


def nearest_served_bins(bins: int) -> int:
    """The served M nearest to `bins`; the smaller of two equally near ones.

    Examples
    --------
    >>> nearest_served_bins(17)
    15
    """
    return min(SERVED_BINS, key=lambda served: (abs(served - bins), served))


def unserved_reason(scheme: Scheme) -> str | None:
    """Why the grid cannot yield these bins; None where it can."""
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
    """Sums of pairs (c, y) in the occupied cells, pooled over the classes or by class.

    Arrays have one element per occupied cell, sorted by (group, cell).

    Attributes
    ----------
    group : NDArray[np.int32]
        Class of the cell; 0 where classes are pooled.
    cell : NDArray[np.int32]
        Cell, in 0..GRID_CELLS − 1.
    count : NDArray[np.int64]
        Number of pairs.
    correct : NDArray[np.int64]
        Σy.
    confidence : NDArray[np.float64]
        Σc.
    squared_confidence : NDArray[np.float64]
        Σc²; NaN by class, where no metric needs it.
    correct_confidence : NDArray[np.float64]
        Σcy.
    n_rows : int
        Number of positions.
    n_groups : int
        K, or 1 where classes are pooled.
    log_loss_sum : float
        Σ −ln p_y (nats) over the positions with p_y > 0; 0 unless all classes are pooled.
    n_infinite_losses : int
        Number of positions with p_y = 0; 0 unless all classes are pooled.
    """

    group: NDArray[np.int32]
    cell: NDArray[np.int32]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]
    confidence: NDArray[np.float64]
    squared_confidence: NDArray[np.float64]
    correct_confidence: NDArray[np.float64]
    n_rows: int
    n_groups: int = 1
    log_loss_sum: float = 0.0
    n_infinite_losses: int = 0

    def merge(self, other: GridSums) -> GridSums:
        """The sums of both parts; the order of the parts affects at most the last bit."""
        n_cells, here, there = positions_in_union(_cell_keys(self), _cell_keys(other))
        merged: dict[str, NDArray[Any]] = {}
        for name in ("group", "cell", *_SUMMED_ARRAYS):
            first, second = getattr(self, name), getattr(other, name)
            values = np.zeros(n_cells, first.dtype)
            values[here] = first
            values[there] = second if name in {"group", "cell"} else values[there] + second
            values.flags.writeable = False
            merged[name] = values
        return replace(
            self,
            **merged,
            n_rows=self.n_rows + other.n_rows,
            n_groups=max(self.n_groups, other.n_groups),
            log_loss_sum=self.log_loss_sum + other.log_loss_sum,
            n_infinite_losses=self.n_infinite_losses + other.n_infinite_losses,
        )

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())

    @property
    def n_correct(self) -> int:
        """Σy over all pairs."""
        return int(self.correct.sum())

    @property
    def confidence_sum(self) -> float:
        """Σc over all pairs."""
        return float(self.confidence.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ(c − y)² over all pairs."""
        return max(0.0, float((self.squared_confidence - 2 * self.correct_confidence).sum()) + self.n_correct)

    def pooled(self) -> GridSums:
        """The grid itself, which is pooled already.

        Raises
        ------
        ValueError
            For sums by class; `TokenSums.all_labels` has the pooled ones, which know more.
        """
        if self.n_groups > 1:
            raise ValueError("sums by class are not pooled: TokenSums.all_labels is")
        return self

    def natural_bins(self) -> Binned:
        """Raises Unavailable, since the grid does not keep distinct confidences."""
        raise Unavailable(unserved_reason(Scheme("natural")) or "")

    def binned(self, scheme: Scheme) -> Binned:
        """The non-empty bins of a scheme. Raises Unavailable for a scheme that the grid does not serve."""
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
            numbers=self.cell.astype(np.intp),
            count=self.count,
            correct=self.correct,
            confidence=self.confidence,
            sum_products=lambda: self.correct_confidence,
            sum_squares=lambda: self.squared_confidence,
        )


def _cell_keys(grid: GridSums) -> NDArray[np.int64]:
    """The cells of all classes, ascending."""
    return grid.group * np.int64(GRID_CELLS) + grid.cell


def positions_in_union(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
    """Where the elements of two arrays lie among those of both.

    Parameters
    ----------
    first, second : NDArray[np.int64]
        Each ascending, without repeats.

    Returns
    -------
    n : int
        Size of the union.
    of_first, of_second : NDArray[np.intp]
        Positions in the union, which is ascending.

    Examples
    --------
    >>> n, of_first, of_second = positions_in_union(np.array([2, 5, 9]), np.array([1, 5]))
    >>> n, of_first.tolist(), of_second.tolist()
    (4, [1, 2, 3], [0, 2])
    """
    joined = np.concatenate([first, second])
    order = np.argsort(joined, kind="stable")  # which merges two ascending arrays in one pass
    joined = joined[order]
    is_new = np.ones(joined.shape, np.bool_)
    is_new[1:] = joined[1:] != joined[:-1]
    position = np.empty(joined.shape, np.intp)
    position[order] = np.cumsum(is_new) - 1
    return int(np.count_nonzero(is_new)), position[: first.size], position[first.size :]

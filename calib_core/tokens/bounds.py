"""Bounds of Full-ECE where a file stores only the k largest probabilities of each position.

Full-ECE is exact for every M at which no unstored probability can lie outside the first bin, and an interval
for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.tokens.grid import GRID_CELLS, SERVED_BINS
from calib_core.tokens.sums import TokenSums, UnstoredBounds
from calib_core.wording import ROUNDING_TOLERANCE


@dataclass(frozen=True, slots=True, eq=False)
class UnstoredMass:
    """The unstored probability of positions that lack at least two classes; shape (n,) each.

    Attributes
    ----------
    mass : NDArray[np.float64]
        Probability r that the unstored classes of a position share.
    max_prob : NDArray[np.float64]
        Upper bound u of each unstored probability.
    cell : NDArray[np.intp]
        Grid cell of u.
    n_classes : NDArray[np.int64]
        Number of unstored classes.
    n_stored : NDArray[np.int64]
        Number of stored entries.
    """

    mass: NDArray[np.float64]
    max_prob: NDArray[np.float64]
    cell: NDArray[np.intp]
    n_classes: NDArray[np.int64]
    n_stored: NDArray[np.int64]

    def to_bounds(self) -> UnstoredBounds | None:
        """The additive form for every served M; None where there are no such positions."""
        if not self.mass.size:
            return None
        order = np.argsort(-self.cell, kind="stable")
        ordered = UnstoredMass(
            self.mass[order],
            self.max_prob[order],
            self.cell[order],
            self.n_classes[order],
            self.n_stored[order],
        )
        by_bins = {bins: ordered._bounds_for(bins) for bins in SERVED_BINS}
        return UnstoredBounds(
            n_ambiguous={bins: count for bins, (count, _) in by_bins.items()},
            mass_bounds={bins: mass for bins, (_, mass) in by_bins.items()},
            min_stored=int(self.n_stored.min()),
        )

    def _bounds_for(self, bins: int) -> tuple[int, NDArray[np.float64]]:
        """Number of ambiguous positions, and the bounds A_j for j = 1..M.

        A_j bounds the unstored mass that can lie in bin j. As n unstored probabilities above (j−1)/M need
        more than n(j−1)/M of the mass r, n is at most ⌈rM/(j−1)⌉ − 1; each of them is at most u. Positions
        must be in descending order of `cell`.
        """
        highest_bin = self.cell // (GRID_CELLS // bins)
        # Positions whose u lies in bin 2 or above, in bin 3 or above, and so on.
        n_reaching = np.searchsorted(-highest_bin, -np.arange(1, bins), side="right")
        mass = np.zeros(bins)
        ambiguous = int(n_reaching[0]) if bins > 1 else 0
        mass[0] = self.mass[:ambiguous].sum()
        for j in range(1, int(np.count_nonzero(n_reaching)) + 1):
            r, u = self.mass[: n_reaching[j - 1]], self.max_prob[: n_reaching[j - 1]]
            max_count = np.maximum(np.ceil((r - ROUNDING_TOLERANCE) * bins / j) - 1, 1)
            mass[j] = np.minimum(r, np.minimum(max_count, self.n_classes[: r.size]) * u).sum()
        mass.flags.writeable = False
        return ambiguous, mass


def largest_exact_bins(sums: TokenSums) -> int:
    """The largest served M such that Full-ECE is exact at it and at every smaller one.

    At least 2, as an unstored probability is no larger than a stored one and so at most 1/2.
    """
    unstored = sums.unstored
    if unstored is None:
        return SERVED_BINS[-1]
    *_, last = takewhile(lambda bins: not unstored.n_ambiguous[bins], SERVED_BINS)
    return last


def full_ece_bounds(sums: TokenSums, bins: int) -> tuple[float, float]:
    """Smallest and largest possible value of Full-ECE, given what is stored.

    Valid for every completion of the stored lists. Many completions attain the bounds, but these are not
    always the tightest.

    Parameters
    ----------
    sums : TokenSums
        The sums of a run.
    bins : int
        Number of bins, M.

    Returns
    -------
    low, high : float
        In [0, 2]; equal where Full-ECE is exact.

    Raises
    ------
    Unavailable
        If the grid does not serve this M, or there are no positions.
    """
    binned = sums.all_labels.binned(Scheme("width", bins))
    if not sums.n_rows:
        raise Unavailable("There is no position to speak of.")
    if sums.unstored is None or not sums.unstored.n_ambiguous[bins]:
        value = float(binned.absolute_gap.sum()) / sums.n_rows
        return value, value
    mass = sums.unstored.mass_bounds[bins]
    surplus = np.zeros(bins)
    surplus[binned.index] = binned.correct - binned.confidence
    # The grid counts all unstored mass in its first cell, also that of ambiguous positions.
    surplus[0] += mass[0]
    high = float(np.abs(surplus).sum() + mass[0])
    moved = 0.0
    for gain, limit in zip(np.maximum(surplus, 0.0)[::-1].tolist(), mass[::-1].tolist(), strict=True):
        moved = min(moved + gain, limit)
    return max(0.0, high - 2 * moved) / sums.n_rows, high / sums.n_rows

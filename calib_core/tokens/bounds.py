"""What can be said of Full-ECE where a file stores only the largest entries of each position?

Exact at every M at which nothing unstored can leave the first bin, an interval at the others
(spec, section 7).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.tokens.grid import GRID_CELLS, SERVED_BINS
from calib_core.tokens.sums import TokenSums, UnstoredBounds

_EDGE_TOLERANCE: Final = 1e-12
"""What an edge forgives (`bins.bin_of`): a value above an edge is above it by more than this."""


@dataclass(frozen=True, slots=True, eq=False)
class UnstoredMass:
    """What is not stored of some positions, at least two classes of each; shape (n,) each.

    mass: r, the probability they share, float64; largest: u, which none of them exceeds, float64;
    cell: of the grid in which u lies; classes: how many they are; stored: how many of the k largest
    are stored.
    """

    mass: NDArray[np.float64]
    max_prob: NDArray[np.float64]
    cell: NDArray[np.intp]
    n_classes: NDArray[np.int64]
    n_stored: NDArray[np.int64]

    def to_bounds(self) -> UnstoredBounds | None:
        """The additive form; None where there is no such position."""
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
        each = {bins: ordered._bounds_for(bins) for bins in SERVED_BINS}
        return UnstoredBounds(
            n_ambiguous={bins: count for bins, (count, _) in each.items()},
            mass_bounds={bins: mass for bins, (_, mass) in each.items()},
            min_stored=int(self.n_stored.min()),
        )

    def _bounds_for(self, bins: int) -> tuple[int, NDArray[np.float64]]:
        """Ambiguous positions, and A_j for j = 1..M; positions are in descending order of `cell`.

        n unstored values above (j−1)/M need more than n(j−1)/M of the mass, so n ≤ ⌈rM/(j−1)⌉ − 1.
        """
        top = self.cell // (GRID_CELLS // bins)
        reach = np.searchsorted(-top, -np.arange(1, bins), side="right")  # positions that reach bin j+1
        mass = np.zeros(bins)
        ambiguous = int(reach[0]) if bins > 1 else 0
        mass[0] = self.mass[:ambiguous].sum()
        for j in range(1, int(np.count_nonzero(reach)) + 1):
            r, u = self.mass[: reach[j - 1]], self.max_prob[: reach[j - 1]]
            fit = np.maximum(np.ceil((r - _EDGE_TOLERANCE) * bins / j) - 1, 1)
            mass[j] = np.minimum(r, np.minimum(fit, self.n_classes[: r.size]) * u).sum()
        mass.flags.writeable = False
        return ambiguous, mass


def largest_exact_bins(sums: TokenSums) -> int:
    """The largest served M at which, as at every smaller one, Full-ECE is exact; all where all is stored.

    At least 2: what is not stored is no larger than a stored entry, so it cannot exceed a half.
    """
    unseen = sums.unstored
    if unseen is None:
        return SERVED_BINS[-1]
    *_, last = takewhile(lambda bins: not unseen.n_ambiguous[bins], SERVED_BINS)
    return last


def full_ece_bounds(sums: TokenSums, bins: int) -> tuple[float, float]:
    """The smallest and the largest value Full-ECE may have, in [0, 2]; equal where it is exact.

    Valid for every completion of the stored lists, attained by many, not always the tightest (spec,
    section 7). Raises Unavailable for an M that the grid does not serve, or without positions.
    """
    binned = sums.all_labels.binned(Scheme("width", bins))
    if not sums.rows:
        raise Unavailable("There is no position to speak of.")
    if sums.unstored is None or not sums.unstored.n_ambiguous[bins]:
        value = float(binned.absolute_gap.sum()) / sums.rows
        return value, value
    mass = sums.unstored.mass_bounds[bins]
    surplus = np.zeros(bins)
    surplus[binned.index] = binned.correct - binned.confidence
    surplus[0] += mass[0]  # the grid holds every rest in its first cell, the ambiguous ones too
    high = float(np.abs(surplus).sum() + mass[0])
    saved = 0.0
    for gain, most in zip(np.maximum(surplus, 0.0)[::-1].tolist(), mass[::-1].tolist(), strict=True):
        saved = min(saved + gain, most)
    return max(0.0, high - 2 * saved) / sums.rows, high / sums.rows

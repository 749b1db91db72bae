"""Which bins are farther off than chance explains?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Binned


@dataclass(frozen=True, slots=True, eq=False)
class BinGaps:
    """The gap of each bin, and whether it is larger than chance explains.

    Attributes
    ----------
    over, under : NDArray[np.float64], shape (bins,)
        max(Σ c − Σ y, 0) and max(Σ y − Σ c, 0) of each bin, in pairs.
    limit : NDArray[np.float64], shape (bins,)
        Largest gap of each bin that chance and rounding explain, at 95 % for all bins together.
    rounding : NDArray[np.float64], shape (bins,)
        The part of it that rounding explains.
    clear : NDArray[np.bool_], shape (bins,)
        Whether the gap is larger than that.
    """

    over: NDArray[np.float64]
    under: NDArray[np.float64]
    limit: NDArray[np.float64]
    rounding: NDArray[np.float64]
    clear: NDArray[np.bool_]

    @property
    def clear_over(self) -> NDArray[np.float64]:
        """`over` of the bins that are clearly off, 0 elsewhere."""
        return self.over * self.clear

    @property
    def clear_under(self) -> NDArray[np.float64]:
        """`under` of the bins that are clearly off, 0 elsewhere."""
        return self.under * self.clear


def bin_gaps(binned: Binned, moved: tuple[float, float] = (0.0, 0.0), design_effect: float = 1.0) -> BinGaps:
    """Compare the gap of each bin with what chance explains, at 95 % for all bins together (Bonferroni).

    Parameters
    ----------
    binned : Binned
        Bins of independent pairs, or of clustered ones.
    moved : (float, float)
        How much larger Σ c is at what confidences of exactly 0, and of exactly 1, stand for; see
        `calibration_test.StatedEnd`.
    design_effect : float
        Factor by which clustering inflates the variance, at least 1; see `clusters.design_effect`.

    Notes
    -----
    For exactly right confidences, the gap of a bin has variance Σ c(1 − c). The limit is z·σ with
    Bonferroni's normal quantile z, plus (z² + 2)/6 rows: the Cornish–Fisher term for the largest possible
    skew, and half a row for discreteness. Clusters are treated as single units of `design_effect` pairs, and
    weighted pairs as their effective number. What 0 and 1 stand for moves Σ c of the first and the last bin;
    as it is near 0 or 1, that is also the variance that it adds, or slightly more.
    """
    gap = binned.confidence - binned.correct
    rows_per_weight = np.asarray(binned.effective / binned.count, np.float64)  # 1 without weights
    rounding = np.zeros(binned.n_bins)
    if binned.n_bins:
        rounding[0] += abs(moved[0])
        rounding[-1] += abs(moved[1])
    variance = np.maximum(0.0, binned.confidence - binned.squared_confidence) + rounding
    variance *= rows_per_weight / design_effect
    z = NormalDist().inv_cdf(1 - 0.025 / max(binned.n_bins, 1))
    chance = design_effect * (z * np.sqrt(variance) + (z * z + 2) / 6) / rows_per_weight
    limit = chance + rounding
    return BinGaps(np.maximum(gap, 0.0), np.maximum(-gap, 0.0), limit, rounding, np.abs(gap) > limit)

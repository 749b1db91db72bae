"""How wide is each bin drawn, and how far from it may one click?"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Scheme

MIN_BAR_WIDTH: Final = 0.02
"""A bin of one value is drawn as wide as this, or less where its neighbours are near."""

VISIBLE_BAR_WIDTH: Final = 0.005
"""Nothing but a bin of equal width is drawn narrower: about two pixels of the square."""

CLICK_REACH: Final = 0.03
"""How far beside a narrow bin a click is still taken for it."""

_BarEnds: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


def bar_ends(table: pl.DataFrame, scheme: Scheme) -> _BarEnds:
    """Left and right end of each bar, in [0, 1], shape (bins,) each.

    table: columns low and high, ascending. Equal width: the bin's edges. Else from the smallest to the
    largest confidence in the bin, widened to `LEAST` where that is next to nothing.
    """
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    if scheme.binning == "width" or not low.size:
        return low, high
    middle = (low + high) / 2
    least = np.clip(0.7 * _neighbour_distance(middle), VISIBLE_BAR_WIDTH, MIN_BAR_WIDTH)
    width = np.maximum(high - low, least)
    left = np.clip(middle - width / 2, 0, 1 - width)
    return left, left + width


def click_ends(table: pl.DataFrame, scheme: Scheme) -> _BarEnds:
    """Left and right end of where each bin takes hover and click, shape (bins,) each; none overlap.

    Equal width: the bin's edges. Else half-way to the neighbours, and no farther than `REACH`.
    """
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    if scheme.binning == "width" or not low.size:
        return low, high
    between = (high[:-1] + low[1:]) / 2
    left = np.maximum(low - CLICK_REACH, np.concatenate([[0.0], between]))
    right = np.minimum(high + CLICK_REACH, np.concatenate([between, [1.0]]))
    return left, right


def bins_across(table: pl.DataFrame, scheme: Scheme) -> int:
    """How many bins share the breadth: empty ones of equal width keep their place."""
    return scheme.bins if scheme.binning == "width" else table.height


def place_bars(table: pl.DataFrame, scheme: Scheme) -> pl.DataFrame:
    """The table with x, width (as drawn), at, wide (as hit): the middle and breadth of each bar.

    apart: distance from its middle to the nearest other bar's, infinite for the only one.
    """
    left, right = bar_ends(table, scheme)
    start, end = click_ends(table, scheme)
    return table.with_columns(
        pl.Series("x", (left + right) / 2, dtype=pl.Float64),
        pl.Series("apart", _neighbour_distance((left + right) / 2), dtype=pl.Float64),
        pl.Series("width", right - left, dtype=pl.Float64),
        pl.Series("at", (start + end) / 2, dtype=pl.Float64),
        pl.Series("wide", end - start, dtype=pl.Float64),
    )


def closest_bar_distance(table: pl.DataFrame) -> float:
    """The smallest distance between the middles of two bars of a `placed` table."""
    return min(table["apart"].to_list(), default=np.inf)


def _neighbour_distance(middles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance to the nearest neighbour, shape (n,); middle: ascending."""
    steps = np.concatenate([[np.inf], np.diff(middles), [np.inf]]) if middles.size else np.zeros(1)
    return np.minimum(steps[:-1], steps[1:])

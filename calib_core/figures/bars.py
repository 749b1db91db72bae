"""How does one kind of bar look, and how much detail do so many bars bear?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.figures.layout import LABEL_SIZE, rounded_values
from calib_core.figures.palette import Theme
from calib_core.figures.text import compact_count

# MERGED spans: How wide is each bin drawn, and how far from it may one click?

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


# MERGED labels: Which counts are written on their bars, and which way round?

MAX_LABELLED_BARS: Final = 20
"""Counts are written on so many bars, empty bins of equal width included."""

FLAT_LABEL_DISTANCE: Final = 0.09
"""Middles this far apart leave room for "9,999" on a telephone; nearer, and counts stand upright."""

MIN_LABEL_DISTANCE: Final = 0.035
"""Middles nearer than this leave no room even for upright counts: those are left to the hover."""


def label_angle(table: pl.DataFrame) -> int:
    """0 or -90 degrees, one for all bars of a `placed` table."""
    return 0 if closest_bar_distance(table) > FLAT_LABEL_DISTANCE else -90


def label_headroom(table: pl.DataFrame) -> float:
    """Height of the axis over that of the tallest bar, so that its count fits in."""
    return 1.5 if label_angle(table) else 1.28


def count_labels(table: pl.DataFrame, theme: Theme, angle: int) -> dict[str, Any]:
    """What a trace of `bars` takes to have its counts above it."""
    return {
        "text": [
            compact_count(count) if apart > MIN_LABEL_DISTANCE else ""
            for count, apart in table.select("count", "apart").iter_rows()
        ],
        "textposition": "outside",
        "textangle": angle,
        "constraintext": "none",
        "cliponaxis": False,
        "textfont": {"size": LABEL_SIZE, "color": theme.text},
        "unselected": {"marker": {"opacity": 1}, "textfont": {"color": theme.text}},
    }


FADED_OPACITY: Final = 0.4
"""Opacity of what stands on few rows."""


@dataclass(frozen=True, slots=True)
class BarDetail:
    """What can be seen at so many bins.

    edge: pixels of page between bars; hatch: whether gaps are hatched (one SVG pattern a bar), else
    over-confident is a full and under-confident a pale colour; outline: pixels around a gap; cap,
    whisker, point: half width of whisker ends, thickness and marker size in pixels.
    """

    edge_width: float
    hatched: bool
    outline_width: float
    whisker_cap: int
    whisker_width: float
    point_size: float


def bar_detail(n_bins: int) -> BarDetail:
    """The detail that `bins` bins across the square bear."""
    if n_bins >= 100:
        return BarDetail(
            edge_width=0, hatched=False, outline_width=0, whisker_cap=0, whisker_width=0.6, point_size=2.5
        )
    if n_bins >= 50:
        return BarDetail(
            edge_width=0.5, hatched=True, outline_width=1, whisker_cap=0, whisker_width=1, point_size=4
        )
    if n_bins > 20:
        return BarDetail(
            edge_width=0.8, hatched=True, outline_width=1.2, whisker_cap=2, whisker_width=1.1, point_size=5.5
        )
    return BarDetail(
        edge_width=1, hatched=True, outline_width=1.5, whisker_cap=4, whisker_width=1.4, point_size=7.5
    )


def split_thin_bins(table: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, float]]:
    """The bins on enough rows with opacity 1, always; then the thin ones faded, where there are any."""
    yield table.filter(~pl.col("thin")), 1.0
    thin = table.filter("thin")
    if thin.height:
        yield thin, FADED_OPACITY


def bar_trace(table: pl.DataFrame, height: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """One trace of bars `height` (a column) tall where `placed` put them; deaf to hover and click.

    A trace without bars keeps one empty place, so that its entry stays in the legend. The selection
    that plotly makes of a click changes nothing: the page outlines the bin itself.
    """
    drawn: dict[str, Any] = {
        "type": "bar",
        "x": rounded_values(table["x"]) or [None],
        "y": rounded_values(table[height]) or [None],
        "width": _common_value(rounded_values(table["width"])),
        "hoverinfo": "skip",
        "showlegend": False,
        "unselected": {"marker": {"opacity": 1}},
    }
    return drawn | options


def hover_targets(table: pl.DataFrame, height: str, hover_texts: list[str], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """What hover and click meet: one unseen bar a bin, hit anywhere in its column.

    words: what the hover says of each bin, as plotly's HTML (a template would bring the axis' label
    with it). customdata: the bin's number alone.
    """
    return bar_trace(
        table.with_columns(x="at", width="wide"),
        height,
        opacity=0,
        hoverinfo="text",
        hovertext=hover_texts,
        customdata=[[bin_] for bin_ in table["bin"]],
        **options,
    )


def solid_bar_marker(theme: Theme, colour: str, detail: BarDetail) -> dict[str, Any]:
    """A full bar with a hair of page around it, or a hair of itself where that would be a seam."""
    line = (
        {"color": theme.background, "width": detail.edge_width}
        if detail.edge_width
        else {"color": colour, "width": 0.5}
    )
    return {"color": colour, "line": line}


def _common_value(widths: list[float | None]) -> float | list[float | None] | None:
    return widths[0] if len(set(widths)) == 1 else widths or None

"""Bars of reliability diagrams and histograms: their width, click areas, labels and level of detail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.figures.layout import LABEL_SIZE, halo, significant_values
from calib_core.figures.palette import Theme
from calib_core.wording import compact_count

# --- Widths of bars and of click areas ---------------------------------------------------------------------

MIN_BAR_WIDTH: Final = 0.02
"""Width of a bar whose bin holds a single value, in units of confidence; less beside close neighbours."""

VISIBLE_BAR_WIDTH: Final = 0.005
"""The least width of a bar, about two pixels of the square. Equal-width bins may be narrower."""

CLICK_REACH: Final = 0.03
"""How far beside a narrow bin a click still selects it, in units of confidence."""

_BarEnds: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


def bar_ends(table: pl.DataFrame, scheme: Scheme) -> _BarEnds:
    """Left and right end of each bar as it is drawn.

    A bar of an equal-width bin spans the bin's edges. Any other spans the confidences in its bin, widened to
    at most `MIN_BAR_WIDTH` where these are (nearly) equal.

    Parameters
    ----------
    table : pl.DataFrame
        One row per bin, ascending, with the columns `low` and `high`.
    scheme : Scheme
        How the bins were formed.

    Returns
    -------
    left, right : NDArray[np.float64], shape (n_bins,)
        Both in [0, 1].
    """
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    if scheme.binning == "width" or not low.size:
        return low, high
    middle = (low + high) / 2
    min_width = np.clip(0.7 * _neighbour_distance(middle), VISIBLE_BAR_WIDTH, MIN_BAR_WIDTH)
    width = np.maximum(high - low, min_width)
    left = np.clip(middle - width / 2, 0, 1 - width)
    return left, left + width


def click_ends(table: pl.DataFrame, scheme: Scheme) -> _BarEnds:
    """Left and right end of the area in which hover and click select each bin; no two areas overlap.

    For an equal-width bin these are its edges, for any other the points half-way to its neighbours, but no
    farther than `CLICK_REACH` from the bin.

    Parameters
    ----------
    table : pl.DataFrame
        One row per bin, ascending, with the columns `low` and `high`.
    scheme : Scheme
        How the bins were formed.

    Returns
    -------
    left, right : NDArray[np.float64], shape (n_bins,)
        Both in [0, 1].
    """
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    if scheme.binning == "width" or not low.size:
        return low, high
    midpoints = (high[:-1] + low[1:]) / 2
    left = np.maximum(low - CLICK_REACH, np.concatenate([[0.0], midpoints]))
    right = np.minimum(high + CLICK_REACH, np.concatenate([midpoints, [1.0]]))
    return left, right


def bins_across(table: pl.DataFrame, scheme: Scheme) -> int:
    """How many bins share the width of the panel: empty bins of equal width keep their place."""
    return scheme.bins if scheme.binning == "width" else table.height


def place_bars(table: pl.DataFrame, scheme: Scheme) -> pl.DataFrame:
    """Add the positions of bars to a table of bins.

    Parameters
    ----------
    table : pl.DataFrame
        One row per bin, ascending, with the columns `low` and `high`.
    scheme : Scheme
        How the bins were formed.

    Returns
    -------
    pl.DataFrame
        The table with five more Float64 columns, in units of confidence: `x` and `width`, the middle and
        width of each bar; `hit_x` and `hit_width`, those of its click area; `spacing`, the distance from its
        middle to that of the nearest other bar, infinite for an only bar.
    """
    left, right = bar_ends(table, scheme)
    start, end = click_ends(table, scheme)
    return table.with_columns(
        pl.Series("x", (left + right) / 2, dtype=pl.Float64),
        pl.Series("spacing", _neighbour_distance((left + right) / 2), dtype=pl.Float64),
        pl.Series("width", right - left, dtype=pl.Float64),
        pl.Series("hit_x", (start + end) / 2, dtype=pl.Float64),
        pl.Series("hit_width", end - start, dtype=pl.Float64),
    )


def closest_bar_distance(table: pl.DataFrame) -> float:
    """The smallest distance between the middles of two bars of a table from `place_bars`."""
    return min(table["spacing"].to_list(), default=np.inf)


def _neighbour_distance(middles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of each middle (ascending) to its nearest neighbour, shape (n,)."""
    steps = np.concatenate([[np.inf], np.diff(middles), [np.inf]]) if middles.size else np.zeros(1)
    return np.minimum(steps[:-1], steps[1:])


# --- Counts written on bars --------------------------------------------------------------------------------

MAX_LABELLED_BARS: Final = 20
"""Counts are written on at most this many bars, empty bins of equal width included."""

FLAT_LABEL_DISTANCE: Final = 0.09
"""Bars whose middles are farther apart leave room for "9,999" on a phone; otherwise labels are vertical."""

MIN_LABEL_DISTANCE: Final = 0.035
"""Bars closer than this have no room even for upright labels: only the hover shows their counts."""


def label_angle(table: pl.DataFrame) -> int:
    """Angle of the counts in degrees, 0 or -90: the same for all bars of a table from `place_bars`."""
    return 0 if closest_bar_distance(table) > FLAT_LABEL_DISTANCE else -90


def label_headroom(table: pl.DataFrame) -> float:
    """Ratio of the axis' height to that of the tallest bar, so that its count fits above it."""
    return 1.5 if label_angle(table) else 1.28


def count_labels(table: pl.DataFrame, theme: Theme, angle: int) -> dict[str, Any]:
    """Options for `bar_trace` that write each bar's count above it."""
    return {
        "text": [
            compact_count(count) if spacing > MIN_LABEL_DISTANCE else ""
            for count, spacing in table.select("count", "spacing").iter_rows()
        ],
        "textposition": "outside",
        "textangle": angle,
        "constraintext": "none",
        "cliponaxis": False,
        "textfont": {"size": LABEL_SIZE, "color": theme.text, "shadow": halo(theme)},
        "unselected": {"marker": {"opacity": 1}, "textfont": {"color": theme.text}},
    }


# --- Level of detail ---------------------------------------------------------------------------------------

FADED_OPACITY: Final = 0.4
"""Opacity of marks that rest on few rows."""


@dataclass(frozen=True, slots=True)
class BarDetail:
    """Sizes of the parts of a diagram, which shrink as the number of bins grows. All lengths are in pixels.

    Attributes
    ----------
    edge_width : float
        Thickness of the line in the page's colour that separates bars; 0 for none.
    hatched : bool
        Whether gaps are hatched, which takes one SVG pattern per bar. If not, over-confident gaps have the
        full colour and under-confident ones a pale colour.
    outline_width : float
        Thickness of a gap's outline.
    whisker_cap : int
        Half the width of a whisker's caps.
    whisker_width : float
        Thickness of a whisker.
    point_size : float
        Diameter of a marker.
    """

    edge_width: float
    hatched: bool
    outline_width: float
    whisker_cap: int
    whisker_width: float
    point_size: float


def bar_detail(n_bins: int) -> BarDetail:
    """The level of detail for this number of bins across the square."""
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
    """Split the bins into those on enough rows and thin ones, each part with its opacity.

    The first part, with opacity 1, always comes, even if empty; the thin bins come only if there are any.
    """
    yield table.filter(~pl.col("thin")), 1.0
    thin = table.filter("thin")
    if thin.height:
        yield thin, FADED_OPACITY


# --- Traces ------------------------------------------------------------------------------------------------


def bar_trace(table: pl.DataFrame, height: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """One trace of bars, which ignores hover and click.

    Parameters
    ----------
    table : pl.DataFrame
        Bins with positions, from `place_bars`.
    height : str
        The column that holds the bars' heights.
    **options
        Keys of plotly's trace, which override the defaults here.

    Notes
    -----
    A trace without bars keeps one empty place, so that its entry stays in the legend. Plotly's own selection
    on click changes nothing: the page outlines the selected bin itself.
    """
    trace: dict[str, Any] = {
        "type": "bar",
        "x": significant_values(table["x"]) or [None],
        "y": significant_values(table[height]) or [None],
        "width": _common_value(significant_values(table["width"])),
        "hoverinfo": "skip",
        "showlegend": False,
        "unselected": {"marker": {"opacity": 1}},
    }
    return trace | options


def hover_targets(table: pl.DataFrame, height: str, hover_texts: list[str], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """An invisible bar per bin that receives hover and click for the whole click area.

    Parameters
    ----------
    table : pl.DataFrame
        Bins with positions, from `place_bars`.
    height : str
        The column that holds the bars' heights.
    hover_texts : list[str]
        One for each bin, as plotly's HTML (a template would add the axis' label).
    **options
        Keys of plotly's trace.

    Notes
    -----
    Each row of `customdata` holds the bin's number alone.
    """
    return bar_trace(
        table.with_columns(x="hit_x", width="hit_width"),
        height,
        opacity=0,
        hoverinfo="text",
        hovertext=hover_texts,
        customdata=[[bin_] for bin_ in table["bin"]],
        **options,
    )


def solid_bar_marker(theme: Theme, colour: str, detail: BarDetail) -> dict[str, Any]:
    """The marker of a solid bar, with a thin outline in the page's colour.

    Where there are too many bars for it, the outline has the bar's own colour, to close the seams between
    bars.
    """
    line = (
        {"color": theme.background, "width": detail.edge_width}
        if detail.edge_width
        else {"color": colour, "width": 0.5}
    )
    return {"color": colour, "line": line}


def _common_value(widths: list[float | None]) -> float | list[float | None] | None:
    """The width that all bars share as one number, else the list, or None where there are no bars."""
    return widths[0] if len(set(widths)) == 1 else widths or None

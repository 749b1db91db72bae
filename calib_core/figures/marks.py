"""Marks that several figures share: lines of metrics, bands, error bars, medians, selection rings.

On figures with several metrics and runs, colour and dash stand for the metric and the symbol for the run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import polars as pl

from calib_core.figures.layout import legend_entry, rounded_values, silent_trace
from calib_core.figures.palette import Theme, with_opacity
from calib_core.metrics import METRICS
from calib_core.results.comparison import MetricEstimate
from calib_core.results.robustness import SWEPT_METRICS

_METRIC_DASHES: Final = ("solid", "7px,4px", "2px,3px", "8px,3px,2px,3px", "12px,4px")

BAND_OPACITY: Final = 0.16
"""Opacity of a null band, so that what lies under it shows."""


def metric_line_style(metric: str, theme: Theme) -> dict[str, Any]:
    """Plotly's `line` of a registered metric, the same on every page."""
    index = sorted(METRICS, key=lambda id_: id_ not in SWEPT_METRICS).index(metric)  # swept metrics first
    colours = theme.series_colours
    return {
        "color": colours[index % len(colours)],
        "width": 2.4,
        # Moves on by one more with each round of the colours, so that no pair of the two comes back.
        "dash": _METRIC_DASHES[(index + index // len(colours)) % len(_METRIC_DASHES)],
    }


def band_trace(
    x: list[float],
    low: list[float],
    high: list[float],
    colour: str,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """A pale area from `low` to `high` along `x`, which ignores hover and click.

    A single x, which encloses no area, becomes a short vertical bar.
    """
    shared = {"hoverinfo": "skip", "showlegend": False, **options}
    if len(x) == 1:
        return {
            "type": "scatter",
            "mode": "markers",
            "x": x,
            "y": [(low[0] + high[0]) / 2],
            "marker": {"size": 0.1, "color": colour},
            "error_y": {
                "type": "data",
                "array": [(high[0] - low[0]) / 2],
                "width": 0,
                "thickness": 14,
                "color": with_opacity(colour, BAND_OPACITY),
            },
            **shared,
        }
    outline = pl.Series([*low, *reversed(high)], dtype=pl.Float64)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, *reversed(x)],
        "y": rounded_values(outline, 7),
        "line": {"width": 0, "color": colour},
        "fill": "toself",
        "fillcolor": with_opacity(colour, BAND_OPACITY),
        **shared,
    }


def band_legend_entry(
    theme: Theme, suffix: str = "", model: str = "calibrated model", colours: Collection[str] = ()
) -> dict[str, Any]:
    """The legend entry of null bands.

    Parameters
    ----------
    theme : Theme
    suffix : str
        Names their run where they are drawn for one run only.
    model : str
        What the bands are of.
    colours : Collection[str]
        Those of the bands. The entry has their colour if they share one, and is grey otherwise.
    """
    line = {"color": next(iter(colours)) if len(set(colours)) == 1 else theme.muted_text, "width": 9}
    return legend_entry(f"{model}: 5–95 %{suffix}", "lines", line=line, opacity=0.35)


def error_bars(
    estimates: Sequence[MetricEstimate], colour: str, *, width: float, thickness: float
) -> dict[str, Any]:
    """Plotly's error bars along each estimate's interval; of length 0 where there is none.

    Parameters
    ----------
    estimates : Sequence[MetricEstimate]
        One for each point, in the trace's order.
    colour : str
        "#RRGGBB" or "rgba(…)".
    width, thickness : float
        Half the width of the caps and the thickness of the line, in pixels.
    """
    return {
        "type": "data",
        "symmetric": False,
        "width": width,
        "thickness": thickness,
        "color": colour,
        "array": [
            0 if estimate.high is None else round(max(0.0, estimate.high - estimate.value), 7)
            for estimate in estimates
        ],
        "arrayminus": [
            0 if estimate.low is None else round(max(0.0, estimate.value - estimate.low), 7)
            for estimate in estimates
        ],
    }


def selection_ring(x: float, y: float, theme: Theme) -> dict[str, Any]:
    """A ring around the selected point, which ignores hover and click."""
    return silent_trace(
        "markers",
        [x],
        [y],
        cliponaxis=False,
        marker={
            "size": 19,
            "symbol": "circle-open",
            "color": theme.highlight_outline,
            "line": {"color": theme.highlight_outline, "width": 3},
        },
        unselected={"marker": {"opacity": 1}},
    )


def median_line(x: list[float], median: list[float], colour: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """The thin line of the null's median, which ignores hover and click."""
    return silent_trace("lines", x, median, line={"color": colour, "width": 1.2, "dash": "dot"}, **options)

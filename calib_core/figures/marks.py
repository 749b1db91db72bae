"""How is the line of one metric told from another's, and what does a point or a band look like?

Colour and dash say the metric, the symbol says the run (`run_look`): on every figure that has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from calib_core.figures.layout import legend_entry, rounded_values
from calib_core.figures.palette import Theme, with_opacity
from calib_core.metrics import METRICS
from calib_core.results.comparison import MetricEstimate
from calib_core.results.robustness import SWEPT_METRICS

_METRIC_DASHES: Final = ("solid", "7px,4px", "2px,3px", "8px,3px,2px,3px", "12px,4px")

BAND_OPACITY: Final = 0.16
"""How strong a null band is drawn: what lies under it shows."""


def metric_line_style(metric: str, theme: Theme) -> dict[str, Any]:
    """Colour, width and dash of a metric's line: the same on every page."""
    place = sorted(METRICS, key=lambda id_: id_ not in SWEPT_METRICS).index(metric)  # those swept first
    return {
        "color": theme.series_colours[place % len(theme.series_colours)],
        "width": 2.4,
        "dash": _METRIC_DASHES[(place + place // len(_METRIC_DASHES)) % len(_METRIC_DASHES)],
    }


def band_trace(
    x: list[float],
    low: list[float],
    high: list[float],
    colour: str,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """A pale area from low to high along x, deaf to hover and click; a single point becomes a short bar."""
    common = {"hoverinfo": "skip", "showlegend": False, **options}
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
            **common,
        }
    around = pl.Series([*low, *reversed(high)], dtype=pl.Float64)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, *reversed(x)],
        "y": rounded_values(around, 7),
        "line": {"width": 0, "color": colour},
        "fill": "toself",
        "fillcolor": with_opacity(colour, BAND_OPACITY),
        **common,
    }


def band_legend_entry(theme: Theme, suffix: str = "") -> dict[str, Any]:
    """What a null's band is, for the legend. whose: it is, where not everybody's."""
    line = {"color": theme.muted_text, "width": 9}
    return legend_entry(f"if calibrated: 5–95 %{suffix}", "lines", line=line, opacity=0.35)


def error_bars(
    estimates: Sequence[MetricEstimate], colour: str, *, width: float, thickness: float
) -> dict[str, Any]:
    """From the lower to the upper end of each interval, where there is one. width, thickness: in pixels."""
    return {
        "type": "data",
        "symmetric": False,
        "width": width,
        "thickness": thickness,
        "color": colour,
        "array": [0 if one.high is None else round(max(0.0, one.high - one.value), 7) for one in estimates],
        "arrayminus": [
            0 if one.low is None else round(max(0.0, one.value - one.low), 7) for one in estimates
        ],
    }


def selection_ring(x: float, y: float, theme: Theme) -> dict[str, Any]:
    """A ring around the chosen point, deaf to hover and click."""
    return {
        "type": "scatter",
        "mode": "markers",
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
        "x": [x],
        "y": [y],
        "marker": {
            "size": 19,
            "symbol": "circle-open",
            "color": theme.highlight_outline,
            "line": {"color": theme.highlight_outline, "width": 3},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def median_line(x: list[float], median: list[float], colour: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """The thin line of a null's median, deaf to hover and click."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": median,
        "hoverinfo": "skip",
        "showlegend": False,
        "line": {"color": colour, "width": 1.2, "dash": "dot"},
        **options,
    }

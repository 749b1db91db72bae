"""How is the line of one metric told from another's, and what does a point or a band look like?

Colour and dash say the metric, the symbol says the run (`run_look`): on every figure that has both.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.analysis.sweep import SWEPT
from calib_core.figures.layout import numbers
from calib_core.figures.theme import Theme, glaze
from calib_core.metrics import METRICS

_DASHES: Final = ("solid", "7px,4px", "2px,3px", "8px,3px,2px,3px", "12px,4px")
_ORDER: Final = (*SWEPT, *(id_ for id_ in METRICS if id_ not in SWEPT))

BAND: Final = 0.16
"""How strong a null band is drawn: what lies under it shows."""


def metric_line(metric: str, theme: Theme) -> dict[str, Any]:
    """Colour, width and dash of a metric's line: the same on every page."""
    place = _ORDER.index(metric)
    return {
        "color": theme.series[place % len(theme.series)],
        "width": 2.4,
        "dash": _DASHES[(place + place // len(_DASHES)) % len(_DASHES)],
    }


def points(colour: str, symbol: str, theme: Theme, size: float = 8) -> dict[str, Any]:
    """Markers with a hair of page around them, so that two near ones are two."""
    return {"size": size, "symbol": symbol, "color": colour, "line": {"color": theme.page, "width": 1}}


def band(x: list[float], low: list[float], high: list[float], colour: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """A pale area from low to high along x, deaf to hover and click; a single point becomes a short bar."""
    common = {"hoverinfo": "skip", "showlegend": False, **more}
    if len(x) == 1:
        return {
            "type": "scatter", "mode": "markers", "x": x, "y": [(low[0] + high[0]) / 2],
            "marker": {"size": 0.1, "color": colour},
            "error_y": {
                "type": "data", "array": [(high[0] - low[0]) / 2], "width": 0, "thickness": 14,
                "color": glaze(colour, BAND),
            },
            **common,
        }
    around = pl.Series([*low, *reversed(high)], dtype=pl.Float64)
    return {
        "type": "scatter", "mode": "lines", "x": [*x, *reversed(x)], "y": numbers(around, 7),
        "line": {"width": 0, "color": colour}, "fill": "toself", "fillcolor": glaze(colour, BAND), **common,
    }


def middle(x: list[float], median: list[float], colour: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """The thin line of a null's median, deaf to hover and click."""
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": median, "hoverinfo": "skip", "showlegend": False,
        "line": {"color": colour, "width": 1.2, "dash": "dot"}, **more,
    }

"""How much of two metrics is in view, and where do the curves a(1−a) and 1−a run through it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import Measured
from calib_core.figures.layout import axis
from calib_core.figures.theme import Theme, glaze
from calib_core.metrics import METRICS

CONSTANT: Final = "a(1−a): always say a"
CERTAIN: Final = "1−a: always say 1"
"""What stands on the two curves: a is the model's own accuracy."""

_STEPS: Final = 80
_ROOM: Final = 0.07


@dataclass(frozen=True, slots=True)
class View:
    """The part of the two metrics that is drawn: (from, to) of each axis."""

    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, x: float) -> float:
        """Share of the panel's width left of this value."""
        return (x - self.x[0]) / (self.x[1] - self.x[0])

    def down(self, y: float) -> float:
        """Share of the panel's height above this value."""
        return (self.y[1] - y) / (self.y[1] - self.y[0])

    def at(self, across: float, down: float) -> tuple[float, float]:
        """The values at these shares."""
        return (
            self.x[0] + across * (self.x[1] - self.x[0]),
            self.y[1] - down * (self.y[1] - self.y[0]),
        )


def view_of(result: Comparison) -> View:
    """All points with their intervals, and a(1−a) over their accuracies where that is drawn."""
    accuracies = [point.accuracy.value for point in result.points]
    x = _range(result.x, [point.x for point in result.points], ())
    ends = (min(accuracies, default=0.0), max(accuracies, default=1.0))
    curve = [value for _, value in constant(ends)] if result.has_curves else []
    y = _range(result.y, [point.y for point in result.points], curve)
    return View(x, y)


def _range(metric_id: str, own: Sequence[Measured], more: Sequence[float]) -> tuple[float, float]:
    metric = METRICS[metric_id]
    ends = [end for one in own for end in (one.value, one.low, one.high) if end is not None]
    low, high = min([*ends, *more], default=0.0), max([*ends, *more], default=1.0)
    span = high - low or max(abs(high), 0.1)
    low, high = low - _ROOM * span, high + _ROOM * span
    if metric.low is not None:
        low = max(low, metric.low - 0.02 * span)
    if metric.high is not None:
        high = min(high, metric.high + 0.02 * span)
    return low, high


def constant(x: tuple[float, float], finer: int = 1) -> list[tuple[float, float]]:
    """a(1−a) over these accuracies: the Brier score of always saying a. finer: so many points for one."""
    return [(a, a * (1 - a)) for a in _accuracies(x, finer)]


def certain(x: tuple[float, float], finer: int = 1) -> list[tuple[float, float]]:
    """1−a over these accuracies: the Brier score of always saying 1."""
    return [(a, 1 - a) for a in _accuracies(x, finer)]


def _accuracies(x: tuple[float, float], finer: int) -> list[float]:
    low, high = max(x[0], 0.0), min(x[1], 1.0)
    steps = _STEPS * finer
    return [low + (high - low) * at / steps for at in range(steps + 1)]


def axes_of(result: Comparison, view: View, theme: Theme) -> dict[str, Any]:
    """Both axes, with the direction that is better."""
    return {
        "xaxis": _axis(result.x, view.x, theme, standoff=8),
        "yaxis": _axis(result.y, view.y, theme, standoff=None),
    }


def _axis(metric_id: str, ends: tuple[float, float], theme: Theme, standoff: int | None) -> dict[str, Any]:
    metric = METRICS[metric_id]
    better = {"lower": "lower is better", "higher": "higher is better", "zero": "0 is best"}[metric.better]
    form = ".0%" if metric.percent and ends[1] - ends[0] > 0.04 else ".1%"
    return axis(
        theme, f"{metric.title} ({better})", standoff=standoff, range=list(ends), nticks=8,
        tickformat=form if metric.percent else "~g",
    )


def curves(view: View, theme: Theme) -> list[dict[str, Any]]:
    """Both curves, and a pale area below a(1−a), where a confidence tells right from wrong."""
    below, above = constant(view.x), certain(view.x)
    common = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    return [
        {
            **common, "x": [a for a, _ in below], "y": [round(value, 6) for _, value in below],
            "line": {"color": theme.muted, "width": 1.6, "dash": "7px,5px"}, "fill": "tozeroy",
            "fillcolor": glaze(theme.muted, 0.13), "showlegend": False,
        },
        {
            **common, "x": [a for a, _ in above], "y": [round(value, 6) for _, value in above],
            "line": {"color": theme.muted, "width": 1.6, "dash": "2px,3px"}, "showlegend": False,
        },
    ]


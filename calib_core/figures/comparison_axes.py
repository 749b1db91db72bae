"""How much of two metrics is in view, and where do the curves a(1−a) and 1−a run through it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import MetricEstimate
from calib_core.figures.layout import axis
from calib_core.figures.theme import Theme, with_opacity
from calib_core.metrics import METRICS

CONSTANT_CONFIDENCE_LABEL: Final = "a(1−a): always say a"
FULL_CONFIDENCE_LABEL: Final = "1−a: always say 1"
"""What stands on the two curves: a is the model's own accuracy."""

_CURVE_STEPS: Final = 80
_AXIS_PADDING: Final = 0.07


@dataclass(frozen=True, slots=True)
class AxisRanges:
    """The part of the two metrics that is drawn: (from, to) of each axis."""

    x: tuple[float, float]
    y: tuple[float, float]

    def x_fraction(self, x: float) -> float:
        """Share of the panel's width left of this value."""
        return (x - self.x[0]) / (self.x[1] - self.x[0])

    def y_fraction(self, y: float) -> float:
        """Share of the panel's height above this value."""
        return (self.y[1] - y) / (self.y[1] - self.y[0])

    def values_at(self, x_fraction: float, y_fraction: float) -> tuple[float, float]:
        """The values at these shares."""
        return (
            self.x[0] + x_fraction * (self.x[1] - self.x[0]),
            self.y[1] - y_fraction * (self.y[1] - self.y[0]),
        )


def axis_ranges(result: Comparison) -> AxisRanges:
    """All points with their intervals, and a(1−a) over their accuracies where that is drawn."""
    accuracies = [point.accuracy.value for point in result.points]
    x = _padded_range(result.x, [point.x for point in result.points], ())
    ends = (min(accuracies, default=0.0), max(accuracies, default=1.0))
    curve = [value for _, value in constant_confidence_curve(ends)] if result.has_reference_curves else []
    y = _padded_range(result.y, [point.y for point in result.points], curve)
    return AxisRanges(x, y)


def _padded_range(metric_id: str, estimates: Sequence[MetricEstimate], extra: Sequence[float]) -> tuple[float, float]:
    metric = METRICS[metric_id]
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None]
    low, high = min([*ends, *extra], default=0.0), max([*ends, *extra], default=1.0)
    span = high - low or max(abs(high), 0.1)
    low, high = low - _AXIS_PADDING * span, high + _AXIS_PADDING * span
    if metric.low is not None:
        low = max(low, metric.low - 0.02 * span)
    if metric.high is not None:
        high = min(high, metric.high + 0.02 * span)
    return low, high


def constant_confidence_curve(accuracy_range: tuple[float, float], refinement: int = 1) -> list[tuple[float, float]]:
    """a(1−a) over these accuracies: the Brier score of always saying a. finer: so many points for one."""
    return [(a, a * (1 - a)) for a in _accuracies(accuracy_range, refinement)]


def full_confidence_curve(accuracy_range: tuple[float, float], refinement: int = 1) -> list[tuple[float, float]]:
    """1−a over these accuracies: the Brier score of always saying 1."""
    return [(a, 1 - a) for a in _accuracies(accuracy_range, refinement)]


def _accuracies(accuracy_range: tuple[float, float], refinement: int) -> list[float]:
    low, high = max(accuracy_range[0], 0.0), min(accuracy_range[1], 1.0)
    steps = _CURVE_STEPS * refinement
    return [low + (high - low) * at / steps for at in range(steps + 1)]


def comparison_axes(result: Comparison, ranges: AxisRanges, theme: Theme) -> dict[str, Any]:
    """Both axes, with the direction that is better."""
    return {
        "xaxis": _metric_axis(result.x, ranges.x, theme, standoff=8),
        "yaxis": _metric_axis(result.y, ranges.y, theme, standoff=None),
    }


def _metric_axis(metric_id: str, axis_range: tuple[float, float], theme: Theme, standoff: int | None) -> dict[str, Any]:
    metric = METRICS[metric_id]
    better = {"lower": "lower is better", "higher": "higher is better", "zero": "0 is best"}[metric.direction]
    form = ".0%" if metric.shown_in_percent and axis_range[1] - axis_range[0] > 0.04 else ".1%"
    return axis(
        theme, f"{metric.title} ({better})", standoff=standoff, range=list(axis_range), nticks=8,
        tickformat=form if metric.shown_in_percent else "~g",
    )


def reference_curves(ranges: AxisRanges, theme: Theme) -> list[dict[str, Any]]:
    """Both curves, and a pale area below a(1−a), where a confidence tells right from wrong."""
    below, above = constant_confidence_curve(ranges.x), full_confidence_curve(ranges.x)
    common = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    return [
        {
            **common, "x": [a for a, _ in below], "y": [round(value, 6) for _, value in below],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "7px,5px"}, "fill": "tozeroy",
            "fillcolor": with_opacity(theme.muted_text, 0.13), "showlegend": False,
        },
        {
            **common, "x": [a for a, _ in above], "y": [round(value, 6) for _, value in above],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "2px,3px"}, "showlegend": False,
        },
    ]


"""How is it drawn what refusing buys?  Curves of one run → accuracy over share answered, a line a method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.abstention import AbstentionCurve, OperatingPoint
from calib_core.analysis.abstention_reading import target_text, threshold_text
from calib_core.analysis.limits import MIN_ROWS
from calib_core.confidence import METHODS
from calib_core.figures.abstention_levels import accuracy_levels
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    axis,
    legend_names,
    legend_margin,
    empty_trace,
    base_layout,
)
from calib_core.figures.method_look import method_style
from calib_core.figures.strokes import band_trace
from calib_core.figures.text import escape_for_plotly
from calib_core.figures.theme import Theme
from calib_core.wording import format_percent

MAX_LINE_POINTS: Final = 400
"""A line is drawn through so many of its steps at most: numbers are exact all the same."""

_MAX_MARKED_STEPS: Final = 64
"""Up to so many steps have a symbol each: between two of them there is no threshold."""

_SPARSE_MARKERS: Final = 9
"""Else so many stand along the line, only to tell it from the others."""

_PANEL_HEIGHT: Final = 380
_AXIS_TOP: Final = 1.01


def abstention_figure(
    curves: Sequence[AbstentionCurve], theme: Theme, *, target_accuracy: float | None = None, threshold: float | None = None
) -> Figure:
    """Accuracy on the questions answered, over their share, with its 95 % interval where they are not few.

    wanted: an accuracy to draw as a level, with a ring where each line last has it; threshold: one to mark on
    each line with a filled ring. Dotted: the accuracy of answering all.
    """
    low = _axis_bottom(curves, target_accuracy)
    data = [trace for curve in curves for trace in _curve_traces(curve, theme)]
    data += _operating_point_rings(curves, theme, target_accuracy, threshold)
    top, alone = legend_margin(legend_names(data))
    layout = base_layout(theme, height=_PANEL_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=alone)
    shapes, words = accuracy_levels(curves, [one for one in data if "x" in one], theme, target_accuracy, (low, _AXIS_TOP, _PANEL_HEIGHT))
    across = axis(
        theme, "Share of the questions answered", standoff=8, range=[0, 1.005], tickformat=".0%",
        tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
    )
    upward = axis(theme, "Accuracy on those answered", range=[low, _AXIS_TOP], tickformat=".0%", nticks=7)
    layout |= {
        "hovermode": "closest", "xaxis": across, "yaxis": upward, "shapes": shapes, "annotations": words,
    }
    return {"data": data or [empty_trace()], "layout": layout}


def plotted_steps(curve: AbstentionCurve, max_points: int = MAX_LINE_POINTS) -> NDArray[np.intp]:
    """Positions of the steps that are drawn: all, or those next to equally spaced shares, with both ends."""
    size = curve.n_answered.size
    if size <= max_points:
        return np.arange(size)
    near = np.searchsorted(curve.coverage, np.linspace(0, 1, max_points))
    return np.unique(np.clip(near, 0, size - 1))


def _axis_bottom(curves: Sequence[AbstentionCurve], target_accuracy: float | None) -> float:
    """Lower end of the vertical axis: below every accuracy of rows enough, and its interval.

    1 of 1 and 0 of 1 are no news, and do not decide what is in view.
    """
    seen = [1.0 if target_accuracy is None else target_accuracy]
    for curve in curves:
        enough = curve.n_answered >= min(MIN_ROWS, curve.n_used)
        seen += [float(curve.accuracy[enough].min())]
        seen += [float(low) for low in curve.accuracy_interval[0][curve.n_answered >= MIN_ROWS]]
    return max(0.0, math.floor(20 * (min(seen) - 0.01)) / 20)


def _curve_traces(curve: AbstentionCurve, theme: Theme) -> list[dict[str, Any]]:
    """The pale interval of steps that answer enough, and the line through all steps."""
    drawn, at = method_style(curve.method, theme), plotted_steps(curve)
    marked = curve.n_answered.size <= _MAX_MARKED_STEPS
    return [
        *_interval_band(curve, at[curve.n_answered[at] >= MIN_ROWS], drawn.colour),
        {
            "type": "scatter", "mode": "lines+markers", "cliponaxis": False,
            "name": escape_for_plotly(METHODS[curve.method].title), "x": _answered_shares(curve, at),
            "y": [round(float(value), 6) for value in curve.accuracy[at]],
            "line": drawn.line(2),
            "marker": drawn.marker(theme, 8) | {"maxdisplayed": 0 if marked else _SPARSE_MARKERS},
            "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
            "hovertext": [_hover_text(curve, int(place)) for place in at],
        },
    ]


def _interval_band(curve: AbstentionCurve, steps: NDArray[np.intp], colour: str) -> list[dict[str, Any]]:
    if not steps.size:
        return []
    low, high = ([float(value) for value in end[steps]] for end in curve.accuracy_interval)
    return [band_trace(_answered_shares(curve, steps), low, high, colour)]


def _answered_shares(curve: AbstentionCurve, steps: NDArray[np.intp]) -> list[float]:
    return [round(float(value), 6) for value in curve.coverage[steps]]


def _hover_text(curve: AbstentionCurve, step: int) -> str:
    low, high = (float(end[step]) for end in curve.accuracy_interval)
    least = threshold_text(curve.at_step(step).threshold)
    return (
        f"<b>{escape_for_plotly(METHODS[curve.method].title)}</b><br>confidence ≥ {least}"
        f"<br>answered {format_percent(float(curve.coverage[step]))} ({int(curve.n_answered[step]):,})"
        f"<br>right {format_percent(float(curve.accuracy[step]))} ({format_percent(low)} to {format_percent(high)})"
    )


def _operating_point_rings(
    curves: Sequence[AbstentionCurve], theme: Theme, target_accuracy: float | None, threshold: float | None
) -> list[dict[str, Any]]:
    """Where each line last has the wanted accuracy, and where it stands at the threshold."""
    rings: list[dict[str, Any] | None] = []
    if target_accuracy is not None:
        found = [curve.for_accuracy(target_accuracy) for curve in curves]
        rings.append(_ring_trace(found, theme, f"most answered at {target_text(target_accuracy)}", "circle-open"))
    if threshold is not None:
        reached = [curve.at_threshold(threshold) for curve in curves]
        rings.append(_ring_trace(reached, theme, f"confidence ≥ {threshold:g}", "diamond-open"))
    return [ring for ring in rings if ring]


def _ring_trace(
    operating_points: Sequence[OperatingPoint | None], theme: Theme, name: str, symbol: str
) -> dict[str, Any] | None:
    own = [one for one in operating_points if one is not None and one.accuracy is not None]
    if not own:
        return None
    return {
        "type": "scatter", "mode": "markers", "name": escape_for_plotly(name), "hoverinfo": "skip", "cliponaxis": False,
        "x": [one.coverage for one in own], "y": [one.accuracy for one in own],
        "marker": {
            "size": 15, "symbol": symbol, "color": theme.highlight_outline,
            "line": {"color": theme.highlight_outline, "width": 2.5},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def describe_abstention(curves: Sequence[AbstentionCurve]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(
        f"{METHODS[curve.method].title}: accuracy {format_percent(curve.answering_all.accuracy or 0.0)} answering all, "
        f"{_accuracy_at_half(curve)} answering the surer half"
        for curve in curves
    )
    return f"Accuracy over the share of questions answered. {told or 'No curve'}."


def _accuracy_at_half(curve: AbstentionCurve) -> str:
    """The accuracy of the smallest step that answers half of the questions."""
    at = int(np.searchsorted(curve.coverage, 0.5 - 1e-9))
    return format_percent(float(curve.accuracy[min(at, curve.coverage.size - 1)]))

"""Cost per question over the confidence threshold, a line for each confidence method of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from calib_core.figures.abstention import plotted_steps
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    annotation,
    axis,
    base_layout,
    halo,
    horizontal_line,
    legend_margin,
    legend_names,
    silent_trace,
    vertical_line,
)
from calib_core.figures.palette import SeriesStyle, Theme, method_style
from calib_core.figures.text import escape_for_plotly
from calib_core.methods import METHODS
from calib_core.results.threshold_cost import ThresholdCost, format_cost
from calib_core.wording import format_percent, threshold_text

_PANEL_HEIGHT: Final = 320
"""Pixels."""


def threshold_cost_figure(
    found: Sequence[ThresholdCost], theme: Theme, *, threshold: float | None = None
) -> Figure:
    """Cost per question where the model answers from a confidence on, for every confidence.

    A ring marks the lowest cost of each line, a vertical line the threshold that a calibrated confidence
    implies, and a dotted level the cost of handing every question on.

    Parameters
    ----------
    found : Sequence[ThresholdCost]
        One for each method, all of one run and of the same costs.
    theme : Theme
        Colours.
    threshold : float, optional
        A confidence to mark on each line with a diamond.
    """
    methods = [each.curve.method for each in found]
    data = [_line(each, method_style(each.curve.method, theme, methods)) for each in found]
    cheapest = [
        (float(each.curve.threshold[each.cheapest_step]), float(each.cost[each.cheapest_step]))
        for each in found
        if each.cheapest_step is not None
    ]
    data += _marks(cheapest, "cheapest on these rows", "circle-open", theme)
    if threshold is not None:
        chosen = [(threshold, each.cost_at(threshold)) for each in found]
        name = f"{found[0].curve.terms.confidence} ≥ {threshold:g}"
        data += _marks(chosen, name, "diamond-open", theme)
    top, one_per_line = legend_margin(legend_names(data))
    layout = base_layout(
        theme, height=_PANEL_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=one_per_line
    )
    costs, terms = found[0].costs, found[0].curve.terms
    lowest = min(costs.calibrated_threshold, *(float(each.curve.threshold[-1]) for each in found))
    highest = max(costs.handed_on, *(float(each.cost.max()) for each in found))
    font = {"size": 12, "color": theme.muted_text, "shadow": halo(theme)}
    dash: dict[str, Any] = {"color": theme.muted_text, "width": 1.4}
    layout |= {
        "hovermode": "closest",
        "xaxis": axis(
            theme,
            f"{terms.answered.capitalize()} from this {terms.confidence} on",
            standoff=8,
            range=[max(0.0, math.floor(20 * lowest) / 20), 1.005],
            tickformat=".0%",
        ),
        "yaxis": axis(theme, f"Cost per {terms.question}", range=[0, 1.08 * highest or 1.0], nticks=6),
        "shapes": [
            vertical_line(costs.calibrated_threshold, **dash, dash="7px,5px"),
            horizontal_line(costs.handed_on, **dash, dash="2px,3px"),
        ],
        "annotations": [
            annotation(
                theme,
                f"if calibrated: {format_percent(costs.calibrated_threshold)}",
                xref="x", x=costs.calibrated_threshold, yref="y domain", y=0.02, yanchor="bottom",
                xanchor="right" if costs.calibrated_threshold > (1 + lowest) / 2 else "left", font=font,
            ),
            annotation(
                theme,
                f"hand everything on: {format_cost(costs.handed_on)}",
                xref="x domain", x=0.01, yref="y", y=costs.handed_on, yanchor="top", xanchor="left",
                font=font,
            ),
        ],
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _line(found: ThresholdCost, style: SeriesStyle) -> dict[str, Any]:
    """The cost over the threshold: between two confidences it is that of the upper one."""
    curve = found.curve
    steps = plotted_steps(curve)[::-1]  # thresholds ascend
    x, y = curve.threshold[steps], found.cost[steps]
    if x[0] > 0:
        x, y = np.concatenate([[0.0], x]), np.concatenate([[y[0]], y])
    hover = [
        f"<b>{escape_for_plotly(METHODS[curve.method].heading)}</b>"
        f"<br>{curve.terms.confidence} ≥ {threshold_text(round(t, 6))}"
        f"<br>cost per {curve.terms.question} {format_cost(cost)}"
        for t, cost in zip(x.tolist(), y.tolist(), strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape_for_plotly(METHODS[curve.method].heading),
        "x": [round(value, 6) for value in x.tolist()],
        "y": [round(value, 6) for value in y.tolist()],
        "line": style.line(2) | {"shape": "vh"},
        "hoverinfo": "text",
        "hovertext": hover,
    }


def _marks(
    points: Sequence[tuple[float, float]], name: str, symbol: str, theme: Theme
) -> list[dict[str, Any]]:
    if not points:
        return []
    return [
        silent_trace(
            "markers",
            [x for x, _ in points],
            [y for _, y in points],
            cliponaxis=False,
            name=name,
            marker={
                "size": 14,
                "symbol": symbol,
                "color": theme.highlight_outline,
                "line": {"color": theme.highlight_outline, "width": 2.5},
            },
        )
    ]


def describe_threshold_cost(found: Sequence[ThresholdCost]) -> str:
    """Describe the figure for screen readers, as plain text."""
    terms = found[0].curve.terms
    lead = f"Cost per {terms.question} over the threshold of the {terms.confidence}."
    return " ".join((lead, *(each.headline for each in found)))

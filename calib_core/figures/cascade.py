"""Accuracy of a cascade of two models over the share of questions handed on, or over the cost."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from calib_core.figures.abstention import MAX_LINE_POINTS
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    axis,
    base_layout,
    legend_margin,
    legend_names,
)
from calib_core.figures.marks import band_trace
from calib_core.figures.palette import Theme, method_style
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.results.cascade import Cascade, CascadePoint, Costs, format_cost
from calib_core.wording import format_percent, threshold_text

_PANEL_HEIGHT: Final = 320
"""Pixels."""

_MAX_LEGEND_NAME: Final = 36
"""Characters of a legend entry, which fill the width of a phone."""


def cascade_figure(
    found: Cascade, theme: Theme, threshold: float, names: tuple[str, str], costs: Costs | None = None
) -> Figure:
    """Accuracy of the cascade over all thresholds, with each model alone and the chosen threshold.

    Parameters
    ----------
    found : Cascade
    theme : Theme
        Colours.
    threshold : float
        Marked with a diamond.
    names : (str, str)
        What the two runs are called.
    costs : Costs, optional
        Replaces the share handed on by the cost per question.
    """
    style = method_style(found.curve.method, theme)
    steps = np.unique(np.linspace(0, found.n_correct.size - 1, MAX_LINE_POINTS).astype(np.intp))
    second, chosen = found.second_alone, found.at_threshold(threshold)
    # Above all thresholds, everything is handed on.
    points = [second, *(found.at_step(int(step)) for step in steps)]
    x = [point.share_handed if costs is None else costs.cascade(point.share_handed) for point in points]
    everything = "<b>every question handed on</b>"
    data = [
        band_trace(x, [point.low for point in points], [point.high for point in points], style.colour),
        {
            "type": "scatter",
            "mode": "lines",
            "cliponaxis": False,
            "name": "cascade",
            "x": x,
            "y": [point.accuracy for point in points],
            "line": style.line(2),
            "hoverinfo": "text",
            "hovertext": [
                _hover(everything, second, costs),
                *(
                    _hover(f"<b>confidence &lt; {_threshold(found, step)} handed on</b>", point, costs)
                    for step, point in zip(steps, points[1:], strict=True)
                ),
            ],
        },
    ]
    marked = (
        (f"{names[0]} alone", found.first_alone, costs and costs.first, "circle"),
        (f"{names[1]} alone", second, costs and costs.second, "square"),
        (
            f"t = {threshold_text(threshold)}",
            chosen,
            costs and costs.cascade(chosen.share_handed),
            "diamond-open",
        ),
    )
    data += [_mark(name, point, cost, symbol, theme) for name, point, cost, symbol in marked]
    top, one_per_line = legend_margin(legend_names(data))
    layout = base_layout(
        theme, height=_PANEL_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=one_per_line
    )
    x_options: dict[str, Any] = {"range": [-0.02, 1.02], "tickformat": ".0%"}
    if costs is not None:
        x_options = {"range": [0, 1.03 * max([*x, costs.second, costs.first, 1e-9])]}
    title = "Cost per question" if costs else "Share of questions handed on"
    layout |= {
        "hovermode": "closest",
        "xaxis": axis(theme, title, standoff=8, **x_options),
        "yaxis": axis(theme, "Accuracy", tickformat=".1~%", nticks=7),
    }
    return {"data": data, "layout": layout}


def _threshold(found: Cascade, step: int) -> str:
    return threshold_text(found.curve.at_step(int(step)).threshold)


def _hover(title: str, point: CascadePoint, costs: Costs | None) -> str:
    cost = costs and f"<br>cost {format_cost(costs.cascade(point.share_handed))} per question"
    return (
        f"{title}<br>{format_percent(point.share_handed)} of the questions<br>right "
        f"{format_percent(point.accuracy)} ({format_percent(point.low)} to {format_percent(point.high)})"
        f"{cost or ''}"
    )


def _mark(name: str, point: CascadePoint, cost: float | None, symbol: str, theme: Theme) -> dict[str, Any]:
    open_mark = symbol.endswith("open")
    colour = theme.highlight_outline if open_mark else theme.text
    at = f"<br>cost {format_cost(cost)} per question" if cost is not None else ""
    short = escape_for_plotly(truncate_middle(name, _MAX_LEGEND_NAME))
    return {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "name": short,
        "x": [point.share_handed if cost is None else cost],
        "y": [point.accuracy],
        "marker": {
            "symbol": symbol,
            "size": 15 if open_mark else 11,
            "color": colour,
            "line": {"color": colour, "width": 2.5 if open_mark else 0},
        },
        "hoverinfo": "text",
        "hovertext": [f"<b>{short}</b><br>right {format_percent(point.accuracy)}{at}"],
    }


def describe_cascade(found: Cascade, threshold: float, names: tuple[str, str]) -> str:
    """Describe the figure for screen readers, as plain text."""
    point = found.at_threshold(threshold)
    return (
        f"Accuracy of the cascade over the share of questions handed on. {names[0]} alone: "
        f"{format_percent(found.first_alone.accuracy)}; {names[1]} alone: "
        f"{format_percent(found.second_alone.accuracy)}; cascade at t = {threshold_text(threshold)}: "
        f"{format_percent(point.accuracy)}, {format_percent(point.share_handed)} handed on."
    )

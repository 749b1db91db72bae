"""How is one of many reliability diagrams drawn, small enough to stand beside the others?"""

from __future__ import annotations

from typing import Final

from calib_core.analysis.reliability import Reliability
from calib_core.figures.layout import Figure, base_layout, probability_axis
from calib_core.figures.reliability import reliability_figure
from calib_core.figures.theme import Theme

SMALL_FIGURE_HEIGHT: Final = 262
_SMALL_TICKS: Final = {"tickvals": [0, 0.5, 1]}


def small_reliability_figure(result: Reliability, theme: Theme) -> Figure:
    """The square of the reliability diagram alone: same bars, hatches and whiskers, no counts and no legend.

    What the hover says of a bin, its count too, is that of the large diagram.
    """
    whole = reliability_figure(result, theme)
    layout = base_layout(theme, height=SMALL_FIGURE_HEIGHT, top=8)
    layout["margin"] |= {"l": 40, "b": 40, "r": 8}
    axes = {
        "xaxis": probability_axis(
            theme, "Confidence", standoff=4, constrain="domain", constraintoward="left", **_SMALL_TICKS
        ),
        "yaxis": probability_axis(
            theme, "Accuracy", scaleanchor="x", constrain="domain", constraintoward="bottom", **_SMALL_TICKS
        ),
    }
    return {
        "data": [trace | {"showlegend": False} for trace in whole["data"] if trace.get("yaxis") != "y2"],
        "layout": layout | axes | {
            "showlegend": False,
            "shapes": [shape for shape in whole["layout"]["shapes"] if "y2" not in str(shape.get("yref"))],
            "annotations": whole["layout"]["annotations"],
        },
    }

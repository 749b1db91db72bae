"""How is it drawn what refusing buys?  Curves of one run → accuracy over share answered, a line a method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.abstention import Abstention, Answering
from calib_core.analysis.abstention_reading import target_text, threshold_text
from calib_core.analysis.limits import FEW
from calib_core.confidence import METHODS
from calib_core.figures.abstention_levels import levels
from calib_core.figures.layout import (
    BOTTOM,
    Figure,
    axis,
    legend_names,
    legend_room,
    nothing,
    paper,
)
from calib_core.figures.method_look import look
from calib_core.figures.strokes import band
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme
from calib_core.wording import percent

MOST: Final = 400
"""A line is drawn through so many of its steps at most: numbers are exact all the same."""

_MARKED: Final = 64
"""Up to so many steps have a symbol each: between two of them there is no threshold."""

_SHOWN: Final = 9
"""Else so many stand along the line, only to tell it from the others."""

_PANEL: Final = 380
_HIGH: Final = 1.01


def abstention_figure(
    curves: Sequence[Abstention], theme: Theme, *, wanted: float | None = None, threshold: float | None = None
) -> Figure:
    """Accuracy on the questions answered, over their share, with its 95 % interval where they are not few.

    wanted: an accuracy to draw as a level, with a ring where each line last has it; threshold: one to mark on
    each line with a filled ring. Dotted: the accuracy of answering all.
    """
    low = _lowest(curves, wanted)
    data = [trace for curve in curves for trace in _line(curve, theme)]
    data += _rings(curves, theme, wanted, threshold)
    top, alone = legend_room(legend_names(data))
    layout = paper(theme, height=_PANEL + top + BOTTOM, top=top, alone=alone)
    shapes, words = levels(curves, [one for one in data if "x" in one], theme, wanted, (low, _HIGH, _PANEL))
    across = axis(
        theme, "Share of the questions answered", standoff=8, range=[0, 1.005], tickformat=".0%",
        tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
    )
    upward = axis(theme, "Accuracy on those answered", range=[low, _HIGH], tickformat=".0%", nticks=7)
    layout |= {
        "hovermode": "closest", "xaxis": across, "yaxis": upward, "shapes": shapes, "annotations": words,
    }
    return {"data": data or [nothing()], "layout": layout}


def drawn_steps(curve: Abstention, most: int = MOST) -> NDArray[np.intp]:
    """Positions of the steps that are drawn: all, or those next to equally spaced shares, with both ends."""
    size = curve.answered.size
    if size <= most:
        return np.arange(size)
    near = np.searchsorted(curve.share, np.linspace(0, 1, most))
    return np.unique(np.clip(near, 0, size - 1))


def _lowest(curves: Sequence[Abstention], wanted: float | None) -> float:
    """Lower end of the vertical axis: below every accuracy of rows enough, and its interval.

    1 of 1 and 0 of 1 are no news, and do not decide what is in view.
    """
    seen = [1.0 if wanted is None else wanted]
    for curve in curves:
        enough = curve.answered >= min(FEW, curve.n_used)
        seen += [float(curve.accuracy[enough].min())]
        seen += [float(low) for low in curve.interval[0][curve.answered >= FEW]]
    return max(0.0, math.floor(20 * (min(seen) - 0.01)) / 20)


def _line(curve: Abstention, theme: Theme) -> list[dict[str, Any]]:
    """The pale interval of steps that answer enough, and the line through all steps."""
    drawn, at = look(curve.method, theme), drawn_steps(curve)
    marked = curve.answered.size <= _MARKED
    return [
        *_interval(curve, at[curve.answered[at] >= FEW], drawn.colour),
        {
            "type": "scatter", "mode": "lines+markers", "cliponaxis": False,
            "name": plain(METHODS[curve.method].title), "x": _shares(curve, at),
            "y": [round(float(value), 6) for value in curve.accuracy[at]],
            "line": drawn.line(2),
            "marker": drawn.marker(theme, 8) | {"maxdisplayed": 0 if marked else _SHOWN},
            "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
            "hovertext": [_words(curve, int(place)) for place in at],
        },
    ]


def _interval(curve: Abstention, at: NDArray[np.intp], colour: str) -> list[dict[str, Any]]:
    if not at.size:
        return []
    low, high = ([float(value) for value in end[at]] for end in curve.interval)
    return [band(_shares(curve, at), low, high, colour)]


def _shares(curve: Abstention, at: NDArray[np.intp]) -> list[float]:
    return [round(float(value), 6) for value in curve.share[at]]


def _words(curve: Abstention, at: int) -> str:
    low, high = (float(end[at]) for end in curve.interval)
    least = threshold_text(curve.at_step(at).threshold)
    return (
        f"<b>{plain(METHODS[curve.method].title)}</b><br>confidence ≥ {least}"
        f"<br>answered {percent(float(curve.share[at]))} ({int(curve.answered[at]):,})"
        f"<br>right {percent(float(curve.accuracy[at]))} ({percent(low)} to {percent(high)})"
    )


def _rings(
    curves: Sequence[Abstention], theme: Theme, wanted: float | None, threshold: float | None
) -> list[dict[str, Any]]:
    """Where each line last has the wanted accuracy, and where it stands at the threshold."""
    rings: list[dict[str, Any] | None] = []
    if wanted is not None:
        found = [curve.for_accuracy(wanted) for curve in curves]
        rings.append(_ring(found, theme, f"most answered at {target_text(wanted)}", "circle-open"))
    if threshold is not None:
        reached = [curve.at_threshold(threshold) for curve in curves]
        rings.append(_ring(reached, theme, f"confidence ≥ {threshold:g}", "diamond-open"))
    return [ring for ring in rings if ring]


def _ring(
    found: Sequence[Answering | None], theme: Theme, name: str, symbol: str
) -> dict[str, Any] | None:
    own = [one for one in found if one is not None and one.accuracy is not None]
    if not own:
        return None
    return {
        "type": "scatter", "mode": "markers", "name": plain(name), "hoverinfo": "skip", "cliponaxis": False,
        "x": [one.share for one in own], "y": [one.accuracy for one in own],
        "marker": {
            "size": 15, "symbol": symbol, "color": theme.highlight_line,
            "line": {"color": theme.highlight_line, "width": 2.5},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def describe_abstention(curves: Sequence[Abstention]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(
        f"{METHODS[curve.method].title}: accuracy {percent(curve.all.accuracy or 0.0)} answering all, "
        f"{_half(curve)} answering the surer half"
        for curve in curves
    )
    return f"Accuracy over the share of questions answered. {told or 'No curve'}."


def _half(curve: Abstention) -> str:
    """The accuracy of the smallest step that answers half of the questions."""
    at = int(np.searchsorted(curve.share, 0.5 - 1e-9))
    return percent(float(curve.accuracy[min(at, curve.share.size - 1)]))

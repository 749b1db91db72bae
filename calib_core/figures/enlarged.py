"""How is a figure drawn that is read from the back of a room?  With larger letters and lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from calib_core.figures.layout import ALONE, ENTRY, HALF, Figure, legend_names

TIMES: Final = 1.6
_LENGTHS: Final = frozenset(
    {"size", "width", "thickness", "height", "ticklen", "standoff", "yshift", "l", "r", "t", "b"}
)
"""Keys whose numbers are pixels: of letters, points, lines, whiskers, margins and the whole."""


def enlarged(figure: Mapping[str, Any], times: float = TIMES) -> Figure:
    """Letters, points, lines and margins `times` as large, the height by half of that: a screen has an end.

    A bar's width is a part of its axis, and stays.
    """
    layout = cast("dict[str, Any]", _grown(figure["layout"], times))
    layout["height"] = round(figure["layout"]["height"] * (1 + times) / 2)
    shapes = [shape for shape in figure["layout"].get("shapes", ()) if shape.get("showlegend")]
    _stack_legend(layout, len(legend_names(figure["data"])) + len(shapes), times)
    return {"data": [_trace(trace, times) for trace in figure["data"]], "layout": layout}


def _stack_legend(layout: dict[str, Any], entries: int, times: float) -> None:
    """One entry a line, since two of this size are too wide for a narrow window; with room for the lines."""
    if not layout.get("showlegend", True) or layout.get("legend", {}).get("entrywidth") != HALF:
        return
    more = entries // 2 * ENTRY * times
    layout["legend"] = layout["legend"] | {"entrywidth": ALONE}
    layout["margin"] = layout["margin"] | {"t": layout["margin"]["t"] + more}
    layout["height"] = round(layout["height"] + more)


def _trace(trace: Mapping[str, Any], times: float) -> dict[str, Any]:
    grown = cast("dict[str, Any]", _grown(trace, times))
    return grown | {"width": trace["width"]} if trace.get("type") == "bar" and "width" in trace else grown


def _grown(part: object, times: float) -> object:
    """The part with every length in pixels grown; lists are numbers of the data, or parts again."""
    if isinstance(part, Mapping):
        named = cast("Mapping[str, object]", part)
        return {name: _length(name, value, times) for name, value in named.items()}
    if isinstance(part, list):
        parts = cast("list[object]", part)
        several = any(isinstance(one, Mapping) for one in parts)
        return [_grown(each, times) for each in parts] if several else parts
    return part


def _length(name: str, value: object, times: float) -> object:
    if name in _LENGTHS and isinstance(value, int | float) and not isinstance(value, bool):
        return value * times
    return _grown(value, times)

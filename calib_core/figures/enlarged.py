"""How is a figure drawn that is read from the back of a room?  With larger letters and lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from calib_core.figures.layout import FULL_WIDTH_ENTRY, LEGEND_LINE_HEIGHT, HALF_WIDTH_ENTRY, Figure, legend_names

ENLARGEMENT: Final = 1.6
_PIXEL_KEYS: Final = frozenset(
    {"size", "width", "thickness", "height", "ticklen", "standoff", "yshift", "l", "r", "t", "b"}
)
"""Keys whose numbers are pixels: of letters, points, lines, whiskers, margins and the whole."""


def enlarge_figure(figure: Mapping[str, Any], factor: float = ENLARGEMENT) -> Figure:
    """Letters, points, lines and margins `times` as large, the height by half of that: a screen has an end.

    A bar's width is a part of its axis, and stays.
    """
    layout = cast("dict[str, Any]", _enlarge_part(figure["layout"], factor))
    layout["height"] = round(figure["layout"]["height"] * (1 + factor) / 2)
    shapes = [shape for shape in figure["layout"].get("shapes", ()) if shape.get("showlegend")]
    _widen_legend_entries(layout, len(legend_names(figure["data"])) + len(shapes), factor)
    return {"data": [_enlarge_trace(trace, factor) for trace in figure["data"]], "layout": layout}


def _widen_legend_entries(layout: dict[str, Any], entries: int, factor: float) -> None:
    """One entry a line, since two of this size are too wide for a narrow window; with room for the lines."""
    if not layout.get("showlegend", True) or layout.get("legend", {}).get("entrywidth") != HALF_WIDTH_ENTRY:
        return
    more = entries // 2 * LEGEND_LINE_HEIGHT * factor
    layout["legend"] = layout["legend"] | {"entrywidth": FULL_WIDTH_ENTRY}
    layout["margin"] = layout["margin"] | {"t": layout["margin"]["t"] + more}
    layout["height"] = round(layout["height"] + more)


def _enlarge_trace(trace: Mapping[str, Any], factor: float) -> dict[str, Any]:
    grown = cast("dict[str, Any]", _enlarge_part(trace, factor))
    return grown | {"width": trace["width"]} if trace.get("type") == "bar" and "width" in trace else grown


def _enlarge_part(part: object, factor: float) -> object:
    """The part with every length in pixels grown; lists are numbers of the data, or parts again."""
    if isinstance(part, Mapping):
        named = cast("Mapping[str, object]", part)
        return {name: _enlarge_value(name, value, factor) for name, value in named.items()}
    if isinstance(part, list):
        parts = cast("list[object]", part)
        several = any(isinstance(one, Mapping) for one in parts)
        return [_enlarge_part(each, factor) for each in parts] if several else parts
    return part


def _enlarge_value(name: str, value: object, factor: float) -> object:
    if name in _PIXEL_KEYS and isinstance(value, int | float) and not isinstance(value, bool):
        return value * factor
    return _enlarge_part(value, factor)

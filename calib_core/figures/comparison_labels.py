"""How do the names of points keep clear of one another however wide the page is?

The page's width is known to the browser alone. So names are placed once for each of some widths, each set
on a horizontal axis of its own that lies on the figure's, and the page's style sheet shows the set that fits.
Within a set they stand at values of the axes, so on a wider panel all that was apart for the narrowest one
moves farther apart.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np

from calib_core.analysis.comparison import Comparison
from calib_core.figures.boxes import Box, first_free, meets_any
from calib_core.figures.comparison_axes import CERTAIN, CONSTANT, View, certain, constant
from calib_core.figures.comparison_look import NUMBERED, PointLook, names_of, numbers_of
from calib_core.figures.label_places import REACH, Place, Spot, places, text_width
from calib_core.figures.layout import LABEL_SIZE
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme, tint
from calib_core.problems import shorten

WIDTHS: Final = (300, 400, 520, 680, 880, 1080, 1320)
"""A set of names for figures from each of these widths on, in pixels: style.css has the same."""

_BESIDE: Final = 70
"""Pixels of a figure left and right of its panel."""

_LONGEST: Final = 30
_NARROW: Final = 440
_FAR: Final = 5
"""On a panel narrower than that so many names may stand away from their points, or a third of them."""

_Words: TypeAlias = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class _Panel:
    view: View
    width: float
    height: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Pixels from the left and upper edge."""
        return self.view.across(x) * self.width, self.view.down(y) * self.height

    def value(self, x: float, y: float) -> tuple[float, float]:
        """The axes' values at these pixels."""
        return self.view.at(x / self.width, y / self.height)


def name_sets(
    result: Comparison, view: View, theme: Theme, height: float, looks: Mapping[str, PointLook]
) -> list[dict[str, Any]]:
    """Traces of the names at each of WIDTHS: those for 300 pixels and more are on the axis x300."""
    traces: list[dict[str, Any]] = []
    for width in WIDTHS:
        traces += _set(result, _Panel(view, width - _BESIDE, height), theme, f"x{width}", looks)
    return traces


def name_axes(view: View) -> dict[str, Any]:
    """The axes that the sets of names are on: the figure's own, unseen."""
    unseen = {"overlaying": "x", "range": list(view.x), "visible": False, "fixedrange": True}
    return {f"xaxis{width}": dict(unseen) for width in WIDTHS}


def at_width(figure: Mapping[str, Any], width: float) -> dict[str, Any]:
    """A figure with the set of names for this width alone, for where no style sheet picks one.

    Any other figure is given back as it is.
    """
    fits = f"x{max((one for one in WIDTHS if one <= width), default=WIDTHS[0])}"
    others = {f"x{one}" for one in WIDTHS} - {fits}
    return {**figure, "data": [trace for trace in figure["data"] if trace.get("xaxis") not in others]}


def _set(
    result: Comparison, panel: _Panel, theme: Theme, xaxis: str, looks: Mapping[str, PointLook]
) -> list[dict[str, Any]]:
    """The names, or where not all of them have room beside their points, the numbers of all."""
    spots = _spots(result, panel, names_of(result))
    markers = tuple((spot.x - REACH, spot.y - REACH, spot.x + REACH, spot.y + REACH) for spot in spots)
    said = [*_on_curves(panel, markers)] if result.has_curves else []
    found = _placed(result, panel, spots, [box for _, box in said])
    far = sum(place is not None and place.leader is not None for place in found)
    if None in found or (panel.width < _NARROW and far > max(_FAR, len(spots) / 3)):
        spots = _spots(result, panel, numbers_of(result))
        words = NUMBERED
        if lost := sum(place is None for place in _placed(result, panel, spots, [box for _, box in said])):
            words = f"{lost} of {len(spots)} points have no room for a number: hover."
        said.append((words, first_free(_corners(words, panel), [*markers, *(box for _, box in said)])))
        found = _placed(result, panel, spots, [box for _, box in said])
    by_colour = _by_colour(result, spots, found, said, theme, looks)
    return [
        _leaders(panel, spots, found, theme, xaxis),
        *(_names(panel, own, colour, theme, xaxis) for colour, own in by_colour.items()),
    ]


def _spots(result: Comparison, panel: _Panel, called: Sequence[str]) -> tuple[Spot, ...]:
    return tuple(
        Spot(*panel.place(point.x.value, point.y.value), shorten(name, _LONGEST))
        for point, name in zip(result.points, called, strict=True)
    )


def _placed(
    result: Comparison, panel: _Panel, spots: tuple[Spot, ...], taken: Sequence[Box]
) -> tuple[Place | None, ...]:
    return places(
        spots, panel.width, panel.height, size=LABEL_SIZE, taken=tuple(taken),
        lines=(*_whiskers(result, panel), *_drawn_lines(result, panel)),
    )


def _whiskers(result: Comparison, panel: _Panel) -> list[Box]:
    boxes: list[Box] = []
    for point in result.points:
        x, y = panel.place(point.x.value, point.y.value)
        if point.x.low is not None and point.x.high is not None:
            ends = [panel.place(end, point.y.value)[0] for end in (point.x.low, point.x.high)]
            boxes.append((ends[0], y - 1, ends[1], y + 1))
        if point.y.low is not None and point.y.high is not None:
            ends = [panel.place(point.x.value, end)[1] for end in (point.y.high, point.y.low)]
            boxes.append((x - 1, ends[0], x + 1, ends[1]))
    return boxes


def _drawn_lines(result: Comparison, panel: _Panel) -> list[Box]:
    """Small boxes along the lines between sizes of a model, and along both curves."""
    points = {point.key: (point.x.value, point.y.value) for point in result.points}
    dots: list[tuple[float, float]] = []
    for family in result.families:
        for first, second in pairwise(panel.place(*points[key]) for key in family):
            steps = max(1, round(math.dist(first, second) / 8))
            across, down = (second[0] - first[0]) / steps, (second[1] - first[1]) / steps
            dots += [(first[0] + across * at, first[1] + down * at) for at in range(1, steps)]
    if result.has_curves:
        dots += [panel.place(*one) for curve in (constant, certain) for one in curve(panel.view.x)]
    return [(x - 1, y - 1, x + 1, y + 1) for x, y in dots]


@lru_cache(maxsize=2 * len(WIDTHS))
def _on_curves(panel: _Panel, markers: tuple[Box, ...]) -> list[tuple[str, Box]]:
    """The words on both curves, each where it covers no point, and no curve if that can be."""
    lines = [
        [panel.place(a, value) for a, value in curve(panel.view.x, 6)] for curve in (constant, certain)
    ]
    dots = np.array([(x - 3, y - 2, x + 3, y + 2) for line in lines for x, y in line])
    said: list[tuple[str, Box]] = []
    for words, line in zip((CONSTANT, CERTAIN), lines, strict=True):
        boxes = [box for box in _beside(words, line) if _inside(box, panel)]
        if boxes:
            clear = [box for box, meets in zip(boxes, meets_any(boxes, dots), strict=True) if not meets]
            said.append((words, first_free(clear or boxes, [*markers, *(box for _, box in said)])))
    return said


def _beside(words: str, line: Sequence[tuple[float, float]]) -> list[Box]:
    """Boxes above and right of the curve at each of its points, from left to right."""
    width, tall = text_width(words, LABEL_SIZE) + 4, 1.3 * LABEL_SIZE
    boxes: list[Box] = []
    for x, y in line:
        boxes += [
            (x - width / 2, y - 5 - tall, x + width / 2, y - 5),
            (x + 7, y - tall / 2, x + 7 + width, y + tall / 2),
        ]
    return boxes


def _corners(words: str, panel: _Panel) -> list[Box]:
    width, tall = text_width(words, LABEL_SIZE) + 4, 1.3 * LABEL_SIZE
    right, low = panel.width - width - 4, panel.height - tall - 4
    rows = (low, 4.0, low - tall - 4, tall + 8)  # the second ones where a curve's words fill the first
    return [(x, y, x + width, y + tall) for y in rows for x in (right, 4.0, right / 2)]


def _inside(box: Box, panel: _Panel) -> bool:
    return box[0] >= 2 and box[1] >= 2 and box[2] <= panel.width - 2 and box[3] <= panel.height - 2


def _leaders(
    panel: _Panel, spots: Sequence[Spot], found: Sequence[Place | None], theme: Theme, xaxis: str
) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for spot, place in zip(spots, found, strict=True):
        if place is not None and place.leader is not None:
            ends = [panel.value(spot.x, spot.y), panel.value(*place.leader)]
            x += [ends[0][0], ends[1][0], None]
            y += [ends[0][1], ends[1][1], None]
    return {
        "type": "scatter", "mode": "lines", "xaxis": xaxis, "x": x or [None], "y": y or [None],
        "line": {"color": tint(theme.muted, theme.page, 0.55), "width": 1}, "hoverinfo": "skip",
        "showlegend": False,
    }


def _by_colour(
    result: Comparison,
    spots: Sequence[Spot],
    found: Sequence[Place | None],
    said: Sequence[tuple[str, Box]],
    theme: Theme,
    looks: Mapping[str, PointLook],
) -> dict[str, list[_Words]]:
    """Names in the tone of their run and the other words, each with the middle of its box in pixels."""
    drawn: dict[str, list[_Words]] = defaultdict(list)
    for words, box in said:
        drawn[theme.muted].append((words, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
    for point, spot, place in zip(result.points, spots, found, strict=True):
        if place is not None:
            drawn[looks[point.key].text].append((spot.text, place.x, place.y))
    return drawn


def _names(
    panel: _Panel, own: Sequence[_Words], colour: str, theme: Theme, xaxis: str
) -> dict[str, Any]:
    values = [panel.value(x, y) for _, x, y in own]
    return {
        "type": "scatter", "mode": "text", "xaxis": xaxis, "hoverinfo": "skip", "showlegend": False,
        "x": [x for x, _ in values], "y": [y for _, y in values], "text": [plain(words) for words, *_ in own],
        "textposition": "middle center", "textfont": {
            "size": LABEL_SIZE, "color": colour, "shadow": ", ".join([f"0px 0px 2px {theme.page}"] * 4),
        },
        "unselected": {"textfont": {"color": colour}}, "cliponaxis": False,
    }

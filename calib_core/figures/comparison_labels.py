"""How do the names of points keep clear of one another however wide the page is?

The page's width is known to the browser alone. So names are placed once for each of some widths, each set
on a horizontal axis of its own that lies on the figure's, and the page's style sheet shows the set that fits.
Within a set they stand at values of the axes, so on a wider panel all that was apart for the narrowest one
moves farther apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from calib_core.analysis.comparison import Comparison
from calib_core.figures.boxes import Box, freest
from calib_core.figures.comparison_axes import View
from calib_core.figures.comparison_look import NUMBERED, PointLook, names_of, numbers_of
from calib_core.figures.comparison_panel import Panel, corners, curved, joins, on_curves, whiskers
from calib_core.figures.label_places import REACH, Place, Spot, places
from calib_core.figures.layout import LABEL_SIZE
from calib_core.figures.text import plain, without_middle
from calib_core.figures.theme import Theme, tint

WIDTHS: Final = (300, 400, 520, 680, 880, 1080, 1320)
"""A set of names for figures from each of these widths on, in pixels: style.css has the same."""

_BESIDE: Final = 70
"""Pixels of a figure left and right of its panel."""

_LONGEST: Final = 30
_NARROW: Final = 440
_FAR: Final = 5
"""On a panel narrower than that so many names may stand away from their points, or a third of them."""

_Words: TypeAlias = tuple[str, float, float]


def name_sets(
    result: Comparison, view: View, theme: Theme, height: float, looks: Mapping[str, PointLook]
) -> list[dict[str, Any]]:
    """Traces of the names at each of WIDTHS: those for 300 pixels and more are on the axis x300."""
    traces: list[dict[str, Any]] = []
    for width in WIDTHS:
        traces += _set(result, Panel(view, width - _BESIDE, height), theme, f"x{width}", looks)
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
    result: Comparison, panel: Panel, theme: Theme, xaxis: str, looks: Mapping[str, PointLook]
) -> list[dict[str, Any]]:
    """The names, or where not all of them have room beside their points, the numbers of all."""
    spots = _spots(result, panel, names_of(result))
    markers = tuple((spot.x - REACH, spot.y - REACH, spot.x + REACH, spot.y + REACH) for spot in spots)
    lines = (*whiskers(result, panel), *joins(result, panel))
    said = [*on_curves(panel, markers, lines)] if result.has_curves else []
    found = _placed(result, panel, spots, [box for _, box in said])
    far = sum(place is not None and place.leader is not None for place in found)
    if None in found or (panel.width < _NARROW and far > max(_FAR, len(spots) / 3)):
        spots, found, words = _numbered(result, panel, markers, [box for _, box in said])
        said.append(words)
    by_colour = _by_colour(result, spots, found, said, theme, looks)
    return [
        _leaders(panel, spots, found, theme, xaxis),
        *(_names(panel, own, colour, theme, xaxis) for colour, own in by_colour.items()),
    ]


def _numbered(
    result: Comparison, panel: Panel, markers: Sequence[Box], taken: Sequence[Box]
) -> tuple[tuple[Spot, ...], tuple[Place | None, ...], tuple[str, Box]]:
    """The points with their numbers, where these stand, and the words that say what they are.

    The words take room from numbers: those that are missing are counted beside the words that count them.
    """
    spots = _spots(result, panel, numbers_of(result))
    box, found = _beside_words(NUMBERED, result, panel, spots, markers, taken)
    if None not in found:
        return spots, found, (NUMBERED, box)
    box, found = _beside_words(_missing(len(spots), len(spots)), result, panel, spots, markers, taken)
    lost = found.count(None)
    return spots, found, (_missing(lost, len(spots)) if lost else NUMBERED, box)


def _beside_words(
    words: str, result: Comparison, panel: Panel, spots: tuple[Spot, ...], markers: Sequence[Box],
    taken: Sequence[Box],
) -> tuple[Box, tuple[Place | None, ...]]:
    box = freest(corners(words, panel), [*markers, *taken])
    return box, _placed(result, panel, spots, [*taken, box])


def _missing(lost: int, of: int) -> str:
    return f"{lost} of {of} without a number: hover"


def _spots(result: Comparison, panel: Panel, called: Sequence[str]) -> tuple[Spot, ...]:
    return tuple(
        Spot(*panel.place(point.x.value, point.y.value), without_middle(name, _LONGEST))
        for point, name in zip(result.points, called, strict=True)
    )


def _placed(
    result: Comparison, panel: Panel, spots: tuple[Spot, ...], taken: Sequence[Box]
) -> tuple[Place | None, ...]:
    return places(
        spots, panel.width, panel.height, size=LABEL_SIZE, taken=tuple(taken),
        lines=(
            *whiskers(result, panel), *joins(result, panel), *(curved(panel) if result.has_curves else ()),
        ),
    )


def _leaders(
    panel: Panel, spots: Sequence[Spot], found: Sequence[Place | None], theme: Theme, xaxis: str
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
    panel: Panel, own: Sequence[_Words], colour: str, theme: Theme, xaxis: str
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

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
from calib_core.figures.boxes import Box, least_crowded
from calib_core.figures.comparison_axes import AxisRanges
from calib_core.figures.comparison_look import NUMBERS_NOTE, PointStyle, point_names, point_numbers
from calib_core.figures.comparison_panel import PixelPanel, corner_boxes, curve_boxes, family_line_boxes, place_curve_labels, interval_boxes
from calib_core.figures.label_places import MARKER_CLEARANCE, LabelPosition, LabelledPoint, place_labels
from calib_core.figures.layout import LABEL_SIZE
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.figures.theme import Theme, blend

NAME_SET_WIDTHS: Final = (300, 400, 520, 680, 880, 1080, 1320)
"""A set of names for figures from each of these widths on, in pixels: style.css has the same."""

_SIDE_MARGINS: Final = 70
"""Pixels of a figure left and right of its panel."""

_MAX_LABEL: Final = 30
_NARROW_PANEL_WIDTH: Final = 440
_MAX_LEADERS: Final = 5
"""On a panel narrower than that so many names may stand away from their points, or a third of them."""

_PlacedText: TypeAlias = tuple[str, float, float]


def name_traces(
    result: Comparison, ranges: AxisRanges, theme: Theme, height: float, styles: Mapping[str, PointStyle]
) -> list[dict[str, Any]]:
    """Traces of the names at each of WIDTHS: those for 300 pixels and more are on the axis x300."""
    traces: list[dict[str, Any]] = []
    for width in NAME_SET_WIDTHS:
        traces += _names_at_width(result, PixelPanel(ranges, width - _SIDE_MARGINS, height), theme, f"x{width}", styles)
    return traces


def name_set_axes(ranges: AxisRanges) -> dict[str, Any]:
    """The axes that the sets of names are on: the figure's own, unseen."""
    unseen = {"overlaying": "x", "range": list(ranges.x), "visible": False, "fixedrange": True}
    return {f"xaxis{width}": dict(unseen) for width in NAME_SET_WIDTHS}


def keep_names_for_width(figure: Mapping[str, Any], width: float) -> dict[str, Any]:
    """A figure with the set of names for this width alone, for where no style sheet picks one.

    Any other figure is given back as it is.
    """
    fits = f"x{max((one for one in NAME_SET_WIDTHS if one <= width), default=NAME_SET_WIDTHS[0])}"
    others = {f"x{one}" for one in NAME_SET_WIDTHS} - {fits}
    return {**figure, "data": [trace for trace in figure["data"] if trace.get("xaxis") not in others]}


def _names_at_width(
    result: Comparison, panel: PixelPanel, theme: Theme, xaxis: str, styles: Mapping[str, PointStyle]
) -> list[dict[str, Any]]:
    """The names, or where not all of them have room beside their points, the numbers of all."""
    spots = _labelled_points(result, panel, point_names(result))
    markers = tuple((spot.x - MARKER_CLEARANCE, spot.y - MARKER_CLEARANCE, spot.x + MARKER_CLEARANCE, spot.y + MARKER_CLEARANCE) for spot in spots)
    lines = (*interval_boxes(result, panel), *family_line_boxes(result, panel))
    said = [*place_curve_labels(panel, markers, lines)] if result.has_reference_curves else []
    found = _place_point_labels(result, panel, spots, [box for _, box in said])
    far = sum(place is not None and place.leader is not None for place in found)
    if None in found or (panel.width < _NARROW_PANEL_WIDTH and far > max(_MAX_LEADERS, len(spots) / 3)):
        spots, found, words = _place_numbers(result, panel, markers, [box for _, box in said])
        said.append(words)
    by_colour = _texts_by_colour(result, spots, found, said, theme, styles)
    return [
        _leader_trace(panel, spots, found, theme, xaxis),
        *(_text_trace(panel, own, colour, theme, xaxis) for colour, own in by_colour.items()),
    ]


def _place_numbers(
    result: Comparison, panel: PixelPanel, markers: Sequence[Box], obstacles: Sequence[Box]
) -> tuple[tuple[LabelledPoint, ...], tuple[LabelPosition | None, ...], tuple[str, Box]]:
    """The points with their numbers, where these stand, and the words that say what they are.

    The words take room from numbers: those that are missing are counted beside the words that count them.
    """
    spots = _labelled_points(result, panel, point_numbers(result))
    box, found = _place_around_text(NUMBERS_NOTE, result, panel, spots, markers, obstacles)
    if None not in found:
        return spots, found, (NUMBERS_NOTE, box)
    box, found = _place_around_text(_missing_numbers_note(len(spots), len(spots)), result, panel, spots, markers, obstacles)
    lost = found.count(None)
    return spots, found, (_missing_numbers_note(lost, len(spots)) if lost else NUMBERS_NOTE, box)


def _place_around_text(
    text: str, result: Comparison, panel: PixelPanel, points: tuple[LabelledPoint, ...], markers: Sequence[Box],
    obstacles: Sequence[Box],
) -> tuple[Box, tuple[LabelPosition | None, ...]]:
    box = least_crowded(corner_boxes(text, panel), [*markers, *obstacles])
    return box, _place_point_labels(result, panel, points, [*obstacles, box])


def _missing_numbers_note(n_missing: int, n_points: int) -> str:
    return f"{n_missing} of {n_points} without a number: hover"


def _labelled_points(result: Comparison, panel: PixelPanel, labels: Sequence[str]) -> tuple[LabelledPoint, ...]:
    return tuple(
        LabelledPoint(*panel.to_pixels(point.x.value, point.y.value), truncate_middle(name, _MAX_LABEL))
        for point, name in zip(result.points, labels, strict=True)
    )


def _place_point_labels(
    result: Comparison, panel: PixelPanel, points: tuple[LabelledPoint, ...], obstacles: Sequence[Box]
) -> tuple[LabelPosition | None, ...]:
    return place_labels(
        points, panel.width, panel.height, size=LABEL_SIZE, taken=tuple(obstacles),
        lines=(
            *interval_boxes(result, panel), *family_line_boxes(result, panel), *(curve_boxes(panel) if result.has_reference_curves else ()),
        ),
    )


def _leader_trace(
    panel: PixelPanel, points: Sequence[LabelledPoint], positions: Sequence[LabelPosition | None], theme: Theme, xaxis: str
) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for spot, place in zip(points, positions, strict=True):
        if place is not None and place.leader is not None:
            ends = [panel.to_values(spot.x, spot.y), panel.to_values(*place.leader)]
            x += [ends[0][0], ends[1][0], None]
            y += [ends[0][1], ends[1][1], None]
    return {
        "type": "scatter", "mode": "lines", "xaxis": xaxis, "x": x or [None], "y": y or [None],
        "line": {"color": blend(theme.muted_text, theme.background, 0.55), "width": 1}, "hoverinfo": "skip",
        "showlegend": False,
    }


def _texts_by_colour(
    result: Comparison,
    points: Sequence[LabelledPoint],
    positions: Sequence[LabelPosition | None],
    notes: Sequence[tuple[str, Box]],
    theme: Theme,
    styles: Mapping[str, PointStyle],
) -> dict[str, list[_PlacedText]]:
    """Names in the tone of their run and the other words, each with the middle of its box in pixels."""
    drawn: dict[str, list[_PlacedText]] = defaultdict(list)
    for words, box in notes:
        drawn[theme.muted_text].append((words, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
    for point, spot, place in zip(result.points, points, positions, strict=True):
        if place is not None:
            drawn[styles[point.key].text_colour].append((spot.text, place.x, place.y))
    return drawn


def _text_trace(
    panel: PixelPanel, texts: Sequence[_PlacedText], colour: str, theme: Theme, xaxis: str
) -> dict[str, Any]:
    values = [panel.to_values(x, y) for _, x, y in texts]
    return {
        "type": "scatter", "mode": "text", "xaxis": xaxis, "hoverinfo": "skip", "showlegend": False,
        "x": [x for x, _ in values], "y": [y for _, y in values], "text": [escape_for_plotly(words) for words, *_ in texts],
        "textposition": "middle center", "textfont": {
            "size": LABEL_SIZE, "color": colour, "shadow": ", ".join([f"0px 0px 2px {theme.background}"] * 4),
        },
        "unselected": {"textfont": {"color": colour}}, "cliponaxis": False,
    }

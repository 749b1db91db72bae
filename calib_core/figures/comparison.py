"""How is it drawn which model is accurate and honest?  One result → one point a run and method."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias

from calib_core.figures.label_placement import (
    MARKER_CLEARANCE,
    Box,
    LabelledPoint,
    LabelPosition,
    least_crowded,
    place_labels,
    text_width,
)
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    LABEL_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    legend_entry,
    legend_margin,
    legend_names,
)
from calib_core.figures.marks import error_bars, selection_ring
from calib_core.figures.palette import (
    Theme,
    blend,
    marker_style,
    method_style,
    readable_text_colour,
    run_style,
    with_opacity,
)
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.figures.text import wrap_lines as broken
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.comparison import Comparison, ComparisonPoint, MetricEstimate
from calib_core.wording import format_number, format_percent, plural

# MERGED comparison_axes: How much of two metrics is in view, and where do the curves a(1−a) and 1−a run through it?

CONSTANT_CONFIDENCE_LABEL: Final = "a(1−a): always say a"
FULL_CONFIDENCE_LABEL: Final = "1−a: always say 1"
"""What stands on the two curves: a is the model's own accuracy."""

_CURVE_STEPS: Final = 80
_AXIS_PADDING: Final = 0.07


@dataclass(frozen=True, slots=True)
class AxisRanges:
    """The part of the two metrics that is drawn: (from, to) of each axis."""

    x: tuple[float, float]
    y: tuple[float, float]

    def x_fraction(self, x: float) -> float:
        """Share of the panel's width left of this value."""
        return (x - self.x[0]) / (self.x[1] - self.x[0])

    def y_fraction(self, y: float) -> float:
        """Share of the panel's height above this value."""
        return (self.y[1] - y) / (self.y[1] - self.y[0])

    def values_at(self, x_fraction: float, y_fraction: float) -> tuple[float, float]:
        """The values at these shares."""
        return (
            self.x[0] + x_fraction * (self.x[1] - self.x[0]),
            self.y[1] - y_fraction * (self.y[1] - self.y[0]),
        )


def axis_ranges(result: Comparison) -> AxisRanges:
    """All points with their intervals, and a(1−a) over their accuracies where that is drawn."""
    accuracies = [point.accuracy.value for point in result.points]
    x = _padded_range(result.x, [point.x for point in result.points], ())
    ends = (min(accuracies, default=0.0), max(accuracies, default=1.0))
    curve = [value for _, value in constant_confidence_curve(ends)] if result.has_reference_curves else []
    y = _padded_range(result.y, [point.y for point in result.points], curve)
    return AxisRanges(x, y)


def _padded_range(
    metric_id: str, estimates: Sequence[MetricEstimate], extra: Sequence[float]
) -> tuple[float, float]:
    metric = METRICS[metric_id]
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None]
    low, high = min([*ends, *extra], default=0.0), max([*ends, *extra], default=1.0)
    span = high - low or max(abs(high), 0.1)
    low, high = low - _AXIS_PADDING * span, high + _AXIS_PADDING * span
    if metric.low is not None:
        low = max(low, metric.low - 0.02 * span)
    if metric.high is not None:
        high = min(high, metric.high + 0.02 * span)
    return low, high


def constant_confidence_curve(
    accuracy_range: tuple[float, float], refinement: int = 1
) -> list[tuple[float, float]]:
    """a(1−a) over these accuracies: the Brier score of always saying a. finer: so many points for one."""
    return [(a, a * (1 - a)) for a in _accuracies(accuracy_range, refinement)]


def full_confidence_curve(
    accuracy_range: tuple[float, float], refinement: int = 1
) -> list[tuple[float, float]]:
    """1−a over these accuracies: the Brier score of always saying 1."""
    return [(a, 1 - a) for a in _accuracies(accuracy_range, refinement)]


def _accuracies(accuracy_range: tuple[float, float], refinement: int) -> list[float]:
    low, high = max(accuracy_range[0], 0.0), min(accuracy_range[1], 1.0)
    steps = _CURVE_STEPS * refinement
    return [low + (high - low) * at / steps for at in range(steps + 1)]


def comparison_axes(result: Comparison, ranges: AxisRanges, theme: Theme) -> dict[str, Any]:
    """Both axes, with the direction that is better."""
    return {
        "xaxis": _metric_axis(result.x, ranges.x, theme, standoff=8),
        "yaxis": _metric_axis(result.y, ranges.y, theme, standoff=None),
    }


def _metric_axis(
    metric_id: str, axis_range: tuple[float, float], theme: Theme, standoff: int | None
) -> dict[str, Any]:
    metric = METRICS[metric_id]
    better = {"lower": "lower is better", "higher": "higher is better", "zero": "0 is best"}[metric.direction]
    form = ".0%" if metric.shown_in_percent and axis_range[1] - axis_range[0] > 0.04 else ".1%"
    return axis(
        theme,
        f"{metric.title} ({better})",
        standoff=standoff,
        range=list(axis_range),
        nticks=8,
        tickformat=form if metric.shown_in_percent else "~g",
    )


def reference_curves(ranges: AxisRanges, theme: Theme) -> list[dict[str, Any]]:
    """Both curves, and a pale area below a(1−a), where a confidence tells right from wrong."""
    below, above = constant_confidence_curve(ranges.x), full_confidence_curve(ranges.x)
    common = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    return [
        {
            **common,
            "x": [a for a, _ in below],
            "y": [round(value, 6) for _, value in below],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "7px,5px"},
            "fill": "tozeroy",
            "fillcolor": with_opacity(theme.muted_text, 0.13),
            "showlegend": False,
        },
        {
            **common,
            "x": [a for a, _ in above],
            "y": [round(value, 6) for _, value in above],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "2px,3px"},
            "showlegend": False,
        },
    ]


# MERGED comparison_look: How does each point of a comparison look, and what is it called beside it?
#
# Colour says the run, as on every page; the symbol says the method, as on every page.

NUMBERS_NOTE: Final = "numbers: rows of the table"
"""What is said in the picture where there is no room for names."""


@dataclass(frozen=True, slots=True)
class PointStyle:
    """colour: of the symbol; text: the same tone dark or light enough to read."""

    colour: str
    text_colour: str


def point_styles(result: Comparison, theme: Theme, style_indices: Mapping[str, int]) -> dict[str, PointStyle]:
    """Key → the point's look. places: key → place of its run among all at hand; others take theirs here."""
    runs = list(dict.fromkeys(point.run for point in result.points))
    looks: dict[str, PointStyle] = {}
    for point in result.points:
        colour = run_style(style_indices.get(point.key, runs.index(point.run)), theme).colour
        looks[point.key] = PointStyle(colour, readable_text_colour(colour, theme))
    return looks


def estimate_text(estimate: MetricEstimate) -> str:
    """A coordinate with its interval: "70.0 % (68.0 % to 72.0 %)", "0.2000"."""

    def format_value(value: float) -> str:
        return format_percent(value) if METRICS[estimate.metric].shown_in_percent else format_number(value)

    if estimate.low is None or estimate.high is None:
        return format_value(estimate.value)
    return f"{format_value(estimate.value)} ({format_value(estimate.low)} to {format_value(estimate.high)})"


def point_names(result: Comparison) -> list[str]:
    """What each point is called: its run; where all are of one run, its method."""
    one = len({point.run for point in result.points}) == 1 < len(result.points)
    return [METHODS[point.method].title if one else point.name for point in result.points]


def point_numbers(result: Comparison) -> list[str]:
    """The number of each point in the table: the lowest Brier score is the first."""
    order = {point.key: at for at, point in enumerate(result.points_by_brier, 1)}
    return [str(order[point.key]) for point in result.points]


# MERGED comparison_panel: What of a comparison's panel is taken, in pixels: intervals, lines, and words on its curves?


@dataclass(frozen=True, slots=True)
class PixelPanel:
    """A view, and how many pixels wide and high it is drawn."""

    ranges: AxisRanges
    width: float
    height: float

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        """Pixels from the left and upper edge."""
        return self.ranges.x_fraction(x) * self.width, self.ranges.y_fraction(y) * self.height

    def to_values(self, x: float, y: float) -> tuple[float, float]:
        """The axes' values at these pixels."""
        return self.ranges.values_at(x / self.width, y / self.height)


def interval_boxes(result: Comparison, panel: PixelPanel) -> list[Box]:
    """Thin boxes along the intervals of all points."""
    boxes: list[Box] = []
    for point in result.points:
        x, y = panel.to_pixels(point.x.value, point.y.value)
        if point.x.low is not None and point.x.high is not None:
            ends = [panel.to_pixels(end, point.y.value)[0] for end in (point.x.low, point.x.high)]
            boxes.append((ends[0], y - 1, ends[1], y + 1))
        if point.y.low is not None and point.y.high is not None:
            ends = [panel.to_pixels(point.x.value, end)[1] for end in (point.y.high, point.y.low)]
            boxes.append((x - 1, ends[0], x + 1, ends[1]))
    return boxes


def family_line_boxes(result: Comparison, panel: PixelPanel) -> list[Box]:
    """Small boxes along the lines between sizes of a model."""
    points = {point.key: (point.x.value, point.y.value) for point in result.points}
    dots: list[tuple[float, float]] = []
    for family in result.size_families:
        for first, second in pairwise(panel.to_pixels(*points[key]) for key in family):
            steps = max(1, round(math.dist(first, second) / 8))
            across, down = (second[0] - first[0]) / steps, (second[1] - first[1]) / steps
            dots += [(first[0] + across * at, first[1] + down * at) for at in range(1, steps)]
    return [(x - 1, y - 1, x + 1, y + 1) for x, y in dots]


def curve_boxes(panel: PixelPanel) -> list[Box]:
    """Small boxes along both curves."""
    dots = [
        panel.to_pixels(*one)
        for curve in (constant_confidence_curve, full_confidence_curve)
        for one in curve(panel.ranges.x)
    ]
    return [(x - 1, y - 1, x + 1, y + 1) for x, y in dots]


@lru_cache(maxsize=16)
def place_curve_labels(
    panel: PixelPanel, markers: tuple[Box, ...], lines: tuple[Box, ...]
) -> list[tuple[str, Box]]:
    """The words on both curves, each where it covers no point, and no curve or line if that can be."""
    thin = [*lines, *curve_boxes(panel)]
    said: list[tuple[str, Box]] = []
    for words, curve in (
        (CONSTANT_CONFIDENCE_LABEL, constant_confidence_curve),
        (FULL_CONFIDENCE_LABEL, full_confidence_curve),
    ):
        beside = _boxes_beside_curve(
            words, [panel.to_pixels(a, value) for a, value in curve(panel.ranges.x, 6)]
        )
        boxes = [box for box in beside if _is_inside(box, panel)]
        if boxes:
            said.append((words, least_crowded(boxes, [*markers, *(box for _, box in said)], thin)))
    return said


def _boxes_beside_curve(text: str, line: Sequence[tuple[float, float]]) -> list[Box]:
    """Boxes above and right of the curve at each of its points, from left to right."""
    width, tall = text_width(text, LABEL_SIZE) + 4, 1.3 * LABEL_SIZE
    boxes: list[Box] = []
    for x, y in line:
        boxes += [
            (x - width / 2, y - 5 - tall, x + width / 2, y - 5),
            (x + 7, y - tall / 2, x + 7 + width, y + tall / 2),
        ]
    return boxes


def corner_boxes(text: str, panel: PixelPanel) -> list[Box]:
    """Boxes of these words at the panel's lower and upper edge."""
    width, tall = text_width(text, LABEL_SIZE) + 4, 1.3 * LABEL_SIZE
    right, low = panel.width - width - 4, panel.height - tall - 4
    rows = (low, 4.0, low - tall - 4, tall + 8)  # the second ones where a curve's words fill the first
    return [(x, y, x + width, y + tall) for y in rows for x in (right, 4.0, right / 2)]


def _is_inside(box: Box, panel: PixelPanel) -> bool:
    return box[0] >= 2 and box[1] >= 2 and box[2] <= panel.width - 2 and box[3] <= panel.height - 2


# MERGED comparison_labels: How do the names of points keep clear of one another however wide the page is?
#
# The page's width is known to the browser alone. So names are placed once for each of some widths, each set
# on a horizontal axis of its own that lies on the figure's, and the page's style sheet shows the set that fits.
# Within a set they stand at values of the axes, so on a wider panel all that was apart for the narrowest one
# moves farther apart.

NAME_SET_WIDTHS: Final = (300, 400, 520, 680, 880, 1080, 1320)
"""A set of names for figures from each of these widths on, in pixels: pages/widgets/styles.css has the same."""

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
        traces += _names_at_width(
            result, PixelPanel(ranges, width - _SIDE_MARGINS, height), theme, f"x{width}", styles
        )
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
    markers = tuple(
        (
            spot.x - MARKER_CLEARANCE,
            spot.y - MARKER_CLEARANCE,
            spot.x + MARKER_CLEARANCE,
            spot.y + MARKER_CLEARANCE,
        )
        for spot in spots
    )
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
    box, found = _place_around_text(
        _missing_numbers_note(len(spots), len(spots)), result, panel, spots, markers, obstacles
    )
    lost = found.count(None)
    return spots, found, (_missing_numbers_note(lost, len(spots)) if lost else NUMBERS_NOTE, box)


def _place_around_text(
    text: str,
    result: Comparison,
    panel: PixelPanel,
    points: tuple[LabelledPoint, ...],
    markers: Sequence[Box],
    obstacles: Sequence[Box],
) -> tuple[Box, tuple[LabelPosition | None, ...]]:
    box = least_crowded(corner_boxes(text, panel), [*markers, *obstacles])
    return box, _place_point_labels(result, panel, points, [*obstacles, box])


def _missing_numbers_note(n_missing: int, n_points: int) -> str:
    return f"{n_missing} of {n_points} without a number: hover"


def _labelled_points(
    result: Comparison, panel: PixelPanel, labels: Sequence[str]
) -> tuple[LabelledPoint, ...]:
    return tuple(
        LabelledPoint(*panel.to_pixels(point.x.value, point.y.value), truncate_middle(name, _MAX_LABEL))
        for point, name in zip(result.points, labels, strict=True)
    )


def _place_point_labels(
    result: Comparison, panel: PixelPanel, points: tuple[LabelledPoint, ...], obstacles: Sequence[Box]
) -> tuple[LabelPosition | None, ...]:
    return place_labels(
        points,
        panel.width,
        panel.height,
        font_size=LABEL_SIZE,
        obstacles=tuple(obstacles),
        lines=(
            *interval_boxes(result, panel),
            *family_line_boxes(result, panel),
            *(curve_boxes(panel) if result.has_reference_curves else ()),
        ),
    )


def _leader_trace(
    panel: PixelPanel,
    points: Sequence[LabelledPoint],
    positions: Sequence[LabelPosition | None],
    theme: Theme,
    xaxis: str,
) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for spot, place in zip(points, positions, strict=True):
        if place is not None and place.leader is not None:
            ends = [panel.to_values(spot.x, spot.y), panel.to_values(*place.leader)]
            x += [ends[0][0], ends[1][0], None]
            y += [ends[0][1], ends[1][1], None]
    return {
        "type": "scatter",
        "mode": "lines",
        "xaxis": xaxis,
        "x": x or [None],
        "y": y or [None],
        "line": {"color": blend(theme.muted_text, theme.background, 0.55), "width": 1},
        "hoverinfo": "skip",
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
        "type": "scatter",
        "mode": "text",
        "xaxis": xaxis,
        "hoverinfo": "skip",
        "showlegend": False,
        "x": [x for x, _ in values],
        "y": [y for _, y in values],
        "text": [escape_for_plotly(words) for words, *_ in texts],
        "textposition": "middle center",
        "textfont": {
            "size": LABEL_SIZE,
            "color": colour,
            "shadow": ", ".join([f"0px 0px 2px {theme.background}"] * 4),
        },
        "unselected": {"textfont": {"color": colour}},
        "cliponaxis": False,
    }


_MIN_PANEL_HEIGHT: Final = 400
_HEIGHT_PER_POINT: Final = 6
_MAX_PANEL_HEIGHT: Final = 680
"""Pixels of the panel: of few points, more for each, and at most."""

_MAX_HOVER_NAME: Final = 60
_CROWDED_POINTS: Final = 20
"""More points than this, and bars and lines are drawn paler, so that names can be read on them."""


def comparison_figure(
    result: Comparison,
    theme: Theme,
    *,
    selected: str | None = None,
    style_indices: Mapping[str, int] | None = None,
) -> Figure:
    """The points with their intervals, sizes of one model joined, and the two curves where they apply.

    selected: key of the point to ring, without effect where it is none; places: key → place of the point's
    run among all at hand. Every point that takes hover and click has `customdata` rows that begin with its
    key. The names stand in one text trace for each of `comparison_labels.WIDTHS`, of which the page shows
    the one that fits: without its style sheet all show.
    """
    methods = list(dict.fromkeys(point.method for point in result.points))
    looks = point_styles(result, theme, style_indices or {})
    view, height = (
        axis_ranges(result),
        min(_MIN_PANEL_HEIGHT + _HEIGHT_PER_POINT * len(result.points), _MAX_PANEL_HEIGHT),
    )
    data = [
        *(reference_curves(view, theme) if result.has_reference_curves else ()),
        *_family_lines(result, theme),
    ]
    data += [
        legend_entry(
            METHODS[id_].title,
            "markers",
            marker=marker_style(theme.text, method_style(id_, theme).symbol, theme, 10),
        )
        for id_ in methods
    ]
    data += [_method_points(result, method, theme, looks) for method in methods]
    if result.points:
        data += name_traces(result, view, theme, height, looks)
    data += [selection_ring(one.x.value, one.y.value, theme) for one in result.points if one.key == selected]
    return {"data": data or [empty_trace()], "layout": _comparison_layout(result, view, theme, height, data)}


def _comparison_layout(
    result: Comparison, ranges: AxisRanges, theme: Theme, height: int, data: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    top, alone = legend_margin(legend_names(data))
    layout = base_layout(theme, height=height + top + BOTTOM_MARGIN, top=top, one_per_line=alone)
    words = (
        []
        if result.points
        else [annotation(theme, broken(result.headline, 40), xref="x domain", yref="y domain", x=0.5, y=0.6)]
    )
    axes = comparison_axes(result, ranges, theme) | name_set_axes(ranges)
    return layout | {"hovermode": "closest", "annotations": words, **axes}


def _method_points(
    result: Comparison, method: str, theme: Theme, styles: Mapping[str, PointStyle]
) -> dict[str, Any]:
    own = [point for point in result.points if point.method == method]
    pale = with_opacity(theme.muted_text, 0.65 if len(result.points) <= _CROWDED_POINTS else 0.35)
    marker = marker_style(theme.text, method_style(method, theme).symbol, theme, 10)
    return {
        "type": "scatter",
        "mode": "markers",
        "showlegend": False,
        "cliponaxis": False,
        "x": [round(point.x.value, 7) for point in own],
        "y": [round(point.y.value, 7) for point in own],
        "error_x": error_bars([point.x for point in own], pale, width=0, thickness=1.3),
        "error_y": error_bars([point.y for point in own], pale, width=0, thickness=1.3),
        "marker": marker | {"color": [styles[point.key].colour for point in own]},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": [_hover_text(point, result) for point in own],
        "customdata": [[point.key] for point in own],
    }


def _hover_text(point: ComparisonPoint, result: Comparison) -> str:
    """What the hover says of a point."""
    axes = {one.metric: one for one in (point.x, point.y)}
    skill = "" if point.brier_skill is None else f"<br>skill {format_number(point.brier_skill, '.3f')}"
    told = "".join(f"<br>{METRICS[id_].title} {estimate_text(one)}" for id_, one in axes.items())
    return (
        f"<b>{escape_for_plotly(truncate_middle(point.run, _MAX_HOVER_NAME))}</b><br>{escape_for_plotly(METHODS[point.method].title)}{told}"
        f"{skill if result.has_reference_curves else ''}<br>n = {point.n_used:,}, {escape_for_plotly(point.judged)} judged"
    )


def _family_lines(result: Comparison, theme: Theme) -> list[dict[str, Any]]:
    """A thin line from the smallest to the largest size of each model."""
    points = {point.key: point for point in result.points}
    traces: list[dict[str, Any]] = []
    strength = 0.55 if len(result.points) <= _CROWDED_POINTS else 0.3
    for family in result.size_families:
        own = [points[key] for key in family]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "hoverinfo": "skip",
                "showlegend": False,
                "x": [point.x.value for point in own],
                "y": [point.y.value for point in own],
                "line": {"color": with_opacity(theme.muted_text, strength), "width": 1.5},
                "meta": {"family": list(family)},
            }
        )
    if traces:
        line = {"color": theme.muted_text, "width": 1.6}
        traces.append(legend_entry("joined: one model by size", "lines", line=line, legendrank=1001))
    return traces


def describe_comparison(result: Comparison) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    x, y = METRICS[result.x].title, METRICS[result.y].title
    told = "; ".join(
        f"{truncate_middle(point.name, _MAX_HOVER_NAME)} by {METHODS[point.method].title}: {x} {estimate_text(point.x)}, "
        f"{y} {estimate_text(point.y)}"
        for point in result.points[:8]
    )
    more = f"; and {len(result.points) - 8} more" if len(result.points) > 8 else ""
    points = plural(len(result.points), "point")
    return f"{y} against {METRICS[result.x].title_in_sentence}, {points}. {told or 'No point'}{more}."

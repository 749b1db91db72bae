"""Runs compared by two metrics: a point for each run and method, with its intervals and its name."""

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
    halo,
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
from calib_core.figures.text import escape_for_plotly, truncate_middle, wrap_lines
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.results.comparison import Comparison, ComparisonPoint, MetricEstimate
from calib_core.wording import format_number, format_percent, plural

_MIN_PANEL_HEIGHT: Final = 400
_HEIGHT_PER_POINT: Final = 6
_MAX_PANEL_HEIGHT: Final = 460
"""Height of the panel in pixels: without a point, more for each point, and at most."""

_MAX_HOVER_NAME: Final = 60
"""Characters of a run's name in hover texts."""

_MAX_DESCRIBED_POINTS: Final = 8
"""Points that the description for screen readers lists."""

_CROWDED_POINTS: Final = 20
"""With more points than this, error bars and lines are paler, so that names on them stay readable."""


def comparison_figure(
    result: Comparison,
    theme: Theme,
    *,
    selected: str | None = None,
    style_indices: Mapping[str, int] | None = None,
) -> Figure:
    """The points with their intervals, sizes of one model joined, and the reference curves where they apply.

    Parameters
    ----------
    result : Comparison
        The points.
    theme : Theme
        Colours.
    selected : str, optional
        Key of the point to ring. A key of no point has no effect.
    style_indices : Mapping[str, int], optional
        Key of a point → index of its run among all loaded runs.

    Notes
    -----
    The `customdata` of points that receive hover and click has rows that begin with the point's key.

    There is a set of names for each of `NAME_SET_WIDTHS`. The page's style sheet shows the one that fits;
    elsewhere `keep_names_for_width` picks it, without which all sets are visible.
    """
    methods = list(dict.fromkeys(point.method for point in result.points))
    styles = point_styles(result, theme, style_indices or {})
    ranges = axis_ranges(result)
    height = min(_MIN_PANEL_HEIGHT + _HEIGHT_PER_POINT * len(result.points), _MAX_PANEL_HEIGHT)
    data = [
        *(reference_curves(ranges, theme) if result.has_reference_curves else ()),
        *_family_lines(result, theme),
    ]
    data += [
        legend_entry(
            METHODS[id_].title,
            "markers",
            marker=marker_style(theme.text, method_style(id_, theme, methods).symbol, theme, 10),
        )
        for id_ in methods
    ]
    data += [_method_points(result, method, methods, theme, styles) for method in methods]
    if result.points:
        data += name_traces(result, ranges, theme, height, styles)
    data += [
        selection_ring(point.x.value, point.y.value, theme)
        for point in result.points
        if point.key == selected
    ]
    return {
        "data": data or [empty_trace()],
        "layout": _comparison_layout(result, ranges, theme, height, data),
    }


def _comparison_layout(
    result: Comparison, ranges: AxisRanges, theme: Theme, height: int, data: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    top, one_per_line = legend_margin(legend_names(data))
    layout = base_layout(theme, height=height + top + BOTTOM_MARGIN, top=top, one_per_line=one_per_line)
    notes = (
        []
        if result.points
        else [
            annotation(theme, wrap_lines(result.headline, 40), xref="x domain", yref="y domain", x=0.5, y=0.6)
        ]
    )
    axes = comparison_axes(result, ranges, theme) | name_set_axes(ranges)
    return layout | {"hovermode": "closest", "annotations": notes, **axes}


def _method_points(
    result: Comparison, method: str, methods: Sequence[str], theme: Theme, styles: Mapping[str, PointStyle]
) -> dict[str, Any]:
    points = [point for point in result.points if point.method == method]
    bar_colour = with_opacity(theme.muted_text, 0.65 if len(result.points) <= _CROWDED_POINTS else 0.35)
    marker = marker_style(theme.text, method_style(method, theme, methods).symbol, theme, 10)
    return {
        "type": "scatter",
        "mode": "markers",
        "showlegend": False,
        "cliponaxis": False,
        "x": [round(point.x.value, 7) for point in points],
        "y": [round(point.y.value, 7) for point in points],
        "error_x": error_bars([point.x for point in points], bar_colour, width=0, thickness=1.3),
        "error_y": error_bars([point.y for point in points], bar_colour, width=0, thickness=1.3),
        "marker": marker | {"color": [styles[point.key].colour for point in points]},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": [_hover_text(point, result) for point in points],
        "customdata": [[point.key] for point in points],
    }


def _hover_text(point: ComparisonPoint, result: Comparison) -> str:
    """The hover text of a point."""
    by_metric = {estimate.metric: estimate for estimate in (point.x, point.y)}
    lines = [
        f"<b>{escape_for_plotly(truncate_middle(point.run, _MAX_HOVER_NAME))}</b>",
        escape_for_plotly(METHODS[point.method].title),
        *(f"{_metric_title(result, id_)} {estimate_text(estimate)}" for id_, estimate in by_metric.items()),
    ]
    if result.has_reference_curves and point.brier_skill is not None:
        lines.append(f"skill {format_number(point.brier_skill, '.3f')}")
    lines.append(f"n = {point.n_used:,}, {escape_for_plotly(point.judged)} judged")
    return "<br>".join(lines)


def _family_lines(result: Comparison, theme: Theme) -> list[dict[str, Any]]:
    """A thin line from the smallest to the largest size of each model."""
    points = {point.key: point for point in result.points}
    traces: list[dict[str, Any]] = []
    opacity = 0.55 if len(result.points) <= _CROWDED_POINTS else 0.3
    for family in result.size_families:
        members = [points[key] for key in family]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "hoverinfo": "skip",
                "showlegend": False,
                "x": [point.x.value for point in members],
                "y": [point.y.value for point in members],
                "line": {"color": with_opacity(theme.muted_text, opacity), "width": 1.5},
                "meta": {"family": list(family)},
            }
        )
    if traces:
        line = {"color": theme.muted_text, "width": 1.6}
        traces.append(legend_entry("lines: one model family by size", "lines", line=line, legendrank=1001))
    return traces


def describe_comparison(result: Comparison) -> str:
    """Describe the figure in a few sentences for screen readers, as plain text."""
    x, y = (_metric_title(result, id_) for id_ in (result.x, result.y))
    descriptions = "; ".join(
        f"{truncate_middle(point.name, _MAX_HOVER_NAME)} by {METHODS[point.method].title}: "
        f"{x} {estimate_text(point.x)}, {y} {estimate_text(point.y)}"
        for point in result.points[:_MAX_DESCRIBED_POINTS]
    )
    n_more = len(result.points) - _MAX_DESCRIBED_POINTS
    more = f"; and {n_more} more" if n_more > 0 else ""
    points = plural(len(result.points), "point")
    return f"{y} against {METRICS[result.x].title_in_sentence}, {points}. {descriptions or 'No point'}{more}."


# --- Axes and reference curves -----------------------------------------------------------------------------

CONSTANT_CONFIDENCE_LABEL: Final = "a(1−a): always stating a"
FULL_CONFIDENCE_LABEL: Final = "1−a: always stating 1"
"""Labels of the two reference curves, where a is the model's own accuracy."""

_CURVE_STEPS: Final = 80
"""Line segments of a reference curve."""

_AXIS_PADDING: Final = 0.07
"""Space beyond the outermost values at either end of an axis, as a fraction of their range."""


@dataclass(frozen=True, slots=True)
class AxisRanges:
    """Lower and upper end of both axes, in units of their metrics."""

    x: tuple[float, float]
    y: tuple[float, float]

    def x_fraction(self, x: float) -> float:
        """Fraction of the panel's width left of this value."""
        return (x - self.x[0]) / (self.x[1] - self.x[0])

    def y_fraction(self, y: float) -> float:
        """Fraction of the panel's height above this value."""
        return (self.y[1] - y) / (self.y[1] - self.y[0])

    def values_at(self, x_fraction: float, y_fraction: float) -> tuple[float, float]:
        """The values at these fractions from the left and upper edge."""
        return (
            self.x[0] + x_fraction * (self.x[1] - self.x[0]),
            self.y[1] - y_fraction * (self.y[1] - self.y[0]),
        )


def axis_ranges(result: Comparison) -> AxisRanges:
    """Ranges that show all points with their intervals, and a(1−a) over their accuracies if it is drawn."""
    accuracies = [point.accuracy_of_all.value for point in result.points]
    x = _padded_range(result.x, [point.x for point in result.points], ())
    accuracy_range = (min(accuracies, default=0.0), max(accuracies, default=1.0))
    curve = (
        [value for _, value in constant_confidence_curve(accuracy_range)]
        if result.has_reference_curves
        else []
    )
    y = _padded_range(result.y, [point.y for point in result.points], curve)
    return AxisRanges(x, y)


def _padded_range(
    metric_id: str, estimates: Sequence[MetricEstimate], extra: Sequence[float]
) -> tuple[float, float]:
    metric = METRICS[metric_id]
    ends = [
        end
        for estimate in estimates
        for end in (estimate.value, estimate.low, estimate.high)
        if end is not None
    ]
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
    """Brier score of a model that always states its own accuracy a, which is a(1−a).

    Parameters
    ----------
    accuracy_range : tuple[float, float]
        Lowest and highest accuracy; clipped to [0, 1].
    refinement : int
        Factor on the number of line segments.

    Returns
    -------
    list[tuple[float, float]]
        Accuracy and Brier score of each point, from left to right.
    """
    return [(a, a * (1 - a)) for a in _accuracies(accuracy_range, refinement)]


def full_confidence_curve(
    accuracy_range: tuple[float, float], refinement: int = 1
) -> list[tuple[float, float]]:
    """Brier score of a model that always states a confidence of 1, which is 1−a.

    Parameters and return value are those of `constant_confidence_curve`.
    """
    return [(a, 1 - a) for a in _accuracies(accuracy_range, refinement)]


def _accuracies(accuracy_range: tuple[float, float], refinement: int) -> list[float]:
    low, high = max(accuracy_range[0], 0.0), min(accuracy_range[1], 1.0)
    steps = _CURVE_STEPS * refinement
    return [low + (high - low) * step / steps for step in range(steps + 1)]


def comparison_axes(result: Comparison, ranges: AxisRanges, theme: Theme) -> dict[str, Any]:
    """Plotly's two axes, with titles that say which direction is better."""
    return {
        "xaxis": _metric_axis(result, result.x, ranges.x, theme, standoff=8),
        "yaxis": _metric_axis(result, result.y, ranges.y, theme, standoff=None),
    }


def _metric_title(result: Comparison, metric_id: str) -> str:
    """The title of a metric; that of the accuracy says of which rows it is, where some have no confidence."""
    title = METRICS[metric_id].title
    is_of_all = metric_id == ACCURACY.id and result.has_unpaired_outcomes
    return f"{title} of all rows" if is_of_all else title


def _metric_axis(
    result: Comparison, metric_id: str, axis_range: tuple[float, float], theme: Theme, *, standoff: int | None
) -> dict[str, Any]:
    metric = METRICS[metric_id]
    better = {"lower": "lower is better", "higher": "higher is better", "zero": "0 is best"}[metric.direction]
    percent_format = ".0%" if metric.shown_in_percent and axis_range[1] - axis_range[0] > 0.04 else ".1%"
    return axis(
        theme,
        f"{_metric_title(result, metric_id)} ({better})",
        standoff=standoff,
        range=list(axis_range),
        nticks=8,
        tickformat=percent_format if metric.shown_in_percent else "~g",
    )


def reference_curves(ranges: AxisRanges, theme: Theme) -> list[dict[str, Any]]:
    """Traces of both reference curves, with a pale area below a(1−a).

    A model in that area does better than one that always states its own accuracy, so that its confidences
    tell right answers from wrong ones.
    """
    constant, full = constant_confidence_curve(ranges.x), full_confidence_curve(ranges.x)
    shared = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    return [
        {
            **shared,
            "x": [a for a, _ in constant],
            "y": [round(value, 6) for _, value in constant],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "7px,5px"},
            "fill": "tozeroy",
            "fillcolor": with_opacity(theme.muted_text, 0.13),
            "showlegend": False,
        },
        {
            **shared,
            "x": [a for a, _ in full],
            "y": [round(value, 6) for _, value in full],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "2px,3px"},
            "showlegend": False,
        },
    ]


# --- Styles and names of points ----------------------------------------------------------------------------
#
# Colour stands for the run and the symbol for the method, as on every page.

NUMBERS_NOTE: Final = "numbers: see table"
"""Note in the plot where there is no room for names."""


@dataclass(frozen=True, slots=True)
class PointStyle:
    """The colours of a point.

    Attributes
    ----------
    colour : str
        Of the symbol, "#RRGGBB".
    text_colour : str
        Of the name: the same colour, made dark or light enough to be read.
    """

    colour: str
    text_colour: str


def point_styles(result: Comparison, theme: Theme, style_indices: Mapping[str, int]) -> dict[str, PointStyle]:
    """The style of each point.

    Parameters
    ----------
    result : Comparison
        The points.
    theme : Theme
        Colours.
    style_indices : Mapping[str, int]
        Key of a point → index of its run among all loaded runs. A run that is missing takes its own index.

    Returns
    -------
    dict[str, PointStyle]
        Key of a point → its style.
    """
    runs = list(dict.fromkeys(point.run for point in result.points))
    styles: dict[str, PointStyle] = {}
    for point in result.points:
        colour = run_style(style_indices.get(point.key, runs.index(point.run)), theme).colour
        styles[point.key] = PointStyle(colour, readable_text_colour(colour, theme))
    return styles


def estimate_text(estimate: MetricEstimate) -> str:
    """A value with its interval if it has one, such as "70.0 % (68.0 % to 72.0 %)" or "0.2000"."""

    def format_value(value: float) -> str:
        return format_percent(value) if METRICS[estimate.metric].shown_in_percent else format_number(value)

    if estimate.low is None or estimate.high is None:
        return format_value(estimate.value)
    return f"{format_value(estimate.value)} ({format_value(estimate.low)} to {format_value(estimate.high)})"


def point_names(result: Comparison) -> list[str]:
    """The name of each point: its run, or its method if all points are of one run."""
    single_run = len({point.run for point in result.points}) == 1 < len(result.points)
    return [METHODS[point.method].title if single_run else point.name for point in result.points]


def point_numbers(result: Comparison) -> list[str]:
    """The row of each point in the table, which is sorted by skill, the highest first; from 1."""
    row_of_key = {point.key: row for row, point in enumerate(result.points_by_skill, 1)}
    return [str(row_of_key[point.key]) for point in result.points]


# --- What names have to keep clear of ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PixelPanel:
    """The ranges of the axes, and the size at which they are drawn, in pixels."""

    ranges: AxisRanges
    width: float
    height: float

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        """The position of these values, in pixels from the left and upper edge."""
        return self.ranges.x_fraction(x) * self.width, self.ranges.y_fraction(y) * self.height

    def to_values(self, x: float, y: float) -> tuple[float, float]:
        """The values at this position, in pixels from the left and upper edge."""
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
    """Small boxes along the lines that join sizes of one model."""
    points = {point.key: (point.x.value, point.y.value) for point in result.points}
    dots: list[tuple[float, float]] = []
    for family in result.size_families:
        for first, second in pairwise(panel.to_pixels(*points[key]) for key in family):
            steps = max(1, round(math.dist(first, second) / 8))
            dx, dy = (second[0] - first[0]) / steps, (second[1] - first[1]) / steps
            dots += [(first[0] + dx * step, first[1] + dy * step) for step in range(1, steps)]
    return [(x - 1, y - 1, x + 1, y + 1) for x, y in dots]


def curve_boxes(panel: PixelPanel) -> list[Box]:
    """Small boxes along both reference curves."""
    dots = [
        panel.to_pixels(a, brier)
        for curve in (constant_confidence_curve, full_confidence_curve)
        for a, brier in curve(panel.ranges.x)
    ]
    return [(x - 1, y - 1, x + 1, y + 1) for x, y in dots]


@lru_cache(maxsize=16)
def place_curve_labels(
    panel: PixelPanel, markers: tuple[Box, ...], lines: tuple[Box, ...]
) -> list[tuple[str, Box]]:
    """Boxes for the labels of both reference curves.

    Each label covers as few points as possible, and of such positions crosses the fewest curves and lines.

    Parameters
    ----------
    panel : PixelPanel
        The panel.
    markers : tuple[Box, ...]
        The points.
    lines : tuple[Box, ...]
        Intervals and other lines, as thin boxes.

    Returns
    -------
    list[tuple[str, Box]]
        Text and box of each label. A curve has none if it does not run through the panel.
    """
    all_lines = [*lines, *curve_boxes(panel)]
    placed: list[tuple[str, Box]] = []
    for text, curve in (
        (CONSTANT_CONFIDENCE_LABEL, constant_confidence_curve),
        (FULL_CONFIDENCE_LABEL, full_confidence_curve),
    ):
        candidates = _boxes_beside_curve(
            text, [panel.to_pixels(a, value) for a, value in curve(panel.ranges.x, 6)]
        )
        boxes = [box for box in candidates if _is_inside(box, panel)]
        if boxes:
            taken = [*markers, *(box for _, box in placed)]
            placed.append((text, least_crowded(boxes, taken, all_lines)))
    return placed


def _boxes_beside_curve(text: str, line: Sequence[tuple[float, float]]) -> list[Box]:
    """Boxes above and to the right of each point of the curve, from left to right."""
    width, height = text_width(text, LABEL_SIZE) + 4, 1.3 * LABEL_SIZE
    boxes: list[Box] = []
    for x, y in line:
        boxes += [
            (x - width / 2, y - 5 - height, x + width / 2, y - 5),
            (x + 7, y - height / 2, x + 7 + width, y + height / 2),
        ]
    return boxes


def corner_boxes(text: str, panel: PixelPanel) -> list[Box]:
    """Boxes for this text at the panel's lower and upper edge."""
    width, height = text_width(text, LABEL_SIZE) + 4, 1.3 * LABEL_SIZE
    right, bottom = panel.width - width - 4, panel.height - height - 4
    tops = (
        bottom,
        4.0,
        bottom - height - 4,
        height + 8,
    )  # second rows in case a curve's label fills the first
    return [(x, y, x + width, y + height) for y in tops for x in (right, 4.0, right / 2)]


def _is_inside(box: Box, panel: PixelPanel) -> bool:
    return box[0] >= 2 and box[1] >= 2 and box[2] <= panel.width - 2 and box[3] <= panel.height - 2


# --- Names of points, for every width of the page ----------------------------------------------------------
#
# Only the browser knows the width of the page. So names are placed for several widths, each set on a
# horizontal axis of its own that overlays the figure's, and the page's style sheet shows the set that fits.
# Names are anchored to values of the axes, so that on a wider panel they only move farther apart.

NAME_SET_WIDTHS: Final = (300, 400, 520, 680, 880, 1080, 1320)
"""Widths of a figure in pixels from which on each set of names is used, as in pages/widgets/styles.css."""

_SIDE_MARGINS: Final = 70
"""Pixels of a figure to the left and right of its panel, together."""

_MAX_LABEL: Final = 30
"""Characters of a name."""

MAX_NAMED_POINTS: Final = 60
"""Points up to which names are tried: more of them cannot be read, and take seconds to place."""
MAX_REPEATED_NAMES: Final = 30
"""The same where each name stands beside three points and more: numbers tell them apart, names do not."""
MAX_NUMBERED_POINTS: Final = 120
"""Points up to which each has the number of its row in the table; of more, the pointer shows the name."""

_NARROW_PANEL_WIDTH: Final = 440
_MAX_LEADERS: Final = 5
"""On a panel narrower than this, in pixels, at most this many names, or a third, may need a leader line."""

_PlacedText: TypeAlias = tuple[str, float, float]
"""Text, and the middle of its box in pixels."""


def name_traces(
    result: Comparison, ranges: AxisRanges, theme: Theme, height: float, styles: Mapping[str, PointStyle]
) -> list[dict[str, Any]]:
    """Traces of the names for each of `NAME_SET_WIDTHS`; those for 300 pixels and more are on the axis x300.

    Parameters
    ----------
    result : Comparison
        The points.
    ranges : AxisRanges
        Ends of the axes.
    theme : Theme
        Colours.
    height : float
        Height of the panel in pixels.
    styles : Mapping[str, PointStyle]
        Key of a point → its style.
    """
    traces: list[dict[str, Any]] = []
    for width in NAME_SET_WIDTHS:
        traces += _names_at_width(
            result, PixelPanel(ranges, width - _SIDE_MARGINS, height), theme, f"x{width}", styles
        )
    return traces


def name_set_axes(ranges: AxisRanges) -> dict[str, Any]:
    """The horizontal axes of the sets of names: invisible copies of the figure's own."""
    invisible = {"overlaying": "x", "range": list(ranges.x), "visible": False, "fixedrange": True}
    return {f"xaxis{width}": dict(invisible) for width in NAME_SET_WIDTHS}


def keep_names_for_width(figure: Mapping[str, Any], width: float) -> dict[str, Any]:
    """Keep only the names for this width in pixels, for use where no style sheet picks them.

    A figure without sets of names is returned unchanged.
    """
    fitting = max((least for least in NAME_SET_WIDTHS if least <= width), default=NAME_SET_WIDTHS[0])
    others = {f"x{least}" for least in NAME_SET_WIDTHS if least != fitting}
    return {**figure, "data": [trace for trace in figure["data"] if trace.get("xaxis") not in others]}


def _names_at_width(
    result: Comparison, panel: PixelPanel, theme: Theme, xaxis: str, styles: Mapping[str, PointStyle]
) -> list[dict[str, Any]]:
    """The names, or the numbers of all points if not every name has room beside its point."""
    names = point_names(result)
    labelled = _labelled_points(result, panel, names)
    most_named = MAX_REPEATED_NAMES if 3 * len(set(names)) <= len(names) else MAX_NAMED_POINTS
    markers = tuple(
        (
            point.x - MARKER_CLEARANCE,
            point.y - MARKER_CLEARANCE,
            point.x + MARKER_CLEARANCE,
            point.y + MARKER_CLEARANCE,
        )
        for point in labelled
    )
    lines = (*interval_boxes(result, panel), *family_line_boxes(result, panel))
    notes = [*place_curve_labels(panel, markers, lines)] if result.has_reference_curves else []
    positions: tuple[LabelPosition | None, ...] = (None,) * len(labelled)
    if len(labelled) <= most_named:
        positions = _place_point_labels(result, panel, labelled, [box for _, box in notes])
    n_leaders = sum(position is not None and position.leader is not None for position in positions)
    too_many_leaders = panel.width < _NARROW_PANEL_WIDTH and n_leaders > max(_MAX_LEADERS, len(labelled) / 3)
    if None in positions or too_many_leaders:
        labelled, positions, note = _place_numbers(result, panel, markers, [box for _, box in notes])
        notes.append(note)
    by_colour = _texts_by_colour(result, labelled, positions, notes, theme, styles)
    return [
        _leader_trace(panel, labelled, positions, theme, xaxis),
        *(_text_trace(panel, texts, colour, theme, xaxis) for colour, texts in by_colour.items()),
    ]


def _place_numbers(
    result: Comparison, panel: PixelPanel, markers: Sequence[Box], obstacles: Sequence[Box]
) -> tuple[tuple[LabelledPoint, ...], tuple[LabelPosition | None, ...], tuple[str, Box]]:
    """The points labelled with numbers, the positions of these, and a note that explains them, with its box.

    The note takes space from the numbers. So if some find no position, they are counted with the note already
    in place, at its full length. Of more than `MAX_NUMBERED_POINTS` none has a number.
    """
    labelled = _labelled_points(result, panel, point_numbers(result))
    if len(labelled) > MAX_NUMBERED_POINTS:
        note = _missing_numbers_note(len(labelled), len(labelled))
        box = least_crowded(corner_boxes(note, panel), [*markers, *obstacles])
        return labelled, (None,) * len(labelled), (note, box)
    box, positions = _place_around_text(NUMBERS_NOTE, result, panel, labelled, markers, obstacles)
    if None not in positions:
        return labelled, positions, (NUMBERS_NOTE, box)
    longest_note = _missing_numbers_note(len(labelled), len(labelled))
    box, positions = _place_around_text(longest_note, result, panel, labelled, markers, obstacles)
    n_missing = positions.count(None)
    note = _missing_numbers_note(n_missing, len(labelled)) if n_missing else NUMBERS_NOTE
    return labelled, positions, (note, box)


def _place_around_text(
    text: str,
    result: Comparison,
    panel: PixelPanel,
    points: tuple[LabelledPoint, ...],
    markers: Sequence[Box],
    obstacles: Sequence[Box],
) -> tuple[Box, tuple[LabelPosition | None, ...]]:
    """The box of a note in a corner, and the positions of the labels around it."""
    box = least_crowded(corner_boxes(text, panel), [*markers, *obstacles])
    return box, _place_point_labels(result, panel, points, [*obstacles, box])


def _missing_numbers_note(n_missing: int, n_points: int) -> str:
    return f"{n_missing} of {n_points} unlabelled: hover for names"


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
    """The leader lines from points to their labels."""
    x: list[float | None] = []
    y: list[float | None] = []
    for point, position in zip(points, positions, strict=True):
        if position is not None and position.leader is not None:
            start, end = panel.to_values(point.x, point.y), panel.to_values(*position.leader)
            x += [start[0], end[0], None]
            y += [start[1], end[1], None]
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
    """The names in the colours of their runs and the notes in grey, by colour."""
    texts: dict[str, list[_PlacedText]] = defaultdict(list)
    for note, box in notes:
        texts[theme.muted_text].append((note, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
    for point, labelled, position in zip(result.points, points, positions, strict=True):
        if position is not None:
            texts[styles[point.key].text_colour].append((labelled.text, position.x, position.y))
    return texts


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
        "text": [escape_for_plotly(text) for text, *_ in texts],
        "textposition": "middle center",
        "textfont": {
            "size": LABEL_SIZE,
            "color": colour,
            "shadow": halo(theme),
        },
        "unselected": {"textfont": {"color": colour}},
        "cliponaxis": False,
    }

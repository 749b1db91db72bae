"""Runs compared by two metrics: a point for each run and method, with its intervals and its number."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from calib_core.figures.layout import (
    LABEL_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    flowing_legend,
    flowing_legend_margin,
    halo,
    legend_entry,
    legend_names,
    silent_trace,
)
from calib_core.figures.marks import error_bars, selection_ring
from calib_core.figures.palette import (
    Theme,
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
from calib_core.results.comparison import NO_POINTS, Comparison, ComparisonPoint, MetricEstimate
from calib_core.wording import format_number, format_percent, plural

_HEIGHT: Final = 500
"""Height of the figure in pixels: with what is above it, it fits a window of 720 pixels."""

_MAX_HOVER_NAME: Final = 60
"""Characters of a run's name in hover texts."""

_MAX_DESCRIBED_POINTS: Final = 8
"""Points that the description for screen readers lists."""

_MAX_LEGEND_NAME: Final = 25
"""Characters of a run's name in the legend."""

_MAX_LEGEND_RUNS: Final = 8
"""With more runs than this, their names stand in the table only, by number."""

_CROWDED_POINTS: Final = 20
"""With more points than this, error bars and lines are paler, so that numbers on them stay readable."""


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
    """
    methods = list(dict.fromkeys(point.method for point in result.points))
    styles = point_styles(result, theme, style_indices or {})
    ranges = axis_ranges(result)
    data = [
        *(reference_curves(ranges, theme) if result.has_reference_curves else ()),
        *_family_lines(result, theme),
    ]
    data += _run_entries(result, styles)
    data += [
        legend_entry(
            METHODS[id_].heading,
            "markers",
            marker=marker_style(theme.text, method_style(id_, theme, methods).symbol, theme, 10),
        )
        for id_ in methods
        if len(methods) > 1
    ]
    data += [_method_points(result, method, methods, theme, styles) for method in methods]
    if result.points:
        data += number_traces(result, ranges, theme, styles)
    data += [
        selection_ring(point.x.value, point.y.value, theme)
        for point in result.points
        if point.key == selected
    ]
    return {
        "data": data or [empty_trace()],
        "layout": _comparison_layout(result, ranges, theme, data),
    }


def _comparison_layout(
    result: Comparison, ranges: AxisRanges, theme: Theme, data: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    layout = base_layout(theme, height=_HEIGHT, top=flowing_legend_margin(legend_names(data)))
    layout["legend"] |= flowing_legend(legend_names(data))
    notes = (
        []
        if result.points
        else [annotation(theme, wrap_lines(NO_POINTS, 40), xref="x domain", yref="y domain", x=0.5, y=0.6)]
    )
    return layout | {"hovermode": "closest", "annotations": notes, **comparison_axes(result, ranges, theme)}


def _run_entries(result: Comparison, styles: Mapping[str, PointStyle]) -> list[dict[str, Any]]:
    """The colour, number and name of each run in the legend, in their order, where they are few."""
    points = {point.run: point for point in result.points_by_number}
    if not 1 < len(points) <= _MAX_LEGEND_RUNS:
        return []
    return [
        legend_entry(
            f"{result.run_numbers[run]} {truncate_middle(point.name, _MAX_LEGEND_NAME)}",
            "lines",
            line={"color": styles[point.key].colour, "width": 7},
        )
        for run, point in points.items()
    ]


def _method_points(
    result: Comparison, method: str, methods: Sequence[str], theme: Theme, styles: Mapping[str, PointStyle]
) -> dict[str, Any]:
    points = [point for point in result.points if point.method == method]
    bar_colour = with_opacity(theme.muted_text, 0.65 if len(result.points) <= _CROWDED_POINTS else 0.35)
    symbol = method_style(method, theme, methods).symbol
    marker = marker_style(theme.text, symbol, theme, 10) | {
        "color": [styles[point.key].colour for point in points],
        "symbol": [f"{symbol}-open" if point.is_partial else symbol for point in points],
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "showlegend": False,
        "cliponaxis": False,
        "x": [round(point.x.value, 7) for point in points],
        "y": [round(point.y.value, 7) for point in points],
        "error_x": error_bars([point.x for point in points], bar_colour, width=0, thickness=1.3),
        "error_y": error_bars([point.y for point in points], bar_colour, width=0, thickness=1.3),
        "marker": marker,
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
        escape_for_plotly(METHODS[point.method].heading),
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
            silent_trace(
                "lines",
                [point.x.value for point in members],
                [point.y.value for point in members],
                line={"color": with_opacity(theme.muted_text, opacity), "width": 1.5},
                meta={"family": list(family)},
            )
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
    against = METRICS[result.x].worded(result.terms).title_in_sentence
    return f"{y} against {against}, {points}. {descriptions or 'No point'}{more}."


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

    def fractions_of(self, x: float, y: float) -> tuple[float, float]:
        """These values as fractions of the panel's width and height from its lower left corner."""
        return (x - self.x[0]) / (self.x[1] - self.x[0]), (y - self.y[0]) / (self.y[1] - self.y[0])


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


def constant_confidence_curve(accuracy_range: tuple[float, float]) -> list[tuple[float, float]]:
    """Brier score of a model that always states its own accuracy a, which is a(1−a).

    Parameters
    ----------
    accuracy_range : tuple[float, float]
        Lowest and highest accuracy; clipped to [0, 1].

    Returns
    -------
    list[tuple[float, float]]
        Accuracy and Brier score of each point, from left to right.
    """
    return [(a, a * (1 - a)) for a in _accuracies(accuracy_range)]


def full_confidence_curve(accuracy_range: tuple[float, float]) -> list[tuple[float, float]]:
    """Brier score of a model that always states a confidence of 1, which is 1−a.

    Parameters and return value are those of `constant_confidence_curve`.
    """
    return [(a, 1 - a) for a in _accuracies(accuracy_range)]


def _accuracies(accuracy_range: tuple[float, float]) -> list[float]:
    low, high = max(accuracy_range[0], 0.0), min(accuracy_range[1], 1.0)
    return [low + (high - low) * step / _CURVE_STEPS for step in range(_CURVE_STEPS + 1)]


def comparison_axes(result: Comparison, ranges: AxisRanges, theme: Theme) -> dict[str, Any]:
    """Plotly's two axes, with titles that say which direction is better."""
    return {
        "xaxis": _metric_axis(result, result.x, ranges.x, theme, standoff=8),
        "yaxis": _metric_axis(result, result.y, ranges.y, theme, standoff=None),
    }


def _metric_title(result: Comparison, metric_id: str) -> str:
    """The title of a metric; that of the accuracy says of which rows it is, where some have no confidence."""
    title = METRICS[metric_id].worded(result.terms).title
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
    shared = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "legendrank": 1001}
    return [
        {
            **shared,
            "x": [a for a, _ in constant],
            "y": [round(value, 6) for _, value in constant],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "7px,5px"},
            "fill": "tozeroy",
            "fillcolor": with_opacity(theme.muted_text, 0.13),
            "name": CONSTANT_CONFIDENCE_LABEL,
        },
        {
            **shared,
            "x": [a for a, _ in full],
            "y": [round(value, 6) for _, value in full],
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "2px,3px"},
            "name": FULL_CONFIDENCE_LABEL,
        },
    ]


# --- Styles and numbers of points --------------------------------------------------------------------------
#
# Colour stands for the run and the symbol for the method, as on every page.

MAX_NUMBERED_POINTS: Final = 120
"""Points up to which they have the numbers of their runs; of more, the pointer shows the name."""

_PANEL: Final = (560, 360)
"""Width and height in pixels for which places of numbers are chosen: a wider panel has them farther apart."""

_LETTER_WIDTH: Final = 7.0
_LETTER_HEIGHT: Final = 13.0
_NUMBER_DISTANCE: Final = 6.0
"""Size of a digit, and the distance of a number from the middle of its point, in pixels."""

_CORNERS: Final = tuple(
    f"{vertical} {horizontal}"
    for horizontal in ("right", "left", "center")
    for vertical in ("top", "bottom", "middle")
    if (vertical, horizontal) != ("middle", "center")
)
"""Where a number may stand beside its point, as plotly's `textposition`, the first that is free."""


@dataclass(frozen=True, slots=True)
class PointStyle:
    """The colours of a point.

    Attributes
    ----------
    colour : str
        Of the symbol, "#RRGGBB".
    text_colour : str
        Of the number: the same colour, made dark or light enough to be read.
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


def number_traces(
    result: Comparison, ranges: AxisRanges, theme: Theme, styles: Mapping[str, PointStyle]
) -> list[dict[str, Any]]:
    """The number of its run beside each point that has room; none for more than `MAX_NUMBERED_POINTS` points.

    A trace has the numbers of one colour, because plotly pales those of several where a point is selected.
    Its markers are invisible: they keep its texts clear of the points.
    """
    if len(result.points) > MAX_NUMBERED_POINTS:
        return []
    by_colour: dict[str, list[tuple[float, float, str, str]]] = defaultdict(list)
    for point, corner in number_places(result, ranges):
        number = str(result.run_numbers[point.run])
        by_colour[styles[point.key].text_colour].append((point.x.value, point.y.value, number, corner))
    return [
        silent_trace(
            "markers+text",
            [x for x, *_ in numbers],
            [y for _, y, *_ in numbers],
            cliponaxis=False,
            text=[number for *_, number, _ in numbers],
            textposition=[corner for *_, corner in numbers],
            textfont={"size": LABEL_SIZE, "color": colour, "shadow": halo(theme)},
            marker={"size": 7, "opacity": 0},
            unselected={"textfont": {"color": colour}},
        )
        for colour, numbers in by_colour.items()
    ]


def number_places(result: Comparison, ranges: AxisRanges) -> list[tuple[ComparisonPoint, str]]:
    """The points that have a number, and where it stands beside each, as plotly's `textposition`.

    A number goes where it covers no point and no other number. A point that has no such place, or lies on
    another one of its run that has a number, goes without; a run's only number stands where it covers least.
    """
    width, height = _PANEL
    centres = {
        point.key: (width * x, height * y)
        for point in result.points
        for x, y in [ranges.fractions_of(point.x.value, point.y.value)]
    }
    # A point is as large as its symbol, whose radius is 5 pixels.
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in dict.fromkeys(centres.values())]
    places: list[tuple[ComparisonPoint, str]] = []
    numbered: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for point in result.points_by_number:
        if any(math.dist(centres[point.key], other) < _NUMBER_DISTANCE for other in numbered[point.run]):
            continue
        letters = len(str(result.run_numbers[point.run]))
        boxes = {corner: _number_box(*centres[point.key], letters, corner) for corner in _CORNERS}
        left, bottom, right, top = zip(*boxes.values(), strict=True)
        around = min(left), min(bottom), max(right), max(top)
        near = [other for other in taken if _overlap(around, other)]
        covered = {corner: sum(_overlap(box, other) for other in near) for corner, box in boxes.items()}
        corner = min(_CORNERS, key=covered.__getitem__)
        if covered[corner] and numbered[point.run]:
            continue
        numbered[point.run].append(centres[point.key])
        taken.append(boxes[corner])
        places.append((point, corner))
    return places


_Box: TypeAlias = tuple[float, float, float, float]
"""Left, lower, right and upper end in pixels."""


def _number_box(x: float, y: float, letters: int, corner: str) -> _Box:
    """Where a number of so many letters lies at a corner of the point at x, y."""
    vertical, horizontal = corner.split()
    half_width, half_height = letters * _LETTER_WIDTH / 2, _LETTER_HEIGHT / 2
    across = {"left": -1, "center": 0, "right": 1}[horizontal]
    up = {"bottom": -1, "middle": 0, "top": 1}[vertical]
    x += across * (_NUMBER_DISTANCE + half_width)
    y += up * (_NUMBER_DISTANCE + half_height)
    return x - half_width, y - half_height, x + half_width, y + half_height


def _overlap(one: _Box, other: _Box) -> float:
    """Area that two boxes share, in square pixels."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0.0

"""Accuracy over the share of questions answered, a curve for each confidence method of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.figures.label_placement import Box, box_array, overlaps, text_width
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    LABEL_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    legend_margin,
    legend_names,
)
from calib_core.figures.marks import band_trace
from calib_core.figures.palette import SeriesStyle, Theme, method_style
from calib_core.figures.text import escape_for_plotly
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.results.abstention import (
    AbstentionCurve,
    GuaranteedThreshold,
    OperatingPoint,
    target_text,
)
from calib_core.wording import format_percent, plural, threshold_text

MAX_LINE_POINTS: Final = 400
"""A line is drawn through at most this many of its steps; numbers are computed from all of them."""

_MAX_MARKED_STEPS: Final = 64
"""Up to this number every step has a marker, to show that no threshold lies between two of them."""

_SPARSE_MARKERS: Final = 9
"""Markers along a line with more steps, there only to tell the lines apart."""

_PANEL_HEIGHT: Final = 380
"""Pixels."""

_AXIS_TOP: Final = 1.01
"""Upper end of the axis of accuracies."""


def abstention_figure(
    curves: Sequence[AbstentionCurve],
    theme: Theme,
    *,
    target_accuracy: float | None = None,
    threshold: float | None = None,
    guaranteed: Sequence[GuaranteedThreshold] = (),
) -> Figure:
    """Accuracy on the questions answered over their share, with its 95 % interval where enough are answered.

    Dotted lines are the accuracies of answering every question.

    Parameters
    ----------
    curves : Sequence[AbstentionCurve]
        One for each method, all of one run.
    theme : Theme
        Colours.
    target_accuracy : float, optional
        An accuracy, 0 to 1, to draw as a level, with a ring where each curve reaches it with the most
        questions answered.
    threshold : float, optional
        A confidence to mark on each curve with a diamond.
    guaranteed : Sequence[GuaranteedThreshold], optional
        Thresholds to mark with a square, above a line down to the lower bound of the accuracy.
    """
    low = _axis_bottom(curves, target_accuracy)
    methods = [curve.method for curve in curves]
    data = [
        trace
        for curve in curves
        for trace in _curve_traces(curve, method_style(curve.method, theme, methods), theme)
    ]
    data += _operating_point_rings(curves, theme, target_accuracy, threshold)
    data += _guaranteed_squares(guaranteed, theme)
    top, one_per_line = legend_margin(legend_names(data))
    layout = base_layout(
        theme, height=_PANEL_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=one_per_line
    )
    shapes, labels = accuracy_levels(
        curves,
        [trace for trace in data if "x" in trace],
        theme,
        target_accuracy,
        (low, _AXIS_TOP, _PANEL_HEIGHT),
    )
    x_axis = axis(
        theme,
        "Share of questions answered",
        standoff=8,
        range=[0, 1.005],
        tickformat=".0%",
        tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
    )
    y_axis = axis(theme, "Accuracy of answered questions", range=[low, _AXIS_TOP], tickformat=".0%", nticks=7)
    layout |= {
        "hovermode": "closest",
        "xaxis": x_axis,
        "yaxis": y_axis,
        "shapes": shapes,
        "annotations": labels,
    }
    return {"data": data or [empty_trace()], "layout": layout}


def plotted_steps(curve: AbstentionCurve, max_points: int = MAX_LINE_POINTS) -> NDArray[np.intp]:
    """Indices of the steps that are drawn: all, or those nearest to equally spaced shares, with both ends.

    Parameters
    ----------
    curve : AbstentionCurve
        The curve.
    max_points : int
        The largest number of steps to draw.

    Returns
    -------
    NDArray[np.intp], shape (n,)
        Ascending; n is at most `max_points`.
    """
    n_steps = curve.n_answered.size
    if n_steps <= max_points:
        return np.arange(n_steps)
    nearest = np.searchsorted(curve.coverage, np.linspace(0, 1, max_points))
    return np.unique(np.clip(nearest, 0, n_steps - 1))


def _axis_bottom(curves: Sequence[AbstentionCurve], target_accuracy: float | None) -> float:
    """Lower end of the vertical axis, below the accuracies on enough rows and their intervals.

    Accuracies on few rows, such as 0 of 1, say little and do not stretch the axis.
    """
    shown = [1.0 if target_accuracy is None else target_accuracy]
    for curve in curves:
        enough = curve.n_answered >= min(MIN_ROWS, curve.n_used)
        shown += [float(curve.accuracy[enough].min())]
        shown += [float(curve.accuracy_interval[0].min(initial=1.0, where=curve.n_answered >= MIN_ROWS))]
    return max(0.0, math.floor(20 * (min(shown) - 0.01)) / 20)


def _curve_traces(curve: AbstentionCurve, style: SeriesStyle, theme: Theme) -> list[dict[str, Any]]:
    """The pale band of intervals where enough questions are answered, and the line through all steps."""
    steps = plotted_steps(curve)
    all_marked = curve.n_answered.size <= _MAX_MARKED_STEPS
    return [
        *_interval_band(curve, steps[curve.n_answered[steps] >= MIN_ROWS], style.colour),
        {
            "type": "scatter",
            "mode": "lines+markers",
            "cliponaxis": False,
            "name": escape_for_plotly(METHODS[curve.method].title),
            "x": _answered_shares(curve, steps),
            "y": [round(float(value), 6) for value in curve.accuracy[steps]],
            "line": style.line(2),
            "marker": style.marker(theme, 8) | {"maxdisplayed": 0 if all_marked else _SPARSE_MARKERS},
            "unselected": {"marker": {"opacity": 1}},
            "hoverinfo": "text",
            "hovertext": [_hover_text(curve, int(step)) for step in steps],
        },
    ]


def _interval_band(curve: AbstentionCurve, steps: NDArray[np.intp], colour: str) -> list[dict[str, Any]]:
    if not steps.size:
        return []
    low, high = ([float(value) for value in end[steps]] for end in curve.accuracy_interval)
    return [band_trace(_answered_shares(curve, steps), low, high, colour)]


def _answered_shares(curve: AbstentionCurve, steps: NDArray[np.intp]) -> list[float]:
    return [round(float(value), 6) for value in curve.coverage[steps]]


def _hover_text(curve: AbstentionCurve, step: int) -> str:
    low, high = (float(end[step]) for end in curve.accuracy_interval)
    threshold = threshold_text(curve.at_step(step).threshold)
    accuracy = format_percent(float(curve.accuracy[step]))
    return (
        f"<b>{escape_for_plotly(METHODS[curve.method].title)}</b><br>confidence ≥ {threshold}"
        f"<br>answered {format_percent(float(curve.coverage[step]))} ({int(curve.n_answered[step]):,})"
        f"<br>right {accuracy} ({format_percent(low)} to {format_percent(high)})"
    )


def _operating_point_rings(
    curves: Sequence[AbstentionCurve], theme: Theme, target_accuracy: float | None, threshold: float | None
) -> list[dict[str, Any]]:
    """Rings where each curve answers most at the target accuracy, and where it is at the threshold."""
    rings: list[dict[str, Any] | None] = []
    if target_accuracy is not None:
        at_target = [curve.for_accuracy(target_accuracy) for curve in curves]
        rings.append(
            _ring_trace(at_target, theme, f"empirical at {target_text(target_accuracy)}", "circle-open")
        )
    if threshold is not None:
        at_threshold = [curve.at_threshold(threshold) for curve in curves]
        rings.append(_ring_trace(at_threshold, theme, f"confidence ≥ {threshold:g}", "diamond-open"))
    return [ring for ring in rings if ring]


def _ring_trace(
    operating_points: Sequence[OperatingPoint | None], theme: Theme, name: str, symbol: str
) -> dict[str, Any] | None:
    known = [point for point in operating_points if point is not None and point.accuracy is not None]
    if not known:
        return None
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_for_plotly(name),
        "hoverinfo": "skip",
        "cliponaxis": False,
        "x": [point.coverage for point in known],
        "y": [point.accuracy for point in known],
        "marker": {
            "size": 15,
            "symbol": symbol,
            "color": theme.highlight_outline,
            "line": {"color": theme.highlight_outline, "width": 2.5},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def _guaranteed_squares(guaranteed: Sequence[GuaranteedThreshold], theme: Theme) -> list[dict[str, Any]]:
    """Squares at the guaranteed thresholds, each with a line down to its lower bound."""
    found = [each for each in guaranteed if each.point is not None]
    target = target_text(found[0].target_accuracy) if found else ""
    square = _ring_trace([each.point for each in found], theme, f"guaranteed at {target}", "square-open")
    if square is None:
        return []
    below = [y - (each.accuracy_low or 0.0) for y, each in zip(square["y"], found, strict=True)]
    square["error_y"] = {
        "type": "data",
        "symmetric": False,
        "array": [0] * len(below),
        "arrayminus": below,
        "color": theme.highlight_outline,
        "thickness": 2.5,
        "width": 6,
    }
    return [square]


def describe_abstention(
    curves: Sequence[AbstentionCurve], guaranteed: Sequence[GuaranteedThreshold] = ()
) -> str:
    """Describe the figure for screen readers, as plain text."""
    descriptions = "; ".join(
        f"{METHODS[curve.method].title}: accuracy {format_percent(curve.accuracy_of_all)} "
        f"answering all, {_accuracy_at_half(curve)} answering the more confident half"
        for curve in curves
    )
    promises = "".join(
        f" {METHODS[found.curve.method].title}: {found.headline}" for found in guaranteed if found.point
    )
    return f"Accuracy over the share of questions answered. {descriptions or 'No curve'}.{promises}"


def _accuracy_at_half(curve: AbstentionCurve) -> str:
    """The accuracy of the smallest step that answers half of the questions with a confidence."""
    step = int(np.searchsorted(curve.n_answered / curve.n_used, 0.5 - 1e-9))
    return format_percent(float(curve.accuracy[min(step, curve.n_answered.size - 1)]))


# --- Levels of accuracy and their labels -------------------------------------------------------------------

_LABEL_ANCHORS: Final = (("left", 0.005), ("center", 0.3), ("center", 0.5), ("center", 0.7), ("right", 0.995))
"""Anchor and horizontal position, as a fraction of the panel, of each possible label; the best first."""

_PANEL_WIDTHS: Final = (270, 330, 560, 900)
"""Panels on which labels have to be clear of everything else, in pixels: from a phone's to a page's."""

_RING_RADIUS: Final = 10
_LINE_BOX_DISTANCE: Final = 6
"""Radius of a ring, and the distance between boxes along a line, in pixels."""

_OVERLAP_COST: Final = 50
"""Cost of covering a ring or another label or leaving the panel; crossing a line costs 1."""

_LevelLabel: TypeAlias = tuple[str, float, bool]
"""Text, its level, and whether it goes above the level where it can."""


@dataclass(frozen=True, slots=True)
class LevelPanel:
    """A panel of one width, and what on it labels should keep clear of.

    Attributes
    ----------
    low, high : float
        Ends of the axis of accuracies.
    width, height : float
        Pixels.
    line_boxes : list[Box]
        Boxes along lines, which a label may cover at a small cost.
    solid_boxes : list[Box]
        Rings and labels, which cost more to cover.
    """

    low: float
    high: float
    width: float
    height: float
    line_boxes: list[Box] = field(default_factory=list[Box])
    solid_boxes: list[Box] = field(default_factory=list[Box])

    def pixels_from_top(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Distance of these accuracies from the upper edge, in pixels."""
        return self.height * (self.high - np.asarray(values, np.float64)) / (self.high - self.low)

    def add_obstacles(self, traces: Sequence[Mapping[str, Any]], levels: Sequence[float]) -> None:
        """Note the area that these traces and levels cover."""
        for trace in traces:
            x = self.width * np.asarray(trace["x"], np.float64)
            y = self.pixels_from_top(trace["y"])
            if trace["mode"] == "markers":
                self.solid_boxes.extend(_square_boxes(x, y, _RING_RADIUS))
            else:
                self.line_boxes.extend(_square_boxes(*_points_along_line(x, y), 2))
        for y in self.pixels_from_top(levels).tolist():
            self.line_boxes.append((0, y - 1, self.width, y + 1))

    def label_box(self, label: _LevelLabel, anchor: str, x: float, side: str) -> Box:
        """The box of a label beside its level.

        Parameters
        ----------
        label : tuple[str, float, bool]
            The label.
        anchor : {"left", "center", "right"}
            The point of the label that is put at `x`.
        x : float
            Fraction of the panel's width.
        side : {"bottom", "top"}
            The edge of the label that faces the level, as plotly's `yanchor`.
        """
        text, level, _ = label
        width, height = text_width(text, LABEL_SIZE) + 6, 1.3 * LABEL_SIZE + 2
        left = x * self.width - {"left": 0, "center": width / 2, "right": width}[anchor]
        (y,) = self.pixels_from_top([level]).tolist()
        top = y - height - 2 if side == "bottom" else y + 2
        return left, top, left + width, top + height

    def cost(self, boxes: Sequence[Box]) -> NDArray[np.int64]:
        """The cost of a label in each box, shape (n,)."""
        candidates = box_array(boxes)
        n_crossed = overlaps(candidates, box_array(self.line_boxes)).sum(axis=1)
        n_covered = overlaps(candidates, box_array(self.solid_boxes)).sum(axis=1)
        n_edges_crossed = (
            (candidates[:, :2] < 0).sum(axis=1)
            + (candidates[:, 2] > self.width)
            + (candidates[:, 3] > self.height)
        )
        return n_crossed + _OVERLAP_COST * (n_covered + n_edges_crossed)


def _square_boxes(x: NDArray[np.float64], y: NDArray[np.float64], radius: float) -> list[Box]:
    """Squares of side 2·`radius` around the points."""
    return [
        (x_ - radius, y_ - radius, x_ + radius, y_ + radius)
        for x_, y_ in zip(x.tolist(), y.tolist(), strict=True)
    ]


def _points_along_line(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equally spaced points along the line, `_LINE_BOX_DISTANCE` pixels or a little more apart."""
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    sampled = np.linspace(0, float(length[-1]), 1 + int(length[-1] // _LINE_BOX_DISTANCE))
    return np.interp(sampled, length, x), np.interp(sampled, length, y)


def accuracy_levels(
    curves: Sequence[AbstentionCurve],
    traces: Sequence[Mapping[str, Any]],
    theme: Theme,
    target_accuracy: float | None,
    panel_extent: tuple[float, float, float],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Horizontal lines at the accuracies of answering all questions and at the target, with their labels.

    Parameters
    ----------
    curves : Sequence[AbstentionCurve]
        The curves.
    traces : Sequence[Mapping[str, Any]]
        Traces that labels keep clear of, each with `x` and `y`.
    theme : Theme
        Colours.
    target_accuracy : float or None
        The target, 0 to 1; it is left out if it is outside the axis.
    panel_extent : tuple[float, float, float]
        Lower and upper end of the axis of accuracies, and the panel's height in pixels.

    Returns
    -------
    shapes, annotations : list[dict[str, Any]]
        Entries of plotly's layout.
    """
    labels = _overall_accuracies(curves)
    shapes = [_level_shape(value, theme, "2px,3px") for _, value, _ in labels]
    labels = labels if len(labels) < 3 else [labels[0], labels[-1]]  # there is no room for more
    if target_accuracy is not None and panel_extent[0] <= target_accuracy <= 1:
        shapes.append(_level_shape(target_accuracy, theme, "7px,5px"))
        labels.append((f"target: {target_text(target_accuracy)}", target_accuracy, True))
    panels = [LevelPanel(panel_extent[0], panel_extent[1], width, panel_extent[2]) for width in _PANEL_WIDTHS]
    for panel in panels:
        panel.add_obstacles(traces, [value for _, value, _ in labels])
    return shapes, [_level_annotation(label, panels, theme) for label in labels]


def _overall_accuracies(curves: Sequence[AbstentionCurve]) -> list[_LevelLabel]:
    """Labels of the accuracies of answering all questions, the highest first; equal percentages share one.

    A label says what sets its accuracy apart from the others: the answer judged, or else the number of rows.
    """
    found: dict[str, tuple[float, list[AbstentionCurve]]] = {}
    for curve in sorted(curves, key=lambda curve: -curve.accuracy_of_all):
        value = curve.accuracy_of_all
        found.setdefault(format_percent(value), (value, []))[1].append(curve)
    names = _distinct_names([of_value for _, of_value in found.values()])
    labels: list[_LevelLabel] = []
    for (percentage, (value, _)), name in zip(found.items(), names, strict=True):
        labels.append((f"answer all{name}: {percentage}", value, not labels and len(found) > 1))
    return labels


def _distinct_names(curves_of_levels: Sequence[Sequence[AbstentionCurve]]) -> list[str]:
    """What each level has and no other has, such as " (greedy answer)" or " (1,020 rows)"; "" otherwise."""
    judged = [{curve.judged for curve in of_level} for of_level in curves_of_levels]
    n_rows = [{plural(curve.n_questions, "row") for curve in of_level} for of_level in curves_of_levels]
    for names in (judged, n_rows):
        singles = [next(iter(of_level)) for of_level in names if len(of_level) == 1]
        if 1 < len(names) == len(set(singles)):
            return [f" ({name})" for name in singles]
    return [""] * len(curves_of_levels)


def _level_shape(value: float, theme: Theme, dash: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x domain",
        "yref": "y",
        "x0": 0,
        "x1": 1,
        "y0": value,
        "y1": value,
        "layer": "below",
        "line": {"color": theme.muted_text, "width": 1.4, "dash": dash},
    }


def _level_annotation(label: _LevelLabel, panels: Sequence[LevelPanel], theme: Theme) -> dict[str, Any]:
    """The label at the least costly position over all panels; notes its box as covered on each of them."""
    text, value, above = label
    sides = ("bottom", "top") if above else ("top", "bottom")
    positions = [(anchor, x, side) for anchor, x in _LABEL_ANCHORS for side in sides]
    boxes = [[panel.label_box(label, *position) for position in positions] for panel in panels]
    costs = [panel.cost(on_panel) for panel, on_panel in zip(panels, boxes, strict=True)]
    best = int(np.argmin(np.sum(costs, axis=0)))
    for panel, on_panel in zip(panels, boxes, strict=True):
        panel.solid_boxes.append(on_panel[best])
    anchor, x, side = positions[best]
    return annotation(
        theme,
        escape_for_plotly(text),
        xref="x domain",
        x=x,
        xanchor=anchor,
        yref="y",
        y=value,
        yanchor=side,
        font={"size": LABEL_SIZE, "color": theme.muted_text},
    )

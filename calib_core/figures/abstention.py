"""How is it drawn what refusing buys?  Curves of one run → accuracy over share answered, a line a method."""

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
from calib_core.figures.palette import Theme, method_style
from calib_core.figures.text import escape_for_plotly
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.results.abstention import AbstentionCurve, OperatingPoint, target_text, threshold_text
from calib_core.wording import format_percent

# MERGED abstention_levels: Which accuracies are levels across the panel, and where do their words stand clear of what is drawn?

_LABEL_ANCHORS: Final = (("left", 0.005), ("center", 0.3), ("center", 0.5), ("center", 0.7), ("right", 0.995))
"""Where words may stand, and by which end: best the first."""

_PANEL_WIDTHS: Final = (270, 330, 560, 900)
"""Of panels on which words have to stand clear, in pixels: from a telephone's to a page's."""

_RING_RADIUS: Final = 10
_LINE_BOX_DISTANCE: Final = 6
"""Half of a ring, and how far the boxes along a line are apart, in pixels."""

_OVERLAP_COST: Final = 50
"""So much worse than a crossed line is it to lie on a ring or on words, or to leave the panel."""

_LevelLabel: TypeAlias = tuple[str, float, bool]
"""Words, their level, and whether they are rather above it."""


@dataclass(frozen=True, slots=True)
class LevelPanel:
    """low, high: ends of the axis of accuracies; width, height: in pixels; thin, solid: boxes taken."""

    low: float
    high: float
    width: float
    height: float
    line_boxes: list[Box] = field(default_factory=list[Box])
    solid_boxes: list[Box] = field(default_factory=list[Box])

    def pixels_from_top(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Pixels from the upper edge."""
        return self.height * (self.high - np.asarray(values, np.float64)) / (self.high - self.low)

    def add_obstacles(self, traces: Sequence[Mapping[str, Any]], levels: Sequence[float]) -> None:
        """What these traces and levels take."""
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
        """What the words take there, beside the line of their own level."""
        wide, tall = text_width(label[0], LABEL_SIZE) + 6, 1.3 * LABEL_SIZE + 2
        left = x * self.width - {"left": 0, "center": wide / 2, "right": wide}[anchor]
        (y,) = self.pixels_from_top([label[1]]).tolist()
        top = y - tall - 2 if side == "bottom" else y + 2
        return left, top, left + wide, top + tall

    def cost(self, boxes: Sequence[Box]) -> NDArray[np.int64]:
        """How badly words would stand in each box."""
        own = box_array(boxes)
        crossed = overlaps(own, box_array(self.line_boxes)).sum(axis=1)
        covered = overlaps(own, box_array(self.solid_boxes)).sum(axis=1)
        beyond = (own[:, :2] < 0).sum(axis=1) + (own[:, 2] > self.width) + (own[:, 3] > self.height)
        return crossed + _OVERLAP_COST * (covered + beyond)


def _square_boxes(x: NDArray[np.float64], y: NDArray[np.float64], half: float) -> list[Box]:
    return [
        (across - half, down - half, across + half, down + half)
        for across, down in zip(x.tolist(), y.tolist(), strict=True)
    ]


def _points_along_line(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points on the line, equally far apart."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0, float(way[-1]), 1 + int(way[-1] // _LINE_BOX_DISTANCE))
    return np.interp(at, way, x), np.interp(at, way, y)


def accuracy_levels(
    curves: Sequence[AbstentionCurve],
    traces: Sequence[Mapping[str, Any]],
    theme: Theme,
    target_accuracy: float | None,
    panel_extent: tuple[float, float, float],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines across and their words: the accuracy of answering all, by whose answer it is, and the one wanted.

    drawn: the traces that words keep clear of; ends: of the axis of accuracies, and its height in pixels.
    """
    said = _overall_accuracies(curves)
    shapes = [_level_shape(value, theme, "2px,3px") for _, value, _ in said]
    said = said if len(said) < 3 else [said[0], said[-1]]  # names of more would not fit
    if target_accuracy is not None and panel_extent[0] <= target_accuracy <= 1:
        shapes.append(_level_shape(target_accuracy, theme, "7px,5px"))
        said.append((f"wanted: {target_text(target_accuracy)}", target_accuracy, True))
    panels = [LevelPanel(panel_extent[0], panel_extent[1], width, panel_extent[2]) for width in _PANEL_WIDTHS]
    for panel in panels:
        panel.add_obstacles(traces, [value for _, value, _ in said])
    return shapes, [_level_annotation(one, panels, theme) for one in said]


def _overall_accuracies(curves: Sequence[AbstentionCurve]) -> list[_LevelLabel]:
    """The accuracies of answering all, highest first; those that are written alike once.

    By whose answer it is, where each is of one kind and they differ: more words have no room.
    """
    found: dict[str, tuple[float, dict[str, None]]] = {}
    for curve in sorted(curves, key=lambda one: -(one.answering_all.accuracy or 0.0)):
        value = curve.answering_all.accuracy or 0.0
        found.setdefault(format_percent(value), (value, {}))[1][curve.judged] = None
    kinds = [tuple(judged) for _, judged in found.values()]
    apart = len(set(kinds)) > 1 and max(map(len, kinds)) == 1
    said: list[_LevelLabel] = []
    for share, (value, judged) in found.items():
        whose = f" ({next(iter(judged))})" if apart else ""
        said.append((f"answer all{whose}: {share}", value, not said and len(found) > 1))
    return said


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
    """The words at the place that has least on it, which they take."""
    words, value, above = label
    sides = ("bottom", "top") if above else ("top", "bottom")
    places = [(anchor, x, side) for anchor, x in _LABEL_ANCHORS for side in sides]
    boxes = [[panel.label_box(label, *place) for place in places] for panel in panels]
    costs = [panel.cost(own) for panel, own in zip(panels, boxes, strict=True)]
    best = int(np.argmin(np.sum(costs, axis=0)))
    for panel, own in zip(panels, boxes, strict=True):
        panel.solid_boxes.append(own[best])
    anchor, x, side = places[best]
    return annotation(
        theme,
        escape_for_plotly(words),
        xref="x domain",
        x=x,
        xanchor=anchor,
        yref="y",
        y=value,
        yanchor=side,
        font={"size": LABEL_SIZE, "color": theme.muted_text},
    )


MAX_LINE_POINTS: Final = 400
"""A line is drawn through so many of its steps at most: numbers are exact all the same."""

_MAX_MARKED_STEPS: Final = 64
"""Up to so many steps have a symbol each: between two of them there is no threshold."""

_SPARSE_MARKERS: Final = 9
"""Else so many stand along the line, only to tell it from the others."""

_PANEL_HEIGHT: Final = 380
_AXIS_TOP: Final = 1.01


def abstention_figure(
    curves: Sequence[AbstentionCurve],
    theme: Theme,
    *,
    target_accuracy: float | None = None,
    threshold: float | None = None,
) -> Figure:
    """Accuracy on the questions answered, over their share, with its 95 % interval where they are not few.

    wanted: an accuracy to draw as a level, with a ring where each line last has it; threshold: one to mark on
    each line with a filled ring. Dotted: the accuracy of answering all.
    """
    low = _axis_bottom(curves, target_accuracy)
    data = [trace for curve in curves for trace in _curve_traces(curve, theme)]
    data += _operating_point_rings(curves, theme, target_accuracy, threshold)
    top, alone = legend_margin(legend_names(data))
    layout = base_layout(theme, height=_PANEL_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=alone)
    shapes, words = accuracy_levels(
        curves, [one for one in data if "x" in one], theme, target_accuracy, (low, _AXIS_TOP, _PANEL_HEIGHT)
    )
    across = axis(
        theme,
        "Share of the questions answered",
        standoff=8,
        range=[0, 1.005],
        tickformat=".0%",
        tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
    )
    upward = axis(theme, "Accuracy on those answered", range=[low, _AXIS_TOP], tickformat=".0%", nticks=7)
    layout |= {
        "hovermode": "closest",
        "xaxis": across,
        "yaxis": upward,
        "shapes": shapes,
        "annotations": words,
    }
    return {"data": data or [empty_trace()], "layout": layout}


def plotted_steps(curve: AbstentionCurve, max_points: int = MAX_LINE_POINTS) -> NDArray[np.intp]:
    """Positions of the steps that are drawn: all, or those next to equally spaced shares, with both ends."""
    size = curve.n_answered.size
    if size <= max_points:
        return np.arange(size)
    near = np.searchsorted(curve.coverage, np.linspace(0, 1, max_points))
    return np.unique(np.clip(near, 0, size - 1))


def _axis_bottom(curves: Sequence[AbstentionCurve], target_accuracy: float | None) -> float:
    """Lower end of the vertical axis: below every accuracy of rows enough, and its interval.

    1 of 1 and 0 of 1 are no news, and do not decide what is in view.
    """
    seen = [1.0 if target_accuracy is None else target_accuracy]
    for curve in curves:
        enough = curve.n_answered >= min(MIN_ROWS, curve.n_used)
        seen += [float(curve.accuracy[enough].min())]
        seen += [float(low) for low in curve.accuracy_interval[0][curve.n_answered >= MIN_ROWS]]
    return max(0.0, math.floor(20 * (min(seen) - 0.01)) / 20)


def _curve_traces(curve: AbstentionCurve, theme: Theme) -> list[dict[str, Any]]:
    """The pale interval of steps that answer enough, and the line through all steps."""
    drawn, at = method_style(curve.method, theme), plotted_steps(curve)
    marked = curve.n_answered.size <= _MAX_MARKED_STEPS
    return [
        *_interval_band(curve, at[curve.n_answered[at] >= MIN_ROWS], drawn.colour),
        {
            "type": "scatter",
            "mode": "lines+markers",
            "cliponaxis": False,
            "name": escape_for_plotly(METHODS[curve.method].title),
            "x": _answered_shares(curve, at),
            "y": [round(float(value), 6) for value in curve.accuracy[at]],
            "line": drawn.line(2),
            "marker": drawn.marker(theme, 8) | {"maxdisplayed": 0 if marked else _SPARSE_MARKERS},
            "unselected": {"marker": {"opacity": 1}},
            "hoverinfo": "text",
            "hovertext": [_hover_text(curve, int(place)) for place in at],
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
    least = threshold_text(curve.at_step(step).threshold)
    return (
        f"<b>{escape_for_plotly(METHODS[curve.method].title)}</b><br>confidence ≥ {least}"
        f"<br>answered {format_percent(float(curve.coverage[step]))} ({int(curve.n_answered[step]):,})"
        f"<br>right {format_percent(float(curve.accuracy[step]))} ({format_percent(low)} to {format_percent(high)})"
    )


def _operating_point_rings(
    curves: Sequence[AbstentionCurve], theme: Theme, target_accuracy: float | None, threshold: float | None
) -> list[dict[str, Any]]:
    """Where each line last has the wanted accuracy, and where it stands at the threshold."""
    rings: list[dict[str, Any] | None] = []
    if target_accuracy is not None:
        found = [curve.for_accuracy(target_accuracy) for curve in curves]
        rings.append(
            _ring_trace(found, theme, f"most answered at {target_text(target_accuracy)}", "circle-open")
        )
    if threshold is not None:
        reached = [curve.at_threshold(threshold) for curve in curves]
        rings.append(_ring_trace(reached, theme, f"confidence ≥ {threshold:g}", "diamond-open"))
    return [ring for ring in rings if ring]


def _ring_trace(
    operating_points: Sequence[OperatingPoint | None], theme: Theme, name: str, symbol: str
) -> dict[str, Any] | None:
    own = [one for one in operating_points if one is not None and one.accuracy is not None]
    if not own:
        return None
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_for_plotly(name),
        "hoverinfo": "skip",
        "cliponaxis": False,
        "x": [one.coverage for one in own],
        "y": [one.accuracy for one in own],
        "marker": {
            "size": 15,
            "symbol": symbol,
            "color": theme.highlight_outline,
            "line": {"color": theme.highlight_outline, "width": 2.5},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def describe_abstention(curves: Sequence[AbstentionCurve]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(
        f"{METHODS[curve.method].title}: accuracy {format_percent(curve.answering_all.accuracy or 0.0)} answering all, "
        f"{_accuracy_at_half(curve)} answering the surer half"
        for curve in curves
    )
    return f"Accuracy over the share of questions answered. {told or 'No curve'}."


def _accuracy_at_half(curve: AbstentionCurve) -> str:
    """The accuracy of the smallest step that answers half of the questions."""
    at = int(np.searchsorted(curve.coverage, 0.5 - 1e-9))
    return format_percent(float(curve.accuracy[min(at, curve.coverage.size - 1)]))

"""Which accuracies are levels across the panel, and where do their words stand clear of what is drawn?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.abstention import AbstentionCurve
from calib_core.analysis.abstention_reading import target_text
from calib_core.figures.boxes import Box, box_array, overlaps
from calib_core.figures.label_places import text_width
from calib_core.figures.layout import LABEL_SIZE, annotation
from calib_core.figures.text import escape_for_plotly
from calib_core.figures.theme import Theme
from calib_core.wording import format_percent

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


def _points_along_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points on the line, equally far apart."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0, float(way[-1]), 1 + int(way[-1] // _LINE_BOX_DISTANCE))
    return np.interp(at, way, x), np.interp(at, way, y)


def accuracy_levels(
    curves: Sequence[AbstentionCurve], traces: Sequence[Mapping[str, Any]], theme: Theme, target_accuracy: float | None,
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
        "type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": value, "y1": value,
        "layer": "below", "line": {"color": theme.muted_text, "width": 1.4, "dash": dash},
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
        theme, escape_for_plotly(words), xref="x domain", x=x, xanchor=anchor, yref="y", y=value, yanchor=side,
        font={"size": LABEL_SIZE, "color": theme.muted_text},
    )

"""What of a comparison's panel is taken, in pixels: intervals, lines, and words on its curves?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from calib_core.analysis.comparison import Comparison
from calib_core.figures.boxes import Box, least_crowded
from calib_core.figures.comparison_axes import FULL_CONFIDENCE_LABEL, CONSTANT_CONFIDENCE_LABEL, AxisRanges, full_confidence_curve, constant_confidence_curve
from calib_core.figures.label_places import text_width
from calib_core.figures.layout import LABEL_SIZE


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
    dots = [panel.to_pixels(*one) for curve in (constant_confidence_curve, full_confidence_curve) for one in curve(panel.ranges.x)]
    return [(x - 1, y - 1, x + 1, y + 1) for x, y in dots]


@lru_cache(maxsize=16)
def place_curve_labels(panel: PixelPanel, markers: tuple[Box, ...], lines: tuple[Box, ...]) -> list[tuple[str, Box]]:
    """The words on both curves, each where it covers no point, and no curve or line if that can be."""
    thin = [*lines, *curve_boxes(panel)]
    said: list[tuple[str, Box]] = []
    for words, curve in ((CONSTANT_CONFIDENCE_LABEL, constant_confidence_curve), (FULL_CONFIDENCE_LABEL, full_confidence_curve)):
        beside = _boxes_beside_curve(words, [panel.to_pixels(a, value) for a, value in curve(panel.ranges.x, 6)])
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

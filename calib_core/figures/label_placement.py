"""Placement of labels beside many points, so that none covers another label or a point or leaves the panel.

Each point has candidate positions around it. One that covers a point or leaves the panel is ruled out; being
far from the point or crossing a line adds to its cost. Labels are placed greedily, those of the most crowded
points first, and then moved to better positions in a few rounds. The result is deterministic.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Box: TypeAlias = tuple[float, float, float, float]
"""(left, top, right, bottom) in pixels; y grows downward."""

BoxArray: TypeAlias = NDArray[np.float64]
"""Boxes as rows, shape (n, 4)."""


def box_array(boxes: Sequence[Box]) -> BoxArray:
    """The boxes as an array of shape (n, 4), also if there are none."""
    return np.array(boxes, np.float64).reshape(-1, 4)


def overlaps(boxes: BoxArray, others: BoxArray, gap: float = 0.0) -> NDArray[np.bool_]:
    """Whether each box overlaps each of the others; touching along an edge does not count.

    Parameters
    ----------
    boxes : NDArray[np.float64], shape (n, 4)
        Rows of left, top, right, bottom in pixels.
    others : NDArray[np.float64], shape (m, 4)
        Likewise.
    gap : float
        Pixels that boxes have to keep between them: closer ones count as overlapping.

    Returns
    -------
    NDArray[np.bool_], shape (n, m)
    """
    a, b = boxes[:, None], others[None]
    return (
        (a[..., 0] < b[..., 2] + gap)
        & (b[..., 0] < a[..., 2] + gap)
        & (a[..., 1] < b[..., 3] + gap)
        & (b[..., 1] < a[..., 3] + gap)
    )


def least_crowded(boxes: Sequence[Box], taken: Sequence[Box], lines: Sequence[Box] = ()) -> Box:
    """The box that covers the fewest obstacles, and of those the first that crosses the fewest lines.

    Parameters
    ----------
    boxes : Sequence[Box]
        The candidates, one or more.
    taken : Sequence[Box]
        Obstacles. The box returned may cover some of them.
    lines : Sequence[Box]
        Lines, as thin boxes.
    """
    candidates = box_array(boxes)
    n_covered, n_crossed = (overlaps(candidates, box_array(others)).sum(axis=1) for others in (taken, lines))
    return boxes[int(np.lexsort((n_crossed, n_covered))[0])]


MARKER_CLEARANCE: Final = 7.0
"""Half the side of the square around a point that no label enters, in pixels."""

_LABEL_GAP: Final = 2.0
"""Pixels between two labels, and between a label and the panel's edge."""

_RING_GAPS: Final = (2.0, 8.0, 16.0, 26.0, 38.0, 52.0, 68.0, 86.0, 108.0, 134.0, 164.0)
_RING_DIRECTIONS: Final = 16
"""Candidates lie on rings around the point: pixels between marker and label, and directions on each ring."""

_IMPROVEMENT_ROUNDS: Final = 4
_LINE_CROSSING_COST: Final = 9.0
"""Cost of a label on a thin line, in pixels of distance."""

_LEADER_CROSSING_COST: Final = 30.0
"""Cost of a leader across a label or a point, and of a label on a leader."""

_LEADER_SAMPLES: Final = np.linspace(0.1, 0.95, 9)
"""Positions along a leader, as fractions of its length, at which crossings are looked for."""

_LEADER_DISTANCE: Final = 9.0
"""A label farther from its marker than this many pixels is joined to it by a leader line."""

_NARROW_LETTERS: Final = frozenset("iljtfrI.,:;'|!()[]{}/\\ -·1")
_WIDE_LETTERS: Final = frozenset("mwMW@%")


@dataclass(frozen=True, slots=True)
class LabelledPoint:
    """A point and its label.

    Attributes
    ----------
    x, y : float
        Pixels from the panel's left and upper edge.
    text : str
        The label.
    """

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class LabelPosition:
    """The position of a label, in pixels from the panel's left and upper edge.

    Attributes
    ----------
    x, y : float
        Middle of the label.
    width, height : float
        Size of its box.
    leader : tuple[float, float] or None
        Where the leader line from the point meets the label. None if the label is so close to its point that
        it needs no leader.
    """

    x: float
    y: float
    width: float
    height: float
    leader: tuple[float, float] | None

    @property
    def box(self) -> Box:
        """The label's box."""
        dx, dy = self.width / 2, self.height / 2
        return self.x - dx, self.y - dy, self.x + dx, self.y + dy


def text_width(text: str, font_size: float) -> float:
    """Estimated width of the text in pixels at this font size in pixels; rather too large than too small."""
    return font_size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    """Estimated width of a character as a fraction of the font size."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if not character.isascii() and character not in _NARROW_LETTERS:
        return 0.75
    if character in _WIDE_LETTERS:
        return 0.86
    if character in _NARROW_LETTERS:
        return 0.34
    return 0.64 if character.isupper() else 0.55


@lru_cache(maxsize=256)
def place_labels(
    points: tuple[LabelledPoint, ...],
    width: float,
    height: float,
    *,
    font_size: float,
    obstacles: tuple[Box, ...] = (),
    lines: tuple[Box, ...] = (),
) -> tuple[LabelPosition | None, ...]:
    """A position for the label of each point, or None where no candidate is free.

    Parameters
    ----------
    points : tuple[LabelledPoint, ...]
        The points, in pixels.
    width, height : float
        Size of the panel in pixels.
    font_size : float
        In pixels.
    obstacles : tuple[Box, ...]
        Boxes that no label enters.
    lines : tuple[Box, ...]
        Thin boxes that labels avoid if they can.

    Returns
    -------
    tuple[LabelPosition | None, ...]
        One for each point, in order.

    Notes
    -----
    No label overlaps another label, an obstacle or the square of side 2·`MARKER_CLEARANCE` around a point,
    and none leaves the panel. All of this still holds if the panel is stretched horizontally, with labels
    and points at the same fractions of its width.
    """
    if not points:
        return ()
    search = _LabelSearch(points, width, height, font_size, box_array(obstacles), box_array(lines))
    for index in search.order:
        search.settle(index)
    for _ in range(_IMPROVEMENT_ROUNDS):
        if not sum(search.settle(index) for index in search.order):
            break
    return tuple(map(search.position, range(len(points))))


class _LabelSearch:
    """The candidate positions of every label, and the index of the chosen one: -1 if there is none."""

    def __init__(
        self,
        points: Sequence[LabelledPoint],
        width: float,
        height: float,
        font_size: float,
        obstacles: BoxArray,
        lines: BoxArray,
    ) -> None:
        self.points = np.array([(point.x, point.y) for point in points])
        reach = np.array([MARKER_CLEARANCE, MARKER_CLEARANCE])
        self.markers = np.hstack([self.points - reach, self.points + reach])
        self.sizes = np.array([(text_width(point.text, font_size) + 2, 1.3 * font_size) for point in points])
        self.panel = (width, height)
        self.lines = lines
        self.candidates = [
            self._candidates_around(index, np.vstack([self.markers, obstacles]))
            for index in range(len(points))
        ]
        self.chosen = np.full(len(points), -1)
        self.boxes, self.leaders = np.full((2, len(points), 4), np.inf)
        self.reach = [_hull(np.vstack([boxes, leaders])) for boxes, _, leaders in self.candidates]
        distances = np.abs(self.points[:, None] - self.points[None]) / np.array([70.0, 30.0])
        n_neighbours = (distances.max(axis=2) < 1).sum(axis=1)
        self.order = sorted(
            range(len(points)), key=lambda index: (-n_neighbours[index], -self.sizes[index, 0], index)
        )

    def _candidates_around(
        self, index: int, obstacles: BoxArray
    ) -> tuple[BoxArray, NDArray[np.float64], BoxArray]:
        """Free boxes around a point, the cost of each by itself, and the leader from the point to each."""
        middles, cost = _candidate_ring(self.sizes[index])
        half = self.sizes[index] / 2
        middles = middles + self.points[index]
        boxes = np.hstack([middles - half, middles + half])
        width, height = self.panel
        inside = (
            (boxes[:, :2].min(axis=1) >= _LABEL_GAP)
            & (boxes[:, 2] <= width - _LABEL_GAP)
            & (boxes[:, 3] <= height - _LABEL_GAP)
        )
        free = inside & ~overlaps(boxes, obstacles).any(axis=1)
        boxes, cost = boxes[free], cost[free]
        cost = cost + _LINE_CROSSING_COST * np.sqrt(overlaps(boxes, self.lines).sum(axis=1))
        ends = np.clip(self.points[index], boxes[:, :2], boxes[:, 2:])
        others = np.delete(self.markers, index, axis=0)
        leaders = np.hstack([np.broadcast_to(self.points[index], ends.shape), ends])
        cost = cost + _LEADER_CROSSING_COST * _leaders_cross(leaders, others).sum(axis=1)
        return boxes, cost, leaders

    def settle(self, index: int) -> bool:
        """Move a label to its cheapest position given all the others; return whether it moved."""
        boxes, own_cost, leaders = self.candidates[index]
        if not len(boxes):
            return False
        others = self._placed_within_reach(index)
        other_boxes, other_leaders = self.boxes[others], self.leaders[others]
        cost = own_cost + np.where(overlaps(boxes, other_boxes, _LABEL_GAP).any(axis=1), np.inf, 0.0)
        cost = cost + _LEADER_CROSSING_COST * (
            _leaders_cross(leaders, other_boxes).sum(axis=1)
            + _leaders_cross(other_leaders, boxes).sum(axis=0)
        )
        best = int(np.argmin(cost))
        before = self.chosen[index]
        self.chosen[index] = best if math.isfinite(cost[best]) else -1
        if self.chosen[index] >= 0:
            self.boxes[index], self.leaders[index] = boxes[best], leaders[best]
        return bool(self.chosen[index] != before)

    def _placed_within_reach(self, index: int) -> NDArray[np.intp]:
        """The other labels that are placed where a candidate of this one can meet them or their leaders."""
        ends = np.hstack([self.boxes, self.leaders]).reshape(-1, 4, 2)
        hulls = np.hstack([ends.min(axis=1), ends.max(axis=1)])
        meets = overlaps(hulls, self.reach[index][None], 2 * _LABEL_GAP)[:, 0] & (self.chosen >= 0)
        meets[index] = False
        return np.flatnonzero(meets)

    def position(self, index: int) -> LabelPosition | None:
        """The chosen position of a label, None where no candidate is free."""
        if self.chosen[index] < 0:
            return None
        left, top, right, bottom = map(float, self.boxes[index])
        x, y, end_x, end_y = map(float, self.leaders[index])
        needs_leader = math.hypot(end_x - x, end_y - y) > MARKER_CLEARANCE + _LEADER_DISTANCE
        return LabelPosition(
            (left + right) / 2,
            (top + bottom) / 2,
            right - left,
            bottom - top,
            (end_x, end_y) if needs_leader else None,
        )


def _hull(ends: BoxArray) -> BoxArray:
    """The smallest box around boxes or lines, shape (4,); an empty one around none."""
    if not len(ends):
        return np.array([np.inf, np.inf, -np.inf, -np.inf])
    corners = ends.reshape(-1, 2)
    return np.hstack([corners.min(axis=0), corners.max(axis=0)])


def _candidate_ring(label_size: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boxes of this size on rings around a point at (0, 0), the innermost ring first.

    Parameters
    ----------
    label_size : NDArray[np.float64], shape (2,)
        Width and height in pixels.

    Returns
    -------
    middles : NDArray[np.float64], shape (n, 2)
        In pixels.
    costs : NDArray[np.float64], shape (n,)
        Distance in pixels, plus a preference for some directions.
    """
    angles = 2 * np.pi * np.arange(_RING_DIRECTIONS) / _RING_DIRECTIONS
    directions = np.stack([np.cos(angles), -np.sin(angles)], axis=1)  # y grows downward
    offset = np.clip(1.7 * directions, -1, 1) * label_size / 2  # the box touches the ring from outside
    middles = np.concatenate(
        [
            directions
            * (MARKER_CLEARANCE + gap)
            * np.sqrt(1 + 0.4 * np.abs(directions.prod(axis=1, keepdims=True)))
            + offset
            for gap in _RING_GAPS
        ]
    )
    # As on maps, a label reads best above right of its point, then right, then above left, and below last.
    preference = 1.5 - np.cos(angles - np.pi / 5) + np.where(np.abs(directions[:, 0]) < 0.2, 1.5, 0.0)
    return middles, (np.array(_RING_GAPS)[:, None] + preference).ravel()


def _leaders_cross(leaders: BoxArray, boxes: BoxArray) -> NDArray[np.bool_]:
    """Whether each leader, a row (x0, y0, x1, y1), runs through each box; shape (leaders, boxes)."""
    begin, end = leaders[:, None, :2], leaders[:, None, 2:]
    samples = begin + _LEADER_SAMPLES[None, :, None] * (end - begin)  # (leaders, samples, 2)
    empty_boxes = np.concatenate([samples, samples], axis=2).reshape(-1, 4)
    hits = overlaps(empty_boxes, boxes).reshape(len(leaders), _LEADER_SAMPLES.size, len(boxes))
    return np.any(hits, axis=1)

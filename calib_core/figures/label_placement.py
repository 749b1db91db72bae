"""Where do the names of many points stand, so that none covers another, or a point, or leaves the panel?

Candidates around each point, the dearest thing first: a label that lies on a label or a point is no
candidate; one that is far, or crosses a line, costs. Greedy from the most crowded point on, then a few
rounds in which each label may move to a better place. The same points give the same places.
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

# MERGED boxes: Which boxes of words lie on one another?  Each (left, top, right, bottom) in pixels, y downward.

Box: TypeAlias = tuple[float, float, float, float]

BoxArray: TypeAlias = NDArray[np.float64]
"""Shape (n, 4)."""


def box_array(boxes: Sequence[Box]) -> BoxArray:
    """The boxes as one array, also where there is none."""
    return np.array(boxes, np.float64).reshape(-1, 4)


def overlaps(boxes: BoxArray, others: BoxArray, gap: float = 0.0) -> NDArray[np.bool_]:
    """Whether each box and each of the others have more than an edge in common; shape (boxes, others).

    apart: pixels that they have to keep between them.
    """
    a, b = boxes[:, None], others[None]
    return (
        (a[..., 0] < b[..., 2] + gap)
        & (b[..., 0] < a[..., 2] + gap)
        & (a[..., 1] < b[..., 3] + gap)
        & (b[..., 1] < a[..., 3] + gap)
    )


def least_crowded(boxes: Sequence[Box], taken: Sequence[Box], lines: Sequence[Box] = ()) -> Box:
    """The first of the boxes (one or more) that lie on the fewest of those taken, which may not be none.

    lines: thin boxes, of which the fewest are crossed where that is equal.
    """
    own = box_array(boxes)
    met, crossed = (overlaps(own, box_array(others)).sum(axis=1) for others in (taken, lines))
    return boxes[int(np.lexsort((crossed, met))[0])]


MARKER_CLEARANCE: Final = 7.0
"""Half of the square around a point that no label enters, in pixels."""

_LABEL_GAP: Final = 2.0
"""Pixels between two labels, and between a label and the panel's edge."""

_RING_GAPS: Final = (2.0, 8.0, 16.0, 26.0, 38.0, 52.0, 68.0, 86.0, 108.0, 134.0, 164.0)
_RING_DIRECTIONS: Final = 16
_IMPROVEMENT_ROUNDS: Final = 4
_LINE_CROSSING_COST: Final = 9.0
"""What it costs to lie on a thin line, in pixels of distance."""
_LEADER_CROSSING_COST: Final = 30.0
"""What it costs a leader to run over a label or a point, or a label to lie on a leader."""
_LEADER_SAMPLES: Final = np.linspace(0.1, 0.95, 9)
_LEADER_DISTANCE: Final = 9.0
"""A label farther from its point than this has a line to it."""

_NARROW_LETTERS: Final = frozenset("iljtfrI.,:;'|!()[]{}/\\ -·1")
_WIDE_LETTERS: Final = frozenset("mwMW@%")


@dataclass(frozen=True, slots=True)
class LabelledPoint:
    """A point and its name. x, y: pixels from the panel's left and upper edge."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class LabelPosition:
    """Where a label stands, in pixels as in `Spot`.

    x, y: its middle; width, height: of its box; leader: the end at the label of a line from the point, None
    where the label is so near that it needs none.
    """

    x: float
    y: float
    width: float
    height: float
    leader: tuple[float, float] | None

    @property
    def box(self) -> Box:
        """left, top, right, bottom."""
        half, tall = self.width / 2, self.height / 2
        return self.x - half, self.y - tall, self.x + half, self.y + tall


def text_width(text: str, font_size: float) -> float:
    """About how many pixels wide the text is drawn at this size: rather too many than too few."""
    return font_size * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if not letter.isascii() and letter not in _NARROW_LETTERS:
        return 0.75
    if letter in _WIDE_LETTERS:
        return 0.86
    return 0.34 if letter in _NARROW_LETTERS else 0.64 if letter.isupper() else 0.55


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
    """A place for the label of each spot; None where none is free.

    width, height: of the panel in pixels; size: of the letters; taken: boxes (left, top, right, bottom) that
    no label enters; lines: thin boxes that labels would rather not lie on. No two boxes of places overlap,
    none overlaps the square of side 2·REACH around a spot or a taken box, or leaves the panel. On a panel
    stretched sideways, labels and points at the same shares of its width, all of that holds as well.
    """
    if not points:
        return ()
    search = _LabelSearch(points, width, height, font_size, box_array(obstacles), box_array(lines))
    for at in search.order:
        search.settle(at)
    for _ in range(_IMPROVEMENT_ROUNDS):
        if not sum(search.settle(at) for at in search.order):
            break
    return tuple(map(search.position, range(len(points))))


class _LabelSearch:
    """The candidates of every label, and which of them are chosen: -1 where none is."""

    def __init__(
        self,
        points: Sequence[LabelledPoint],
        width: float,
        height: float,
        font_size: float,
        obstacles: BoxArray,
        lines: BoxArray,
    ) -> None:
        self.spots = np.array([(spot.x, spot.y) for spot in points])
        reach = np.array([MARKER_CLEARANCE, MARKER_CLEARANCE])
        self.markers = np.hstack([self.spots - reach, self.spots + reach])
        self.sizes = np.array([(text_width(spot.text, font_size) + 2, 1.3 * font_size) for spot in points])
        self.panel = (width, height)
        self.lines = lines
        self.candidates = [
            self._candidates_around(at, np.vstack([self.markers, obstacles])) for at in range(len(points))
        ]
        self.chosen = np.full(len(points), -1)
        apart = np.abs(self.spots[:, None] - self.spots[None]) / np.array([70.0, 30.0])
        crowd = (apart.max(axis=2) < 1).sum(axis=1)
        self.order = sorted(range(len(points)), key=lambda at: (-crowd[at], -self.sizes[at, 0], at))

    def _candidates_around(
        self, index: int, obstacles: BoxArray
    ) -> tuple[BoxArray, NDArray[np.float64], BoxArray]:
        """Free boxes around a spot, what each costs by itself, and the line from the spot to it."""
        middles, cost = _candidate_ring(self.sizes[index])
        half = self.sizes[index] / 2
        middles = middles + self.spots[index]
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
        ends = np.clip(self.spots[index], boxes[:, :2], boxes[:, 2:])
        others = np.delete(self.markers, index, axis=0)
        leaders = np.hstack([np.broadcast_to(self.spots[index], ends.shape), ends])
        cost = cost + _LEADER_CROSSING_COST * _leaders_cross(leaders, others).sum(axis=1)
        return boxes, cost, leaders

    def settle(self, index: int) -> bool:
        """Moves a label to its cheapest place beside the others as they stand; whether it moved."""
        boxes, alone, leaders = self.candidates[index]
        if not len(boxes):
            return False
        others = [other for other in range(len(self.chosen)) if other != index and self.chosen[other] >= 0]
        theirs = np.array([self._box(other) for other in others]).reshape(-1, 4)
        lines = np.array([self._leader(other) for other in others]).reshape(-1, 4)
        cost = alone + np.where(overlaps(boxes, theirs, _LABEL_GAP).any(axis=1), np.inf, 0.0)
        cost = cost + _LEADER_CROSSING_COST * (
            _leaders_cross(leaders, theirs).sum(axis=1) + _leaders_cross(lines, boxes).sum(axis=0)
        )
        best = int(np.argmin(cost))
        before = self.chosen[index]
        self.chosen[index] = best if math.isfinite(cost[best]) else -1
        return bool(self.chosen[index] != before)

    def _box(self, index: int) -> BoxArray:
        return self.candidates[index][0][self.chosen[index]]

    def _leader(self, index: int) -> BoxArray:
        return self.candidates[index][2][self.chosen[index]]

    def position(self, index: int) -> LabelPosition | None:
        """The chosen place of a label."""
        if self.chosen[index] < 0:
            return None
        left, top, right, bottom = map(float, self._box(index))
        x, y, end_x, end_y = map(float, self._leader(index))
        far = math.hypot(end_x - x, end_y - y) > MARKER_CLEARANCE + _LEADER_DISTANCE
        return LabelPosition(
            (left + right) / 2,
            (top + bottom) / 2,
            right - left,
            bottom - top,
            (end_x, end_y) if far else None,
        )


def _candidate_ring(label_size: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middles of boxes of this size around a point at (0, 0), nearest first, and what each costs.

    size: width and height in pixels, shape (2,); middles: shape (n, 2); costs: shape (n,).
    """
    turn = 2 * np.pi * np.arange(_RING_DIRECTIONS) / _RING_DIRECTIONS
    way = np.stack([np.cos(turn), -np.sin(turn)], axis=1)  # y runs downward
    pushed = np.clip(1.7 * way, -1, 1) * label_size / 2  # the box touches the ring from outside
    middles = np.concatenate(
        [
            way * (MARKER_CLEARANCE + gap) * np.sqrt(1 + 0.4 * np.abs(way.prod(axis=1, keepdims=True)))
            + pushed
            for gap in _RING_GAPS
        ]
    )
    # Right above reads best, then right, then left above, below last; as the hand of a map-maker has it.
    liked = 1.5 - np.cos(turn - np.pi / 5) + np.where(np.abs(way[:, 0]) < 0.2, 1.5, 0.0)
    return middles, (np.array(_RING_GAPS)[:, None] + liked).ravel()


def _leaders_cross(leaders: BoxArray, boxes: BoxArray) -> NDArray[np.bool_]:
    """Whether each line (from x, y to x, y) runs through each box; shape (lines, boxes)."""
    begin, end = leaders[:, None, :2], leaders[:, None, 2:]
    on = begin + _LEADER_SAMPLES[None, :, None] * (end - begin)  # (lines, steps, 2)
    dots = np.concatenate([on, on], axis=2).reshape(-1, 4)
    through = overlaps(dots, boxes).reshape(len(leaders), _LEADER_SAMPLES.size, len(boxes))
    return np.any(through, axis=1)

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
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.figures.boxes import Box, Boxes, array, overlap

REACH: Final = 7.0
"""Half of the square around a point that no label enters, in pixels."""

_APART: Final = 2.0
"""Pixels between two labels, and between a label and the panel's edge."""

_GAPS: Final = (2.0, 8.0, 16.0, 26.0, 38.0, 52.0, 68.0, 86.0, 108.0, 134.0, 164.0)
_TURNS: Final = 16
_ROUNDS: Final = 4
_CROSSING: Final = 9.0
"""What it costs to lie on a thin line, in pixels of distance."""
_TANGLE: Final = 30.0
"""What it costs a leader to run over a label or a point, or a label to lie on a leader."""
_STEPS: Final = np.linspace(0.1, 0.95, 9)
_LEADER: Final = 9.0
"""A label farther from its point than this has a line to it."""

_NARROW: Final = frozenset("iljtfrI.,:;'|!()[]{}/\\ -·1")
_BROAD: Final = frozenset("mwMW@%")


@dataclass(frozen=True, slots=True)
class Spot:
    """A point and its name. x, y: pixels from the panel's left and upper edge."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Place:
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


def text_width(text: str, size: float) -> float:
    """About how many pixels wide the text is drawn at this size: rather too many than too few."""
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if not letter.isascii() and letter not in _NARROW:
        return 0.75
    if letter in _BROAD:
        return 0.86
    return 0.34 if letter in _NARROW else 0.64 if letter.isupper() else 0.55


@lru_cache(maxsize=256)
def places(
    spots: tuple[Spot, ...],
    width: float,
    height: float,
    *,
    size: float,
    taken: tuple[Box, ...] = (),
    lines: tuple[Box, ...] = (),
) -> tuple[Place | None, ...]:
    """A place for the label of each spot; None where none is free.

    width, height: of the panel in pixels; size: of the letters; taken: boxes (left, top, right, bottom) that
    no label enters; lines: thin boxes that labels would rather not lie on. No two boxes of places overlap,
    none overlaps the square of side 2·REACH around a spot or a taken box, or leaves the panel. On a panel
    stretched sideways, labels and points at the same shares of its width, all of that holds as well.
    """
    if not spots:
        return ()
    search = _Search(spots, width, height, size, array(taken), array(lines))
    for at in search.order:
        search.settle(at)
    for _ in range(_ROUNDS):
        if not sum(search.settle(at) for at in search.order):
            break
    return tuple(map(search.place, range(len(spots))))


class _Search:
    """The candidates of every label, and which of them are chosen: -1 where none is."""

    def __init__(
        self, spots: Sequence[Spot], width: float, height: float, size: float, taken: Boxes, lines: Boxes
    ) -> None:
        self.spots = np.array([(spot.x, spot.y) for spot in spots])
        reach = np.array([REACH, REACH])
        self.markers = np.hstack([self.spots - reach, self.spots + reach])
        self.sizes = np.array([(text_width(spot.text, size) + 2, 1.3 * size) for spot in spots])
        self.panel = (width, height)
        self.lines = lines
        self.candidates = [self._around(at, np.vstack([self.markers, taken])) for at in range(len(spots))]
        self.chosen = np.full(len(spots), -1)
        apart = np.abs(self.spots[:, None] - self.spots[None]) / np.array([70.0, 30.0])
        crowd = (apart.max(axis=2) < 1).sum(axis=1)
        self.order = sorted(range(len(spots)), key=lambda at: (-crowd[at], -self.sizes[at, 0], at))

    def _around(self, at: int, taken: Boxes) -> tuple[Boxes, NDArray[np.float64], Boxes]:
        """Free boxes around a spot, what each costs by itself, and the line from the spot to it."""
        middles, cost = _ring(self.sizes[at])
        half = self.sizes[at] / 2
        middles = middles + self.spots[at]
        boxes = np.hstack([middles - half, middles + half])
        width, height = self.panel
        inside = (
            (boxes[:, :2].min(axis=1) >= _APART)
            & (boxes[:, 2] <= width - _APART)
            & (boxes[:, 3] <= height - _APART)
        )
        free = inside & ~overlap(boxes, taken).any(axis=1)
        boxes, cost = boxes[free], cost[free]
        cost = cost + _CROSSING * np.sqrt(overlap(boxes, self.lines).sum(axis=1))
        ends = np.clip(self.spots[at], boxes[:, :2], boxes[:, 2:])
        others = np.delete(self.markers, at, axis=0)
        leaders = np.hstack([np.broadcast_to(self.spots[at], ends.shape), ends])
        cost = cost + _TANGLE * _crossed(leaders, others).sum(axis=1)
        return boxes, cost, leaders

    def settle(self, at: int) -> bool:
        """Moves a label to its cheapest place beside the others as they stand; whether it moved."""
        boxes, alone, leaders = self.candidates[at]
        if not len(boxes):
            return False
        others = [other for other in range(len(self.chosen)) if other != at and self.chosen[other] >= 0]
        theirs = np.array([self._box(other) for other in others]).reshape(-1, 4)
        lines = np.array([self._leader(other) for other in others]).reshape(-1, 4)
        cost = alone + np.where(overlap(boxes, theirs, _APART).any(axis=1), np.inf, 0.0)
        cost = cost + _TANGLE * (
            _crossed(leaders, theirs).sum(axis=1) + _crossed(lines, boxes).sum(axis=0)
        )
        best = int(np.argmin(cost))
        before = self.chosen[at]
        self.chosen[at] = best if math.isfinite(cost[best]) else -1
        return bool(self.chosen[at] != before)

    def _box(self, at: int) -> Boxes:
        return self.candidates[at][0][self.chosen[at]]

    def _leader(self, at: int) -> Boxes:
        return self.candidates[at][2][self.chosen[at]]

    def place(self, at: int) -> Place | None:
        """The chosen place of a label."""
        if self.chosen[at] < 0:
            return None
        left, top, right, bottom = map(float, self._box(at))
        x, y, end_x, end_y = map(float, self._leader(at))
        far = math.hypot(end_x - x, end_y - y) > REACH + _LEADER
        return Place(
            (left + right) / 2, (top + bottom) / 2, right - left, bottom - top,
            (end_x, end_y) if far else None,
        )


def _ring(size: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middles of boxes of this size around a point at (0, 0), nearest first, and what each costs.

    size: width and height in pixels, shape (2,); middles: shape (n, 2); costs: shape (n,).
    """
    turn = 2 * np.pi * np.arange(_TURNS) / _TURNS
    way = np.stack([np.cos(turn), -np.sin(turn)], axis=1)  # y runs downward
    pushed = np.clip(1.7 * way, -1, 1) * size / 2  # the box touches the ring from outside
    middles = np.concatenate([way * (REACH + gap) * np.sqrt(1 + 0.4 * np.abs(way.prod(axis=1, keepdims=True)))
                              + pushed for gap in _GAPS])
    # Right above reads best, then right, then left above, below last; as the hand of a map-maker has it.
    liked = 1.5 - np.cos(turn - np.pi / 5) + np.where(np.abs(way[:, 0]) < 0.2, 1.5, 0.0)
    return middles, (np.array(_GAPS)[:, None] + liked).ravel()


def _crossed(leaders: Boxes, boxes: Boxes) -> NDArray[np.bool_]:
    """Whether each line (from x, y to x, y) runs through each box; shape (lines, boxes)."""
    begin, end = leaders[:, None, :2], leaders[:, None, 2:]
    on = begin + _STEPS[None, :, None] * (end - begin)  # (lines, steps, 2)
    dots = np.concatenate([on, on], axis=2).reshape(-1, 4)
    through = overlap(dots, boxes).reshape(len(leaders), _STEPS.size, len(boxes))
    return np.any(through, axis=1)

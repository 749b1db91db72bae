"""Which accuracies are levels across the panel, and where do their words stand clear of what is drawn?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.abstention import Abstention
from calib_core.analysis.abstention_reading import target_text
from calib_core.figures.boxes import Box, array, overlap
from calib_core.figures.label_places import text_width
from calib_core.figures.layout import LABEL_SIZE, note
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme
from calib_core.wording import percent

_ACROSS: Final = (("left", 0.005), ("center", 0.3), ("center", 0.5), ("center", 0.7), ("right", 0.995))
"""Where words may stand, and by which end: best the first."""

_WIDTHS: Final = (270, 330, 560, 900)
"""Of panels on which words have to stand clear, in pixels: from a telephone's to a page's."""

_RING: Final = 10
_STEP: Final = 6
"""Half of a ring, and how far the boxes along a line are apart, in pixels."""

_HEAVY: Final = 50
"""So much worse than a crossed line is it to lie on a ring or on words, or to leave the panel."""

_Said: TypeAlias = tuple[str, float, bool]
"""Words, their level, and whether they are rather above it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """low, high: ends of the axis of accuracies; width, height: in pixels; thin, solid: boxes taken."""

    low: float
    high: float
    width: float
    height: float
    thin: list[Box] = field(default_factory=list[Box])
    solid: list[Box] = field(default_factory=list[Box])

    def down(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Pixels from the upper edge."""
        return self.height * (self.high - np.asarray(values, np.float64)) / (self.high - self.low)

    def take(self, drawn: Sequence[Mapping[str, Any]], own: Sequence[float]) -> None:
        """What these traces and levels take."""
        for trace in drawn:
            x = self.width * np.asarray(trace["x"], np.float64)
            y = self.down(trace["y"])
            if trace["mode"] == "markers":
                self.solid.extend(_around(x, y, _RING))
            else:
                self.thin.extend(_around(*_along(x, y), 2))
        for y in self.down(own).tolist():
            self.thin.append((0, y - 1, self.width, y + 1))

    def box(self, said: _Said, anchor: str, x: float, side: str) -> Box:
        """What the words take there, beside the line of their own level."""
        wide, tall = text_width(said[0], LABEL_SIZE) + 6, 1.3 * LABEL_SIZE + 2
        left = x * self.width - {"left": 0, "center": wide / 2, "right": wide}[anchor]
        (y,) = self.down([said[1]]).tolist()
        top = y - tall - 2 if side == "bottom" else y + 2
        return left, top, left + wide, top + tall

    def cost(self, boxes: Sequence[Box]) -> NDArray[np.int64]:
        """How badly words would stand in each box."""
        own = array(boxes)
        crossed = overlap(own, array(self.thin)).sum(axis=1)
        covered = overlap(own, array(self.solid)).sum(axis=1)
        beyond = (own[:, :2] < 0).sum(axis=1) + (own[:, 2] > self.width) + (own[:, 3] > self.height)
        return crossed + _HEAVY * (covered + beyond)


def _around(x: NDArray[np.float64], y: NDArray[np.float64], half: float) -> list[Box]:
    return [
        (across - half, down - half, across + half, down + half)
        for across, down in zip(x.tolist(), y.tolist(), strict=True)
    ]


def _along(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points on the line, equally far apart."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0, float(way[-1]), 1 + int(way[-1] // _STEP))
    return np.interp(at, way, x), np.interp(at, way, y)


def levels(
    curves: Sequence[Abstention], drawn: Sequence[Mapping[str, Any]], theme: Theme, wanted: float | None,
    ends: tuple[float, float, float],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines across and their words: the accuracy of answering all, by whose answer it is, and the one wanted.

    drawn: the traces that words keep clear of; ends: of the axis of accuracies, and its height in pixels.
    """
    said = _of_all(curves)
    shapes = [_level(value, theme, "2px,3px") for _, value, _ in said]
    said = said if len(said) < 3 else [said[0], said[-1]]  # names of more would not fit
    if wanted is not None and ends[0] <= wanted <= 1:
        shapes.append(_level(wanted, theme, "7px,5px"))
        said.append((f"wanted: {target_text(wanted)}", wanted, True))
    panels = [Panel(ends[0], ends[1], width, ends[2]) for width in _WIDTHS]
    for panel in panels:
        panel.take(drawn, [value for _, value, _ in said])
    return shapes, [_words(one, panels, theme) for one in said]


def _of_all(curves: Sequence[Abstention]) -> list[_Said]:
    """The accuracies of answering all, highest first; those that are written alike once.

    By whose answer it is, where each is of one kind and they differ: more words have no room.
    """
    found: dict[str, tuple[float, dict[str, None]]] = {}
    for curve in sorted(curves, key=lambda one: -(one.all.accuracy or 0.0)):
        value = curve.all.accuracy or 0.0
        found.setdefault(percent(value), (value, {}))[1][curve.judged] = None
    kinds = [tuple(judged) for _, judged in found.values()]
    apart = len(set(kinds)) > 1 and max(map(len, kinds)) == 1
    said: list[_Said] = []
    for share, (value, judged) in found.items():
        whose = f" ({next(iter(judged))})" if apart else ""
        said.append((f"answer all{whose}: {share}", value, not said and len(found) > 1))
    return said


def _level(value: float, theme: Theme, dash: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": value, "y1": value,
        "layer": "below", "line": {"color": theme.muted, "width": 1.4, "dash": dash},
    }


def _words(said: _Said, panels: Sequence[Panel], theme: Theme) -> dict[str, Any]:
    """The words at the place that has least on it, which they take."""
    words, value, above = said
    sides = ("bottom", "top") if above else ("top", "bottom")
    places = [(anchor, x, side) for anchor, x in _ACROSS for side in sides]
    boxes = [[panel.box(said, *place) for place in places] for panel in panels]
    costs = [panel.cost(own) for panel, own in zip(panels, boxes, strict=True)]
    best = int(np.argmin(np.sum(costs, axis=0)))
    for panel, own in zip(panels, boxes, strict=True):
        panel.solid.append(own[best])
    anchor, x, side = places[best]
    return note(
        theme, plain(words), xref="x domain", x=x, xanchor=anchor, yref="y", y=value, yanchor=side,
        font={"size": LABEL_SIZE, "color": theme.muted},
    )

"""Where does each of several panels stand, and what are its axes called?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from calib_core.figures.layout import BOTTOM

COLUMNS: Final = 2
"""So many panels side by side; on a telephone more could not be read."""

_BETWEEN: Final = 0.07
"""Part of the width between two columns."""

_TITLE, _UPPER, _GAP, _LOWER = 40, 190, 16, 64
"""Pixels of one row of panels, from above."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One panel with a strip below it on the same horizontal axis.

    number: from 1; across, upper, lower: (from, to) in parts of the plot; left: whether it is the first
    of its row.
    """

    number: int
    across: tuple[float, float]
    upper: tuple[float, float]
    lower: tuple[float, float]
    left: bool

    @property
    def x(self) -> str:
        """Name of the horizontal axis, as traces say it: "x", "x2" …"""
        return _name("x", self.number)

    @property
    def y(self) -> str:
        """Name of the panel's vertical axis."""
        return _name("y", 2 * self.number - 1)

    @property
    def y_strip(self) -> str:
        """Name of the strip's vertical axis."""
        return _name("y", 2 * self.number)


@dataclass(frozen=True, slots=True)
class Grid:
    """All cells, in reading order; height: pixels of the figure, margins included."""

    cells: tuple[Cell, ...]
    columns: int
    height: int


def grid_of(panels: int, *, top: int) -> Grid:
    """A grid of `panels` (1 or more) below a margin of `top` pixels; several leave room for their titles."""
    columns, rows = min(panels, COLUMNS), -(-panels // COLUMNS)
    title = _TITLE if panels > 1 else 0
    row = title + _UPPER + _GAP + _LOWER
    plot = rows * row + (rows - 1) * BOTTOM
    width = (1 - _BETWEEN * (columns - 1)) / columns

    def cell(place: int) -> Cell:
        down, right = divmod(place, columns)
        above = down * (row + BOTTOM) + title
        return Cell(
            number=place + 1,
            across=(right * (width + _BETWEEN), right * (width + _BETWEEN) + width),
            upper=(1 - (above + _UPPER) / plot, 1 - above / plot),
            lower=(max(0.0, 1 - (above + _UPPER + _GAP + _LOWER) / plot), 1 - (above + _UPPER + _GAP) / plot),
            left=right == 0,
        )

    return Grid(tuple(cell(place) for place in range(panels)), columns, plot + top + BOTTOM)


def layout_key(axis: str) -> str:
    """"x2" → "xaxis2": the same axis as the layout says it."""
    return f"{axis[0]}axis{axis[1:]}"


def _name(letter: str, number: int) -> str:
    return letter if number == 1 else f"{letter}{number}"

"""Where does each of several panels stand, and what are its axes called?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from calib_core.figures.layout import BOTTOM_MARGIN

GRID_COLUMNS: Final = 2
"""So many panels side by side; on a telephone more could not be read."""

_COLUMN_GAP: Final = 0.07
"""Part of the width between two columns."""

_TITLE_HEIGHT, _PANEL_HEIGHT, _STRIP_GAP, _STRIP_HEIGHT = 40, 190, 16, 64
"""Pixels of one row of panels, from above."""


@dataclass(frozen=True, slots=True)
class PanelCell:
    """One panel with a strip below it on the same horizontal axis.

    number: from 1; across, upper, lower: (from, to) in parts of the plot; left: whether it is the first
    of its row.
    """

    number: int
    x_domain: tuple[float, float]
    panel_domain: tuple[float, float]
    strip_domain: tuple[float, float]
    is_leftmost: bool

    @property
    def x_axis(self) -> str:
        """Name of the horizontal axis, as traces say it: "x", "x2" …"""
        return _axis_name("x", self.number)

    @property
    def y_axis(self) -> str:
        """Name of the panel's vertical axis."""
        return _axis_name("y", 2 * self.number - 1)

    @property
    def strip_y_axis(self) -> str:
        """Name of the strip's vertical axis."""
        return _axis_name("y", 2 * self.number)


@dataclass(frozen=True, slots=True)
class PanelGrid:
    """All cells, in reading order; height: pixels of the figure, margins included."""

    cells: tuple[PanelCell, ...]
    columns: int
    height: int


def panel_grid(panels: int, *, top: int) -> PanelGrid:
    """A grid of `panels` (1 or more) below a margin of `top` pixels; several leave room for their titles."""
    columns, rows = min(panels, GRID_COLUMNS), -(-panels // GRID_COLUMNS)
    title = _TITLE_HEIGHT if panels > 1 else 0
    row = title + _PANEL_HEIGHT + _STRIP_GAP + _STRIP_HEIGHT
    plot = rows * row + (rows - 1) * BOTTOM_MARGIN
    width = (1 - _COLUMN_GAP * (columns - 1)) / columns

    def cell(index: int) -> PanelCell:
        down, right = divmod(index, columns)
        above = down * (row + BOTTOM_MARGIN) + title
        return PanelCell(
            number=index + 1,
            x_domain=(right * (width + _COLUMN_GAP), right * (width + _COLUMN_GAP) + width),
            panel_domain=(1 - (above + _PANEL_HEIGHT) / plot, 1 - above / plot),
            strip_domain=(max(0.0, 1 - (above + _PANEL_HEIGHT + _STRIP_GAP + _STRIP_HEIGHT) / plot), 1 - (above + _PANEL_HEIGHT + _STRIP_GAP) / plot),
            is_leftmost=right == 0,
        )

    return PanelGrid(tuple(cell(place) for place in range(panels)), columns, plot + top + BOTTOM_MARGIN)


def layout_key(axis: str) -> str:
    """"x2" → "xaxis2": the same axis as the layout says it."""
    return f"{axis[0]}axis{axis[1:]}"


def _axis_name(letter: str, number: int) -> str:
    return letter if number == 1 else f"{letter}{number}"

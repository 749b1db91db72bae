"""Where do panels stand that share one horizontal axis, one above the other?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from calib_core.figures.layout import BOTTOM, SMALL_SIZE, TEXT_SIZE, note
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme

_HEADING: Final = 30
_LONG: Final = 50
"""Pixels above each panel, for what it shows, and letters from which on that is written smaller."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Panels from top to bottom.

    down: (from, to) of each, in parts of the plot; height: pixels of the figure, margins included.
    """

    down: tuple[tuple[float, float], ...]
    height: int

    def y(self, place: int) -> str:
        """Name of the vertical axis of the panel at this place (from 0), as traces say it."""
        return "y" if place == 0 else f"y{place + 1}"

    def key(self, place: int) -> str:
        """The same axis as the layout says it."""
        return f"yaxis{self.y(place)[1:]}"

    @property
    def lowest(self) -> str:
        """The axis that the shared horizontal one stands under."""
        return self.y(len(self.down) - 1)


def stack_of(panels: int, *, top: int, each: int) -> Stack:
    """`panels` (1 or more) of `each` pixels below a margin of `top`; each has room for a heading."""
    row = _HEADING + each
    plot = panels * row
    down = tuple(
        (max(0.0, 1 - (place + 1) * row / plot), 1 - (place * row + _HEADING) / plot)
        for place in range(panels)
    )
    return Stack(down, plot + top + BOTTOM)


def heading(text: str, theme: Theme, stack: Stack, place: int = 0) -> dict[str, Any]:
    """Words above the panel at this place, smaller where they would be wider than a telephone."""
    size = TEXT_SIZE if len(text) < _LONG else SMALL_SIZE
    return note(
        theme, f"<b>{plain(text)}</b>", font={"size": size, "color": theme.text}, xref="paper", yref="paper",
        x=0, xanchor="left", align="left", y=stack.down[place][1], yanchor="bottom", yshift=3,
    )

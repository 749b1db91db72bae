"""Which colour, dash and symbol has a run, the same on every figure where a line or a dot is a run?

By its place among all runs at hand. Where a colour means something else (a metric, a method, over- and
under-confidence) it stays so; the run's symbol, which nothing else claims there, still tells it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from calib_core.figures.strokes import points
from calib_core.figures.theme import Theme

DASHES: Final = ("solid", "7px,4px", "2px,3px", "10px,3px,2px,3px", "16px,5px")
SYMBOLS: Final = (
    "circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "triangle-down", "cross",
)
"""Five and nine, which have no divisor in common: together they repeat after 45 places."""

LETTERS: Final = {
    "circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲", "x": "✖", "star": "★", "hexagon": "⬢",
    "triangle-down": "▼", "pentagon": "⬟", "cross": "✚", "star-diamond": "✦",
}
"""Symbols as letters, for tables: those of methods too."""


@dataclass(frozen=True, slots=True)
class RunLook:
    """colour: of lines and symbols, "#RRGGBB" of a theme; dash, symbol: as plotly names them."""

    colour: str
    dash: str
    symbol: str

    def line(self, width: float = 2.4) -> dict[str, Any]:
        """Colour, width and dash of the run's line."""
        return {"color": self.colour, "width": width, "dash": self.dash}

    def marker(self, theme: Theme, size: float = 9) -> dict[str, Any]:
        """The run's symbol with a hair of page around it."""
        return points(self.colour, self.symbol, theme, size)


def run_look(place: int, theme: Theme) -> RunLook:
    """The look of the run at this place (from 0) among all runs at hand.

    Of 45 runs no two have both dash and symbol in common, so that they are told apart in grey. Every second,
    third or sixth run, as models of several sizes asked about several data sets come to stand, goes through
    all colours.
    """
    colours = theme.series
    return RunLook(
        colours[(place + place // len(colours)) % len(colours)],
        DASHES[place % len(DASHES)],
        SYMBOLS[place % len(SYMBOLS)],
    )

"""Which colour, dash and symbol has a run, the same on every figure where a line or a dot is a run?

By its place among all runs at hand (`analysis.run_places`). Where a colour means something else (a metric, a
method, over- and under-confidence) it stays so; the run's symbol, which nothing else claims there, still
tells it.
"""

from __future__ import annotations

from typing import Final

from calib_core.figures.strokes import SeriesStyle
from calib_core.figures.theme import Theme

RUN_DASHES: Final = ("solid", "7px,4px", "2px,3px", "10px,3px,2px,3px", "16px,5px")
RUN_SYMBOLS: Final = (
    "circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "triangle-down", "cross",
)
"""Five and nine, which have no divisor in common: together they repeat after 45 places."""

SYMBOL_CHARACTERS: Final = {
    "circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲", "x": "✖", "star": "★", "hexagon": "⬢",
    "triangle-down": "▼", "pentagon": "⬟", "cross": "✚", "star-diamond": "✦",
    "triangle-left": "◀", "triangle-right": "▶", "hourglass": "⧗", "bowtie": "⧓",
}
"""Symbols as letters, for tables: those of methods too."""


def run_style(style_index: int, theme: Theme) -> SeriesStyle:
    """The look of the run at this place (from 0) among all runs at hand.

    Of six neighbours no two have a colour in common, of thirty none colour and dash; of 45 runs none dash
    and symbol, so that they are told apart in grey.
    """
    return SeriesStyle(
        theme.series_colours[style_index % len(theme.series_colours)],
        RUN_DASHES[style_index % len(RUN_DASHES)],
        RUN_SYMBOLS[style_index % len(RUN_SYMBOLS)],
    )

"""Which colour, symbol and dash has a confidence method, on every figure that tells methods apart?"""

from __future__ import annotations

from typing import Final

from calib_core.confidence import METHODS
from calib_core.figures.strokes import SeriesStyle
from calib_core.figures.theme import Theme

_SPARE: Final = (
    (3, "triangle-left", "9px,2px"), (4, "triangle-right", "2px,6px"), (2, "hourglass", "6px,2px,2px,2px"),
    (0, "bowtie", "16px,3px,3px,3px"),
)
"""Colour, symbol and dash of the methods that claim none, in the registry's order."""


def method_style(method: str, theme: Theme) -> SeriesStyle:
    """How the registered method of this id is drawn."""
    without = [id_ for id_, entry in METHODS.items() if entry.style is None]
    place, symbol, dash = METHODS[method].style or _SPARE[without.index(method) % len(_SPARE)]
    return SeriesStyle(theme.method_colours[place], dash, symbol)

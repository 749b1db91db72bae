"""Which colour, symbol and dash has a confidence method, on every figure that tells methods apart?"""

from __future__ import annotations

from typing import Final

from calib_core.figures.strokes import Look
from calib_core.figures.theme import Theme

_LOOKS: Final = {
    "cluster_size": (0, "circle", "solid"),
    "pairwise": (1, "square", "7px,4px"),
    "cluster_number": (2, "diamond", "2px,3px"),
    "p_true": (3, "triangle-up", "8px,3px,2px,3px"),
    "logit_path": (4, "x", "12px,4px"),
    "logit_answer": (1, "triangle-down", "4px,2px"),
    "choice_softmax": (2, "pentagon", "10px,3px,3px,3px"),
    "choice_length_normalised": (5, "star", "5px,5px"),
    "given": (1, "hexagon", "14px,3px"),
    "verbal": (5, "cross", "3px,6px"),
    "tokens": (0, "star-diamond", "solid"),
}
"""Method id → place among the theme's colours of methods, symbol, dash. A symbol is not shared."""


def look(method: str, theme: Theme) -> Look:
    """How the registered method of this id is drawn."""
    place, symbol, dash = _LOOKS[method]
    return Look(theme.methods[place], dash, symbol)

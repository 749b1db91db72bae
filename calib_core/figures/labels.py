"""Which counts are written on their bars, and which way round?"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.figures.layout import LABEL_SIZE
from calib_core.figures.spans import closest
from calib_core.figures.text import compact
from calib_core.figures.theme import Theme

LABELLED: Final = 20
"""Counts are written on so many bars, empty bins of equal width included."""

FLAT: Final = 0.09
"""Middles this far apart leave room for "9,999" on a telephone; nearer, and counts stand upright."""

CROWDED: Final = 0.035
"""Middles nearer than this leave no room even for upright counts: those are left to the hover."""


def label_angle(table: pl.DataFrame) -> int:
    """0 or -90 degrees, one for all bars of a `placed` table."""
    return 0 if closest(table) > FLAT else -90


def label_room(table: pl.DataFrame) -> float:
    """Height of the axis over that of the tallest bar, so that its count fits in."""
    return 1.5 if label_angle(table) else 1.28


def count_labels(part: pl.DataFrame, theme: Theme, angle: int) -> dict[str, Any]:
    """What a trace of `bars` takes to have its counts above it."""
    return {
        "text": [
            compact(count) if apart > CROWDED else ""
            for count, apart in part.select("count", "apart").iter_rows()
        ],
        "textposition": "outside",
        "textangle": angle,
        "constraintext": "none",
        "cliponaxis": False,
        "textfont": {"size": LABEL_SIZE, "color": theme.text},
        "unselected": {"marker": {"opacity": 1}, "textfont": {"color": theme.text}},
    }

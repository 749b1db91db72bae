"""Which counts are written on their bars, and which way round?"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.figures.layout import LABEL_SIZE
from calib_core.figures.spans import closest_bar_distance
from calib_core.figures.text import compact_count
from calib_core.figures.theme import Theme

MAX_LABELLED_BARS: Final = 20
"""Counts are written on so many bars, empty bins of equal width included."""

FLAT_LABEL_DISTANCE: Final = 0.09
"""Middles this far apart leave room for "9,999" on a telephone; nearer, and counts stand upright."""

MIN_LABEL_DISTANCE: Final = 0.035
"""Middles nearer than this leave no room even for upright counts: those are left to the hover."""


def label_angle(table: pl.DataFrame) -> int:
    """0 or -90 degrees, one for all bars of a `placed` table."""
    return 0 if closest_bar_distance(table) > FLAT_LABEL_DISTANCE else -90


def label_headroom(table: pl.DataFrame) -> float:
    """Height of the axis over that of the tallest bar, so that its count fits in."""
    return 1.5 if label_angle(table) else 1.28


def count_labels(table: pl.DataFrame, theme: Theme, angle: int) -> dict[str, Any]:
    """What a trace of `bars` takes to have its counts above it."""
    return {
        "text": [
            compact_count(count) if apart > MIN_LABEL_DISTANCE else ""
            for count, apart in table.select("count", "apart").iter_rows()
        ],
        "textposition": "outside",
        "textangle": angle,
        "constraintext": "none",
        "cliponaxis": False,
        "textfont": {"size": LABEL_SIZE, "color": theme.text},
        "unselected": {"marker": {"opacity": 1}, "textfont": {"color": theme.text}},
    }

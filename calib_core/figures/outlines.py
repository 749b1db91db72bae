"""How are hundreds of bars drawn?  As filled outlines: one element a bar costs the browser too much time."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.figures.bars import OVERCONFIDENT_HATCH, UNDERCONFIDENT_HATCH, split_thin_bins, unhatched_gap_colour
from calib_core.figures.layout import rounded_values
from calib_core.figures.theme import Theme, blend

INVISIBLE_HEIGHT: Final = 1e-3
"""A height that cannot be seen, and has a logarithm."""


def gap_outlines(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The gaps up to the larger of accuracy and confidence, and over them the solid part."""
    traces: list[dict[str, Any]] = []
    for part, opacity in split_thin_bins(table):
        over, under = part.filter(pl.col("gap") > 0), part.filter(pl.col("gap") < 0)
        orange, green = unhatched_gap_colour(theme, theme.overconfident, OVERCONFIDENT_HATCH), unhatched_gap_colour(theme, theme.underconfident, UNDERCONFIDENT_HATCH)
        named = {"showlegend": opacity == 1}
        traces += [
            filled_outline(over, "top", blend(orange, theme.background, opacity), name="over-confident gap", **named),
            filled_outline(under, "top", blend(green, theme.background, opacity), name="under-confident gap", **named),
            filled_outline(part, "solid", blend(theme.bar, theme.background, opacity)),
        ]
    return traces


def count_outlines(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The counts, thin bins in a paler colour."""
    return [
        filled_outline(part, "count", blend(theme.count_bar, theme.background, opacity), yaxis="y2")
        for part, opacity in split_thin_bins(table)
    ]


def filled_outline(table: pl.DataFrame, height: str, colour: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Bars `height` (a column) tall as one filled outline, deaf to hover and click.

    Outside the bins it runs at FLOOR, which shows neither on a linear nor on a logarithmic axis.
    """
    left, right = table["x"] - table["width"] / 2, table["x"] + table["width"] / 2
    apart = ((left.shift(-1) - right).abs() > 1e-9).fill_null(value=True)
    x: list[float | None] = []
    y: list[float | None] = []
    for begin, end, tall, ends in zip(left, right, table[height], apart, strict=True):
        x += [begin, end] if ends else [begin]
        y += [tall, INVISIBLE_HEIGHT] if ends else [tall]
    drawn: dict[str, Any] = {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "x": rounded_values(pl.Series(x, dtype=pl.Float64)) or [None],
        "y": rounded_values(pl.Series(y, dtype=pl.Float64)) or [None],
        "line": {"shape": "hv", "width": 0}, "fill": "tozeroy", "fillcolor": colour,
    }
    return drawn | more

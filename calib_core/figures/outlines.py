"""How are hundreds of bars drawn?  As filled outlines: one element a bar costs the browser too much time."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.figures.bars import OVER, UNDER, by_strength, plain_gap
from calib_core.figures.layout import numbers
from calib_core.figures.theme import Theme, tint

FLOOR: Final = 1e-3
"""A height that cannot be seen, and has a logarithm."""


def gap_outlines(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The gaps up to the larger of accuracy and confidence, and over them the solid part."""
    traces: list[dict[str, Any]] = []
    for part, opacity in by_strength(table):
        over, under = part.filter(pl.col("gap") > 0), part.filter(pl.col("gap") < 0)
        orange, green = plain_gap(theme, theme.over, OVER), plain_gap(theme, theme.under, UNDER)
        named = {"showlegend": opacity == 1}
        traces += [
            steps(over, "top", tint(orange, theme.page, opacity), name="over-confident gap", **named),
            steps(under, "top", tint(green, theme.page, opacity), name="under-confident gap", **named),
            steps(part, "solid", tint(theme.bar, theme.page, opacity)),
        ]
    return traces


def count_outlines(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The counts, thin bins in a paler colour."""
    return [
        steps(part, "count", tint(theme.count, theme.page, opacity), yaxis="y2")
        for part, opacity in by_strength(table)
    ]


def steps(part: pl.DataFrame, height: str, colour: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Bars `height` (a column) tall as one filled outline, deaf to hover and click.

    Outside the bins it runs at FLOOR, which shows neither on a linear nor on a logarithmic axis.
    """
    left, right = part["x"] - part["width"] / 2, part["x"] + part["width"] / 2
    apart = ((left.shift(-1) - right).abs() > 1e-9).fill_null(value=True)
    x: list[float | None] = []
    y: list[float | None] = []
    for begin, end, tall, ends in zip(left, right, part[height], apart, strict=True):
        x += [begin, end] if ends else [begin]
        y += [tall, FLOOR] if ends else [tall]
    drawn: dict[str, Any] = {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "x": numbers(pl.Series(x, dtype=pl.Float64)) or [None],
        "y": numbers(pl.Series(y, dtype=pl.Float64)) or [None],
        "line": {"shape": "hv", "width": 0}, "fill": "tozeroy", "fillcolor": colour,
    }
    return drawn | more

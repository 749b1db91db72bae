"""How does one kind of bar look, and how much detail do so many bars bear?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from calib_core.figures.layout import numbers
from calib_core.figures.theme import Theme, tint

FADED: Final = 0.4
"""Opacity of what stands on few rows."""

OVER: Final = "/"
UNDER: Final = "\\"
"""The hatch of an over- and of an under-confident gap: told apart without any colour."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What can be seen at so many bins.

    edge: pixels of page between bars; hatch: whether gaps are hatched (one SVG pattern a bar), else
    over-confident is a full and under-confident a pale colour; outline: pixels around a gap; cap,
    whisker, point: half width of whisker ends, thickness and marker size in pixels.
    """

    edge: float
    hatch: bool
    outline: float
    cap: int
    whisker: float
    point: float


def detail(bins: int) -> Detail:
    """The detail that `bins` bins across the square bear."""
    if bins >= 100:
        return Detail(edge=0, hatch=False, outline=0, cap=0, whisker=0.6, point=2.5)
    if bins >= 50:
        return Detail(edge=0.5, hatch=True, outline=1, cap=0, whisker=1, point=4)
    if bins > 20:
        return Detail(edge=0.8, hatch=True, outline=1.2, cap=2, whisker=1.1, point=5.5)
    return Detail(edge=1, hatch=True, outline=1.5, cap=4, whisker=1.4, point=7.5)


def by_strength(table: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, float]]:
    """The bins on enough rows with opacity 1, always; then the thin ones faded, where there are any."""
    yield table.filter(~pl.col("thin")), 1.0
    thin = table.filter("thin")
    if thin.height:
        yield thin, FADED


def bars(part: pl.DataFrame, height: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """One trace of bars `height` (a column) tall where `placed` put them; deaf to hover and click.

    A trace without bars keeps one empty place, so that its entry stays in the legend. The selection
    that plotly makes of a click changes nothing: the page outlines the bin itself.
    """
    drawn: dict[str, Any] = {
        "type": "bar",
        "x": numbers(part["x"]) or [None],
        "y": numbers(part[height]) or [None],
        "width": _one_or_all(numbers(part["width"])),
        "hoverinfo": "skip",
        "showlegend": False,
        "unselected": {"marker": {"opacity": 1}},
    }
    return drawn | more


def targets(table: pl.DataFrame, height: str, words: list[str], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """What hover and click meet: one unseen bar a bin, hit anywhere in its column.

    words: what the hover says of each bin, as plotly's HTML (a template would bring the axis' label
    with it). customdata: the bin's number alone.
    """
    return bars(
        table.with_columns(x="at", width="wide"), height, opacity=0, hoverinfo="text", hovertext=words,
        customdata=[[bin_] for bin_ in table["bin"]], **more,
    )


def solid(theme: Theme, colour: str, look: Detail) -> dict[str, Any]:
    """A full bar with a hair of page around it, or a hair of itself where that would be a seam."""
    line = {"color": theme.page, "width": look.edge} if look.edge else {"color": colour, "width": 0.5}
    return {"color": colour, "line": line}


def plain_gap(theme: Theme, colour: str, hatch: str) -> str:
    """The colour of a gap where a hatch would not be seen: full for over-, pale for under-confidence."""
    return tint(colour, theme.page, 1 if hatch == OVER else 0.45)


def gap(theme: Theme, colour: str, hatch: str, look: Detail) -> dict[str, Any]:
    """The part of a bar between accuracy and confidence."""
    if not look.hatch:
        mixed = plain_gap(theme, colour, hatch)
        return {"color": mixed, "line": {"color": mixed, "width": 0.5}}
    return {
        "color": colour,
        "line": {"color": colour, "width": look.outline},
        "pattern": {
            "shape": hatch,
            "fillmode": "replace",
            "bgcolor": tint(colour, theme.page, 0.14),
            "size": 7,
            "solidity": 0.3,
        },
    }


def _one_or_all(widths: list[float | None]) -> float | list[float | None] | None:
    return widths[0] if len(set(widths)) == 1 else widths or None

"""How does one kind of bar look, and how much detail do so many bars bear?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from calib_core.figures.layout import rounded_values
from calib_core.figures.theme import Theme, blend

FADED_OPACITY: Final = 0.4
"""Opacity of what stands on few rows."""

OVERCONFIDENT_HATCH: Final = "/"
UNDERCONFIDENT_HATCH: Final = "\\"
"""The hatch of an over- and of an under-confident gap: told apart without any colour."""


@dataclass(frozen=True, slots=True)
class BarDetail:
    """What can be seen at so many bins.

    edge: pixels of page between bars; hatch: whether gaps are hatched (one SVG pattern a bar), else
    over-confident is a full and under-confident a pale colour; outline: pixels around a gap; cap,
    whisker, point: half width of whisker ends, thickness and marker size in pixels.
    """

    edge_width: float
    hatched: bool
    outline_width: float
    whisker_cap: int
    whisker_width: float
    point_size: float


def bar_detail(n_bins: int) -> BarDetail:
    """The detail that `bins` bins across the square bear."""
    if n_bins >= 100:
        return BarDetail(edge_width=0, hatched=False, outline_width=0, whisker_cap=0, whisker_width=0.6, point_size=2.5)
    if n_bins >= 50:
        return BarDetail(edge_width=0.5, hatched=True, outline_width=1, whisker_cap=0, whisker_width=1, point_size=4)
    if n_bins > 20:
        return BarDetail(edge_width=0.8, hatched=True, outline_width=1.2, whisker_cap=2, whisker_width=1.1, point_size=5.5)
    return BarDetail(edge_width=1, hatched=True, outline_width=1.5, whisker_cap=4, whisker_width=1.4, point_size=7.5)


def split_thin_bins(table: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, float]]:
    """The bins on enough rows with opacity 1, always; then the thin ones faded, where there are any."""
    yield table.filter(~pl.col("thin")), 1.0
    thin = table.filter("thin")
    if thin.height:
        yield thin, FADED_OPACITY


def bar_trace(table: pl.DataFrame, height: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """One trace of bars `height` (a column) tall where `placed` put them; deaf to hover and click.

    A trace without bars keeps one empty place, so that its entry stays in the legend. The selection
    that plotly makes of a click changes nothing: the page outlines the bin itself.
    """
    drawn: dict[str, Any] = {
        "type": "bar",
        "x": rounded_values(table["x"]) or [None],
        "y": rounded_values(table[height]) or [None],
        "width": _common_value(rounded_values(table["width"])),
        "hoverinfo": "skip",
        "showlegend": False,
        "unselected": {"marker": {"opacity": 1}},
    }
    return drawn | more


def hover_targets(table: pl.DataFrame, height: str, hover_texts: list[str], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """What hover and click meet: one unseen bar a bin, hit anywhere in its column.

    words: what the hover says of each bin, as plotly's HTML (a template would bring the axis' label
    with it). customdata: the bin's number alone.
    """
    return bar_trace(
        table.with_columns(x="at", width="wide"), height, opacity=0, hoverinfo="text", hovertext=hover_texts,
        customdata=[[bin_] for bin_ in table["bin"]], **more,
    )


def solid_bar_marker(theme: Theme, colour: str, detail: BarDetail) -> dict[str, Any]:
    """A full bar with a hair of page around it, or a hair of itself where that would be a seam."""
    line = {"color": theme.background, "width": detail.edge_width} if detail.edge_width else {"color": colour, "width": 0.5}
    return {"color": colour, "line": line}


def unhatched_gap_colour(theme: Theme, colour: str, hatch: str) -> str:
    """The colour of a gap where a hatch would not be seen: full for over-, pale for under-confidence."""
    return blend(colour, theme.background, 1 if hatch == OVERCONFIDENT_HATCH else 0.45)


def gap_marker(theme: Theme, colour: str, hatch: str, detail: BarDetail) -> dict[str, Any]:
    """The part of a bar between accuracy and confidence."""
    if not detail.hatched:
        mixed = unhatched_gap_colour(theme, colour, hatch)
        return {"color": mixed, "line": {"color": mixed, "width": 0.5}}
    return {
        "color": colour,
        "line": {"color": colour, "width": detail.outline_width},
        "pattern": {
            "shape": hatch,
            "fillmode": "replace",
            "bgcolor": blend(colour, theme.background, 0.14),
            "size": 7,
            "solidity": 0.3,
        },
    }


def _common_value(widths: list[float | None]) -> float | list[float | None] | None:
    return widths[0] if len(set(widths)) == 1 else widths or None

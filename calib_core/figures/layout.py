"""What do all figures have in common: paper, letters, axes, legend, hover?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import polars as pl

from calib_core.figures.palette import FONT, TRANSPARENT, Theme
from calib_core.figures.text import escape_for_plotly

# MERGED as_sent: What of a figure is sent, to a browser or into a file?


def without_unset(figure: Mapping[str, Any]) -> dict[str, Any]:
    """The figure without the parts that are not set (None)."""
    return cast("dict[str, Any]", _without_unset_parts(figure))


def _without_unset_parts(part: object) -> object:
    if isinstance(part, Mapping):
        named = cast("Mapping[str, object]", part)
        return {name: _without_unset_parts(value) for name, value in named.items() if value is not None}
    if isinstance(part, list):
        parts = cast("list[object]", part)
        return (
            [_without_unset_parts(value) for value in parts]
            if any(isinstance(one, Mapping) for one in parts)
            else parts
        )
    return part


Figure: TypeAlias = dict[str, Any]
"""What plotly draws: {"data": [trace, …], "layout": {…}}, made of lists, numbers and text only."""

TEXT_SIZE: Final = 13
SMALL_SIZE: Final = 12
LABEL_SIZE: Final = 12


BOTTOM_MARGIN: Final = 48
"""Pixels below the panels, for ticks and a title."""

LEGEND_LINE_HEIGHT: Final = 19
"""Pixels of one line of a legend."""

_LEGEND_PADDING: Final = 14
"""Pixels of the margin that no line of the legend takes."""

_MAX_PAIRED_NAME: Final = 25
"""Letters of an entry that has another beside it on a telephone."""

HALF_WIDTH_ENTRY: Final = 0.48
FULL_WIDTH_ENTRY: Final = 0.98
"""Of the width: an entry beside another, and one that has the line to itself."""


def legend_margin(names: Sequence[str], *, one_per_line: bool = False) -> tuple[int, bool]:
    """The margin above panels in pixels, and whether each entry of the legend has a line of its own.

    names: of the entries, in their order; two stand side by side unless one of them is too long. alone: each
    is as long as a telephone is wide, or may be.
    """
    paired = names[: len(names) - len(names) % 2]  # the last of an odd number has the line to itself
    one_per_line = one_per_line or any(len(name) > _MAX_PAIRED_NAME for name in paired)
    lines = len(names) if one_per_line else -(-len(names) // 2)
    return _LEGEND_PADDING + LEGEND_LINE_HEIGHT * max(lines, 1), one_per_line


def legend_names(data: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of these traces' entries in the legend, in their order."""
    named = [trace for trace in data if "name" in trace and trace.get("showlegend", True)]
    return [trace["name"] for trace in sorted(named, key=lambda trace: trace.get("legendrank", 1000))]


def legend_entry(name: str, mode: str, **style: Any) -> dict[str, Any]:  # noqa: ANN401 (as plotly takes it)
    """An entry of the legend without anything in the picture: a trace that is nowhere."""
    return {
        "type": "scatter",
        "mode": mode,
        "x": [None],
        "y": [None],
        "name": escape_for_plotly(name),
        "showlegend": True,
        "hoverinfo": "skip",
        **style,
    }


def base_layout(theme: Theme, *, height: int, top: int, one_per_line: bool = False) -> dict[str, Any]:
    """The layout without its axes. height, top: pixels of the whole and of the margin above.

    alone: whether each entry of the legend has a line of its own.

    The empty template keeps plotly's own (7 kB, with a background) out. Hover works by column, so a
    short bar is as easy to hit as a tall one.
    """
    return {
        "template": {},
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "font": {"family": FONT, "size": TEXT_SIZE, "color": theme.text},
        "height": height,
        "margin": {"l": 56, "r": 14, "t": top, "b": BOTTOM_MARGIN},
        "barmode": "overlay",
        "hovermode": "x",
        "clickmode": "event+select",
        "dragmode": False,
        "legend": _legend_layout(theme, FULL_WIDTH_ENTRY if one_per_line else HALF_WIDTH_ENTRY),
        "hoverlabel": {
            "bgcolor": theme.background,
            "bordercolor": theme.axis_line,
            "align": "left",
            "font": {"family": FONT, "size": SMALL_SIZE, "color": theme.text},
        },
    }


def _legend_layout(theme: Theme, entry_width: float) -> dict[str, Any]:
    """Above the panels, each entry so much of the breadth.

    x below 0 is what lets plotly lay it out over the margin too, which a telephone needs.
    """
    return {
        "orientation": "h",
        "x": -0.06,
        "xanchor": "left",
        "y": 1.015,
        "yanchor": "bottom",
        "entrywidth": entry_width,
        "entrywidthmode": "fraction",
        "bgcolor": TRANSPARENT,
        "font": {"size": SMALL_SIZE, "color": theme.text},
        "itemclick": False,
        "itemdoubleclick": False,
    }


def axis(
    theme: Theme,
    title: str | None = None,
    *,
    standoff: int | None = None,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """One axis that cannot be dragged; `more` is laid over it.

    standoff: pixels between tick labels and title, for a horizontal axis (a vertical one of a square
    panel is then misplaced by plotly).
    """
    drawn: dict[str, Any] = {
        "fixedrange": True,
        "showline": True,
        "linecolor": theme.axis_line,
        "gridcolor": theme.grid_line,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": theme.axis_line,
        "tickfont": {"size": LABEL_SIZE, "color": theme.muted_text},
    }
    if title is not None:
        font = {"size": SMALL_SIZE, "color": theme.text}
        drawn["title"] = {"text": title, "font": font, "standoff": standoff}
    return drawn | options


def probability_axis(theme: Theme, title: str | None = None, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """An axis from 0 to 1."""
    whole: dict[str, Any] = {"range": [0, 1], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], **options}
    return axis(theme, title, **whole)


def unit_square_outline(theme: Theme) -> dict[str, Any]:
    """The outline of the square from 0 to 1, over bars that touch it."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "y",
        "x0": 0,
        "x1": 1,
        "y0": 0,
        "y1": 1,
        "layer": "between",
        "fillcolor": TRANSPARENT,
        "line": {"color": theme.axis_line, "width": 1},
    }


def empty_trace() -> dict[str, Any]:
    """A trace without a point, for a figure that would have none: no picture is drawn of an empty list."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [None],
        "y": [None],
        "hoverinfo": "skip",
        "showlegend": False,
    }


def rounded_values(series: pl.Series, decimals: int = 5) -> list[float | None]:
    """The column as plotly reads it, without digits that no pixel shows."""
    return series.cast(pl.Float64).round(decimals).to_list()


def log_ticks(largest: int) -> list[int]:
    """Powers of ten up to the largest count, with 2 and 5 between them while they are few."""
    decades = math.ceil(math.log10(max(largest, 1)))
    steps = (1, 2, 5) if decades <= 1 else (1, 3) if decades == 2 else (1,)
    ticks = [step * 10**power for power in range(decades + 1) for step in steps]
    return [tick for tick in ticks if tick <= max(largest, 1)]


def share_ticks(top: float, max_steps: int = 4) -> dict[str, Any]:
    """At most `most` steps of a round share from 0 to `top`, and never beyond 100 %."""
    shares = (step * 10**power for power in range(-5, 0) for step in (1, 2, 5))
    step = next((share for share in shares if min(top, 1) <= share * max_steps), 0.5)
    count = math.floor(min(top, 1) / step + 1e-9)
    decimals = max(0, -2 - math.floor(math.log10(step)))
    return {"tickvals": [round(step * place, 6) for place in range(count + 1)], "tickformat": f".{decimals}%"}


def annotation(theme: Theme, text: str, **position: Any) -> dict[str, Any]:  # noqa: ANN401
    """Words in the picture, without an arrow; `text` is plotly's HTML, so escaped already."""
    return {"text": text, "showarrow": False, "font": {"size": SMALL_SIZE, "color": theme.text}} | position


# MERGED stack: Where do panels stand that share one horizontal axis, one above the other?

_HEADING_HEIGHT: Final = 30
_LONG_HEADING: Final = 50
"""Pixels above each panel, for what it shows, and letters from which on that is written smaller."""


@dataclass(frozen=True, slots=True)
class PanelStack:
    """Panels from top to bottom.

    down: (from, to) of each, in parts of the plot; height: pixels of the figure, margins included.
    """

    domains: tuple[tuple[float, float], ...]
    height: int

    def trace_axis(self, index: int) -> str:
        """Name of the vertical axis of the panel at this place (from 0), as traces say it."""
        return "y" if index == 0 else f"y{index + 1}"

    def layout_key(self, index: int) -> str:
        """The same axis as the layout says it."""
        return f"yaxis{self.trace_axis(index)[1:]}"

    @property
    def bottom_axis(self) -> str:
        """The axis that the shared horizontal one stands under."""
        return self.trace_axis(len(self.domains) - 1)


def stack_panels(panels: int, *, top: int, panel_height: int) -> PanelStack:
    """`panels` (1 or more) of `each` pixels below a margin of `top`; each has room for a heading."""
    row = _HEADING_HEIGHT + panel_height
    plot = panels * row
    down = tuple(
        (max(0.0, 1 - (place + 1) * row / plot), 1 - (place * row + _HEADING_HEIGHT) / plot)
        for place in range(panels)
    )
    return PanelStack(down, plot + top + BOTTOM_MARGIN)


def panel_heading(text: str, theme: Theme, stack: PanelStack, index: int = 0) -> dict[str, Any]:
    """Words above the panel at this place, smaller where they would be wider than a telephone."""
    size = TEXT_SIZE if len(text) < _LONG_HEADING else SMALL_SIZE
    return annotation(
        theme,
        f"<b>{escape_for_plotly(text)}</b>",
        font={"size": size, "color": theme.text},
        xref="paper",
        yref="paper",
        x=0,
        xanchor="left",
        align="left",
        y=stack.domains[index][1],
        yanchor="bottom",
        yshift=3,
    )

"""What all figures share: background, fonts, axes, legend and hover labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import polars as pl

from calib_core.figures.palette import FONT, TRANSPARENT, Theme
from calib_core.figures.text import escape_for_plotly, text_width

Figure: TypeAlias = dict[str, Any]
"""A plotly figure, {"data": [trace, …], "layout": {…}}, of lists, dicts, numbers and strings only."""

TEXT_SIZE: Final = 13
SMALL_SIZE: Final = 12
LABEL_SIZE: Final = 12
"""Font sizes in pixels: body text; titles of axes, legend and hover; ticks and labels in the plot."""

BOTTOM_MARGIN: Final = 48
"""Pixels below the panels, for tick labels and the axis title."""

LEGEND_LINE_HEIGHT: Final = 19
"""Height of one line of the legend, in pixels."""

_LEGEND_PADDING: Final = 14
"""Pixels of the top margin besides the lines of the legend."""

_MAX_PAIRED_NAME: Final = 25
"""The longest legend entry, in characters, that leaves room for a second one beside it on a phone."""

MAX_FIGURE_HEIGHT: Final = 620
"""Largest height in pixels of a page's main figure: with what is above it, it fits a window of 900 pixels."""

_WIDE_LEGEND, _PHONE_LEGEND = 860, 330
"""Pixels of a flowing legend on a wide page and on a phone."""
_ENTRY_SYMBOL: Final = 45
"""Pixels of an entry of it besides its text."""

HALF_WIDTH_ENTRY: Final = 0.48
FULL_WIDTH_ENTRY: Final = 0.98
"""Width of a legend entry, as a fraction of the plot: two to a line, and one to a line."""


def legend_margin(names: Sequence[str], *, one_per_line: bool = False) -> tuple[int, bool]:
    """The margin that a legend needs above the panels, and whether it has one entry to a line.

    Parameters
    ----------
    names : Sequence[str]
        The legend's entries, in order. Two share a line unless one of them is too long.
    one_per_line : bool
        Give every entry a line of its own, however short.

    Returns
    -------
    margin : int
        Height in pixels.
    one_per_line : bool
        Whether each entry has a line of its own.

    Examples
    --------
    >>> legend_margin(["ECE", "Brier score", "AUROC"])
    (52, False)
    """
    paired = names[: len(names) - len(names) % 2]  # the last of an odd number has a line to itself anyway
    one_per_line = one_per_line or any(len(name) > _MAX_PAIRED_NAME for name in paired)
    lines = len(names) if one_per_line else -(-len(names) // 2)
    return _LEGEND_PADDING + LEGEND_LINE_HEIGHT * max(lines, 1), one_per_line


def flowing_legend(names: Sequence[str]) -> dict[str, Any]:
    """Keys of plotly's `legend` with as many entries to a line as its width has room for.

    Where a narrow page makes more lines than `flowing_legend_margin` allows for, plotly takes their room from
    the panel: up to `flowing_legend_growth`, which a low panel has to have.
    """
    return {"entrywidth": _entry_width(names), "entrywidthmode": "pixels"}


def flowing_legend_margin(names: Sequence[str]) -> int:
    """The margin in pixels that a flowing legend needs above the panels of a wide page."""
    return _LEGEND_PADDING + LEGEND_LINE_HEIGHT * _n_flowing_lines(names, _WIDE_LEGEND)


def flowing_legend_growth(names: Sequence[str]) -> int:
    """The pixels by which a flowing legend is higher on a phone than on a wide page."""
    n_lines, n_wide = (_n_flowing_lines(names, width) for width in (_PHONE_LEGEND, _WIDE_LEGEND))
    return LEGEND_LINE_HEIGHT * (n_lines - n_wide)


def _n_flowing_lines(names: Sequence[str], width: int) -> int:
    per_line = max(1, width // (_entry_width(names) + _ENTRY_SYMBOL))
    return max(1, -(-len(names) // per_line))


def _entry_width(names: Sequence[str]) -> int:
    """Pixels of the text of each entry, the longest of which fits."""
    return math.ceil(max((text_width(name, SMALL_SIZE) for name in names), default=0))


def legend_names(data: Sequence[Mapping[str, Any]]) -> list[str]:
    """The legend entries of these traces, in the order in which plotly lists them."""
    named = [trace for trace in data if "name" in trace and trace.get("showlegend", True)]
    return [trace["name"] for trace in sorted(named, key=lambda trace: trace.get("legendrank", 1000))]


def legend_entry(name: str, mode: str, **style: Any) -> dict[str, Any]:  # noqa: ANN401 (plotly takes values of any type)
    """A legend entry that belongs to nothing in the plot: a trace without a point."""
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
    """The layout without its axes.

    Parameters
    ----------
    theme : Theme
        Colours for the light or the dark page.
    height : int
        Height of the whole figure in pixels.
    top : int
        Margin above the panels in pixels.
    one_per_line : bool
        Whether each legend entry has a line of its own.

    Notes
    -----
    The empty template keeps out plotly's own, which is 7 kB and paints a background. Hover works by column,
    so that a short bar is as easy to hit as a tall one.
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
    """A horizontal legend above the panels; `entry_width` is a fraction of the plot's width.

    A negative x lets plotly use the left margin too, which a phone needs.
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
    """One axis, which cannot be dragged.

    Parameters
    ----------
    theme : Theme
        Colours.
    title : str, optional
        The axis title, as plotly's HTML.
    standoff : int, optional
        Pixels between tick labels and title. For horizontal axes only: plotly misplaces the title of a
        square panel's vertical axis where it is set.
    **options
        Keys of plotly's axis, which override the defaults here.
    """
    settings: dict[str, Any] = {
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
        settings["title"] = {"text": title, "font": font, "standoff": standoff}
    return settings | options


def probability_axis(theme: Theme, title: str | None = None, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """An axis from 0 to 1; `options` as for `axis`."""
    settings: dict[str, Any] = {"range": [0, 1], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], **options}
    return axis(theme, title, **settings)


def unit_square_outline(theme: Theme) -> dict[str, Any]:
    """The outline of the unit square, drawn over bars that touch it."""
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


def silent_trace(mode: str, x: Sequence[Any], y: Sequence[Any], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Points or lines that ignore hover and click, and are in the legend only if they have a name."""
    legend = {} if "name" in options else {"showlegend": False}
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "hoverinfo": "skip", **legend, **options}


def calibration_line(colour: str, start: float = 0) -> dict[str, Any]:
    """The line of perfect calibration, last in the legend."""
    ends, line = [start, 1], {"color": colour, "width": 1.6, "dash": "6px,5px"}
    return silent_trace("lines", ends, ends, name="perfect calibration", legendrank=1001, line=line)


def empty_trace() -> dict[str, Any]:
    """A trace without a point: given no trace at all, plotly draws no axes."""
    return silent_trace("markers", [None], [None])


def rounded_values(series: pl.Series, decimals: int = 5) -> list[float | None]:
    """The column as a list, rounded to digits that a pixel can show."""
    return series.cast(pl.Float64).round(decimals).to_list()


def significant_values(series: pl.Series) -> list[float | None]:
    """As `rounded_values`, but below 0.01 with four significant digits, for logarithmic axes."""
    values = pl.first().cast(pl.Float64)
    shown = pl.when(values.abs() < 0.01).then(values.round_sig_figs(4)).otherwise(values.round(5))
    return series.to_frame().select(shown).to_series().to_list()


def logarithmic_axis(theme: Theme, title: str, low: float, high: float, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """A logarithmic axis from `low` to `high`, both positive; `options` as for `axis`."""
    decades = math.log10(high) - math.log10(low)
    settings: dict[str, Any] = {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "dtick": max(1, math.ceil(decades / 7)),
        "exponentformat": "power",
        **options,
    }
    return axis(theme, title, **settings)


def log_ticks(largest: int) -> list[int]:
    """Tick values of a logarithmic count axis: powers of ten, and steps between them while those are few.

    Examples
    --------
    >>> log_ticks(8)
    [1, 2, 5]
    >>> log_ticks(5000)
    [1, 10, 100, 1000]
    """
    decades = math.ceil(math.log10(max(largest, 1)))
    steps = (1, 2, 5) if decades <= 1 else (1, 3) if decades == 2 else (1,)
    ticks = [step * 10**power for power in range(decades + 1) for step in steps]
    return [tick for tick in ticks if tick <= max(largest, 1)]


def share_ticks(top: float, max_steps: int = 4) -> dict[str, Any]:
    """Ticks of an axis of shares from 0 to `top`: at most `max_steps` round steps, none beyond 100 %.

    Examples
    --------
    >>> share_ticks(0.5)
    {'tickvals': [0.0, 0.2, 0.4], 'tickformat': '.0%'}
    """
    shares = (step * 10**power for power in range(-5, 0) for step in (1, 2, 5))
    step = next((share for share in shares if min(top, 1) <= share * max_steps), 0.5)
    count = math.floor(min(top, 1) / step + 1e-9)
    decimals = max(0, -2 - math.floor(math.log10(step)))
    return {"tickvals": [round(step * index, 6) for index in range(count + 1)], "tickformat": f".{decimals}%"}


def annotation(theme: Theme, text: str, **position: Any) -> dict[str, Any]:  # noqa: ANN401
    """A text in the plot, without an arrow; `text` is plotly's HTML, already escaped."""
    return {"text": text, "showarrow": False, "font": {"size": SMALL_SIZE, "color": theme.text}} | position


def horizontal_line(y: float, *, xref: str = "x domain", yref: str = "y", **style: Any) -> dict[str, Any]:  # noqa: ANN401
    """A straight line across a panel, below its marks; `style` is plotly's `line`."""
    ends = {"x0": 0, "x1": 1, "y0": y, "y1": y}
    return {"type": "line", "xref": xref, "yref": yref, **ends, "layer": "below", "line": style}


def vertical_line(x: float, *, yref: str = "y domain", **style: Any) -> dict[str, Any]:  # noqa: ANN401
    """A straight line up a panel, below its marks; `style` is plotly's `line`."""
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1}
    return {"type": "line", "xref": "x", "yref": yref, **ends, "layer": "below", "line": style}


def halo(theme: Theme) -> str:
    """Plotly's `shadow` of a text: a rim in the background's colour, so that no line crosses its letters."""
    return ", ".join([f"0px 0px 2px {theme.background}"] * 4)


def without_unset(figure: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the figure without the entries that are None, ready to be sent or written to a file."""
    return cast("dict[str, Any]", _without_unset_parts(figure))


def _without_unset_parts(part: object) -> object:
    if isinstance(part, Mapping):
        entries = cast("Mapping[str, object]", part)
        return {key: _without_unset_parts(value) for key, value in entries.items() if value is not None}
    if isinstance(part, list):
        items = cast("list[object]", part)
        has_mappings = any(isinstance(item, Mapping) for item in items)  # else numbers, where None is a gap
        return [_without_unset_parts(item) for item in items] if has_mappings else items
    return part


# --- Panels stacked on one horizontal axis ------------------------------------------------------------------

_HEADING_HEIGHT: Final = 30
"""Pixels above each panel for its heading."""

_LONG_HEADING: Final = 50
"""A heading of this many characters or more is written smaller."""


@dataclass(frozen=True, slots=True)
class PanelStack:
    """Panels from top to bottom that share one horizontal axis.

    Attributes
    ----------
    domains : tuple[tuple[float, float], ...]
        Lower and upper end of each panel, as fractions of the plot's height; the topmost panel first.
    height : int
        Height of the figure in pixels, margins included.
    """

    domains: tuple[tuple[float, float], ...]
    height: int

    def trace_axis(self, index: int) -> str:
        """Name of a panel's vertical axis in a trace, "y" or "y2"; `index` counts from 0, from the top."""
        return "y" if index == 0 else f"y{index + 1}"

    def layout_key(self, index: int) -> str:
        """Key of the same axis in the layout, "yaxis" or "yaxis2"."""
        return f"yaxis{self.trace_axis(index)[1:]}"

    @property
    def bottom_axis(self) -> str:
        """The vertical axis that the shared horizontal one is anchored to: the lowest panel's."""
        return self.trace_axis(len(self.domains) - 1)


def stack_panels(panels: int, *, top: int, panel_height: int) -> PanelStack:
    """A stack of panels, each with room for a heading above it.

    Parameters
    ----------
    panels : int
        Number of panels, 1 or more.
    top : int
        Margin above the first panel, in pixels.
    panel_height : int
        Height of each panel in pixels.
    """
    row = _HEADING_HEIGHT + panel_height
    plot = panels * row
    domains = tuple(
        (max(0.0, 1 - (index + 1) * row / plot), 1 - (index * row + _HEADING_HEIGHT) / plot)
        for index in range(panels)
    )
    return PanelStack(domains, plot + top + BOTTOM_MARGIN)


def fitting_panel_height(panels: int, *, top: int, largest: int, smallest: int) -> int:
    """The height of each panel of a stack, with which the figure is no higher than `MAX_FIGURE_HEIGHT`.

    Parameters
    ----------
    panels : int
        Number of panels, 1 or more.
    top : int
        Margin above the first panel, in pixels.
    largest, smallest : int
        Bounds of the height in pixels. With the smallest the figure may be higher.

    Examples
    --------
    >>> fitting_panel_height(2, top=52, largest=300, smallest=120)
    230
    """
    room = MAX_FIGURE_HEIGHT - top - BOTTOM_MARGIN
    return max(smallest, min(largest, room // panels - _HEADING_HEIGHT))


def panel_heading(text: str, theme: Theme, stack: PanelStack, index: int = 0) -> dict[str, Any]:
    """The heading above a panel, in smaller letters where it would be wider than a phone."""
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

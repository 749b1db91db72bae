"""How is it drawn where the confidences lie?  Results → one figure of histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from calib_core.edges import MAX_BINS
from calib_core.figures.bars import (
    MAX_LABELLED_BARS,
    bar_detail,
    bar_trace,
    count_labels,
    hover_targets,
    label_angle,
    label_headroom,
    place_bars,
    solid_bar_marker,
)
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    LABEL_SIZE,
    TEXT_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    legend_entry,
    legend_margin,
    legend_names,
    probability_axis,
    rounded_values,
    share_ticks,
)
from calib_core.figures.palette import SeriesStyle, Theme, method_style
from calib_core.figures.text import escape_for_plotly, wrap_lines
from calib_core.results.concentration import Concentration
from calib_core.wording import format_percent, plural

# MERGED grid: Where does each of several panels stand, and what are its axes called?

GRID_COLUMNS: Final = 2
"""So many panels side by side; on a telephone more could not be read."""

_COLUMN_GAP: Final = 0.07
"""Part of the width between two columns."""

_TITLE_HEIGHT, _PANEL_HEIGHT, _STRIP_GAP, _STRIP_HEIGHT = 40, 190, 16, 64
"""Pixels of one row of panels, from above."""


@dataclass(frozen=True, slots=True)
class PanelCell:
    """One panel with a strip below it on the same horizontal axis.

    number: from 1; across, upper, lower: (from, to) in parts of the plot; left: whether it is the first
    of its row.
    """

    number: int
    x_domain: tuple[float, float]
    panel_domain: tuple[float, float]
    strip_domain: tuple[float, float]
    is_leftmost: bool

    @property
    def x_axis(self) -> str:
        """Name of the horizontal axis, as traces say it: "x", "x2" …"""
        return _axis_name("x", self.number)

    @property
    def y_axis(self) -> str:
        """Name of the panel's vertical axis."""
        return _axis_name("y", 2 * self.number - 1)

    @property
    def strip_y_axis(self) -> str:
        """Name of the strip's vertical axis."""
        return _axis_name("y", 2 * self.number)


@dataclass(frozen=True, slots=True)
class PanelGrid:
    """All cells, in reading order; height: pixels of the figure, margins included."""

    cells: tuple[PanelCell, ...]
    columns: int
    height: int


def panel_grid(panels: int, *, top: int) -> PanelGrid:
    """A grid of `panels` (1 or more) below a margin of `top` pixels; several leave room for their titles."""
    columns, rows = min(panels, GRID_COLUMNS), -(-panels // GRID_COLUMNS)
    title = _TITLE_HEIGHT if panels > 1 else 0
    row = title + _PANEL_HEIGHT + _STRIP_GAP + _STRIP_HEIGHT
    plot = rows * row + (rows - 1) * BOTTOM_MARGIN
    width = (1 - _COLUMN_GAP * (columns - 1)) / columns

    def cell(index: int) -> PanelCell:
        down, right = divmod(index, columns)
        above = down * (row + BOTTOM_MARGIN) + title
        return PanelCell(
            number=index + 1,
            x_domain=(right * (width + _COLUMN_GAP), right * (width + _COLUMN_GAP) + width),
            panel_domain=(1 - (above + _PANEL_HEIGHT) / plot, 1 - above / plot),
            strip_domain=(
                max(0.0, 1 - (above + _PANEL_HEIGHT + _STRIP_GAP + _STRIP_HEIGHT) / plot),
                1 - (above + _PANEL_HEIGHT + _STRIP_GAP) / plot,
            ),
            is_leftmost=right == 0,
        )

    return PanelGrid(tuple(cell(place) for place in range(panels)), columns, plot + top + BOTTOM_MARGIN)


def layout_key(axis: str) -> str:
    """ "x2" → "xaxis2": the same axis as the layout says it."""
    return f"{axis[0]}axis{axis[1:]}"


def _axis_name(letter: str, number: int) -> str:
    return letter if number == 1 else f"{letter}{number}"


_TOP_MARGIN: Final = 36
_SINGLE_TOP_MARGIN: Final = 52
"""Pixels above the panels; of a single one, as many as above the cumulative line beside it."""

_FULL_SHARE: Final = 1.02
"""Upper end of an axis of shares: a bar of all rows with its outline."""

MAX_HOVERED_BINS: Final = 200
"""So many lines of the finest bins can be pointed at one by one."""

_TITLE_WIDTH: Final = 22
"""Letters of a panel's title before it breaks."""


def histogram_figure(results: Sequence[Concentration], theme: Theme) -> Figure:
    """One panel a result, all with the same axes: shares of the rows by bin, and below by finest bin.

    results: one or more, in two columns. The two fullest bins are amber and outlined. Counts stand on the
    bars of one alone; of several each strip has its own scale: one's sharp values would hide the others.
    """
    top = _TOP_MARGIN if len(results) > 1 else _SINGLE_TOP_MARGIN
    grid = panel_grid(len(results), top=top)
    tables = [place_bars(result.table, result.scheme) for result in results]
    most = max((share for table in tables for share in table["share"]), default=1.0)
    top_share = most * label_headroom(tables[0]) if len(results) == 1 else min(1.08 * most, _FULL_SHARE)
    layout = base_layout(theme, height=grid.height, top=top) | {
        "annotations": _panel_titles(results, theme, grid) + _strip_maximum_labels(results, theme, grid),
        "shapes": [
            _uniform_level(result, theme, cell) for result, cell in zip(results, grid.cells, strict=True)
        ],
    }
    data: list[dict[str, Any]] = []
    for result, table, cell in zip(results, tables, grid.cells, strict=True):
        data += _histogram_traces(result, table, theme, cell, single=len(results) == 1)
        layout |= _histogram_axes(theme, cell, top_share, result, single=len(results) == 1)
    return {"data": data, "layout": layout}


def _histogram_traces(
    result: Concentration, table: pl.DataFrame, theme: Theme, cell: PanelCell, *, single: bool
) -> list[dict[str, Any]]:
    look = bar_detail(result.n_bins * (1 if single else GRID_COLUMNS))
    labelled = single and result.n_bins <= MAX_LABELLED_BARS
    on = {"xaxis": cell.x_axis, "yaxis": cell.y_axis}
    amber = {"color": theme.highlight, "line": {"color": theme.highlight_outline, "width": 1.5}}
    traces: list[dict[str, Any]] = []
    for part, more in (
        (table.filter(pl.col("fullest") > 2), {"marker": solid_bar_marker(theme, theme.count_bar, look)}),
        (
            table.filter(pl.col("fullest") <= 2),
            {"marker": amber, "name": "two fullest bins", "showlegend": cell.number == 1},
        ),
    ):
        labels = count_labels(part, theme, label_angle(table)) if labelled else {}
        traces.append(bar_trace(part, "share", **on, **labels, **more))
    return [
        *traces,
        _fine_strip(result, theme, cell),
        hover_targets(table, "share", _hover_texts(table, result.unit), **on),
    ]


def _uniform_level(result: Concentration, theme: Theme, cell: PanelCell) -> dict[str, Any]:
    """A line behind the bars, so that it does not run through their counts."""
    each = 1 / max(result.n_bins, 1)
    return {
        "type": "line",
        "xref": cell.x_axis,
        "yref": cell.y_axis,
        "x0": 0,
        "x1": 1,
        "y0": each,
        "y1": each,
        "layer": "between",
        "line": {"color": theme.axis_line, "width": 1.5, "dash": "dot"},
        "name": "all bins equally full",
        "showlegend": cell.number == 1,
    }


def _fine_strip(result: Concentration, theme: Theme, cell: PanelCell) -> dict[str, Any]:
    """One thin line a bin, as error bars of points without size: a bar of 1/1000 would be no pixel wide.

    Hover tells the lines apart while there are so few that one can be pointed at.
    """
    table = result.fine_histogram
    told = table.height <= MAX_HOVERED_BINS
    return {
        "type": "scatter",
        "mode": "markers",
        "showlegend": False,
        "xaxis": cell.x_axis,
        "yaxis": cell.strip_y_axis,
        "x": rounded_values((table["low"] + table["high"]) / 2) or [None],
        "y": rounded_values(table["count"] / max(result.n_used, 1), 6) or [None],
        **(
            {"hoverinfo": "text", "hovertext": _fine_strip_hover_texts(result)}
            if told
            else {"hoverinfo": "skip"}
        ),
        "marker": {"size": 1, "color": theme.series_colours[0]},
        "unselected": {"marker": {"opacity": 1}},
        "error_y": {
            "type": "percent",
            "symmetric": False,
            "value": 0,
            "valueminus": 100,
            "color": theme.series_colours[0],
            "thickness": 1,
            "width": 0,
        },
    }


def _fine_strip_hover_texts(result: Concentration) -> list[str]:
    return [
        f"<b>{low:.3f} to {high:.3f}</b><br>{plural(rows, result.unit[:-1])}<br>"
        f"{format_percent(rows / result.n_used)} of all"
        for low, high, rows in result.fine_histogram.iter_rows()
    ]


def _hover_texts(table: pl.DataFrame, unit: str) -> list[str]:
    return [
        f"<b>{_range_text(low, high)}</b><br>{plural(rows, unit[:-1])}<br>{format_percent(share)} of all, place {place}"
        for low, high, rows, share, place in table.select(
            "low", "high", "count", "share", "fullest"
        ).iter_rows()
    ]


def _range_text(low: float, high: float) -> str:
    return f"{low:.4g} to {high:.4g}" if low < high else f"{low:.4g}"


def _histogram_axes(
    theme: Theme, cell: PanelCell, top: float, result: Concentration, *, single: bool
) -> dict[str, Any]:
    """Three axes; what is the same for the panels beside stands on the left of a row only.

    top: upper end of the panel's axis.
    """
    title, strip = (f"Share of {result.unit}", f"{MAX_BINS:,} bins") if cell.is_leftmost else (None, None)
    finest = 1.1 * _largest_fine_share(result)
    upper: dict[str, Any] = {"domain": cell.panel_domain, "range": [0, top], **share_ticks(top)}
    lower: dict[str, Any] = {"domain": cell.strip_domain, "range": [0, finest]}
    lower |= share_ticks(finest, 2) if single else {"tickvals": []}
    sparse: dict[str, Any] = {} if single else {"tickvals": [0, 0.5, 1]}
    return {
        layout_key(cell.x_axis): probability_axis(
            theme, "Confidence", standoff=6, anchor=cell.strip_y_axis, domain=cell.x_domain, **sparse
        ),
        layout_key(cell.y_axis): axis(
            theme, title, anchor=cell.x_axis, showticklabels=cell.is_leftmost, **upper
        ),
        layout_key(cell.strip_y_axis): axis(theme, strip, anchor=cell.x_axis, **lower),
    }


def _panel_titles(results: Sequence[Concentration], theme: Theme, grid: PanelGrid) -> list[dict[str, Any]]:
    if len(results) < 2:
        return []
    return [
        annotation(
            theme,
            f"<b>{wrap_lines(result.title, _TITLE_WIDTH)}</b>",
            xref="paper",
            yref="paper",
            align="left",
            x=cell.x_domain[0],
            xanchor="left",
            y=cell.panel_domain[1],
            yanchor="bottom",
            font={"size": TEXT_SIZE, "color": theme.text},
        )
        for result, cell in zip(results, grid.cells, strict=True)
    ]


def _strip_maximum_labels(
    results: Sequence[Concentration], theme: Theme, grid: PanelGrid
) -> list[dict[str, Any]]:
    """Of several, how much the highest line of each strip is."""
    if len(results) < 2:
        return []
    return [
        annotation(
            theme,
            format_percent(_largest_fine_share(result)),
            xref=f"{cell.x_axis} domain",
            yref=f"{cell.strip_y_axis} domain",
            x=0,
            xanchor="left",
            xshift=2,
            y=1,
            yanchor="top",
            font={"size": LABEL_SIZE, "color": theme.muted_text},
        )
        for result, cell in zip(results, grid.cells, strict=True)
        if result.n_used
    ]


def _largest_fine_share(result: Concentration) -> float:
    """Share of the rows in the fullest of the finest bins, 1 without rows."""
    return max(result.fine_histogram["count"].to_list(), default=1) / max(result.n_used, 1)


def describe_histogram(results: Sequence[Concentration]) -> str:
    """The histograms in one sentence, for who cannot see them: text, not HTML."""
    return "Histogram of confidences. " + "; ".join(_spread_text(result) for result in results) + "."


def two_fullest_text(result: Concentration) -> str:
    """ "the two fullest of 10 bins", or "the only bin"."""
    return f"the two fullest of {result.n_bins} bins" if result.n_bins > 1 else "the only bin"


def _spread_text(result: Concentration) -> str:
    if result.top_two_share is None or result.effective_bins is None:
        return f"{result.title}: no rows"
    of = plural(result.n_used, result.unit[:-1])
    return (
        f"{result.title}: {format_percent(result.top_two_share)} of {of} in {two_fullest_text(result)}, "
        f"as spread out as {result.effective_bins:.1f} equally full ones"
    )


# MERGED cumulative: How fast do the fullest bins add up to all rows?  Results → one figure of cumulative shares.

MAX_MARKED_BINS: Final = 50
"""Every bin has a marker up to so many."""

_CUMULATIVE_HEIGHT: Final = 300
_SINGLE_CUMULATIVE_HEIGHT: Final = 270
"""Pixels of the panel; of a single line, it ends where the histogram beside it does."""

_RIGHT_PART: Final = 0.6
"""Beyond this part of the width, words stand on the left of their mark."""


def cumulative_figure(results: Sequence[Concentration], theme: Theme) -> Figure:
    """Share of the rows in the k fullest bins, k = 0 … all, one line a result.

    results: one or more, of different confidence methods. A diamond marks the two fullest bins, a dotted
    vertical line the effective number of bins; the straight line is what equally full bins would give.
    """
    several = len(results) > 1
    bins = max(1, *(result.n_bins for result in results))
    levels = sorted({result.n_bins for result in results if result.n_bins})
    looks = [method_style(result.method, theme) for result in results] if several else [_neutral_style(theme)]
    data = [
        *(
            _cumulative_line(result, drawn, named=several)
            for result, drawn in zip(results, looks, strict=True)
        ),
        *(_uniform_line(each, theme) for each in levels),
        _two_fullest_markers(results, theme),
    ]
    if several:
        dots = {"color": theme.muted_text, "width": 1.6, "dash": "dot"}
        data.append(legend_entry("effective number of bins", "lines", line=dots))
    top, alone = legend_margin(legend_names(data), one_per_line=several)
    layout = base_layout(
        theme,
        height=(_CUMULATIVE_HEIGHT if several else _SINGLE_CUMULATIVE_HEIGHT) + top + BOTTOM_MARGIN,
        top=top,
        one_per_line=alone,
    )
    return {
        "data": data,
        "layout": layout
        | {
            "xaxis": axis(
                theme,
                "Number of bins, fullest first",
                standoff=6,
                range=[0, bins],
                tickformat=",d",
                **({"dtick": 1} if bins <= 12 else {"nticks": 11}),
            ),
            "yaxis": axis(
                theme,
                f"Share of {results[0].unit}",
                range=[0, 1.04],
                tickformat=".0%",
                tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
            ),
            "shapes": [
                _effective_bins_line(result.effective_bins, drawn.colour)
                for result, drawn in zip(results, looks, strict=True)
                if result.effective_bins
            ],
            "annotations": [] if several else _single_line_notes(results[0], theme),
        },
    }


def _neutral_style(theme: Theme) -> SeriesStyle:
    """A single line tells nothing apart: no method's colour, which the amber of the fullest bins might be."""
    return SeriesStyle(theme.text, "solid", "circle")


def _cumulative_line(result: Concentration, style: SeriesStyle, *, named: bool) -> dict[str, Any]:
    table = result.table.sort("fullest")
    rest = [result.n_bins] if 0 < table.height < result.n_bins else []
    title = escape_for_plotly(result.title)
    return {
        "type": "scatter",
        "mode": "lines+markers" if result.n_bins <= MAX_MARKED_BINS else "lines",
        "cliponaxis": False,
        "x": [0, *table["fullest"], *rest],
        "y": [0, *rounded_values(table["cumulative"]), *(1 for _ in rest)],
        "name": title if named else "cumulative share",
        "text": title,
        "hovertemplate": ("<b>%{text}</b><br>" if named else "")
        + f"%{{y:.1%}} of {result.unit}<extra></extra>",
        "line": style.line(),
        "marker": {"size": 6, "symbol": style.symbol, "color": style.colour},
        "unselected": {"marker": {"opacity": 1}},
    }


def _uniform_line(bins: int, theme: Theme) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [0, bins],
        "y": [0, 1],
        "hoverinfo": "skip",
        "name": f"{bins:,} equally full bins",
        "line": {"color": theme.muted_text, "width": 1.3, "dash": "6px,5px"},
    }


def _two_fullest_markers(results: Sequence[Concentration], theme: Theme) -> dict[str, Any]:
    known = [
        (min(2, result.table.height), result.top_two_share)
        for result in results
        if result.top_two_share is not None
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "hoverinfo": "skip",
        "name": "two fullest bins",
        "x": [at for at, _ in known] or [None],
        "y": [round(share, 5) for _, share in known] or [None],
        "marker": {
            "size": 12,
            "symbol": "diamond",
            "color": theme.highlight,
            "line": {"color": theme.highlight_outline, "width": 1.5},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def _effective_bins_line(effective: float, colour: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "y domain",
        "x0": effective,
        "x1": effective,
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "line": {"color": colour, "width": 1.6, "dash": "dot"},
    }


def _single_line_notes(result: Concentration, theme: Theme) -> list[dict[str, Any]]:
    """The two numbers of a single line, beside their marks and inside the panel."""
    if result.top_two_share is None or result.effective_bins is None:
        return [annotation(theme, "No rows.", xref="x domain", yref="y domain", x=0.3, y=0.7)]
    two = min(2, result.table.height)
    name = "two fullest" if two > 1 else "the only bin"
    sink = -3 if two < _RIGHT_PART * result.n_bins else -30  # on the left it would lie on the rising line

    def beside(at: float) -> dict[str, Any]:
        room = at < _RIGHT_PART * result.n_bins
        return {"x": at, "xanchor": "left" if room else "right", "xshift": 9 if room else -9}

    return [
        annotation(
            theme,
            f"<b>{name}<br>{format_percent(result.top_two_share)}</b>",
            **beside(two),
            y=result.top_two_share,
            yanchor="top",
            yshift=sink,
            align="left",
            font={"size": 12, "color": theme.highlight_text},
        ),
        annotation(
            theme,
            f"{result.effective_bins:.1f} effective bins",
            **beside(result.effective_bins),
            yref="y domain",
            y=0.03,
            yanchor="bottom",
        ),
    ]


def describe_cumulative(results: Sequence[Concentration]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(_cumulative_text(result) for result in results)
    return f"Cumulative share of {results[0].unit}, fullest bin first. {told}."


def _cumulative_text(result: Concentration) -> str:
    if result.top_two_share is None:
        return f"{result.title}: no rows"
    return f"{result.title}: {format_percent(result.top_two_share)} in {two_fullest_text(result)}"

"""How concentrated confidences are: histograms, and the cumulative share of the fullest bins."""

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
    halo,
    horizontal_line,
    legend_entry,
    legend_margin,
    legend_names,
    probability_axis,
    rounded_values,
    share_ticks,
    silent_trace,
    vertical_line,
)
from calib_core.figures.palette import SeriesStyle, Theme, method_style
from calib_core.figures.text import escape_for_plotly, wrap_lines
from calib_core.results.concentration import Concentration
from calib_core.terms import common_terms
from calib_core.wording import bin_reading, format_percent, plural

_TOP_MARGIN: Final = 36
_SINGLE_TOP_MARGIN: Final = 52
"""Pixels above the panels; a single panel has the same margin as the cumulative figure beside it."""

_FULL_SHARE: Final = 1.02
"""Upper end of an axis of shares, with room for the outline of a bar of 100 %."""

MAX_HOVERED_BINS: Final = 200
"""Up to this many lines of the fine histogram have a hover text: more cannot be pointed at one by one."""

_TITLE_WIDTH: Final = 22
"""Characters of one line of a panel's title."""


def histogram_figure(results: Sequence[Concentration], theme: Theme) -> Figure:
    """A panel for each result, all with the same axes: shares of the rows by bin, and a fine histogram below.

    The two fullest bins are amber. Several panels stand in two columns, and the strip with the fine histogram
    of each has its own scale, since the peaks of one would flatten the others. A single panel has the counts
    on its bars.

    Parameters
    ----------
    results : Sequence[Concentration]
        One or more.
    theme : Theme
        Colours.
    """
    top = _TOP_MARGIN if len(results) > 1 else _SINGLE_TOP_MARGIN
    grid = panel_grid(len(results), top=top)
    tables = [place_bars(result.table, result.scheme) for result in results]
    largest = max((share for table in tables for share in table["share"]), default=1.0)
    single = len(results) == 1
    top_share = largest * label_headroom(tables[0]) if single else min(1.08 * largest, _FULL_SHARE)
    layout = base_layout(theme, height=grid.height, top=top) | {
        "annotations": _panel_titles(results, theme, grid) + _strip_maximum_labels(results, theme, grid),
        "shapes": [
            _uniform_level(result, theme, cell) for result, cell in zip(results, grid.cells, strict=True)
        ],
    }
    data: list[dict[str, Any]] = []
    for result, table, cell in zip(results, tables, grid.cells, strict=True):
        data += _histogram_traces(result, table, theme, cell, single=single)
        layout |= _histogram_axes(theme, cell, top_share, result, single=single)
    return {"data": data, "layout": layout}


def _histogram_traces(
    result: Concentration, table: pl.DataFrame, theme: Theme, cell: PanelCell, *, single: bool
) -> list[dict[str, Any]]:
    detail = bar_detail(result.n_bins * (1 if single else GRID_COLUMNS))
    labelled = single and result.n_bins <= MAX_LABELLED_BARS
    axes = {"xaxis": cell.x_axis, "yaxis": cell.y_axis}
    amber = {"color": theme.highlight, "line": {"color": theme.highlight_outline, "width": 1.5}}
    traces: list[dict[str, Any]] = []
    for part, options in (
        (table.filter(pl.col("fullest") > 2), {"marker": solid_bar_marker(theme, theme.count_bar, detail)}),
        (
            table.filter(pl.col("fullest") <= 2),
            {"marker": amber, "name": "two fullest bins", "showlegend": cell.number == 1},
        ),
    ):
        labels = count_labels(part, theme, label_angle(table)) if labelled else {}
        traces.append(bar_trace(part, "share", **axes, **labels, **options))
    return [
        *traces,
        _fine_strip(result, theme, cell),
        hover_targets(table, "share", _hover_texts(table, result), **axes),
    ]


def _uniform_level(result: Concentration, theme: Theme, cell: PanelCell) -> dict[str, Any]:
    """The share that equally full bins would have: a line behind the bars, clear of their counts."""
    uniform_share = 1 / max(result.n_bins, 1)
    return {
        **horizontal_line(
            uniform_share, xref=cell.x_axis, yref=cell.y_axis, color=theme.axis_line, width=1.5, dash="dot"
        ),
        "layer": "between",
        "name": "all bins equally full",
        "showlegend": cell.number == 1,
    }


def _fine_strip(result: Concentration, theme: Theme, cell: PanelCell) -> dict[str, Any]:
    """The fine histogram: a thin line for each bin, with a hover text while there are few lines.

    The lines are error bars of tiny points, since a bar of width 1/1000 would be narrower than a pixel.
    """
    table = result.fine_histogram
    has_hover = table.height <= MAX_HOVERED_BINS
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
            if has_hover
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
        f"<b>{bin_reading(low, high)}</b><br>{plural(n_rows, result.unit[:-1])}<br>"
        f"{format_percent(n_rows / result.n_used)} of all"
        for low, high, n_rows in result.fine_histogram.iter_rows()
    ]


def _hover_texts(table: pl.DataFrame, result: Concentration) -> list[str]:
    equal_width, unit = result.scheme.binning == "width", result.unit
    return [
        f"<b>{bin_reading(low, high, equal_width=equal_width)}</b><br>{plural(n_rows, unit[:-1])}<br>"
        f"{format_percent(share)} of all, place {rank}"
        for low, high, n_rows, share, rank in table.select(
            "low", "high", "count", "share", "fullest"
        ).iter_rows()
    ]


def _histogram_axes(
    theme: Theme, cell: PanelCell, top: float, result: Concentration, *, single: bool
) -> dict[str, Any]:
    """The three axes of a cell; only the leftmost panel of a row has titles and labels of shares.

    `top` is the upper end of the panel's axis of shares.
    """
    title, strip_title = (
        (f"Share of {result.unit}", f"{MAX_BINS:,} bins") if cell.is_leftmost else (None, None)
    )
    strip_top = 1.1 * _largest_fine_share(result)
    panel: dict[str, Any] = {"domain": cell.panel_domain, "range": [0, top], **share_ticks(top)}
    strip: dict[str, Any] = {"domain": cell.strip_domain, "range": [0, strip_top]}
    strip |= share_ticks(strip_top, 2) if single else {"tickvals": []}
    x_ticks: dict[str, Any] = {} if single else {"tickvals": [0, 0.5, 1]}
    return {
        layout_key(cell.x_axis): probability_axis(
            theme,
            result.terms.confidence_title,
            standoff=6,
            anchor=cell.strip_y_axis,
            domain=cell.x_domain,
            **x_ticks,
        ),
        layout_key(cell.y_axis): axis(
            theme, title, anchor=cell.x_axis, showticklabels=cell.is_leftmost, **panel
        ),
        layout_key(cell.strip_y_axis): axis(theme, strip_title, anchor=cell.x_axis, **strip),
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
    """Notes with the share of the highest line of each strip, if there are several panels."""
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
    """Share of the rows in the fullest bin of the fine histogram; 1 if there are no rows."""
    return max(result.fine_histogram["count"].to_list(), default=1) / max(result.n_used, 1)


def describe_histogram(results: Sequence[Concentration]) -> str:
    """Describe the histograms in a few sentences for screen readers, as plain text."""
    terms = common_terms(result.terms for result in results)
    return f"Histogram of {terms.confidences}. " + "; ".join(_spread_text(result) for result in results) + "."


def two_fullest_text(result: Concentration) -> str:
    """Name the two fullest bins, as in "the two fullest of 10 bins", or "the only bin"."""
    return f"the two fullest of {result.n_bins} bins" if result.n_bins > 1 else "the only bin"


def _spread_text(result: Concentration) -> str:
    if result.top_two_share is None or result.effective_bins is None:
        return f"{result.title}: no rows"
    rows = plural(result.n_used, result.unit[:-1])
    return (
        f"{result.title}: {format_percent(result.top_two_share)} of {rows} in {two_fullest_text(result)}, "
        f"as if only {result.effective_bins:.1f} of {result.n_bins} bins were used"
    )


# --- Cumulative share of the fullest bins ------------------------------------------------------------------

MAX_MARKED_BINS: Final = 50
"""Up to this number, every bin has a marker."""

_CUMULATIVE_HEIGHT: Final = 300
_SINGLE_CUMULATIVE_HEIGHT: Final = 270
"""Height of the panel in pixels; with a single line it ends where the histogram beside it does."""

_RIGHT_PART: Final = 0.6
"""Beyond this fraction of the width, notes are to the left of their marks."""


def cumulative_figure(results: Sequence[Concentration], theme: Theme) -> Figure:
    """Share of the rows in the k fullest bins over k, a line for each result.

    A diamond marks the two fullest bins and a dotted vertical line the effective number of bins. The straight
    dashed line is that of equally full bins.

    Parameters
    ----------
    results : Sequence[Concentration]
        One or more, each of a different confidence method.
    theme : Theme
        Colours.
    """
    several = len(results) > 1
    max_bins = max(1, *(result.n_bins for result in results))
    bin_counts = sorted({result.n_bins for result in results if result.n_bins})
    methods = [result.method for result in results]
    styles = [method_style(id_, theme, methods) for id_ in methods] if several else [_neutral_style(theme)]
    data = [
        *(
            _cumulative_line(result, style, named=several)
            for result, style in zip(results, styles, strict=True)
        ),
        *(_uniform_line(n_bins, theme) for n_bins in bin_counts),
        _two_fullest_markers(results, theme),
    ]
    if several:
        dots = {"color": theme.muted_text, "width": 1.6, "dash": "dot"}
        data.append(legend_entry("effective number of bins", "lines", line=dots))
    top, one_per_line = legend_margin(legend_names(data), one_per_line=several)
    layout = base_layout(
        theme,
        height=(_CUMULATIVE_HEIGHT if several else _SINGLE_CUMULATIVE_HEIGHT) + top + BOTTOM_MARGIN,
        top=top,
        one_per_line=one_per_line,
    )
    return {
        "data": data,
        "layout": layout
        | {
            "xaxis": axis(
                theme,
                "Number of bins, fullest first",
                standoff=6,
                range=[0, max_bins],
                tickformat=",d",
                **({"dtick": 1} if max_bins <= 12 else {"nticks": 11}),
            ),
            "yaxis": axis(
                theme,
                f"Share of {results[0].unit}",
                range=[0, 1.04],
                tickformat=".0%",
                tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
            ),
            "shapes": [
                vertical_line(result.effective_bins, color=style.colour, width=1.6, dash="dot")
                for result, style in zip(results, styles, strict=True)
                if result.effective_bins
            ],
            "annotations": [] if several else _single_line_notes(results[0], theme),
        },
    }


def _neutral_style(theme: Theme) -> SeriesStyle:
    """The style of a single line, not its method's: that might be close to the amber of the fullest bins."""
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


def _uniform_line(n_bins: int, theme: Theme) -> dict[str, Any]:
    return silent_trace(
        "lines",
        [0, n_bins],
        [0, 1],
        name=f"{n_bins:,} equally full bins",
        line={"color": theme.muted_text, "width": 1.3, "dash": "6px,5px"},
    )


def _two_fullest_markers(results: Sequence[Concentration], theme: Theme) -> dict[str, Any]:
    known = [
        (min(2, result.table.height), result.top_two_share)
        for result in results
        if result.top_two_share is not None
    ]
    return silent_trace(
        "markers",
        [n_bins for n_bins, _ in known] or [None],
        [round(share, 5) for _, share in known] or [None],
        cliponaxis=False,
        name="two fullest bins",
        marker={
            "size": 12,
            "symbol": "diamond",
            "color": theme.highlight,
            "line": {"color": theme.highlight_outline, "width": 1.5},
        },
        unselected={"marker": {"opacity": 1}},
    )


def _single_line_notes(result: Concentration, theme: Theme) -> list[dict[str, Any]]:
    """The two numbers of a single line, as notes beside their marks and inside the panel."""
    if result.top_two_share is None or result.effective_bins is None:
        return [annotation(theme, "No rows.", xref="x domain", yref="y domain", x=0.3, y=0.7)]
    n_fullest = min(2, result.table.height)
    name = "two fullest" if n_fullest > 1 else "the only bin"
    on_right = n_fullest < _RIGHT_PART * result.n_bins
    yshift = -3 if on_right else -30  # on the left, the note would cover the rising line

    def beside(x: float) -> dict[str, Any]:
        has_room = x < _RIGHT_PART * result.n_bins
        return {"x": x, "xanchor": "left" if has_room else "right", "xshift": 9 if has_room else -9}

    return [
        annotation(
            theme,
            f"<b>{name}</b>",
            **beside(n_fullest),
            y=result.top_two_share,
            yanchor="top",
            yshift=yshift,
            align="left",
            font={"size": 12, "color": theme.highlight_text, "shadow": halo(theme)},
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
    """Describe the figure in a few sentences for screen readers, as plain text."""
    descriptions = "; ".join(_cumulative_text(result) for result in results)
    return f"Cumulative share of {results[0].unit}, fullest bin first. {descriptions}."


def _cumulative_text(result: Concentration) -> str:
    if result.top_two_share is None:
        return f"{result.title}: no rows"
    return f"{result.title}: {format_percent(result.top_two_share)} in {two_fullest_text(result)}"


# --- Grid of panels ----------------------------------------------------------------------------------------

GRID_COLUMNS: Final = 2
"""Panels side by side: more could not be read on a phone."""

_COLUMN_GAP: Final = 0.07
"""Space between two columns, as a fraction of the width."""

_TITLE_HEIGHT, _PANEL_HEIGHT, _STRIP_GAP, _STRIP_HEIGHT = 40, 190, 16, 64
"""Heights in pixels of the parts of one row of panels, from the top down."""


@dataclass(frozen=True, slots=True)
class PanelCell:
    """One panel with a strip below it on the same horizontal axis.

    Attributes
    ----------
    number : int
        Number of the cell in reading order, from 1.
    x_domain, panel_domain, strip_domain : tuple[float, float]
        Both ends of the horizontal axis and of the vertical axes of panel and strip, as fractions of the
        plot.
    is_leftmost : bool
        Whether the cell is the first of its row.
    """

    number: int
    x_domain: tuple[float, float]
    panel_domain: tuple[float, float]
    strip_domain: tuple[float, float]
    is_leftmost: bool

    @property
    def x_axis(self) -> str:
        """Name of the horizontal axis in a trace: "x", "x2" …"""
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
    """The cells of a figure.

    Attributes
    ----------
    cells : tuple[PanelCell, ...]
        In reading order.
    columns : int
        Number of columns.
    height : int
        Height of the figure in pixels, margins included.
    """

    cells: tuple[PanelCell, ...]
    columns: int
    height: int


def panel_grid(panels: int, *, top: int) -> PanelGrid:
    """A grid of panels, with room for their titles if there are several.

    Parameters
    ----------
    panels : int
        Number of panels, 1 or more.
    top : int
        Margin above the grid in pixels.
    """
    columns, rows = min(panels, GRID_COLUMNS), -(-panels // GRID_COLUMNS)
    title_height = _TITLE_HEIGHT if panels > 1 else 0
    row_height = title_height + _PANEL_HEIGHT + _STRIP_GAP + _STRIP_HEIGHT
    plot_height = rows * row_height + (rows - 1) * BOTTOM_MARGIN
    width = (1 - _COLUMN_GAP * (columns - 1)) / columns

    def cell(index: int) -> PanelCell:
        row, column = divmod(index, columns)
        left = column * (width + _COLUMN_GAP)
        above = row * (row_height + BOTTOM_MARGIN) + title_height
        return PanelCell(
            number=index + 1,
            x_domain=(left, left + width),
            panel_domain=(1 - (above + _PANEL_HEIGHT) / plot_height, 1 - above / plot_height),
            strip_domain=(
                max(0.0, 1 - (above + _PANEL_HEIGHT + _STRIP_GAP + _STRIP_HEIGHT) / plot_height),
                1 - (above + _PANEL_HEIGHT + _STRIP_GAP) / plot_height,
            ),
            is_leftmost=column == 0,
        )

    return PanelGrid(
        tuple(cell(index) for index in range(panels)), columns, plot_height + top + BOTTOM_MARGIN
    )


def layout_key(axis: str) -> str:
    """The key in the layout of an axis named as in a trace.

    Examples
    --------
    >>> layout_key("x2")
    'xaxis2'
    """
    return f"{axis[0]}axis{axis[1:]}"


def _axis_name(letter: str, number: int) -> str:
    return letter if number == 1 else f"{letter}{number}"

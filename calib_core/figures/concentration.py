"""How is it drawn where the confidences lie?  Results → one figure of histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from calib_core.analysis.concentration import Concentration
from calib_core.bins import MAX_BINS
from calib_core.figures.bars import bar_trace, bar_detail, solid_bar_marker, hover_targets
from calib_core.figures.grid import GRID_COLUMNS, PanelCell, PanelGrid, panel_grid, layout_key
from calib_core.figures.labels import MAX_LABELLED_BARS, count_labels, label_angle, label_headroom
from calib_core.figures.layout import (
    LABEL_SIZE,
    TEXT_SIZE,
    Figure,
    axis,
    annotation,
    rounded_values,
    base_layout,
    probability_axis,
    share_ticks,
)
from calib_core.figures.spans import place_bars
from calib_core.figures.text import wrap_lines
from calib_core.figures.theme import Theme
from calib_core.wording import plural, format_percent

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
    return [*traces, _fine_strip(result, theme, cell), hover_targets(table, "share", _hover_texts(table, result.unit), **on)]


def _uniform_level(result: Concentration, theme: Theme, cell: PanelCell) -> dict[str, Any]:
    """A line behind the bars, so that it does not run through their counts."""
    each = 1 / max(result.n_bins, 1)
    return {
        "type": "line", "xref": cell.x_axis, "yref": cell.y_axis, "x0": 0, "x1": 1, "y0": each, "y1": each,
        "layer": "between", "line": {"color": theme.axis_line, "width": 1.5, "dash": "dot"},
        "name": "all bins equally full", "showlegend": cell.number == 1,
    }


def _fine_strip(result: Concentration, theme: Theme, cell: PanelCell) -> dict[str, Any]:
    """One thin line a bin, as error bars of points without size: a bar of 1/1000 would be no pixel wide.

    Hover tells the lines apart while there are so few that one can be pointed at.
    """
    table = result.fine_histogram
    told = table.height <= MAX_HOVERED_BINS
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "xaxis": cell.x_axis, "yaxis": cell.strip_y_axis,
        "x": rounded_values((table["low"] + table["high"]) / 2) or [None],
        "y": rounded_values(table["count"] / max(result.n_used, 1), 6) or [None],
        **({"hoverinfo": "text", "hovertext": _fine_strip_hover_texts(result)} if told else {"hoverinfo": "skip"}),
        "marker": {"size": 1, "color": theme.series_colours[0]},
        "unselected": {"marker": {"opacity": 1}},
        "error_y": {
            "type": "percent", "symmetric": False, "value": 0, "valueminus": 100,
            "color": theme.series_colours[0], "thickness": 1, "width": 0,
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


def _histogram_axes(theme: Theme, cell: PanelCell, top: float, result: Concentration, *, single: bool) -> dict[str, Any]:
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
        layout_key(cell.y_axis): axis(theme, title, anchor=cell.x_axis, showticklabels=cell.is_leftmost, **upper),
        layout_key(cell.strip_y_axis): axis(theme, strip, anchor=cell.x_axis, **lower),
    }


def _panel_titles(results: Sequence[Concentration], theme: Theme, grid: PanelGrid) -> list[dict[str, Any]]:
    if len(results) < 2:
        return []
    return [
        annotation(
            theme, f"<b>{wrap_lines(result.title, _TITLE_WIDTH)}</b>", xref="paper", yref="paper", align="left",
            x=cell.x_domain[0], xanchor="left", y=cell.panel_domain[1], yanchor="bottom",
            font={"size": TEXT_SIZE, "color": theme.text},
        )
        for result, cell in zip(results, grid.cells, strict=True)
    ]


def _strip_maximum_labels(results: Sequence[Concentration], theme: Theme, grid: PanelGrid) -> list[dict[str, Any]]:
    """Of several, how much the highest line of each strip is."""
    if len(results) < 2:
        return []
    return [
        annotation(
            theme, format_percent(_largest_fine_share(result)), xref=f"{cell.x_axis} domain", yref=f"{cell.strip_y_axis} domain",
            x=0, xanchor="left", xshift=2, y=1, yanchor="top",
            font={"size": LABEL_SIZE, "color": theme.muted_text},
        )
        for result, cell in zip(results, grid.cells, strict=True) if result.n_used
    ]


def _largest_fine_share(result: Concentration) -> float:
    """Share of the rows in the fullest of the finest bins, 1 without rows."""
    return max(result.fine_histogram["count"].to_list(), default=1) / max(result.n_used, 1)


def describe_histogram(results: Sequence[Concentration]) -> str:
    """The histograms in one sentence, for who cannot see them: text, not HTML."""
    return "Histogram of confidences. " + "; ".join(_spread_text(result) for result in results) + "."


def two_fullest_text(result: Concentration) -> str:
    """"the two fullest of 10 bins", or "the only bin"."""
    return f"the two fullest of {result.n_bins} bins" if result.n_bins > 1 else "the only bin"


def _spread_text(result: Concentration) -> str:
    if result.top_two_share is None or result.effective_bins is None:
        return f"{result.title}: no rows"
    of = plural(result.n_used, result.unit[:-1])
    return (
        f"{result.title}: {format_percent(result.top_two_share)} of {of} in {two_fullest_text(result)}, "
        f"as spread out as {result.effective_bins:.1f} equally full ones"
    )

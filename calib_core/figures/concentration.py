"""How is it drawn where the confidences lie?  Results → one figure of histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from calib_core.analysis.concentration import Concentration
from calib_core.bins import MAX_BINS
from calib_core.figures.bars import bars, detail, solid, targets
from calib_core.figures.grid import COLUMNS, Cell, Grid, grid_of, layout_key
from calib_core.figures.labels import LABELLED, count_labels, label_angle, label_room
from calib_core.figures.layout import (
    LABEL_SIZE,
    TEXT_SIZE,
    Figure,
    axis,
    note,
    numbers,
    paper,
    probability,
    share_ticks,
)
from calib_core.figures.spans import placed
from calib_core.figures.text import lines
from calib_core.figures.theme import Theme
from calib_core.wording import count, percent

_TOP: Final = 36
_ALONE: Final = 52
"""Pixels above the panels; of a single one, as many as above the cumulative line beside it."""

_ALL: Final = 1.02
"""Upper end of an axis of shares: a bar of all rows with its outline."""

TOLD_APART: Final = 200
"""So many lines of the finest bins can be pointed at one by one."""

_TITLE_WIDTH: Final = 22
"""Letters of a panel's title before it breaks."""


def histogram_figure(results: Sequence[Concentration], theme: Theme) -> Figure:
    """One panel a result, all with the same axes: shares of the rows by bin, and below by finest bin.

    results: one or more, in two columns. The two fullest bins are amber and outlined. Counts stand on the
    bars of one alone; of several each strip has its own scale: one's sharp values would hide the others.
    """
    top = _TOP if len(results) > 1 else _ALONE
    grid = grid_of(len(results), top=top)
    tables = [placed(result.table, result.scheme) for result in results]
    most = max((share for table in tables for share in table["share"]), default=1.0)
    top_share = most * label_room(tables[0]) if len(results) == 1 else min(1.08 * most, _ALL)
    layout = paper(theme, height=grid.height, top=top) | {
        "annotations": _titles(results, theme, grid) + _tops(results, theme, grid),
        "shapes": [
            _equally_full(result, theme, cell) for result, cell in zip(results, grid.cells, strict=True)
        ],
    }
    data: list[dict[str, Any]] = []
    for result, table, cell in zip(results, tables, grid.cells, strict=True):
        data += _panel(result, table, theme, cell, alone=len(results) == 1)
        layout |= _axes(theme, cell, top_share, result, alone=len(results) == 1)
    return {"data": data, "layout": layout}


def _panel(
    result: Concentration, table: pl.DataFrame, theme: Theme, cell: Cell, *, alone: bool
) -> list[dict[str, Any]]:
    look = detail(result.bins * (1 if alone else COLUMNS))
    labelled = alone and result.bins <= LABELLED
    on = {"xaxis": cell.x, "yaxis": cell.y}
    amber = {"color": theme.highlight, "line": {"color": theme.highlight_line, "width": 1.5}}
    traces: list[dict[str, Any]] = []
    for part, more in (
        (table.filter(pl.col("fullest") > 2), {"marker": solid(theme, theme.count, look)}),
        (
            table.filter(pl.col("fullest") <= 2),
            {"marker": amber, "name": "two fullest bins", "showlegend": cell.number == 1},
        ),
    ):
        labels = count_labels(part, theme, label_angle(table)) if labelled else {}
        traces.append(bars(part, "share", **on, **labels, **more))
    return [*traces, _finest(result, theme, cell), targets(table, "share", _words(table, result.unit), **on)]


def _equally_full(result: Concentration, theme: Theme, cell: Cell) -> dict[str, Any]:
    """A line behind the bars, so that it does not run through their counts."""
    each = 1 / max(result.bins, 1)
    return {
        "type": "line", "xref": cell.x, "yref": cell.y, "x0": 0, "x1": 1, "y0": each, "y1": each,
        "layer": "between", "line": {"color": theme.line, "width": 1.5, "dash": "dot"},
        "name": "all bins equally full", "showlegend": cell.number == 1,
    }


def _finest(result: Concentration, theme: Theme, cell: Cell) -> dict[str, Any]:
    """One thin line a bin, as error bars of points without size: a bar of 1/1000 would be no pixel wide.

    Hover tells the lines apart while there are so few that one can be pointed at.
    """
    table = result.finest
    told = table.height <= TOLD_APART
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "xaxis": cell.x, "yaxis": cell.y_strip,
        "x": numbers((table["low"] + table["high"]) / 2) or [None],
        "y": numbers(table["count"] / max(result.n_used, 1), 6) or [None],
        **({"hoverinfo": "text", "hovertext": _finest_words(result)} if told else {"hoverinfo": "skip"}),
        "marker": {"size": 1, "color": theme.series[0]},
        "unselected": {"marker": {"opacity": 1}},
        "error_y": {
            "type": "percent", "symmetric": False, "value": 0, "valueminus": 100,
            "color": theme.series[0], "thickness": 1, "width": 0,
        },
    }


def _finest_words(result: Concentration) -> list[str]:
    return [
        f"<b>{low:.3f} to {high:.3f}</b><br>{count(rows, result.unit[:-1])}<br>"
        f"{percent(rows / result.n_used)} of all"
        for low, high, rows in result.finest.iter_rows()
    ]


def _words(table: pl.DataFrame, unit: str) -> list[str]:
    return [
        f"<b>{_ends(low, high)}</b><br>{count(rows, unit[:-1])}<br>{percent(share)} of all, place {place}"
        for low, high, rows, share, place in table.select(
            "low", "high", "count", "share", "fullest"
        ).iter_rows()
    ]


def _ends(low: float, high: float) -> str:
    return f"{low:.4g} to {high:.4g}" if low < high else f"{low:.4g}"


def _axes(theme: Theme, cell: Cell, top: float, result: Concentration, *, alone: bool) -> dict[str, Any]:
    """Three axes; what is the same for the panels beside stands on the left of a row only.

    top: upper end of the panel's axis.
    """
    title, strip = (f"Share of {result.unit}", f"{MAX_BINS:,} bins") if cell.left else (None, None)
    finest = 1.1 * _finest_share(result)
    upper: dict[str, Any] = {"domain": cell.upper, "range": [0, top], **share_ticks(top)}
    lower: dict[str, Any] = {"domain": cell.lower, "range": [0, finest]}
    lower |= share_ticks(finest, 2) if alone else {"tickvals": []}
    sparse: dict[str, Any] = {} if alone else {"tickvals": [0, 0.5, 1]}
    return {
        layout_key(cell.x): probability(
            theme, "Confidence", standoff=6, anchor=cell.y_strip, domain=cell.across, **sparse
        ),
        layout_key(cell.y): axis(theme, title, anchor=cell.x, showticklabels=cell.left, **upper),
        layout_key(cell.y_strip): axis(theme, strip, anchor=cell.x, **lower),
    }


def _titles(results: Sequence[Concentration], theme: Theme, grid: Grid) -> list[dict[str, Any]]:
    if len(results) < 2:
        return []
    return [
        note(
            theme, f"<b>{lines(result.title, _TITLE_WIDTH)}</b>", xref="paper", yref="paper", align="left",
            x=cell.across[0], xanchor="left", y=cell.upper[1], yanchor="bottom",
            font={"size": TEXT_SIZE, "color": theme.text},
        )
        for result, cell in zip(results, grid.cells, strict=True)
    ]


def _tops(results: Sequence[Concentration], theme: Theme, grid: Grid) -> list[dict[str, Any]]:
    """Of several, how much the highest line of each strip is."""
    if len(results) < 2:
        return []
    return [
        note(
            theme, percent(_finest_share(result)), xref=f"{cell.x} domain", yref=f"{cell.y_strip} domain",
            x=0, xanchor="left", xshift=2, y=1, yanchor="top",
            font={"size": LABEL_SIZE, "color": theme.muted},
        )
        for result, cell in zip(results, grid.cells, strict=True) if result.n_used
    ]


def _finest_share(result: Concentration) -> float:
    """Share of the rows in the fullest of the finest bins, 1 without rows."""
    return max(result.finest["count"].to_list(), default=1) / max(result.n_used, 1)


def describe_histogram(results: Sequence[Concentration]) -> str:
    """The histograms in one sentence, for who cannot see them: text, not HTML."""
    return "Histogram of confidences. " + "; ".join(_spread(result) for result in results) + "."


def two_of(result: Concentration) -> str:
    """"the two fullest of 10 bins", or "the only bin"."""
    return f"the two fullest of {result.bins} bins" if result.bins > 1 else "the only bin"


def _spread(result: Concentration) -> str:
    if result.top_two is None or result.effective is None:
        return f"{result.title}: no rows"
    of = count(result.n_used, result.unit[:-1])
    return (
        f"{result.title}: {percent(result.top_two)} of {of} in {two_of(result)}, "
        f"as spread out as {result.effective:.1f} equally full ones"
    )

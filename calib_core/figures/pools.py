"""How is it drawn which pairs of one position go into which bin?  One result → bars over their bins."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.analysis.pools import Pools
from calib_core.figures.layout import LABEL_SIZE, SMALL_SIZE, Figure, axis, numbers, paper, probability
from calib_core.figures.text import compact, plain
from calib_core.figures.theme import CLEAR, Theme, tint
from calib_core.problems import shorten
from calib_core.wording import count

_ROW: Final = 21
_POOL: Final = 34
_GAP: Final = 26
_TOP: Final = 64
_BOTTOM: Final = 48
"""Pixels of one class, of one pool below, between the panels, and of the margins."""

_LEFT: Final = 150
"""Pixels for the names of the classes …"""
_NAME: Final = 15
"""… and so many letters of them."""

EDGES: Final = 50
"""The edges of so many bins are drawn."""
COUNTED: Final = 10
"""Pairs are counted in the cells of so many bins; in narrower ones the hover does."""


def pools_figure(result: Pools, theme: Theme) -> Figure:
    """The distribution, a bar a class with its bin outlined, and below it the pools of Full-ECE and ECE.

    The outlined bins are classwise ECE's: each class has its own row of them. All panels share the axis of
    confidence, so a bar's end is above its bin.
    """
    rows = result.table.height + (result.unshown > 0)
    plot = rows * _ROW + _GAP + 2 * _POOL
    layout = paper(theme, height=plot + _TOP + _BOTTOM, top=_TOP)
    layout["margin"]["l"] = _LEFT
    layout["legend"] |= {"x": -0.3, "entrywidth": 0.6}
    return {
        "data": [
            *_bars(result, theme),
            _own_bins(result, theme),
            *_cells(result, theme),
        ],
        "layout": layout | {
            "hovermode": "closest",
            "clickmode": "none",
            "xaxis": probability(theme, "Probability", standoff=6, anchor="y2"),
            "yaxis": _names(result, theme, rows, 1 - rows * _ROW / plot),
            "yaxis2": axis(
                theme, domain=[0, 2 * _POOL / plot], range=[-0.5, 1.5], ticks="", tickvals=[0, 1],
                ticktext=["ECE: 1 pair", f"Full-ECE: {compact(result.classes)}"], showgrid=False,
                tickfont={"size": SMALL_SIZE, "color": theme.text},
            ),
            "shapes": _edges(result, theme),
        },
    }


def _bars(result: Pools, theme: Theme) -> list[dict[str, Any]]:
    table = result.table.with_row_index("at")
    amber = {"color": theme.highlight, "line": {"color": theme.highlight_line, "width": 1.5}}
    blue = {"color": theme.bar, "line": {"width": 0}}
    traces = [
        _bar(table.filter(~pl.col("right")), name="other classes", marker=blue),
        _bar(table.filter("right"), name="right class", marker=amber),
    ]
    if result.unshown:
        rest = f"{result.unshown:,} more class{'es' if result.unshown > 1 else ''} together"
        traces.append({
            "type": "bar", "orientation": "h", "name": rest, "x": [round(result.rest, 6)],
            "y": [result.table.height], "marker": {"color": theme.count}, "hoverinfo": "text",
            "hovertext": [f"<b>{rest}</b><br>{result.rest:.4g}"], "width": 0.62,
        })
    return traces


def _bar(part: pl.DataFrame, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "type": "bar", "orientation": "h", "x": numbers(part["prob"], 6) or [None],
        "y": part["at"].to_list() or [None], "hoverinfo": "text",
        "hovertext": [
            f"<b>{plain(shorten(row['label']))}</b><br>{row['prob']:.4g}, in {row['interval']}"
            for row in part.iter_rows(named=True)
        ],
        "width": 0.62, **more,
    }


def _own_bins(result: Pools, theme: Theme) -> dict[str, Any]:
    """In each class' own row of bins the one that takes its pair."""
    low = (result.table["bin"] - 1) / result.bins
    return {
        "type": "bar", "orientation": "h", "base": numbers(low, 6), "x": [1 / result.bins] * low.len(),
        "y": list(range(low.len())), "width": 0.94, "hoverinfo": "skip", "name": "its bin under cw-ECE",
        "marker": {"color": CLEAR, "line": {"color": theme.muted, "width": 1.2}},
    }


def _cells(result: Pools, theme: Theme) -> list[dict[str, Any]]:
    """The bins that take pairs in one row for all classes (Full-ECE) and in one for the top label (ECE)."""
    pooled = result.table.filter("full").group_by("bin").agg(pl.len().alias("pairs"), pl.col("right").any())
    counts = {bin_: (pairs, right) for bin_, pairs, right in pooled.sort("bin").iter_rows()}
    unknown = 0
    if result.first_bin is not None:
        counts[1] = (result.first_bin, counts.get(1, (0, False))[1])
    else:
        unknown = result.unshown
    top = result.table.row(0, named=True)
    more = f"<br>and of {unknown:,} classes not shown, some" if unknown else ""
    return [
        _row(result, theme, 1, counts, more),
        _row(result, theme, 0, {top["bin"]: (1, bool(top["right"]))}, ""),
    ]


def _row(
    result: Pools, theme: Theme, y: int, counts: dict[int, tuple[int, bool]], more: str
) -> dict[str, Any]:
    bins = sorted(counts)
    return {
        "type": "bar", "orientation": "h", "yaxis": "y2", "showlegend": False,
        "base": [round((bin_ - 1) / result.bins, 6) for bin_ in bins], "x": [1 / result.bins] * len(bins),
        "y": [y] * len(bins), "width": 0.72, "hoverinfo": "text",
        "hovertext": [
            f"<b>{'ECE' if y == 0 else 'Full-ECE'}, bin {bin_} of {result.bins}</b><br>"
            f"{count(counts[bin_][0], 'pair')}, "
            f"{'one of them right' if counts[bin_][1] else 'none right'}{more}"
            for bin_ in bins
        ],
        "text": [compact(counts[bin_][0]) if result.bins <= COUNTED else "" for bin_ in bins],
        "textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "constraintext": "none",
        "textfont": {"size": LABEL_SIZE, "color": theme.text},
        "marker": {
            "color": [tint(theme.highlight if counts[b][1] else theme.bar, theme.page, 0.25) for b in bins],
            "line": {
                "color": [theme.highlight_line if counts[b][1] else theme.bar for b in bins], "width": 1.5,
            },
        },
    }


def _names(result: Pools, theme: Theme, rows: int, low: float) -> dict[str, Any]:
    names = [
        f"<b>{name} ✓ {prob:.2g}</b>" if right else f"{name}  {prob:.2g}"
        for label, prob, right in result.table.select("label", "prob", "right").iter_rows()
        if (name := plain(shorten(label, _NAME)))
    ]
    rest = [f"{result.unshown:,} more  {result.rest:.2g}"] if result.unshown else []
    return axis(
        theme, domain=[low, 1], range=[rows - 0.4, -0.6], tickvals=list(range(rows)), ticks="",
        ticktext=[*names, *rest], showgrid=False, tickfont={"size": SMALL_SIZE, "color": theme.text},
    )


def _edges(result: Pools, theme: Theme) -> list[dict[str, Any]]:
    """The edges between bins, through every panel."""
    if result.bins > EDGES:
        return []
    return [
        {
            "type": "line", "xref": "x", "yref": "paper", "x0": edge / result.bins, "x1": edge / result.bins,
            "y0": 0, "y1": 1, "layer": "below", "line": {"color": theme.grid, "width": 1},
        }
        for edge in range(1, result.bins)
    ]


def describe_pools(result: Pools) -> str:
    """The figure in a few sentences, for who cannot see it: text, not HTML."""
    right = result.table.row(by_predicate=pl.col("right"), named=True)
    return (
        f"Distribution at {result.title}, {result.run}: the right class has {right['prob']:.4g}. "
        f"{result.reading}"
    )

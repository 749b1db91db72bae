"""Which bins the pairs of one position fall into under ECE, Full-ECE and classwise ECE."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.errors import shorten
from calib_core.figures.layout import (
    LABEL_SIZE,
    SMALL_SIZE,
    Figure,
    axis,
    base_layout,
    probability_axis,
    rounded_values,
    vertical_line,
)
from calib_core.figures.palette import TRANSPARENT, Theme, blend
from calib_core.figures.text import escape_for_plotly
from calib_core.results.pooling import PairPools
from calib_core.wording import compact_count, plural

_CLASS_HEIGHT: Final = 21
_POOL_HEIGHT: Final = 34
_PANEL_GAP: Final = 26
_TOP_MARGIN: Final = 64
_POOLING_BOTTOM_MARGIN: Final = 48
"""Pixels: the row of a class, the row of a pool, the gap between the panels, and the margins."""

_NAMES_WIDTH: Final = 150
"""Pixels for the names of classes."""

_MAX_CLASS_NAME: Final = 15
"""Characters of a class name that fit there."""

MAX_BINS_WITH_EDGES: Final = 50
"""Bin edges are drawn for at most this many bins."""

MAX_BINS_WITH_COUNTS: Final = 10
"""Counts are written in the cells of at most this many bins; of narrower bins only the hover shows them."""


def pooling_figure(result: PairPools, theme: Theme) -> Figure:
    """The distribution as a bar for each class, and below it the pooled bins of Full-ECE and ECE.

    The outlined cell in the row of a class is its bin under classwise ECE, for which every class has bins of
    its own. All panels share the axis of confidence, so that the end of a bar is above its bin.
    """
    n_rows = result.table.height + (result.n_hidden_classes > 0)
    plot_height = n_rows * _CLASS_HEIGHT + _PANEL_GAP + 2 * _POOL_HEIGHT
    layout = base_layout(theme, height=plot_height + _TOP_MARGIN + _POOLING_BOTTOM_MARGIN, top=_TOP_MARGIN)
    layout["margin"]["l"] = _NAMES_WIDTH
    layout["legend"] |= {"x": -0.3, "entrywidth": 0.6}
    return {
        "data": [
            *_class_bars(result, theme),
            _classwise_bins(result, theme),
            *_pooled_bins(result, theme),
        ],
        "layout": layout
        | {
            "hovermode": "closest",
            "clickmode": "none",
            "xaxis": probability_axis(theme, "Probability", standoff=6, anchor="y2"),
            "yaxis": _class_axis(result, theme, n_rows, 1 - n_rows * _CLASS_HEIGHT / plot_height),
            "yaxis2": axis(
                theme,
                domain=[0, 2 * _POOL_HEIGHT / plot_height],
                range=[-0.5, 1.5],
                ticks="",
                tickvals=[0, 1],
                ticktext=["ECE: 1 pair", f"Full-ECE: {compact_count(result.n_classes)}"],
                showgrid=False,
                tickfont={"size": SMALL_SIZE, "color": theme.text},
            ),
            "shapes": _bin_edges(result, theme),
        },
    }


def _class_bars(result: PairPools, theme: Theme) -> list[dict[str, Any]]:
    """A bar for each class, the right one amber, and one for all classes that are not shown."""
    table = result.table.with_row_index("row")
    amber = {"color": theme.highlight, "line": {"color": theme.highlight_outline, "width": 1.5}}
    blue = {"color": theme.bar, "line": {"width": 0}}
    traces = [
        _class_bar_trace(table.filter(~pl.col("right")), name="other classes", marker=blue),
        _class_bar_trace(table.filter("right"), name="right class", marker=amber),
    ]
    if result.n_hidden_classes:
        name = f"{result.n_hidden_classes:,} more class{'es' if result.n_hidden_classes > 1 else ''} together"
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "x": [round(result.hidden_probability, 6)],
                "y": [result.table.height],
                "marker": {"color": theme.count_bar},
                "hoverinfo": "text",
                "hovertext": [f"<b>{name}</b><br>{result.hidden_probability:.4g}"],
                "width": 0.62,
            }
        )
    return traces


def _class_bar_trace(classes: pl.DataFrame, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "type": "bar",
        "orientation": "h",
        "x": rounded_values(classes["prob"], 6) or [None],
        "y": classes["row"].to_list() or [None],
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{escape_for_plotly(shorten(row['label']))}</b><br>{row['prob']:.4g}, in {row['interval']}"
            for row in classes.iter_rows(named=True)
        ],
        "width": 0.62,
        **options,
    }


def _classwise_bins(result: PairPools, theme: Theme) -> dict[str, Any]:
    """The bin that takes each class' pair, outlined in the row of the class."""
    low = (result.table["bin"] - 1) / result.n_bins
    return {
        "type": "bar",
        "orientation": "h",
        "base": rounded_values(low, 6),
        "x": [1 / result.n_bins] * low.len(),
        "y": list(range(low.len())),
        "width": 0.94,
        "hoverinfo": "skip",
        "name": "its bin under cw-ECE",
        "marker": {"color": TRANSPARENT, "line": {"color": theme.muted_text, "width": 1.2}},
    }


def _pooled_bins(result: PairPools, theme: Theme) -> list[dict[str, Any]]:
    """A row of bins for the pairs of all classes (Full-ECE) and one for the top label's pair (ECE)."""
    pooled = result.table.filter("full").group_by("bin").agg(pl.len().alias("pairs"), pl.col("right").any())
    counts = {bin_: (n_pairs, right) for bin_, n_pairs, right in pooled.sort("bin").iter_rows()}
    n_unknown = 0
    if result.n_in_first_bin is not None:
        counts[1] = (result.n_in_first_bin, counts.get(1, (0, False))[1])
    else:
        n_unknown = result.n_hidden_classes
    top = result.table.row(0, named=True)
    hover_suffix = f"<br>and of {n_unknown:,} classes not shown, some" if n_unknown else ""
    return [
        _pool_row(result, theme, 1, counts, hover_suffix),
        _pool_row(result, theme, 0, {top["bin"]: (1, bool(top["right"]))}, ""),
    ]


def _pool_row(
    result: PairPools, theme: Theme, y: int, counts: dict[int, tuple[int, bool]], hover_suffix: str
) -> dict[str, Any]:
    """One row of pooled bins; `counts` maps a bin to its number of pairs and whether one of them is right."""
    bins = sorted(counts)
    return {
        "type": "bar",
        "orientation": "h",
        "yaxis": "y2",
        "showlegend": False,
        "base": [round((bin_ - 1) / result.n_bins, 6) for bin_ in bins],
        "x": [1 / result.n_bins] * len(bins),
        "y": [y] * len(bins),
        "width": 0.72,
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{'ECE' if y == 0 else 'Full-ECE'}, bin {bin_} of {result.n_bins}</b><br>"
            f"{plural(counts[bin_][0], 'pair')}, "
            f"{'one of them right' if counts[bin_][1] else 'none right'}{hover_suffix}"
            for bin_ in bins
        ],
        "text": [
            compact_count(counts[bin_][0]) if result.n_bins <= MAX_BINS_WITH_COUNTS else "" for bin_ in bins
        ],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "none",
        "textfont": {"size": LABEL_SIZE, "color": theme.text},
        "marker": {
            "color": [
                blend(theme.highlight if counts[bin_][1] else theme.bar, theme.background, 0.25)
                for bin_ in bins
            ],
            "line": {
                "color": [theme.highlight_outline if counts[bin_][1] else theme.bar for bin_ in bins],
                "width": 1.5,
            },
        },
    }


def _class_axis(result: PairPools, theme: Theme, n_rows: int, bottom: float) -> dict[str, Any]:
    """The axis of class names; `bottom` is its lower end as a fraction of the plot's height."""
    names = [
        f"<b>{name} ✓ {prob:.2g}</b>" if right else f"{name}  {prob:.2g}"
        for label, prob, right in result.table.select("label", "prob", "right").iter_rows()
        if (name := escape_for_plotly(shorten(label, _MAX_CLASS_NAME)))
    ]
    rest = (
        [f"{result.n_hidden_classes:,} more  {result.hidden_probability:.2g}"]
        if result.n_hidden_classes
        else []
    )
    return axis(
        theme,
        domain=[bottom, 1],
        range=[n_rows - 0.4, -0.6],
        tickvals=list(range(n_rows)),
        ticks="",
        ticktext=[*names, *rest],
        showgrid=False,
        tickfont={"size": SMALL_SIZE, "color": theme.text},
    )


def _bin_edges(result: PairPools, theme: Theme) -> list[dict[str, Any]]:
    """The edges between bins as lines through both panels."""
    if result.n_bins > MAX_BINS_WITH_EDGES:
        return []
    return [
        vertical_line(edge / result.n_bins, yref="paper", color=theme.grid_line, width=1)
        for edge in range(1, result.n_bins)
    ]


def describe_pooling(result: PairPools) -> str:
    """Describe the figure in a few sentences for screen readers, as plain text."""
    right = result.table.row(by_predicate=pl.col("right"), named=True)
    return (
        f"Distribution at {result.title}, {result.run}: the right class has {right['prob']:.4g}. "
        f"{result.summary}"
    )

"""The ECE of each class, largest first, and how much of the sum the largest carry."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from calib_core.figures.bars import bar_detail, solid_bar_marker
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    axis,
    base_layout,
    logarithmic_axis,
    significant_values,
    silent_trace,
)
from calib_core.figures.palette import Theme
from calib_core.figures.text import escape_for_plotly
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.classwise import Classwise
from calib_core.wording import format_percent, format_short, format_significant

CLASSWISE_HEIGHT: Final = 340
"""Height of the whole figure in pixels: with a table below it, both fit a window of 900 pixels."""

MAX_NAMED_CLASSES: Final = 26
"""Up to this many classes are bars with names; more are a line over the rank."""

MAX_POINTS: Final = 400
"""At most about this many classes of a vocabulary have a point, the largest ones each."""

_ECE_DOMAIN: Final = [0.42, 1]
_CUMULATIVE_DOMAIN: Final = [0, 0.32]
_TOP_MARGIN: Final = 12


def classwise_figure(result: Classwise, theme: Theme, *, selected: int | None = None) -> Figure:
    """Each class's number, largest first, above the share that this and all larger ones have of the sum.

    Parameters
    ----------
    result : Classwise
    theme : Theme
        Colours.
    selected : int, optional
        The class to mark.

    Notes
    -----
    Few classes are bars on linear axes; a vocabulary is a line over the rank, both on logarithmic axes, on
    which a number of 0 has no place. `customdata` of what receives clicks begins with the class.
    """
    few = result.n_classes <= MAX_NAMED_CLASSES
    table = result.table if few else thinned(result.table, selected)
    chosen = table.filter(pl.col("class") == (-1 if selected is None else selected))
    layout = base_layout(theme, height=CLASSWISE_HEIGHT, top=_TOP_MARGIN)
    if few:
        axes = {
            "xaxis": axis(
                theme,
                "Class, largest first",
                standoff=6,
                anchor="y2",
                tickvals=table["rank"].to_list(),
                ticktext=[escape_for_plotly(name) for name in table["name"]],
                range=[0.4, result.n_classes + 0.6],
            ),
            "yaxis": axis(theme, "class-k-ECE", domain=_ECE_DOMAIN, rangemode="tozero", nticks=5),
        }
    else:
        positive = table["ece"].filter(table["ece"] > 0)
        low, high = (float(positive.min()), float(positive.max())) if positive.len() else (0.1, 1.0)  # type: ignore[arg-type]
        axes = {
            "xaxis": logarithmic_axis(
                theme, "Class by rank, largest first (log)", 0.9, result.n_classes, standoff=6, anchor="y2"
            ),
            "yaxis": logarithmic_axis(theme, "class-k-ECE (log)", low / 1.5, high * 1.6, domain=_ECE_DOMAIN),
        }
    cumulative = axis(
        theme,
        "Part of the sum",
        domain=_CUMULATIVE_DOMAIN,
        range=[0, 1.04],
        tickvals=[0, 0.5, 1],
        tickformat=".0%",
    )
    return {
        "data": [
            _numbers(table, theme, few=few),
            *_mark(chosen, theme, "ece"),
            _cumulative(table, theme),
            *_mark(chosen, theme, "cumulative", yaxis="y2"),
        ],
        "layout": {
            **layout,
            **axes,
            "yaxis2": cumulative,
            "hovermode": "closest",
            "margin": {**layout["margin"], "l": 64, "b": BOTTOM_MARGIN},
        },
    }


def thinned(table: pl.DataFrame, selected: int | None) -> pl.DataFrame:
    """The classes that have a point: the first hundred, others evenly on a log axis, and the selected."""
    n = table.height
    ranks = np.unique(np.concatenate([np.arange(1, min(n, 100) + 1), np.geomspace(1, n, MAX_POINTS).round()]))
    keep = pl.col("rank").is_in(ranks.astype(np.int64).tolist())
    return table.filter(keep if selected is None else keep | (pl.col("class") == selected))


def _numbers(table: pl.DataFrame, theme: Theme, *, few: bool) -> dict[str, Any]:
    """The numbers, as bars of few classes or a line of many."""
    shared = {
        "x": table["rank"].to_list(),
        "y": significant_values(table["ece"]),
        "customdata": [[index] for index in table["class"]],
        "hoverinfo": "text",
        "hovertext": _hover_texts(table),
        "showlegend": False,
        "unselected": {"marker": {"opacity": 1}},
    }
    if few:
        return {
            "type": "bar",
            "width": 0.7,
            "marker": solid_bar_marker(theme, theme.bar, bar_detail(table.height)),
            **shared,
        }
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"color": theme.bar, "width": 1.5},
        "marker": {"size": 5, "color": theme.bar},
        **shared,
    }


def _cumulative(table: pl.DataFrame, theme: Theme) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "yaxis": "y2",
        "x": table["rank"].to_list(),
        "y": significant_values(table["cumulative"]),
        "line": {"color": theme.count_bar, "width": 2},
        "fill": "tozeroy",
        "hoverinfo": "text",
        "hovertext": [
            f"the {rank:,} largest: {format_percent(share)} of the sum"
            for rank, share in table.select("rank", "cumulative").iter_rows()
        ],
        "showlegend": False,
    }


def _mark(chosen: pl.DataFrame, theme: Theme, height: str, **options: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """An amber diamond on the chosen class; nothing where there is none."""
    if chosen.is_empty():
        return []
    return [
        silent_trace(
            "markers",
            chosen["rank"].to_list(),
            significant_values(chosen[height]),
            cliponaxis=False,
            marker={
                "size": 12,
                "symbol": "diamond",
                "color": theme.highlight,
                "line": {"color": theme.highlight_outline, "width": 1.5},
            },
            unselected={"marker": {"opacity": 1}},
            **options,
        )
    ]


def _hover_texts(table: pl.DataFrame) -> list[str]:
    return [
        f"<b>{escape_for_plotly(row['name'])}</b>, rank {row['rank']:,}"
        f"<br>class-k-ECE {format_short(row['ece'])}, {format_percent(row['share'])} of the sum"
        f"<br>right {row['right']:,} times<br>average probability {format_short(row['mean_probability'])}"
        f"<br>share right {format_short(row['frequency'])}"
        for row in table.iter_rows(named=True)
    ]


def describe_classwise(result: Classwise) -> str:
    """Describe the figure in one sentence for screen readers, as plain text."""
    metric = METRICS[result.score.metric].title
    return (
        f"ECE of each class of {METHODS[result.method].title}, {result.run}: {metric} "
        f"{format_significant(result.score.value)} over {result.n_classes:,} classes. {result.headline}"
    )

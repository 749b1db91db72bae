"""The reliability diagram of a whole vocabulary: both axes logarithmic, with each bin's part of the sum.

Nearly all probabilities of a vocabulary lie in the first bin, which a linear axis draws as a speck in the
corner though it often carries half of Full-ECE.
"""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.figures.bars import (
    MAX_LABELLED_BARS,
    BarDetail,
    bar_detail,
    bar_trace,
    bins_across,
    hover_targets,
    place_bars,
    solid_bar_marker,
)
from calib_core.figures.layout import (
    LABEL_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    logarithmic_axis,
    share_ticks,
)
from calib_core.figures.palette import Theme
from calib_core.figures.reliability import (
    COUNTS_DOMAIN,
    FIGURE_HEIGHT,
    SQUARE_DOMAIN,
    accuracy_bars,
    accuracy_points,
    bin_heading,
    diagonal_line,
    filled_outline,
    gap_outlines,
    selection_bands,
    selection_outline,
)
from calib_core.figures.text import escape_for_plotly, wrap_lines
from calib_core.results.reliability import Reliability
from calib_core.terms import Terms
from calib_core.wording import format_percent, format_short, plural

LOWEST: Final = 1e-9
"""The axes begin here at the lowest, however small a probability is."""

MIN_LABELLED_WIDTH: Final = 0.075
"""A bar at least this wide, as a fraction of the panel, has its part written above it."""


def log_reliability_figure(result: Reliability, theme: Theme, *, selected: int | None = None) -> Figure:
    """A square of accuracy against confidence, both logarithmic, and each bin's part of the sum below.

    Parameters
    ----------
    result : Reliability
        Equal-width bins of all labels.
    theme : Theme
        Colours.
    selected : int, optional
        Number of the bin to outline, from 1. A number of no bin has no effect.

    Notes
    -----
    The first bin is drawn from the left end of the axis, as 0 has no place on it. A bin of which nothing is
    right has no point, and its gap reaches the bottom. `customdata` is as in `reliability_figure`.
    """
    start = axis_start(result.table)
    table = place_bars(
        result.table.with_columns(pl.max_horizontal("low", pl.lit(start)).alias("low")), result.scheme
    ).with_columns(
        pl.min_horizontal("accuracy", "confidence").alias("solid"),
        pl.max_horizontal("accuracy", "confidence").alias("top"),
    )
    detail = bar_detail(bins_across(table, result.scheme))
    selected_bin = table.filter(pl.col("bin") == (selected or 0))
    texts = _hover_texts(table, result)
    return {
        "data": [
            *_bars(table, theme, detail, result.terms, start),
            *selection_outline(selected_bin, theme, "share"),
            *diagonal_line(theme, start),
            *accuracy_points(table.filter(pl.col("accuracy") > 0), theme, detail, result.terms),
            *_share_bars(table, theme, detail, result.scheme, start),
            hover_targets(table, "top", texts),
            hover_targets(table, "share", texts, yaxis="y2"),
        ],
        "layout": {
            **base_layout(theme, height=FIGURE_HEIGHT, top=50),
            "xaxis": logarithmic_axis(
                theme,
                "Probability (log)",
                start,
                1,
                standoff=6,
                ticklabelstandoff=5,
                anchor="y2",
                constrain="domain",
                constraintoward="left",
            ),
            "yaxis": logarithmic_axis(
                theme,
                f"{result.terms.share_right.capitalize()} (log)",
                start,
                1,
                domain=SQUARE_DOMAIN,
                scaleanchor="x",
                constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": _share_axis(table, theme, result),
            "shapes": selection_bands(selected_bin, theme),
            "annotations": []
            if table.height
            else [annotation(theme, wrap_lines(result.headline, 24), x=math.log10(start) / 2, y=-0.5)],
        },
    }


def axis_start(table: pl.DataFrame) -> float:
    """Where the axes begin: the power of ten below every mean confidence and every accuracy but 0."""
    values = [value for name in ("confidence", "accuracy") for value in table[name] if value]
    smallest = max(min(values, default=0.1), LOWEST)
    return 10.0 ** min(math.floor(math.log10(smallest)), -1)


def _bars(
    table: pl.DataFrame, theme: Theme, detail: BarDetail, terms: Terms, start: float
) -> list[dict[str, Any]]:
    """The bars, or their outlines at hundreds of bins."""
    if detail.hatched:
        return accuracy_bars(table, theme, detail, terms)
    return gap_outlines(table, theme, terms, ground=start / 10)


def _share_bars(
    table: pl.DataFrame, theme: Theme, detail: BarDetail, scheme: Scheme, start: float
) -> list[dict[str, Any]]:
    """Each bin's part of the sum, written above the bars that are wide enough."""
    if not detail.hatched:
        return [filled_outline(table, "share", theme.count_bar, yaxis="y2")]
    labels: dict[str, Any] = {}
    if bins_across(table, scheme) <= MAX_LABELLED_BARS:
        labels = {
            "text": [
                format_percent(share) if math.log(low / high) <= MIN_LABELLED_WIDTH * math.log(start) else ""
                for low, high, share in table.select("low", "high", "share").iter_rows()
            ],
            "textposition": "outside",
            "textangle": 0,
            "constraintext": "none",
            "cliponaxis": False,
            "textfont": {"size": LABEL_SIZE, "color": theme.text},
            "unselected": {"marker": {"opacity": 1}, "textfont": {"color": theme.text}},
        }
    return [
        bar_trace(
            table, "share", yaxis="y2", marker=solid_bar_marker(theme, theme.count_bar, detail), **labels
        )
    ]


def _share_axis(table: pl.DataFrame, theme: Theme, result: Reliability) -> dict[str, Any]:
    largest = max(table["share"].to_list(), default=0.0) or 1.0
    return axis(
        theme,
        f"Part of {escape_for_plotly(short_score_title(result))}",
        domain=COUNTS_DOMAIN,
        range=[0, largest * 1.28],
        **share_ticks(largest),
    )


def short_score_title(result: Reliability) -> str:
    """The name of the sum that the bins are parts of, short enough for the axis of a low panel."""
    return "class ECE" if result.part else result.score_title.replace("Mass-weighted", "weighted")


def _hover_texts(table: pl.DataFrame, result: Reliability) -> list[str]:
    """The hover text of each bin, with significant digits."""
    return [
        f"<b>{bin_heading(row)}</b><br>{plural(row['count'], result.pair_unit[:-1])}"
        f"<br>probability {format_short(row['confidence'])}"
        f"<br>{result.terms.share_right} {format_short(row['accuracy'])}"
        f"<br>gap {'+' if row['gap'] > 0 else ''}{format_short(row['gap'])}"
        f"<br>{format_percent(row['share'])} of the sum"
        for row in table.iter_rows(named=True)
    ]

"""How is a reliability diagram drawn?  One result → one plotly figure, and its sentence."""

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
    count_labels,
    hover_targets,
    label_angle,
    label_headroom,
    place_bars,
    solid_bar_marker,
    split_thin_bins,
)
from calib_core.figures.hatching import (
    OVERCONFIDENT_HATCH,
    UNDERCONFIDENT_HATCH,
    gap_marker,
    unhatched_gap_colour,
)
from calib_core.figures.layout import (
    Figure,
    annotation,
    axis,
    base_layout,
    log_ticks,
    probability_axis,
    rounded_values,
    unit_square_outline,
)
from calib_core.figures.palette import TRANSPARENT, Theme, blend
from calib_core.figures.text import escape_for_plotly, wrap_lines
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.reliability import Reliability
from calib_core.wording import format_number, format_percent, format_signed, plural

# MERGED outlines: How are hundreds of bars drawn?  As filled outlines: one element a bar costs the browser too much time.

INVISIBLE_HEIGHT: Final = 1e-3
"""A height that cannot be seen, and has a logarithm."""


def gap_outlines(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The gaps up to the larger of accuracy and confidence, and over them the solid part."""
    traces: list[dict[str, Any]] = []
    for part, opacity in split_thin_bins(table):
        over, under = part.filter(pl.col("gap") > 0), part.filter(pl.col("gap") < 0)
        orange, green = (
            unhatched_gap_colour(theme, theme.overconfident, OVERCONFIDENT_HATCH),
            unhatched_gap_colour(theme, theme.underconfident, UNDERCONFIDENT_HATCH),
        )
        named = {"showlegend": opacity == 1}
        traces += [
            filled_outline(
                over, "top", blend(orange, theme.background, opacity), name="over-confident gap", **named
            ),
            filled_outline(
                under, "top", blend(green, theme.background, opacity), name="under-confident gap", **named
            ),
            filled_outline(part, "solid", blend(theme.bar, theme.background, opacity)),
        ]
    return traces


def count_outlines(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The counts, thin bins in a paler colour."""
    return [
        filled_outline(part, "count", blend(theme.count_bar, theme.background, opacity), yaxis="y2")
        for part, opacity in split_thin_bins(table)
    ]


def filled_outline(table: pl.DataFrame, height: str, colour: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Bars `height` (a column) tall as one filled outline, deaf to hover and click.

    Outside the bins it runs at FLOOR, which shows neither on a linear nor on a logarithmic axis.
    """
    left, right = table["x"] - table["width"] / 2, table["x"] + table["width"] / 2
    apart = ((left.shift(-1) - right).abs() > 1e-9).fill_null(value=True)
    x: list[float | None] = []
    y: list[float | None] = []
    for begin, end, tall, ends in zip(left, right, table[height], apart, strict=True):
        x += [begin, end] if ends else [begin]
        y += [tall, INVISIBLE_HEIGHT] if ends else [tall]
    drawn: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
        "x": rounded_values(pl.Series(x, dtype=pl.Float64)) or [None],
        "y": rounded_values(pl.Series(y, dtype=pl.Float64)) or [None],
        "line": {"shape": "hv", "width": 0},
        "fill": "tozeroy",
        "fillcolor": colour,
    }
    return drawn | options


FIGURE_HEIGHT: Final = 576
_SQUARE_DOMAIN: Final = [0.275, 1]
"""The part of the height that the square may take; counts stand below."""
_COUNTS_DOMAIN: Final = [0, 0.22]


def reliability_figure(
    result: Reliability, theme: Theme, *, log_counts: bool = False, selected: int | None = None
) -> Figure:
    """A square of accuracy against confidence, and the counts below it on the same axis.

    log_counts: the lower panel has a logarithmic axis; selected: number of the bin to outline (from 1),
    without effect where there is no such bin. Every trace that takes hover and click has `customdata`
    rows that begin with the bin's number; all others skip both.
    """
    table = place_bars(result.table, result.scheme).with_columns(
        pl.min_horizontal("accuracy", "confidence").alias("solid"),
        pl.max_horizontal("accuracy", "confidence").alias("top"),
    )
    look = bar_detail(bins_across(table, result.scheme))
    chosen = table.filter(pl.col("bin") == (selected or 0))
    return {
        "data": [
            *_bars_or_outlines(result.scheme, table, theme, look),
            *_selection_outline(chosen, theme),
            *_diagonal(theme),
            *_accuracy_points(table, theme, look),
            hover_targets(table, "top", _hover_texts(table, result.pair_unit, look)),
            hover_targets(table, "count", _count_hover_texts(table, result.pair_unit), yaxis="y2"),
        ],
        "layout": {
            **base_layout(theme, height=FIGURE_HEIGHT, top=50),
            "xaxis": probability_axis(
                theme, "Confidence", standoff=6, anchor="y2", constrain="domain", constraintoward="left"
            ),
            "yaxis": probability_axis(
                theme,
                "Accuracy (share right)",
                domain=_SQUARE_DOMAIN,
                scaleanchor="x",
                constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": _count_axis(table, theme, result.pair_unit, log=log_counts),
            "shapes": [*_selection_bands(chosen, theme), unit_square_outline(theme)],
            "annotations": []
            if table.height
            else [annotation(theme, wrap_lines(result.headline, 24), x=0.3, y=0.75)],
        },
    }


def _bars_or_outlines(
    scheme: Scheme, table: pl.DataFrame, theme: Theme, detail: BarDetail
) -> list[dict[str, Any]]:
    """What rises from each panel's floor: bars, or at hundreds of bins of equal width their outlines."""
    if scheme.binning == "width" and not detail.hatched:
        return [*gap_outlines(table, theme), *count_outlines(table, theme)]
    return [*_accuracy_bars(table, theme, detail), *_count_bars(table, theme, detail, scheme)]


def _accuracy_bars(table: pl.DataFrame, theme: Theme, detail: BarDetail) -> list[dict[str, Any]]:
    """Solid to the smaller of accuracy and confidence, hatched from there to the larger."""
    traces: list[dict[str, Any]] = []
    for part, opacity in split_thin_bins(table):
        over = part.filter(pl.col("gap") > 0)
        under = part.filter(pl.col("gap") < 0).with_columns(-pl.col("gap"))
        traces += [
            bar_trace(part, "solid", opacity=opacity, marker=solid_bar_marker(theme, theme.bar, detail)),
            bar_trace(
                over,
                "gap",
                base=rounded_values(over["accuracy"]),
                opacity=opacity,
                showlegend=opacity == 1,
                name="over-confident gap",
                marker=gap_marker(theme, theme.overconfident, OVERCONFIDENT_HATCH, detail),
            ),
            bar_trace(
                under,
                "gap",
                base=rounded_values(under["confidence"]),
                opacity=opacity,
                showlegend=opacity == 1,
                name="under-confident gap",
                marker=gap_marker(theme, theme.underconfident, UNDERCONFIDENT_HATCH, detail),
            ),
        ]
    return traces


def _count_bars(table: pl.DataFrame, theme: Theme, detail: BarDetail, scheme: Scheme) -> list[dict[str, Any]]:
    """Thin bins in a paler colour, not a lower opacity: their counts are what one wants to read."""
    angle = label_angle(table)
    return [
        bar_trace(
            part,
            "count",
            yaxis="y2",
            marker=solid_bar_marker(theme, blend(theme.count_bar, theme.background, opacity), detail),
            **(count_labels(part, theme, angle) if bins_across(table, scheme) <= MAX_LABELLED_BARS else {}),
        )
        for part, opacity in split_thin_bins(table)
    ]


def _count_axis(table: pl.DataFrame, theme: Theme, unit: str, *, log: bool) -> dict[str, Any]:
    """Room above the tallest bar for its label; a count of one is visible on the logarithmic axis."""
    largest = max(table["count"].to_list(), default=1)
    room = label_headroom(table)
    common: dict[str, Any] = {"domain": _COUNTS_DOMAIN, "tickformat": "~s" if largest >= 10_000 else ",d"}
    if not log:
        ticks: dict[str, Any] = {"nticks": 4} if largest > 3 else {"dtick": 1}
        return axis(theme, f"Count ({unit})", range=[0, largest * room], **ticks, **common)
    low = math.log10(0.6)
    high = low + (math.log10(largest * 1.1) - low) * room
    ticks = {"type": "log", "tickvals": log_ticks(largest)}
    return axis(theme, f"Count ({unit}, log)", range=[low, high], **ticks, **common)


def _diagonal(theme: Theme) -> list[dict[str, Any]]:
    """Confidence = accuracy, over a casing in the page's colour, so that it shows on the bars too."""
    ends = {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip"}
    dashes = {"color": theme.text, "width": 1.6, "dash": "6px,5px"}
    return [
        {**ends, "showlegend": False, "line": {"color": theme.background, "width": 4}},
        {**ends, "name": "perfect calibration", "legendrank": 1001, "line": dashes},
    ]


def _accuracy_points(table: pl.DataFrame, theme: Theme, detail: BarDetail) -> list[dict[str, Any]]:
    """A point at (mean confidence, accuracy), with the interval where it is known."""
    known = table["accuracy_low"].null_count() < max(table.height, 1)
    traces: list[dict[str, Any]] = []
    for part, opacity in split_thin_bins(table):
        trace: dict[str, Any] = {
            "type": "scatter",
            "mode": "markers",
            "hoverinfo": "skip",
            "cliponaxis": False,
            "x": rounded_values(part["confidence"]) or [None],
            "y": rounded_values(part["accuracy"]) or [None],
            "name": "accuracy, 95 % Wilson" if known else "accuracy",
            "opacity": opacity,
            "showlegend": opacity == 1,
            "marker": {
                "size": detail.point_size,
                "color": theme.text,
                "line": {"color": theme.background, "width": 1 if detail.whisker_cap else 0},
            },
            "unselected": {"marker": {"opacity": 1}},
        }
        if known:
            trace["error_y"] = {
                "type": "data",
                "symmetric": False,
                "color": theme.text,
                "array": rounded_values(part["accuracy_high"] - part["accuracy"]),
                "arrayminus": rounded_values(part["accuracy"] - part["accuracy_low"]),
                "thickness": detail.whisker_width,
                "width": detail.whisker_cap,
            }
        traces.append(trace)
    return traces


def _hover_texts(table: pl.DataFrame, unit: str, detail: BarDetail) -> list[str]:
    """What the hover says of each bin; at hundreds of bins without the interval, which nobody could see."""
    return [
        f"<b>{escape_for_plotly(row['interval'])}</b><br>{plural(row['count'], unit[:-1])}<br>"
        f"confidence {row['confidence']:.3f}<br>accuracy {row['accuracy']:.3f}"
        + (
            f" ({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f})"
            if detail.hatched and row["accuracy_low"] is not None
            else ""
        )
        + f"<br>gap {format_signed(row['gap'], '+.3f')}"
        for row in table.iter_rows(named=True)
    ]


def _count_hover_texts(table: pl.DataFrame, unit: str) -> list[str]:
    return [
        f"<b>{escape_for_plotly(interval)}</b><br>{plural(pairs, unit[:-1])}"
        for interval, pairs in table.select("interval", "count").iter_rows()
    ]


def _selection_outline(selected_bin: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    if not selected_bin.height:
        return []
    line = {"color": TRANSPARENT, "line": {"color": theme.highlight_outline, "width": 3}}
    return [
        bar_trace(selected_bin, "top", marker=line),
        bar_trace(selected_bin, "count", yaxis="y2", marker=line),
    ]


def _selection_bands(selected_bin: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """A column of amber behind the selected bin, which shows where its bar is short too."""
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": f"{panel} domain",
            "x0": left,
            "x1": left + width,
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"width": 0},
            "fillcolor": blend(theme.highlight, theme.background, 0.18),
        }
        for left, width in selected_bin.select(
            pl.col("hit_x") - pl.col("hit_width") / 2, "hit_width"
        ).iter_rows()
        for panel in ("y", "y2")
    ]


def describe_reliability(result: Reliability) -> str:
    """The diagram in one sentence, for who cannot see it: text, not HTML."""
    name = f"Reliability diagram of {METHODS[result.method].title}, {result.run}"
    if not result.table.height:
        return f"{name}: empty. {result.headline}"
    widest = result.table.sort(pl.col("gap").abs(), descending=True).row(0, named=True)
    value, pairs = result.score.value, int(result.table["count"].sum())
    parts = [
        f"{METRICS[result.score.metric].title} {format_number(value)}" if value is not None else None,
        f"accuracy {format_percent(result.accuracy)}" if result.accuracy is not None else None,
        f"mean confidence {format_percent(result.mean_confidence)}"
        if result.mean_confidence is not None
        else None,
        f"{plural(pairs, result.pair_unit[:-1])} in {plural(result.table.height, 'bin')}",
        f"widest gap {format_signed(widest['gap'], '+.3f')} in {widest['interval']}",
    ]
    return f"{name}: {', '.join(part for part in parts if part)}."


# MERGED small_multiples: How is one of many reliability diagrams drawn, small enough to stand beside the others?

SMALL_FIGURE_HEIGHT: Final = 262
_SMALL_TICKS: Final = {"tickvals": [0, 0.5, 1]}


def small_reliability_figure(result: Reliability, theme: Theme) -> Figure:
    """The square of the reliability diagram alone: same bars, hatches and whiskers, no counts and no legend.

    What the hover says of a bin, its count too, is that of the large diagram.
    """
    whole = reliability_figure(result, theme)
    layout = base_layout(theme, height=SMALL_FIGURE_HEIGHT, top=8)
    layout["margin"] |= {"l": 40, "b": 40, "r": 8}
    axes = {
        "xaxis": probability_axis(
            theme, "Confidence", standoff=4, constrain="domain", constraintoward="left", **_SMALL_TICKS
        ),
        "yaxis": probability_axis(
            theme, "Accuracy", scaleanchor="x", constrain="domain", constraintoward="bottom", **_SMALL_TICKS
        ),
    }
    return {
        "data": [trace | {"showlegend": False} for trace in whole["data"] if trace.get("yaxis") != "y2"],
        "layout": layout
        | axes
        | {
            "showlegend": False,
            "shapes": [shape for shape in whole["layout"]["shapes"] if "y2" not in str(shape.get("yref"))],
            "annotations": whole["layout"]["annotations"],
        },
    }

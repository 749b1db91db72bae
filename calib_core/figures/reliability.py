"""The reliability diagram of a run, large or small, and its description for screen readers."""

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
    calibration_line,
    log_ticks,
    probability_axis,
    significant_values,
    silent_trace,
    unit_square_outline,
)
from calib_core.figures.palette import TRANSPARENT, Theme, blend
from calib_core.figures.text import escape_for_plotly, wrap_lines
from calib_core.methods import METHODS
from calib_core.results.reliability import Reliability
from calib_core.terms import Terms
from calib_core.wording import BinReading, format_percent, format_signed, format_significant, plural

FIGURE_HEIGHT: Final = 576
"""Height of the whole figure in pixels."""

SQUARE_DOMAIN: Final = [0.275, 1]
COUNTS_DOMAIN: Final = [0, 0.22]
"""The square and the panel of counts below it, as fractions of the plot's height."""


def reliability_figure(
    result: Reliability, theme: Theme, *, log_counts: bool = False, selected: int | None = None
) -> Figure:
    """A square of accuracy against confidence, and the counts below it on the same axis.

    Parameters
    ----------
    result : Reliability
        The binned run.
    theme : Theme
        Colours.
    log_counts : bool
        Whether the panel of counts has a logarithmic axis.
    selected : int, optional
        Number of the bin to outline, from 1. A number of no bin has no effect.

    Notes
    -----
    Each trace that receives hover and click has rows of `customdata` that begin with the bin's number; all
    other traces ignore both.
    """
    table = place_bars(result.table, result.scheme).with_columns(
        pl.min_horizontal("accuracy", "confidence").alias("solid"),
        pl.max_horizontal("accuracy", "confidence").alias("top"),
    )
    detail = bar_detail(bins_across(table, result.scheme))
    selected_bin = table.filter(pl.col("bin") == (selected or 0))
    return {
        "data": [
            *_bars_or_outlines(result, table, theme, detail),
            *selection_outline(selected_bin, theme),
            *diagonal_line(theme),
            *accuracy_points(table, theme, detail, result.terms),
            hover_targets(table, "top", _hover_texts(table, result, detail)),
            hover_targets(table, "count", _count_hover_texts(table, result.pair_unit), yaxis="y2"),
        ],
        "layout": {
            **base_layout(theme, height=FIGURE_HEIGHT, top=50),
            "xaxis": probability_axis(
                theme,
                result.terms.confidence_title,
                standoff=6,
                anchor="y2",
                constrain="domain",
                constraintoward="left",
            ),
            "yaxis": probability_axis(
                theme,
                result.terms.share_axis,
                domain=SQUARE_DOMAIN,
                scaleanchor="x",
                constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": _count_axis(table, theme, result.pair_unit, log=log_counts),
            "shapes": [*selection_bands(selected_bin, theme), unit_square_outline(theme)],
            "annotations": []
            if table.height
            else [annotation(theme, wrap_lines(result.headline, 24), x=0.3, y=0.75)],
        },
    }


def _bars_or_outlines(
    result: Reliability, table: pl.DataFrame, theme: Theme, detail: BarDetail
) -> list[dict[str, Any]]:
    """The bars of both panels, or their outlines at hundreds of equal-width bins."""
    if result.scheme.binning == "width" and not detail.hatched:
        return [*gap_outlines(table, theme, result.terms), *count_outlines(table, theme)]
    bars = accuracy_bars(table, theme, detail, result.terms)
    return [*bars, *_count_bars(table, theme, detail, result.scheme)]


def accuracy_bars(table: pl.DataFrame, theme: Theme, detail: BarDetail, terms: Terms) -> list[dict[str, Any]]:
    """Bars, solid up to the smaller of accuracy and confidence and hatched from there to the larger."""
    traces: list[dict[str, Any]] = []
    for part, opacity in split_thin_bins(table):
        over = part.filter(pl.col("gap") > 0)
        under = part.filter(pl.col("gap") < 0).with_columns(-pl.col("gap"))
        traces += [
            bar_trace(part, "solid", opacity=opacity, marker=solid_bar_marker(theme, theme.bar, detail)),
            bar_trace(
                over,
                "gap",
                base=significant_values(over["accuracy"]),
                opacity=opacity,
                showlegend=opacity == 1,
                name=f"{terms.over} gap",
                marker=gap_marker(theme, theme.overconfident, OVERCONFIDENT_HATCH, detail),
            ),
            bar_trace(
                under,
                "gap",
                base=significant_values(under["confidence"]),
                opacity=opacity,
                showlegend=opacity == 1,
                name=f"{terms.under} gap",
                marker=gap_marker(theme, theme.underconfident, UNDERCONFIDENT_HATCH, detail),
            ),
        ]
    return traces


def _count_bars(table: pl.DataFrame, theme: Theme, detail: BarDetail, scheme: Scheme) -> list[dict[str, Any]]:
    """Bars of counts. Thin bins are paler in colour, not in opacity, so that their counts stay readable."""
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
    """The axis of counts, with room for a label above the tallest bar.

    The logarithmic axis begins below 1, so that a count of one is visible.
    """
    largest = max(table["count"].to_list(), default=1)
    headroom = label_headroom(table)
    shared: dict[str, Any] = {"domain": COUNTS_DOMAIN, "tickformat": "~s" if largest >= 10_000 else ",d"}
    if not log:
        ticks: dict[str, Any] = {"nticks": 4} if largest > 3 else {"dtick": 1}
        return axis(theme, f"Count ({unit})", range=[0, largest * headroom], **ticks, **shared)
    low = math.log10(0.6)
    high = low + (math.log10(largest * 1.1) - low) * headroom
    ticks = {"type": "log", "tickvals": log_ticks(largest)}
    return axis(theme, f"Count ({unit}, log)", range=[low, high], **ticks, **shared)


def diagonal_line(theme: Theme, start: float = 0) -> list[dict[str, Any]]:
    """The line of perfect calibration, over a wider one in the page's colour so that it shows on bars too."""
    wider = silent_trace("lines", [start, 1], [start, 1], line={"color": theme.background, "width": 4})
    return [wider, calibration_line(theme.text, start)]


def accuracy_points(
    table: pl.DataFrame, theme: Theme, detail: BarDetail, terms: Terms
) -> list[dict[str, Any]]:
    """A point at (mean confidence, accuracy) of each bin, with its interval where there is one."""
    has_intervals = table["accuracy_low"].null_count() < max(table.height, 1)
    traces: list[dict[str, Any]] = []
    for part, opacity in split_thin_bins(table):
        trace: dict[str, Any] = silent_trace(
            "markers",
            significant_values(part["confidence"]) or [None],
            significant_values(part["accuracy"]) or [None],
            cliponaxis=False,
            name=f"{terms.accuracy}, 95 % Wilson" if has_intervals else terms.accuracy,
            opacity=opacity,
            showlegend=opacity == 1,
            marker={
                "size": detail.point_size,
                "color": theme.text,
                "line": {"color": theme.background, "width": 1 if detail.whisker_cap else 0},
            },
            unselected={"marker": {"opacity": 1}},
        )
        if has_intervals:
            trace["error_y"] = {
                "type": "data",
                "symmetric": False,
                "color": theme.text,
                "array": significant_values(part["accuracy_high"] - part["accuracy"]),
                "arrayminus": significant_values(part["accuracy"] - part["accuracy_low"]),
                "thickness": detail.whisker_width,
                "width": detail.whisker_cap,
            }
        traces.append(trace)
    return traces


def _hover_texts(table: pl.DataFrame, result: Reliability, detail: BarDetail) -> list[str]:
    """The hover text of each bin; without the interval at hundreds of bins, where no whisker is visible."""
    terms, unit = result.terms, result.pair_unit
    return [
        f"<b>{bin_heading(row)}</b><br>{plural(row['count'], unit[:-1])}<br>"
        f"{terms.confidence} {row['confidence']:.3f}<br>{terms.accuracy} {row['accuracy']:.3f}"
        + (
            f" ({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f})"
            if detail.hatched and row["accuracy_low"] is not None
            else ""
        )
        + f"<br>gap {format_signed(row['gap'], '+.3f')}"
        for row in table.iter_rows(named=True)
    ]


def bin_heading(row: dict[str, Any]) -> str:
    """Both readings of a bin, as plotly's HTML."""
    return escape_for_plotly(str(BinReading(row["percent"], row["interval"])))


def _count_hover_texts(table: pl.DataFrame, unit: str) -> list[str]:
    return [
        f"<b>{bin_heading(row)}</b><br>{plural(row['count'], unit[:-1])}"
        for row in table.iter_rows(named=True)
    ]


def selection_outline(selected_bin: pl.DataFrame, theme: Theme, lower: str = "count") -> list[dict[str, Any]]:
    """An amber outline around the selected bin's bars; `lower` is the column of the lower panel."""
    if not selected_bin.height:
        return []
    marker = {"color": TRANSPARENT, "line": {"color": theme.highlight_outline, "width": 3}}
    return [
        bar_trace(selected_bin, "top", marker=marker),
        bar_trace(selected_bin, lower, yaxis="y2", marker=marker),
    ]


def selection_bands(selected_bin: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """An amber column behind the selected bin, which makes it visible even where its bar is short."""
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
    """Describe the diagram in one sentence for screen readers, as plain text."""
    part = f" of {result.part}" if result.part else ""
    name = f"Reliability diagram{part} of {METHODS[result.method].title}, {result.run}"
    if not result.table.height:
        return f"{name}: empty. {result.headline}"
    widest = result.table.sort(pl.col("gap").abs(), descending=True).row(0, named=True)
    bin_name = BinReading(widest["percent"], widest["interval"])
    terms, value, n_pairs = result.terms, result.score.value, round(result.table["count"].sum())
    parts = [
        f"{result.score_title} {format_significant(value)}" if value is not None else None,
        f"{terms.accuracy} {format_percent(result.accuracy)}" if result.accuracy is not None else None,
        f"mean {terms.confidence} {format_percent(result.mean_confidence)}"
        if result.mean_confidence is not None
        else None,
        f"{plural(n_pairs, result.pair_unit[:-1])} in {plural(result.table.height, 'bin')}",
        f"widest gap {format_signed(widest['gap'], '+.3f')} in {bin_name}",
    ]
    return f"{name}: {', '.join(part for part in parts if part)}."


# --- Outlines, where there are too many bars ---------------------------------------------------------------
#
# Hundreds of bars as one filled outline: an element for each bar costs the browser too much time.

INVISIBLE_HEIGHT: Final = 1e-3
"""A height that is invisible on a linear axis and still has a logarithm."""


def gap_outlines(
    table: pl.DataFrame, theme: Theme, terms: Terms, *, ground: float = INVISIBLE_HEIGHT
) -> list[dict[str, Any]]:
    """The gaps up to the larger of accuracy and confidence, and the solid part over them.

    Parameters
    ----------
    table : pl.DataFrame
        Bins with positions, from `place_bars`, and the columns `solid` and `top`: the smaller and the larger
        of accuracy and confidence.
    theme : Theme
        Colours.
    terms : Terms
        What the sides are called.
    ground : float
        As in `filled_outline`.
    """
    traces: list[dict[str, Any]] = []
    for part, opacity in split_thin_bins(table):
        over, under = part.filter(pl.col("gap") > 0), part.filter(pl.col("gap") < 0)
        over_colour = unhatched_gap_colour(theme, theme.overconfident, OVERCONFIDENT_HATCH)
        under_colour = unhatched_gap_colour(theme, theme.underconfident, UNDERCONFIDENT_HATCH)
        in_legend = {"showlegend": opacity == 1, "ground": ground}
        traces += [
            filled_outline(
                over,
                "top",
                blend(over_colour, theme.background, opacity),
                name=f"{terms.over} gap",
                **in_legend,
            ),
            filled_outline(
                under,
                "top",
                blend(under_colour, theme.background, opacity),
                name=f"{terms.under} gap",
                **in_legend,
            ),
            filled_outline(part, "solid", blend(theme.bar, theme.background, opacity), ground=ground),
        ]
    return traces


def count_outlines(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The counts, with thin bins in a paler colour."""
    return [
        filled_outline(part, "count", blend(theme.count_bar, theme.background, opacity), yaxis="y2")
        for part, opacity in split_thin_bins(table)
    ]


def filled_outline(
    table: pl.DataFrame,
    height: str,
    colour: str,
    *,
    ground: float = INVISIBLE_HEIGHT,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Bars as one filled outline, which ignores hover and click.

    Parameters
    ----------
    table : pl.DataFrame
        Bins with positions, from `place_bars`.
    height : str
        The column that holds the bars' heights.
    colour : str
        Fill of the outline.
    ground : float
        Where the outline runs between the bins.
    **options
        Keys of plotly's trace, which override the defaults here.
    """
    left, right = table["x"] - table["width"] / 2, table["x"] + table["width"] / 2
    gap_follows = ((left.shift(-1) - right).abs() > 1e-9).fill_null(value=True)
    x: list[float | None] = []
    y: list[float | None] = []
    for start, end, value, closes in zip(left, right, table[height], gap_follows, strict=True):
        x += [start, end] if closes else [start]
        y += [value, ground] if closes else [value]
    trace: dict[str, Any] = silent_trace(
        "lines",
        significant_values(pl.Series(x, dtype=pl.Float64)) or [None],
        significant_values(pl.Series(y, dtype=pl.Float64)) or [None],
        line={"shape": "hv", "width": 0},
        fill="tozeroy",
        fillcolor=colour,
    )
    return trace | options


# --- Small multiples ---------------------------------------------------------------------------------------

SMALL_FIGURE_HEIGHT: Final = 262
"""Height of a small diagram in pixels."""

_SMALL_TICKS: Final = {"tickvals": [0, 0.5, 1]}


def small_reliability_figure(result: Reliability, theme: Theme) -> Figure:
    """The square of the reliability diagram alone, small enough to stand beside others.

    It has the same bars, hatches and whiskers as the large diagram but no counts and no legend. Hover texts
    are the same, counts included. Without a legend, a trace of no bars has no use and is left out: the
    browser takes as long for it as for any other.
    """
    full = reliability_figure(result, theme)
    kept = [trace for trace in full["data"] if trace.get("yaxis") != "y2" and trace["x"] != [None]]
    layout = base_layout(theme, height=SMALL_FIGURE_HEIGHT, top=8)
    layout["margin"] |= {"l": 40, "b": 40, "r": 8}
    axes = {
        "xaxis": probability_axis(
            theme,
            result.terms.confidence_title,
            standoff=4,
            constrain="domain",
            constraintoward="left",
            **_SMALL_TICKS,
        ),
        "yaxis": probability_axis(
            theme,
            result.terms.accuracy_title,
            scaleanchor="x",
            constrain="domain",
            constraintoward="bottom",
            **_SMALL_TICKS,
        ),
    }
    return {
        "data": [trace | {"showlegend": False} for trace in kept],
        "layout": layout
        | axes
        | {
            "showlegend": False,
            "shapes": [shape for shape in full["layout"]["shapes"] if "y2" not in str(shape.get("yref"))],
            "annotations": full["layout"]["annotations"],
        },
    }

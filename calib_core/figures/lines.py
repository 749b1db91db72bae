"""How are several runs or methods drawn on one reliability diagram?  One result → a line each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import polars as pl

from calib_core.figures.bars import bar_detail, bar_ends, bins_across
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    legend_entry,
    legend_margin,
    legend_names,
    probability_axis,
    rounded_values,
    share_ticks,
    unit_square_outline,
)
from calib_core.figures.palette import SeriesStyle, Theme, blend, marker_style, method_style, run_style
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.figures.text import wrap_lines as broken
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.lines import ReliabilityLine, ReliabilityLines
from calib_core.wording import format_percent, format_short, format_signed, plural

# MERGED lines_look: How is each line told from the others, where lines are runs, methods, or both?


def styles_by_line(
    result: ReliabilityLines, style_indices: Mapping[str, int], theme: Theme
) -> dict[str, SeriesStyle]:
    """Key of a line → its colour, dash and symbol.

    places: key → place of the line's run among all at hand. Lines that are methods of one run look as these
    methods do everywhere, lines that are runs as these runs do; where both differ, colour and dash say the
    run and the symbol says the method.
    """
    runs, methods = {line.run for line in result.lines}, {line.method for line in result.lines}
    looks: dict[str, SeriesStyle] = {}
    for at, line in enumerate(result.lines):
        own, method = run_style(style_indices.get(line.key, at), theme), method_style(line.method, theme)
        if len(methods) > 1:
            alone = len(runs) == 1
            own = method if alone else replace(own, symbol=method.symbol)
        looks[line.key] = own
    return looks


_PANELS_HEIGHT: Final = 520
"""Pixels of both panels."""

_SQUARE_DOMAIN: Final = [0.25, 1]
_SHARES_DOMAIN: Final = [0, 0.185]
_MAX_LEGEND_NAME: Final = 42
"""Letters of an entry of the legend: as wide as a telephone."""

_THIN_BIN_OPACITY: Final = 0.45
"""How strong a line is between bins of which one is thin."""


def lines_figure(
    result: ReliabilityLines,
    theme: Theme,
    *,
    style_indices: Mapping[str, int] | None = None,
    selected: str | None = None,
) -> Figure:
    """A square of accuracy against mean confidence, a point a non-empty bin, and the shares below it.

    A thin bin's point is small and hollow, and the line to it pale. places: key of a line → place of its run
    among all at hand; selected: key of a line to draw broader, without effect where there is none. Every
    point that takes hover and click has `customdata` rows of the line's key and the bin's number.
    """
    looks = styles_by_line(result, style_indices or {}, theme)
    entries = [
        _line_legend_entry(result, line, looks[line.key], theme, 3.6 if line.key == selected else 2.2)
        for line in result.lines
    ]
    data: list[dict[str, Any]] = [*_diagonal(theme), *entries]
    for line in result.lines:
        broad = 3.6 if line.key == selected else 2.2
        data += [
            *_line_traces(line, looks[line.key], theme, broad),
            *_bin_points(result, line, looks[line.key], theme),
        ]
        data += _share_outline(line, looks[line.key])
    top, alone = legend_margin(legend_names(data), one_per_line=True)
    layout = base_layout(theme, height=_PANELS_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=alone)
    words = [] if result.lines else [annotation(theme, broken(result.headline, 24), x=0.3, y=0.75)]
    return {
        "data": data if result.lines else [*data, empty_trace()],
        "layout": layout
        | {
            "hovermode": "closest",
            "xaxis": probability_axis(
                theme,
                "Mean confidence of the bin",
                standoff=6,
                anchor="y2",
                constrain="domain",
                constraintoward="left",
            ),
            "yaxis": probability_axis(
                theme,
                "Accuracy (share right)",
                domain=_SQUARE_DOMAIN,
                scaleanchor="x",
                constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": _share_axis(result, theme),
            "shapes": [unit_square_outline(theme)],
            "annotations": words,
        },
    }


def _line_legend_entry(
    result: ReliabilityLines, line: ReliabilityLine, style: SeriesStyle, theme: Theme, width: float
) -> dict[str, Any]:
    """What tells the line from the others, and its number."""
    number = f" · {_metric_text(result, line)}"
    name = f"{truncate_middle(result.labels[line.key], _MAX_LEGEND_NAME - len(number))}{number}"
    return legend_entry(name, "lines+markers", line=style.line(width), marker=style.marker(theme))


def _metric_text(result: ReliabilityLines, line: ReliabilityLine) -> str:
    """ "ECE 0.0312"."""
    value = line.result.score.value
    if value is None:
        return f"{METRICS[result.metric].title} –"
    shown = "∞" if math.isinf(value) else format_short(value).replace("-", "−")
    return f"{METRICS[result.metric].title} {shown}"


def _line_traces(
    line: ReliabilityLine, style: SeriesStyle, theme: Theme, width: float
) -> list[dict[str, Any]]:
    """The whole line, pale where it has thin bins, and the parts between two others in full."""
    table = line.result.table
    x, y, thin = (
        rounded_values(table["confidence"]),
        rounded_values(table["accuracy"]),
        table["thin"].to_list(),
    )
    common: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "showlegend": False,
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
    if not any(thin):
        return [{**common, "x": x or [None], "y": y or [None], "line": style.line(width)}]
    pale = style.line(1.3) | {"color": blend(style.colour, theme.background, _THIN_BIN_OPACITY)}
    clear: list[tuple[float | None, float | None]] = []
    for first, second in pairwise(range(len(thin))):
        if not (thin[first] or thin[second]):
            clear += [(x[first], y[first]), (x[second], y[second]), (None, None)]
    traces = [{**common, "x": x, "y": y, "line": pale}]
    if clear:
        ends: dict[str, Any] = {"x": [one for one, _ in clear], "y": [other for _, other in clear]}
        traces.append({**common, **ends, "line": style.line(width)})
    return traces


def _bin_points(
    result: ReliabilityLines, line: ReliabilityLine, style: SeriesStyle, theme: Theme
) -> list[dict[str, Any]]:
    """A point a bin; of a thin one small and hollow."""
    table, size = (
        line.result.table,
        bar_detail(bins_across(line.result.table, line.result.scheme)).point_size + 1.5,
    )
    name = f"<b>{escape_for_plotly(truncate_middle(line.run, 60))}</b><br>{escape_for_plotly(METHODS[line.method].title)}"
    traces: list[dict[str, Any]] = []
    for thin in (False, True):
        part = table.filter(pl.col("thin") == thin)
        if not part.height:
            continue
        marker = marker_style(style.colour, style.symbol, theme, size)
        if thin:
            marker = {
                "size": max(0.6 * size, 2),
                "symbol": f"{style.symbol}-open",
                "color": style.colour,
                "line": {"color": style.colour, "width": 1},
            }
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "showlegend": False,
                "cliponaxis": False,
                "x": rounded_values(part["confidence"]),
                "y": rounded_values(part["accuracy"]),
                "marker": marker,
                "unselected": {"marker": {"opacity": 1}},
                "hoverinfo": "text",
                "hovertext": [f"{name}<br>{words}" for words in _hover_texts(line, part)],
                "customdata": [[line.key, bin_] for bin_ in part["bin"]],
                "meta": {"line": line.key, "thin": thin, "metric": result.metric},
            }
        )
    return traces


def _hover_texts(line: ReliabilityLine, bins: pl.DataFrame) -> list[str]:
    """What the hover says of each bin."""
    return [
        f"{escape_for_plotly(interval)}: {plural(pairs, line.result.pair_unit[:-1])}<br>confidence {confidence:.3f}, "
        f"accuracy {accuracy:.3f}<br>gap {format_signed(gap, '+.3f')}"
        for interval, pairs, confidence, accuracy, gap in bins.select(
            "interval", "count", "confidence", "accuracy", "gap"
        ).iter_rows()
    ]


def _share_outline(line: ReliabilityLine, style: SeriesStyle) -> list[dict[str, Any]]:
    """The share of the line's own pairs in each bin, as an outline that falls to zero where there is none."""
    table = line.result.table
    total = int(table["count"].sum())
    if not total:
        return []
    left, right = bar_ends(table, line.result.scheme)
    x: list[float] = []
    y: list[float] = []
    for low, high, pairs in zip(left.tolist(), right.tolist(), table["count"].to_list(), strict=True):
        share = round(pairs / total, 6)
        if not x or low > x[-1] + 1e-9:  # bins are missing between: down to the floor and up again
            x += [*x[-1:], low]
            y += [0.0] * (2 if len(x) > 1 else 1)
        x += [round(low, 6), round(high, 6)]
        y += [share, share]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "yaxis": "y2",
            "showlegend": False,
            "hoverinfo": "skip",
            "x": [*x, x[-1]],
            "y": [*y, 0.0],
            "line": style.line(1.4),
            "meta": {"shares": line.key},
        }
    ]


def _share_axis(result: ReliabilityLines, theme: Theme) -> dict[str, Any]:
    """Linear, from zero: each line's own pairs are the whole."""
    counts = [line.result.table["count"].to_list() for line in result.lines]
    top = max((max(own) / sum(own) for own in counts if own), default=1.0)
    return axis(
        theme, "Share of pairs", domain=_SHARES_DOMAIN, range=[0, 1.08 * top], **share_ticks(1.08 * top, 3)
    )


def _diagonal(theme: Theme) -> list[dict[str, Any]]:
    """Confidence = accuracy."""
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [0, 1],
            "y": [0, 1],
            "hoverinfo": "skip",
            "name": "perfect calibration",
            "legendrank": 1001,
            "line": {"color": theme.muted_text, "width": 1.6, "dash": "6px,5px"},
        }
    ]


def describe_lines(result: ReliabilityLines) -> str:
    """The diagram in a few sentences, for who cannot see it: text, not HTML."""
    told = "; ".join(
        f"{result.labels[line.key]}: {_metric_text(result, line)}, accuracy {_percent_or_unknown(line.result.accuracy)}, "
        f"mean confidence {_percent_or_unknown(line.result.mean_confidence)}, {line.result.score.n_used:,} used, "
        f"{plural(line.result.table.height, 'bin')}"
        for line in result.lines
    )
    of = f", {result.shared_label}" if result.shared_label else ""
    return f"Reliability diagram of {plural(len(result.lines), 'line')}{of}. {told or result.headline}."


def _percent_or_unknown(value: float | None) -> str:
    return "not known" if value is None else format_percent(value)

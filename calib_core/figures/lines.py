"""One reliability diagram of several runs or methods, lines or bars, and their shares of pairs per bin."""

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
    calibration_line,
    empty_trace,
    legend_entry,
    legend_margin,
    legend_names,
    probability_axis,
    rounded_values,
    share_ticks,
    silent_trace,
    unit_square_outline,
)
from calib_core.figures.palette import SeriesStyle, Theme, blend, marker_style, method_style, run_style
from calib_core.figures.text import escape_for_plotly, truncate_middle, wrap_lines
from calib_core.methods import METHODS
from calib_core.results.lines import ReliabilityLine, ReliabilityLines
from calib_core.wording import BinReading, format_percent, format_short, format_signed, plural

_PANELS_HEIGHT: Final = 520
"""Height of both panels together, in pixels."""

_SQUARE_DOMAIN: Final = [0.25, 1]
_SHARES_DOMAIN: Final = [0, 0.185]
"""The square and the panel of shares below it, as fractions of the plot's height."""

_MAX_LEGEND_NAME: Final = 42
"""Characters of a legend entry, which fill the width of a phone."""

_THIN_BIN_OPACITY: Final = 0.45
"""Opacity of a line between two bins of which at least one is thin."""

_LINE_WIDTH, _SELECTED_LINE_WIDTH = 2.2, 3.6
"""Pixels."""


def styles_by_line(
    result: ReliabilityLines, style_indices: Mapping[str, int], theme: Theme
) -> dict[str, SeriesStyle]:
    """The style of each line.

    Lines that are methods of one run have the methods' styles, and lines that are runs seen by one method
    have the runs' styles. Where both differ, colour and dash stand for the run and the symbol for the method.

    Parameters
    ----------
    result : ReliabilityLines
        The lines.
    style_indices : Mapping[str, int]
        Key of a line → index of its run among all loaded runs. A line that is missing takes its own index.
    theme : Theme
        Colours.

    Returns
    -------
    dict[str, SeriesStyle]
        Key of a line → its style.
    """
    runs, methods = {line.run for line in result.lines}, {line.method for line in result.lines}
    styles: dict[str, SeriesStyle] = {}
    for index, line in enumerate(result.lines):
        by_run = run_style(style_indices.get(line.key, index), theme)
        by_method = method_style(line.method, theme, methods)
        if len(methods) == 1:
            styles[line.key] = by_run
        elif len(runs) == 1:
            styles[line.key] = by_method
        else:
            styles[line.key] = replace(by_run, symbol=by_method.symbol)
    return styles


def lines_figure(
    result: ReliabilityLines,
    theme: Theme,
    *,
    style_indices: Mapping[str, int] | None = None,
    selected: str | None = None,
    as_bars: bool = False,
) -> Figure:
    """A square of accuracy against mean confidence with a line per run or method, and shares of pairs below.

    Each non-empty bin has a point. A thin bin's point is small and hollow, and the line to it is pale. As
    bars, those of one bin stand beside each other, and a thin bin's are pale.

    Parameters
    ----------
    result : ReliabilityLines
        The lines.
    theme : Theme
        Colours.
    style_indices : Mapping[str, int], optional
        Key of a line → index of its run among all loaded runs.
    selected : str, optional
        Key of the line to draw thicker. A key of no line has no effect.
    as_bars : bool
        Whether bars take the place of lines; the lines then share bins of equal width (`allows_bars`).

    Notes
    -----
    The `customdata` of points that receive hover and click has rows of the line's key and the bin's number.
    """
    terms, styles = result.terms, styles_by_line(result, style_indices or {}, theme)
    widths = {
        line.key: _SELECTED_LINE_WIDTH if line.key == selected else _LINE_WIDTH for line in result.lines
    }
    diagonal = calibration_line(theme.muted_text)
    data = [] if as_bars else [diagonal]
    for place, line in enumerate(result.lines):
        style, width = styles[line.key], widths[line.key]
        if as_bars:
            data += _bin_bars(result, line, style, theme, place)
        else:
            data.append(_line_legend_entry(result, line, style, theme, width))
            data += _line_traces(line, style, theme, width)
            data += _bin_points(result, line, style, theme)
        data += _share_outline(line, style)
    data += [diagonal] if as_bars else []
    top, one_per_line = legend_margin(legend_names(data), one_per_line=True)
    layout = base_layout(
        theme, height=_PANELS_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=one_per_line
    )
    notes = [] if result.lines else [annotation(theme, wrap_lines(result.headline, 24), x=0.3, y=0.75)]
    return {
        "data": data if result.lines else [*data, empty_trace()],
        "layout": layout
        | {
            "hovermode": "closest",
            "barmode": "overlay",
            "xaxis": probability_axis(
                theme,
                terms.confidence_title if as_bars else f"Mean {terms.confidence} of the bin",
                standoff=6,
                anchor="y2",
                constrain="domain",
                constraintoward="left",
            ),
            "yaxis": probability_axis(
                theme,
                terms.share_axis,
                domain=_SQUARE_DOMAIN,
                scaleanchor="x",
                constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": _share_axis(result, theme),
            "shapes": [unit_square_outline(theme)],
            "annotations": notes,
        },
    }


def _line_legend_entry(
    result: ReliabilityLines, line: ReliabilityLine, style: SeriesStyle, theme: Theme, width: float
) -> dict[str, Any]:
    """The line's legend entry."""
    name = _legend_name(result, line)
    return legend_entry(name, "lines+markers", line=style.line(width), marker=style.marker(theme))


def _legend_name(result: ReliabilityLines, line: ReliabilityLine) -> str:
    """The line's label and its metric."""
    metric = f" · {_metric_text(line)}"
    return f"{truncate_middle(result.labels[line.key], _MAX_LEGEND_NAME - len(metric))}{metric}"


def _metric_text(line: ReliabilityLine) -> str:
    """The metric's name and value, such as "ECE 0.0312"."""
    value, title = line.result.score.value, line.result.score.worded_metric.title
    if value is None:
        return f"{title} –"
    shown = "∞" if math.isinf(value) else format_short(value).replace("-", "−")
    return f"{title} {shown}"


def _line_traces(
    line: ReliabilityLine, style: SeriesStyle, theme: Theme, width: float
) -> list[dict[str, Any]]:
    """The line, pale if it has thin bins, and then the segments between other bins at full strength."""
    table = line.result.table
    x, y = rounded_values(table["confidence"]), rounded_values(table["accuracy"])
    thin = table["thin"].to_list()
    shared: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "showlegend": False,
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
    if not any(thin):
        return [{**shared, "x": x or [None], "y": y or [None], "line": style.line(width)}]
    pale = style.line(1.3) | {"color": blend(style.colour, theme.background, _THIN_BIN_OPACITY)}
    solid: list[tuple[float | None, float | None]] = []
    for first, second in pairwise(range(len(thin))):
        if not (thin[first] or thin[second]):
            solid += [(x[first], y[first]), (x[second], y[second]), (None, None)]
    traces = [{**shared, "x": x, "y": y, "line": pale}]
    if solid:
        ends: dict[str, Any] = {"x": [x_ for x_, _ in solid], "y": [y_ for _, y_ in solid]}
        traces.append({**shared, **ends, "line": style.line(width)})
    return traces


def _bin_points(
    result: ReliabilityLines, line: ReliabilityLine, style: SeriesStyle, theme: Theme
) -> list[dict[str, Any]]:
    """A point for each bin, small and hollow if the bin is thin."""
    table = line.result.table
    size = bar_detail(bins_across(table, line.result.scheme)).point_size + 1.5
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
                "hovertext": _hover_texts(line, part),
                "customdata": [[line.key, bin_] for bin_ in part["bin"]],
                "meta": {"line": line.key, "thin": thin, "metric": result.metric},
            }
        )
    return traces


# --- Bars in the place of lines ----------------------------------------------------------------------------

MAX_BINS_AS_BARS: Final = 20
"""More bins than this, of several lines each, have bars too thin to be told apart."""

_GROUP_WIDTH: Final = 0.86
"""Part of a bin's width that its bars fill."""

_PATTERNS: Final = ("", "/", "x", "\\", "-", ".")
"""Plotly's pattern of each line's bars, so that colour does not tell them apart alone; one for each line."""


def allows_bars(result: ReliabilityLines) -> bool:
    """Whether the lines can be bars: they share the edges of a few bins."""
    return result.scheme.binning == "width" and result.scheme.bins <= MAX_BINS_AS_BARS


def _bin_bars(
    result: ReliabilityLines, line: ReliabilityLine, style: SeriesStyle, theme: Theme, place: int
) -> list[dict[str, Any]]:
    """The accuracy in each bin beside that of other lines, as in Figure 1 of the self-consistency paper."""
    table, slot = line.result.table, 1 / result.scheme.bins
    width = _GROUP_WIDTH * slot / len(result.lines)
    pale = blend(style.colour, theme.background, _THIN_BIN_OPACITY)
    marker = {
        "color": style.colour,
        "line": {"color": style.colour, "width": 1},
        "pattern": {
            "shape": _PATTERNS[place % len(_PATTERNS)],
            "fillmode": "overlay",
            "fgcolor": theme.background,
            "fgopacity": 0.75,
            "size": 5,
            "solidity": 0.25,
        },
    }
    bars = {
        "type": "bar",
        "showlegend": False,
        "x": rounded_values(table["low"]),
        "y": rounded_values(table["accuracy"]),
        "offset": round((1 - _GROUP_WIDTH) / 2 * slot + place * width, 6),
        "width": round(width, 6),
        "marker": marker | {"color": [pale if thin else style.colour for thin in table["thin"]]},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": _hover_texts(line, table),
        "customdata": [[line.key, bin_] for bin_ in table["bin"]],
        "meta": {"line": line.key, "metric": result.metric},
    }
    entry = {"type": "bar", "x": [None], "y": [None], "name": escape_for_plotly(_legend_name(result, line))}
    return [entry | {"marker": marker, "hoverinfo": "skip", "showlegend": True}, bars]


def _hover_texts(line: ReliabilityLine, bins: pl.DataFrame) -> list[str]:
    """The hover text of each bin."""
    run, method, terms = truncate_middle(line.run, 60), METHODS[line.method].heading, line.result.terms
    heading = f"<b>{escape_for_plotly(run)}</b><br>{escape_for_plotly(method)}<br>"
    return [
        f"{heading}{escape_for_plotly(str(BinReading(percent, interval)))}: "
        f"{plural(pairs, line.result.pair_unit[:-1])}"
        f"<br>{terms.confidence} {confidence:.3f}, {terms.accuracy} {accuracy:.3f}"
        f"<br>gap {format_signed(gap, '+.3f')}"
        for percent, interval, pairs, confidence, accuracy, gap in bins.select(
            "percent", "interval", "count", "confidence", "accuracy", "gap"
        ).iter_rows()
    ]


def _share_outline(line: ReliabilityLine, style: SeriesStyle) -> list[dict[str, Any]]:
    """The share of the line's own pairs in each bin, as an outline that falls to zero at empty bins."""
    table = line.result.table
    total = int(table["count"].sum())
    if not total:
        return []
    left, right = bar_ends(table, line.result.scheme)
    x: list[float] = []
    y: list[float] = []
    for low, high, pairs in zip(left.tolist(), right.tolist(), table["count"].to_list(), strict=True):
        share = round(pairs / total, 6)
        if not x or low > x[-1] + 1e-9:  # empty bins in between: drop to zero and rise again
            x += [*x[-1:], low]
            y += [0.0] * (2 if len(x) > 1 else 1)
        x += [round(low, 6), round(high, 6)]
        y += [share, share]
    return [
        silent_trace(
            "lines", [*x, x[-1]], [*y, 0.0], yaxis="y2", line=style.line(1.4), meta={"shares": line.key}
        )
    ]


def _share_axis(result: ReliabilityLines, theme: Theme) -> dict[str, Any]:
    """A linear axis from zero; 100 % are all pairs of a line."""
    counts = [line.result.table["count"].to_list() for line in result.lines]
    top = max((max(of_line) / sum(of_line) for of_line in counts if of_line), default=1.0)
    return axis(
        theme, "Share of pairs", domain=_SHARES_DOMAIN, range=[0, 1.08 * top], **share_ticks(1.08 * top, 3)
    )


def describe_lines(result: ReliabilityLines) -> str:
    """Describe the diagram in a few sentences for screen readers, as plain text."""
    descriptions = "; ".join(
        f"{result.labels[line.key]}: {_metric_text(line)}, "
        f"{line.result.terms.accuracy} {_percent_or_unknown(line.result.accuracy)}, "
        f"mean {line.result.terms.confidence} {_percent_or_unknown(line.result.mean_confidence)}, "
        f"{line.result.score.n_used:,} used, "
        f"{plural(line.result.table.height, 'bin')}"
        for line in result.lines
    )
    shared = f", {result.shared_label}" if result.shared_label else ""
    subject = f"{plural(len(result.lines), 'line')}{shared}"
    content = f"{descriptions}." if descriptions else result.headline
    return f"Reliability diagram of {subject}. {content}"


def _percent_or_unknown(value: float | None) -> str:
    return "not known" if value is None else format_percent(value)

"""A metric by group: a row for each group, with a dot and its interval for each series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    flowing_legend,
    flowing_legend_growth,
    flowing_legend_margin,
    legend_entry,
    legend_names,
    silent_trace,
    vertical_line,
)
from calib_core.figures.palette import SeriesStyle, Theme, run_style
from calib_core.figures.text import escape_for_plotly, truncate_middle, wrap_lines
from calib_core.inference.verdict import MIN_ROWS
from calib_core.results.groups import Group, GroupResults
from calib_core.wording import format_interval, format_number, plural, q_value_phrase

_OVERALL_DASH: Final = "6px,4px"
_MAX_GROUP_NAME: Final = 25
"""Characters of a group's name beside the axis; the hover shows more of it."""

_MAX_HEIGHT: Final = 560
"""Largest height in pixels, as far as the dots stay apart: with what is above, it fits a window of 720."""

_MIN_ROW_HEIGHT: Final = 24
_DOT_HEIGHT: Final = 13
_MIN_DOT_HEIGHT: Final = 6
"""Height of a row, at least, and of each dot in it, in pixels; closer dots make a high figure lower."""


def groups_figure(
    result: GroupResults, theme: Theme, style_indices: Mapping[str, int] | None = None
) -> Figure:
    """The groups from top to bottom in their order, with the number of rows at the right edge.

    Each dot has its interval as whiskers and is hollow if it rests on few rows. A short vertical stroke marks
    the median under perfect calibration, a dashed vertical line the value of a whole run.

    Parameters
    ----------
    result : GroupResults
        The groups.
    theme : Theme
        Colours.
    style_indices : Mapping[str, int], optional
        Series that is a run → index of the run among all loaded runs. A series that is missing takes its own
        index.
    """
    names = list(dict.fromkeys(group.name for group in result.groups))
    row_of_name = {name: row for row, name in enumerate(names)}
    offsets = _series_offsets(result)
    data: list[dict[str, Any]] = []
    styles = _series_styles(result, theme, style_indices or {})
    positions = {group: row_of_name[group.name] + offsets[group.series] for group in result.groups}
    plotted = [group for group in result.groups if _is_finite(group.value)]
    if with_null := [group for group in plotted if group.null_median is not None]:
        data.append(_null_median_trace(with_null, theme, positions))
    by_series = {id_: [group for group in plotted if group.series == id_] for id_ in result.series}
    data += [
        _series_trace(result, groups, styles[id_], positions) for id_, groups in by_series.items() if groups
    ]
    overall_lines = _overall_lines(result, styles)
    if overall_lines:
        line = {"color": theme.muted_text, "width": 1.6, "dash": _OVERALL_DASH}
        data.append(legend_entry("whole run", "lines", line=line, legendrank=1002))
    top = flowing_legend_margin(legend_names(data))
    growth = flowing_legend_growth(legend_names(data))
    row_height = _row_height(len(names), len(offsets) if any(offsets.values()) else 1, top, growth)
    layout = base_layout(
        theme,
        height=top + BOTTOM_MARGIN + row_height * max(len(names), 2),
        top=top,
    )
    layout["legend"] |= {"y": 1, **flowing_legend(legend_names(data))}
    layout["margin"] |= {"l": 8, "r": 52}
    title = result.worded_metric.title
    return {
        "data": [*data, _count_axis_trace(names)] if names else [empty_trace()],
        "layout": layout
        | {
            "hovermode": "closest",
            "xaxis": axis(
                theme,
                title,
                standoff=6,
                range=_value_range(result),
                nticks=6,
                tickformat="~g",
                zeroline=True,
                zerolinecolor=theme.axis_line,
            ),
            "yaxis": _group_axis(theme, names),
            "yaxis2": _count_axis(theme, result, names),
            "shapes": overall_lines,
            "annotations": []
            if names
            else [
                annotation(
                    theme, wrap_lines(result.headline, 40), xref="x domain", yref="y domain", x=0.5, y=0.6
                )
            ],
        },
    }


def _row_height(n_rows: int, dots_per_row: int, top: int, growth: int) -> int:
    """Height of each row in pixels, such that the figure fits a window as far as its dots stay apart.

    They stay apart on a phone, too, where the legend takes `growth` pixels from all rows together.
    """
    rows = max(n_rows, 2)
    room = (_MAX_HEIGHT - top - BOTTOM_MARGIN) // rows
    lowest, highest = (
        max(_MIN_ROW_HEIGHT, 8 + dot_height * dots_per_row) for dot_height in (_MIN_DOT_HEIGHT, _DOT_HEIGHT)
    )
    return max(lowest, min(highest + math.ceil(growth / rows), room))


def _series_offsets(result: GroupResults) -> dict[str, float]:
    """Vertical offset of each series from the middle of its row; 0 where a row has one dot."""
    n_series = 1 if result.group_by.target == "runs" else len(result.series)
    if n_series < 2:
        return dict.fromkeys(result.series, 0.0)
    return {id_: 0.66 * (index - (n_series - 1) / 2) / n_series for index, id_ in enumerate(result.series)}


def _series_styles(
    result: GroupResults, theme: Theme, style_indices: Mapping[str, int]
) -> dict[str, SeriesStyle]:
    """The style of each series."""
    return {
        series: run_style(style_indices.get(series, index), theme)
        for index, series in enumerate(result.series)
    }


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _series_trace(
    result: GroupResults, groups: Sequence[Group], style: SeriesStyle, positions: Mapping[Group, float]
) -> dict[str, Any]:
    """The dots of one series, with their whiskers."""
    colour, symbol = style.colour, style.symbol
    return {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "name": escape_for_plotly(truncate_middle(result.series[groups[0].series], 46)),
        "x": [round(group.value or 0.0, 7) for group in groups],
        "y": [positions[group] for group in groups],
        "marker": {
            "size": 10,
            "color": colour,
            "line": {"color": colour, "width": 1.6},
            "symbol": [f"{symbol}-open" if group.has_few_rows else symbol for group in groups],
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "color": colour,
            "thickness": 1.6,
            "width": 3,
            "array": [_whisker_length(group.high, group.value) for group in groups],
            "arrayminus": [_whisker_length(group.value, group.low) for group in groups],
        },
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": [_hover_text(group, result) for group in groups],
        "customdata": [[group.run, group.name] for group in groups],
    }


def _null_median_trace(
    groups: Sequence[Group], theme: Theme, positions: Mapping[Group, float]
) -> dict[str, Any]:
    """A stroke at each group's median under perfect calibration."""
    return silent_trace(
        "markers",
        [round(group.null_median or 0.0, 7) for group in groups],
        [positions[group] for group in groups],
        cliponaxis=False,
        name="calibrated model: median",
        legendrank=1001,
        marker={"symbol": "line-ns", "size": 11, "line": {"color": theme.muted_text, "width": 2}},
        unselected={"marker": {"opacity": 1}},
    )


def _whisker_length(high: float | None, low: float | None) -> float:
    return 0.0 if high is None or low is None else max(0.0, high - low)


def _hover_text(group: Group, result: GroupResults) -> str:
    """The hover text of a dot."""
    text = f"<b>{escape_for_plotly(truncate_middle(group.name, 80))}</b>"
    text += f"<br>{escape_for_plotly(truncate_middle(result.series[group.series], 60))}"
    text += f"<br>{result.worded_metric.title} {format_number(group.value)}"
    if group.low is not None and group.high is not None:
        text += f" ({format_interval(group.low, group.high)})"
    if group.null_median is not None:
        text += f"<br>calibrated model {format_number(group.null_median)}"
    text += f"<br>n = {group.n_used:,}{', few' if group.has_few_rows else ''}"
    q = q_value_phrase(group.q)
    return f"{text}<br>{group.verdict.words}{f' ({q})' if q else ''}"


def _count_axis_trace(names: Sequence[str]) -> dict[str, Any]:
    """A trace without a visible point, without which plotly would not draw the axis of counts."""
    return silent_trace("markers", [None] * len(names), list(range(len(names))), yaxis="y2")


def _group_axis(theme: Theme, names: Sequence[str]) -> dict[str, Any]:
    return axis(
        theme,
        range=[len(names) - 0.4, -0.6],
        tickvals=list(range(len(names))),
        automargin=True,
        ticktext=[escape_for_plotly(truncate_middle(name, _MAX_GROUP_NAME)) for name in names],
        ticks="",
    )


def _count_axis(theme: Theme, result: GroupResults, names: Sequence[str]) -> dict[str, Any]:
    """The number of rows of each group, at the right; a range, "200–431", where the series differ."""
    counts = {name: [group.n_used for group in result.groups if group.name == name] for name in names}
    labels = [
        f"{min(of_name):,}" if min(of_name) == max(of_name) else f"{min(of_name):,}–{max(of_name):,}"
        for of_name in counts.values()
    ]
    return axis(
        theme,
        range=[len(names) - 0.4, -0.6],
        overlaying="y",
        side="right",
        showgrid=False,
        ticks="",
        tickvals=list(range(len(names))),
        ticktext=[f"n = {label}" for label in labels],
        automargin=True,
    )


def _overall_lines(result: GroupResults, styles: Mapping[str, SeriesStyle]) -> list[dict[str, Any]]:
    """A dashed vertical line at the value of each whole run, in the run's colour."""
    return [
        vertical_line(value, **styles[series].line(1.6) | {"dash": _OVERALL_DASH})
        for series in result.series
        if (value := result.overall.get(series)) is not None and math.isfinite(value)
    ]


def _value_range(result: GroupResults) -> list[float]:
    """The range of the axis: from zero, or below it, to beyond the longest whisker."""
    ends = [
        end
        for group in result.groups
        for end in (group.value, group.low, group.high, group.null_median)
        if end is not None and _is_finite(end)
    ]
    low, high = min([0.0, *ends]), max(ends, default=1.0)
    padding = 0.05 * (high - low) or 0.05
    return [low - padding if low < 0 else -padding / 2, high + padding]


def describe_groups(result: GroupResults) -> str:
    """Describe the figure in a few sentences for screen readers, as plain text."""
    plotted = [group for group in result.groups if _is_finite(group.value)]
    n_small, n_names = sum(group.has_few_rows for group in plotted), len({group.name for group in plotted})
    small_note = f", {n_small} of them on fewer than {MIN_ROWS} rows" if n_small else ""
    return (
        f"{result.worded_metric.title} by {result.group_by.title}, "
        f"{plural(n_names, 'group' if result.group_by.target == 'rows' else 'run')}, "
        f"{plural(len(plotted), 'number')}{small_note}. {result.headline}"
    )

"""A metric over the checkpoints of a training: a line for each model, over tokens seen or steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.figures.layout import (
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    legend_margin,
    legend_names,
)
from calib_core.figures.marks import band_legend_entry, band_trace, median_line, selection_ring
from calib_core.figures.palette import SeriesStyle, Theme, run_style
from calib_core.figures.text import escape_for_plotly, truncate_middle, wrap_lines
from calib_core.results.training import STEPS_AXIS, Checkpoint, Training, TrainingLine
from calib_core.wording import (
    NOT_DEFINED,
    compact_count,
    format_interval,
    format_number,
    format_significant,
    plural,
    q_value_phrase,
)

# --- The axis of training progress -------------------------------------------------------------------------

MAX_LINEAR_DECADES: Final = 1.5
"""A training that spans more powers of ten than this has a logarithmic axis."""

_MIN_TICK_DISTANCE: Final = 0.13
"""The least distance of two ticks as a fraction of the axis: closer ones would have overlapping labels."""

_MIN_TICK_DISTANCE_NARROW: Final = 0.22
"""The same in a panel of a third of the page's width."""


def progress_text(progress: float) -> str:
    """A step or a number of tokens in at most four digits.

    Examples
    --------
    >>> progress_text(8000), progress_text(3e11)
    ('8,000', '300B')
    """
    return compact_count(round(progress))


def axis_positions(progresses: Sequence[float]) -> dict[float, float]:
    """The position of each checkpoint on the axis.

    Positions are decimal logarithms where the values above zero span more than `MAX_LINEAR_DECADES`, and zero
    is put one third of a decade left of the first. Otherwise they are the values themselves.

    Parameters
    ----------
    progresses : Sequence[float]
        Steps or tokens seen, each 0 or more.

    Returns
    -------
    dict[float, float]
        Progress → position.

    Examples
    --------
    >>> axis_positions([0, 10, 20])
    {0: 0, 10: 10, 20: 20}
    >>> axis_positions([10, 100, 1000])
    {10: 1.0, 100: 2.0, 1000: 3.0}
    """
    positive = sorted({progress for progress in progresses if progress > 0})
    if not positive or math.log10(positive[-1] / positive[0]) <= MAX_LINEAR_DECADES:
        return {progress: progress for progress in progresses}
    zero = math.log10(positive[0]) - 1 / 3
    return {progress: math.log10(progress) if progress > 0 else zero for progress in progresses}


def training_axis(
    theme: Theme, title: str, positions: dict[float, float], min_distance: float = _MIN_TICK_DISTANCE
) -> dict[str, Any]:
    """The axis of training progress, with ticks at checkpoints.

    The last checkpoint always has a tick; those too close to the tick after them have none.

    Parameters
    ----------
    theme : Theme
        Colours.
    title : str
        What progress is measured in.
    positions : dict[float, float]
        Progress → position, from `axis_positions`.
    min_distance : float
        The least distance of two ticks as a fraction of the axis.
    """
    if not positions:
        return axis(theme, title, standoff=6, range=[0, 1], showticklabels=False)
    log = any(position != progress for progress, position in positions.items())
    low, high = min(positions.values()), max(positions.values())
    padding = 0.04 * (high - low) or max(0.1 * abs(high), 0.5)
    least = min_distance * (high - low + 2 * padding)
    ticks: list[float] = []
    for progress in sorted(positions, reverse=True):
        if not ticks or positions[ticks[-1]] - positions[progress] >= least:
            ticks.append(progress)
    ticks.reverse()
    return axis(
        theme,
        f"{title} (log)" if log else title,
        standoff=6,
        range=[low - padding, high + padding],
        tickvals=[positions[progress] for progress in ticks],
        ticktext=[progress_text(progress) for progress in ticks],
    )


# --- The figure --------------------------------------------------------------------------------------------

_PANEL_HEIGHT: Final = 340
"""Height of the panel with its lower margin, in pixels."""

_LEGEND_SPARE: Final = 14
"""Pixels above the legend of panels beside each other, so that plotly moves none of them down."""

_MAX_LINE_NAME: Final = 46
"""Characters of a line's name in the legend."""


def training_figure(
    result: Training,
    theme: Theme,
    *,
    selected: str | None = None,
    style_indices: Mapping[str, int] | None = None,
    narrow: bool = False,
) -> Figure:
    """The metric over tokens seen or steps, with the null band of each line.

    Parameters
    ----------
    result : Training
        The checkpoints by model.
    theme : Theme
        Colours.
    selected : str, optional
        Key of the run to ring. A key of no checkpoint has no effect.
    style_indices : Mapping[str, int], optional
        Run key → index of the run among all loaded runs. A line consists of many runs and has the style of
        the last one, the trained model.
    narrow : bool
        Whether other metrics stand beside: fewer ticks, and a legend of the same height in each panel.

    Notes
    -----
    The `customdata` of points that receive hover and click has rows that begin with the run's key.
    """
    lines = [line for line in result.lines if line.points]
    positions = axis_positions([point.position for line in lines for point in line.points])
    data: list[dict[str, Any]] = []
    styles = [
        run_style((style_indices or {}).get(line.points[-1].run, index), theme)
        for index, line in enumerate(lines)
    ]
    for line, style in zip(lines, styles, strict=True):
        data += _line_traces(line, theme, style, positions)
    data += [
        selection_ring(positions[point.position], point.value, theme)
        for line in lines
        for point in line.points
        if point.run == selected and point.value is not None
    ]
    if has_band(result):
        data.append(band_legend_entry(theme, colours=[style.colour for style in styles]))
    names = legend_names(data)
    if narrow and not has_band(result):
        names += legend_names([band_legend_entry(theme)])  # room for the entry that other panels have
    top, one_per_line = legend_margin(names, one_per_line=True)
    top += _LEGEND_SPARE if narrow else 0
    layout = base_layout(theme, height=_PANEL_HEIGHT + top, top=top, one_per_line=one_per_line)
    return {
        "data": data or [empty_trace()],
        "layout": layout
        | {
            "hovermode": "closest",
            "showlegend": narrow or len(names) > 1,
            "xaxis": training_axis(
                theme, result.axis, positions, _MIN_TICK_DISTANCE_NARROW if narrow else _MIN_TICK_DISTANCE
            ),
            "yaxis": _value_axis(result, theme, lines),
            "annotations": []
            if lines
            else [
                annotation(
                    theme,
                    wrap_lines(result.headline or "No checkpoint.", 40),
                    xref="x domain",
                    yref="y domain",
                    x=0.5,
                    y=0.6,
                )
            ],
        },
    }


def has_band(result: Training) -> bool:
    """Whether a line has the band of a calibrated model."""
    return any(_points_with_null(line) for line in result.lines)


def _points_with_null(line: TrainingLine) -> list[Checkpoint]:
    return [point for point in line.informative_points if point.null_median is not None]


def _line_traces(
    line: TrainingLine, theme: Theme, style: SeriesStyle, positions: dict[float, float]
) -> list[dict[str, Any]]:
    """The null band and median, the line with its points, and those beside it that say nothing, hollow."""
    traces: list[dict[str, Any]] = []
    if with_null := _points_with_null(line):
        x = [positions[point.position] for point in with_null]
        low = [point.null_low or 0.0 for point in with_null]
        high = [point.null_high or 0.0 for point in with_null]
        traces.append(band_trace(x, low, high, style.colour))
        traces.append(median_line(x, [point.null_median or 0.0 for point in with_null], style.colour))
    plotted = [point for point in line.points if point.value is not None and math.isfinite(point.value)]
    told = [point for point in plotted if not point.is_one_bin]
    marker = style.marker(theme, 10)
    traces.append(
        {
            "mode": "lines+markers",
            "name": escape_for_plotly(_short_title(line.title)),
            "line": style.line(),
            "marker": marker,
            **_points_trace(line, told, positions),
        }
    )
    if hollow := [point for point in plotted if point.is_one_bin]:
        open_marker = {"symbol": f"{style.symbol}-open", "line": {"color": style.colour, "width": 1.6}}
        traces.append(
            {
                "mode": "markers",
                "showlegend": False,
                "marker": marker | open_marker,
                **_points_trace(line, hollow, positions),
            }
        )
    return traces


def _points_trace(
    line: TrainingLine, points: Sequence[Checkpoint], positions: dict[float, float]
) -> dict[str, Any]:
    """Where these checkpoints are, and what pointing at them and clicking them gives."""
    return {
        "type": "scatter",
        "cliponaxis": False,
        "x": [positions[point.position] for point in points] or [None],
        "y": [round(point.value or 0.0, 7) for point in points] or [None],
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": [_hover_text(line, point) for point in points],
        "customdata": [[point.run] for point in points],
    }


def _short_title(title: str) -> str:
    return truncate_middle(title, _MAX_LINE_NAME)


def _hover_text(line: TrainingLine, point: Checkpoint) -> str:
    """The hover text of a checkpoint."""
    text = f"<b>{escape_for_plotly(_short_title(line.title))}</b>"
    text += f"<br>{escape_for_plotly(_short_title(point.label))}"
    text += f"<br>{format_number(point.value, '.4g')}"
    if point.is_one_bin:
        return f"{text}<br>all probabilities lie in one bin"
    if point.null_median is not None:
        text += f"<br>calibrated model {format_number(point.null_median, '.4g')}"
        text += f" ({format_interval(point.null_low, point.null_high, '.4g')})"
    q = q_value_phrase(point.q)
    return f"{text}<br>{point.verdict.words}{f' ({q})' if q else ''}"


def _value_axis(result: Training, theme: Theme, lines: Sequence[TrainingLine]) -> dict[str, Any]:
    """The vertical axis: from zero, or from below the lowest value with a line at zero."""
    metric = result.worded_metric
    values = [
        value
        for line in lines
        for point in line.points
        for value in (point.value, point.null_high, point.null_low)
        if value is not None and math.isfinite(value)
    ]
    high, low = max(values, default=1.0), min(values, default=0.0)
    padding = 0.1 * (high - min(low, 0.0)) or 0.1
    scale = " (possible range 0 to 2)" if metric.high == 2 else ""
    bottom = low - padding if low < 0 else 0.0
    return axis(
        theme,
        f"{metric.title}{scale}",
        range=[bottom, high + padding],
        nticks=7,
        tickformat="~g",
        zeroline=low < 0,
        zerolinecolor=theme.axis_line,
    )


def describe_training(result: Training) -> str:
    """Describe the figure in one sentence for screen readers, as plain text."""
    descriptions = [
        f"{line.title}: {_first_to_last(line, result.axis)}, {plural(len(line.points), 'checkpoint')}"
        for line in result.lines
        if line.points
    ]
    progress = result.axis[0].lower() + result.axis[1:]
    return f"{result.worded_metric.title} over {progress}. {'; '.join(descriptions) or 'No checkpoint'}."


def _first_to_last(line: TrainingLine, axis_title: str) -> str:
    """The first and last value, such as "0.3000 at step 10 to 0.0500 at step 100", or the only one."""
    points = line.informative_points or line.points
    first_and_last = points[:: max(len(points) - 1, 1)]
    return " to ".join(_checkpoint_text(point, axis_title) for point in first_and_last)


def _checkpoint_text(point: Checkpoint, axis_title: str) -> str:
    value = NOT_DEFINED if point.value is None else format_significant(point.value)
    where = (
        f"step {progress_text(point.position)}"
        if axis_title == STEPS_AXIS
        else f"{progress_text(point.position)} tokens"
    )
    return f"{value} at {where}"

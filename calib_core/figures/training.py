"""How is it drawn that a metric changes as training goes on?  One result → one line a model."""

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
from calib_core.figures.text import compact_count, escape_for_plotly, truncate_middle
from calib_core.figures.text import wrap_lines as broken
from calib_core.metrics import METRICS
from calib_core.results.training import STEPS_AXIS, Checkpoint, Training, TrainingLine
from calib_core.wording import NOT_DEFINED, format_interval, format_number, p_value_phrase, plural

# MERGED training_axis: How is the way of a training drawn as an axis: tokens seen, or steps?

MAX_LINEAR_DECADES: Final = 1.5
"""A training that spans more powers of ten is drawn on a logarithmic axis."""

_MIN_TICK_DISTANCE: Final = 0.13
"""Ticks nearer than this part of the axis would have their numbers run into one another."""


def progress_text(progress: float) -> str:
    """ "8,000", "12.3k", "300B": a step or a number of tokens in four digits at most."""
    return compact_count(round(progress))


def axis_positions(progresses: Sequence[float]) -> dict[float, float]:
    """Where each place of the training is drawn; the axis is linear in these.

    Decimal logarithms where the places above zero span more than `DECADES`, and then zero, which has
    none, stands one third of a decade left of the first. Else the places themselves.
    """
    above = sorted({at for at in progresses if at > 0})
    if not above or math.log10(above[-1] / above[0]) <= MAX_LINEAR_DECADES:
        return {at: at for at in progresses}
    start = math.log10(above[0]) - 1 / 3
    return {at: math.log10(at) if at > 0 else start for at in progresses}


def training_axis(theme: Theme, title: str, positions: dict[float, float]) -> dict[str, Any]:
    """The axis with ticks at checkpoints, crowded ones left out; the last always has one."""
    if not positions:
        return axis(theme, title, standoff=6, range=[0, 1], showticklabels=False)
    log = any(drawn != at for at, drawn in positions.items())
    low, high = min(positions.values()), max(positions.values())
    room = 0.04 * (high - low) or max(0.1 * abs(high), 0.5)
    ticks: list[float] = []
    for at in sorted(positions, reverse=True):
        if not ticks or positions[ticks[-1]] - positions[at] >= _MIN_TICK_DISTANCE * (high - low + 2 * room):
            ticks.append(at)
    return axis(
        theme,
        f"{title} (log)" if log else title,
        standoff=6,
        range=[low - room, high + room],
        tickvals=[positions[at] for at in reversed(ticks)],
        ticktext=[progress_text(at) for at in reversed(ticks)],
    )


_PANEL_HEIGHT: Final = 340
"""Pixels of the panel with its lower margin."""

_MAX_LINE_NAME: Final = 46
"""Letters of a line's name in the legend."""


def training_figure(
    result: Training,
    theme: Theme,
    *,
    selected: str | None = None,
    style_indices: Mapping[str, int] | None = None,
) -> Figure:
    """The metric against tokens seen or step, with the null band of each line below it.

    selected: key of the run to ring, without effect where it is no point; places: run key → its place among
    all at hand: a line is many runs, and looks as the last of them, the trained model, does. Every point that
    takes hover and click has `customdata` rows that begin with the run's key.
    """
    drawn = [line for line in result.lines if line.points]
    across = axis_positions([point.at for line in drawn for point in line.points])
    data: list[dict[str, Any]] = []
    for at, line in enumerate(drawn):
        look = run_style((style_indices or {}).get(line.points[-1].run, at), theme)
        data += _line_traces(line, theme, look, across)
    chosen = [point for line in drawn for point in line.points if point.run == selected]
    data += [selection_ring(across[one.at], one.value, theme) for one in chosen if one.value is not None]
    if any(_points_with_null(line) for line in drawn):
        data.append(band_legend_entry(theme))
    top, alone = legend_margin(legend_names(data), one_per_line=True)
    layout = base_layout(theme, height=_PANEL_HEIGHT + top, top=top, one_per_line=alone)
    return {
        "data": data or [empty_trace()],
        "layout": layout
        | {
            "hovermode": "closest",
            "xaxis": training_axis(theme, result.axis, across),
            "yaxis": _value_axis(result, theme, drawn),
            "annotations": []
            if drawn
            else [
                annotation(
                    theme,
                    broken(result.headline or "No checkpoint.", 40),
                    xref="x domain",
                    yref="y domain",
                    x=0.5,
                    y=0.6,
                )
            ],
        },
    }


def _points_with_null(line: TrainingLine) -> list[Checkpoint]:
    return [point for point in line.points if point.null_median is not None]


def _line_traces(
    line: TrainingLine, theme: Theme, style: SeriesStyle, positions: dict[float, float]
) -> list[dict[str, Any]]:
    """Null band and median below, then the points, joined."""
    traces: list[dict[str, Any]] = []
    if known := _points_with_null(line):
        x = [positions[point.at] for point in known]
        low = [point.null_low or 0.0 for point in known]
        high = [point.null_high or 0.0 for point in known]
        traces.append(band_trace(x, low, high, style.colour))
        traces.append(median_line(x, [point.null_median or 0.0 for point in known], style.colour))
    own = [point for point in line.points if point.value is not None and math.isfinite(point.value)]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "cliponaxis": False,
            "name": escape_for_plotly(_short_title(line.title)),
            "x": [positions[point.at] for point in own] or [None],
            "y": [round(point.value or 0.0, 7) for point in own] or [None],
            "line": style.line(),
            "marker": style.marker(theme, 10),
            "unselected": {"marker": {"opacity": 1}},
            "hoverinfo": "text",
            "hovertext": [_hover_text(line, point) for point in own],
            "customdata": [[point.run] for point in own],
        }
    )
    return traces


def _short_title(title: str) -> str:
    return truncate_middle(title, _MAX_LINE_NAME)


def _hover_text(line: TrainingLine, point: Checkpoint) -> str:
    """What the hover says of a checkpoint."""
    told = f"<b>{escape_for_plotly(_short_title(line.title))}</b><br>{escape_for_plotly(_short_title(point.label))}"
    told += f"<br>{format_number(point.value, '.4g')}"
    if point.null_median is not None:
        told += f"<br>if calibrated {format_number(point.null_median, '.4g')}"
        told += f" ({format_interval(point.null_low, point.null_high, '.4g')})"
    p = p_value_phrase(point.p, point.draws)
    return f"{told}<br>{p}" if p else told


def _value_axis(result: Training, theme: Theme, lines: Sequence[TrainingLine]) -> dict[str, Any]:
    """From zero for a metric that has a floor there; with a line at zero for one that goes below."""
    metric = METRICS[result.metric]
    values = [
        value
        for line in lines
        for point in line.points
        for value in (point.value, point.null_high, point.null_low)
        if value is not None and math.isfinite(value)
    ]
    high, low = max(values, default=1.0), min(values, default=0.0)
    room = 0.1 * (high - min(low, 0.0)) or 0.1
    scale = " (scale 0 to 2)" if metric.high == 2 else ""
    below = low - room if low < 0 else 0.0
    return axis(
        theme,
        f"{metric.title}{scale}",
        range=[below, high + room],
        nticks=7,
        tickformat="~g",
        zeroline=low < 0,
        zerolinecolor=theme.axis_line,
    )


def describe_training(result: Training) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = [
        f"{line.title}: {_first_to_last(line, result.axis)}, {plural(len(line.points), 'checkpoint')}"
        for line in result.lines
        if line.points
    ]
    over = result.axis[0].lower() + result.axis[1:]
    return f"{METRICS[result.metric].title} over {over}. {'; '.join(told) or 'No checkpoint'}."


def _first_to_last(line: TrainingLine, axis_title: str) -> str:
    """ "0.3000 at step 10 to 0.0500 at step 100"; of one checkpoint its number."""
    ends = line.points[:: max(len(line.points) - 1, 1)]
    return " to ".join(_checkpoint_text(point, axis_title) for point in ends)


def _checkpoint_text(point: Checkpoint, axis_title: str) -> str:
    value = format_number(point.value, missing=NOT_DEFINED)
    where = (
        f"step {progress_text(point.at)}" if axis_title == STEPS_AXIS else f"{progress_text(point.at)} tokens"
    )
    return f"{value} at {where}"

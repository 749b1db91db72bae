"""How is it drawn that a metric changes as training goes on?  One result → one line a model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.analysis.checkpoints import PER_STEP
from calib_core.analysis.training import Checkpoint, Line, Training
from calib_core.figures.layout import Figure, axis, legend_names, legend_room, note, nothing, paper
from calib_core.figures.run_look import run_look
from calib_core.figures.strokes import Look, band, band_entry, middle, ring
from calib_core.figures.text import lines as broken
from calib_core.figures.text import plain, without_middle
from calib_core.figures.theme import Theme
from calib_core.figures.training_axis import at_text, positions, training_axis
from calib_core.metrics import METRICS
from calib_core.wording import UNDEFINED, chance, count, number, span

_PLOT: Final = 340
"""Pixels of the panel with its lower margin."""

_NAME: Final = 46
"""Letters of a line's name in the legend."""


def training_figure(
    result: Training, theme: Theme, *, selected: str | None = None, places: Mapping[str, int] | None = None
) -> Figure:
    """The metric against tokens seen or step, with the null band of each line below it.

    selected: key of the run to ring, without effect where it is no point; places: run key → its place among
    all at hand: a line is many runs, and looks as the last of them, the trained model, does. Every point that
    takes hover and click has `customdata` rows that begin with the run's key.
    """
    drawn = [line for line in result.lines if line.points]
    across = positions([point.at for line in drawn for point in line.points])
    data: list[dict[str, Any]] = []
    for at, line in enumerate(drawn):
        look = run_look((places or {}).get(line.points[-1].run, at), theme)
        data += _line(line, theme, look, across)
    chosen = [point for line in drawn for point in line.points if point.run == selected]
    data += [ring(across[one.at], one.value, theme) for one in chosen if one.value is not None]
    if any(_null(line) for line in drawn):
        data.append(band_entry(theme))
    top, alone = legend_room(legend_names(data), alone=True)
    layout = paper(theme, height=_PLOT + top, top=top, alone=alone)
    return {
        "data": data or [nothing()],
        "layout": layout | {
            "hovermode": "closest",
            "xaxis": training_axis(theme, result.axis, across),
            "yaxis": _value_axis(result, theme, drawn),
            "annotations": [] if drawn else [
                note(
                    theme, broken(result.reading or "No checkpoint.", 40), xref="x domain", yref="y domain",
                    x=0.5, y=0.6,
                )
            ],
        },
    }


def _null(line: Line) -> list[Checkpoint]:
    return [point for point in line.points if point.null_median is not None]


def _line(line: Line, theme: Theme, look: Look, places: dict[float, float]) -> list[dict[str, Any]]:
    """Null band and median below, then the points, joined."""
    traces: list[dict[str, Any]] = []
    if known := _null(line):
        x = [places[point.at] for point in known]
        low = [point.null_low or 0.0 for point in known]
        high = [point.null_high or 0.0 for point in known]
        traces.append(band(x, low, high, look.colour))
        traces.append(middle(x, [point.null_median or 0.0 for point in known], look.colour))
    own = [point for point in line.points if point.value is not None and math.isfinite(point.value)]
    traces.append({
        "type": "scatter", "mode": "lines+markers", "cliponaxis": False, "name": plain(_short(line.title)),
        "x": [places[point.at] for point in own] or [None],
        "y": [round(point.value or 0.0, 7) for point in own] or [None],
        "line": look.line(), "marker": look.marker(theme, 10),
        "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [_words(line, point) for point in own],
        "customdata": [[point.run] for point in own],
    })
    return traces


def _short(title: str) -> str:
    return without_middle(title, _NAME)


def _words(line: Line, point: Checkpoint) -> str:
    """What the hover says of a checkpoint."""
    told = f"<b>{plain(_short(line.title))}</b><br>{plain(_short(point.label))}"
    told += f"<br>{number(point.value, '.4g')}"
    if point.null_median is not None:
        told += f"<br>if calibrated {number(point.null_median, '.4g')}"
        told += f" ({span(point.null_low, point.null_high, '.4g')})"
    p = chance(point.p, point.draws)
    return f"{told}<br>{p}" if p else told


def _value_axis(result: Training, theme: Theme, drawn: Sequence[Line]) -> dict[str, Any]:
    """From zero for a metric that has a floor there; with a line at zero for one that goes below."""
    metric = METRICS[result.metric]
    values = [
        value
        for line in drawn
        for point in line.points
        for value in (point.value, point.null_high, point.null_low)
        if value is not None and math.isfinite(value)
    ]
    high, low = max(values, default=1.0), min(values, default=0.0)
    room = 0.1 * (high - min(low, 0.0)) or 0.1
    scale = " (scale 0 to 2)" if metric.high == 2 else ""
    below = low - room if low < 0 else 0.0
    return axis(
        theme, f"{metric.title}{scale}", range=[below, high + room], nticks=7, tickformat="~g",
        zeroline=low < 0, zerolinecolor=theme.line,
    )


def describe_training(result: Training) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = [
        f"{line.title}: {_way(line, result.axis)}, {count(len(line.points), 'checkpoint')}"
        for line in result.lines
        if line.points
    ]
    over = result.axis[0].lower() + result.axis[1:]
    return f"{METRICS[result.metric].title} over {over}. {'; '.join(told) or 'No checkpoint'}."


def _way(line: Line, over: str) -> str:
    """"0.3000 at step 10 to 0.0500 at step 100"; of one checkpoint its number."""
    ends = line.points[:: max(len(line.points) - 1, 1)]
    return " to ".join(_end(point, over) for point in ends)


def _end(point: Checkpoint, over: str) -> str:
    value = number(point.value, none=UNDEFINED)
    where = f"step {at_text(point.at)}" if over == PER_STEP else f"{at_text(point.at)} tokens"
    return f"{value} at {where}"

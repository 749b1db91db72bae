"""How are the numbers of many groups drawn, so that none hides another?  A row a group, a dot a series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.analysis.groups import Group, Groups
from calib_core.analysis.limits import FEW
from calib_core.figures.layout import (
    BOTTOM,
    Figure,
    axis,
    legend_names,
    legend_room,
    note,
    nothing,
    paper,
)
from calib_core.figures.run_look import run_look
from calib_core.figures.strokes import Look
from calib_core.figures.text import lines as broken
from calib_core.figures.text import plain, without_middle
from calib_core.figures.theme import Theme
from calib_core.metrics import METRICS
from calib_core.wording import count, number, span

_NAME: Final = 25
"""Letters of a group's name beside the axis; the hover has all of it."""

_LEAST: Final = 24
_EACH: Final = 13
"""Pixels of a row, and of each dot in it."""


def dots_figure(result: Groups, theme: Theme, places: Mapping[str, int] | None = None) -> Figure:
    """The groups from top to bottom in their order, counts at the right edge.

    A dot has its interval as whiskers; one of few rows is hollow; a short upright stroke is where the number
    would lie if the confidences were exactly right; an upright line is the value of the whole run. places:
    series that are runs → the run's place among all at hand; others take theirs here.
    """
    names = list(dict.fromkeys(group.name for group in result.groups))
    place = {name: at for at, name in enumerate(names)}
    offsets = _offsets(result)
    data: list[dict[str, Any]] = []
    looks = _looks(result, theme, places or {})
    spots = {group: place[group.name] + offsets[group.series] for group in result.groups}
    drawn = [group for group in result.groups if _finite(group.value)]
    if stroked := [group for group in drawn if group.null_median is not None]:
        data.append(_strokes(stroked, theme, spots))
    by_series = {id_: [group for group in drawn if group.series == id_] for id_ in result.series}
    data += [_series(result, own, looks[id_], spots) for id_, own in by_series.items() if own]
    top, alone = legend_room(legend_names(data), alone=True)
    row = max(_LEAST, 8 + _EACH * (len(offsets) if any(offsets.values()) else 1))
    layout = paper(theme, height=top + BOTTOM + row * max(len(names), 2), top=top, alone=alone)
    layout["legend"] |= {"y": 1, "yref": "paper", "yanchor": "bottom"}
    layout["margin"] |= {"l": 8, "r": 52}
    title = METRICS[result.metric].title
    return {
        "data": [*data, _counts(names)] if names else [nothing()],
        "layout": layout | {
            "hovermode": "closest",
            "xaxis": axis(theme, title, standoff=6, range=_range(result), nticks=6, tickformat="~g",
                          zeroline=True, zerolinecolor=theme.line),
            "yaxis": _names_axis(theme, names),
            "yaxis2": _counts_axis(theme, result, names),
            "shapes": _overall(result, looks),
            "annotations": [] if names else [
                note(theme, broken(result.reading, 40), xref="x domain", yref="y domain", x=0.5, y=0.6)
            ],
        },
    }


def _offsets(result: Groups) -> dict[str, float]:
    """How far each series stands from the middle of its row; in the middle where a row has one dot."""
    series = 1 if result.grouping.of == "runs" else len(result.series)
    if series < 2:
        return dict.fromkeys(result.series, 0.0)
    return {id_: 0.66 * (at - (series - 1) / 2) / series for at, id_ in enumerate(result.series)}


def _looks(result: Groups, theme: Theme, places: Mapping[str, int]) -> dict[str, Look]:
    """Series → its colour and symbol."""
    return {series: run_look(places.get(series, at), theme) for at, series in enumerate(result.series)}


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _series(result: Groups, own: Sequence[Group], look: Look, spots: Mapping[Group, float]) -> dict[str, Any]:
    """The dots of one series, with their whiskers."""
    colour, symbol = look.colour, look.symbol
    return {
        "type": "scatter", "mode": "markers", "cliponaxis": False,
        "name": plain(without_middle(result.series[own[0].series], 46)),
        "x": [round(group.value or 0.0, 7) for group in own], "y": [spots[group] for group in own],
        "marker": {
            "size": 10, "color": colour, "line": {"color": colour, "width": 1.6},
            "symbol": [f"{symbol}-open" if group.small else symbol for group in own],
        },
        "error_x": {
            "type": "data", "symmetric": False, "color": colour, "thickness": 1.6, "width": 3,
            "array": [_beyond(group.high, group.value) for group in own],
            "arrayminus": [_beyond(group.value, group.low) for group in own],
        },
        "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [_words(group, result) for group in own],
        "customdata": [[group.run, group.name] for group in own],
    }


def _strokes(own: Sequence[Group], theme: Theme, spots: Mapping[Group, float]) -> dict[str, Any]:
    """Where the numbers would lie if the confidences were exactly right."""
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip", "cliponaxis": False,
        "x": [round(group.null_median or 0.0, 7) for group in own], "y": [spots[group] for group in own],
        "name": "if calibrated: median", "legendrank": 1001,
        "marker": {"symbol": "line-ns", "size": 11, "line": {"color": theme.muted, "width": 2}},
        "unselected": {"marker": {"opacity": 1}},
    }


def _beyond(high: float | None, low: float | None) -> float:
    return 0.0 if high is None or low is None else max(0.0, high - low)


def _words(group: Group, result: Groups) -> str:
    """What the hover says of a dot."""
    told = f"<b>{plain(without_middle(group.name, 80))}</b>"
    told += f"<br>{plain(without_middle(result.series[group.series], 60))}"
    told += f"<br>{METRICS[result.metric].title} {number(group.value)}"
    if group.low is not None and group.high is not None:
        told += f" ({span(group.low, group.high)})"
    if group.null_median is not None:
        told += f"<br>if calibrated {number(group.null_median)}"
    return f"{told}<br>n = {group.n_used:,}{', few' if group.small else ''}"


def _counts(names: Sequence[str]) -> dict[str, Any]:
    """A trace that is nowhere, for the axis of the counts to be drawn."""
    return {
        "type": "scatter", "mode": "markers", "x": [None] * len(names), "y": list(range(len(names))),
        "yaxis": "y2", "hoverinfo": "skip", "showlegend": False,
    }


def _names_axis(theme: Theme, names: Sequence[str]) -> dict[str, Any]:
    return axis(
        theme, range=[len(names) - 0.4, -0.6], tickvals=list(range(len(names))), automargin=True,
        ticktext=[plain(without_middle(name, _NAME)) for name in names], ticks="",
    )


def _counts_axis(theme: Theme, result: Groups, names: Sequence[str]) -> dict[str, Any]:
    """How many rows each group has, at the right; "200–431" where the series differ."""
    counts = {name: [group.n_used for group in result.groups if group.name == name] for name in names}
    told = [
        f"{min(own):,}" if min(own) == max(own) else f"{min(own):,}–{max(own):,}" for own in counts.values()
    ]
    return axis(
        theme, range=[len(names) - 0.4, -0.6], overlaying="y", side="right", showgrid=False, ticks="",
        tickvals=list(range(len(names))), ticktext=[f"n = {text}" for text in told], automargin=True,
    )


def _overall(result: Groups, looks: Mapping[str, Look]) -> list[dict[str, Any]]:
    """An upright line at the value of each whole run, in that run's colour and dash."""
    return [
        {
            "type": "line", "xref": "x", "yref": "y domain", "x0": value, "x1": value, "y0": 0, "y1": 1,
            "layer": "below", "line": looks[series].line(1.6) | {"dash": "6px,4px"},
        }
        for series in result.series
        if (value := result.overall.get(series)) is not None and math.isfinite(value)
    ]


def _range(result: Groups) -> list[float]:
    """From zero, or from below it, to beyond the longest whisker."""
    ends = [
        end
        for group in result.groups
        for end in (group.value, group.low, group.high, group.null_median)
        if end is not None and _finite(end)
    ]
    low, high = min([0.0, *ends]), max(ends, default=1.0)
    room = 0.05 * (high - low) or 0.05
    return [low - room if low < 0 else -room / 2, high + room]


def describe_dots(result: Groups) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    drawn = [group for group in result.groups if _finite(group.value)]
    few, names = sum(group.small for group in drawn), len({group.name for group in drawn})
    thin = f", {few} of them on fewer than {FEW} rows" if few else ""
    return (
        f"{METRICS[result.metric].title} by {result.grouping.title}, "
        f"{count(names, 'group' if result.grouping.of == 'rows' else 'run')}, "
        f"{count(len(drawn), 'number')}{thin}. {result.reading}"
    )

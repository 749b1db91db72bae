"""How is it drawn which model is accurate and honest?  One result → one point a run and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import Measured, Point
from calib_core.confidence import METHODS
from calib_core.figures.comparison_axes import View, axes_of, curves, view_of
from calib_core.figures.comparison_labels import name_axes, name_sets
from calib_core.figures.comparison_look import PointLook, point_looks
from calib_core.figures.layout import BOTTOM, Figure, note, nothing, paper
from calib_core.figures.method_look import look
from calib_core.figures.strokes import points as marks
from calib_core.figures.text import lines as broken
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme, glaze
from calib_core.metrics import METRICS
from calib_core.problems import shorten
from calib_core.wording import percent

_ENTRY: Final = 19
"""Pixels of one line of the legend."""

_PLOT: Final = 400
_MORE: Final = 6
_TALLEST: Final = 680
"""Pixels of the panel: of few points, more for each, and at most."""

_NAME: Final = 60
_MANY: Final = 20
"""More points than this, and bars and lines are drawn paler, so that names can be read on them."""


def comparison_figure(
    result: Comparison, theme: Theme, *, selected: str | None = None, places: Mapping[str, int] | None = None
) -> Figure:
    """The points with their intervals, sizes of one model joined, and the two curves where they apply.

    selected: key of the point to ring, without effect where it is none; places: key → place of the point's
    run among all at hand. Every point that takes hover and click has `customdata` rows that begin with its
    key. The names stand in one text trace for each of `comparison_labels.WIDTHS`, of which the page shows
    the one that fits: without its style sheet all show.
    """
    methods = list(dict.fromkeys(point.method for point in result.points))
    looks = point_looks(result, theme, places or {})
    view, height = view_of(result), min(_PLOT + _MORE * len(result.points), _TALLEST)
    data = [*(curves(view, theme) if result.has_curves else ()), *_joined(result, theme)]
    data += [_entry(method, theme) for method in methods]
    data += [_points(result, method, theme, looks) for method in methods]
    if result.points:
        data += name_sets(result, view, theme, height, looks)
    data += _ring(result, theme, selected)
    return {"data": data or [nothing()], "layout": _layout(result, view, theme, height, data)}


def _layout(
    result: Comparison, view: View, theme: Theme, height: int, data: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    names = [trace["name"] for trace in data if "name" in trace]
    narrow = any(len(name) > 25 for name in names)
    top = 14 + _ENTRY * max(1, len(names) if narrow else -(-len(names) // 2))
    layout = paper(theme, height=height + top + BOTTOM, top=top)
    if narrow:
        layout["legend"]["entrywidth"] = 0.98
    words = [] if result.points else [
        note(theme, broken(result.reading, 40), xref="x domain", yref="y domain", x=0.5, y=0.6)
    ]
    axes = axes_of(result, view, theme) | name_axes(view)
    return layout | {"hovermode": "closest", "annotations": words, **axes}


def _entry(method: str, theme: Theme) -> dict[str, Any]:
    """The method's symbol for the legend, in no run's colour."""
    return {
        "type": "scatter", "mode": "markers", "x": [None], "y": [None], "hoverinfo": "skip",
        "name": plain(METHODS[method].title),
        "marker": marks(theme.text, look(method, theme).symbol, theme, 10),
    }


def _points(
    result: Comparison, method: str, theme: Theme, looks: Mapping[str, PointLook]
) -> dict[str, Any]:
    own = [point for point in result.points if point.method == method]
    pale = glaze(theme.muted, 0.65 if len(result.points) <= _MANY else 0.35)
    marker = marks(theme.text, look(method, theme).symbol, theme, 10)
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "cliponaxis": False,
        "x": [round(point.x.value, 7) for point in own], "y": [round(point.y.value, 7) for point in own],
        "error_x": _whiskers([point.x for point in own], pale),
        "error_y": _whiskers([point.y for point in own], pale),
        "marker": marker | {"color": [looks[point.key].colour for point in own]},
        "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [_words(point, result) for point in own],
        "customdata": [[point.key] for point in own],
    }


def _whiskers(own: Sequence[Measured], colour: str) -> dict[str, Any]:
    """From the lower to the upper end of each interval; none where there is none."""
    return {
        "type": "data", "symmetric": False, "width": 0, "thickness": 1.3, "color": colour,
        "array": [0 if one.high is None else round(max(0.0, one.high - one.value), 7) for one in own],
        "arrayminus": [0 if one.low is None else round(max(0.0, one.value - one.low), 7) for one in own],
    }


def _words(point: Point, result: Comparison) -> str:
    """What the hover says of a point."""
    axes = {one.metric: one for one in (point.x, point.y)}
    skill = "" if point.skill is None else f"<br>skill {_minus(f'{point.skill:.3f}')}"
    told = "".join(f"<br>{METRICS[id_].title} {_number(one)}" for id_, one in axes.items())
    return (
        f"<b>{plain(shorten(point.run, _NAME))}</b><br>{plain(METHODS[point.method].title)}{told}"
        f"{skill if result.has_curves else ''}<br>n = {point.n_used:,}, {plain(point.judged)} judged"
    )


def _number(one: Measured) -> str:
    def form(value: float) -> str:
        return percent(value) if one.metric == "accuracy" else _minus(f"{value:.4f}")

    if one.low is None or one.high is None:
        return form(one.value)
    return f"{form(one.value)} ({form(one.low)} to {form(one.high)})"


def _minus(number: str) -> str:
    return number.replace("-", "−")


def _joined(result: Comparison, theme: Theme) -> list[dict[str, Any]]:
    """A thin line from the smallest to the largest size of each model."""
    points = {point.key: point for point in result.points}
    traces: list[dict[str, Any]] = []
    strength = 0.55 if len(result.points) <= _MANY else 0.3
    for family in result.families:
        own = [points[key] for key in family]
        traces.append({
            "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
            "x": [point.x.value for point in own], "y": [point.y.value for point in own],
            "line": {"color": glaze(theme.muted, strength), "width": 1.5},
            "meta": {"family": list(family)},
        })
    if traces:
        traces.append({
            "type": "scatter", "mode": "lines", "x": [None], "y": [None], "hoverinfo": "skip",
            "name": "joined: one model by size", "legendrank": 1001,
            "line": {"color": theme.muted, "width": 1.6},
        })
    return traces


def _ring(result: Comparison, theme: Theme, selected: str | None) -> list[dict[str, Any]]:
    """A ring around the chosen point."""
    return [
        {
            "type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False,
            "cliponaxis": False, "x": [point.x.value], "y": [point.y.value],
            "marker": {
                "size": 19, "symbol": "circle-open", "color": theme.highlight_line,
                "line": {"color": theme.highlight_line, "width": 3},
            },
            "unselected": {"marker": {"opacity": 1}},
        }
        for point in result.points
        if point.key == selected
    ]


def describe_comparison(result: Comparison) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    x, y = METRICS[result.x].title, METRICS[result.y].title
    told = "; ".join(
        f"{shorten(point.name, _NAME)} by {METHODS[point.method].title}: {x} {_number(point.x)}, "
        f"{y} {_number(point.y)}"
        for point in result.points[:8]
    )
    more = f"; and {len(result.points) - 8} more" if len(result.points) > 8 else ""
    count = f"{len(result.points)} point{'' if len(result.points) == 1 else 's'}"
    return f"{y} against {x}, {count}. {told or 'No point'}{more}."

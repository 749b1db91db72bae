"""How is it drawn which model is accurate and honest?  One result → one point a run and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import Point
from calib_core.confidence import METHODS
from calib_core.figures.comparison_axes import View, axes_of, curves, view_of
from calib_core.figures.comparison_labels import name_axes, name_sets
from calib_core.figures.comparison_look import PointLook, number_of, point_looks
from calib_core.figures.layout import (
    BOTTOM,
    Figure,
    entry,
    legend_names,
    legend_room,
    note,
    nothing,
    paper,
)
from calib_core.figures.method_look import look
from calib_core.figures.strokes import points as marks
from calib_core.figures.strokes import ring, whiskers
from calib_core.figures.text import lines as broken
from calib_core.figures.text import plain, without_middle
from calib_core.figures.theme import Theme, glaze
from calib_core.metrics import METRICS
from calib_core.wording import count, number

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
    data += [
        entry(METHODS[id_].title, "markers", marker=marks(theme.text, look(id_, theme).symbol, theme, 10))
        for id_ in methods
    ]
    data += [_points(result, method, theme, looks) for method in methods]
    if result.points:
        data += name_sets(result, view, theme, height, looks)
    data += [ring(one.x.value, one.y.value, theme) for one in result.points if one.key == selected]
    return {"data": data or [nothing()], "layout": _layout(result, view, theme, height, data)}


def _layout(
    result: Comparison, view: View, theme: Theme, height: int, data: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    top, alone = legend_room(legend_names(data))
    layout = paper(theme, height=height + top + BOTTOM, top=top, alone=alone)
    words = [] if result.points else [
        note(theme, broken(result.reading, 40), xref="x domain", yref="y domain", x=0.5, y=0.6)
    ]
    axes = axes_of(result, view, theme) | name_axes(view)
    return layout | {"hovermode": "closest", "annotations": words, **axes}


def _points(
    result: Comparison, method: str, theme: Theme, looks: Mapping[str, PointLook]
) -> dict[str, Any]:
    own = [point for point in result.points if point.method == method]
    pale = glaze(theme.muted, 0.65 if len(result.points) <= _MANY else 0.35)
    marker = marks(theme.text, look(method, theme).symbol, theme, 10)
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "cliponaxis": False,
        "x": [round(point.x.value, 7) for point in own], "y": [round(point.y.value, 7) for point in own],
        "error_x": whiskers([point.x for point in own], pale, width=0, thickness=1.3),
        "error_y": whiskers([point.y for point in own], pale, width=0, thickness=1.3),
        "marker": marker | {"color": [looks[point.key].colour for point in own]},
        "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [_words(point, result) for point in own],
        "customdata": [[point.key] for point in own],
    }


def _words(point: Point, result: Comparison) -> str:
    """What the hover says of a point."""
    axes = {one.metric: one for one in (point.x, point.y)}
    skill = "" if point.skill is None else f"<br>skill {number(point.skill, '.3f')}"
    told = "".join(f"<br>{METRICS[id_].title} {number_of(one)}" for id_, one in axes.items())
    return (
        f"<b>{plain(without_middle(point.run, _NAME))}</b><br>{plain(METHODS[point.method].title)}{told}"
        f"{skill if result.has_curves else ''}<br>n = {point.n_used:,}, {plain(point.judged)} judged"
    )


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
        line = {"color": theme.muted, "width": 1.6}
        traces.append(entry("joined: one model by size", "lines", line=line, legendrank=1001))
    return traces


def describe_comparison(result: Comparison) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    x, y = METRICS[result.x].title, METRICS[result.y].title
    told = "; ".join(
        f"{without_middle(point.name, _NAME)} by {METHODS[point.method].title}: {x} {number_of(point.x)}, "
        f"{y} {number_of(point.y)}"
        for point in result.points[:8]
    )
    more = f"; and {len(result.points) - 8} more" if len(result.points) > 8 else ""
    points = count(len(result.points), "point")
    return f"{y} against {METRICS[result.x].in_sentence}, {points}. {told or 'No point'}{more}."

"""How is it drawn which model is accurate and honest?  One result → one point a run and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import ComparisonPoint
from calib_core.confidence import METHODS
from calib_core.figures.comparison_axes import AxisRanges, comparison_axes, reference_curves, axis_ranges
from calib_core.figures.comparison_labels import name_set_axes, name_traces
from calib_core.figures.comparison_look import PointStyle, estimate_text, point_styles
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    legend_entry,
    legend_names,
    legend_margin,
    annotation,
    empty_trace,
    base_layout,
)
from calib_core.figures.method_look import method_style
from calib_core.figures.strokes import marker_style as marker_style
from calib_core.figures.strokes import selection_ring, error_bars
from calib_core.figures.text import wrap_lines as broken
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.figures.theme import Theme, with_opacity
from calib_core.metrics import METRICS
from calib_core.wording import plural, format_number

_MIN_PANEL_HEIGHT: Final = 400
_HEIGHT_PER_POINT: Final = 6
_MAX_PANEL_HEIGHT: Final = 680
"""Pixels of the panel: of few points, more for each, and at most."""

_MAX_HOVER_NAME: Final = 60
_CROWDED_POINTS: Final = 20
"""More points than this, and bars and lines are drawn paler, so that names can be read on them."""


def comparison_figure(
    result: Comparison, theme: Theme, *, selected: str | None = None, style_indices: Mapping[str, int] | None = None
) -> Figure:
    """The points with their intervals, sizes of one model joined, and the two curves where they apply.

    selected: key of the point to ring, without effect where it is none; places: key → place of the point's
    run among all at hand. Every point that takes hover and click has `customdata` rows that begin with its
    key. The names stand in one text trace for each of `comparison_labels.WIDTHS`, of which the page shows
    the one that fits: without its style sheet all show.
    """
    methods = list(dict.fromkeys(point.method for point in result.points))
    looks = point_styles(result, theme, style_indices or {})
    view, height = axis_ranges(result), min(_MIN_PANEL_HEIGHT + _HEIGHT_PER_POINT * len(result.points), _MAX_PANEL_HEIGHT)
    data = [*(reference_curves(view, theme) if result.has_reference_curves else ()), *_family_lines(result, theme)]
    data += [
        legend_entry(METHODS[id_].title, "markers", marker=marker_style(theme.text, method_style(id_, theme).symbol, theme, 10))
        for id_ in methods
    ]
    data += [_method_points(result, method, theme, looks) for method in methods]
    if result.points:
        data += name_traces(result, view, theme, height, looks)
    data += [selection_ring(one.x.value, one.y.value, theme) for one in result.points if one.key == selected]
    return {"data": data or [empty_trace()], "layout": _comparison_layout(result, view, theme, height, data)}


def _comparison_layout(
    result: Comparison, ranges: AxisRanges, theme: Theme, height: int, data: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    top, alone = legend_margin(legend_names(data))
    layout = base_layout(theme, height=height + top + BOTTOM_MARGIN, top=top, one_per_line=alone)
    words = [] if result.points else [
        annotation(theme, broken(result.headline, 40), xref="x domain", yref="y domain", x=0.5, y=0.6)
    ]
    axes = comparison_axes(result, ranges, theme) | name_set_axes(ranges)
    return layout | {"hovermode": "closest", "annotations": words, **axes}


def _method_points(
    result: Comparison, method: str, theme: Theme, styles: Mapping[str, PointStyle]
) -> dict[str, Any]:
    own = [point for point in result.points if point.method == method]
    pale = with_opacity(theme.muted_text, 0.65 if len(result.points) <= _CROWDED_POINTS else 0.35)
    marker = marker_style(theme.text, method_style(method, theme).symbol, theme, 10)
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "cliponaxis": False,
        "x": [round(point.x.value, 7) for point in own], "y": [round(point.y.value, 7) for point in own],
        "error_x": error_bars([point.x for point in own], pale, width=0, thickness=1.3),
        "error_y": error_bars([point.y for point in own], pale, width=0, thickness=1.3),
        "marker": marker | {"color": [styles[point.key].colour for point in own]},
        "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [_hover_text(point, result) for point in own],
        "customdata": [[point.key] for point in own],
    }


def _hover_text(point: ComparisonPoint, result: Comparison) -> str:
    """What the hover says of a point."""
    axes = {one.metric: one for one in (point.x, point.y)}
    skill = "" if point.brier_skill is None else f"<br>skill {format_number(point.brier_skill, '.3f')}"
    told = "".join(f"<br>{METRICS[id_].title} {estimate_text(one)}" for id_, one in axes.items())
    return (
        f"<b>{escape_for_plotly(truncate_middle(point.run, _MAX_HOVER_NAME))}</b><br>{escape_for_plotly(METHODS[point.method].title)}{told}"
        f"{skill if result.has_reference_curves else ''}<br>n = {point.n_used:,}, {escape_for_plotly(point.judged)} judged"
    )


def _family_lines(result: Comparison, theme: Theme) -> list[dict[str, Any]]:
    """A thin line from the smallest to the largest size of each model."""
    points = {point.key: point for point in result.points}
    traces: list[dict[str, Any]] = []
    strength = 0.55 if len(result.points) <= _CROWDED_POINTS else 0.3
    for family in result.size_families:
        own = [points[key] for key in family]
        traces.append({
            "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
            "x": [point.x.value for point in own], "y": [point.y.value for point in own],
            "line": {"color": with_opacity(theme.muted_text, strength), "width": 1.5},
            "meta": {"family": list(family)},
        })
    if traces:
        line = {"color": theme.muted_text, "width": 1.6}
        traces.append(legend_entry("joined: one model by size", "lines", line=line, legendrank=1001))
    return traces


def describe_comparison(result: Comparison) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    x, y = METRICS[result.x].title, METRICS[result.y].title
    told = "; ".join(
        f"{truncate_middle(point.name, _MAX_HOVER_NAME)} by {METHODS[point.method].title}: {x} {estimate_text(point.x)}, "
        f"{y} {estimate_text(point.y)}"
        for point in result.points[:8]
    )
    more = f"; and {len(result.points) - 8} more" if len(result.points) > 8 else ""
    points = plural(len(result.points), "point")
    return f"{y} against {METRICS[result.x].title_in_sentence}, {points}. {told or 'No point'}{more}."

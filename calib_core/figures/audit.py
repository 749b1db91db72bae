"""The ECE under every convention: a strip from the lowest value to the highest, by how gaps are combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from calib_core.figures.layout import (
    Figure,
    axis,
    base_layout,
    legend_margin,
    legend_names,
    panel_heading,
    stack_panels,
)
from calib_core.figures.palette import Theme
from calib_core.figures.text import escape_for_plotly
from calib_core.metrics.conventions import NORM_TITLES, Norm
from calib_core.results.audit import ConventionAudit, ConventionValue, PublishedFigure
from calib_core.wording import format_short, plural

DRAWN_NORMS: Final[tuple[Norm, ...]] = ("l1", "l2")
"""Largest gaps are several times as large, and would leave no room for the others."""

_PANEL_HEIGHT: Final = 92
"""Pixels."""

_DOTS_ACROSS: Final = 40
"""Values closer than this fraction of the axis are stacked, so that no dot hides another."""

_PADDING: Final = 0.06
"""Room beyond the lowest and the highest value, as a fraction of their distance."""

_LEAST_PADDING: Final = 0.001
"""Room where all values are the same."""

_MIN_STACK: Final = 6
"""Dots that fit on one another in a panel, at least."""

_KINDS: Final = ("convention of a tool", "other combination", "default")


def audit_figure(audit: ConventionAudit, theme: Theme, published: PublishedFigure | None = None) -> Figure:
    """One dot for each convention; the default is a diamond, and a published figure a line.

    Parameters
    ----------
    audit : ConventionAudit
    theme : Theme
        Colours.
    published : PublishedFigure, optional
        A line at its value, as wide as its rounding.
    """
    panels: dict[Norm, list[ConventionValue]] = {
        norm: values for norm in DRAWN_NORMS if (values := audit.of_norm(norm))
    }
    drawn = [each.value for values in panels.values() for each in values]
    if published is not None:
        drawn.append(published.value)
    padding = max(_PADDING * (max(drawn) - min(drawn)), _LEAST_PADDING)
    left, right = min(drawn) - padding, max(drawn) + padding
    distance = (right - left) / _DOTS_ACROSS
    data: list[dict[str, Any]] = []
    for index, values in enumerate(panels.values()):
        heights = stacked_heights([each.value for each in values], distance)
        for kind in range(len(_KINDS)):
            dots = [(each, h) for each, h in zip(values, heights, strict=True) if _kind(each) == kind]
            if dots:
                data.append(_dots(dots, kind, theme) | {"yaxis": "y" if index == 0 else f"y{index + 1}"})
    shown: set[str] = set()
    for trace in data:
        trace["showlegend"] = trace["name"] not in shown
        shown.add(trace["name"])
    margin, one_per_line = legend_margin(legend_names(data))
    stack = stack_panels(len(panels), top=margin, panel_height=_PANEL_HEIGHT)
    layout = base_layout(theme, height=stack.height, top=margin, one_per_line=one_per_line)
    layout |= {
        "hovermode": "closest",
        "xaxis": axis(theme, "Calibration error", anchor=stack.bottom_axis, range=[left, right]),
        "annotations": [
            panel_heading(NORM_TITLES[norm].capitalize(), theme, stack, index)
            for index, norm in enumerate(panels)
        ],
    }
    layout["margin"] |= {"l": 14}
    for index, values in enumerate(panels.values()):
        highest = max(stacked_heights([each.value for each in values], distance))
        layout[stack.layout_key(index)] = axis(
            theme,
            domain=list(stack.domains[index]),
            range=[-0.7, max(highest + 1.0, _MIN_STACK)],
            showticklabels=False,
            showgrid=False,
            showline=False,
            ticks="",
        )
    if published is not None:
        layout["shapes"] = [_published_band(published, theme)]
    return {"data": data, "layout": layout}


def _kind(value: ConventionValue) -> int:
    """Index in `_KINDS`."""
    convention = value.convention
    return 2 if convention.is_default else 0 if convention.tool else 1


def stacked_heights(values: Sequence[float], distance: float) -> list[int]:
    """Heights, from 0, at which dots of ascending values do not hide one another.

    Examples
    --------
    >>> stacked_heights([0.1, 0.1, 0.3, 0.31], 0.05)
    [0, 1, 0, 1]
    """
    heights: list[int] = []
    for index, value in enumerate(values):
        near = {heights[other] for other in range(index) if value - values[other] < distance}
        heights.append(next(height for height in range(index + 1) if height not in near))
    return heights


def _dots(dots: Sequence[tuple[ConventionValue, int]], kind: int, theme: Theme) -> dict[str, Any]:
    colour = (theme.series_colours[0], theme.muted_text, theme.highlight)[kind]
    outline = theme.highlight_outline if kind == 2 else colour
    return {
        "type": "scatter",
        "mode": "markers",
        "name": _KINDS[kind],
        "x": [round(each.value, 7) for each, _ in dots],
        "y": [height for _, height in dots],
        "text": [
            f"{escape_for_plotly(each.convention.title)}<br>{format_short(each.value)}" for each, _ in dots
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
        "marker": {
            "symbol": ("circle", "circle-open", "diamond")[kind],
            "size": 13 if kind == 2 else 10,
            "color": colour,
            "line": {"color": outline, "width": 1.6},
        },
    }


def _published_band(published: PublishedFigure, theme: Theme) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": published.value - published.half_unit,
        "x1": published.value + published.half_unit,
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "fillcolor": theme.highlight,
        "opacity": 0.35,
        "line": {"color": theme.highlight_outline, "width": 1},
    }


def describe_audit(audit: ConventionAudit) -> str:
    """The figure in words, for screen readers."""
    return (
        f"ECE under {plural(len(audit.values), 'convention')}. {audit.headline} {audit.range_note} "
        f"Default: {format_short(audit.default.value)}."
    )

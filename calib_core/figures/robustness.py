"""How is it drawn that a number depends on M?  Sweeps → values over M, one panel a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.analysis.sweep import Curve, Sweep
from calib_core.figures.curves import Drawn, begin, drawn_of, legend_of, line_of
from calib_core.figures.layout import LABEL_SIZE, Figure, axis, note, nothing
from calib_core.figures.stack import Stack, heading
from calib_core.figures.strokes import band, metric_line, middle
from calib_core.figures.theme import Theme
from calib_core.metrics import METRICS
from calib_core.wording import chance, number, percent

_SCALES: Final[Mapping[str, str]] = {
    "1": "scale 0 to 1", "2": "scale 0 to 2", "K": "divided by the K classes: scale 0 to 2/K",
}

IN_VIEW: Final = 1.6
"""A ceiling up to so many times the highest point is drawn; one farther off is told in words."""

SMALL: Final = 0.005
"""Axes that end below have ticks such as 2e-4."""


def values_figure(results: Sequence[Sweep], theme: Theme, places: Sequence[int] = ()) -> Figure:
    """Each metric over M (log), one panel a scale, with the null band of the first run's curves.

    results: one or more sweeps over the same M; places: of their runs among all at hand. Where only bounds
    are known a bar stands instead of a point.
    """
    drawn = list(drawn_of(results, places))
    scales = [scale for scale in _SCALES if any(each.scale == scale for each in drawn)]
    entries = legend_of(drawn, theme, relative=False)
    layout, stack = begin(theme, results, entries, panels=max(len(scales), 1))
    data: list[dict[str, Any]] = []
    for place, scale in enumerate(scales):
        curves = [each for each in drawn if each.scale == scale]
        top = _top(curves)
        data += [trace for each in curves for trace in _curve(each, theme, stack.y(place))]
        lines, labels = _ceilings(curves, theme, stack.y(place), top)
        layout["shapes"] += lines
        layout["annotations"] += [*labels, _heading(curves, theme, stack, place, top)]
        form: dict[str, Any] = {"exponentformat": "e"} if top < SMALL else {"tickformat": "~g"}
        layout[stack.key(place)] = axis(
            theme, "Value", domain=stack.down[place], range=[0, top or 1], nticks=6, **form
        )
    return {"data": [*entries, *data] or [nothing()], "layout": layout}


def _curve(each: Drawn, theme: Theme, yaxis: str) -> list[dict[str, Any]]:
    """Null band and median below, then the line with its points, and a bar where only bounds are known."""
    curve, line = each.curve, metric_line(each.curve.metric, theme)
    traces: list[dict[str, Any]] = []
    if curve.null is not None and each.place == 0:
        x = [float(bins) for bins in curve.bins]
        traces += [
            band(x, list(curve.null.low), list(curve.null.high), line["color"], yaxis=yaxis),
            middle(x, list(curve.null.median), line["color"], yaxis=yaxis),
        ]
    if any(value is not None for value in curve.values):
        traces.append(line_of(each, theme, yaxis, curve.values, _hovers(curve)))
    if curve.bounds:
        traces.append(_bars(curve, line["color"], yaxis))
    return traces


def _hovers(curve: Curve) -> list[str]:
    told: list[str] = []
    for at, value in enumerate(curve.values):
        words = "not known" if value is None else f"{value:.4g}"
        if curve.null is not None:
            median, low, high = (side[at] for side in (curve.null.median, curve.null.low, curve.null.high))
            words += f"<br>if calibrated {median:.4g} ({low:.4g} to {high:.4g})"
            if p := chance(curve.null.p[at], curve.null.draws):
                words += f"<br>{p}"
        told.append(words)
    return told


def _bars(curve: Curve, colour: str, yaxis: str) -> dict[str, Any]:
    """From the lower to the upper bound, with caps and without a point: nobody knows where between."""
    ends = sorted(curve.bounds.items())
    return {
        "type": "scatter", "mode": "markers", "yaxis": yaxis, "showlegend": False, "hoverinfo": "text",
        "x": [bins for bins, _ in ends], "y": [round((low + high) / 2, 7) for _, (low, high) in ends],
        "hovertext": [
            f"<b>{METRICS[curve.metric].title}</b><br>M = {bins:,}<br>between {low:.4g} and {high:.4g}"
            for bins, (low, high) in ends
        ],
        "marker": {"size": 16, "opacity": 0, "color": colour},
        "unselected": {"marker": {"opacity": 0}},
        "error_y": {
            "type": "data", "array": [(high - low) / 2 for _, (low, high) in ends], "color": colour,
            "thickness": 4, "width": 7,
        },
        "meta": {"metric": curve.metric, "bounds": True},
    }


def _highest(each: Drawn) -> float:
    curve = each.curve
    null = list(curve.null.high) if curve.null is not None and each.place == 0 else []
    known = [value for value in curve.values if value is not None]
    return max([*known, *null, *(high for _, high in curve.bounds.values())], default=0.0)


def _top(curves: Sequence[Drawn]) -> float:
    """The upper end of a panel: above everything drawn, and above a ceiling that is not far off."""
    highest = max((_highest(each) for each in curves), default=0.0)
    first = [c for each in curves if each.place == 0 and (c := each.curve.ceiling) is not None]
    near = [ceiling for ceiling in first if ceiling <= IN_VIEW * highest]
    return 1.12 * max([highest, *near])


def _ceilings(
    curves: Sequence[Drawn], theme: Theme, yaxis: str, top: float
) -> tuple[list[Figure], list[Figure]]:
    """A line and its label for the first run's ceiling in view; that of Full-ECE and K·cw-ECE is one."""
    found = {c for each in curves if each.place == 0 and (c := each.curve.ceiling) is not None and c <= top}
    whose = "" if all(each.alone for each in curves) else " (first run)"
    lines = [
        {
            "type": "line", "xref": "x domain", "yref": yaxis, "x0": 0, "x1": 1,
            "y0": ceiling, "y1": ceiling, "layer": "below",
            "line": {"color": theme.muted, "width": 1.4, "dash": "6px,5px"},
        }
        for ceiling in sorted(found)
    ]
    labels = [
        note(
            theme, f"ceiling 2·mean(1 − p) = {ceiling:.3g}{whose}", xref="x domain", x=0.01, xanchor="left",
            yref=yaxis, y=ceiling, yanchor="top", font={"size": LABEL_SIZE, "color": theme.muted},
        )
        for ceiling in sorted(found)
    ]
    return lines, labels


def _heading(
    curves: Sequence[Drawn], theme: Theme, stack: Stack, place: int, top: float
) -> dict[str, Any]:
    """Which metrics a panel shows and on which scale; a ceiling that is out of view is told here."""
    scale = curves[0].scale
    words = _SCALES[scale][0].upper() + _SCALES[scale][1:]
    above = sorted({c for each in curves if (c := each.curve.ceiling) is not None and c > top})
    if above and all(each.alone for each in curves):
        words += f" (ceiling {above[0]:.3g}, out of view)"
    return heading(words, theme, stack, place)


def describe_robustness(results: Sequence[Sweep]) -> str:
    """Both figures in one sentence, for who cannot see them: text, not HTML."""
    told = [_curve_of(each) for each in drawn_of(results)]
    return f"Metrics over the number of bins M. {'; '.join(told) or 'No curve'}."


def _curve_of(each: Drawn) -> str:
    curve = each.curve
    name = each.title if each.alone else f"{each.title}, {each.run}"
    known = [(bins, value) for bins, value in zip(curve.bins, curve.values, strict=True) if value is not None]
    if not known:
        return f"{name}: only bounds are known" if curve.bounds else f"{name}: no value"
    (first, low), (last, high) = known[0], known[-1]
    rsd = "" if curve.rsd is None else f", RSD {percent(curve.rsd)}"
    then = "" if first == last else f", {number(high)} at M = {last}"
    return f"{name}: {number(low)} at M = {first}{then}{rsd}"

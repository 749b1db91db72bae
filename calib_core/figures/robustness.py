"""How is it drawn that a number depends on M?  Sweeps → values over M, one panel a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.analysis.sweep import SweepCurve, Sweep
from calib_core.figures.curves import RunCurve, sweep_layout, run_curves, sweep_legend, curve_line
from calib_core.figures.layout import LABEL_SIZE, Figure, axis, annotation, empty_trace
from calib_core.figures.stack import PanelStack, panel_heading
from calib_core.figures.strokes import band_trace, metric_line_style, median_line
from calib_core.figures.theme import Theme
from calib_core.metrics import METRICS
from calib_core.wording import p_value_phrase, format_number, format_percent

_SCALE_TITLES: Final[Mapping[str, str]] = {
    "1": "scale 0 to 1", "2": "scale 0 to 2", "K": "divided by the K classes: scale 0 to 2/K",
}

MAX_CEILING_RATIO: Final = 1.6
"""A ceiling up to so many times the highest point is drawn; one farther off is told in words."""

EXPONENT_TICKS_BELOW: Final = 0.005
"""Axes that end below have ticks such as 2e-4."""


def metric_values_figure(results: Sequence[Sweep], theme: Theme, style_indices: Sequence[int] = ()) -> Figure:
    """Each metric over M (log), one panel a scale, with the null band of the first run's curves.

    results: one or more sweeps over the same M; places: of their runs among all at hand. Where only bounds
    are known a bar stands instead of a point.
    """
    drawn = list(run_curves(results, style_indices))
    scales = [scale for scale in _SCALE_TITLES if any(each.scale == scale for each in drawn)]
    entries = sweep_legend(drawn, theme, relative=False)
    layout, stack = sweep_layout(theme, results, entries, panels=max(len(scales), 1))
    data: list[dict[str, Any]] = []
    for place, scale in enumerate(scales):
        curves = [each for each in drawn if each.scale == scale]
        top = _panel_top(curves)
        data += [trace for each in curves for trace in _curve_traces(each, theme, stack.trace_axis(place))]
        lines, labels = _ceiling_lines(curves, theme, stack.trace_axis(place), top)
        layout["shapes"] += lines
        layout["annotations"] += [*labels, _scale_heading(curves, theme, stack, place, top)]
        form: dict[str, Any] = {"exponentformat": "e"} if top < EXPONENT_TICKS_BELOW else {"tickformat": "~g"}
        layout[stack.layout_key(place)] = axis(
            theme, "Value", domain=stack.domains[place], range=[0, top or 1], nticks=6, **form
        )
    return {"data": [*entries, *data] or [empty_trace()], "layout": layout}


def _curve_traces(run_curve: RunCurve, theme: Theme, yaxis: str) -> list[dict[str, Any]]:
    """Null band and median below, then the line with its points, and a bar where only bounds are known."""
    curve, line = run_curve.curve, metric_line_style(run_curve.curve.metric, theme)
    traces: list[dict[str, Any]] = []
    if curve.null is not None and run_curve.run_index == 0:
        x = [float(bins) for bins in curve.bins]
        traces += [
            band_trace(x, list(curve.null.low), list(curve.null.high), line["color"], yaxis=yaxis),
            median_line(x, list(curve.null.median), line["color"], yaxis=yaxis),
        ]
    if any(value is not None for value in curve.values):
        traces.append(curve_line(run_curve, theme, yaxis, curve.values, _hover_texts(curve)))
    if curve.bounds:
        traces.append(_bounds_trace(curve, line["color"], yaxis))
    return traces


def _hover_texts(curve: SweepCurve) -> list[str]:
    told: list[str] = []
    for at, value in enumerate(curve.values):
        words = "not known" if value is None else f"{value:.4g}"
        if curve.null is not None:
            median, low, high = (side[at] for side in (curve.null.median, curve.null.low, curve.null.high))
            words += f"<br>if calibrated {median:.4g} ({low:.4g} to {high:.4g})"
            if p := p_value_phrase(curve.null.p[at], curve.null.n_draws):
                words += f"<br>{p}"
        told.append(words)
    return told


def _bounds_trace(curve: SweepCurve, colour: str, yaxis: str) -> dict[str, Any]:
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


def _highest_value(run_curve: RunCurve) -> float:
    curve = run_curve.curve
    null = list(curve.null.high) if curve.null is not None and run_curve.run_index == 0 else []
    known = [value for value in curve.values if value is not None]
    return max([*known, *null, *(high for _, high in curve.bounds.values())], default=0.0)


def _panel_top(curves: Sequence[RunCurve]) -> float:
    """The upper end of a panel: above everything drawn, and above a ceiling that is not far off."""
    highest = max((_highest_value(each) for each in curves), default=0.0)
    first = [c for each in curves if each.run_index == 0 and (c := each.curve.ceiling) is not None]
    near = [ceiling for ceiling in first if ceiling <= MAX_CEILING_RATIO * highest]
    return 1.12 * max([highest, *near])


def _ceiling_lines(
    curves: Sequence[RunCurve], theme: Theme, yaxis: str, top: float
) -> tuple[list[Figure], list[Figure]]:
    """A line and its label for the first run's ceiling in view; that of Full-ECE and K·cw-ECE is one."""
    found = {c for each in curves if each.run_index == 0 and (c := each.curve.ceiling) is not None and c <= top}
    whose = "" if all(each.single_run for each in curves) else " (first run)"
    lines = [
        {
            "type": "line", "xref": "x domain", "yref": yaxis, "x0": 0, "x1": 1,
            "y0": ceiling, "y1": ceiling, "layer": "below",
            "line": {"color": theme.muted_text, "width": 1.4, "dash": "6px,5px"},
        }
        for ceiling in sorted(found)
    ]
    labels = [
        annotation(
            theme, f"ceiling 2·mean(1 − p) = {ceiling:.3g}{whose}", xref="x domain", x=0.01, xanchor="left",
            yref=yaxis, y=ceiling, yanchor="top", font={"size": LABEL_SIZE, "color": theme.muted_text},
        )
        for ceiling in sorted(found)
    ]
    return lines, labels


def _scale_heading(
    curves: Sequence[RunCurve], theme: Theme, stack: PanelStack, index: int, top: float
) -> dict[str, Any]:
    """Which metrics a panel shows and on which scale; a ceiling that is out of view is told here."""
    scale = curves[0].scale
    words = _SCALE_TITLES[scale][0].upper() + _SCALE_TITLES[scale][1:]
    above = sorted({c for each in curves if (c := each.curve.ceiling) is not None and c > top})
    if above and all(each.single_run for each in curves):
        words += f" (ceiling {above[0]:.3g}, out of view)"
    return panel_heading(words, theme, stack, index)


def describe_metric_values(results: Sequence[Sweep]) -> str:
    """Both figures in one sentence, for who cannot see them: text, not HTML."""
    told = [_curve_text(each) for each in run_curves(results)]
    return f"Metrics over the number of bins M. {'; '.join(told) or 'No curve'}."


def _curve_text(run_curve: RunCurve) -> str:
    curve = run_curve.curve
    name = run_curve.title if run_curve.single_run else f"{run_curve.title}, {run_curve.run}"
    known = [(bins, value) for bins, value in zip(curve.bins, curve.values, strict=True) if value is not None]
    if not known:
        return f"{name}: only bounds are known" if curve.bounds else f"{name}: no value"
    (first, low), (last, high) = known[0], known[-1]
    rsd = "" if curve.rsd is None else f", RSD {format_percent(curve.rsd)}"
    then = "" if first == last else f", {format_number(high)} at M = {last}"
    return f"{name}: {format_number(low)} at M = {first}{then}{rsd}"

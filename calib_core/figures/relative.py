"""Which metric depends least on M?  Sweeps → each curve divided by its own mean, with its RSD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from calib_core.analysis.sweep import Sweep
from calib_core.figures.curves import RunCurve, sweep_layout, run_curves, sweep_legend, curve_line, without_redundant_curves
from calib_core.figures.layout import Figure, axis, empty_trace
from calib_core.figures.stack import panel_heading
from calib_core.figures.theme import Theme
from calib_core.wording import format_percent

NO_MEAN: Final = "No metric has a mean to be divided by"


def relative_values_figure(results: Sequence[Sweep], theme: Theme, style_indices: Sequence[int] = ()) -> Figure:
    """Each metric divided by its own mean over M (log), with the RSD in the legend.

    A metric of which some M has no exact value has no mean, and no line here; nor has K·cw-ECE beside cw-ECE.
    places: of the runs among all at hand.
    """
    drawn = _relative_curves(results, style_indices)
    entries = sweep_legend(drawn, theme, relative=True)
    layout, stack = sweep_layout(theme, results, entries, panels=1)
    data: list[dict[str, Any]] = []
    highest = 1.0
    for each in drawn:
        shares = _values_over_mean(each)
        highest = max(highest, *shares)
        data.append(curve_line(each, theme, "y", shares, [f"{share:.2f} × its mean" for share in shares]))
    layout["yaxis"] = axis(
        theme, "Value / own mean over M", domain=stack.domains[0], range=[0, 1.1 * highest], nticks=6,
        tickformat="~g",
    )
    layout["shapes"] = [{
        "type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": 1, "y1": 1,
        "layer": "below", "line": {"color": theme.axis_line, "width": 1.5},
    }]
    if not drawn:
        layout["annotations"].append(panel_heading(NO_MEAN, theme, stack))
    return {"data": [*entries, *data] or [empty_trace()], "layout": layout}


def _relative_curves(results: Sequence[Sweep], style_indices: Sequence[int] = ()) -> list[RunCurve]:
    own = [replace(result, curves=tuple(without_redundant_curves(result.curves))) for result in results]
    return [each for each in run_curves(own, style_indices) if each.curve.rsd is not None]


def _values_over_mean(run_curve: RunCurve) -> list[float]:
    """A curve that has a value at every M, over its own mean."""
    values = [value for value in run_curve.curve.values if value is not None]
    mean = sum(values) / len(values)
    return [value / mean for value in values]


def describe_relative_values(results: Sequence[Sweep]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(map(_relative_curve_text, _relative_curves(results)))
    return f"Metrics divided by their own mean over M. {told or NO_MEAN}."


def _relative_curve_text(run_curve: RunCurve) -> str:
    shares, name = _values_over_mean(run_curve), run_curve.title if run_curve.single_run else f"{run_curve.title}, {run_curve.run}"
    rsd = format_percent(run_curve.curve.rsd or 0.0)
    return f"{name}: from {min(shares):.2f} to {max(shares):.2f} times its mean, RSD {rsd}"

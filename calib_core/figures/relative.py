"""Which metric depends least on M?  Sweeps → each curve divided by its own mean, with its RSD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from calib_core.analysis.sweep import Sweep
from calib_core.figures.curves import Drawn, begin, drawn_of, legend_of, line_of, of_own_spread
from calib_core.figures.layout import Figure, axis, nothing
from calib_core.figures.stack import heading
from calib_core.figures.theme import Theme
from calib_core.wording import percent

NONE: Final = "No metric has a mean to be divided by"


def relative_figure(results: Sequence[Sweep], theme: Theme, places: Sequence[int] = ()) -> Figure:
    """Each metric divided by its own mean over M (log), with the RSD in the legend.

    A metric of which some M has no exact value has no mean, and no line here; nor has K·cw-ECE beside cw-ECE.
    places: of the runs among all at hand.
    """
    drawn = _drawn(results, places)
    entries = legend_of(drawn, theme, relative=True)
    layout, stack = begin(theme, results, entries, panels=1)
    data: list[dict[str, Any]] = []
    highest = 1.0
    for each in drawn:
        shares = _shares(each)
        highest = max(highest, *shares)
        data.append(line_of(each, theme, "y", shares, [f"{share:.2f} × its mean" for share in shares]))
    layout["yaxis"] = axis(
        theme, "Value / own mean over M", domain=stack.down[0], range=[0, 1.1 * highest], nticks=6,
        tickformat="~g",
    )
    layout["shapes"] = [{
        "type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": 1, "y1": 1,
        "layer": "below", "line": {"color": theme.line, "width": 1.5},
    }]
    if not drawn:
        layout["annotations"].append(heading(NONE, theme, stack))
    return {"data": [*entries, *data] or [nothing()], "layout": layout}


def _drawn(results: Sequence[Sweep], places: Sequence[int] = ()) -> list[Drawn]:
    own = [replace(result, curves=tuple(of_own_spread(result.curves))) for result in results]
    return [each for each in drawn_of(own, places) if each.curve.rsd is not None]


def _shares(each: Drawn) -> list[float]:
    """A curve that has a value at every M, over its own mean."""
    values = [value for value in each.curve.values if value is not None]
    mean = sum(values) / len(values)
    return [value / mean for value in values]


def describe_relative(results: Sequence[Sweep]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(map(_curve_of, _drawn(results)))
    return f"Metrics divided by their own mean over M. {told or NONE}."


def _curve_of(each: Drawn) -> str:
    shares, name = _shares(each), each.title if each.alone else f"{each.title}, {each.run}"
    rsd = percent(each.curve.rsd or 0.0)
    return f"{name}: from {min(shares):.2f} to {max(shares):.2f} times its mean, RSD {rsd}"

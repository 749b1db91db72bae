"""How is it drawn that a number depends on M?  Sweeps → values over M, one panel a scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from calib_core.figures.layout import (
    LABEL_SIZE,
    Figure,
    PanelStack,
    annotation,
    axis,
    base_layout,
    empty_trace,
    legend_entry,
    legend_margin,
    panel_heading,
    stack_panels,
)
from calib_core.figures.marks import band_legend_entry, band_trace, median_line, metric_line_style
from calib_core.figures.palette import Theme, marker_style, run_style
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.metrics import METRICS
from calib_core.results.robustness import Sweep, SweepCurve
from calib_core.wording import format_number, format_percent, p_value_phrase

# MERGED bin_axis: How is the number of bins M drawn as an axis?

_MIN_TICK_DISTANCE: Final = 0.055
"""Ticks nearer than this part of the axis would have their numbers run into one another."""


def bin_count_axis(theme: Theme, bin_counts: Sequence[int], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """A logarithmic axis with a tick at each of these M (ascending, 1 or more), crowded ones left out."""
    low, high = math.log10(bin_counts[0]), math.log10(bin_counts[-1])
    room = max(0.06 * (high - low), 0.04)
    ticks: list[int] = []
    for number in reversed(bin_counts):  # from the right, where numbers are longest
        if not ticks or math.log10(ticks[-1] / number) >= _MIN_TICK_DISTANCE * (high - low + 2 * room):
            ticks.append(number)
    return axis(
        theme,
        "Number of bins M (log)",
        standoff=6,
        type="log",
        range=[low - room, high + room],
        tickvals=ticks[::-1],
        ticktext=[f"{tick:,}" for tick in reversed(ticks)],
        **options,
    )


# MERGED curves: What is one swept metric of one run as a line over M, and how do figures of such lines begin?

_MAX_RUN_NAME: Final = 44
"""Letters of a run's name in the legend: as wide as a telephone."""


def without_redundant_curves(curves: Sequence[SweepCurve]) -> list[SweepCurve]:
    """All but K·cw-ECE beside cw-ECE: as K times that, it has its RSD and would hide its relative curve."""
    with_cw = any(curve.metric == "cw_ece" for curve in curves)
    return [curve for curve in curves if not (with_cw and curve.metric == "cw_ece_sum")]


@dataclass(frozen=True, slots=True)
class RunCurve:
    """One curve with where it belongs.

    place: of its run among those drawn, from 0; known: of its run among all at hand, which gives it its
    symbol; alone: whether there is only one run.
    """

    curve: SweepCurve
    run: str
    run_index: int
    style_index: int
    single_run: bool

    def marker(self, colour: str, theme: Theme) -> dict[str, Any]:
        """The run's symbol in this colour."""
        return marker_style(colour, run_style(self.style_index, theme).symbol, theme)

    @property
    def title(self) -> str:
        """The metric's short name, as the papers have it: "cw-ECE"."""
        return METRICS[self.curve.metric].title

    @property
    def scale(self) -> str:
        """Curves of one panel: never a metric of [0, 1] on one axis with one of [0, 2]."""
        if self.curve.metric == "cw_ece":
            return "K"
        return "2" if METRICS[self.curve.metric].high == 2 else "1"


def run_curves(results: Sequence[Sweep], style_indices: Sequence[int] = ()) -> Iterator[RunCurve]:
    """Every curve of every run, run by run; places: of the runs among all at hand, else among these."""
    for place, result in enumerate(results):
        known = style_indices[place] if style_indices else place
        for curve in result.curves:
            yield RunCurve(curve, result.run, place, known, single_run=len(results) == 1)


def sweep_layout(
    theme: Theme, results: Sequence[Sweep], entries: Sequence[dict[str, Any]], *, panels: int
) -> tuple[dict[str, Any], PanelStack]:
    """The layout of a figure over M without its vertical axes, and where its panels stand."""
    top, alone = legend_margin([each["name"] for each in entries], one_per_line=len(results) > 1)
    stack = stack_panels(panels, top=top, panel_height=300 if panels == 1 else 200)
    layout = base_layout(theme, height=stack.height, top=top, one_per_line=alone)
    layout |= {"hovermode": "closest", "annotations": [], "shapes": []}
    bins = sorted({bins for result in results for bins in result.bins})
    layout["xaxis"] = bin_count_axis(theme, bins, anchor=stack.bottom_axis)
    return layout, stack


def curve_line(
    run_curve: RunCurve, theme: Theme, yaxis: str, values: Sequence[float | None], hover_texts: Sequence[str]
) -> dict[str, Any]:
    """The line of one curve, a point at each M; words: what the hover says of each, as plotly's HTML."""
    line = metric_line_style(run_curve.curve.metric, theme)
    of = (
        ""
        if run_curve.single_run
        else f"<br>{escape_for_plotly(truncate_middle(run_curve.run, _MAX_RUN_NAME))}"
    )
    name = f"<b>{escape_for_plotly(run_curve.title)}</b>{of}"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "yaxis": yaxis,
        "cliponaxis": False,
        "showlegend": False,
        "x": list(run_curve.curve.bins),
        "y": [None if value is None else round(value, 7) for value in values],
        "line": line,
        "marker": run_curve.marker(line["color"], theme),
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": [
            f"{name}<br>M = {bins:,}<br>{told}"
            for bins, told in zip(run_curve.curve.bins, hover_texts, strict=True)
        ],
        "meta": {"metric": run_curve.curve.metric, "run": run_curve.run_index},
    }


def sweep_legend(curves: Sequence[RunCurve], theme: Theme, *, relative: bool) -> list[dict[str, Any]]:
    """A line a metric (with the RSD of each run, in the runs' order), a symbol a run, and the band."""
    entries: list[dict[str, Any]] = []
    for metric in dict.fromkeys(each.curve.metric for each in curves):
        own = [each.curve for each in curves if each.curve.metric == metric]
        told = ", ".join(f"{100 * curve.rsd:.1f}" for curve in own if curve.rsd is not None)
        rsd = f" (RSD {told} %)" if relative and told else ""
        line = metric_line_style(metric, theme)
        symbol = {"marker": curves[0].marker(line["color"], theme)} if curves[0].single_run else {}
        mode = "lines+markers" if curves[0].single_run else "lines"
        entries.append(legend_entry(f"{METRICS[metric].title}{rsd}", mode, line=line, **symbol))
    entries += [
        legend_entry(
            truncate_middle(each.run, _MAX_RUN_NAME), "markers", marker=each.marker(theme.text, theme)
        )
        for each in {each.run_index: each for each in curves if not each.single_run}.values()
    ]
    if not relative and any(each.curve.null for each in curves if each.run_index == 0):
        whose = "" if curves[0].single_run else " (first run)"
        entries.append(band_legend_entry(theme, whose))
    return entries


_SCALE_TITLES: Final[Mapping[str, str]] = {
    "1": "scale 0 to 1",
    "2": "scale 0 to 2",
    "K": "divided by the K classes: scale 0 to 2/K",
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
        "type": "scatter",
        "mode": "markers",
        "yaxis": yaxis,
        "showlegend": False,
        "hoverinfo": "text",
        "x": [bins for bins, _ in ends],
        "y": [round((low + high) / 2, 7) for _, (low, high) in ends],
        "hovertext": [
            f"<b>{METRICS[curve.metric].title}</b><br>M = {bins:,}<br>between {low:.4g} and {high:.4g}"
            for bins, (low, high) in ends
        ],
        "marker": {"size": 16, "opacity": 0, "color": colour},
        "unselected": {"marker": {"opacity": 0}},
        "error_y": {
            "type": "data",
            "array": [(high - low) / 2 for _, (low, high) in ends],
            "color": colour,
            "thickness": 4,
            "width": 7,
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
    found = {
        c for each in curves if each.run_index == 0 and (c := each.curve.ceiling) is not None and c <= top
    }
    whose = "" if all(each.single_run for each in curves) else " (first run)"
    lines = [
        {
            "type": "line",
            "xref": "x domain",
            "yref": yaxis,
            "x0": 0,
            "x1": 1,
            "y0": ceiling,
            "y1": ceiling,
            "layer": "below",
            "line": {"color": theme.muted_text, "width": 1.4, "dash": "6px,5px"},
        }
        for ceiling in sorted(found)
    ]
    labels = [
        annotation(
            theme,
            f"ceiling 2·mean(1 − p) = {ceiling:.3g}{whose}",
            xref="x domain",
            x=0.01,
            xanchor="left",
            yref=yaxis,
            y=ceiling,
            yanchor="top",
            font={"size": LABEL_SIZE, "color": theme.muted_text},
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


# MERGED relative: Which metric depends least on M?  Sweeps → each curve divided by its own mean, with its RSD.

NO_MEAN: Final = "No metric has a mean to be divided by"


def relative_values_figure(
    results: Sequence[Sweep], theme: Theme, style_indices: Sequence[int] = ()
) -> Figure:
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
        theme,
        "Value / own mean over M",
        domain=stack.domains[0],
        range=[0, 1.1 * highest],
        nticks=6,
        tickformat="~g",
    )
    layout["shapes"] = [
        {
            "type": "line",
            "xref": "x domain",
            "yref": "y",
            "x0": 0,
            "x1": 1,
            "y0": 1,
            "y1": 1,
            "layer": "below",
            "line": {"color": theme.axis_line, "width": 1.5},
        }
    ]
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
    shares, name = (
        _values_over_mean(run_curve),
        run_curve.title if run_curve.single_run else f"{run_curve.title}, {run_curve.run}",
    )
    rsd = format_percent(run_curve.curve.rsd or 0.0)
    return f"{name}: from {min(shares):.2f} to {max(shares):.2f} times its mean, RSD {rsd}"

"""Metrics over the number of bins M: their values with bands of noise, and relative to their own means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from calib_core.figures.layout import (
    LABEL_SIZE,
    Figure,
    PanelStack,
    annotation,
    axis,
    base_layout,
    empty_trace,
    fitting_panel_height,
    flowing_legend,
    flowing_legend_margin,
    horizontal_line,
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

# --- The axis of M -----------------------------------------------------------------------------------------

_MIN_TICK_DISTANCE: Final = 0.055
"""The least distance of two ticks as a fraction of the axis: closer ones would have overlapping labels."""


def bin_count_axis(theme: Theme, bin_counts: Sequence[int], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """A logarithmic axis of M, with ticks at these values except where they would be too close.

    Parameters
    ----------
    theme : Theme
        Colours.
    bin_counts : Sequence[int]
        Values of M, ascending, at least one.
    **options
        Keys of plotly's axis.
    """
    low, high = math.log10(bin_counts[0]), math.log10(bin_counts[-1])
    padding = max(0.06 * (high - low), 0.04)
    min_distance = _MIN_TICK_DISTANCE * (high - low + 2 * padding)
    ticks: list[int] = []
    for n_bins in reversed(bin_counts):  # from the right, where labels are longest
        if not ticks or math.log10(ticks[-1] / n_bins) >= min_distance:
            ticks.append(n_bins)
    ticks.reverse()
    return axis(
        theme,
        "Number of bins M (log)",
        standoff=6,
        type="log",
        range=[low - padding, high + padding],
        tickvals=ticks,
        ticktext=[f"{tick:,}" for tick in ticks],
        **options,
    )


# --- Curves of one metric and run --------------------------------------------------------------------------

_MAX_RUN_NAME: Final = 44
"""Characters of a run's name in the legend, which fill the width of a phone."""


def without_redundant_curves(curves: Sequence[SweepCurve]) -> list[SweepCurve]:
    """The curves without K·cw-ECE if cw-ECE is there: relative to its mean, it is the same curve."""
    has_classwise = any(curve.metric == "cw_ece" for curve in curves)
    return [curve for curve in curves if not (has_classwise and curve.metric == "cw_ece_sum")]


@dataclass(frozen=True, slots=True)
class RunCurve:
    """One curve and the run it belongs to.

    Attributes
    ----------
    curve : SweepCurve
        A metric over M.
    run : str
        Name of the run.
    run_index : int
        Index of the run among those in the figure, from 0.
    style_index : int
        Index of the run among all loaded runs, which determines its symbol.
    single_run : bool
        Whether the figure shows one run only.
    """

    curve: SweepCurve
    run: str
    run_index: int
    style_index: int
    single_run: bool

    def marker(self, colour: str, theme: Theme) -> dict[str, Any]:
        """Plotly's `marker`: the run's symbol in this colour."""
        return marker_style(colour, run_style(self.style_index, theme).symbol, theme)

    @property
    def title(self) -> str:
        """Short name of the metric, such as "cw-ECE"."""
        return METRICS[self.curve.metric].title

    @property
    def scale(self) -> str:
        """Key of its panel: metrics on [0, 1] and on [0, 2] never share an axis, and cw-ECE has its own."""
        if self.curve.metric == "cw_ece":
            return "K"
        return "2" if METRICS[self.curve.metric].high == 2 else "1"


def run_curves(results: Sequence[Sweep], style_indices: Sequence[int] = ()) -> Iterator[RunCurve]:
    """Yield all curves, run by run.

    Parameters
    ----------
    results : Sequence[Sweep]
        One for each run.
    style_indices : Sequence[int]
        Indices of the runs among all loaded runs. If empty, runs are numbered as they come.
    """
    for run_index, result in enumerate(results):
        style_index = style_indices[run_index] if style_indices else run_index
        for curve in result.curves:
            yield RunCurve(curve, result.run, run_index, style_index, single_run=len(results) == 1)


def sweep_layout(
    theme: Theme, results: Sequence[Sweep], entries: Sequence[dict[str, Any]], *, panels: int
) -> tuple[dict[str, Any], PanelStack]:
    """The layout of a figure over M without its vertical axes, and the positions of its panels."""
    names, flows = [entry["name"] for entry in entries], len(results) > 1
    top, one_per_line = (flowing_legend_margin(names), False) if flows else legend_margin(names)
    height = fitting_panel_height(
        panels, top=top, largest=300 if panels == 1 else 340 // panels, smallest=100
    )
    stack = stack_panels(panels, top=top, panel_height=height)
    layout = base_layout(theme, height=stack.height, top=top, one_per_line=one_per_line)
    layout["legend"] |= flowing_legend(names) if flows else {}
    layout |= {"hovermode": "closest", "annotations": [], "shapes": []}
    bins = sorted({bins for result in results for bins in result.bins})
    layout["xaxis"] = bin_count_axis(theme, bins, anchor=stack.bottom_axis)
    return layout, stack


def curve_line(
    run_curve: RunCurve, theme: Theme, yaxis: str, values: Sequence[float | None], hover_texts: Sequence[str]
) -> dict[str, Any]:
    """The line of one curve with a point at each M.

    Parameters
    ----------
    run_curve : RunCurve
        The curve.
    theme : Theme
        Colours.
    yaxis : str
        Name of the vertical axis.
    values : Sequence[float | None]
        One for each M; None leaves a gap.
    hover_texts : Sequence[str]
        What the hover says below the metric, run and M of each point, as plotly's HTML.
    """
    line = metric_line_style(run_curve.curve.metric, theme)
    heading = f"<b>{escape_for_plotly(run_curve.title)}</b>"
    if not run_curve.single_run:
        heading += f"<br>{escape_for_plotly(truncate_middle(run_curve.run, _MAX_RUN_NAME))}"
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
            f"{heading}<br>M = {n_bins:,}<br>{text}"
            for n_bins, text in zip(run_curve.curve.bins, hover_texts, strict=True)
        ],
        "meta": {"metric": run_curve.curve.metric, "run": run_curve.run_index},
    }


def sweep_legend(curves: Sequence[RunCurve], theme: Theme, *, relative: bool) -> list[dict[str, Any]]:
    """The legend: a line for each metric, a symbol for each of several runs, and the bands of noise.

    Parameters
    ----------
    curves : Sequence[RunCurve]
        All curves of the figure.
    theme : Theme
        Colours.
    relative : bool
        Whether the figure shows values relative to their means. If so, metrics have their RSD for each run,
        in the order of the runs, and there is no band.
    """
    entries: list[dict[str, Any]] = []
    for metric in dict.fromkeys(run_curve.curve.metric for run_curve in curves):
        of_metric = [run_curve.curve for run_curve in curves if run_curve.curve.metric == metric]
        rsds = ", ".join(f"{100 * curve.rsd:.1f}" for curve in of_metric if curve.rsd is not None)
        rsd = f" (RSD {rsds} %)" if relative and rsds else ""
        line = metric_line_style(metric, theme)
        symbol = {"marker": curves[0].marker(line["color"], theme)} if curves[0].single_run else {}
        mode = "lines+markers" if curves[0].single_run else "lines"
        entries.append(legend_entry(f"{METRICS[metric].title}{rsd}", mode, line=line, **symbol))
    entries += [
        legend_entry(
            truncate_middle(run_curve.run, _MAX_RUN_NAME),
            "markers",
            marker=run_curve.marker(theme.text, theme),
        )
        for run_curve in {
            run_curve.run_index: run_curve for run_curve in curves if not run_curve.single_run
        }.values()
    ]
    if curves and not relative:
        suffix = "" if curves[0].single_run else " (first run)"
        of_first = [run_curve.curve for run_curve in curves if run_curve.run_index == 0]
        colours = {curve.metric: metric_line_style(curve.metric, theme)["color"] for curve in of_first}
        fitted = [curve.metric for curve in of_first if curve.fitted]
        if calibrated := [curve.metric for curve in of_first if curve.null and not curve.fitted]:
            entries.append(band_legend_entry(theme, suffix, colours=[colours[id_] for id_ in calibrated]))
        if fitted:
            model = f"{', '.join(METRICS[id_].title for id_ in fitted)}, fitted model"
            entries.append(band_legend_entry(theme, suffix, model, [colours[id_] for id_ in fitted]))
    return entries


# --- Values over M -----------------------------------------------------------------------------------------

_SCALE_TITLES: Final[Mapping[str, str]] = {
    "1": "possible range 0 to 1",
    "2": "possible range 0 to 2",
    "K": "divided by the K classes: possible range 0 to 2/K",
}

MAX_CEILING_RATIO: Final = 1.6
"""A ceiling up to this multiple of the highest point is drawn; a higher one is named in the heading."""

_LEAST_PADDING: Final = 0.05
"""Part of the highest value left free below and above values that hardly differ, so that they look it."""

EXPONENT_TICKS_BELOW: Final = 0.005
"""Axes that end below this value have ticks such as 2e-4."""


def metric_values_figure(results: Sequence[Sweep], theme: Theme, style_indices: Sequence[int] = ()) -> Figure:
    """Each metric over M on a logarithmic axis, a panel for each scale, with the noise of the first run.

    The band is that of the fitted model, or of a calibrated one where there is none.

    Where only bounds of a value are known, a bar takes the place of the point.

    Parameters
    ----------
    results : Sequence[Sweep]
        One or more, over the same M.
    theme : Theme
        Colours.
    style_indices : Sequence[int]
        Indices of the runs among all loaded runs.
    """
    all_curves = list(run_curves(results, style_indices))
    scales = [scale for scale in _SCALE_TITLES if any(curve.scale == scale for curve in all_curves)]
    entries = sweep_legend(all_curves, theme, relative=False)
    layout, stack = sweep_layout(theme, results, entries, panels=max(len(scales), 1))
    data: list[dict[str, Any]] = []
    for index, scale in enumerate(scales):
        curves = [curve for curve in all_curves if curve.scale == scale]
        yaxis = stack.trace_axis(index)
        bottom, top = _panel_ends(curves)
        data += [trace for curve in curves for trace in _curve_traces(curve, theme, yaxis)]
        lines, labels = _ceiling_lines(curves, theme, yaxis, top)
        layout["shapes"] += lines
        layout["annotations"] += [*labels, _scale_heading(curves, theme, stack, index, top)]
        tick_format: dict[str, Any] = (
            {"exponentformat": "e"} if top < EXPONENT_TICKS_BELOW else {"tickformat": "~g"}
        )
        layout[stack.layout_key(index)] = axis(
            theme, "Value", domain=stack.domains[index], range=[bottom, top], nticks=6, **tick_format
        )
    return {"data": [*entries, *data] or [empty_trace()], "layout": layout}


def _curve_traces(run_curve: RunCurve, theme: Theme, yaxis: str) -> list[dict[str, Any]]:
    """The band and median of noise, then the line with its points, and bars where only bounds are known."""
    curve, line = run_curve.curve, metric_line_style(run_curve.curve.metric, theme)
    traces: list[dict[str, Any]] = []
    if (noise := curve.noise) is not None and run_curve.run_index == 0:
        x = [float(bins) for bins in curve.bins]
        traces += [
            band_trace(x, list(noise.low), list(noise.high), line["color"], yaxis=yaxis),
            median_line(x, list(noise.median), line["color"], yaxis=yaxis),
        ]
    if any(value is not None for value in curve.values):
        traces.append(curve_line(run_curve, theme, yaxis, curve.values, _hover_texts(curve)))
    if curve.bounds:
        traces.append(_bounds_trace(curve, line["color"], yaxis))
    return traces


def _hover_texts(curve: SweepCurve) -> list[str]:
    texts: list[str] = []
    for index, value in enumerate(curve.values):
        text = "not known" if value is None else f"{value:.4g}"
        if (noise := curve.noise) is not None:
            model = "fitted model" if curve.fitted else "calibrated model"
            text += (
                f"<br>{model} {noise.median[index]:.4g} ({noise.low[index]:.4g} to {noise.high[index]:.4g})"
            )
            if not curve.fitted and (p := p_value_phrase(noise.p[index], noise.n_draws)):
                text += f"<br>{p}"
        texts.append(text)
    return texts


def _bounds_trace(curve: SweepCurve, colour: str, yaxis: str) -> dict[str, Any]:
    """Bars from the lower to the upper bound, without a point, since the value between them is unknown."""
    bounds = sorted(curve.bounds.items())
    return {
        "type": "scatter",
        "mode": "markers",
        "yaxis": yaxis,
        "showlegend": False,
        "hoverinfo": "text",
        "x": [n_bins for n_bins, _ in bounds],
        "y": [round((low + high) / 2, 7) for _, (low, high) in bounds],
        "hovertext": [
            f"<b>{METRICS[curve.metric].title}</b><br>M = {n_bins:,}<br>between {low:.4g} and {high:.4g}"
            for n_bins, (low, high) in bounds
        ],
        "marker": {"size": 16, "opacity": 0, "color": colour},
        "unselected": {"marker": {"opacity": 0}},
        "error_y": {
            "type": "data",
            "array": [(high - low) / 2 for _, (low, high) in bounds],
            "color": colour,
            "thickness": 4,
            "width": 7,
        },
        "meta": {"metric": curve.metric, "bounds": True},
    }


def _drawn_values(run_curve: RunCurve) -> list[float]:
    """The points of a curve, the ends of its band, and its bounds."""
    curve = run_curve.curve
    noise = (*curve.noise.low, *curve.noise.high) if curve.noise and run_curve.run_index == 0 else ()
    known = (value for value in curve.values if value is not None)
    return [*known, *noise, *chain.from_iterable(curve.bounds.values())]


def _panel_ends(curves: Sequence[RunCurve]) -> tuple[float, float]:
    """The ends of a panel: around everything drawn, and a ceiling that is not much higher."""
    drawn = list(chain.from_iterable(map(_drawn_values, curves)))
    highest = max(drawn, default=0.0)
    near = [ceiling for ceiling in _first_run_ceilings(curves) if ceiling <= MAX_CEILING_RATIO * highest]
    return _fitting_ends([*drawn, *near])


def _fitting_ends(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis for lines: from 0, unless all values lie in the upper half."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high <= 0:
        return 0.0, 1.0
    if low <= high / 2:
        return 0.0, 1.12 * high
    padding = max(0.12 * (high - low), _LEAST_PADDING * high)
    return low - padding, high + padding


def _first_run_ceilings(curves: Sequence[RunCurve]) -> list[float]:
    """The distinct ceilings of the first run's curves, ascending; Full-ECE and K·cw-ECE share one."""
    ceilings = {run_curve.curve.ceiling for run_curve in curves if run_curve.run_index == 0}
    return sorted(ceiling for ceiling in ceilings if ceiling is not None)


def _ceiling_lines(
    curves: Sequence[RunCurve], theme: Theme, yaxis: str, top: float
) -> tuple[list[Figure], list[Figure]]:
    """A line and a label for each ceiling of the first run that is in view."""
    in_view = [ceiling for ceiling in _first_run_ceilings(curves) if ceiling <= top]
    suffix = "" if all(run_curve.single_run for run_curve in curves) else " (first run)"
    lines = [
        horizontal_line(ceiling, yref=yaxis, color=theme.muted_text, width=1.4, dash="6px,5px")
        for ceiling in in_view
    ]
    labels = [
        annotation(
            theme,
            f"ceiling 2·mean(1 − p) = {ceiling:.3g}{suffix}",
            xref="x domain",
            x=0.01,
            xanchor="left",
            yref=yaxis,
            y=ceiling,
            yanchor="top",
            font={"size": LABEL_SIZE, "color": theme.muted_text},
        )
        for ceiling in in_view
    ]
    return lines, labels


def _scale_heading(
    curves: Sequence[RunCurve], theme: Theme, stack: PanelStack, index: int, top: float
) -> dict[str, Any]:
    """The heading of a panel: its scale, and the ceiling of a single run if that is out of view."""
    title = _SCALE_TITLES[curves[0].scale]
    text = title[0].upper() + title[1:]
    above = [ceiling for ceiling in _first_run_ceilings(curves) if ceiling > top]
    if above and all(run_curve.single_run for run_curve in curves):
        text += f" (ceiling {above[0]:.3g}, out of view)"
    return panel_heading(text, theme, stack, index)


def describe_metric_values(results: Sequence[Sweep]) -> str:
    """Describe the figure in a few sentences for screen readers, as plain text."""
    descriptions = [_curve_text(run_curve) for run_curve in run_curves(results)]
    return f"Metrics over the number of bins M. {'; '.join(descriptions) or 'No curve'}."


def _curve_text(run_curve: RunCurve) -> str:
    curve = run_curve.curve
    name = _curve_name(run_curve)
    known = [
        (n_bins, value) for n_bins, value in zip(curve.bins, curve.values, strict=True) if value is not None
    ]
    if not known:
        return f"{name}: only bounds are known" if curve.bounds else f"{name}: no value"
    (first_bins, first), (last_bins, last) = known[0], known[-1]
    rsd = "" if curve.rsd is None else f", RSD {format_percent(curve.rsd)}"
    end = "" if first_bins == last_bins else f", {format_number(last)} at M = {last_bins}"
    return f"{name}: {format_number(first)} at M = {first_bins}{end}{rsd}"


def _curve_name(run_curve: RunCurve) -> str:
    return run_curve.title if run_curve.single_run else f"{run_curve.title}, {run_curve.run}"


# --- Values relative to their mean -------------------------------------------------------------------------

NO_MEAN: Final = "No metric has a mean to be divided by"


def relative_values_figure(
    results: Sequence[Sweep], theme: Theme, style_indices: Sequence[int] = ()
) -> Figure:
    """Each metric divided by its own mean over M, on a logarithmic axis, with the RSD in the legend.

    A metric without an exact value at some M has no mean and no line; K·cw-ECE has none if cw-ECE is there.

    Parameters
    ----------
    results : Sequence[Sweep]
        One or more, over the same M.
    theme : Theme
        Colours.
    style_indices : Sequence[int]
        Indices of the runs among all loaded runs.
    """
    curves = _relative_curves(results, style_indices)
    entries = sweep_legend(curves, theme, relative=True)
    layout, stack = sweep_layout(theme, results, entries, panels=1)
    data: list[dict[str, Any]] = []
    drawn = [1.0]
    for curve in curves:
        ratios = _values_over_mean(curve)
        drawn += ratios
        data.append(curve_line(curve, theme, "y", ratios, [f"{ratio:.2f} × its mean" for ratio in ratios]))
    layout["yaxis"] = axis(
        theme,
        "Value / own mean over M",
        domain=stack.domains[0],
        range=list(_fitting_ends(drawn)),
        nticks=6,
        tickformat="~g",
    )
    layout["shapes"] = [horizontal_line(1, color=theme.axis_line, width=1.5)]
    if not curves:
        layout["annotations"].append(panel_heading(NO_MEAN, theme, stack))
    return {"data": [*entries, *data] or [empty_trace()], "layout": layout}


def _relative_curves(results: Sequence[Sweep], style_indices: Sequence[int] = ()) -> list[RunCurve]:
    """The curves that have a mean."""
    distinct = [replace(result, curves=tuple(without_redundant_curves(result.curves))) for result in results]
    return [curve for curve in run_curves(distinct, style_indices) if curve.curve.rsd is not None]


def _values_over_mean(run_curve: RunCurve) -> list[float]:
    """The values of a curve without gaps, divided by their mean."""
    values = [value for value in run_curve.curve.values if value is not None]
    mean = sum(values) / len(values)
    return [value / mean for value in values]


def describe_relative_values(results: Sequence[Sweep]) -> str:
    """Describe the figure in a few sentences for screen readers, as plain text."""
    descriptions = "; ".join(map(_relative_curve_text, _relative_curves(results)))
    return f"Metrics divided by their own mean over M. {descriptions or NO_MEAN}."


def _relative_curve_text(run_curve: RunCurve) -> str:
    ratios, rsd = _values_over_mean(run_curve), format_percent(run_curve.curve.rsd or 0.0)
    return f"{_curve_name(run_curve)}: from {min(ratios):.2f} to {max(ratios):.2f} times its mean, RSD {rsd}"

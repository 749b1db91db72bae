"""A metric and the mean confidence over the number of samples N' per question, a line for each method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from calib_core.figures.layout import (
    LABEL_SIZE,
    Figure,
    PanelStack,
    annotation,
    axis,
    base_layout,
    empty_trace,
    horizontal_line,
    legend_entry,
    legend_margin,
    legend_names,
    panel_heading,
    stack_panels,
)
from calib_core.figures.marks import band_trace
from calib_core.figures.palette import Theme, blend, marker_style, method_style, with_opacity
from calib_core.figures.text import escape_for_plotly, wrap_lines
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.sampling import METHOD_SYMBOLS, SampleSizeCurve, SampleSizeSweep
from calib_core.wording import NOT_DEFINED, format_interval, format_number, format_signed

PANEL_HEIGHT: Final = 205
"""Height of each of the two panels in pixels."""

_GREYED_OPACITY: Final = 0.5
"""Opacity of a greyed point."""

_GREYED_GROUND_OPACITY: Final = 0.13
"""Opacity of the grey background behind greyed points."""

MAJORITY_ANSWER: Final = "majority answer, the same for all three"


def sampling_figure(result: SampleSizeSweep, metric: str, theme: Theme) -> Figure:
    """The metric over N' with the spread of the draws, and the mean confidence of each method below it.

    The axis of N' is logarithmic. Sample sizes with a caveat on their spread have pale open markers on a grey
    background. Baselines, which need no samples, are horizontal lines in the upper panel; the lower one also
    shows the ceiling 1 − 1/N' of F_CN.

    Parameters
    ----------
    result : SampleSizeSweep
        The metrics by sample size.
    metric : str
        Id of a metric that the result has.
    theme : Theme
        Colours.
    """
    curves = _plotted_curves(result, metric)
    entries = [
        *(_curve_legend_entry(result, curve, theme, len(curves)) for curve in curves),
        *_greyed_legend_entry(result, theme),
    ]
    top, one_per_line = legend_margin(legend_names(entries), one_per_line=True)
    stack = stack_panels(2, top=top, panel_height=PANEL_HEIGHT)
    layout = base_layout(theme, height=stack.height, top=top, one_per_line=one_per_line)
    low, high = _value_range(result, curves, metric)
    levels = baseline_levels(result, metric)
    layout |= {
        "hovermode": "closest",
        "xaxis": _sample_size_axis(result, theme, stack),
        "yaxis": axis(theme, METRICS[metric].title, domain=stack.domains[0], range=[low, high], nticks=7),
        "yaxis2": axis(
            theme,
            "Mean confidence",
            domain=stack.domains[1],
            range=list(CONFIDENCE_AXIS_RANGE),
            tickvals=[0, 0.25, 0.5, 0.75, 1],
        ),
        "shapes": [*_greyed_ground(result, theme), *baseline_lines(levels, theme)],
        "annotations": [
            panel_heading(f"{METRICS[metric].title} over the number of samples", theme, stack, 0),
            panel_heading("Mean confidence, and accuracy of the majority answer", theme, stack, 1),
            *level_labels(levels, theme, (low, high), PANEL_HEIGHT),
            *level_labels(mean_confidence_labels(result), theme, CONFIDENCE_AXIS_RANGE, PANEL_HEIGHT, "y2"),
        ],
    }
    data = [trace for curve in curves for trace in _curve_traces(result, curve, theme)]
    return {
        "data": [*entries, *data, *mean_confidence_lines(result, theme)] or [empty_trace()],
        "layout": layout,
    }


def _plotted_curves(result: SampleSizeSweep, metric: str) -> list[SampleSizeCurve]:
    """A curve for each method; for accuracy, which is that of the majority answer, one for all methods."""
    curves = [curve for curve in result.curves if curve.metric == metric]
    return curves[:1] if metric == "accuracy" else curves


def _curve_legend_entry(
    result: SampleSizeSweep, curve: SampleSizeCurve, theme: Theme, n_curves: int
) -> dict[str, Any]:
    """The legend entry of a curve, with the sample size that is enough, or better, where one is known."""
    style = method_style(curve.method, theme)
    if n_curves == 1 and curve.metric == "accuracy":
        name = f"Accuracy of the {MAJORITY_ANSWER}"
    else:
        name = METHOD_SYMBOLS[curve.method]
        found = next((found for found in result.sufficient_sizes if found.method == curve.method), None)
        if found is not None and found.answer != "none":
            name += f" (N' = {found.answer_text} is {found.answer})"
    return legend_entry(name, "lines+markers", line=style.line(), marker=style.marker(theme, 8))


def _curve_traces(result: SampleSizeSweep, curve: SampleSizeCurve, theme: Theme) -> list[dict[str, Any]]:
    """The band of spreads, then the line: solid up to the last size not greyed, dotted and pale beyond."""
    style = method_style(curve.method, theme)
    line, symbol = style.line(), style.symbol
    clear = [index for index, size in enumerate(result.sizes) if size not in result.spread_caveats]
    known = [index for index in clear if curve.mean[index] is not None and curve.std[index] is not None]
    traces: list[dict[str, Any]] = []
    if known:
        x = [float(result.sizes[index]) for index in known]
        moments = [(curve.mean[index] or 0.0, curve.std[index] or 0.0) for index in known]
        minimum = _metric_minimum(curve.metric)
        low = [max(mean - std, minimum) for mean, std in moments]
        high = [mean + std for mean, std in moments]
        traces.append(band_trace(x, low, high, line["color"]))
    greyed = [index for index in range(len(result.sizes)) if index not in clear]
    if greyed:
        joined = [*clear[-1:], *greyed]
        pale_line = {
            "color": blend(line["color"], theme.background, _GREYED_OPACITY),
            "width": 1.6,
            "dash": "dot",
        }
        traces.append(_points_trace(result, curve, joined, pale_line, symbol, theme) | {"mode": "lines"})
        traces.append(
            _points_trace(result, curve, greyed, pale_line, f"{symbol}-open", theme) | {"mode": "markers"}
        )
    if clear:
        traces.append(_points_trace(result, curve, clear, line, symbol, theme))
    return traces


def _points_trace(
    result: SampleSizeSweep,
    curve: SampleSizeCurve,
    indices: Sequence[int],
    line: dict[str, Any],
    symbol: str,
    theme: Theme,
) -> dict[str, Any]:
    """The points of a curve at these indices of its sizes, joined by a line."""
    marker = marker_style(line["color"], symbol, theme)
    if symbol.endswith("-open"):
        marker["line"] = {"color": line["color"], "width": 1.8}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "cliponaxis": False,
        "showlegend": False,
        "x": [result.sizes[index] for index in indices],
        "y": [rounded(curve.mean[index]) for index in indices],
        "line": line,
        "marker": marker,
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": [_hover_text(result, curve, index) for index in indices],
        "meta": {"method": curve.method, "metric": curve.metric, "greyed": symbol.endswith("-open")},
    }


def _hover_text(result: SampleSizeSweep, curve: SampleSizeCurve, index: int) -> str:
    """The hover text of one point, as plotly's HTML."""
    size, mean, std = result.sizes[index], curve.mean[index], curve.std[index]
    spread = "" if std is None else f" ± {std:.4f} over {result.n_draws[size]:,} draws"
    title = METRICS[curve.metric].title
    lines = [
        f"<b>{METHOD_SYMBOLS[curve.method]}</b>",
        f"N' = {size}",
        f"{title} {four_decimals(mean)}{spread}",
    ]
    if (difference := result.brier_differences[curve.method].get(size)) and curve.metric == "brier":
        interval = format_interval(difference.low, difference.high, "+.4f")
        lines.append(f"to N' = {result.reference_size}: {format_signed(difference.value)} ({interval})")
    if size in result.spread_caveats:
        lines += escape_for_plotly(result.spread_caveats[size]).replace(": ", ":<br>").split("<br>")
    return "<br>".join(lines)


def _value_range(
    result: SampleSizeSweep, curves: Sequence[SampleSizeCurve], metric: str
) -> tuple[float, float]:
    """Both ends of the upper axis, around everything drawn; not from 0, since there are no bars."""
    known = [
        max(mean + sign * (std or 0.0), _metric_minimum(metric))
        for curve in curves
        for mean, std in zip(curve.mean, curve.std, strict=True)
        if mean is not None
        for sign in (-1, 1)
    ]
    known += [baseline.value for baseline in result.baselines if baseline.metric == metric]
    low, high = min(known, default=0.0), max(known, default=1.0)
    padding = max(0.1 * (high - low), 0.004)
    return low - padding, high + padding


def _metric_minimum(metric: str) -> float:
    """The smallest value that the metric can take, below which no spread is drawn."""
    low = METRICS[metric].low
    return -math.inf if low is None else low


def _log_axis_ends(result: SampleSizeSweep) -> tuple[float, float, float]:
    """Left end of the axis, right end of the part with data, and right end of the axis, in decades."""
    low, high = (math.log10(size) for size in (result.sizes[0], result.sizes[-1]))
    padding = max(0.08 * (high - low), 0.05)
    left, right = low - padding, high + padding
    return left, right, left + (right - left) / (1 - LABEL_SHARE)


def _sample_size_axis(result: SampleSizeSweep, theme: Theme, stack: PanelStack) -> dict[str, Any]:
    """The logarithmic axis of N', with a tick at each size."""
    left, _, right = _log_axis_ends(result)
    return axis(
        theme,
        "Number of samples N' (log)",
        standoff=6,
        type="log",
        range=[left, right],
        tickvals=list(result.sizes),
        ticktext=[f"{size:,}" for size in result.sizes],
        anchor=stack.bottom_axis,
    )


def _greyed_ground(result: SampleSizeSweep, theme: Theme) -> list[Figure]:
    """The grey background of greyed sizes, from half-way between them and the last other size."""
    if not result.spread_caveats:
        return []
    left, right, _ = _log_axis_ends(result)
    clear = [size for size in result.sizes if size not in result.spread_caveats]
    border = (math.log10(min(result.spread_caveats)) + math.log10(clear[-1])) / 2 if clear else left
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": f"{yref} domain",
            "layer": "below",
            "line": {"width": 0},
            "x0": 10**border,
            "x1": 10**right,
            "y0": 0,
            "y1": 1,
            "fillcolor": with_opacity(theme.axis_line, _GREYED_GROUND_OPACITY),
        }
        for yref in ("y", "y2")
    ]


def _greyed_legend_entry(result: SampleSizeSweep, theme: Theme) -> list[dict[str, Any]]:
    """The legend entry of the grey background: within the panels, a note would cover lines."""
    if not result.spread_caveats:
        return []
    marker = {
        "symbol": "square",
        "size": 13,
        "color": with_opacity(theme.axis_line, 2 * _GREYED_GROUND_OPACITY),
        "line": {"color": theme.muted_text, "width": 1},
    }
    return [legend_entry("grey: subsets overlap", "markers", marker=marker)]


def describe_sampling(result: SampleSizeSweep, metric: str) -> str:
    """Describe the figure in a few sentences for screen readers, as plain text.

    Parameters are those of `sampling_figure`.
    """
    curves, first_and_last = _plotted_curves(result, metric), sorted({0, len(result.sizes) - 1})
    descriptions = [
        f"{MAJORITY_ANSWER if metric == 'accuracy' else METHOD_SYMBOLS[curve.method]} "
        + ", ".join(
            f"{four_decimals(curve.mean[index])} at N' = {result.sizes[index]}" for index in first_and_last
        )
        for curve in curves
    ]
    levels = [f"{level.name} {format_number(level.value)}" for level in baseline_levels(result, metric)]
    baselines = f" Without samples: {'; '.join(levels)}." if levels else ""
    return f"{METRICS[metric].title} over the number of samples. {'; '.join(descriptions)}.{baselines}"


# --- Baselines, which need no samples, and labels at the right end -----------------------------------------

_LABEL_SPACING: Final = 34
"""Pixels from the middle of a label of two lines to that of the next."""

_LABEL_LINE_LENGTH: Final = 18
"""Characters of one line of a label; a longer name takes two."""

LABEL_SHARE: Final = 0.27
"""Fraction of the panel's width, at its right end, that is kept for labels."""


@dataclass(frozen=True, slots=True)
class LabelledLevel:
    """A label to the right of the data.

    Attributes
    ----------
    value : float
        The value on the vertical axis at which the label belongs.
    name : str
        Its text.
    has_line : bool
        Whether a horizontal line leads to it. If so, the label also states the value.
    """

    value: float
    name: str
    has_line: bool = True


def baseline_levels(result: SampleSizeSweep, metric: str) -> list[LabelledLevel]:
    """The baselines of a metric from low to high; equal accuracies of the same answer have one level."""
    named = {
        (baseline.value, baseline.judged if metric == "accuracy" else METHODS[baseline.method].title)
        for baseline in result.baselines
        if baseline.metric == metric
    }
    return [LabelledLevel(value, name) for value, name in sorted(named)]


def baseline_lines(levels: Sequence[LabelledLevel], theme: Theme) -> list[Figure]:
    """Dashed horizontal lines across the upper panel, up to the labels."""
    return [
        horizontal_line(level.value, color=theme.muted_text, width=1.5, dash="9px,4px")
        | {"x1": 1 - LABEL_SHARE}
        for level in levels
    ]


def level_labels(
    levels: Sequence[LabelledLevel],
    theme: Theme,
    axis_range: tuple[float, float],
    height: float,
    yref: str = "y",
) -> list[Figure]:
    """A label at the right end of each level, moved up where it would touch the one below.

    Parameters
    ----------
    levels : Sequence[LabelledLevel]
        From low to high.
    theme : Theme
        Colours.
    axis_range : tuple[float, float]
        Both ends of the vertical axis.
    height : float
        Height of the panel in pixels.
    yref : str
        Name of the vertical axis.
    """
    labels: list[Figure] = []
    min_y = _LABEL_SPACING / 2
    for index, level in enumerate(levels):
        level_y = (level.value - axis_range[0]) / (axis_range[1] - axis_range[0]) * height
        needed_above = (len(levels) - index - 0.5) * _LABEL_SPACING  # for this label and those still to come
        label_y = max(min_y, min(level_y, height - needed_above))
        min_y = label_y + _LABEL_SPACING
        labels.append(
            annotation(
                theme,
                wrap_lines(level.name, _LABEL_LINE_LENGTH)
                + (f"<br>{level.value:.4f}" if level.has_line else ""),
                xref="x domain",
                x=1 - LABEL_SHARE + 0.015,
                xanchor="left",
                align="left",
                yref=yref,
                y=level.value,
                yanchor="middle",
                yshift=round(label_y - level_y),
                font={"size": LABEL_SIZE, "color": theme.muted_text},
            )
        )
    return labels


# --- Lower panel: mean confidence, and accuracy of the majority answer -------------------------------------

CONFIDENCE_AXIS_RANGE: Final = (0.0, 1.08)
"""Both ends of the lower panel's vertical axis."""


def mean_confidence_lines(result: SampleSizeSweep, theme: Theme) -> list[dict[str, Any]]:
    """Mean confidence of each method, the accuracy of the majority answer, and the ceiling of F_CN."""
    x = list(result.sizes)
    traces: list[dict[str, Any]] = []
    shared = {"type": "scatter", "yaxis": "y2", "showlegend": False, "hoverinfo": "text", "x": x}
    if "cluster_number" in result.mean_confidence:
        ceilings = [(size - 1) / size for size in x]
        colour = method_style("cluster_number", theme).colour
        hover_texts = [
            f"F_CN is at most<br>1 − 1/{size} = {ceiling:.4g}"
            for size, ceiling in zip(x, ceilings, strict=True)
        ]
        traces.append(
            shared
            | {
                "mode": "lines+markers",
                "y": ceilings,
                "hovertext": hover_texts,
                "meta": {"ceiling": True},
                "line": {"color": colour, "width": 1.4, "dash": "6px,5px"},
                "marker": {"symbol": "line-ew-open", "size": 16, "color": colour, "line": {"width": 2}},
            }
        )
    traces.append(
        shared
        | {
            "mode": "lines" if len(x) > 1 else "markers",
            "marker": {"color": theme.muted_text, "size": 7},
            "y": [rounded(accuracy) for accuracy in result.accuracy],
            "meta": {"accuracy": True},
            "line": {"color": theme.muted_text, "width": 2, "dash": "2px,3px"},
            "hovertext": [
                f"accuracy of the majority<br>N' = {size}: {four_decimals(value)}"
                for size, value in zip(x, result.accuracy, strict=True)
            ],
        }
    )
    for method, means in result.mean_confidence.items():
        style = method_style(method, theme)
        traces.append(
            shared
            | {
                "mode": "lines+markers",
                "y": [rounded(mean) for mean in means],
                "cliponaxis": False,
                "line": style.line(),
                "marker": style.marker(theme, 8),
                "meta": {"said": method},
                "hovertext": [
                    f"<b>{METHOD_SYMBOLS[method]}</b><br>N' = {size}"
                    f"<br>mean confidence {four_decimals(value)}"
                    for size, value in zip(x, means, strict=True)
                ],
            }
        )
    return traces


def mean_confidence_labels(result: SampleSizeSweep) -> list[LabelledLevel]:
    """Labels of the lines in the lower panel that are no methods, from low to high."""
    largest = result.sizes[-1]
    labels: list[LabelledLevel] = []
    if "cluster_number" in result.mean_confidence:
        labels.append(LabelledLevel((largest - 1) / largest, "F_CN's ceiling, 1−1/N'", has_line=False))
    if (accuracy := result.accuracy[-1]) is not None:
        labels.append(LabelledLevel(accuracy, "accuracy", has_line=False))
    return sorted(labels, key=lambda level: level.value)


def four_decimals(value: float | None) -> str:
    """The value with four decimals, or a note that it is not defined."""
    return format_number(value, missing=NOT_DEFINED)


def rounded(value: float | None) -> float | None:
    """The value rounded to digits that a pixel can show."""
    return None if value is None else round(value, 7)

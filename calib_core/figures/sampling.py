"""How is it drawn that a metric depends on the number of samples N'?  One result → a line a method."""

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

# MERGED sampling_levels: How are methods that need no samples drawn beside those that do?  Level lines with a label each.

_LABEL_SPACING: Final = 30
"""Pixels from the middle of one label, of two lines, to that of the next."""

_LABEL_LINE_LENGTH: Final = 18
"""Letters of one line of a label: a longer name has two."""

LABEL_SHARE: Final = 0.27
"""The part of the figure's breadth, at its right end, that is left to labels."""


@dataclass(frozen=True, slots=True)
class LabelledLevel:
    """One label beside the data, at its height. name: whose it is; line: whether a line leads to it."""

    value: float
    name: str
    has_line: bool = True


def baseline_levels(result: SampleSizeSweep, metric: str) -> list[LabelledLevel]:
    """The baselines from low to high; accuracies of one answer are one."""
    own = [each for each in result.baselines if each.metric == metric]
    named = {
        (each.value, each.judged if metric == "accuracy" else METHODS[each.method].title) for each in own
    }
    return [LabelledLevel(value, name) for value, name in sorted(named)]


def baseline_lines(levels: Sequence[LabelledLevel], theme: Theme) -> list[Figure]:
    """Dashed lines across the upper panel, as far as the labels."""
    return [
        {
            "type": "line",
            "xref": "x domain",
            "yref": "y",
            "x0": 0,
            "x1": 1 - LABEL_SHARE,
            "y0": level.value,
            "y1": level.value,
            "layer": "below",
            "line": {"color": theme.muted_text, "width": 1.5, "dash": "9px,4px"},
        }
        for level in levels
    ]


def level_labels(
    levels: Sequence[LabelledLevel],
    theme: Theme,
    axis_range: tuple[float, float],
    height: float,
    yref: str = "y",
) -> list[Figure]:
    """A label at the right end of each line, moved up where the one below it would touch it.

    levels: from low to high; span: ends of the axis; height: its pixels.
    """
    labels: list[Figure] = []
    least = _LABEL_SPACING / 2
    for place, level in enumerate(levels):
        own = (level.value - axis_range[0]) / (axis_range[1] - axis_range[0]) * height
        above = (
            len(levels) - place - 0.5
        ) * _LABEL_SPACING  # room for this one and those that are still to come
        at = max(least, min(own, height - above))
        least = at + _LABEL_SPACING
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
                yshift=round(at - own),
                font={"size": LABEL_SIZE, "color": theme.muted_text},
            )
        )
    return labels


# MERGED sampling_said: What do the methods say on average at each N', and how often is the majority right?  The lower panel.

CONFIDENCE_AXIS_RANGE: Final = (0.0, 1.08)
"""Ends of the lower axis."""


def mean_confidence_lines(result: SampleSizeSweep, theme: Theme) -> list[dict[str, Any]]:
    """Mean confidence of each method, the accuracy they speak of, and the most that F_CN can say."""
    x = list(result.sizes)
    traces: list[dict[str, Any]] = []
    common = {"type": "scatter", "yaxis": "y2", "showlegend": False, "hoverinfo": "text", "x": x}
    if "cluster_number" in result.mean_confidence:
        most = [(size - 1) / size for size in x]
        colour = method_style("cluster_number", theme).colour
        words = [f"F_CN is at most<br>1 − 1/{size} = {end:.4g}" for size, end in zip(x, most, strict=True)]
        traces.append(
            common
            | {
                "mode": "lines+markers",
                "y": most,
                "hovertext": words,
                "meta": {"ceiling": True},
                "line": {"color": colour, "width": 1.4, "dash": "6px,5px"},
                "marker": {"symbol": "line-ew-open", "size": 16, "color": colour, "line": {"width": 2}},
            }
        )
    traces.append(
        common
        | {
            "mode": "lines" if len(x) > 1 else "markers",
            "marker": {"color": theme.muted_text, "size": 7},
            "y": [rounded(right) for right in result.accuracy],
            "meta": {"accuracy": True},
            "line": {"color": theme.muted_text, "width": 2, "dash": "2px,3px"},
            "hovertext": [
                f"accuracy of the majority<br>N' = {size}: {four_decimals(value)}"
                for size, value in zip(x, result.accuracy, strict=True)
            ],
        }
    )
    for method, said in result.mean_confidence.items():
        own = method_style(method, theme)
        traces.append(
            common
            | {
                "mode": "lines+markers",
                "y": [rounded(value) for value in said],
                "cliponaxis": False,
                "line": own.line(),
                "marker": own.marker(theme, 8),
                "meta": {"said": method},
                "hovertext": [
                    f"<b>{METHOD_SYMBOLS[method]}</b><br>N' = {size}<br>mean confidence {four_decimals(value)}"
                    for size, value in zip(x, said, strict=True)
                ],
            }
        )
    return traces


def mean_confidence_labels(result: SampleSizeSweep) -> list[LabelledLevel]:
    """What is in the lower panel besides the methods, named where it ends."""
    last = result.sizes[-1]
    labels = [LabelledLevel((last - 1) / last, "F_CN's ceiling, 1−1/N'", has_line=False)]
    if (right := result.accuracy[-1]) is not None:
        labels.append(LabelledLevel(right, "accuracy", has_line=False))
    wanted = labels if "cluster_number" in result.mean_confidence else labels[1:]
    return sorted(wanted, key=lambda level: level.value)


def four_decimals(value: float | None) -> str:
    """Four decimals, or why there are none."""
    return format_number(value, missing=NOT_DEFINED)


def rounded(value: float | None) -> float | None:
    """Without digits that no pixel shows."""
    return None if value is None else round(value, 7)


PANEL_HEIGHT: Final = 270
"""Pixels of each of the two panels."""

_GREYED_OPACITY: Final = 0.5
"""How strong a greyed point is drawn."""

_GREYED_GROUND_OPACITY: Final = 0.13
"""How strong the ground is that they stand on."""

MAJORITY_ANSWER: Final = "majority answer, the same for all three"


def sampling_figure(result: SampleSizeSweep, metric: str, theme: Theme) -> Figure:
    """The metric over N' (log) with the spread of the draws, and below it what the methods say on average.

    Greyed sizes are open and pale, on a grey ground; baselines are level lines in the upper panel; F_CN's
    ceiling 1 − 1/N' is in the lower one. metric: one that the result has.
    """
    curves = _plotted_curves(result, metric)
    entries = [
        *(_curve_legend_entry(result, curve, theme, len(curves)) for curve in curves),
        *_greyed_legend_entry(result, theme),
    ]
    top, alone = legend_margin(legend_names(entries), one_per_line=True)
    stack = stack_panels(2, top=top, panel_height=PANEL_HEIGHT)
    layout = base_layout(theme, height=stack.height, top=top, one_per_line=alone)
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
            panel_heading("What they say on average, and the accuracy of the majority", theme, stack, 1),
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
    """One curve a method; accuracy is the majority answer's, so that one stands for all."""
    curves = [curve for curve in result.curves if curve.metric == metric]
    return curves[:1] if metric == "accuracy" else curves


def _curve_legend_entry(
    result: SampleSizeSweep, curve: SampleSizeCurve, theme: Theme, n_curves: int
) -> dict[str, Any]:
    own = method_style(curve.method, theme)
    alone = n_curves == 1 and curve.metric == "accuracy"
    enough = next((each.size for each in result.sufficient_sizes if each.method == curve.method), None)
    told = f" (N' = {enough} is enough)" if enough and not alone else ""
    name = f"Accuracy of the {MAJORITY_ANSWER}" if alone else f"{METHOD_SYMBOLS[curve.method]}{told}"
    return legend_entry(name, "lines+markers", line=own.line(), marker=own.marker(theme, 8))


def _curve_traces(result: SampleSizeSweep, curve: SampleSizeCurve, theme: Theme) -> list[dict[str, Any]]:
    """The spread below, then the line: solid to the last size that is not greyed, dotted and pale beyond."""
    own = method_style(curve.method, theme)
    line, symbol = own.line(), own.symbol
    clear = [at for at, size in enumerate(result.sizes) if size not in result.spread_caveats]
    known = [at for at in clear if curve.mean[at] is not None and curve.std[at] is not None]
    traces: list[dict[str, Any]] = []
    if known:
        x = [float(result.sizes[at]) for at in known]
        ends = [(curve.mean[at] or 0.0, curve.std[at] or 0.0) for at in known]
        least = _metric_minimum(curve.metric)
        below, above = [max(mean - std, least) for mean, std in ends], [mean + std for mean, std in ends]
        traces.append(band_trace(x, below, above, line["color"]))
    pale = [at for at in range(len(result.sizes)) if at not in clear]
    if pale:
        joined = [*clear[-1:], *pale]
        faint = {
            "color": blend(line["color"], theme.background, _GREYED_OPACITY),
            "width": 1.6,
            "dash": "dot",
        }
        traces.append(_points_trace(result, curve, joined, faint, symbol, theme) | {"mode": "lines"})
        traces.append(
            _points_trace(result, curve, pale, faint, f"{symbol}-open", theme) | {"mode": "markers"}
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
    marker = marker_style(line["color"], symbol, theme)
    if symbol.endswith("-open"):
        marker["line"] = {"color": line["color"], "width": 1.8}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "cliponaxis": False,
        "showlegend": False,
        "x": [result.sizes[at] for at in indices],
        "y": [rounded(curve.mean[at]) for at in indices],
        "line": line,
        "marker": marker,
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "text",
        "hovertext": [_hover_text(result, curve, at) for at in indices],
        "meta": {"method": curve.method, "metric": curve.metric, "greyed": symbol.endswith("-open")},
    }


def _hover_text(result: SampleSizeSweep, curve: SampleSizeCurve, index: int) -> str:
    """What the hover says of one point, as plotly's HTML."""
    size, mean, std = result.sizes[index], curve.mean[index], curve.std[index]
    spread = "" if std is None else f" ± {std:.4f} over {result.draws[size]:,} draws"
    title = METRICS[curve.metric].title
    words = [
        f"<b>{METHOD_SYMBOLS[curve.method]}</b>",
        f"N' = {size}",
        f"{title} {four_decimals(mean)}{spread}",
    ]
    if (gap := result.brier_differences[curve.method].get(size)) and curve.metric == "brier":
        ends = format_interval(gap.low, gap.high, "+.4f")
        words.append(f"to N' = {result.reference_size}: {format_signed(gap.value)} ({ends})")
    if size in result.spread_caveats:
        words += escape_for_plotly(result.spread_caveats[size]).replace(": ", ":<br>").split("<br>")
    return "<br>".join(words)


def _value_range(
    result: SampleSizeSweep, curves: Sequence[SampleSizeCurve], metric: str
) -> tuple[float, float]:
    """The ends of the upper axis: around everything that is drawn, not from 0, as nothing is a bar."""
    known = [
        max(mean + side * (std or 0.0), _metric_minimum(metric))
        for curve in curves
        for mean, std in zip(curve.mean, curve.std, strict=True)
        if mean is not None
        for side in (-1, 1)
    ]
    known += [each.value for each in result.baselines if each.metric == metric]
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = max(0.1 * (high - low), 0.004)
    return low - room, high + room


def _metric_minimum(metric: str) -> float:
    """The smallest number that the metric can be: no spread reaches below it."""
    low = METRICS[metric].low
    return -math.inf if low is None else low


def _log_axis_ends(result: SampleSizeSweep) -> tuple[float, float, float]:
    """The left end of the axis, the right end of the data's part, and that of the axis, as powers of ten."""
    low, high = (math.log10(size) for size in (result.sizes[0], result.sizes[-1]))
    room = max(0.08 * (high - low), 0.05)
    left, right = low - room, high + room
    return left, right, left + (right - left) / (1 - LABEL_SHARE)


def _sample_size_axis(result: SampleSizeSweep, theme: Theme, stack: PanelStack) -> dict[str, Any]:
    """N' at equal steps a doubling, a tick at each."""
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
    """The ground of the sizes that are greyed, from half-way to the last clear one."""
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
    """What the grey ground means, in the legend: within the panels, words would stand on lines."""
    if not result.spread_caveats:
        return []
    marker = {
        "symbol": "square",
        "size": 13,
        "color": with_opacity(theme.axis_line, 2 * _GREYED_GROUND_OPACITY),
        "line": {"color": theme.muted_text, "width": 1},
    }
    return [legend_entry("grey ground: N' > N/2", "markers", marker=marker)]


def describe_sampling(result: SampleSizeSweep, metric: str) -> str:
    """The figure in a few sentences, for who cannot see it: text, not HTML."""
    curves, ends = _plotted_curves(result, metric), sorted({0, len(result.sizes) - 1})
    told = [
        f"{MAJORITY_ANSWER if metric == 'accuracy' else METHOD_SYMBOLS[curve.method]} "
        + ", ".join(f"{four_decimals(curve.mean[at])} at N' = {result.sizes[at]}" for at in ends)
        for curve in curves
    ]
    levels = [f"{level.name} {format_number(level.value)}" for level in baseline_levels(result, metric)]
    tail = f" Without samples: {'; '.join(levels)}." if levels else ""
    return f"{METRICS[metric].title} over the number of samples. {'; '.join(told)}.{tail}"

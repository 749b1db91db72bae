"""How is it drawn that a metric depends on the number of samples N'?  One result → a line a method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from calib_core.analysis.samples_result import NAMES, Curve, Sampled
from calib_core.figures.layout import Figure, axis, entry, legend_names, legend_room, nothing, paper
from calib_core.figures.method_look import look
from calib_core.figures.sampling_levels import SHARE, level_labels, level_lines, levels_of
from calib_core.figures.sampling_said import LOWER, four, rounded, said_labels, said_lines
from calib_core.figures.stack import Stack, heading, stack_of
from calib_core.figures.strokes import band, points
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme, glaze, tint
from calib_core.metrics import METRICS
from calib_core.wording import number, signed, span

EACH: Final = 270
"""Pixels of each of the two panels."""

_PALE: Final = 0.5
"""How strong a greyed point is drawn."""

_GROUND: Final = 0.13
"""How strong the ground is that they stand on."""

SAME: Final = "majority answer, the same for all three"


def sampling_figure(result: Sampled, metric: str, theme: Theme) -> Figure:
    """The metric over N' (log) with the spread of the draws, and below it what the methods say on average.

    Greyed sizes are open and pale, on a grey ground; baselines are level lines in the upper panel; F_CN's
    ceiling 1 − 1/N' is in the lower one. metric: one that the result has.
    """
    curves = _drawn(result, metric)
    entries = [*(_entry(result, curve, theme, len(curves)) for curve in curves), *_grey_entry(result, theme)]
    top, alone = legend_room(legend_names(entries), alone=True)
    stack = stack_of(2, top=top, each=EACH)
    layout = paper(theme, height=stack.height, top=top, alone=alone)
    low, high = _span(result, curves, metric)
    levels = levels_of(result, metric)
    layout |= {
        "hovermode": "closest",
        "xaxis": _x_axis(result, theme, stack),
        "yaxis": axis(theme, METRICS[metric].title, domain=stack.down[0], range=[low, high], nticks=7),
        "yaxis2": axis(
            theme, "Mean confidence", domain=stack.down[1], range=list(LOWER),
            tickvals=[0, 0.25, 0.5, 0.75, 1],
        ),
        "shapes": [*_greyed(result, theme), *level_lines(levels, theme)],
        "annotations": [
            heading(f"{METRICS[metric].title} over the number of samples", theme, stack, 0),
            heading("What they say on average, and the accuracy of the majority", theme, stack, 1),
            *level_labels(levels, theme, (low, high), EACH),
            *level_labels(said_labels(result), theme, LOWER, EACH, "y2"),
        ],
    }
    data = [trace for curve in curves for trace in _curve(result, curve, theme)]
    return {"data": [*entries, *data, *said_lines(result, theme)] or [nothing()], "layout": layout}


def _drawn(result: Sampled, metric: str) -> list[Curve]:
    """One curve a method; accuracy is the majority answer's, so that one stands for all."""
    curves = [curve for curve in result.curves if curve.metric == metric]
    return curves[:1] if metric == "accuracy" else curves


def _entry(result: Sampled, curve: Curve, theme: Theme, drawn: int) -> dict[str, Any]:
    own = look(curve.method, theme)
    alone = drawn == 1 and curve.metric == "accuracy"
    enough = next((each.size for each in result.enough if each.method == curve.method), None)
    told = f" (N' = {enough} is enough)" if enough and not alone else ""
    name = f"Accuracy of the {SAME}" if alone else f"{NAMES[curve.method]}{told}"
    return entry(name, "lines+markers", line=own.line(), marker=own.marker(theme, 8))


def _curve(result: Sampled, curve: Curve, theme: Theme) -> list[dict[str, Any]]:
    """The spread below, then the line: solid to the last size that is not greyed, dotted and pale beyond."""
    own = look(curve.method, theme)
    line, symbol = own.line(), own.symbol
    clear = [at for at, size in enumerate(result.sizes) if size not in result.greyed]
    known = [at for at in clear if curve.mean[at] is not None and curve.std[at] is not None]
    traces: list[dict[str, Any]] = []
    if known:
        x = [float(result.sizes[at]) for at in known]
        ends = [(curve.mean[at] or 0.0, curve.std[at] or 0.0) for at in known]
        least = _least(curve.metric)
        below, above = [max(mean - std, least) for mean, std in ends], [mean + std for mean, std in ends]
        traces.append(band(x, below, above, line["color"]))
    pale = [at for at in range(len(result.sizes)) if at not in clear]
    if pale:
        joined = [*clear[-1:], *pale]
        faint = {"color": tint(line["color"], theme.page, _PALE), "width": 1.6, "dash": "dot"}
        traces.append(_line(result, curve, joined, faint, symbol, theme) | {"mode": "lines"})
        traces.append(_line(result, curve, pale, faint, f"{symbol}-open", theme) | {"mode": "markers"})
    if clear:
        traces.append(_line(result, curve, clear, line, symbol, theme))
    return traces


def _line(
    result: Sampled, curve: Curve, places: Sequence[int], line: dict[str, Any], symbol: str, theme: Theme
) -> dict[str, Any]:
    marker = points(line["color"], symbol, theme)
    if symbol.endswith("-open"):
        marker["line"] = {"color": line["color"], "width": 1.8}
    return {
        "type": "scatter", "mode": "lines+markers", "cliponaxis": False, "showlegend": False,
        "x": [result.sizes[at] for at in places], "y": [rounded(curve.mean[at]) for at in places],
        "line": line, "marker": marker, "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [_words(result, curve, at) for at in places],
        "meta": {"method": curve.method, "metric": curve.metric, "greyed": symbol.endswith("-open")},
    }


def _words(result: Sampled, curve: Curve, at: int) -> str:
    """What the hover says of one point, as plotly's HTML."""
    size, mean, std = result.sizes[at], curve.mean[at], curve.std[at]
    spread = "" if std is None else f" ± {std:.4f} over {result.draws[size]:,} draws"
    title = METRICS[curve.metric].title
    words = [f"<b>{NAMES[curve.method]}</b>", f"N' = {size}", f"{title} {four(mean)}{spread}"]
    if (gap := result.gaps[curve.method].get(size)) and curve.metric == "brier":
        ends = span(gap.low, gap.high, "+.4f")
        words.append(f"to N' = {result.against}: {signed(gap.value)} ({ends})")
    if size in result.greyed:
        words += plain(result.greyed[size]).replace(": ", ":<br>").split("<br>")
    return "<br>".join(words)


def _span(result: Sampled, curves: Sequence[Curve], metric: str) -> tuple[float, float]:
    """The ends of the upper axis: around everything that is drawn, not from 0, as nothing is a bar."""
    known = [
        max(mean + side * (std or 0.0), _least(metric))
        for curve in curves
        for mean, std in zip(curve.mean, curve.std, strict=True)
        if mean is not None
        for side in (-1, 1)
    ]
    known += [each.value for each in result.baselines if each.metric == metric]
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = max(0.1 * (high - low), 0.004)
    return low - room, high + room


def _least(metric: str) -> float:
    """The smallest number that the metric can be: no spread reaches below it."""
    low = METRICS[metric].low
    return -math.inf if low is None else low


def _ends(result: Sampled) -> tuple[float, float, float]:
    """The left end of the axis, the right end of the data's part, and that of the axis, as powers of ten."""
    low, high = (math.log10(size) for size in (result.sizes[0], result.sizes[-1]))
    room = max(0.08 * (high - low), 0.05)
    left, right = low - room, high + room
    return left, right, left + (right - left) / (1 - SHARE)


def _x_axis(result: Sampled, theme: Theme, stack: Stack) -> dict[str, Any]:
    """N' at equal steps a doubling, a tick at each."""
    left, _, right = _ends(result)
    return axis(
        theme, "Number of samples N' (log)", standoff=6, type="log", range=[left, right],
        tickvals=list(result.sizes), ticktext=[f"{size:,}" for size in result.sizes], anchor=stack.lowest,
    )


def _greyed(result: Sampled, theme: Theme) -> list[Figure]:
    """The ground of the sizes that are greyed, from half-way to the last clear one."""
    if not result.greyed:
        return []
    left, right, _ = _ends(result)
    clear = [size for size in result.sizes if size not in result.greyed]
    border = (math.log10(min(result.greyed)) + math.log10(clear[-1])) / 2 if clear else left
    return [
        {
            "type": "rect", "xref": "x", "yref": f"{yref} domain", "layer": "below", "line": {"width": 0},
            "x0": 10**border, "x1": 10**right, "y0": 0, "y1": 1, "fillcolor": glaze(theme.line, _GROUND),
        }
        for yref in ("y", "y2")
    ]


def _grey_entry(result: Sampled, theme: Theme) -> list[dict[str, Any]]:
    """What the grey ground means, in the legend: within the panels, words would stand on lines."""
    if not result.greyed:
        return []
    marker = {
        "symbol": "square", "size": 13, "color": glaze(theme.line, 2 * _GROUND),
        "line": {"color": theme.muted, "width": 1},
    }
    return [entry("grey ground: N' > N/2", "markers", marker=marker)]


def describe_sampling(result: Sampled, metric: str) -> str:
    """The figure in a few sentences, for who cannot see it: text, not HTML."""
    curves, ends = _drawn(result, metric), sorted({0, len(result.sizes) - 1})
    told = [
        f"{SAME if metric == 'accuracy' else NAMES[curve.method]} "
        + ", ".join(f"{four(curve.mean[at])} at N' = {result.sizes[at]}" for at in ends)
        for curve in curves
    ]
    levels = [f"{level.name} {number(level.value)}" for level in levels_of(result, metric)]
    tail = f" Without samples: {'; '.join(levels)}." if levels else ""
    return f"{METRICS[metric].title} over the number of samples. {'; '.join(told)}.{tail}"

"""How are several runs or methods drawn on one reliability diagram?  One result → a line each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import polars as pl

from calib_core.analysis.lines import Lines
from calib_core.analysis.lines_result import Line
from calib_core.confidence import METHODS
from calib_core.figures.bars import detail
from calib_core.figures.layout import (
    BOTTOM,
    Figure,
    axis,
    entry,
    legend_names,
    legend_room,
    note,
    nothing,
    numbers,
    paper,
    probability,
    share_ticks,
    unit_frame,
)
from calib_core.figures.lines_look import line_looks
from calib_core.figures.spans import abreast, drawn
from calib_core.figures.strokes import Look, points
from calib_core.figures.text import lines as broken
from calib_core.figures.text import plain, without_middle
from calib_core.figures.theme import Theme, tint
from calib_core.metrics import METRICS
from calib_core.wording import count, percent, short, signed

_PLOT: Final = 520
"""Pixels of both panels."""

_SQUARE: Final = [0.25, 1]
_SHARES: Final = [0, 0.185]
_WIDE: Final = 42
"""Letters of an entry of the legend: as wide as a telephone."""

_PALE: Final = 0.45
"""How strong a line is between bins of which one is thin."""


def lines_figure(
    result: Lines, theme: Theme, *, places: Mapping[str, int] | None = None, selected: str | None = None
) -> Figure:
    """A square of accuracy against mean confidence, a point a non-empty bin, and the shares below it.

    A thin bin's point is small and hollow, and the line to it pale. places: key of a line → place of its run
    among all at hand; selected: key of a line to draw broader, without effect where there is none. Every
    point that takes hover and click has `customdata` rows of the line's key and the bin's number.
    """
    looks = line_looks(result, places or {}, theme)
    entries = [
        _entry(result, line, looks[line.key], theme, 3.6 if line.key == selected else 2.2)
        for line in result.lines
    ]
    data: list[dict[str, Any]] = [*_diagonal(theme), *entries]
    for line in result.lines:
        broad = 3.6 if line.key == selected else 2.2
        data += [*_path(line, looks[line.key], theme, broad), *_marks(result, line, looks[line.key], theme)]
        data += _steps(line, looks[line.key])
    top, alone = legend_room(legend_names(data), alone=True)
    layout = paper(theme, height=_PLOT + top + BOTTOM, top=top, alone=alone)
    words = [] if result.lines else [note(theme, broken(result.reading, 24), x=0.3, y=0.75)]
    return {
        "data": data if result.lines else [*data, nothing()],
        "layout": layout | {
            "hovermode": "closest",
            "xaxis": probability(
                theme, "Mean confidence of the bin", standoff=6, anchor="y2", constrain="domain",
                constraintoward="left",
            ),
            "yaxis": probability(
                theme, "Accuracy (share right)", domain=_SQUARE, scaleanchor="x", constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": _share_axis(result, theme),
            "shapes": [unit_frame(theme)],
            "annotations": words,
        },
    }


def _entry(result: Lines, line: Line, look: Look, theme: Theme, width: float) -> dict[str, Any]:
    """What tells the line from the others, and its number."""
    number = f" · {_number(result, line)}"
    name = f"{without_middle(result.labels[line.key], _WIDE - len(number))}{number}"
    return entry(name, "lines+markers", line=look.line(width), marker=look.marker(theme))


def _number(result: Lines, line: Line) -> str:
    """"ECE 0.0312"."""
    value = line.result.score.value
    if value is None:
        return f"{METRICS[result.metric].title} –"
    shown = "∞" if math.isinf(value) else short(value).replace("-", "−")
    return f"{METRICS[result.metric].title} {shown}"


def _path(line: Line, look: Look, theme: Theme, width: float) -> list[dict[str, Any]]:
    """The whole line, pale where it has thin bins, and the parts between two others in full."""
    table = line.result.table
    x, y, thin = numbers(table["confidence"]), numbers(table["accuracy"]), table["thin"].to_list()
    common: dict[str, Any] = {
        "type": "scatter", "mode": "lines", "showlegend": False, "hoverinfo": "skip", "cliponaxis": False,
    }
    if not any(thin):
        return [{**common, "x": x or [None], "y": y or [None], "line": look.line(width)}]
    pale = look.line(1.3) | {"color": tint(look.colour, theme.page, _PALE)}
    clear: list[tuple[float | None, float | None]] = []
    for first, second in pairwise(range(len(thin))):
        if not (thin[first] or thin[second]):
            clear += [(x[first], y[first]), (x[second], y[second]), (None, None)]
    traces = [{**common, "x": x, "y": y, "line": pale}]
    if clear:
        ends: dict[str, Any] = {"x": [one for one, _ in clear], "y": [other for _, other in clear]}
        traces.append({**common, **ends, "line": look.line(width)})
    return traces


def _marks(result: Lines, line: Line, look: Look, theme: Theme) -> list[dict[str, Any]]:
    """A point a bin; of a thin one small and hollow."""
    table, size = line.result.table, detail(abreast(line.result.table, line.result.scheme)).point + 1.5
    name = f"<b>{plain(without_middle(line.run, 60))}</b><br>{plain(METHODS[line.method].title)}"
    traces: list[dict[str, Any]] = []
    for thin in (False, True):
        part = table.filter(pl.col("thin") == thin)
        if not part.height:
            continue
        marker = points(look.colour, look.symbol, theme, size)
        if thin:
            marker = {
                "size": max(0.6 * size, 2), "symbol": f"{look.symbol}-open", "color": look.colour,
                "line": {"color": look.colour, "width": 1},
            }
        traces.append({
            "type": "scatter", "mode": "markers", "showlegend": False, "cliponaxis": False,
            "x": numbers(part["confidence"]), "y": numbers(part["accuracy"]), "marker": marker,
            "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
            "hovertext": [f"{name}<br>{words}" for words in _words(line, part)],
            "customdata": [[line.key, bin_] for bin_ in part["bin"]],
            "meta": {"line": line.key, "thin": thin, "metric": result.metric},
        })
    return traces


def _words(line: Line, part: pl.DataFrame) -> list[str]:
    """What the hover says of each bin."""
    return [
        f"{plain(interval)}: {count(pairs, line.result.of_pairs[:-1])}<br>confidence {confidence:.3f}, "
        f"accuracy {accuracy:.3f}<br>gap {signed(gap, '+.3f')}"
        for interval, pairs, confidence, accuracy, gap in part.select(
            "interval", "count", "confidence", "accuracy", "gap"
        ).iter_rows()
    ]


def _steps(line: Line, look: Look) -> list[dict[str, Any]]:
    """The share of the line's own pairs in each bin, as an outline that falls to zero where there is none."""
    table = line.result.table
    total = int(table["count"].sum())
    if not total:
        return []
    left, right = drawn(table, line.result.scheme)
    x: list[float] = []
    y: list[float] = []
    for low, high, pairs in zip(left.tolist(), right.tolist(), table["count"].to_list(), strict=True):
        share = round(pairs / total, 6)
        if not x or low > x[-1] + 1e-9:  # bins are missing between: down to the floor and up again
            x += [*x[-1:], low]
            y += [0.0] * (2 if len(x) > 1 else 1)
        x += [round(low, 6), round(high, 6)]
        y += [share, share]
    return [{
        "type": "scatter", "mode": "lines", "yaxis": "y2", "showlegend": False, "hoverinfo": "skip",
        "x": [*x, x[-1]], "y": [*y, 0.0], "line": look.line(1.4), "meta": {"shares": line.key},
    }]


def _share_axis(result: Lines, theme: Theme) -> dict[str, Any]:
    """Linear, from zero: each line's own pairs are the whole."""
    counts = [line.result.table["count"].to_list() for line in result.lines]
    top = max((max(own) / sum(own) for own in counts if own), default=1.0)
    return axis(
        theme, "Share of pairs", domain=_SHARES, range=[0, 1.08 * top], **share_ticks(1.08 * top, 3)
    )


def _diagonal(theme: Theme) -> list[dict[str, Any]]:
    """Confidence = accuracy."""
    return [{
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip",
        "name": "perfect calibration", "legendrank": 1001,
        "line": {"color": theme.muted, "width": 1.6, "dash": "6px,5px"},
    }]


def describe_lines(result: Lines) -> str:
    """The diagram in a few sentences, for who cannot see it: text, not HTML."""
    told = "; ".join(
        f"{result.labels[line.key]}: {_number(result, line)}, accuracy {_share(line.result.accuracy)}, "
        f"mean confidence {_share(line.result.mean_confidence)}, {line.result.score.n_used:,} used, "
        f"{count(line.result.table.height, 'bin')}"
        for line in result.lines
    )
    of = f", {result.common}" if result.common else ""
    return f"Reliability diagram of {count(len(result.lines), 'line')}{of}. {told or result.reading}."


def _share(value: float | None) -> str:
    return "not known" if value is None else percent(value)

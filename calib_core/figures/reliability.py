"""How is a reliability diagram drawn?  One result → one plotly figure, and its sentence."""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl

from calib_core.analysis.reliability import Reliability
from calib_core.binned import Scheme
from calib_core.confidence import METHODS
from calib_core.figures.bars import OVER, UNDER, Detail, bars, by_strength, detail, gap, solid, targets
from calib_core.figures.labels import LABELLED, count_labels, label_angle, label_room
from calib_core.figures.layout import Figure, axis, log_ticks, note, numbers, paper, probability, unit_frame
from calib_core.figures.outlines import count_outlines, gap_outlines
from calib_core.figures.spans import abreast, placed
from calib_core.figures.text import lines, plain
from calib_core.figures.theme import CLEAR, Theme, tint
from calib_core.metrics import METRICS
from calib_core.wording import count, number, percent, signed

HEIGHT: Final = 576
_SQUARE: Final = [0.275, 1]
"""The part of the height that the square may take; counts stand below."""
_COUNTS: Final = [0, 0.22]


def reliability_figure(
    result: Reliability, theme: Theme, *, log_counts: bool = False, selected: int | None = None
) -> Figure:
    """A square of accuracy against confidence, and the counts below it on the same axis.

    log_counts: the lower panel has a logarithmic axis; selected: number of the bin to outline (from 1),
    without effect where there is no such bin. Every trace that takes hover and click has `customdata`
    rows that begin with the bin's number; all others skip both.
    """
    table = placed(result.table, result.scheme).with_columns(
        pl.min_horizontal("accuracy", "confidence").alias("solid"),
        pl.max_horizontal("accuracy", "confidence").alias("top"),
    )
    look = detail(abreast(table, result.scheme))
    chosen = table.filter(pl.col("bin") == (selected or 0))
    return {
        "data": [
            *_heights(result.scheme, table, theme, look),
            *_outline(chosen, theme),
            *_diagonal(theme),
            *_points(table, theme, look),
            targets(table, "top", _words(table, result.of_pairs, look)),
            targets(table, "count", _count_words(table, result.of_pairs), yaxis="y2"),
        ],
        "layout": {
            **paper(theme, height=HEIGHT, top=50),
            "xaxis": probability(
                theme, "Confidence", standoff=6, anchor="y2", constrain="domain", constraintoward="left"
            ),
            "yaxis": probability(
                theme, "Accuracy (share right)", domain=_SQUARE, scaleanchor="x", constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": _count_axis(table, theme, result.of_pairs, log=log_counts),
            "shapes": [*_bands(chosen, theme), unit_frame(theme)],
            "annotations": [] if table.height else [note(theme, lines(result.reading, 24), x=0.3, y=0.75)],
        },
    }


def _heights(scheme: Scheme, table: pl.DataFrame, theme: Theme, look: Detail) -> list[dict[str, Any]]:
    """What rises from each panel's floor: bars, or at hundreds of bins of equal width their outlines."""
    if scheme.binning == "width" and not look.hatch:
        return [*gap_outlines(table, theme), *count_outlines(table, theme)]
    return [*_bars(table, theme, look), *_counts(table, theme, look, scheme)]


def _bars(table: pl.DataFrame, theme: Theme, look: Detail) -> list[dict[str, Any]]:
    """Solid to the smaller of accuracy and confidence, hatched from there to the larger."""
    traces: list[dict[str, Any]] = []
    for part, opacity in by_strength(table):
        over = part.filter(pl.col("gap") > 0)
        under = part.filter(pl.col("gap") < 0).with_columns(-pl.col("gap"))
        traces += [
            bars(part, "solid", opacity=opacity, marker=solid(theme, theme.bar, look)),
            bars(
                over, "gap", base=numbers(over["accuracy"]), opacity=opacity, showlegend=opacity == 1,
                name="over-confident gap", marker=gap(theme, theme.over, OVER, look),
            ),
            bars(
                under, "gap", base=numbers(under["confidence"]), opacity=opacity, showlegend=opacity == 1,
                name="under-confident gap", marker=gap(theme, theme.under, UNDER, look),
            ),
        ]
    return traces


def _counts(table: pl.DataFrame, theme: Theme, look: Detail, scheme: Scheme) -> list[dict[str, Any]]:
    """Thin bins in a paler colour, not a lower opacity: their counts are what one wants to read."""
    angle = label_angle(table)
    return [
        bars(
            part, "count", yaxis="y2", marker=solid(theme, tint(theme.count, theme.page, opacity), look),
            **(count_labels(part, theme, angle) if abreast(table, scheme) <= LABELLED else {}),
        )
        for part, opacity in by_strength(table)
    ]


def _count_axis(table: pl.DataFrame, theme: Theme, of_pairs: str, *, log: bool) -> dict[str, Any]:
    """Room above the tallest bar for its label; a count of one is visible on the logarithmic axis."""
    largest = max(table["count"].to_list(), default=1)
    room = label_room(table)
    common: dict[str, Any] = {"domain": _COUNTS, "tickformat": "~s" if largest >= 10_000 else ",d"}
    if not log:
        ticks: dict[str, Any] = {"nticks": 4} if largest > 3 else {"dtick": 1}
        return axis(theme, f"Count ({of_pairs})", range=[0, largest * room], **ticks, **common)
    low = math.log10(0.6)
    high = low + (math.log10(largest * 1.1) - low) * room
    ticks = {"type": "log", "tickvals": log_ticks(largest)}
    return axis(theme, f"Count ({of_pairs}, log)", range=[low, high], **ticks, **common)


def _diagonal(theme: Theme) -> list[dict[str, Any]]:
    """Confidence = accuracy, over a casing in the page's colour, so that it shows on the bars too."""
    ends = {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip"}
    dashes = {"color": theme.text, "width": 1.6, "dash": "6px,5px"}
    return [
        {**ends, "showlegend": False, "line": {"color": theme.page, "width": 4}},
        {**ends, "name": "perfect calibration", "legendrank": 1001, "line": dashes},
    ]


def _points(table: pl.DataFrame, theme: Theme, look: Detail) -> list[dict[str, Any]]:
    """A point at (mean confidence, accuracy), with the interval where it is known."""
    known = table["accuracy_low"].null_count() < max(table.height, 1)
    traces: list[dict[str, Any]] = []
    for part, opacity in by_strength(table):
        trace: dict[str, Any] = {
            "type": "scatter", "mode": "markers", "hoverinfo": "skip", "cliponaxis": False,
            "x": numbers(part["confidence"]) or [None], "y": numbers(part["accuracy"]) or [None],
            "name": "accuracy, 95 % Wilson" if known else "accuracy",
            "opacity": opacity, "showlegend": opacity == 1,
            "marker": {
                "size": look.point, "color": theme.text,
                "line": {"color": theme.page, "width": 1 if look.cap else 0},
            },
            "unselected": {"marker": {"opacity": 1}},
        }
        if known:
            trace["error_y"] = {
                "type": "data", "symmetric": False, "color": theme.text,
                "array": numbers(part["accuracy_high"] - part["accuracy"]),
                "arrayminus": numbers(part["accuracy"] - part["accuracy_low"]),
                "thickness": look.whisker, "width": look.cap,
            }
        traces.append(trace)
    return traces


def _words(table: pl.DataFrame, of_pairs: str, look: Detail) -> list[str]:
    """What the hover says of each bin; at hundreds of bins without the interval, which nobody could see."""
    return [
        f"<b>{plain(row['interval'])}</b><br>{count(row['count'], of_pairs[:-1])}<br>"
        f"confidence {row['confidence']:.3f}<br>accuracy {row['accuracy']:.3f}"
        + (
            f" ({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f})"
            if look.hatch and row["accuracy_low"] is not None else ""
        )
        + f"<br>gap {signed(row['gap'], '+.3f')}"
        for row in table.iter_rows(named=True)
    ]


def _count_words(table: pl.DataFrame, of_pairs: str) -> list[str]:
    return [
        f"<b>{plain(interval)}</b><br>{count(pairs, of_pairs[:-1])}"
        for interval, pairs in table.select("interval", "count").iter_rows()
    ]


def _outline(chosen: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    if not chosen.height:
        return []
    line = {"color": CLEAR, "line": {"color": theme.highlight_line, "width": 3}}
    return [bars(chosen, "top", marker=line), bars(chosen, "count", yaxis="y2", marker=line)]


def _bands(chosen: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """A column of amber behind the selected bin, which shows where its bar is short too."""
    return [
        {
            "type": "rect", "xref": "x", "yref": f"{panel} domain",
            "x0": left, "x1": left + width, "y0": 0, "y1": 1, "layer": "below",
            "line": {"width": 0}, "fillcolor": tint(theme.highlight, theme.page, 0.18),
        }
        for left, width in chosen.select(pl.col("at") - pl.col("wide") / 2, "wide").iter_rows()
        for panel in ("y", "y2")
    ]


def describe_reliability(result: Reliability) -> str:
    """The diagram in one sentence, for who cannot see it: text, not HTML."""
    name = f"Reliability diagram of {METHODS[result.method].title}, {result.run}"
    if not result.table.height:
        return f"{name}: empty. {result.reading}"
    widest = result.table.sort(pl.col("gap").abs(), descending=True).row(0, named=True)
    value, pairs = result.score.value, int(result.table["count"].sum())
    parts = [
        f"{METRICS[result.score.metric].title} {number(value)}" if value is not None else None,
        f"accuracy {percent(result.accuracy)}" if result.accuracy is not None else None,
        f"mean confidence {percent(result.mean_confidence)}" if result.mean_confidence is not None else None,
        f"{count(pairs, result.of_pairs[:-1])} in {count(result.table.height, 'bin')}",
        f"widest gap {signed(widest['gap'], '+.3f')} in {widest['interval']}",
    ]
    return f"{name}: {', '.join(part for part in parts if part)}."

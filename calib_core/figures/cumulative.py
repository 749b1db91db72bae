"""How fast do the fullest bins add up to all rows?  Results → one figure of cumulative shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from calib_core.analysis.concentration import Concentration
from calib_core.figures.concentration import two_of
from calib_core.figures.layout import (
    BOTTOM,
    Figure,
    axis,
    entry,
    legend_names,
    legend_room,
    note,
    numbers,
    paper,
)
from calib_core.figures.method_look import look
from calib_core.figures.strokes import Look
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme
from calib_core.wording import percent

MARKED: Final = 50
"""Every bin has a marker up to so many."""

_PLOT: Final = 300
_ALONE: Final = 270
"""Pixels of the panel; of a single line, it ends where the histogram beside it does."""

_RIGHT: Final = 0.6
"""Beyond this part of the width, words stand on the left of their mark."""


def cumulative_figure(results: Sequence[Concentration], theme: Theme) -> Figure:
    """Share of the rows in the k fullest bins, k = 0 … all, one line a result.

    results: one or more, of different confidence methods. A diamond marks the two fullest bins, a dotted
    vertical line the effective number of bins; the straight line is what equally full bins would give.
    """
    several = len(results) > 1
    bins = max(1, *(result.bins for result in results))
    levels = sorted({result.bins for result in results if result.bins})
    looks = [look(result.method, theme) for result in results] if several else [_alone(theme)]
    data = [
        *(_line(result, drawn, several=several) for result, drawn in zip(results, looks, strict=True)),
        *(_equally_full(each, theme) for each in levels),
        _top_two(results, theme),
    ]
    if several:
        dots = {"color": theme.muted, "width": 1.6, "dash": "dot"}
        data.append(entry("effective number of bins", "lines", line=dots))
    top, alone = legend_room(legend_names(data), alone=several)
    layout = paper(theme, height=(_PLOT if several else _ALONE) + top + BOTTOM, top=top, alone=alone)
    return {
        "data": data,
        "layout": layout | {
            "xaxis": axis(
                theme, "Number of bins, fullest first", standoff=6, range=[0, bins], tickformat=",d",
                **({"dtick": 1} if bins <= 12 else {"nticks": 11}),
            ),
            "yaxis": axis(
                theme, f"Share of {results[0].unit}", range=[0, 1.04], tickformat=".0%",
                tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
            ),
            "shapes": [
                _effective(result.effective, drawn.colour)
                for result, drawn in zip(results, looks, strict=True)
                if result.effective
            ],
            "annotations": [] if several else _notes(results[0], theme),
        },
    }


def _alone(theme: Theme) -> Look:
    """A single line tells nothing apart: no method's colour, which the amber of the fullest bins might be."""
    return Look(theme.text, "solid", "circle")


def _line(result: Concentration, drawn: Look, *, several: bool) -> dict[str, Any]:
    table = result.table.sort("fullest")
    rest = [result.bins] if 0 < table.height < result.bins else []
    title = plain(result.title)
    return {
        "type": "scatter", "mode": "lines+markers" if result.bins <= MARKED else "lines", "cliponaxis": False,
        "x": [0, *table["fullest"], *rest],
        "y": [0, *numbers(table["cumulative"]), *(1 for _ in rest)],
        "name": title if several else "cumulative share", "text": title,
        "hovertemplate": ("<b>%{text}</b><br>" if several else "")
        + f"%{{y:.1%}} of {result.unit}<extra></extra>",
        "line": drawn.line(), "marker": {"size": 6, "symbol": drawn.symbol, "color": drawn.colour},
        "unselected": {"marker": {"opacity": 1}},
    }


def _equally_full(bins: int, theme: Theme) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": [0, bins], "y": [0, 1], "hoverinfo": "skip",
        "name": f"{bins:,} equally full bins",
        "line": {"color": theme.muted, "width": 1.3, "dash": "6px,5px"},
    }


def _top_two(results: Sequence[Concentration], theme: Theme) -> dict[str, Any]:
    known = [
        (min(2, result.table.height), result.top_two) for result in results if result.top_two is not None
    ]
    return {
        "type": "scatter", "mode": "markers", "cliponaxis": False, "hoverinfo": "skip",
        "name": "two fullest bins",
        "x": [at for at, _ in known] or [None], "y": [round(share, 5) for _, share in known] or [None],
        "marker": {
            "size": 12, "symbol": "diamond", "color": theme.highlight,
            "line": {"color": theme.highlight_line, "width": 1.5},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def _effective(effective: float, colour: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "x", "yref": "y domain", "x0": effective, "x1": effective,
        "y0": 0, "y1": 1, "layer": "below", "line": {"color": colour, "width": 1.6, "dash": "dot"},
    }


def _notes(result: Concentration, theme: Theme) -> list[dict[str, Any]]:
    """The two numbers of a single line, beside their marks and inside the panel."""
    if result.top_two is None or result.effective is None:
        return [note(theme, "No rows.", xref="x domain", yref="y domain", x=0.3, y=0.7)]
    two = min(2, result.table.height)
    name = "two fullest" if two > 1 else "the only bin"
    sink = -3 if two < _RIGHT * result.bins else -30  # on the left it would lie on the rising line

    def beside(at: float) -> dict[str, Any]:
        room = at < _RIGHT * result.bins
        return {"x": at, "xanchor": "left" if room else "right", "xshift": 9 if room else -9}

    return [
        note(
            theme, f"<b>{name}<br>{percent(result.top_two)}</b>", **beside(two), y=result.top_two,
            yanchor="top", yshift=sink, align="left", font={"size": 12, "color": theme.highlight_text},
        ),
        note(
            theme, f"{result.effective:.1f} effective bins", **beside(result.effective),
            yref="y domain", y=0.03, yanchor="bottom",
        ),
    ]


def describe_cumulative(results: Sequence[Concentration]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(_two_of(result) for result in results)
    return f"Cumulative share of {results[0].unit}, fullest bin first. {told}."


def _two_of(result: Concentration) -> str:
    if result.top_two is None:
        return f"{result.title}: no rows"
    return f"{result.title}: {percent(result.top_two)} in {two_of(result)}"

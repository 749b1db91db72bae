"""How fast do the fullest bins add up to all rows?  Results → one figure of cumulative shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from calib_core.analysis.concentration import Concentration
from calib_core.figures.concentration import two_fullest_text
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    Figure,
    axis,
    legend_entry,
    legend_names,
    legend_margin,
    annotation,
    rounded_values,
    base_layout,
)
from calib_core.figures.method_look import method_style
from calib_core.figures.strokes import SeriesStyle
from calib_core.figures.text import escape_for_plotly
from calib_core.figures.theme import Theme
from calib_core.wording import format_percent

MAX_MARKED_BINS: Final = 50
"""Every bin has a marker up to so many."""

_CUMULATIVE_HEIGHT: Final = 300
_SINGLE_CUMULATIVE_HEIGHT: Final = 270
"""Pixels of the panel; of a single line, it ends where the histogram beside it does."""

_RIGHT_PART: Final = 0.6
"""Beyond this part of the width, words stand on the left of their mark."""


def cumulative_figure(results: Sequence[Concentration], theme: Theme) -> Figure:
    """Share of the rows in the k fullest bins, k = 0 … all, one line a result.

    results: one or more, of different confidence methods. A diamond marks the two fullest bins, a dotted
    vertical line the effective number of bins; the straight line is what equally full bins would give.
    """
    several = len(results) > 1
    bins = max(1, *(result.n_bins for result in results))
    levels = sorted({result.n_bins for result in results if result.n_bins})
    looks = [method_style(result.method, theme) for result in results] if several else [_neutral_style(theme)]
    data = [
        *(_cumulative_line(result, drawn, named=several) for result, drawn in zip(results, looks, strict=True)),
        *(_uniform_line(each, theme) for each in levels),
        _two_fullest_markers(results, theme),
    ]
    if several:
        dots = {"color": theme.muted_text, "width": 1.6, "dash": "dot"}
        data.append(legend_entry("effective number of bins", "lines", line=dots))
    top, alone = legend_margin(legend_names(data), one_per_line=several)
    layout = base_layout(theme, height=(_CUMULATIVE_HEIGHT if several else _SINGLE_CUMULATIVE_HEIGHT) + top + BOTTOM_MARGIN, top=top, one_per_line=alone)
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
                _effective_bins_line(result.effective_bins, drawn.colour)
                for result, drawn in zip(results, looks, strict=True)
                if result.effective_bins
            ],
            "annotations": [] if several else _single_line_notes(results[0], theme),
        },
    }


def _neutral_style(theme: Theme) -> SeriesStyle:
    """A single line tells nothing apart: no method's colour, which the amber of the fullest bins might be."""
    return SeriesStyle(theme.text, "solid", "circle")


def _cumulative_line(result: Concentration, style: SeriesStyle, *, named: bool) -> dict[str, Any]:
    table = result.table.sort("fullest")
    rest = [result.n_bins] if 0 < table.height < result.n_bins else []
    title = escape_for_plotly(result.title)
    return {
        "type": "scatter", "mode": "lines+markers" if result.n_bins <= MAX_MARKED_BINS else "lines", "cliponaxis": False,
        "x": [0, *table["fullest"], *rest],
        "y": [0, *rounded_values(table["cumulative"]), *(1 for _ in rest)],
        "name": title if named else "cumulative share", "text": title,
        "hovertemplate": ("<b>%{text}</b><br>" if named else "")
        + f"%{{y:.1%}} of {result.unit}<extra></extra>",
        "line": style.line(), "marker": {"size": 6, "symbol": style.symbol, "color": style.colour},
        "unselected": {"marker": {"opacity": 1}},
    }


def _uniform_line(bins: int, theme: Theme) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": [0, bins], "y": [0, 1], "hoverinfo": "skip",
        "name": f"{bins:,} equally full bins",
        "line": {"color": theme.muted_text, "width": 1.3, "dash": "6px,5px"},
    }


def _two_fullest_markers(results: Sequence[Concentration], theme: Theme) -> dict[str, Any]:
    known = [
        (min(2, result.table.height), result.top_two_share) for result in results if result.top_two_share is not None
    ]
    return {
        "type": "scatter", "mode": "markers", "cliponaxis": False, "hoverinfo": "skip",
        "name": "two fullest bins",
        "x": [at for at, _ in known] or [None], "y": [round(share, 5) for _, share in known] or [None],
        "marker": {
            "size": 12, "symbol": "diamond", "color": theme.highlight,
            "line": {"color": theme.highlight_outline, "width": 1.5},
        },
        "unselected": {"marker": {"opacity": 1}},
    }


def _effective_bins_line(effective: float, colour: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "x", "yref": "y domain", "x0": effective, "x1": effective,
        "y0": 0, "y1": 1, "layer": "below", "line": {"color": colour, "width": 1.6, "dash": "dot"},
    }


def _single_line_notes(result: Concentration, theme: Theme) -> list[dict[str, Any]]:
    """The two numbers of a single line, beside their marks and inside the panel."""
    if result.top_two_share is None or result.effective_bins is None:
        return [annotation(theme, "No rows.", xref="x domain", yref="y domain", x=0.3, y=0.7)]
    two = min(2, result.table.height)
    name = "two fullest" if two > 1 else "the only bin"
    sink = -3 if two < _RIGHT_PART * result.n_bins else -30  # on the left it would lie on the rising line

    def beside(at: float) -> dict[str, Any]:
        room = at < _RIGHT_PART * result.n_bins
        return {"x": at, "xanchor": "left" if room else "right", "xshift": 9 if room else -9}

    return [
        annotation(
            theme, f"<b>{name}<br>{format_percent(result.top_two_share)}</b>", **beside(two), y=result.top_two_share,
            yanchor="top", yshift=sink, align="left", font={"size": 12, "color": theme.highlight_text},
        ),
        annotation(
            theme, f"{result.effective_bins:.1f} effective bins", **beside(result.effective_bins),
            yref="y domain", y=0.03, yanchor="bottom",
        ),
    ]


def describe_cumulative(results: Sequence[Concentration]) -> str:
    """The figure in one sentence, for who cannot see it: text, not HTML."""
    told = "; ".join(_cumulative_text(result) for result in results)
    return f"Cumulative share of {results[0].unit}, fullest bin first. {told}."


def _cumulative_text(result: Concentration) -> str:
    if result.top_two_share is None:
        return f"{result.title}: no rows"
    return f"{result.title}: {format_percent(result.top_two_share)} in {two_fullest_text(result)}"

"""How is it drawn what is said and what is right?  Two bars: the pale one says, the full one is right."""

from __future__ import annotations

from typing import Any, Final

from calib_core.analysis.tour_step import ConfidenceAccuracy, ConfidenceAccuracyPairs
from calib_core.figures.layout import SMALL_SIZE, TEXT_SIZE, Figure, axis, annotation, base_layout
from calib_core.figures.text import escape_for_plotly
from calib_core.figures.theme import Theme, blend
from calib_core.problems import shorten
from calib_core.wording import plural, format_percent

_PAIR_HEIGHT: Final = 104
"""Pixels of one pair with its name above it."""
_MAX_PAIR_NAME: Final = 46
_SHARE_AXIS: Final[dict[str, Any]] = {
    "range": [0, 1.17], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "tickformat": ".0%",
}
"""Room beyond 100 % for the number at a bar's end."""


def confidence_accuracy_figure(result: ConfidenceAccuracyPairs, theme: Theme) -> Figure:
    """One row a pair: how sure on average, and how often right with its 95 % interval."""
    pairs, top = result.pairs, 34
    layout = base_layout(theme, height=top + 50 + _PAIR_HEIGHT * max(len(pairs), 1), top=top)
    layout["margin"] |= {"l": 14}
    layout |= {
        "hovermode": "closest",
        "xaxis": axis(theme, None, standoff=6, **_SHARE_AXIS),
        "yaxis": axis(theme, range=[len(pairs) - 0.5, -0.5], showticklabels=False, ticks="", showgrid=False),
        "annotations": [
            annotation(
                theme, f"<b>{escape_for_plotly(shorten(pair.name, _MAX_PAIR_NAME))}</b>", x=0, xanchor="left", y=at - 0.45,
                yanchor="middle", align="left", font={"size": SMALL_SIZE, "color": theme.text},
            )
            for at, pair in enumerate(pairs)
        ],
    }
    data = [_confidence_bars(pairs, theme), _accuracy_bars(pairs, theme, result.unit), _bar_values(pairs, theme)]
    return {"data": data, "layout": layout}


def _confidence_bars(pairs: tuple[ConfidenceAccuracy, ...], theme: Theme) -> dict[str, Any]:
    return _share_bars(
        [pair.mean_confidence for pair in pairs], -0.16, name="says",
        marker={
            "color": blend(theme.highlight, theme.background, 0.35),
            "line": {"color": theme.highlight_outline, "width": 1.5},
        },
        hovertext=[f"says {format_percent(pair.mean_confidence)} on average" for pair in pairs],
    )


def _accuracy_bars(pairs: tuple[ConfidenceAccuracy, ...], theme: Theme, unit: str) -> dict[str, Any]:
    drawn = _share_bars(
        [pair.accuracy for pair in pairs], 0.18, name="is right, 95 % Wilson", marker={"color": theme.bar},
        hovertext=[
            f"{plural(pair.count, unit[:-1])}<br>right {format_percent(pair.accuracy)} ({format_percent(pair.low)} to "
            f"{format_percent(pair.high)})"
            for pair in pairs
        ],
    )
    drawn["error_x"] = {
        "type": "data", "symmetric": False, "color": theme.text, "thickness": 1.6, "width": 5,
        "array": [round(pair.high - pair.accuracy, 5) for pair in pairs],
        "arrayminus": [round(pair.accuracy - pair.low, 5) for pair in pairs],
    }
    return drawn


def _bar_values(pairs: tuple[ConfidenceAccuracy, ...], theme: Theme) -> dict[str, Any]:
    """Each bar's number, beyond its whisker."""
    ends = [(pair.mean_confidence, at - 0.16, pair.mean_confidence) for at, pair in enumerate(pairs)]
    ends += [(pair.high, at + 0.18, pair.accuracy) for at, pair in enumerate(pairs)]
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False,
        "x": [round(end + 0.012, 5) for end, _, _ in ends], "y": [at for _, at, _ in ends],
        "text": [format_percent(share) for _, _, share in ends], "textposition": "middle right",
        "textfont": {"size": TEXT_SIZE, "color": theme.text},
    }


def _share_bars(shares: list[float], offset: float, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "type": "bar", "orientation": "h", "x": [round(share, 5) for share in shares], "width": 0.3,
        "y": [at + offset for at in range(len(shares))], "hoverinfo": "text", "cliponaxis": False,
        "unselected": {"marker": {"opacity": 1}}, **more,
    }


def describe_confidence_accuracy(result: ConfidenceAccuracyPairs) -> str:
    """The bars in words, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{pair.name}: says {format_percent(pair.mean_confidence)}, is right {format_percent(pair.accuracy)} ({format_percent(pair.low)} to "
        f"{format_percent(pair.high)})"
        for pair in result.pairs
    )
    return f"What is said and what is right. {told}."

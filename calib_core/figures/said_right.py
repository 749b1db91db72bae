"""How is it drawn what is said and what is right?  Two bars: the pale one says, the full one is right."""

from __future__ import annotations

from typing import Any, Final

from calib_core.analysis.tour_step import Pair, SaidAndRight
from calib_core.figures.layout import SMALL_SIZE, TEXT_SIZE, Figure, axis, note, paper
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme, tint
from calib_core.problems import shorten
from calib_core.wording import count, percent

_ROW: Final = 104
"""Pixels of one pair with its name above it."""
_NAME: Final = 46
_SHARES: Final[dict[str, Any]] = {
    "range": [0, 1.17], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "tickformat": ".0%",
}
"""Room beyond 100 % for the number at a bar's end."""


def said_right_figure(result: SaidAndRight, theme: Theme) -> Figure:
    """One row a pair: how sure on average, and how often right with its 95 % interval."""
    pairs, top = result.pairs, 34
    layout = paper(theme, height=top + 50 + _ROW * max(len(pairs), 1), top=top)
    layout["margin"] |= {"l": 14}
    layout |= {
        "hovermode": "closest",
        "xaxis": axis(theme, None, standoff=6, **_SHARES),
        "yaxis": axis(theme, range=[len(pairs) - 0.5, -0.5], showticklabels=False, ticks="", showgrid=False),
        "annotations": [
            note(
                theme, f"<b>{plain(shorten(pair.name, _NAME))}</b>", x=0, xanchor="left", y=at - 0.45,
                yanchor="middle", align="left", font={"size": SMALL_SIZE, "color": theme.text},
            )
            for at, pair in enumerate(pairs)
        ],
    }
    data = [_said(pairs, theme), _right(pairs, theme, result.unit), _numbers(pairs, theme)]
    return {"data": data, "layout": layout}


def _said(pairs: tuple[Pair, ...], theme: Theme) -> dict[str, Any]:
    return _bars(
        [pair.said for pair in pairs], -0.16, name="says",
        marker={
            "color": tint(theme.highlight, theme.page, 0.35),
            "line": {"color": theme.highlight_line, "width": 1.5},
        },
        hovertext=[f"says {percent(pair.said)} on average" for pair in pairs],
    )


def _right(pairs: tuple[Pair, ...], theme: Theme, unit: str) -> dict[str, Any]:
    drawn = _bars(
        [pair.right for pair in pairs], 0.18, name="is right, 95 % Wilson", marker={"color": theme.bar},
        hovertext=[
            f"{count(pair.count, unit[:-1])}<br>right {percent(pair.right)} ({percent(pair.low)} to "
            f"{percent(pair.high)})"
            for pair in pairs
        ],
    )
    drawn["error_x"] = {
        "type": "data", "symmetric": False, "color": theme.text, "thickness": 1.6, "width": 5,
        "array": [round(pair.high - pair.right, 5) for pair in pairs],
        "arrayminus": [round(pair.right - pair.low, 5) for pair in pairs],
    }
    return drawn


def _numbers(pairs: tuple[Pair, ...], theme: Theme) -> dict[str, Any]:
    """Each bar's number, beyond its whisker."""
    ends = [(pair.said, at - 0.16, pair.said) for at, pair in enumerate(pairs)]
    ends += [(pair.high, at + 0.18, pair.right) for at, pair in enumerate(pairs)]
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False,
        "x": [round(end + 0.012, 5) for end, _, _ in ends], "y": [at for _, at, _ in ends],
        "text": [percent(share) for _, _, share in ends], "textposition": "middle right",
        "textfont": {"size": TEXT_SIZE, "color": theme.text},
    }


def _bars(shares: list[float], off: float, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "type": "bar", "orientation": "h", "x": [round(share, 5) for share in shares], "width": 0.3,
        "y": [at + off for at in range(len(shares))], "hoverinfo": "text", "cliponaxis": False,
        "unselected": {"marker": {"opacity": 1}}, **more,
    }


def describe_said_right(result: SaidAndRight) -> str:
    """The bars in words, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{pair.name}: says {percent(pair.said)}, is right {percent(pair.right)} ({percent(pair.low)} to "
        f"{percent(pair.high)})"
        for pair in result.pairs
    )
    return f"What is said and what is right. {told}."

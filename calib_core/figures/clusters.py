"""How are the samples of one question drawn?  One bar a cluster, the chosen one on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from calib_core.analysis.question_clusters import QuestionClusters
from calib_core.figures.layout import LABEL_SIZE, Figure, axis, nothing, paper
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme, tint
from calib_core.problems import shorten

SHOWN: Final = 12
"""So many clusters have a bar of their own; the smaller ones share one."""

_ROW: Final = 30
"""Pixels of one bar with the room around it."""

_FEW: Final = 6
"""Up to so many samples each has a tick: plotly's own would be halves, written as whole numbers."""

_ANSWER: Final = 22
"""Letters of an answer beside its bar."""


@dataclass(frozen=True, slots=True)
class _Bar:
    name: str
    size: int
    words: str
    kind: str  # chosen, tied, other, unparsed


def clusters_figure(result: QuestionClusters, theme: Theme) -> Figure:
    """Sizes of the clusters, the largest on top; what is chosen, tied or right is said in words, too."""
    bars = _bars(result)
    most = max([bar.size for bar in bars], default=1)
    ticks: dict[str, Any] = {"dtick": 1} if most <= _FEW else {"nticks": 6}
    layout = paper(theme, height=58 + _ROW * max(len(bars), 1), top=8)
    layout |= {
        "hovermode": "closest", "bargap": 0.28,
        "xaxis": axis(theme, "Samples", standoff=4, range=[0, 1.12 * most], tickformat="d", **ticks),
        "yaxis": axis(
            theme, range=[len(bars) - 0.5, -0.5], tickvals=list(range(len(bars))), automargin=True,
            ticktext=[bar.name for bar in bars], ticks="", tickfont={"size": LABEL_SIZE, "color": theme.text},
        ),
    }
    return {"data": [_trace(bars, theme)] if bars else [nothing()], "layout": layout}


def _bars(result: QuestionClusters) -> list[_Bar]:
    bars: list[_Bar] = []
    for at, each in enumerate(result.clusters[:SHOWN]):
        kind = "chosen" if at == 0 else "tied" if at <= result.tied else "other"
        mark = {True: " ✓", False: " ✗", None: ""}[each.right]
        told = {"chosen": ", chosen", "tied": ", tied", "other": ""}[kind]
        name = f"{plain(shorten(each.answer, _ANSWER))}{mark}{told}"
        judged = {True: "right", False: "wrong", None: "not judged"}[each.right]
        words = f"<b>{plain(shorten(each.answer, 80))}</b><br>{_samples(each.size)}, {judged}{told}"
        bars.append(_Bar(f"<b>{name}</b>" if at == 0 else name, each.size, words, kind))
    rest = result.clusters[SHOWN:]
    if rest:
        sizes = ", ".join(str(each.size) for each in rest)
        words = f"{len(rest)} smaller clusters<br>of {sizes} samples"
        bars.append(_Bar(f"{len(rest)} smaller clusters", sum(each.size for each in rest), words, "other"))
    if result.unparsed:
        words = f"<b>{_samples(result.unparsed)}</b> {result.unread}"
        bars.append(_Bar(f"{result.unparsed} not parsed", result.unparsed, words, "unparsed"))
    return bars


def _samples(count: int) -> str:
    return f"{count} sample{'s' if count != 1 else ''}"


def _trace(bars: list[_Bar], theme: Theme) -> dict[str, Any]:
    """Chosen: full; tied: hatched in its colour; others: grey; not parsed: crossed out in grey."""
    colours = {
        "chosen": theme.bar, "tied": theme.bar, "other": tint(theme.count, theme.page, 0.75),
        "unparsed": theme.count,
    }
    shapes = {"chosen": "", "tied": "/", "other": "", "unparsed": "x"}
    return {
        "type": "bar", "orientation": "h", "x": [bar.size for bar in bars], "y": list(range(len(bars))),
        "text": [str(bar.size) for bar in bars], "textposition": "outside", "cliponaxis": False,
        "textfont": {"size": LABEL_SIZE, "color": theme.text}, "constraintext": "none",
        "hoverinfo": "text", "hovertext": [bar.words for bar in bars], "showlegend": False,
        "unselected": {"marker": {"opacity": 1}},
        "marker": {
            "color": [colours[bar.kind] for bar in bars],
            "line": {"color": [colours[bar.kind] for bar in bars], "width": 1.5},
            "pattern": {
                "shape": [shapes[bar.kind] for bar in bars], "fillmode": "replace", "size": 7,
                "solidity": 0.3,
                "bgcolor": [
                    tint(colours[bar.kind], theme.page, 0.14) if shapes[bar.kind] else colours[bar.kind]
                    for bar in bars
                ],
            },
        },
        "meta": {"kinds": [bar.kind for bar in bars]},
    }


def describe_clusters(result: QuestionClusters) -> str:
    """The bars in a few sentences, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{shorten(each.answer, _ANSWER)}: {_samples(each.size)}" for each in result.clusters[:SHOWN]
    )
    return f"Samples of question {shorten(result.title, 80)}. {told or 'No sample parses'}. {result.reading}"

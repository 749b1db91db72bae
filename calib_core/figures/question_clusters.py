"""How are the samples of one question drawn?  One bar a cluster, the chosen one on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from calib_core.errors import shorten
from calib_core.figures.layout import LABEL_SIZE, Figure, axis, base_layout, empty_trace
from calib_core.figures.palette import Theme, blend
from calib_core.figures.text import escape_for_plotly
from calib_core.results.question_clusters import QuestionClusters

MAX_CLUSTERS: Final = 12
"""So many clusters have a bar of their own; the smaller ones share one."""

_ROW_HEIGHT: Final = 30
"""Pixels of one bar with the room around it."""

_MAX_UNIT_TICKS: Final = 6
"""Up to so many samples each has a tick: plotly's own would be halves, written as whole numbers."""

_MAX_ANSWER_LENGTH: Final = 22
"""Letters of an answer beside its bar."""


@dataclass(frozen=True, slots=True)
class _ClusterBar:
    name: str
    size: int
    hover_text: str
    kind: str  # chosen, tied, other, unparsed


def question_clusters_figure(result: QuestionClusters, theme: Theme) -> Figure:
    """Sizes of the clusters, the largest on top; what is chosen, tied or right is said in words, too."""
    bars = _cluster_bars(result)
    most = max([bar.size for bar in bars], default=1)
    ticks: dict[str, Any] = {"dtick": 1} if most <= _MAX_UNIT_TICKS else {"nticks": 6}
    layout = base_layout(theme, height=58 + _ROW_HEIGHT * max(len(bars), 1), top=8)
    layout |= {
        "hovermode": "closest",
        "bargap": 0.28,
        "xaxis": axis(theme, "Samples", standoff=4, range=[0, 1.12 * most], tickformat="d", **ticks),
        "yaxis": axis(
            theme,
            range=[len(bars) - 0.5, -0.5],
            tickvals=list(range(len(bars))),
            automargin=True,
            ticktext=[bar.name for bar in bars],
            ticks="",
            tickfont={"size": LABEL_SIZE, "color": theme.text},
        ),
    }
    return {"data": [_cluster_trace(bars, theme)] if bars else [empty_trace()], "layout": layout}


def _cluster_bars(result: QuestionClusters) -> list[_ClusterBar]:
    bars: list[_ClusterBar] = []
    for at, each in enumerate(result.clusters[:MAX_CLUSTERS]):
        kind = "chosen" if at == 0 else "tied" if at <= result.n_tied else "other"
        mark = {True: " ✓", False: " ✗", None: ""}[each.right]
        told = {"chosen": ", chosen", "tied": ", tied", "other": ""}[kind]
        name = f"{escape_for_plotly(shorten(each.answer, _MAX_ANSWER_LENGTH))}{mark}{told}"
        judged = {True: "right", False: "wrong", None: "not judged"}[each.right]
        words = f"<b>{escape_for_plotly(shorten(each.answer, 80))}</b><br>{_sample_count_text(each.size)}, {judged}{told}"
        bars.append(_ClusterBar(f"<b>{name}</b>" if at == 0 else name, each.size, words, kind))
    rest = result.clusters[MAX_CLUSTERS:]
    if rest:
        sizes = ", ".join(str(each.size) for each in rest)
        words = f"{len(rest)} smaller clusters<br>of {sizes} samples"
        bars.append(
            _ClusterBar(f"{len(rest)} smaller clusters", sum(each.size for each in rest), words, "other")
        )
    if result.n_unparsed:
        words = f"<b>{_sample_count_text(result.n_unparsed)}</b> {result.unparsed_text}"
        bars.append(_ClusterBar(f"{result.n_unparsed} not parsed", result.n_unparsed, words, "unparsed"))
    return bars


def _sample_count_text(count: int) -> str:
    return f"{count} sample{'s' if count != 1 else ''}"


def _cluster_trace(bars: list[_ClusterBar], theme: Theme) -> dict[str, Any]:
    """Chosen: full; tied: hatched in its colour; others: grey; not parsed: crossed out in grey."""
    colours = {
        "chosen": theme.bar,
        "tied": theme.bar,
        "other": blend(theme.count_bar, theme.background, 0.75),
        "unparsed": theme.count_bar,
    }
    shapes = {"chosen": "", "tied": "/", "other": "", "unparsed": "x"}
    return {
        "type": "bar",
        "orientation": "h",
        "x": [bar.size for bar in bars],
        "y": list(range(len(bars))),
        "text": [str(bar.size) for bar in bars],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": LABEL_SIZE, "color": theme.text},
        "constraintext": "none",
        "hoverinfo": "text",
        "hovertext": [bar.hover_text for bar in bars],
        "showlegend": False,
        "unselected": {"marker": {"opacity": 1}},
        "marker": {
            "color": [colours[bar.kind] for bar in bars],
            "line": {"color": [colours[bar.kind] for bar in bars], "width": 1.5},
            "pattern": {
                "shape": [shapes[bar.kind] for bar in bars],
                "fillmode": "replace",
                "size": 7,
                "solidity": 0.3,
                "bgcolor": [
                    blend(colours[bar.kind], theme.background, 0.14)
                    if shapes[bar.kind]
                    else colours[bar.kind]
                    for bar in bars
                ],
            },
        },
        "meta": {"kinds": [bar.kind for bar in bars]},
    }


def describe_question_clusters(result: QuestionClusters) -> str:
    """The bars in a few sentences, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{shorten(each.answer, _MAX_ANSWER_LENGTH)}: {_sample_count_text(each.size)}"
        for each in result.clusters[:MAX_CLUSTERS]
    )
    return f"Samples of question {shorten(result.title, 80)}. {told or 'No sample parses'}. {result.headline}"

"""How is it drawn which of several runs is accurate and honest, to be read from afar?  One row a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import MetricEstimate, ComparisonPoint
from calib_core.figures.comparison_look import estimate_text
from calib_core.figures.layout import TEXT_SIZE, Figure, axis, annotation, base_layout
from calib_core.figures.strokes import marker_style as points_of
from calib_core.figures.strokes import error_bars
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.figures.theme import Theme

MAX_RANKED_RUNS: Final = 10
"""So many runs have a row: more cannot be read from afar."""

_RUN_HEIGHT: Final = 46
_MAX_RANKED_NAME: Final = 20
"""Letters of a name at the left of its dots, as many as a telephone leaves room for."""
_PANEL_DOMAINS: Final = ([0, 0.44], [0.56, 1])


def ranking_figure(result: Comparison, theme: Theme) -> Figure:
    """Accuracy at the left, Brier score at the right, with 95 % intervals, the lowest Brier score first."""
    points = ranked_points(result)
    layout = base_layout(theme, height=112 + _RUN_HEIGHT * len(points), top=58)
    layout["margin"] |= {"l": 14, "r": 22}
    highest = max((point.brier.high or point.brier.value for point in points), default=1.0)
    headings = ("<b>Accuracy</b><br>↑ is better", "<b>Brier score</b><br>↓ is better")
    layout |= {
        "hovermode": "closest", "showlegend": False,
        "xaxis": axis(
            theme, domain=_PANEL_DOMAINS[0], range=[0, 1], tickvals=[0, 0.5, 1], ticktext=["0", "50 %", ""],
            tickangle=0,
        ),
        "xaxis2": axis(theme, domain=_PANEL_DOMAINS[1], range=[0, 1.15 * highest or 1], nticks=4, anchor="y2"),
        "yaxis": _run_axis(
            theme, points, automargin=True, tickfont={"size": TEXT_SIZE, "color": theme.text},
            ticktext=[escape_for_plotly(truncate_middle(point.name, _MAX_RANKED_NAME)) for point in points],
        ),
        "yaxis2": _run_axis(theme, points, anchor="x2", matches="y", showticklabels=False),
        "annotations": [
            annotation(
                theme, text, xref="paper", yref="paper", x=across[0], xanchor="left", y=1,
                yanchor="bottom", yshift=10, align="left", font={"size": TEXT_SIZE, "color": theme.text},
            )
            for text, across in zip(headings, _PANEL_DOMAINS, strict=True)
        ],
    }
    right = _estimate_dots([point.accuracy for point in points], points, theme, "circle")
    brier = _estimate_dots([point.brier for point in points], points, theme, "diamond")
    return {"data": [right, brier | {"xaxis": "x2", "yaxis": "y2"}], "layout": layout}


def ranked_points(result: Comparison) -> Sequence[ComparisonPoint]:
    """The points that have a row."""
    return result.points_by_brier[:MAX_RANKED_RUNS]


def _run_axis(theme: Theme, points: Sequence[ComparisonPoint], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """A line a run, which leads from its name to its two dots."""
    places = list(range(len(points)))
    return axis(theme, range=[max(len(points), 1) - 0.5, -0.5], tickvals=places, ticks="", **more)


def _estimate_dots(
    estimates: Sequence[MetricEstimate], points: Sequence[ComparisonPoint], theme: Theme, symbol: str
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "cliponaxis": False, "hoverinfo": "text",
        "x": [round(one.value, 7) for one in estimates], "y": list(range(len(estimates))),
        "marker": points_of(theme.bar, symbol, theme, 9),
        "unselected": {"marker": {"opacity": 1}},
        "error_x": error_bars(estimates, theme.bar, width=6, thickness=2),
        "hovertext": [
            f"<b>{escape_for_plotly(truncate_middle(point.run, 60))}</b><br>{estimate_text(one)}"
            for point, one in zip(points, estimates, strict=True)
        ],
    }


def describe_ranking(result: Comparison) -> str:
    """The rows in words, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{truncate_middle(point.name, 32)}: right {estimate_text(point.accuracy)}, "
        f"Brier score {estimate_text(point.brier)}"
        for point in ranked_points(result)
    )
    more = len(result.points) - MAX_RANKED_RUNS
    end = f"; and {more} more" if more > 0 else ""
    return f"Accuracy and Brier score, the lowest Brier score first. {told}{end}."

"""How is each step of the tour drawn?  By the figure of what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from calib_core.errors import shorten
from calib_core.figures.comparison import estimate_text
from calib_core.figures.concentration import describe_histogram, histogram_figure
from calib_core.figures.layout import (
    FULL_WIDTH_ENTRY,
    HALF_WIDTH_ENTRY,
    LEGEND_LINE_HEIGHT,
    SMALL_SIZE,
    TEXT_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    legend_names,
)
from calib_core.figures.marks import error_bars
from calib_core.figures.palette import Theme, blend
from calib_core.figures.palette import marker_style as points_of
from calib_core.figures.question_clusters import describe_question_clusters, question_clusters_figure
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.robustness import describe_metric_values, metric_values_figure
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.results.comparison import Comparison, ComparisonPoint, MetricEstimate
from calib_core.results.concentration import Concentration
from calib_core.results.question_clusters import QuestionClusters
from calib_core.results.reliability import Reliability
from calib_core.results.robustness import Sweep
from calib_core.results.tour import (
    AnswerOption,
    ConfidenceAccuracy,
    ConfidenceAccuracyPairs,
    SingleAnswer,
    TourPicture,
)
from calib_core.wording import format_percent, plural

# MERGED one_answer: How is the confidence in one answer drawn?  One bar a thing that may be the answer, the chosen one full.

MAX_OPTIONS: Final = 8
"""So many options have a bar; the less probable ones share one."""

_OPTION_HEIGHT: Final = 62
_MAX_OPTION_NAME: Final = 44
"""Pixels of one bar with its name above it, and letters of that name."""


def single_answer_figure(result: SingleAnswer, theme: Theme) -> Figure:
    """Each option's probability, in the order of the file; ✓ and ✗ say which is right where that is known."""
    options = _shown_options(result.options)
    layout = base_layout(theme, height=64 + _OPTION_HEIGHT * len(options), top=14)
    layout["margin"] |= {"l": 14}
    layout |= {
        "hovermode": "closest",
        "bargap": 0.5,
        "xaxis": axis(
            theme,
            "Confidence",
            standoff=6,
            range=[0, 1.14],
            tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
            tickformat=".0%",
        ),
        "yaxis": axis(
            theme, range=[len(options) - 0.6, -0.6], showticklabels=False, ticks="", showgrid=False
        ),
        "annotations": [
            annotation(
                theme,
                _option_label(option),
                x=0,
                xanchor="left",
                y=at - 0.38,
                yanchor="middle",
                align="left",
                font={"size": TEXT_SIZE, "color": theme.text},
            )
            for at, option in enumerate(options)
        ],
    }
    return {"data": [_option_bars(options, theme)], "layout": layout}


def _shown_options(options: tuple[AnswerOption, ...]) -> list[AnswerOption]:
    """The most probable ones in the order of the file, and the rest as one."""
    if len(options) <= MAX_OPTIONS:
        return list(options)
    order = sorted(range(len(options)), key=lambda at: (not options[at].chosen, -options[at].confidence))
    kept = sorted(order[: MAX_OPTIONS - 1])
    rest = [options[at] for at in order[MAX_OPTIONS - 1 :]]
    right = any(option.right for option in rest)
    mass = sum(option.confidence for option in rest)
    return [
        *(options[at] for at in kept),
        AnswerOption(f"{len(rest)} others", mass, chosen=False, right=right),
    ]


def _option_label(option: AnswerOption) -> str:
    mark = {True: " ✓ right", False: " ✗ wrong" if option.chosen else "", None: ""}[option.right]
    name = f"{escape_for_plotly(shorten(option.text, _MAX_OPTION_NAME))}{mark}"
    return f"<b>{name}</b>" if option.chosen else name


def _option_bars(options: list[AnswerOption], theme: Theme) -> dict[str, Any]:
    quiet = blend(theme.count_bar, theme.background, 0.75)
    return {
        "type": "bar",
        "orientation": "h",
        "x": [round(option.confidence, 5) for option in options],
        "y": [at + 0.08 for at in range(len(options))],
        "width": 0.42,
        "showlegend": False,
        "text": [format_percent(option.confidence) for option in options],
        "textposition": "outside",
        "textfont": {"size": TEXT_SIZE, "color": theme.text},
        "constraintext": "none",
        "cliponaxis": False,
        "hoverinfo": "text",
        "unselected": {"marker": {"opacity": 1}},
        "hovertext": [
            f"<b>{escape_for_plotly(shorten(option.text, 80))}</b><br>{format_percent(option.confidence)}"
            for option in options
        ],
        "marker": {"color": [theme.bar if option.chosen else quiet for option in options]},
    }


def describe_single_answer(result: SingleAnswer) -> str:
    """The bars in words, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{shorten(option.text, _MAX_OPTION_NAME)}: {format_percent(option.confidence)}"
        for option in _shown_options(result.options)
    )
    judged = "right" if result.right else "wrong"
    return f"One answer, {judged}, confidence {format_percent(result.confidence)}. {told}."


# MERGED said_right: How is it drawn what is said and what is right?  Two bars: the pale one says, the full one is right.

_PAIR_HEIGHT: Final = 104
"""Pixels of one pair with its name above it."""
_MAX_PAIR_NAME: Final = 46
_SHARE_AXIS: Final[dict[str, Any]] = {
    "range": [0, 1.17],
    "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1],
    "tickformat": ".0%",
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
                theme,
                f"<b>{escape_for_plotly(shorten(pair.name, _MAX_PAIR_NAME))}</b>",
                x=0,
                xanchor="left",
                y=at - 0.45,
                yanchor="middle",
                align="left",
                font={"size": SMALL_SIZE, "color": theme.text},
            )
            for at, pair in enumerate(pairs)
        ],
    }
    data = [
        _confidence_bars(pairs, theme),
        _accuracy_bars(pairs, theme, result.unit),
        _bar_values(pairs, theme),
    ]
    return {"data": data, "layout": layout}


def _confidence_bars(pairs: tuple[ConfidenceAccuracy, ...], theme: Theme) -> dict[str, Any]:
    return _share_bars(
        [pair.mean_confidence for pair in pairs],
        -0.16,
        name="says",
        marker={
            "color": blend(theme.highlight, theme.background, 0.35),
            "line": {"color": theme.highlight_outline, "width": 1.5},
        },
        hovertext=[f"says {format_percent(pair.mean_confidence)} on average" for pair in pairs],
    )


def _accuracy_bars(pairs: tuple[ConfidenceAccuracy, ...], theme: Theme, unit: str) -> dict[str, Any]:
    drawn = _share_bars(
        [pair.accuracy for pair in pairs],
        0.18,
        name="is right, 95 % Wilson",
        marker={"color": theme.bar},
        hovertext=[
            f"{plural(pair.count, unit[:-1])}<br>right {format_percent(pair.accuracy)} ({format_percent(pair.low)} to "
            f"{format_percent(pair.high)})"
            for pair in pairs
        ],
    )
    drawn["error_x"] = {
        "type": "data",
        "symmetric": False,
        "color": theme.text,
        "thickness": 1.6,
        "width": 5,
        "array": [round(pair.high - pair.accuracy, 5) for pair in pairs],
        "arrayminus": [round(pair.accuracy - pair.low, 5) for pair in pairs],
    }
    return drawn


def _bar_values(pairs: tuple[ConfidenceAccuracy, ...], theme: Theme) -> dict[str, Any]:
    """Each bar's number, beyond its whisker."""
    ends = [(pair.mean_confidence, at - 0.16, pair.mean_confidence) for at, pair in enumerate(pairs)]
    ends += [(pair.high, at + 0.18, pair.accuracy) for at, pair in enumerate(pairs)]
    return {
        "type": "scatter",
        "mode": "text",
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
        "x": [round(end + 0.012, 5) for end, _, _ in ends],
        "y": [at for _, at, _ in ends],
        "text": [format_percent(share) for _, _, share in ends],
        "textposition": "middle right",
        "textfont": {"size": TEXT_SIZE, "color": theme.text},
    }


def _share_bars(shares: list[float], offset: float, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "type": "bar",
        "orientation": "h",
        "x": [round(share, 5) for share in shares],
        "width": 0.3,
        "y": [at + offset for at in range(len(shares))],
        "hoverinfo": "text",
        "cliponaxis": False,
        "unselected": {"marker": {"opacity": 1}},
        **options,
    }


def describe_confidence_accuracy(result: ConfidenceAccuracyPairs) -> str:
    """The bars in words, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{pair.name}: says {format_percent(pair.mean_confidence)}, is right {format_percent(pair.accuracy)} ({format_percent(pair.low)} to "
        f"{format_percent(pair.high)})"
        for pair in result.pairs
    )
    return f"What is said and what is right. {told}."


# MERGED ranking: How is it drawn which of several runs is accurate and honest, to be read from afar?  One row a run.

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
        "hovermode": "closest",
        "showlegend": False,
        "xaxis": axis(
            theme,
            domain=_PANEL_DOMAINS[0],
            range=[0, 1],
            tickvals=[0, 0.5, 1],
            ticktext=["0", "50 %", ""],
            tickangle=0,
        ),
        "xaxis2": axis(
            theme, domain=_PANEL_DOMAINS[1], range=[0, 1.15 * highest or 1], nticks=4, anchor="y2"
        ),
        "yaxis": _run_axis(
            theme,
            points,
            automargin=True,
            tickfont={"size": TEXT_SIZE, "color": theme.text},
            ticktext=[escape_for_plotly(truncate_middle(point.name, _MAX_RANKED_NAME)) for point in points],
        ),
        "yaxis2": _run_axis(theme, points, anchor="x2", matches="y", showticklabels=False),
        "annotations": [
            annotation(
                theme,
                text,
                xref="paper",
                yref="paper",
                x=across[0],
                xanchor="left",
                y=1,
                yanchor="bottom",
                yshift=10,
                align="left",
                font={"size": TEXT_SIZE, "color": theme.text},
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
    return axis(theme, range=[max(len(points), 1) - 0.5, -0.5], tickvals=places, ticks="", **options)


def _estimate_dots(
    estimates: Sequence[MetricEstimate], points: Sequence[ComparisonPoint], theme: Theme, symbol: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "hoverinfo": "text",
        "x": [round(one.value, 7) for one in estimates],
        "y": list(range(len(estimates))),
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


# MERGED enlarged: How is a figure drawn that is read from the back of a room?  With larger letters and lines.

ENLARGEMENT: Final = 1.6
_PIXEL_KEYS: Final = frozenset(
    {"size", "width", "thickness", "height", "ticklen", "standoff", "yshift", "l", "r", "t", "b"}
)
"""Keys whose numbers are pixels: of letters, points, lines, whiskers, margins and the whole."""


def enlarge_figure(figure: Mapping[str, Any], factor: float = ENLARGEMENT) -> Figure:
    """Letters, points, lines and margins `times` as large, the height by half of that: a screen has an end.

    A bar's width is a part of its axis, and stays.
    """
    layout = cast("dict[str, Any]", _enlarge_part(figure["layout"], factor))
    layout["height"] = round(figure["layout"]["height"] * (1 + factor) / 2)
    shapes = [shape for shape in figure["layout"].get("shapes", ()) if shape.get("showlegend")]
    _widen_legend_entries(layout, len(legend_names(figure["data"])) + len(shapes), factor)
    return {"data": [_enlarge_trace(trace, factor) for trace in figure["data"]], "layout": layout}


def _widen_legend_entries(layout: dict[str, Any], entries: int, factor: float) -> None:
    """One entry a line, since two of this size are too wide for a narrow window; with room for the lines."""
    if not layout.get("showlegend", True) or layout.get("legend", {}).get("entrywidth") != HALF_WIDTH_ENTRY:
        return
    more = entries // 2 * LEGEND_LINE_HEIGHT * factor
    layout["legend"] = layout["legend"] | {"entrywidth": FULL_WIDTH_ENTRY}
    layout["margin"] = layout["margin"] | {"t": layout["margin"]["t"] + more}
    layout["height"] = round(layout["height"] + more)


def _enlarge_trace(trace: Mapping[str, Any], factor: float) -> dict[str, Any]:
    grown = cast("dict[str, Any]", _enlarge_part(trace, factor))
    return grown | {"width": trace["width"]} if trace.get("type") == "bar" and "width" in trace else grown


def _enlarge_part(part: object, factor: float) -> object:
    """The part with every length in pixels grown; lists are numbers of the data, or parts again."""
    if isinstance(part, Mapping):
        named = cast("Mapping[str, object]", part)
        return {name: _enlarge_value(name, value, factor) for name, value in named.items()}
    if isinstance(part, list):
        parts = cast("list[object]", part)
        several = any(isinstance(one, Mapping) for one in parts)
        return [_enlarge_part(each, factor) for each in parts] if several else parts
    return part


def _enlarge_value(name: str, value: object, factor: float) -> object:
    if name in _PIXEL_KEYS and isinstance(value, int | float) and not isinstance(value, bool):
        return value * factor
    return _enlarge_part(value, factor)


MIN_HEIGHT: Final = 380
MIN_HEIGHT_LARGE: Final = 600
"""Pixels of height: two bars alone are to fill a screen's half, too, and most of a projector's."""


def tour_figure(picture: TourPicture, theme: Theme, *, large: bool = False) -> Figure:
    """The picture of a step; large: to be read from the back of a room."""
    figure, _ = _DRAW_AND_DESCRIBE[type(picture)]
    drawn = enlarge_figure(figure(picture, theme)) if large else figure(picture, theme)
    drawn["layout"]["height"] = max(MIN_HEIGHT_LARGE if large else MIN_HEIGHT, drawn["layout"]["height"])
    return drawn


def describe_tour(picture: TourPicture) -> str:
    """The picture in a sentence, for who cannot see it: text, not HTML."""
    _, told = _DRAW_AND_DESCRIBE[type(picture)]
    return told(picture)


# Each function takes the kind of picture it stands beside, which a dict has no type for.
_DRAW_AND_DESCRIBE: Final[
    Mapping[type[TourPicture], tuple[Callable[[Any, Theme], Figure], Callable[[Any], str]]]
] = {
    SingleAnswer: (single_answer_figure, describe_single_answer),
    ConfidenceAccuracyPairs: (confidence_accuracy_figure, describe_confidence_accuracy),
    Reliability: (reliability_figure, describe_reliability),
    Sweep: (
        lambda picture, theme: metric_values_figure([picture], theme),
        lambda picture: describe_metric_values([picture]),
    ),
    QuestionClusters: (question_clusters_figure, describe_question_clusters),
    Comparison: (ranking_figure, describe_ranking),
    Concentration: (
        lambda picture, theme: histogram_figure([picture], theme),
        lambda picture: describe_histogram([picture]),
    ),
}
"""How each kind of picture is drawn, and how it is told."""

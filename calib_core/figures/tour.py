"""The figures of the tour: three of its own, those of other questions, and all of them enlarged."""

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
    silent_trace,
)
from calib_core.figures.marks import error_bars
from calib_core.figures.palette import Theme, blend, marker_style
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.robustness import describe_metric_values, metric_values_figure
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.methods import METHODS
from calib_core.results.comparison import Comparison, ComparisonPoint, MetricEstimate
from calib_core.results.concentration import Concentration
from calib_core.results.reliability import Reliability
from calib_core.results.robustness import Sweep
from calib_core.results.tour import (
    AnswerOption,
    ConfidenceAccuracy,
    ConfidenceAccuracyPairs,
    SingleAnswer,
    TourPicture,
)
from calib_core.terms import ProbabilityOf, Terms, common_terms
from calib_core.wording import format_percent, plural

MIN_HEIGHT: Final = 380
MIN_HEIGHT_LARGE: Final = 600
"""Least height of a figure in pixels, so that even two bars fill half a screen, or most of a projector's."""


def tour_figure(picture: TourPicture, theme: Theme, *, large: bool = False) -> Figure:
    """The figure of a step of the tour.

    Parameters
    ----------
    picture : TourPicture
        What the step shows.
    theme : Theme
        Colours.
    large : bool
        Enlarge the figure, to be read from the back of a room.
    """
    draw, _ = _DRAW_AND_DESCRIBE[type(picture)]
    figure = enlarge_figure(draw(picture, theme)) if large else draw(picture, theme)
    figure["layout"]["height"] = max(MIN_HEIGHT_LARGE if large else MIN_HEIGHT, figure["layout"]["height"])
    return figure


def describe_tour(picture: TourPicture) -> str:
    """Describe the figure of a step in a few sentences for screen readers, as plain text."""
    _, describe = _DRAW_AND_DESCRIBE[type(picture)]
    return describe(picture)


# --- One answer: a bar for each option ---------------------------------------------------------------------

MAX_OPTIONS: Final = 8
"""The most bars there are: with more options, the less probable ones share the last."""

_OPTION_HEIGHT: Final = 62
_MAX_OPTION_NAME: Final = 44
"""Height of a bar with its name above it in pixels, and characters of the name."""


def single_answer_figure(result: SingleAnswer, theme: Theme) -> Figure:
    """The probability of each option, in the order of the file, with ✓ or ✗ where the answer is judged."""
    options = _shown_options(result.options)
    layout = base_layout(theme, height=64 + _OPTION_HEIGHT * len(options), top=14)
    layout["margin"] |= {"l": 14}
    layout |= {
        "hovermode": "closest",
        "bargap": 0.5,
        "xaxis": axis(
            theme,
            "Probability" if result.of == "event" else result.terms.confidence_title,
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
                _option_label(option, result.of),
                x=0,
                xanchor="left",
                y=row - 0.38,
                yanchor="middle",
                align="left",
                font={"size": TEXT_SIZE, "color": theme.text},
            )
            for row, option in enumerate(options)
        ],
    }
    return {"data": [_option_bars(options, theme)], "layout": layout}


def _shown_options(options: tuple[AnswerOption, ...]) -> list[AnswerOption]:
    """The chosen and the most probable options in the order of the file, and the rest as one."""
    if len(options) <= MAX_OPTIONS:
        return list(options)
    order = sorted(
        range(len(options)), key=lambda index: (not options[index].chosen, -options[index].confidence)
    )
    shown = sorted(order[: MAX_OPTIONS - 1])
    rest = [options[index] for index in order[MAX_OPTIONS - 1 :]]
    right = any(option.right for option in rest)
    confidence = sum(option.confidence for option in rest)
    return [
        *(options[index] for index in shown),
        AnswerOption(f"{len(rest)} others", confidence, chosen=False, right=right),
    ]


def _option_label(option: AnswerOption, of: ProbabilityOf) -> str:
    mark = {True: " ✓ right", False: " ✗ wrong" if option.chosen else "", None: ""}[option.right]
    if of == "event":
        mark = " ✓" if option.right else ""
    name = f"{escape_for_plotly(shorten(option.text, _MAX_OPTION_NAME))}{mark}"
    return f"<b>{name}</b>" if option.chosen else name


def _option_bars(options: list[AnswerOption], theme: Theme) -> dict[str, Any]:
    pale = blend(theme.count_bar, theme.background, 0.75)
    return {
        "type": "bar",
        "orientation": "h",
        "x": [round(option.confidence, 5) for option in options],
        "y": [row + 0.08 for row in range(len(options))],
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
        "marker": {"color": [theme.bar if option.chosen else pale for option in options]},
    }


def describe_single_answer(result: SingleAnswer) -> str:
    """Describe the bars in a few sentences for screen readers, as plain text."""
    descriptions = "; ".join(
        f"{shorten(option.text, _MAX_OPTION_NAME)}: {format_percent(option.confidence)}"
        for option in _shown_options(result.options)
    )
    terms = result.terms
    opening = f"One {terms.answer}, {terms.right if result.right else terms.wrong}"
    return f"{opening}, {terms.confidence} {format_percent(result.confidence)}. {descriptions}."


# --- Mean confidence and accuracy: a pale bar and a solid one ----------------------------------------------

_PAIR_HEIGHT: Final = 104
_MAX_PAIR_NAME: Final = 46
"""Height of a pair of bars with its name above it in pixels, and characters of the name."""

_SHARE_AXIS: Final[dict[str, Any]] = {
    "range": [0, 1.17],
    "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1],
    "tickformat": ".0%",
}
"""An axis with space beyond 100 % for the number at the end of a bar."""

_CONFIDENCE_OFFSET, _ACCURACY_OFFSET = -0.16, 0.18
"""Distance of the two bars of a pair from the middle of its row."""


def confidence_accuracy_figure(result: ConfidenceAccuracyPairs, theme: Theme) -> Figure:
    """A row for each pair: its mean confidence, and its accuracy with the 95 % interval."""
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
                y=row - 0.45,
                yanchor="middle",
                align="left",
                font={"size": SMALL_SIZE, "color": theme.text},
            )
            for row, pair in enumerate(pairs)
        ],
    }
    data = [
        _confidence_bars(result, theme),
        _accuracy_bars(result, theme),
        _bar_values(pairs, theme),
    ]
    return {"data": data, "layout": layout}


def _confidence_bars(result: ConfidenceAccuracyPairs, theme: Theme) -> dict[str, Any]:
    pairs = result.pairs
    return _share_bars(
        [pair.mean_confidence for pair in pairs],
        _CONFIDENCE_OFFSET,
        name="stated confidence" if result.terms.of == "answer" else f"mean {result.terms.confidence}",
        marker={
            "color": blend(theme.highlight, theme.background, 0.35),
            "line": {"color": theme.highlight_outline, "width": 1.5},
        },
        hovertext=[f"states {format_percent(pair.mean_confidence)} on average" for pair in pairs],
    )


def _accuracy_bars(result: ConfidenceAccuracyPairs, theme: Theme) -> dict[str, Any]:
    pairs, unit, terms = result.pairs, result.unit, result.terms
    trace = _share_bars(
        [pair.accuracy for pair in pairs],
        _ACCURACY_OFFSET,
        name=f"{terms.accuracy}, 95 % Wilson interval",
        marker={"color": theme.bar},
        hovertext=[
            f"{plural(pair.count, unit[:-1])}<br>{terms.right} {_accuracy_text(pair)}" for pair in pairs
        ],
    )
    trace["error_x"] = {
        "type": "data",
        "symmetric": False,
        "color": theme.text,
        "thickness": 1.6,
        "width": 5,
        "array": [round(pair.high - pair.accuracy, 5) for pair in pairs],
        "arrayminus": [round(pair.accuracy - pair.low, 5) for pair in pairs],
    }
    return trace


def _bar_values(pairs: tuple[ConfidenceAccuracy, ...], theme: Theme) -> dict[str, Any]:
    """The number of each bar, beyond the end of its whisker."""
    labels = [
        (pair.mean_confidence, row + _CONFIDENCE_OFFSET, pair.mean_confidence)
        for row, pair in enumerate(pairs)
    ]
    labels += [(pair.high, row + _ACCURACY_OFFSET, pair.accuracy) for row, pair in enumerate(pairs)]
    return silent_trace(
        "text",
        [round(end + 0.012, 5) for end, _, _ in labels],
        [y for _, y, _ in labels],
        cliponaxis=False,
        text=[format_percent(share) for _, _, share in labels],
        textposition="middle right",
        textfont={"size": TEXT_SIZE, "color": theme.text},
    )


def _share_bars(shares: list[float], offset: float, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "type": "bar",
        "orientation": "h",
        "x": [round(share, 5) for share in shares],
        "width": 0.3,
        "y": [row + offset for row in range(len(shares))],
        "hoverinfo": "text",
        "cliponaxis": False,
        "unselected": {"marker": {"opacity": 1}},
        **options,
    }


def describe_confidence_accuracy(result: ConfidenceAccuracyPairs) -> str:
    """Describe the bars in a few sentences for screen readers, as plain text."""
    terms = result.terms
    descriptions = "; ".join(
        f"{pair.name}: states {format_percent(pair.mean_confidence)}, {terms.right} {_accuracy_text(pair)}"
        for pair in result.pairs
    )
    return f"Stated {terms.confidence} and {terms.accuracy}. {descriptions}."


def _accuracy_text(pair: ConfidenceAccuracy) -> str:
    """The accuracy with its interval."""
    interval = f"{format_percent(pair.low)} to {format_percent(pair.high)}"
    return f"{format_percent(pair.accuracy)} ({interval})"


# --- Ranking: accuracy and Brier score, a row for each run -------------------------------------------------

MAX_RANKED_RUNS: Final = 10
"""At most this many runs have a row: more could not be read from a distance."""

_RUN_HEIGHT: Final = 46
_MAX_RANKED_NAME: Final = 20
"""Characters of a name to the left of its dots, for which a phone has room."""

_PANEL_DOMAINS: Final = ([0, 0.44], [0.56, 1])


def ranking_figure(result: Comparison, theme: Theme) -> Figure:
    """Accuracy on the left, Brier score on the right, with intervals, in the order of `ranked_points`."""
    points = ranked_points(result)
    layout = base_layout(theme, height=112 + _RUN_HEIGHT * len(points), top=58)
    layout["margin"] |= {"l": 14, "r": 22}
    highest = max((point.brier.high or point.brier.value for point in points), default=1.0)
    terms = _terms_of(result)
    headings = (
        "<b>Accuracy</b><br>↑ is better" if terms.of == "answer" else f"<b>{terms.accuracy_title}</b><br> ",
        "<b>Brier score</b><br>↓ is better",
    )
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
                x=domain[0],
                xanchor="left",
                y=1,
                yanchor="bottom",
                yshift=10,
                align="left",
                font={"size": TEXT_SIZE, "color": theme.text},
            )
            for text, domain in zip(headings, _PANEL_DOMAINS, strict=True)
        ],
    }
    accuracy = _estimate_dots([point.accuracy for point in points], points, theme, "circle")
    brier = _estimate_dots([point.brier for point in points], points, theme, "diamond")
    return {"data": [accuracy, brier | {"xaxis": "x2", "yaxis": "y2"}], "layout": layout}


def _terms_of(result: Comparison) -> Terms:
    return common_terms(METHODS[point.method].terms for point in result.points)


def ranked_points(result: Comparison) -> Sequence[ComparisonPoint]:
    """The points that have a row, the lowest Brier score first; of events the highest skill."""
    by_skill = result.terms.of == "event"
    return (result.points_by_skill if by_skill else result.points_by_brier)[:MAX_RANKED_RUNS]


def _run_axis(theme: Theme, points: Sequence[ComparisonPoint], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """A vertical axis with a grid line for each run, which leads from its name to its two dots."""
    rows = list(range(len(points)))
    return axis(theme, range=[max(len(points), 1) - 0.5, -0.5], tickvals=rows, ticks="", **options)


def _estimate_dots(
    estimates: Sequence[MetricEstimate], points: Sequence[ComparisonPoint], theme: Theme, symbol: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "hoverinfo": "text",
        "x": [round(estimate.value, 7) for estimate in estimates],
        "y": list(range(len(estimates))),
        "marker": marker_style(theme.bar, symbol, theme, 14),
        "unselected": {"marker": {"opacity": 1}},
        "error_x": error_bars(estimates, theme.bar, width=6, thickness=2),
        "hovertext": [
            f"<b>{escape_for_plotly(truncate_middle(point.run, 60))}</b><br>{estimate_text(estimate)}"
            for point, estimate in zip(points, estimates, strict=True)
        ],
    }


def describe_ranking(result: Comparison) -> str:
    """Describe the rows in a few sentences for screen readers, as plain text."""
    terms = _terms_of(result)
    descriptions = "; ".join(
        f"{truncate_middle(point.name, 32)}: {terms.right} {estimate_text(point.accuracy)}, "
        f"Brier score {estimate_text(point.brier)}"
        for point in ranked_points(result)
    )
    n_more = len(result.points) - MAX_RANKED_RUNS
    more = f"; and {n_more} more" if n_more > 0 else ""
    first = "the highest skill" if terms.of == "event" else "the lowest Brier score"
    return f"{terms.accuracy_title} and Brier score, {first} first. {descriptions}{more}."


# --- Figures enlarged for the back of a room ---------------------------------------------------------------

ENLARGEMENT: Final = 1.6
_PIXEL_KEYS: Final = frozenset(
    {"size", "width", "thickness", "height", "ticklen", "standoff", "yshift", "l", "r", "t", "b"}
)
"""Keys whose numbers are pixels: of text, points, lines, whiskers, margins and the whole figure."""


def enlarge_figure(figure: Mapping[str, Any], factor: float = ENLARGEMENT) -> Figure:
    """Scale text, points, lines and margins by a factor.

    The height grows by half as much, so that the figure still fits on a screen. The widths of bars, which are
    in units of their axis, do not change.

    Parameters
    ----------
    figure : Mapping[str, Any]
        A plotly figure as a plain dict; it is not modified.
    factor : float
        Scale, 1 or more.
    """
    layout = cast("dict[str, Any]", _enlarge_part(figure["layout"], factor))
    layout["height"] = round(figure["layout"]["height"] * (1 + factor) / 2)
    shapes = [shape for shape in figure["layout"].get("shapes", ()) if shape.get("showlegend")]
    _widen_legend_entries(layout, len(legend_names(figure["data"])) + len(shapes), factor)
    return {"data": [_enlarge_trace(trace, factor) for trace in figure["data"]], "layout": layout}


def _widen_legend_entries(layout: dict[str, Any], entries: int, factor: float) -> None:
    """Put one legend entry on each line, since two of this size do not fit a narrow window, and make room."""
    if not layout.get("showlegend", True) or layout.get("legend", {}).get("entrywidth") != HALF_WIDTH_ENTRY:
        return
    extra_height = entries // 2 * LEGEND_LINE_HEIGHT * factor
    layout["legend"] = layout["legend"] | {"entrywidth": FULL_WIDTH_ENTRY}
    layout["margin"] = layout["margin"] | {"t": layout["margin"]["t"] + extra_height}
    layout["height"] = round(layout["height"] + extra_height)


def _enlarge_trace(trace: Mapping[str, Any], factor: float) -> dict[str, Any]:
    enlarged = cast("dict[str, Any]", _enlarge_part(trace, factor))
    is_bar = trace.get("type") == "bar" and "width" in trace
    return enlarged | {"width": trace["width"]} if is_bar else enlarged


def _enlarge_part(part: object, factor: float) -> object:
    """Scale every length in pixels within a part; lists without dicts are data and stay as they are."""
    if isinstance(part, Mapping):
        entries = cast("Mapping[str, object]", part)
        return {key: _enlarge_value(key, value, factor) for key, value in entries.items()}
    if isinstance(part, list):
        items = cast("list[object]", part)
        has_mappings = any(isinstance(item, Mapping) for item in items)
        return [_enlarge_part(item, factor) for item in items] if has_mappings else items
    return part


def _enlarge_value(key: str, value: object, factor: float) -> object:
    if key in _PIXEL_KEYS and isinstance(value, int | float) and not isinstance(value, bool):
        return value * factor
    return _enlarge_part(value, factor)


# --- Which figure draws which picture ----------------------------------------------------------------------

# Each function takes the class it is listed under; no dict type can express that, hence Any.
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
    Comparison: (ranking_figure, describe_ranking),
    Concentration: (
        lambda picture, theme: histogram_figure([picture], theme),
        lambda picture: describe_histogram([picture]),
    ),
}
"""Class of a result → the functions that draw and describe it."""

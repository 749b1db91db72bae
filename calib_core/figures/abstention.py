"""Accuracy over the share of questions answered, a curve for each confidence method of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    LABEL_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    halo,
    horizontal_line,
    legend_margin,
    legend_names,
    silent_trace,
)
from calib_core.figures.marks import band_trace
from calib_core.figures.palette import SeriesStyle, Theme, method_style
from calib_core.figures.text import escape_for_plotly
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.results.abstention import (
    AbstentionCurve,
    GuaranteedThreshold,
    OperatingPoint,
    ServerOrder,
)
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.wording import format_percent, plural, target_text, threshold_text

MAX_LINE_POINTS: Final = 400
"""A line is drawn through at most this many of its steps; numbers are computed from all of them."""

_MAX_MARKED_STEPS: Final = 64
"""Up to this number every step has a marker, to show that no threshold lies between two of them."""

_SPARSE_MARKERS: Final = 9
"""Markers along a line with more steps, there only to tell the lines apart."""

_PANEL_HEIGHT: Final = 350
"""Pixels."""

SERVER_ORDER_NAME: Final = "by the server's confidence, a rank"
"""The line of decisions ordered by it."""

_AXIS_TOP: Final = 1.01
"""Upper end of the axis of accuracies."""


def abstention_figure(
    curves: Sequence[AbstentionCurve],
    theme: Theme,
    *,
    target_accuracy: float | None = None,
    threshold: float | None = None,
    guaranteed: Sequence[GuaranteedThreshold] = (),
) -> Figure:
    """Accuracy on the questions answered over their share, with its 95 % interval where enough are answered.

    Dotted lines are the accuracies of answering every question.

    Parameters
    ----------
    curves : Sequence[AbstentionCurve]
        One for each method, all of one run.
    theme : Theme
        Colours.
    target_accuracy : float, optional
        An accuracy, 0 to 1, to draw as a level, with a ring where each curve reaches it with the most
        questions answered.
    threshold : float, optional
        A confidence to mark on each curve with a diamond.
    guaranteed : Sequence[GuaranteedThreshold], optional
        Thresholds to mark with a square, above a line down to the lower bound of the accuracy.
    """
    low, terms = _axis_bottom(curves, target_accuracy), _terms(curves)
    methods = [curve.method for curve in curves]
    data = [
        trace
        for curve in curves
        for trace in _curve_traces(curve, method_style(curve.method, theme, methods), theme)
    ]
    data += [_server_trace(curve.other_order, theme) for curve in curves if curve.other_order]
    data += _operating_point_rings(curves, theme, target_accuracy, threshold)
    data += _guaranteed_squares(guaranteed, theme)
    top, one_per_line = legend_margin(legend_names(data))
    layout = base_layout(
        theme, height=_PANEL_HEIGHT + top + BOTTOM_MARGIN, top=top, one_per_line=one_per_line
    )
    shapes, labels = accuracy_levels(curves, theme, target_accuracy, low)
    x_axis = axis(
        theme,
        f"Share of {terms.questions} {terms.answered}",
        standoff=8,
        range=[0, 1.005],
        tickformat=".0%",
        tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
    )
    y_axis = axis(theme, precision_title(terms), range=[low, _AXIS_TOP], tickformat=".0%", nticks=7)
    layout |= {
        "hovermode": "closest",
        "xaxis": x_axis,
        "yaxis": y_axis,
        "shapes": shapes,
        "annotations": labels,
    }
    return {"data": data or [empty_trace()], "layout": layout}


def precision_title(terms: Terms) -> str:
    """ "Accuracy of answered questions", "Precision of items called yes"."""
    among = (terms.questions, terms.answered) if terms.of == "event" else (terms.answered, terms.questions)
    return f"{terms.precision.capitalize()} of {' '.join(among)}"


def _terms(curves: Sequence[AbstentionCurve]) -> Terms:
    """The words of the curves, which are of one kind."""
    return curves[0].terms if curves else ANSWER_TERMS


def plotted_steps(curve: AbstentionCurve) -> NDArray[np.intp]:
    """Indices of the steps that are drawn: all, or those nearest to equally spaced shares, with both ends.

    Parameters
    ----------
    curve : AbstentionCurve
        The curve.
    max_points : int
        The largest number of steps to draw.

    Returns
    -------
    NDArray[np.intp], shape (n,)
        Ascending; n is at most `MAX_LINE_POINTS`.
    """
    n_steps = curve.n_answered.size
    if n_steps <= MAX_LINE_POINTS:
        return np.arange(n_steps)
    nearest = np.searchsorted(curve.coverage, np.linspace(0, 1, MAX_LINE_POINTS))
    return np.unique(np.clip(nearest, 0, n_steps - 1))


def _axis_bottom(curves: Sequence[AbstentionCurve], target_accuracy: float | None) -> float:
    """Lower end of the vertical axis, below the accuracies on enough rows and their intervals.

    Accuracies on few rows, such as 0 of 1, say little and do not stretch the axis.
    """
    shown = [1.0 if target_accuracy is None else target_accuracy]
    for curve in curves:
        enough = curve.n_answered >= min(MIN_ROWS, curve.n_used)
        shown += [float(curve.accuracy[enough].min())]
        shown += [float(curve.accuracy_interval[0].min(initial=1.0, where=curve.n_answered >= MIN_ROWS))]
        if other := curve.other_order:
            enough = other.share * curve.n_questions >= min(MIN_ROWS, curve.n_used)
            shown += [float(other.accuracy[enough].min())]
    return max(0.0, math.floor(20 * (min(shown) - 0.01)) / 20)


def _curve_traces(curve: AbstentionCurve, style: SeriesStyle, theme: Theme) -> list[dict[str, Any]]:
    """The pale band of intervals where enough questions are answered, and the line through all steps."""
    steps = plotted_steps(curve)
    all_marked = curve.n_answered.size <= _MAX_MARKED_STEPS
    return [
        *_interval_band(curve, steps[curve.n_answered[steps] >= MIN_ROWS], style.colour),
        {
            "type": "scatter",
            "mode": "lines+markers",
            "cliponaxis": False,
            "name": escape_for_plotly(METHODS[curve.method].heading),
            "x": _answered_shares(curve, steps),
            "y": [round(float(value), 6) for value in curve.accuracy[steps]],
            "line": style.line(2),
            "marker": style.marker(theme, 8) | {"maxdisplayed": 0 if all_marked else _SPARSE_MARKERS},
            "unselected": {"marker": {"opacity": 1}},
            "hoverinfo": "text",
            "hovertext": [_hover_text(curve, int(step)) for step in steps],
        },
    ]


def _server_trace(server: ServerOrder, theme: Theme) -> dict[str, Any]:
    """The line of the server's confidence, without marks: none of its values is a threshold."""
    steps = np.unique(np.linspace(0, server.share.size - 1, MAX_LINE_POINTS).astype(np.intp))
    name = escape_for_plotly(SERVER_ORDER_NAME)
    return {
        "type": "scatter",
        "mode": "lines",
        "cliponaxis": False,
        "name": name,
        "x": [round(float(value), 6) for value in server.share[steps]],
        "y": [round(float(value), 6) for value in server.accuracy[steps]],
        "line": {"color": theme.muted_text, "width": 2, "dash": "5px,4px"},
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{name}</b><br>answered {format_percent(float(server.share[step]))}"
            f"<br>right {format_percent(float(server.accuracy[step]))}"
            for step in steps
        ],
    }


def _interval_band(curve: AbstentionCurve, steps: NDArray[np.intp], colour: str) -> list[dict[str, Any]]:
    if not steps.size:
        return []
    low, high = ([float(value) for value in end[steps]] for end in curve.accuracy_interval)
    return [band_trace(_answered_shares(curve, steps), low, high, colour)]


def _answered_shares(curve: AbstentionCurve, steps: NDArray[np.intp]) -> list[float]:
    return [round(float(value), 6) for value in curve.coverage[steps]]


def _hover_text(curve: AbstentionCurve, step: int) -> str:
    low, high = (float(end[step]) for end in curve.accuracy_interval)
    threshold = threshold_text(curve.at_step(step).threshold)
    accuracy = format_percent(float(curve.accuracy[step]))
    terms = curve.terms
    return (
        f"<b>{escape_for_plotly(METHODS[curve.method].heading)}</b><br>{terms.confidence} ≥ {threshold}"
        f"<br>{terms.answered} {format_percent(float(curve.coverage[step]))} "
        f"({int(curve.n_answered[step]):,})"
        f"<br>{terms.hit} {accuracy} ({format_percent(low)} to {format_percent(high)})"
    )


def _operating_point_rings(
    curves: Sequence[AbstentionCurve], theme: Theme, target_accuracy: float | None, threshold: float | None
) -> list[dict[str, Any]]:
    """Rings where each curve answers most at the target accuracy, and where it is at the threshold."""
    rings: list[dict[str, Any] | None] = []
    if target_accuracy is not None:
        at_target = [curve.for_accuracy(target_accuracy) for curve in curves]
        rings.append(
            _ring_trace(at_target, theme, f"empirical at {target_text(target_accuracy)}", "circle-open")
        )
    if threshold is not None:
        at_threshold = [curve.at_threshold(threshold) for curve in curves]
        name = f"{_terms(curves).confidence} ≥ {threshold:g}"
        rings.append(_ring_trace(at_threshold, theme, name, "diamond-open"))
    return [ring for ring in rings if ring]


def _ring_trace(
    operating_points: Sequence[OperatingPoint | None], theme: Theme, name: str, symbol: str
) -> dict[str, Any] | None:
    known = [point for point in operating_points if point is not None and point.accuracy is not None]
    if not known:
        return None
    return silent_trace(
        "markers",
        [point.coverage for point in known],
        [point.accuracy for point in known],
        name=escape_for_plotly(name),
        cliponaxis=False,
        marker={
            "size": 15,
            "symbol": symbol,
            "color": theme.highlight_outline,
            "line": {"color": theme.highlight_outline, "width": 2.5},
        },
        unselected={"marker": {"opacity": 1}},
    )


def _guaranteed_squares(guaranteed: Sequence[GuaranteedThreshold], theme: Theme) -> list[dict[str, Any]]:
    """Squares at the guaranteed thresholds, each with a line down to its lower bound."""
    found = [each for each in guaranteed if each.point is not None]
    target = target_text(found[0].target_accuracy) if found else ""
    square = _ring_trace([each.point for each in found], theme, f"guaranteed at {target}", "square-open")
    if square is None:
        return []
    below = [y - (each.accuracy_low or 0.0) for y, each in zip(square["y"], found, strict=True)]
    square["error_y"] = {
        "type": "data",
        "symmetric": False,
        "array": [0] * len(below),
        "arrayminus": below,
        "color": theme.highlight_outline,
        "thickness": 2.5,
        "width": 6,
    }
    return [square]


def describe_abstention(
    curves: Sequence[AbstentionCurve], guaranteed: Sequence[GuaranteedThreshold] = ()
) -> str:
    """Describe the figure for screen readers, as plain text."""
    terms = _terms(curves)
    descriptions = "; ".join(
        f"{METHODS[curve.method].title}: {terms.precision} {format_percent(curve.accuracy_of_all)} "
        f"with all {terms.answered}, {_accuracy_at_half(curve)} with the half of the highest "
        f"{terms.confidence}"
        for curve in curves
    )
    ordered = "".join(
        f" Dashed, in the order of the server's confidence: {format_percent(_at_half(curve.other_order))} "
        "right with the half of the highest."
        for curve in curves
        if curve.other_order
    )
    promises = "".join(
        f" {METHODS[found.curve.method].title}: {found.headline}" for found in guaranteed if found.point
    )
    return (
        f"{terms.precision.capitalize()} over the share of {terms.questions} {terms.answered}. "
        f"{descriptions or 'No curve'}.{ordered}{promises}"
    )


def _accuracy_at_half(curve: AbstentionCurve) -> str:
    """The accuracy of the smallest step that answers half of the questions with a confidence."""
    step = int(np.searchsorted(curve.n_answered / curve.n_used, 0.5 - 1e-9))
    return format_percent(float(curve.accuracy[min(step, curve.n_answered.size - 1)]))


def _at_half(server: ServerOrder) -> float:
    """The accuracy of the smallest step that answers half of those that it can."""
    half = float(server.share[-1]) / 2 - 1e-9
    return float(server.accuracy[int(np.searchsorted(server.share, half))])


# --- Levels of accuracy and their labels -------------------------------------------------------------------

_LABEL_HEIGHT: Final = 20
"""Pixels that a label needs beside its level."""

_LevelLabel: TypeAlias = tuple[str, float, bool]
"""Text, its level, and whether it goes above the level where it can."""


def accuracy_levels(
    curves: Sequence[AbstentionCurve], theme: Theme, target_accuracy: float | None, low: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Horizontal lines at the accuracies of answering all questions and at the target, with their labels.

    Labels are where curves seldom are: those of answering all left, below the curves; that of the target
    right, above the curves, or below the target where answering all reaches it.

    Parameters
    ----------
    curves : Sequence[AbstentionCurve]
        The curves.
    theme : Theme
        Colours.
    target_accuracy : float or None
        The target, 0 to 1; it is left out if it is outside the axis.
    low : float
        Lower end of the axis of accuracies.

    Returns
    -------
    shapes, annotations : list[dict[str, Any]]
        Entries of plotly's layout.
    """
    labels = _overall_accuracies(curves)
    shapes = [_level_shape(value, theme, "2px,3px") for _, value, _ in labels]
    labels = labels if len(labels) < 3 else [labels[0], labels[-1]]  # there is no room for more
    annotations = [_level_annotation(label, theme, low, x=0.1, xanchor="left") for label in labels]
    if target_accuracy is not None and low <= target_accuracy <= 1:
        is_reached = any(value >= target_accuracy for _, value, _ in labels)
        label = (f"target: {target_text(target_accuracy)}", target_accuracy, not is_reached)
        place = {"x": 0.75, "xanchor": "center"} if is_reached else {"x": 0.995, "xanchor": "right"}
        shapes.append(_level_shape(target_accuracy, theme, "7px,5px"))
        annotations.append(_level_annotation(label, theme, low, **place))
    return shapes, annotations


def _overall_accuracies(curves: Sequence[AbstentionCurve]) -> list[_LevelLabel]:
    """Labels of the accuracies of answering all questions, the highest first; equal percentages share one.

    A label says what sets its accuracy apart from the others: the answer judged, or else the number of rows.
    """
    found: dict[str, tuple[float, list[AbstentionCurve]]] = {}
    for curve in sorted(curves, key=lambda curve: -curve.accuracy_of_all):
        value = curve.accuracy_of_all
        found.setdefault(format_percent(value), (value, []))[1].append(curve)
    names = _distinct_names([of_value for _, of_value in found.values()])
    labels: list[_LevelLabel] = []
    answered = _terms(curves).answered
    for (percentage, (value, _)), name in zip(found.items(), names, strict=True):
        labels.append((f"all {answered}{name}: {percentage}", value, not labels and len(found) > 1))
    return labels


def _distinct_names(curves_of_levels: Sequence[Sequence[AbstentionCurve]]) -> list[str]:
    """What each level has and no other has, such as " (greedy answer)" or " (1,020 rows)"; "" otherwise."""
    judged = [{curve.judged for curve in of_level} for of_level in curves_of_levels]
    n_rows = [{plural(curve.n_questions, "row") for curve in of_level} for of_level in curves_of_levels]
    for names in (judged, n_rows):
        singles = [next(iter(of_level)) for of_level in names if len(of_level) == 1]
        if 1 < len(names) == len(set(singles)):
            return [f" ({name})" for name in singles]
    return [""] * len(curves_of_levels)


def _level_shape(value: float, theme: Theme, dash: str) -> dict[str, Any]:
    return horizontal_line(value, color=theme.muted_text, width=1.4, dash=dash)


def _level_annotation(label: _LevelLabel, theme: Theme, low: float, **position: Any) -> dict[str, Any]:  # noqa: ANN401
    """The label on its side of the level, or on the other where it would leave the panel."""
    text, value, above = label
    room = _LABEL_HEIGHT * (_AXIS_TOP - low) / _PANEL_HEIGHT
    above = value + room < _AXIS_TOP if above else value - room < low
    return annotation(
        theme,
        escape_for_plotly(text),
        xref="x domain",
        yref="y",
        y=value,
        yanchor="bottom" if above else "top",
        font={"size": LABEL_SIZE, "color": theme.muted_text, "shadow": halo(theme)},
        **position,
    )

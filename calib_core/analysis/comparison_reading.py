"""Which point is the most accurate, which has the lowest Brier score, and is it alone in that?  In words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from calib_core.analysis.comparison_points import ComparisonPoint
from calib_core.analysis.limits import MIN_ROWS
from calib_core.confidence import METHODS
from calib_core.wording import ROUNDING_TOLERANCE, join_names, format_percent, too_few_phrase


def most_accurate(points: Sequence[ComparisonPoint]) -> list[ComparisonPoint]:
    """The points of the highest accuracy, in their order; of few rows only where all are."""
    judged = _with_enough_rows(points)
    best = max((point.accuracy.value for point in judged), default=0.0)
    return [point for point in judged if point.accuracy.value >= best - ROUNDING_TOLERANCE]


def lowest_brier(points: Sequence[ComparisonPoint]) -> list[ComparisonPoint]:
    """The points of the lowest Brier score, in their order; of few rows only where all are."""
    judged = _with_enough_rows(points)
    best = min((point.brier.value for point in judged), default=0.0)
    return [point for point in judged if point.brier.value <= best + ROUNDING_TOLERANCE]


def _with_enough_rows(points: Sequence[ComparisonPoint]) -> list[ComparisonPoint]:
    return [point for point in points if point.n_used >= MIN_ROWS] or list(points)


def comparison_headline(points: Sequence[ComparisonPoint], available_methods: Collection[str] = ()) -> str:
    """The most accurate and the lowest Brier score, whose interval says how sure that is.

    possible: ids of the methods that could be compared, those that are among them or not.
    """
    if not points:
        return "No run here gives both numbers."
    shown = {point.method for point in points}
    able = shown.union(available_methods)
    verb = "is" if len(shown) == 1 else "are"
    of = f"; {len(shown)} of {len(able)} confidence methods {verb} compared" if shown < able else ""
    return f"{_few_rows_prefix(points)}{_best_sentence(points)}{of}."


def _few_rows_prefix(points: Sequence[ComparisonPoint]) -> str:
    most = max(point.n_used for point in points)
    return "" if most >= MIN_ROWS else f"{too_few_phrase(most, 'row')}: "


def _best_sentence(points: Sequence[ComparisonPoint]) -> str:
    right, low = most_accurate(points), lowest_brier(points)
    accuracy, brier = format_percent(right[0].accuracy.value), f"{low[0].brier.value:.4f}"
    if len(right) == len(low) == len(points):
        whose = points[0].name if len(points) == 1 else runs_with_methods_text(points)
        return f"{whose} {_has_or_have(points)} accuracy {accuracy} and Brier score {brier}"
    lowest = f"the lowest Brier score, {brier}"
    if {point.name for point in low} == {point.name for point in right} and all(one in right for one in low):
        told = f"{runs_with_methods_text(low)} {_has_or_have(low)} both the highest accuracy, {accuracy}, and {lowest}"
    else:
        told = (
            f"{runs_text(right)} {_has_or_have(right)} the highest accuracy, {accuracy}; "
            f"{runs_with_methods_text(low)} {_has_or_have(low)} {lowest}"
        )
    reach = [point for point in points if point not in low and point.brier.overlaps(low[0].brier)]
    return f"{told}{_overlap_clause(len(reach))}"


def _has_or_have(points: Sequence[ComparisonPoint]) -> str:
    return "has" if len({point.name for point in points}) == 1 else "have"


def runs_with_methods_text(points: Sequence[ComparisonPoint]) -> str:
    """"A by “p(True)”", "A by “p(True)” and “stated confidence” alike", "A and B by “p(True)” alike"."""
    names = list(dict.fromkeys(point.name for point in points))
    methods = [f"“{METHODS[id_].title}”" for id_ in dict.fromkeys(point.method for point in points)]
    if len(points) == 1:
        return f"{names[0]} by {methods[0]}"
    if len(names) == 1:
        return f"{names[0]} by {_listed_alike(methods)}"
    if len(methods) == 1:
        return f"{_abbreviated_list(names)} by {methods[0]} alike"
    return _listed_alike([f"{point.name} by “{METHODS[point.method].title}”" for point in points])


def runs_text(points: Sequence[ComparisonPoint]) -> str:
    """"A", "A and B alike": their runs, whatever the methods."""
    return _listed_alike(list(dict.fromkeys(point.name for point in points)))


def _listed_alike(names: Sequence[str]) -> str:
    return f"{_abbreviated_list(names)} alike" if len(names) > 1 else names[0]


def _abbreviated_list(names: Sequence[str]) -> str:
    """"A, B and C"; of more than three, how many more than two there are."""
    return join_names(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def _overlap_clause(others: int) -> str:
    if not others:
        return ""
    whose = "that of 1 other" if others == 1 else f"those of {others} others"
    return f", with an interval that meets {whose}"

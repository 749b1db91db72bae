"""Which point is the most accurate, which has the lowest Brier score, and is it alone in that?  In words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from calib_core.analysis.comparison_points import Point
from calib_core.analysis.limits import FEW
from calib_core.confidence import METHODS
from calib_core.wording import ROUNDED, listed, percent, too_few


def most_accurate(points: Sequence[Point]) -> list[Point]:
    """The points of the highest accuracy, in their order; of few rows only where all are."""
    judged = _judged(points)
    best = max((point.accuracy.value for point in judged), default=0.0)
    return [point for point in judged if point.accuracy.value >= best - ROUNDED]


def lowest_brier(points: Sequence[Point]) -> list[Point]:
    """The points of the lowest Brier score, in their order; of few rows only where all are."""
    judged = _judged(points)
    best = min((point.brier.value for point in judged), default=0.0)
    return [point for point in judged if point.brier.value <= best + ROUNDED]


def _judged(points: Sequence[Point]) -> list[Point]:
    return [point for point in points if point.n_used >= FEW] or list(points)


def reading(points: Sequence[Point], possible: Collection[str] = ()) -> str:
    """The most accurate and the lowest Brier score, whose interval says how sure that is.

    possible: ids of the methods that could be compared, those that are among them or not.
    """
    if not points:
        return "No run here gives both numbers."
    shown = {point.method for point in points}
    able = shown.union(possible)
    verb = "is" if len(shown) == 1 else "are"
    of = f"; {len(shown)} of {len(able)} confidence methods {verb} compared" if shown < able else ""
    return f"{_few(points)}{_best(points)}{of}."


def _few(points: Sequence[Point]) -> str:
    most = max(point.n_used for point in points)
    return "" if most >= FEW else f"{too_few(most, 'row')}: "


def _best(points: Sequence[Point]) -> str:
    right, low = most_accurate(points), lowest_brier(points)
    accuracy, brier = percent(right[0].accuracy.value), f"{low[0].brier.value:.4f}"
    if len(right) == len(low) == len(points):
        whose = points[0].name if len(points) == 1 else whose_all(points)
        return f"{whose} {_have(points)} accuracy {accuracy} and Brier score {brier}"
    lowest = f"the lowest Brier score, {brier}"
    if {point.name for point in low} == {point.name for point in right} and all(one in right for one in low):
        told = f"{whose_all(low)} {_have(low)} both the highest accuracy, {accuracy}, and {lowest}"
    else:
        told = (
            f"{names_all(right)} {_have(right)} the highest accuracy, {accuracy}; "
            f"{whose_all(low)} {_have(low)} {lowest}"
        )
    reach = [point for point in points if point not in low and point.brier.meets(low[0].brier)]
    return f"{told}{_shared(len(reach))}"


def _have(points: Sequence[Point]) -> str:
    return "has" if len({point.name for point in points}) == 1 else "have"


def whose_all(points: Sequence[Point]) -> str:
    """"A by “p(True)”", "A by “p(True)” and “stated confidence” alike", "A and B by “p(True)” alike"."""
    names = list(dict.fromkeys(point.name for point in points))
    methods = [f"“{METHODS[id_].title}”" for id_ in dict.fromkeys(point.method for point in points)]
    if len(points) == 1:
        return f"{names[0]} by {methods[0]}"
    if len(names) == 1:
        return f"{names[0]} by {_alike(methods)}"
    if len(methods) == 1:
        return f"{_first(names)} by {methods[0]} alike"
    return _alike([f"{point.name} by “{METHODS[point.method].title}”" for point in points])


def names_all(points: Sequence[Point]) -> str:
    """"A", "A and B alike": their runs, whatever the methods."""
    return _alike(list(dict.fromkeys(point.name for point in points)))


def _alike(names: Sequence[str]) -> str:
    return f"{_first(names)} alike" if len(names) > 1 else names[0]


def _first(names: Sequence[str]) -> str:
    """"A, B and C"; of more than three, how many more than two there are."""
    return listed(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def _shared(others: int) -> str:
    if not others:
        return ""
    whose = "that of 1 other" if others == 1 else f"those of {others} others"
    return f", with an interval that meets {whose}"

"""Do accuracy and Brier score go together over the models, and how much of it is a(1−a) alone?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_core.analysis.comparison_points import Measured, Point
from calib_core.analysis.families import models
from calib_core.analysis.intervals import holds
from calib_core.analysis.rank_correlation import FEWEST, RankCorrelation, rank_correlation
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.records import RunInfo
from calib_core.wording import chance, count, percent, signed, span


@dataclass(frozen=True, slots=True)
class Change:
    """From the least accurate point to the most accurate one.

    least, most: their keys; brier: how much larger the Brier score of the most accurate is; low, high: its
    95 % interval, None where a point has none; alone: how much larger a(1−a) is there.
    """

    least: str
    most: str
    brier: float
    low: float | None
    high: float | None
    alone: float


@dataclass(frozen=True, slots=True)
class Trend:
    """What the points of one method on one data set say together.

    method: its id; dataset: None where files name none; points: how many; models: of how many models they
    are; correlation: of the ranks on the two axes, None where `why` says why not; change: of accuracy against
    Brier score, None where `unchanged` says why there is none; reading: all of it in words.
    """

    method: str
    dataset: str | None
    points: int
    models: int
    correlation: RankCorrelation | None
    why: str | None
    change: Change | None
    unchanged: str | None
    reading: str

    @property
    def independent(self) -> bool:
        """Whether no two points are of one model; else ρ has neither interval nor p."""
        return self.points == self.models


def trend_of(x: str, y: str, points: Sequence[Point], infos: Mapping[str, RunInfo]) -> Trend:
    """The trend over points of one method and data set, at least one; infos: by key, of others as well."""
    own = {point.key: infos[point.key] for point in points}
    dataset = infos[points[0].key].dataset
    of = models(own)
    correlation, why = _correlation(x, y, points, of)
    unchanged = _unchanged(x, y, points, of)
    change = None if unchanged else _change(points)
    told = [_of_ranks(x, y, correlation, why, len(points), of)]
    if change is not None:
        told.append(_of_change(change, {point.key: point for point in points}))
    reading = " ".join(told)
    return Trend(points[0].method, dataset, len(points), of, correlation, why, change, unchanged, reading)


def _correlation(
    x: str, y: str, points: Sequence[Point], of: int
) -> tuple[RankCorrelation | None, str | None]:
    if x == y:
        return None, "both axes are the same metric"
    if of < FEWEST:
        return None, f"{count(of, 'model')}, and it takes {FEWEST} or more"
    try:
        found = rank_correlation([point.x.value for point in points], [point.y.value for point in points])
    except Unavailable as reason:
        return None, str(reason).rstrip(".")
    return found, None


def _unchanged(x: str, y: str, points: Sequence[Point], of: int) -> str | None:
    """Why nothing can be said from the least to the most accurate point; None where it can."""
    if (x, y) != ("accuracy", "brier"):
        return "only of accuracy against Brier score"
    if of < 2:
        return "1 model"
    values = [point.accuracy.value for point in points]
    if min(values) == max(values):
        return "all points have the same accuracy"
    for end, name in ((min(values), "lowest"), (max(values), "highest")):
        if values.count(end) > 1:
            return f"{values.count(end)} points share the {name} accuracy"
    return None


def _change(points: Sequence[Point]) -> Change:
    """Between the ends of the accuracies, each of one point."""
    ordered = sorted(points, key=lambda point: point.accuracy.value)
    least, most = ordered[0], ordered[-1]
    low, high = _apart(least.brier, most.brier)
    return Change(
        least.key, most.key, most.brier.value - least.brier.value, low, high, most.constant - least.constant
    )


def _apart(first: Measured, second: Measured) -> tuple[float | None, float | None]:
    """Interval of second − first from the two intervals, squares of half-widths added (Newcombe 1998).

    As if the runs were independent: too wide where both answered the same questions.
    """
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None, None
    value = second.value - first.value
    below = math.hypot(second.value - second.low, first.high - first.value)
    above = math.hypot(second.high - second.value, first.value - first.low)
    return value - below, value + above


def _of_ranks(
    x: str, y: str, found: RankCorrelation | None, why: str | None, points: int, of: int
) -> str:
    if found is None:
        return f"No rank correlation: {why}."
    first, second = METRICS[x].in_sentence, METRICS[y].in_sentence
    if points > of:
        return (
            f"{METRICS[y].title} against {first}: ρ = {signed(found.rho, '+.2f')} over {points} runs of {of} "
            "models, which are not independent, so without interval and p."
        )
    numbers = (
        f"ρ = {signed(found.rho, '+.2f')} over {of} models "
        f"(95 % interval {span(found.low, found.high, '+.2f')}, {chance(found.p, None)})"
    )
    if found.clear:
        way = "rises" if found.rho > 0 else "falls"
        return f"{METRICS[y].title} {way} as {first} rises: {numbers}."
    return f"Whether {second} and {first} go together is not clear: {numbers}."


def _of_change(change: Change, points: Mapping[str, Point]) -> str:
    least, most = points[change.least], points[change.most]
    between = (
        f"Between the least accurate run ({least.name}, {percent(least.accuracy.value)}) and the most "
        f"accurate ({most.name}, {percent(most.accuracy.value)}) the Brier score"
    )
    if change.low is None or change.high is None:
        ends, clear = " (its interval is not known)", True
    else:
        ends = f" (95 % interval {span(change.low, change.high, '+.3f')}, as if the runs were independent)"
        clear = not holds(change.low, change.high, 0)
    alone = f"a(1−a) alone would {_let_it(change.alone)}"
    if not clear:
        return f"{between} does not change clearly, {signed(change.brier, '+.3f')}{ends}; {alone}."
    way = "falls" if change.brier < 0 else "rises"
    return f"{between} {way} by {abs(change.brier):.3f}{ends}; {alone}."


def _let_it(change: float) -> str:
    """"let it rise by 0.040"; as much below ½ as above it, a(1−a) is the same."""
    if abs(change) < 0.0005:
        return "leave it as it is"
    return f"let it {'fall' if change < 0 else 'rise'} by {abs(change):.3f}"

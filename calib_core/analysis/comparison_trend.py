"""Do accuracy and Brier score go together over the models, and how much of it is a(1−a) alone?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_core.analysis.comparison_points import MetricEstimate, ComparisonPoint
from calib_core.analysis.families import count_models
from calib_core.analysis.intervals import interval_contains
from calib_core.analysis.rank_correlation import MIN_POINTS, RankCorrelation, rank_correlation
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.records import RunInfo
from calib_core.wording import p_value_phrase, plural, format_percent, format_signed, format_interval


@dataclass(frozen=True, slots=True)
class BrierChange:
    """From the least accurate point to the most accurate one.

    least, most: their keys; brier: how much larger the Brier score of the most accurate is; low, high: its
    95 % interval, None where a point has none; alone: how much larger a(1−a) is there.
    """

    least_accurate: str
    most_accurate: str
    brier_change: float
    low: float | None
    high: float | None
    constant_brier_change: float


@dataclass(frozen=True, slots=True)
class Trend:
    """What the points of one method on one data set say together.

    method: its id; dataset: None where files name none; points: how many; models: of how many models they
    are; correlation: of the ranks on the two axes, None where `why` says why not; change: of accuracy against
    Brier score, None where `unchanged` says why there is none; reading: all of it in words.
    """

    method: str
    dataset: str | None
    n_points: int
    n_models: int
    correlation: RankCorrelation | None
    no_correlation_reason: str | None
    change: BrierChange | None
    no_change_reason: str | None
    headline: str

    @property
    def independent(self) -> bool:
        """Whether no two points are of one model; else ρ has neither interval nor p."""
        return self.n_points == self.n_models


def comparison_trend(x: str, y: str, points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]) -> Trend:
    """The trend over points of one method and data set, at least one; infos: by key, of others as well."""
    own = {point.key: infos[point.key] for point in points}
    dataset = infos[points[0].key].dataset
    of = count_models(own)
    correlation, why = _trend_correlation(x, y, points, of)
    unchanged = _no_change_reason(x, y, points, of)
    change = None if unchanged else _brier_change(points)
    told = [_correlation_sentence(x, y, correlation, why, len(points), of)]
    if change is not None:
        told.append(_change_sentence(change, {point.key: point for point in points}))
    reading = " ".join(told)
    return Trend(points[0].method, dataset, len(points), of, correlation, why, change, unchanged, reading)


def _trend_correlation(
    x: str, y: str, points: Sequence[ComparisonPoint], n_models: int
) -> tuple[RankCorrelation | None, str | None]:
    if x == y:
        return None, "both axes are the same metric"
    if n_models < MIN_POINTS:
        return None, f"{plural(n_models, 'model')}, and it takes {MIN_POINTS} or more"
    try:
        found = rank_correlation([point.x.value for point in points], [point.y.value for point in points])
    except Unavailable as reason:
        return None, str(reason).rstrip(".")
    return found, None


def _no_change_reason(x: str, y: str, points: Sequence[ComparisonPoint], n_models: int) -> str | None:
    """Why nothing can be said from the least to the most accurate point; None where it can."""
    if (x, y) != ("accuracy", "brier"):
        return "only of accuracy against Brier score"
    if n_models < 2:
        return "1 model"
    values = [point.accuracy.value for point in points]
    if min(values) == max(values):
        return "all points have the same accuracy"
    for end, name in ((min(values), "lowest"), (max(values), "highest")):
        if values.count(end) > 1:
            return f"{values.count(end)} points share the {name} accuracy"
    return None


def _brier_change(points: Sequence[ComparisonPoint]) -> BrierChange:
    """Between the ends of the accuracies, each of one point."""
    ordered = sorted(points, key=lambda point: point.accuracy.value)
    least, most = ordered[0], ordered[-1]
    low, high = _newcombe_interval(least.brier, most.brier)
    return BrierChange(
        least.key, most.key, most.brier.value - least.brier.value, low, high, most.constant_brier - least.constant_brier
    )


def _newcombe_interval(first: MetricEstimate, second: MetricEstimate) -> tuple[float | None, float | None]:
    """Interval of second − first from the two intervals, squares of half-widths added (Newcombe 1998).

    As if the runs were independent: too wide where both answered the same questions.
    """
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None, None
    value = second.value - first.value
    below = math.hypot(second.value - second.low, first.high - first.value)
    above = math.hypot(second.high - second.value, first.value - first.low)
    return value - below, value + above


def _correlation_sentence(
    x: str, y: str, correlation: RankCorrelation | None, reason: str | None, n_points: int, n_models: int
) -> str:
    if correlation is None:
        return f"No rank correlation: {reason}."
    first, second = METRICS[x].title_in_sentence, METRICS[y].title_in_sentence
    if n_points > n_models:
        return (
            f"{METRICS[y].title} against {first}: ρ = {format_signed(correlation.rho, '+.2f')} over {n_points} runs of {n_models} "
            "models, which are not independent, so without interval and p."
        )
    numbers = (
        f"ρ = {format_signed(correlation.rho, '+.2f')} over {n_models} models "
        f"(95 % interval {format_interval(correlation.low, correlation.high, '+.2f')}, {p_value_phrase(correlation.p, None)})"
    )
    if correlation.significant:
        way = "rises" if correlation.rho > 0 else "falls"
        return f"{METRICS[y].title} {way} as {first} rises: {numbers}."
    return f"Whether {second} and {first} go together is not clear: {numbers}."


def _change_sentence(change: BrierChange, points: Mapping[str, ComparisonPoint]) -> str:
    least, most = points[change.least_accurate], points[change.most_accurate]
    between = (
        f"Between the least accurate run ({least.name}, {format_percent(least.accuracy.value)}) and the most "
        f"accurate ({most.name}, {format_percent(most.accuracy.value)}) the Brier score"
    )
    if change.low is None or change.high is None:
        ends, clear = " (its interval is not known)", True
    else:
        ends = f" (95 % interval {format_interval(change.low, change.high, '+.3f')}, as if the runs were independent)"
        clear = not interval_contains(change.low, change.high, 0)
    alone = f"a(1−a) alone would {_change_verb_phrase(change.constant_brier_change)}"
    if not clear:
        return f"{between} does not change clearly, {format_signed(change.brier_change, '+.3f')}{ends}; {alone}."
    way = "falls" if change.brier_change < 0 else "rises"
    return f"{between} {way} by {abs(change.brier_change):.3f}{ends}; {alone}."


def _change_verb_phrase(change: float) -> str:
    """"let it rise by 0.040"; as much below ½ as above it, a(1−a) is the same."""
    if abs(change) < 0.0005:
        return "leave it as it is"
    return f"let it {'fall' if change < 0 else 'rise'} by {abs(change):.3f}"

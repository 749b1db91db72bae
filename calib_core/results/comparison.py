"""Which model is both accurate and honest?  Runs seen by methods → one point each, on two metrics.

One point: comparison_points.py. The best of them, in words: comparison_reading.py. All points of a method
together: comparison_trend.py. Sizes: families.py.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.intervals import interval_contains
from calib_core.inference.rank_correlation import MIN_POINTS, RankCorrelation, rank_correlation
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.metrics.brier import BRIER, brier_skill
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.recipe import recipe_text, scheme_text
from calib_core.results.run_names import count_models, name_with_model, short_run_names, size_families
from calib_core.results.score import effective_scheme
from calib_core.results.uncertainty import metric_interval
from calib_core.runs import RunInfo
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    format_interval,
    format_percent,
    format_signed,
    join_names,
    p_value_phrase,
    plural,
    too_few_phrase,
)

# MERGED comparison_points: What is one point of a comparison?  One run seen by one method → two metrics, each with its interval.


@dataclass(frozen=True, slots=True)
class MetricEstimate:
    """A metric's number. low, high: its 95 % interval; how: what kind of; None where there is none."""

    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    interval_method: str | None = None

    def overlaps(self, other: MetricEstimate) -> bool:
        """Whether the two intervals have a number in common; unknown ends count as the number itself."""
        low = max(part.value if part.low is None else part.low for part in (self, other))
        high = min(part.value if part.high is None else part.high for part in (self, other))
        return low <= high + ROUNDING_TOLERANCE


MetricEstimator: TypeAlias = Callable[[Evidence, str, Scheme], MetricEstimate]
"""`measured`, or the same from a store."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonPoint:
    """One run seen by one method.

    key: as it was given; run: what the run is called in full; name: for short; method: its id; x, y: what is
    drawn; accuracy, brier: always there; skill: 1 − Brier/(a(1−a)), None where all rows have one outcome;
    ece: over ten bins of equal width; n_used, n_total: rows or positions; judged: whose outcome it is;
    recipe: how accuracy and Brier score were made.
    """

    key: str
    run: str
    name: str
    method: str
    x: MetricEstimate
    y: MetricEstimate
    accuracy: MetricEstimate
    brier: MetricEstimate
    brier_skill: float | None
    ece_10: float | None
    n_used: int
    n_total: int
    judged: str
    recipe: str

    @property
    def constant_brier(self) -> float:
        """a(1−a): the Brier score of always saying a, the run's own accuracy."""
        return self.accuracy.value * (1 - self.accuracy.value)


def estimate_metric(evidence: Evidence, metric_id: str, scheme: Scheme) -> MetricEstimate:
    """The metric with its interval; raises Unavailable where it is not one finite number."""
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme)
    sums = evidence.sums_for(metric, scheme)
    if evidence.bounds(metric, scheme) is not None:
        raise Unavailable(f"Of {metric.title} only bounds are known here.")
    value = metric.compute(sums, scheme)
    if value is None:
        raise Unavailable(f"{metric.title} is not defined for these rows.")
    if not math.isfinite(value):
        raise Unavailable(f"{metric.title} is infinite: a right answer was given probability 0.")
    found = metric_interval(evidence, metric_id, scheme)
    if found is None:
        return MetricEstimate(metric_id, value)
    return MetricEstimate(metric_id, value, found.low, found.high, found.interval_method)


def comparison_point(
    key: str,
    names: tuple[str, str],
    evidence: Evidence,
    axes: tuple[str, str],
    scheme: Scheme,
    estimator: MetricEstimator = estimate_metric,
) -> ComparisonPoint:
    """The point of one evidence; called: in full and for short. Raises Unavailable as `measured`."""
    x, y = (estimator(evidence, id_, scheme) for id_ in axes)
    top = evidence.top_label
    accuracy, brier = (estimator(top, id_, scheme) for id_ in ("accuracy", "brier"))
    return ComparisonPoint(
        key=key,
        run=names[0],
        name=names[1],
        method=evidence.method.id,
        x=x,
        y=y,
        accuracy=accuracy,
        brier=brier,
        brier_skill=brier_skill(brier.value, accuracy.value),
        ece_10=METRICS["ece"].compute(evidence.top_label_sums, Scheme()),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        judged=evidence.judged,
        recipe=", ".join((_estimate_recipe(accuracy), _estimate_recipe(brier), recipe_text(top, None, None))),
    )


def _estimate_recipe(estimate: MetricEstimate) -> str:
    """ "accuracy (Wilson 95 %)"."""
    return f"{METRICS[estimate.metric].recipe_name} ({estimate.interval_method or 'no interval'})"


# MERGED comparison_reading: Which point is the most accurate, which has the lowest Brier score, and is it alone in that?  In words.


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
    """ "A by “p(True)”", "A by “p(True)” and “stated confidence” alike", "A and B by “p(True)” alike"."""
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
    """ "A", "A and B alike": their runs, whatever the methods."""
    return _listed_alike(list(dict.fromkeys(point.name for point in points)))


def _listed_alike(names: Sequence[str]) -> str:
    return f"{_abbreviated_list(names)} alike" if len(names) > 1 else names[0]


def _abbreviated_list(names: Sequence[str]) -> str:
    """ "A, B and C"; of more than three, how many more than two there are."""
    return join_names(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def _overlap_clause(others: int) -> str:
    if not others:
        return ""
    whose = "that of 1 other" if others == 1 else f"those of {others} others"
    return f", with an interval that meets {whose}"


# MERGED comparison_trend: Do accuracy and Brier score go together over the models, and how much of it is a(1−a) alone?


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


def comparison_trend(
    x: str, y: str, points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]
) -> Trend:
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
        least.key,
        most.key,
        most.brier.value - least.brier.value,
        low,
        high,
        most.constant_brier - least.constant_brier,
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
        return (
            f"{between} does not change clearly, {format_signed(change.brier_change, '+.3f')}{ends}; {alone}."
        )
    way = "falls" if change.brier_change < 0 else "rises"
    return f"{between} {way} by {abs(change.brier_change):.3f}{ends}; {alone}."


def _change_verb_phrase(change: float) -> str:
    """ "let it rise by 0.040"; as much below ½ as above it, a(1−a) is the same."""
    if abs(change) < 0.0005:
        return "leave it as it is"
    return f"let it {'fall' if change < 0 else 'rise'} by {abs(change):.3f}"


BASE_METRICS: Final = (ACCURACY.id, BRIER.id)
"""What every point has, whichever metrics are on the axes; a(1−a) is a curve of these two alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The points on two metrics.

    x, y: metric ids; scheme: of those that are binned; points: as they were given; families: keys of points
    that are one model in several sizes seen by one method, smallest first; trends: one a method and data set;
    refused: key → why it is no point; reading: the best in one sentence; unlike: what keeps points from being
    compared as they stand, each a sentence; recipe: how all of it was made.
    """

    x: str
    y: str
    scheme: Scheme
    points: tuple[ComparisonPoint, ...]
    size_families: tuple[tuple[str, ...], ...]
    trends: tuple[Trend, ...]
    unavailable: Mapping[str, str]
    headline: str
    caveats: tuple[str, ...]
    recipe: str

    @property
    def has_reference_curves(self) -> bool:
        """Whether a(1−a) and 1−a are curves of this picture."""
        return (self.x, self.y) == BASE_METRICS

    @property
    def points_by_brier(self) -> tuple[ComparisonPoint, ...]:
        """The points, the lowest Brier score first."""
        return tuple(sorted(self.points, key=lambda point: point.brier.value))

    def to_frame(self) -> pl.DataFrame:
        """One row a point, the lowest Brier score first: each number with its interval, and its recipe."""
        others = [id_ for id_ in dict.fromkeys((self.x, self.y)) if id_ not in BASE_METRICS]
        rows = [_point_row(point, others) for point in self.points_by_brier]
        return pl.DataFrame(rows, schema=_frame_schema(others))


def compare_runs(
    evidences: Mapping[str, Evidence],
    x: str = "accuracy",
    y: str = "brier",
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    available_methods: Collection[str] = (),
    estimator: MetricEstimator = estimate_metric,
) -> Comparison:
    """One point an evidence, on two metrics.

    seen: key → what one method says of one run; titles: key → what the run is called, its label if not said;
    possible: ids of the methods that these runs give, those in `seen` or not. Raises Unavailable for a metric
    that does not exist; who cannot give both metrics, or whose number is not defined or infinite, is named in
    `refused`.
    """
    for id_ in (x, y):
        get_metric(id_)
    scheme = scheme or Scheme()
    called = _full_and_short_names(
        evidences, titles or {key: evidence.run.label for key, evidence in evidences.items()}
    )
    points: list[ComparisonPoint] = []
    refused: dict[str, str] = {}
    for key, evidence in evidences.items():
        try:
            points.append(comparison_point(key, called[key], evidence, (x, y), scheme, estimator))
        except Unavailable as reason:
            refused[key] = str(reason)
    infos = {point.key: evidences[point.key].run.info for point in points}
    named = [replace(point, name=name_with_model(point.name, infos[point.key])) for point in points]
    alike = _points_by_method_and_dataset(named, infos)
    return Comparison(
        x=x,
        y=y,
        scheme=scheme,
        points=tuple(points),
        size_families=tuple(
            kin for own in alike for kin in size_families({one.key: infos[one.key] for one in own})
        ),
        trends=tuple(comparison_trend(x, y, own, infos) for own in alike),
        unavailable=refused,
        headline=comparison_headline(named, available_methods),
        caveats=_point_caveats(points, infos),
        recipe=_comparison_recipe(points, (x, y), scheme),
    )


def _points_by_method_and_dataset(
    points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]
) -> list[list[ComparisonPoint]]:
    """The points of each method on each data set."""
    found: dict[tuple[str, str | None], list[ComparisonPoint]] = defaultdict(list)
    for point in points:
        found[point.method, infos[point.key].dataset].append(point)
    return list(found.values())


def _full_and_short_names(
    evidences: Mapping[str, Evidence], titles: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """What each evidence's run is called, in full and for short; two methods of one run call it the same."""
    infos: dict[str, RunInfo] = {titles[key]: evidence.run.info for key, evidence in evidences.items()}
    names = short_run_names(infos, {title: title for title in infos})
    return {key: (titles[key], names[titles[key]]) for key in evidences}


def _point_caveats(points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]) -> tuple[str, ...]:
    """What differs between points besides model and method."""
    told: list[str] = []
    rows = sorted({point.n_used for point in points})
    if len(rows) > 1:
        told.append(f"The points stand on different numbers of rows: {rows[0]:,} to {rows[-1]:,}.")
    few = sum(point.n_used < MIN_ROWS for point in points)
    if 0 < few < len(points):
        told.append(
            f"{few} of {plural(len(points), 'point')} {'stands' if few == 1 else 'stand'} on fewer than {MIN_ROWS} "
            "rows, too few to be called the best."
        )
    judged = Counter(point.judged for point in points)
    if len(judged) > 1:
        counts = ", ".join(f"{whose} ({count})" for whose, count in judged.most_common())
        told.append(f"Not all points judge the same answer, so accuracies differ with it: {counts}.")
    for field, title in (("dataset", "data sets"), ("shots", "numbers of shots")):
        values = {getattr(infos[point.key], field) for point in points}
        if len(values) > 1:
            told.append(f"The points are of {len(values)} {title}: compare within one.")
    return tuple(told)


def _comparison_recipe(points: Sequence[ComparisonPoint], axes: tuple[str, str], scheme: Scheme) -> str:
    """ "accuracy (Wilson 95 %) against Brier (basic bootstrap …), top label, n=1000/1000"."""
    parts = [_axis_recipe(points, at, id_, scheme) for at, id_ in enumerate(axes)]
    rows = sorted({(point.n_used, point.n_total) for point in points})
    if not rows:
        return " against ".join(parts)
    (low, least), (high, most) = rows[0], rows[-1]
    n = f"n={low}/{least}" if len(rows) == 1 else f"n={low}/{least} to {high}/{most}"
    return f"{' against '.join(parts)}, top label, {n}"


def _axis_recipe(points: Sequence[ComparisonPoint], axis_index: int, metric_id: str, scheme: Scheme) -> str:
    metric = METRICS[metric_id]
    bins = f", {scheme_text(effective_scheme(metric, scheme))}" if metric.binned else ""
    how = {(point.x, point.y)[axis_index].interval_method or "no interval" for point in points}
    return f"{metric.recipe_name}{bins} ({'; '.join(sorted(how))})" if how else f"{metric.recipe_name}{bins}"


def _point_row(point: ComparisonPoint, other_metrics: Sequence[str]) -> dict[str, Any]:
    axes = {point.x.metric: point.x, point.y.metric: point.y}
    numbers = {"accuracy": point.accuracy, "brier": point.brier} | {id_: axes[id_] for id_ in other_metrics}
    spread = {
        name: value
        for id_, own in numbers.items()
        for name, value in ((id_, own.value), (f"{id_}_low", own.low), (f"{id_}_high", own.high))
    }
    return {
        "run": point.run,
        "method": point.method,
        **spread,
        "skill": point.brier_skill,
        "ece_10": point.ece_10,
        "n_used": point.n_used,
        "n_total": point.n_total,
        "judged": point.judged,
        "recipe": point.recipe,
    }


def _frame_schema(other_metrics: Sequence[str]) -> dict[str, type[pl.DataType]]:
    numbers = [f"{id_}{end}" for id_ in (*BASE_METRICS, *other_metrics) for end in ("", "_low", "_high")]
    return {
        "run": pl.String,
        "method": pl.String,
        **dict.fromkeys(numbers, pl.Float64),
        "skill": pl.Float64,
        "ece_10": pl.Float64,
        "n_used": pl.Int64,
        "n_total": pl.Int64,
        "judged": pl.String,
        "recipe": pl.String,
    }

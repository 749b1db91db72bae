"""Which model is both accurate and honest?  Runs seen by methods → one point each, on two metrics.

One point: comparison_points.py. The best of them, in words: comparison_reading.py. All points of a method
together: comparison_trend.py. Sizes: families.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from calib_core.analysis.comparison_points import MetricEstimator, ComparisonPoint, estimate_metric, comparison_point
from calib_core.analysis.comparison_reading import comparison_headline
from calib_core.analysis.comparison_trend import Trend, comparison_trend
from calib_core.analysis.evidence import Evidence, get_metric
from calib_core.analysis.families import size_families, name_with_model, short_run_names
from calib_core.analysis.limits import MIN_ROWS
from calib_core.analysis.recipe import scheme_text
from calib_core.analysis.score import effective_scheme
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.metrics.brier import BRIER
from calib_core.problems import Unavailable
from calib_core.records import RunInfo
from calib_core.wording import plural

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
    called = _full_and_short_names(evidences, titles or {key: evidence.run.label for key, evidence in evidences.items()})
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
        x=x, y=y, scheme=scheme, points=tuple(points),
        size_families=tuple(kin for own in alike for kin in size_families({one.key: infos[one.key] for one in own})),
        trends=tuple(comparison_trend(x, y, own, infos) for own in alike),
        unavailable=refused,
        headline=comparison_headline(named, available_methods),
        caveats=_point_caveats(points, infos),
        recipe=_comparison_recipe(points, (x, y), scheme),
    )


def _points_by_method_and_dataset(points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]) -> list[list[ComparisonPoint]]:
    """The points of each method on each data set."""
    found: dict[tuple[str, str | None], list[ComparisonPoint]] = defaultdict(list)
    for point in points:
        found[point.method, infos[point.key].dataset].append(point)
    return list(found.values())


def _full_and_short_names(evidences: Mapping[str, Evidence], titles: Mapping[str, str]) -> dict[str, tuple[str, str]]:
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
    """"accuracy (Wilson 95 %) against Brier (basic bootstrap …), top label, n=1000/1000"."""
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
        "run": point.run, "method": point.method, **spread, "skill": point.brier_skill, "ece_10": point.ece_10,
        "n_used": point.n_used, "n_total": point.n_total, "judged": point.judged,
        "recipe": point.recipe,
    }


def _frame_schema(other_metrics: Sequence[str]) -> dict[str, type[pl.DataType]]:
    numbers = [f"{id_}{end}" for id_ in (*BASE_METRICS, *other_metrics) for end in ("", "_low", "_high")]
    return {
        "run": pl.String, "method": pl.String, **dict.fromkeys(numbers, pl.Float64), "skill": pl.Float64,
        "ece_10": pl.Float64, "n_used": pl.Int64, "n_total": pl.Int64, "judged": pl.String,
        "recipe": pl.String,
    }

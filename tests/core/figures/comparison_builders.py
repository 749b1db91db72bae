"""Small comparisons, put together by hand, for the tests of figures."""

from __future__ import annotations

from calib_core.edges import Scheme
from calib_core.results.comparison import Comparison, ComparisonPoint, MetricEstimate
from core.comparison_runs import paired_by_hand


def make_point(
    name: str,
    x: float,
    y: float,
    *,
    method: str = "given",
    metrics: tuple[str, str] = ("accuracy", "brier"),
    half: float | None = 0.02,
) -> ComparisonPoint:
    """A point whose key is "name:method"."""

    def one(metric: str, value: float) -> MetricEstimate:
        ends = (None, None, None) if half is None else (value - half, value + half, "95 %")
        return MetricEstimate(metric, value, *ends)

    return ComparisonPoint(
        key=f"{name}:{method}",
        run=f"{name} in full",
        name=name,
        method=method,
        x=one(metrics[0], x),
        y=one(metrics[1], y),
        accuracy=one("accuracy", x),
        accuracy_of_all=one("accuracy", x),
        brier=one("brier", y),
        brier_skill=0.1,
        ece_10=0.1,
        n_used=1000,
        n_total=1000,
        judged="greedy answer",
        recipe="Brier",
        missing=None,
    )


def make_comparison(
    *points: ComparisonPoint,
    families: tuple[tuple[str, ...], ...] = (),
    metrics: tuple[str, str] = ("accuracy", "brier"),
) -> Comparison:
    return Comparison(
        x=metrics[0],
        y=metrics[1],
        scheme=Scheme(),
        points=points,
        size_families=families,
        trends=(),
        unavailable={},
        paired=paired_by_hand([point.key for point in points]),
        headline="No run has both numbers.",
        caveats=(),
        recipe="Brier",
    )

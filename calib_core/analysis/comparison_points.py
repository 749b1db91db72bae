"""What is one point of a comparison?  One run seen by one method → two metrics, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from calib_core.analysis.bootstrap import metric_interval
from calib_core.analysis.evidence import Evidence, get_metric
from calib_core.analysis.recipe import recipe_text
from calib_core.analysis.score import effective_scheme
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.brier import brier_skill
from calib_core.problems import Unavailable
from calib_core.wording import ROUNDING_TOLERANCE


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
    """"accuracy (Wilson 95 %)"."""
    return f"{METRICS[estimate.metric].recipe_name} ({estimate.interval_method or 'no interval'})"

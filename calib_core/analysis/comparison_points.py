"""What is one point of a comparison?  One run seen by one method → two metrics, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from calib_core.analysis.bootstrap import interval
from calib_core.analysis.evidence import Evidence, metric_of
from calib_core.analysis.recipe import recipe
from calib_core.analysis.score import scheme_for
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.brier import brier_skill
from calib_core.problems import Unavailable
from calib_core.wording import ROUNDED


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric's number. low, high: its 95 % interval; how: what kind of; None where there is none."""

    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    how: str | None = None

    def meets(self, other: Measured) -> bool:
        """Whether the two intervals have a number in common; unknown ends count as the number itself."""
        low = max(part.value if part.low is None else part.low for part in (self, other))
        high = min(part.value if part.high is None else part.high for part in (self, other))
        return low <= high + ROUNDED


Measure: TypeAlias = Callable[[Evidence, str, Scheme], Measured]
"""`measured`, or the same from a store."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
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
    x: Measured
    y: Measured
    accuracy: Measured
    brier: Measured
    skill: float | None
    ece: float | None
    n_used: int
    n_total: int
    judged: str
    recipe: str

    @property
    def constant(self) -> float:
        """a(1−a): the Brier score of always saying a, the run's own accuracy."""
        return self.accuracy.value * (1 - self.accuracy.value)


def measured(evidence: Evidence, metric_id: str, scheme: Scheme) -> Measured:
    """The metric with its interval; raises Unavailable where it is not one finite number."""
    metric = metric_of(metric_id)
    scheme = scheme_for(metric, scheme)
    sums = evidence.sums_for(metric, scheme)
    if evidence.bounds(metric, scheme) is not None:
        raise Unavailable(f"Of {metric.title} only bounds are known here.")
    value = metric.of(sums, scheme)
    if value is None:
        raise Unavailable(f"{metric.title} is not defined for these rows.")
    if not math.isfinite(value):
        raise Unavailable(f"{metric.title} is infinite: a right answer was given probability 0.")
    found = interval(evidence, metric_id, scheme)
    if found is None:
        return Measured(metric_id, value)
    return Measured(metric_id, value, found.low, found.high, found.how)


def point_of(
    key: str,
    called: tuple[str, str],
    evidence: Evidence,
    axes: tuple[str, str],
    scheme: Scheme,
    measure: Measure = measured,
) -> Point:
    """The point of one evidence; called: in full and for short. Raises Unavailable as `measured`."""
    x, y = (measure(evidence, id_, scheme) for id_ in axes)
    top = evidence.of_top
    accuracy, brier = (measure(top, id_, scheme) for id_ in ("accuracy", "brier"))
    return Point(
        key=key,
        run=called[0],
        name=called[1],
        method=evidence.method.id,
        x=x,
        y=y,
        accuracy=accuracy,
        brier=brier,
        skill=brier_skill(brier.value, accuracy.value),
        ece=METRICS["ece"].of(evidence.top_sums, Scheme()),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        judged=evidence.judged,
        recipe=", ".join((_told(accuracy), _told(brier), recipe(top, None, None))),
    )


def _told(one: Measured) -> str:
    """"accuracy (Wilson 95 %)"."""
    return f"{METRICS[one.metric].recipe} ({one.how or 'no interval'})"

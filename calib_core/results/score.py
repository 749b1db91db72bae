"""How good is one method on one run, as one number?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.inference.null import null_distribution
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.recipe import recipe_text


@dataclass(frozen=True, slots=True)
class Score:
    """One metric of one method on one run.

    value: None where the metric is not defined for these rows, or only bounds are known: low, high, None
    elsewhere; bins: M (natural bins: how many there are), None for a metric without bins; judged: whose
    outcome it is; remarks: what a reader has to know of these rows; remark: of this value, or None; p: share
    of draws from the confidences themselves in which the number is at least as large (`null.Null`),
    null_median: its median over them; draws: how many, so that p is 1/(1 + draws) or more; all three None
    where there is no null.
    """

    run: str
    method: str
    metric: str
    value: float | None
    bins: int | None
    n_used: int
    n_total: int
    recipe: str
    judged: str
    remarks: tuple[str, ...] = ()
    remark: str | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    null_median: float | None = None
    draws: int | None = None

    def to_frame(self) -> pl.DataFrame:
        """One row, one column a field; the remarks are one text."""
        return pl.DataFrame([{**self.to_dict(), "remarks": "; ".join(self.remarks)}], schema=_SCORE_SCHEMA)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as the command line prints them."""
        return asdict(self)


_SCORE_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "run": pl.String,
        "method": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
        "bins": pl.Int64,
        "n_used": pl.Int64,
        "n_total": pl.Int64,
        "recipe": pl.String,
        "judged": pl.String,
        "remarks": pl.String,
        "remark": pl.String,
        "low": pl.Float64,
        "high": pl.Float64,
        "p": pl.Float64,
        "null_median": pl.Float64,
        "draws": pl.Int64,
    }
)


def score(evidence: Evidence, metric_id: str, scheme: Scheme | None = None) -> Score:
    """The metric read off the evidence; raises Unavailable with the reason where it cannot be."""
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    sums = evidence.sums_for(metric, scheme)
    realised = None
    if metric.binned and scheme.binning != "width":
        realised = evidence.binned(metric, scheme).size
    bins = realised if scheme.binning == "natural" else scheme.bins
    low, high = evidence.bounds(metric, scheme) or (None, None)
    value = metric.compute(sums, scheme) if low is None else None
    null = None if value is None else null_distribution(evidence, metric, (scheme,), (value,))
    how = recipe_text(evidence, metric, scheme if metric.binned else None, realised)
    return Score(
        run=evidence.run.label,
        method=evidence.method.id,
        metric=metric.id,
        value=value,
        bins=bins if metric.binned else None,
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        recipe=f"{how}, {null.recipe_text}" if null else how,
        judged=evidence.judged,
        remarks=evidence.remarks,
        remark=metric.remark(sums) or evidence.exactness_note(metric, scheme),
        low=low,
        high=high,
        p=null.p[0] if null else None,
        null_median=null.median[0] if null else None,
        draws=null.n_draws if null else None,
    )


def effective_scheme(metric: Metric, scheme: Scheme) -> Scheme:
    """The bins this metric really uses: one defined on equal mass is of equal mass whatever was chosen."""
    return Scheme("mass", scheme.bins) if metric.binning == "mass" else scheme


def metric_availability(evidence: Evidence, scheme: Scheme) -> dict[str, str | None]:
    """Every registered metric id → None where this evidence can give it, else the reason."""
    return {
        id_: evidence.unavailable_reason(metric, effective_scheme(metric, scheme))
        for id_, metric in METRICS.items()
    }

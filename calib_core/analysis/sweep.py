"""Does the number depend on M?  Evidence and a set of M → one Sweep.

RSD: Full-ECE paper, section 5. What a bin is: edges.py. How it is drawn: figures/robustness.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl

from calib_core.analysis.basis import Evidence
from calib_core.analysis.evidence import metric_of
from calib_core.analysis.null import Null, null_of, rsd, with_rsd
from calib_core.analysis.recipe import recipe
from calib_core.analysis.score import scheme_for
from calib_core.analysis.sweep_reading import chance_over, read_sweep, remarks_on
from calib_core.bins import Binning, Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.wording import count

PAPER_BINS: Final = (5, 10, 20, 50, 100, 200, 500)
"""The seven M of the Full-ECE paper."""

SWEPT: Final = tuple(metric.id for metric in METRICS.values() if metric.swept)
"""Metrics shown side by side when none is named."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One metric over M.

    values: one per M, None where only bounds are known or M is refused; bounds: M → (low, high);
    refused: M → reason; rsd: population (ddof 0) or sample (ddof 1) standard deviation / mean over the
    values, None unless every M has a value and their mean is above 0; ceiling: the largest value the
    metric can take on these rows and labels (Full-ECE and K·cw-ECE: 2·mean(1 − p_y)), None where it has
    none of interest; null: None unless the metric has one at every M; remarks: sentences about this
    curve (one-signed gaps, every value in its own bin …).
    """

    metric: str
    bins: tuple[int, ...]
    values: tuple[float | None, ...]
    bounds: Mapping[int, tuple[float, float]]
    refused: Mapping[int, str]
    rsd: float | None
    ddof: int
    ceiling: float | None
    null: Null | None
    recipe: str
    remarks: tuple[str, ...] = ()

    @property
    def span(self) -> float | None:
        """The largest less the smallest value over M; None where no M has one."""
        known = [value for value in self.values if value is not None]
        return max(known) - min(known) if known else None


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Every swept metric of one method on one run over one set of M.

    refused: metric id → why it has no curve; reading: what the variation over M comes to, one sentence about
    the first curve; chance: what of it chance alone would give, in one or two.
    """

    run: str
    method: str
    bins: tuple[int, ...]
    ddof: int
    curves: tuple[Curve, ...]
    refused: Mapping[str, str]
    n_used: int
    n_total: int
    reading: str
    chance: str = ""

    def to_frame(self) -> pl.DataFrame:
        """One row a metric and M.

        run, method, metric, bins, value, low, high (of bounds), null_median, null_low, null_high, p, draws,
        rsd, ddof, recipe.
        """
        records = [
            {"run": self.run, "method": self.method, **record}
            for curve in self.curves
            for record in _records(curve)
        ]
        return pl.DataFrame(records, schema=_SCHEMA)


_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType({
    "run": pl.String, "method": pl.String, "metric": pl.String, "bins": pl.Int64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "null_median": pl.Float64, "null_low": pl.Float64,
    "null_high": pl.Float64, "p": pl.Float64, "draws": pl.Int64, "rsd": pl.Float64, "ddof": pl.Int64,
    "recipe": pl.String,
})


def _records(curve: Curve) -> list[dict[str, object]]:
    nothing = (None,) * len(curve.bins)
    null = curve.null
    band = (null.median, null.low, null.high, null.p) if null else (nothing,) * 4
    return [
        {
            "metric": curve.metric, "bins": bins, "value": value,
            "low": curve.bounds.get(bins, (None, None))[0], "high": curve.bounds.get(bins, (None, None))[1],
            "null_median": median, "null_low": low, "null_high": high, "p": p,
            "draws": null and null.draws, "rsd": curve.rsd, "ddof": curve.ddof, "recipe": curve.recipe,
        }
        for bins, value, median, low, high, p in zip(curve.bins, curve.values, *band, strict=True)
    ]


def sweep(
    evidence: Evidence,
    metrics: Sequence[str] = SWEPT,
    bins: Sequence[int] = PAPER_BINS,
    ddof: int = 0,
    *,
    binning: Binning = "width",
) -> Sweep:
    """Each metric over M, in ascending order of M; what cannot be given is in `refused`.

    metrics: ids; bins: M, 1 to 1000 each; ddof: 0 or 1; binning: "width" or "mass". Raises Unavailable for
    an unknown metric, one without bins, or natural bins, which have no M; ValueError for no M, M outside
    1 to 1000 or another ddof.
    """
    if not bins or ddof not in (0, 1):
        raise ValueError("a sweep needs at least one M, and a ddof of 0 or 1")
    if binning == "natural":
        raise Unavailable("Natural bins are one a distinct value: there is no M to sweep.")
    chosen = tuple(sorted({int(number) for number in bins}))
    wanted = [metric_of(metric) for metric in dict.fromkeys(metrics)]
    for metric in wanted:
        if not metric.binned:
            raise Unavailable(f"{metric.title} has no bins, so there is nothing to sweep.")
    tried = [_curve(evidence, metric, chosen, ddof, binning) for metric in wanted]
    curves = tuple(curve for curve in tried if len(curve.refused) < len(chosen))
    refused = {curve.metric: curve.refused[chosen[0]] for curve in tried if curve not in curves}
    reading, chance = _told(evidence, curves[0]) if curves else ("Nothing here can be swept.", "")
    return Sweep(
        run=evidence.run.label,
        method=evidence.method.id,
        bins=chosen,
        ddof=ddof,
        curves=curves,
        refused=MappingProxyType(refused),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        reading=reading,
        chance=chance,
    )


def _told(evidence: Evidence, curve: Curve) -> tuple[str, str]:
    """What the curve comes to, and what of it chance would give."""
    if any(value is None for value in curve.values):
        return "Not every M has one value, so nothing can be said of the variation over M.", ""
    values = [value for value in curve.values if value is not None]
    return (
        read_sweep(metric_of(curve.metric).title, curve.bins, values, curve.null),
        chance_over(curve.bins, values, curve.null, count(evidence.n_used, evidence.unit[:-1])),
    )


def _curve(evidence: Evidence, metric: Metric, bins: tuple[int, ...], ddof: int, binning: Binning) -> Curve:
    schemes = {number: scheme_for(metric, Scheme(binning, number)) for number in bins}
    refused = {
        number: why for number, scheme in schemes.items() if (why := evidence.refusal(metric, scheme))
    }
    served = {number: scheme for number, scheme in schemes.items() if number not in refused}
    bounds = {
        number: ends for number, scheme in served.items() if (ends := evidence.bounds(metric, scheme))
    }
    values = tuple(
        metric.of(evidence.sums_for(metric, served[number]), served[number])
        if number in served and number not in bounds
        else None
        for number in bins
    )
    known = [value for value in values if value is not None]
    whole = len(known) == len(bins)
    spread = float(rsd(np.array(known), ddof)) if whole else np.nan
    null = null_of(evidence, metric, list(schemes.values()), values) if whole else None
    if null is not None and len(known) > 1:
        null = with_rsd(null, evidence, metric, list(schemes.values()), known, ddof)
    return Curve(
        metric=metric.id,
        bins=bins,
        values=values,
        bounds=MappingProxyType(bounds),
        refused=MappingProxyType(refused),
        rsd=None if np.isnan(spread) else spread,
        ddof=ddof,
        ceiling=_ceiling(evidence) if metric.ceiled and served else None,
        null=null,
        recipe=_recipe(evidence, metric, schemes, ddof, null),
        remarks=remarks_on(evidence, metric, served, values),
    )


def _ceiling(evidence: Evidence) -> float | None:
    """mean(1 + Σp − 2p_y), which is 2·mean(1 − p_y) where every row sums to 1."""
    sums = evidence.pooled_class_sums
    if not sums.rows:
        return None
    whole = sums.binned(Scheme("width", 1))
    total = whole.correct + whole.confidence - 2 * whole.confident_correct
    return float(total.sum()) / sums.rows


def _recipe(
    evidence: Evidence, metric: Metric, schemes: Mapping[int, Scheme], ddof: int, null: Null | None
) -> str:
    """"ECE-L1, equal width, M=5, 10, 20, right-closed, top label, n=5/5, RSD with ddof=0, p over …"."""
    how = recipe(evidence, metric, next(iter(schemes.values())), swept=tuple(schemes))
    return f"{how}, RSD with ddof={ddof}" + (f", {null.words}" if null else "")

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
from calib_core.analysis.evidence import get_metric
from calib_core.analysis.null import NullDistribution, null_distribution, relative_standard_deviation, with_rsd
from calib_core.analysis.recipe import recipe_text
from calib_core.analysis.score import effective_scheme
from calib_core.analysis.sweep_reading import sweep_chance_note, sweep_headline, sweep_remarks
from calib_core.bins import Binning, Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.wording import plural

PAPER_BINS: Final = (5, 10, 20, 50, 100, 200, 500)
"""The seven M of the Full-ECE paper."""

SWEPT_METRICS: Final = tuple(metric.id for metric in METRICS.values() if metric.in_default_sweep)
"""Metrics shown side by side when none is named."""


@dataclass(frozen=True, slots=True, eq=False)
class SweepCurve:
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
    unavailable: Mapping[int, str]
    rsd: float | None
    ddof: int
    ceiling: float | None
    null: NullDistribution | None
    recipe: str
    remarks: tuple[str, ...] = ()

    @property
    def value_range(self) -> float | None:
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
    curves: tuple[SweepCurve, ...]
    unavailable: Mapping[str, str]
    n_used: int
    n_total: int
    headline: str
    chance_note: str = ""

    def to_frame(self) -> pl.DataFrame:
        """One row a metric and M.

        run, method, metric, bins, value, low, high (of bounds), null_median, null_low, null_high, p, draws,
        rsd, ddof, recipe.
        """
        records = [
            {"run": self.run, "method": self.method, **record}
            for curve in self.curves
            for record in _curve_rows(curve)
        ]
        return pl.DataFrame(records, schema=_SWEEP_SCHEMA)


_SWEEP_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType({
    "run": pl.String, "method": pl.String, "metric": pl.String, "bins": pl.Int64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "null_median": pl.Float64, "null_low": pl.Float64,
    "null_high": pl.Float64, "p": pl.Float64, "draws": pl.Int64, "rsd": pl.Float64, "ddof": pl.Int64,
    "recipe": pl.String,
})


def _curve_rows(curve: SweepCurve) -> list[dict[str, object]]:
    nothing = (None,) * len(curve.bins)
    null = curve.null
    band = (null.median, null.low, null.high, null.p) if null else (nothing,) * 4
    return [
        {
            "metric": curve.metric, "bins": bins, "value": value,
            "low": curve.bounds.get(bins, (None, None))[0], "high": curve.bounds.get(bins, (None, None))[1],
            "null_median": median, "null_low": low, "null_high": high, "p": p,
            "draws": null and null.n_draws, "rsd": curve.rsd, "ddof": curve.ddof, "recipe": curve.recipe,
        }
        for bins, value, median, low, high, p in zip(curve.bins, curve.values, *band, strict=True)
    ]


def sweep_bins(
    evidence: Evidence,
    metrics: Sequence[str] = SWEPT_METRICS,
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
    wanted = [get_metric(metric) for metric in dict.fromkeys(metrics)]
    for metric in wanted:
        if not metric.binned:
            raise Unavailable(f"{metric.title} has no bins, so there is nothing to sweep.")
    tried = [_sweep_curve(evidence, metric, chosen, ddof, binning) for metric in wanted]
    curves = tuple(curve for curve in tried if len(curve.unavailable) < len(chosen))
    refused = {curve.metric: curve.unavailable[chosen[0]] for curve in tried if curve not in curves}
    reading, chance = _sweep_sentences(evidence, curves[0]) if curves else ("Nothing here can be swept.", "")
    return Sweep(
        run=evidence.run.label,
        method=evidence.method.id,
        bins=chosen,
        ddof=ddof,
        curves=curves,
        unavailable=MappingProxyType(refused),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        headline=reading,
        chance_note=chance,
    )


def _sweep_sentences(evidence: Evidence, curve: SweepCurve) -> tuple[str, str]:
    """What the curve comes to, and what of it chance would give."""
    if any(value is None for value in curve.values):
        return "Not every M has one value, so nothing can be said of the variation over M.", ""
    values = [value for value in curve.values if value is not None]
    return (
        sweep_headline(get_metric(curve.metric).title, curve.bins, values, curve.null),
        sweep_chance_note(curve.bins, values, curve.null, plural(evidence.n_used, evidence.unit[:-1])),
    )


def _sweep_curve(evidence: Evidence, metric: Metric, bins: tuple[int, ...], ddof: int, binning: Binning) -> SweepCurve:
    schemes = {number: effective_scheme(metric, Scheme(binning, number)) for number in bins}
    refused = {
        number: why for number, scheme in schemes.items() if (why := evidence.unavailable_reason(metric, scheme))
    }
    served = {number: scheme for number, scheme in schemes.items() if number not in refused}
    bounds = {
        number: ends for number, scheme in served.items() if (ends := evidence.bounds(metric, scheme))
    }
    values = tuple(
        metric.compute(evidence.sums_for(metric, served[number]), served[number])
        if number in served and number not in bounds
        else None
        for number in bins
    )
    known = [value for value in values if value is not None]
    whole = len(known) == len(bins)
    spread = float(relative_standard_deviation(np.array(known), ddof)) if whole else np.nan
    null = null_distribution(evidence, metric, list(schemes.values()), values) if whole else None
    if null is not None and len(known) > 1:
        null = with_rsd(null, evidence, metric, list(schemes.values()), known, ddof)
    return SweepCurve(
        metric=metric.id,
        bins=bins,
        values=values,
        bounds=MappingProxyType(bounds),
        unavailable=MappingProxyType(refused),
        rsd=None if np.isnan(spread) else spread,
        ddof=ddof,
        ceiling=_metric_ceiling(evidence) if metric.has_ceiling and served else None,
        null=null,
        recipe=_sweep_recipe(evidence, metric, schemes, ddof, null),
        remarks=sweep_remarks(evidence, metric, served, values),
    )


def _metric_ceiling(evidence: Evidence) -> float | None:
    """mean(1 + Σp − 2p_y), which is 2·mean(1 − p_y) where every row sums to 1."""
    sums = evidence.pooled_class_sums
    if not sums.rows:
        return None
    whole = sums.binned(Scheme("width", 1))
    total = whole.correct + whole.confidence - 2 * whole.confident_correct
    return float(total.sum()) / sums.rows


def _sweep_recipe(
    evidence: Evidence, metric: Metric, schemes: Mapping[int, Scheme], ddof: int, null: NullDistribution | None
) -> str:
    """"ECE-L1, equal width, M=5, 10, 20, right-closed, top label, n=5/5, RSD with ddof=0, p over …"."""
    how = recipe_text(evidence, metric, next(iter(schemes.values())), swept_bins=tuple(schemes))
    return f"{how}, RSD with ddof={ddof}" + (f", {null.recipe_text}" if null else "")

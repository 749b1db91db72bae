"""moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.edges import Binning, Scheme
from calib_core.errors import Unavailable
from calib_core.inference.null import (
    NULL_QUANTILES,
    NullDistribution,
    NullSource,
    metric_draws,
    monte_carlo_p_value,
    null_distribution,
)
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, WITHIN_CHANCE
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.results.score import effective_scheme
from calib_core.wording import ROUNDING_TOLERANCE, format_short, p_value_phrase, plural

# MERGED sweep_reading: What does the variation over M come to, in plain sentences that claim no more than the null allows?

ONE_SIGN_SHARE: Final = 0.99
"""A single bin that carries this part of the largest number: hardly any gap cancels another."""

BEYOND_CHANCE: Final = "more than chance gives"


def sweep_remarks(
    evidence: Evidence, metric: Metric, schemes: Mapping[int, Scheme], values: Sequence[float | None]
) -> tuple[str, ...]:
    """What makes this curve flat or final by construction. schemes: by M, those that are served."""
    told: list[str] = []
    known = [value for value in values if value is not None]
    if len(known) == len(values) > 1 and max(known) > ROUNDING_TOLERANCE:
        one = Scheme("width", 1)
        whole = metric.compute(evidence.sums_for(metric, one), one) if metric.binning != "mass" else None
        if whole is not None and whole >= ONE_SIGN_SHARE * max(known):
            told.append(
                f"Nearly all gaps have one sign and do not cancel, so {metric.title} is nearly the same at "
                "every M: an RSD near 0 shows that, and not that the number is a good one."
            )
    alone = next(
        (bins for bins, scheme in schemes.items() if _one_value_per_bin(evidence, metric, scheme)), None
    )
    if alone is not None:
        told.append(
            f"From M = {alone} on, every distinct confidence has a bin of its own: more bins change nothing."
        )
    several = [evidence.exactness_note(metric, scheme) for scheme in schemes.values()]
    return (*told, *dict.fromkeys(said for said in several if said))


def _one_value_per_bin(evidence: Evidence, metric: Metric, scheme: Scheme) -> bool:
    """Whether no bin holds two different confidences: seen from their spread, so that nothing is sorted."""
    if evidence.bounds(metric, scheme):
        return False
    sums = evidence.sums_for(metric, scheme)
    binned: Binned = (sums if metric.required_sums == "classes" else sums.pooled()).binned(scheme)
    return bool(binned.size) and bool(binned.has_single_value.all())


def sweep_headline(
    title: str, bins: Sequence[int], values: Sequence[float], null: NullDistribution | None
) -> str:
    """One sentence on one curve: what the number does over M, and whether that is more than chance.

    Judged at the first and the last M alone, each at half of CLEAR, so that more M bring no more chances.
    """
    told, ends = [format_short(value) for value in values], (f"M = {bins[0]}", f"M = {bins[-1]}")
    judged = (
        [] if null is None else [BEYOND_CHANCE if each else WITHIN_CHANCE for each in _significant_ends(null)]
    )
    if len(set(told)) == 1:
        where = ends[0] if len(bins) == 1 else "every M"
        said = f", {judged[0]}" if judged else ""
        if len(set(judged)) > 1:
            said = f": {judged[0]} at {ends[0]}, {judged[1]} at {ends[1]}"
        return f"{title} is {told[0]} at {where}{said}."
    if WITHIN_CHANCE not in judged or (BEYOND_CHANCE in judged and _rise_significant(null)):
        return f"{title} {_change_clause(told, ends, values[-1] - values[0], null)}."
    if BEYOND_CHANCE not in judged:
        return f"{title} is {told[0]} at {ends[0]} and {told[-1]} at {ends[1]}, both {WITHIN_CHANCE}."
    return f"{title} is {told[0]} at {ends[0]}, {judged[0]}, and {told[-1]} at {ends[1]}, {judged[1]}."


def _change_clause(
    value_texts: Sequence[str], ends: tuple[str, str], change: float, null: NullDistribution | None
) -> str:
    """ "rises from 0.2348 (M = 5) to 0.3012 (M = 500), no more than thinner bins bring by chance"."""
    same = value_texts[0] == value_texts[-1]
    verb = "rises" if change > 0 else "falls"
    opening = (
        f"is {value_texts[0]} at {ends[0]} as at {ends[1]}"
        if same
        else f"{verb} from {value_texts[0]} ({ends[0]}) to {value_texts[-1]} ({ends[1]})"
    )
    if null is None:
        return opening
    if change > 0 and not same:
        return (
            f"{opening}, {'more' if _rise_significant(null) else 'no more'} than thinner bins bring by chance"
        )
    by_chance = null.median[-1] - null.median[0]
    if abs(by_chance) <= ROUNDING_TOLERANCE:
        return f"{opening}; by chance it would not change"
    return f"{opening}; by chance it would {'rise' if by_chance > 0 else 'fall'} by {format_short(abs(by_chance))}"


def sweep_chance_note(
    bins: Sequence[int], values: Sequence[float], null: NullDistribution | None, rows_text: str
) -> str:
    """What chance alone would give, and what of number and change is more; counted: "1,319 rows"."""
    if null is None:
        return "How much of it is chance is not known here."
    medians = dict.fromkeys(format_short(null.median[at]) for at in (0, -1))
    opening = f"Confidences that are exactly right would give about {' and '.join(medians)} on {rows_text}"
    if len(bins) == 1:
        return f"{opening}{_p_text(null, null.p[0])}."
    change = (
        "" if format_short(values[0]) == format_short(values[-1]) else format_short(values[-1] - values[0])
    )
    return f"{opening}. {_ends_sentence(bins, null, change)}"


def _significant_ends(null: NullDistribution) -> list[bool]:
    """Whether the number is more than chance gives: of one M, or of the first and the last."""
    if len(null.p) == 1:
        return [null.p[0] is not None and null.p[0] <= SIGNIFICANCE_LEVEL]
    limit = max(
        SIGNIFICANCE_LEVEL / 2, 1 / (1 + null.n_draws)
    )  # of few draws the smallest p there is stands out
    return [p is not None and p <= limit for p in (null.p[0], null.p[-1])]


def _rise_significant(null: NullDistribution | None) -> bool:
    """Whether the number rises over M by more than it does by chance."""
    return null is not None and null.change_p is not None and null.change_p <= SIGNIFICANCE_LEVEL


def _ends_sentence(bins: Sequence[int], null: NullDistribution, change: str) -> str:
    """change: of the number from the first to the last M, "" where it is none."""
    clear = _significant_ends(null)
    if not any(clear):
        said = f"Both are {WITHIN_CHANCE}{_p_text(null, null.p[0], null.p[-1])}: neither speaks against these confidences"
        noise = change and null.change_p is not None and not _rise_significant(null)
        return f"{said}, and the change over M is no more than noise." if noise else f"{said}."
    if all(clear):
        said = f"Both numbers are {BEYOND_CHANCE}{_p_text(null, null.p[0], null.p[-1])}"
    else:
        at = 0 if clear[0] else -1
        said = f"Only the number at M = {bins[at]} is {BEYOND_CHANCE}{_p_text(null, null.p[at])}"
    if not change:
        return f"{said}."
    by_chance = f"thinner bins bring by chance (about {format_short(null.median[-1] - null.median[0])})"
    if not _rise_significant(null):
        return f"{said}; the change of {change} over M is no more than {by_chance}."
    found = f"more than {by_chance}{_p_text(null, null.change_p)}, as gaps that cancel in wider bins would have it"
    return f"{said}; the change of {change} over M is {found}."


def _p_text(null: NullDistribution, *chances: float | None) -> str:
    """ " (p ≤ 0.005, p = 0.010)"."""
    told = [p_value_phrase(p, null.n_draws) for p in chances if p is not None]
    return f" ({', '.join(dict.fromkeys(told))})" if told else ""


# MERGED sweep: Does the number depend on M?  Evidence and a set of M → one Sweep.
#
# RSD: Full-ECE paper, section 5. What a bin is: edges.py. How it is drawn: figures/robustness.py.

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


_SWEEP_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "run": pl.String,
        "method": pl.String,
        "metric": pl.String,
        "bins": pl.Int64,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "null_median": pl.Float64,
        "null_low": pl.Float64,
        "null_high": pl.Float64,
        "p": pl.Float64,
        "draws": pl.Int64,
        "rsd": pl.Float64,
        "ddof": pl.Int64,
        "recipe": pl.String,
    }
)


def _curve_rows(curve: SweepCurve) -> list[dict[str, object]]:
    nothing = (None,) * len(curve.bins)
    null = curve.null
    band = (null.median, null.low, null.high, null.p) if null else (nothing,) * 4
    return [
        {
            "metric": curve.metric,
            "bins": bins,
            "value": value,
            "low": curve.bounds.get(bins, (None, None))[0],
            "high": curve.bounds.get(bins, (None, None))[1],
            "null_median": median,
            "null_low": low,
            "null_high": high,
            "p": p,
            "draws": null and null.n_draws,
            "rsd": curve.rsd,
            "ddof": curve.ddof,
            "recipe": curve.recipe,
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


def _sweep_curve(
    evidence: Evidence, metric: Metric, bins: tuple[int, ...], ddof: int, binning: Binning
) -> SweepCurve:
    schemes = {number: effective_scheme(metric, Scheme(binning, number)) for number in bins}
    refused = {
        number: why
        for number, scheme in schemes.items()
        if (why := evidence.unavailable_reason(metric, scheme))
    }
    served = {number: scheme for number, scheme in schemes.items() if number not in refused}
    bounds = {number: ends for number, scheme in served.items() if (ends := evidence.bounds(metric, scheme))}
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
    evidence: Evidence,
    metric: Metric,
    schemes: Mapping[int, Scheme],
    ddof: int,
    null: NullDistribution | None,
) -> str:
    """ "ECE-L1, equal width, M=5, 10, 20, right-closed, top label, n=5/5, RSD with ddof=0, p over …"."""
    how = recipe_text(evidence, metric, next(iter(schemes.values())), swept_bins=tuple(schemes))
    return f"{how}, RSD with ddof={ddof}" + (f", {null.recipe_text}" if null else "")


def relative_standard_deviation(values: NDArray[np.float64], ddof: int = 0) -> NDArray[np.float64]:
    """Standard deviation over mean along the first axis; NaN where the mean is 0 but for rounding.

    values: shape (M's, …); ddof: 0 of a population, as in the Full-ECE paper, or 1 of a sample.
    """
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=ddof) if values.shape[0] > ddof else np.full_like(mean, np.nan)
    return np.divide(spread, mean, out=np.full_like(mean, np.nan), where=mean > ROUNDING_TOLERANCE)


def with_rsd(
    null: NullDistribution,
    evidence: NullSource,
    metric: Metric,
    schemes: Sequence[Scheme],
    observed: Sequence[float],
    ddof: int,
) -> NullDistribution:
    """The null of the same schemes with the RSD over them, and the rise from the first to the last.

    observed: the metric's value under each scheme; ddof: of the RSD.
    """
    found = metric_draws(evidence, metric, schemes)
    return null if found is None else replace(null, **_rsd_null(found[1], observed, ddof))


def _rsd_null(draws: NDArray[np.float64], observed: Sequence[float], ddof: int) -> dict[str, float]:
    """The RSD part of a Null, and the rise from the first M to the last."""
    told = {"change_p": monte_carlo_p_value(draws[-1] - draws[0], observed[-1] - observed[0])}
    own, drawn = (
        float(relative_standard_deviation(np.array(observed), ddof)),
        relative_standard_deviation(draws, ddof),
    )
    if np.isnan(drawn).any() or np.isnan(own):
        return told
    median, low, high = np.quantile(drawn, NULL_QUANTILES).tolist()
    return told | {
        "rsd_median": median,
        "rsd_low": low,
        "rsd_high": high,
        "rsd_p": monte_carlo_p_value(drawn, own),
    }

"""Does the metric depend on the number of bins M? A sweep over M, its RSD, and what chance alone would give.

The relative standard deviation over M follows section 5 of the Full-ECE paper.
"""

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
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.results.score import effective_scheme
from calib_core.wording import ROUNDING_TOLERANCE, format_short, p_value_phrase, plural

PAPER_BINS: Final = (5, 10, 20, 50, 100, 200, 500)
"""The seven M of the Full-ECE paper."""

SWEPT_METRICS: Final = tuple(metric.id for metric in METRICS.values() if metric.in_default_sweep)
"""Metrics shown side by side by default."""

ONE_SIGN_SHARE: Final = 0.99
"""If a single bin yields at least this share of the largest value, hardly any gap cancels another."""

BEYOND_CHANCE: Final = "more than chance gives"
WITHIN_CHANCE: Final = "no more than chance gives"


@dataclass(frozen=True, slots=True, eq=False)
class SweepCurve:
    """One metric over M.

    Attributes
    ----------
    metric : str
        Its id.
    bins : tuple[int, ...]
        The M, ascending.
    values : tuple[float or None, ...]
        One for each M; None where only bounds are known or the metric is unavailable.
    bounds : Mapping[int, tuple[float, float]]
        M → lower and upper bound, where the exact value is not known.
    unavailable : Mapping[int, str]
        M → why the metric is unavailable there.
    rsd : float or None
        Relative standard deviation of the values; None unless each M has a value and their mean is above 0.
    ddof : {0, 1}
        0 for the standard deviation of a population, 1 for that of a sample.
    ceiling : float or None
        Largest value the metric can take on these rows and labels (2·mean(1 − p_y) for Full-ECE and K·cw-
        ECE); None where it has none of interest.
    null : NullDistribution or None
        None unless the metric has a null distribution at every M.
    recipe : str
    remarks : tuple[str, ...]
        Sentences about this curve, such as that nearly all gaps have one sign.
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
        """Largest minus smallest value over M; None where no M has a value."""
        defined = [value for value in self.values if value is not None]
        return max(defined) - min(defined) if defined else None


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Every swept metric of one method on one run, over one set of M.

    Attributes
    ----------
    run, method : str
        The run's label and the method's id.
    bins : tuple[int, ...]
        The M, ascending.
    ddof : {0, 1}
        Of the RSD.
    curves : tuple[SweepCurve, ...]
    unavailable : Mapping[str, str]
        Metric id → why it has no curve.
    n_used, n_total : int
        Rows or positions used, and in the file.
    headline : str
        How the first curve varies over M, in one sentence.
    chance_note : str
        How much of that chance alone would give, in one or two sentences.
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
        """One row for each metric and M.

        Columns: run, method, metric, bins, value, low, high (bounds), null_median, null_low, null_high,
        p, draws, rsd, ddof, recipe.
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
    """Compute each metric over M.

    Parameters
    ----------
    evidence : Evidence
    metrics : sequence of str
        Ids of metrics with bins.
    bins : sequence of int
        Values of M from 1 to 1000, in any order.
    ddof : {0, 1}
        Of the RSD.
    binning : {"width", "mass"}

    Returns
    -------
    Sweep
        Metrics that the evidence supports at no M are in `unavailable`.

    Raises
    ------
    Unavailable
        For an unknown metric, a metric without bins, or natural bins, which have no M.
    ValueError
        Without any M, or for an M outside 1 to 1000 or another `ddof`.
    """
    if not bins or ddof not in (0, 1):
        raise ValueError("a sweep needs at least one M, and a ddof of 0 or 1")
    if binning == "natural":
        raise Unavailable("Natural bins are one a distinct value: there is no M to sweep.")
    swept = tuple(sorted({int(number) for number in bins}))
    swept_metrics = [get_metric(metric) for metric in dict.fromkeys(metrics)]
    for metric in swept_metrics:
        if not metric.binned:
            raise Unavailable(f"{metric.title} has no bins, so there is nothing to sweep.")
    candidates = [_sweep_curve(evidence, metric, swept, ddof, binning) for metric in swept_metrics]
    curves = tuple(curve for curve in candidates if len(curve.unavailable) < len(swept))
    unavailable = {curve.metric: curve.unavailable[swept[0]] for curve in candidates if curve not in curves}
    headline, chance_note = (
        _sweep_sentences(evidence, curves[0]) if curves else ("Nothing here can be swept.", "")
    )
    return Sweep(
        run=evidence.run.label,
        method=evidence.method.id,
        bins=swept,
        ddof=ddof,
        curves=curves,
        unavailable=MappingProxyType(unavailable),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        headline=headline,
        chance_note=chance_note,
    )


def _sweep_sentences(evidence: Evidence, curve: SweepCurve) -> tuple[str, str]:
    """The headline of a curve, and its note on chance."""
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
    unavailable = {
        number: reason
        for number, scheme in schemes.items()
        if (reason := evidence.unavailable_reason(metric, scheme))
    }
    available = {number: scheme for number, scheme in schemes.items() if number not in unavailable}
    bounds = {
        number: ends for number, scheme in available.items() if (ends := evidence.bounds(metric, scheme))
    }
    values = tuple(
        metric.compute(evidence.sums_for(metric, available[number]), available[number])
        if number in available and number not in bounds
        else None
        for number in bins
    )
    defined = [value for value in values if value is not None]
    complete = len(defined) == len(bins)
    rsd = float(relative_standard_deviation(np.array(defined), ddof)) if complete else np.nan
    null = null_distribution(evidence, metric, list(schemes.values()), values) if complete else None
    if null is not None and len(defined) > 1:
        null = with_rsd(null, evidence, metric, list(schemes.values()), defined, ddof)
    return SweepCurve(
        metric=metric.id,
        bins=bins,
        values=values,
        bounds=MappingProxyType(bounds),
        unavailable=MappingProxyType(unavailable),
        rsd=None if np.isnan(rsd) else rsd,
        ddof=ddof,
        ceiling=_metric_ceiling(evidence) if metric.has_ceiling and available else None,
        null=null,
        recipe=_sweep_recipe(evidence, metric, schemes, ddof, null),
        remarks=sweep_remarks(evidence, metric, available, values),
    )


def _metric_ceiling(evidence: Evidence) -> float | None:
    """mean(1 + Σp − 2p_y), which equals 2·mean(1 − p_y) where every row sums to 1."""
    sums = evidence.pooled_class_sums
    if not sums.n_rows:
        return None
    one_bin = sums.binned(Scheme("width", 1))
    total = one_bin.correct + one_bin.confidence - 2 * one_bin.correct_confidence
    return float(total.sum()) / sums.n_rows


def _sweep_recipe(
    evidence: Evidence,
    metric: Metric,
    schemes: Mapping[int, Scheme],
    ddof: int,
    null: NullDistribution | None,
) -> str:
    """ "ECE-L1, equal width, M=5, 10, 20, right-closed, top label, n=5/5, RSD with ddof=0, p over …"."""
    recipe = recipe_text(evidence, metric, next(iter(schemes.values())), swept_bins=tuple(schemes))
    return f"{recipe}, RSD with ddof={ddof}" + (f", {null.recipe_text}" if null else "")


def relative_standard_deviation(values: NDArray[np.float64], ddof: int = 0) -> NDArray[np.float64]:
    """Standard deviation over mean, along the first axis.

    Parameters
    ----------
    values : NDArray[np.float64], shape (n_bin_counts, ...)
    ddof : {0, 1}
        0 for a population, as in the Full-ECE paper; 1 for a sample.

    Returns
    -------
    NDArray[np.float64], shape (...)
        NaN where the mean is 0 up to rounding.

    Examples
    --------
    >>> round(float(relative_standard_deviation(np.array([0.1, 0.3]))), 6)
    0.5
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
    """Add the null distribution of the RSD, and of the change from the first to the last M.

    Parameters
    ----------
    null : NullDistribution
        Of the same metric and schemes.
    evidence : NullSource
    metric : Metric
    schemes : sequence of Scheme
    observed : sequence of float
        The metric's value under each scheme.
    ddof : {0, 1}
        Of the RSD.
    """
    drawn = metric_draws(evidence, metric, schemes)
    return null if drawn is None else replace(null, **_rsd_null(drawn[1], observed, ddof))


def _rsd_null(draws: NDArray[np.float64], observed: Sequence[float], ddof: int) -> dict[str, float]:
    """The fields of `NullDistribution` about the RSD and the change from the first M to the last."""
    fields = {"change_p": monte_carlo_p_value(draws[-1] - draws[0], observed[-1] - observed[0])}
    observed_rsd, null_rsd = (
        float(relative_standard_deviation(np.array(observed), ddof)),
        relative_standard_deviation(draws, ddof),
    )
    if np.isnan(null_rsd).any() or np.isnan(observed_rsd):
        return fields
    median, low, high = np.quantile(null_rsd, NULL_QUANTILES).tolist()
    return fields | {
        "rsd_median": median,
        "rsd_low": low,
        "rsd_high": high,
        "rsd_p": monte_carlo_p_value(null_rsd, observed_rsd),
    }


# --- The sweep in words ---------------------------------------------------------------------------


def sweep_remarks(
    evidence: Evidence, metric: Metric, schemes: Mapping[int, Scheme], values: Sequence[float | None]
) -> tuple[str, ...]:
    """What makes this curve flat, or constant from some M on, by construction.

    Parameters
    ----------
    evidence : Evidence
    metric : Metric
    schemes : Mapping[int, Scheme]
        M → bins, for each M the evidence supports.
    values : sequence of float or None
        The metric at these M, None where only bounds are known.
    """
    remarks: list[str] = []
    defined = [value for value in values if value is not None]
    if len(defined) == len(values) > 1 and max(defined) > ROUNDING_TOLERANCE:
        one_bin = Scheme("width", 1)
        one_bin_value = (
            metric.compute(evidence.sums_for(metric, one_bin), one_bin) if metric.binning != "mass" else None
        )
        if one_bin_value is not None and one_bin_value >= ONE_SIGN_SHARE * max(defined):
            remarks.append(
                f"Nearly all gaps have one sign and do not cancel, so {metric.title} is nearly the same at "
                "every M: an RSD near 0 shows that, and not that the number is a good one."
            )
    separated_from = next(
        (bins for bins, scheme in schemes.items() if _one_value_per_bin(evidence, metric, scheme)), None
    )
    if separated_from is not None:
        remarks.append(
            f"From M = {separated_from} on, every distinct confidence has a bin of its own: more bins change "
            "nothing."
        )
    notes = [evidence.exactness_note(metric, scheme) for scheme in schemes.values()]
    return (*remarks, *dict.fromkeys(note for note in notes if note))


def _one_value_per_bin(evidence: Evidence, metric: Metric, scheme: Scheme) -> bool:
    """Whether no bin holds two different confidences, judged from their spread, without sorting."""
    if evidence.bounds(metric, scheme):
        return False
    sums = evidence.sums_for(metric, scheme)
    binned: Binned = (sums if metric.required_sums == "classes" else sums.pooled()).binned(scheme)
    return bool(binned.n_bins) and bool(binned.has_single_value.all())


def sweep_headline(
    title: str, bins: Sequence[int], values: Sequence[float], null: NullDistribution | None
) -> str:
    """One sentence on one curve: how the metric changes over M, and whether by more than chance.

    Only the first and the last M are tested, each at half of `SIGNIFICANCE_LEVEL`, so that adding values of M
    does not add false alarms.
    """
    value_texts, ends = [format_short(value) for value in values], (f"M = {bins[0]}", f"M = {bins[-1]}")
    chance_texts = (
        []
        if null is None
        else [BEYOND_CHANCE if significant else WITHIN_CHANCE for significant in _significant_ends(null)]
    )
    if len(set(value_texts)) == 1:
        place = ends[0] if len(bins) == 1 else "every M"
        clause = f", {chance_texts[0]}" if chance_texts else ""
        if len(set(chance_texts)) > 1:
            clause = f": {chance_texts[0]} at {ends[0]}, {chance_texts[1]} at {ends[1]}"
        return f"{title} is {value_texts[0]} at {place}{clause}."
    if WITHIN_CHANCE not in chance_texts or (BEYOND_CHANCE in chance_texts and _rise_significant(null)):
        return f"{title} {_change_clause(value_texts, ends, values[-1] - values[0], null)}."
    if BEYOND_CHANCE not in chance_texts:
        return (
            f"{title} is {value_texts[0]} at {ends[0]} and {value_texts[-1]} at {ends[1]}, both "
            f"{WITHIN_CHANCE}."
        )
    return (
        f"{title} is {value_texts[0]} at {ends[0]}, {chance_texts[0]}, and {value_texts[-1]} at {ends[1]}, "
        f"{chance_texts[1]}."
    )


def _change_clause(
    value_texts: Sequence[str], ends: tuple[str, str], change: float, null: NullDistribution | None
) -> str:
    """ "rises from 0.2348 (M = 5) to 0.3012 (M = 500), no more than thinner bins bring by chance"."""
    unchanged = value_texts[0] == value_texts[-1]
    verb = "rises" if change > 0 else "falls"
    opening = (
        f"is {value_texts[0]} at {ends[0]} as at {ends[1]}"
        if unchanged
        else f"{verb} from {value_texts[0]} ({ends[0]}) to {value_texts[-1]} ({ends[1]})"
    )
    if null is None:
        return opening
    if change > 0 and not unchanged:
        return (
            f"{opening}, {'more' if _rise_significant(null) else 'no more'} than thinner bins bring by chance"
        )
    null_change = null.median[-1] - null.median[0]
    if abs(null_change) <= ROUNDING_TOLERANCE:
        return f"{opening}; by chance it would not change"
    return (
        f"{opening}; by chance it would {'rise' if null_change > 0 else 'fall'} by "
        f"{format_short(abs(null_change))}"
    )


def sweep_chance_note(
    bins: Sequence[int], values: Sequence[float], null: NullDistribution | None, rows_text: str
) -> str:
    """The values chance alone would give, and how much of value and change goes beyond them.

    Parameters
    ----------
    bins : sequence of int
        The M, ascending.
    values : sequence of float
        The metric at each M.
    null : NullDistribution or None
    rows_text : str
        Such as "1,319 rows".
    """
    if null is None:
        return "How much of it is chance is not known here."
    medians = dict.fromkeys(format_short(null.median[index]) for index in (0, -1))
    opening = f"Confidences that are exactly right would give about {' and '.join(medians)} on {rows_text}"
    if len(bins) == 1:
        return f"{opening}{_p_text(null, null.p[0])}."
    change = (
        "" if format_short(values[0]) == format_short(values[-1]) else format_short(values[-1] - values[0])
    )
    return f"{opening}. {_ends_sentence(bins, null, change)}"


def _significant_ends(null: NullDistribution) -> list[bool]:
    """Whether the value goes beyond chance: at the only M, or at the first and the last."""
    if len(null.p) == 1:
        return [null.p[0] is not None and null.p[0] <= SIGNIFICANCE_LEVEL]
    # With few draws the smallest possible p exceeds half the level; it still counts as significant.
    limit = max(SIGNIFICANCE_LEVEL / 2, 1 / (1 + null.n_draws))
    return [p is not None and p <= limit for p in (null.p[0], null.p[-1])]


def _rise_significant(null: NullDistribution | None) -> bool:
    """Whether the value rises over M by more than it does by chance."""
    return null is not None and null.change_p is not None and null.change_p <= SIGNIFICANCE_LEVEL


def _ends_sentence(bins: Sequence[int], null: NullDistribution, change: str) -> str:
    """The test at both ends; `change` is that from the first to the last M, "" where it rounds to none."""
    significant = _significant_ends(null)
    if not any(significant):
        opening = f"Both are {WITHIN_CHANCE}{_p_text(null, null.p[0], null.p[-1])}"
        is_noise = change and null.change_p is not None and not _rise_significant(null)
        return f"{opening}, and the change over M is no more than noise." if is_noise else f"{opening}."
    if all(significant):
        opening = f"Both numbers are {BEYOND_CHANCE}{_p_text(null, null.p[0], null.p[-1])}"
    else:
        end = 0 if significant[0] else -1
        opening = f"Only the number at M = {bins[end]} is {BEYOND_CHANCE}{_p_text(null, null.p[end])}"
    if not change:
        return f"{opening}."
    expected = f"thinner bins bring by chance (about {format_short(null.median[-1] - null.median[0])})"
    if not _rise_significant(null):
        return f"{opening}; the change of {change} over M is no more than {expected}."
    beyond = (
        f"more than {expected}{_p_text(null, null.change_p)}, as gaps that cancel in wider bins would have it"
    )
    return f"{opening}; the change of {change} over M is {beyond}."


def _p_text(null: NullDistribution, *p_values: float | None) -> str:
    """ " (p ≤ 0.005, p = 0.010)"."""
    texts = [p_value_phrase(p, null.n_draws) for p in p_values if p is not None]
    return f" ({', '.join(dict.fromkeys(texts))})" if texts else ""

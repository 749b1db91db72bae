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
from calib_core.inference.missingness import ROWS_WITH_ONE, missing_caveat
from calib_core.inference.null import (
    NULL_QUANTILES,
    NullDistribution,
    NullSource,
    metric_draws,
    monte_carlo_p_value,
    null_distribution,
)
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, Verdict, verdict_phrase
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.results.score import effective_scheme
from calib_core.runs import TokenRun
from calib_core.terms import Terms
from calib_core.tokens.bounds import largest_exact_bins
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    format_short,
    format_significant_interval,
    join_names,
    p_value_phrase,
    plural,
)

PAPER_BINS: Final = (5, 10, 20, 50, 100, 200, 500)
"""The seven M of the Full-ECE paper."""

SWEPT_METRICS: Final = tuple(metric.id for metric in METRICS.values() if metric.in_default_sweep)
"""Metrics shown side by side by default."""

ONE_SIGN_SHARE: Final = 0.99
"""If a single bin yields at least this share of the largest value, hardly any gap cancels another."""

SAME_VALUE_SHARE: Final = 0.01
"""Values over M that differ by at most this part of the largest are nearly the same."""

BEYOND_CHANCE: Final = "more than expected by chance"
WITHIN_CHANCE: Final = "no more than expected by chance"


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
        Of a perfectly calibrated model; None unless the metric has a null distribution at every M.
    recipe : str
    remarks : tuple[str, ...]
        Sentences about this curve, such as that nearly all gaps have one sign.
    fitted : NullDistribution or None
        Of a model that fits the run and whose gaps cancel in no bin (`inference.fitted_null`); None where
        there is none.
    not_fitted : str
        Why there is no fitted model; "" where there is one.
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
    fitted: NullDistribution | None = None
    not_fitted: str = ""

    @property
    def noise(self) -> NullDistribution | None:
        """What the values are compared with: draws of the fitted model, else of a calibrated one."""
        return self.fitted or self.null


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sweep(Displayable):
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
    caveats : tuple of str
        What the values over M do not tell, such as that nearly all gaps have one sign, gravest first.
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
    caveats: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table of values."""
        has_bounds = any(curve.bounds for curve in self.curves)
        return (
            Column("run"),
            Column("method", "Method"),
            Column("metric", "Metric"),
            Column("bins", "M", "count"),
            Column("value", "Value", "mixed"),
            Column("low", "Between" if has_bounds else "", "mixed", upper="high"),
            Column("high", kind="mixed"),
            Column("null_median", "Calibrated model", "mixed"),
            Column("null_low", "5–95 %", "mixed", upper="null_high"),
            Column("null_high", kind="mixed"),
            Column("p", "p", "p", draws="draws"),
            Column("fitted_median", kind="mixed"),
            Column("fitted_low", kind="mixed"),
            Column("fitted_high", kind="mixed"),
            Column("draws", kind="count"),
            Column("rsd", "RSD", "share"),
            Column("ddof", kind="count"),
            Column("recipe"),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row for each metric and M.

        Columns: run, method, metric, bins, value, low, high (bounds), null_median, null_low, null_high,
        p (of a calibrated model), fitted_median, fitted_low, fitted_high (of the fitted model), draws, rsd,
        ddof, recipe.
        """
        return frame_of(
            self.columns,
            (
                {"run": self.run, "method": self.method, **record}
                for curve in self.curves
                for record in _curve_rows(curve)
            ),
        )


def _curve_rows(curve: SweepCurve) -> list[dict[str, object]]:
    nothing = (None,) * len(curve.bins)
    null, fitted = curve.null, curve.fitted
    band = (null.median, null.low, null.high, null.p) if null else (nothing,) * 4
    fitted_band = (fitted.median, fitted.low, fitted.high) if fitted else (nothing,) * 3
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
            "fitted_median": fitted_median,
            "fitted_low": fitted_low,
            "fitted_high": fitted_high,
            "draws": null and null.n_draws,
            "rsd": curve.rsd,
            "ddof": curve.ddof,
            "recipe": curve.recipe,
        }
        for bins, value, median, low, high, p, fitted_median, fitted_low, fitted_high in zip(
            curve.bins, curve.values, *band, *fitted_band, strict=True
        )
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
        raise Unavailable("Natural bins have no M to sweep.")
    swept = tuple(sorted({int(number) for number in bins}))
    swept_metrics = [get_metric(metric) for metric in dict.fromkeys(metrics)]
    for metric in swept_metrics:
        if not metric.binned:
            raise Unavailable(f"{metric.title} has no bins, so there is nothing to sweep.")
    candidates = [_sweep_curve(evidence, metric, swept, ddof, binning) for metric in swept_metrics]
    curves = tuple(curve for curve in candidates if len(curve.unavailable) < len(swept))
    unavailable = {curve.metric: curve.unavailable[swept[0]] for curve in candidates if curve not in curves}
    headline, chance_note = (
        (sweep_headline(curves[0], evidence.verdict), sweep_chance_note(curves[0], evidence))
        if curves
        else ("No metric can be swept over M.", "")
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
        caveats=sweep_caveats(curves, evidence),
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
    not_fitted = evidence.no_fitted_reason(metric) or (
        "" if complete and len(bins) > 1 else "needs several M"
    )
    fitted, model = None, ""
    if not not_fitted:
        source = evidence.fitted_null(next(iter(schemes.values())))
        fitted = null_distribution(source, metric, list(schemes.values()), values)
        if fitted is not None:
            fitted = with_rsd(fitted, source, metric, list(schemes.values()), defined, ddof)
            model = source.recipe_text
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
        recipe=_sweep_recipe(evidence, metric, schemes, ddof, null, model),
        remarks=sweep_remarks(evidence, metric, available, values),
        fitted=fitted,
        not_fitted=not_fitted,
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
    model: str,
) -> str:
    """ "ECE-L1, equal width, M=5, 10, 20, right-closed, top label, n=5/5, RSD with ddof=0, p over …"."""
    recipe = recipe_text(evidence, metric, next(iter(schemes.values())), swept_bins=tuple(schemes))
    draws = f", {null.recipe_text}" if null else ""
    return f"{recipe}, RSD with ddof={ddof}{draws}" + (f", fitted model: {model}" if model else "")


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
    if drawn is None:
        return null
    fields = _rsd_null(drawn[1], observed, ddof)
    return replace(null, **fields if null.has_p else {**fields, "rsd_p": None, "change_p": None})


def _rsd_null(draws: NDArray[np.float64], observed: Sequence[float], ddof: int) -> dict[str, float | None]:
    """The fields of `NullDistribution` about the RSD and the change from the first M to the last."""
    changes = draws[-1] - draws[0]
    change_median, change_low, change_high = np.quantile(changes, NULL_QUANTILES).tolist()
    fields: dict[str, float | None] = {
        "change_median": change_median,
        "change_low": change_low,
        "change_high": change_high,
        "change_p": monte_carlo_p_value(changes, observed[-1] - observed[0]),
    }
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
            remarks.append(one_sign_sentence([metric.title]))
    separated_from = next(
        (bins for bins, scheme in schemes.items() if _one_value_per_bin(evidence, metric, scheme)), None
    )
    if separated_from is not None:
        remarks.append(
            f"From M = {separated_from} on, every distinct value has its own bin: more bins change nothing."
        )
    notes = [evidence.exactness_note(metric, scheme) for scheme in schemes.values()]
    return (*remarks, *dict.fromkeys(note for note in notes if note))


def one_sign_sentence(titles: Sequence[str]) -> str:
    """Why these metrics are flat over M."""
    return (
        f"Nearly all gaps have the same sign and do not cancel, so {join_names(titles)} "
        f"{'is' if len(titles) == 1 else 'are'} nearly the same at every M. An RSD near 0 shows only that, "
        "not that the model is well calibrated."
    )


def sweep_caveats(curves: Sequence[SweepCurve], evidence: Evidence) -> tuple[str, ...]:
    """What the values over M do not tell: few rows, unknown noise, gaps of one sign, bounds only."""
    titles = {METRICS[curve.metric].title: curve for curve in curves}
    one_sign = [title for title, curve in titles.items() if one_sign_sentence([title]) in curve.remarks]
    bounded = [title for title, curve in titles.items() if curve.bounds]
    sentences = [
        missing_caveat([("", evidence.missingness)], ROWS_WITH_ONE),
        f"The file keeps the largest probabilities only: {join_names(bounded)} "
        f"{'is' if len(bounded) == 1 else 'are'} exact up to M = {largest_exact_bins(evidence.run.sums)}; "
        "beyond it only bounds are known."
        if bounded and isinstance(evidence.run, TokenRun)
        else "",
        one_sign_sentence(one_sign) if one_sign else "",
        _unknown_noise_caveat(curves[0], evidence.verdict) if curves else "",
    ]
    return tuple(filter(None, sentences))


def _unknown_noise_caveat(curve: SweepCurve, verdict: Verdict) -> str:
    """Says that nothing can be said of noise; "" where something can, and where not every M has one value."""
    if any(value is None for value in curve.values):
        return ""
    if not verdict.is_tested:
        return verdict.reason
    return "How much of the change is noise is not known." if _is_noise_unknown(curve, verdict) else ""


def _one_value_per_bin(evidence: Evidence, metric: Metric, scheme: Scheme) -> bool:
    """Whether no bin holds two different confidences, judged from their spread, without sorting."""
    if evidence.bounds(metric, scheme):
        return False
    sums = evidence.sums_for(metric, scheme)
    binned: Binned = (sums if metric.required_sums == "classes" else sums.pooled()).binned(scheme)
    return bool(binned.n_bins) and bool(binned.has_single_value.all())


def sweep_headline(curve: SweepCurve, verdict: Verdict) -> str:
    """One sentence on one curve: how the metric changes over M, and whether by more than noise.

    The rise is compared with draws of the fitted model; where there is none, both ends and the rise with
    draws of a perfectly calibrated model. Only the first and the last M are tested, each at half of
    `SIGNIFICANCE_LEVEL`, so that adding values of M does not add false alarms. Nothing is called chance in
    a run that the verdict calls miscalibrated.

    Parameters
    ----------
    curve : SweepCurve
    verdict : Verdict
        On the same run and method.
    """
    if any(value is None for value in curve.values):
        return "Not every M has one value, so nothing can be said about the variation over M."
    values = [value for value in curve.values if value is not None]
    title, ends = METRICS[curve.metric].title, (f"M = {curve.bins[0]}", f"M = {curve.bins[-1]}")
    texts = [format_short(value) for value in values]
    null = curve.null if verdict.is_tested and curve.null is not None and curve.null.has_p else None
    if curve.fitted is None and null is not None:
        chance_headline = _chance_headline(title, ends, texts, null, verdict)
        if chance_headline:
            return chance_headline
    if same := _same_at_every_m(title, values, ends[0] if len(curve.bins) == 1 else "every M"):
        return same
    if texts[0] == texts[-1]:
        return f"{title} is {texts[0]} at both {ends[0]} and {ends[1]}."
    change = values[-1] - values[0]
    opening = (
        f"{title} {'rises' if change > 0 else 'falls'} from {texts[0]} ({ends[0]}) to {texts[-1]} ({ends[1]})"
    )
    if curve.fitted is not None:
        return opening + _fitted_clause(curve.fitted, change)
    return opening + ("." if null is None else _calibrated_clause(null, change, verdict))


def _same_at_every_m(title: str, values: Sequence[float], where: str) -> str:
    """Says of values over M that they do not differ, or hardly; "" where they do."""
    lowest, highest = min(values), max(values)
    if format_short(lowest) == format_short(highest):
        return f"{title} is {format_short(lowest)} at {where}."
    if highest - lowest > SAME_VALUE_SHARE * highest:
        return ""
    return f"{title} is nearly the same at every M: {format_significant_interval(lowest, highest)}."


def _fitted_clause(fitted: NullDistribution, change: float) -> str:
    """ ", which noise alone can explain." """
    noise = fitted.change_median or 0.0
    if change < 0:
        return f"; noise alone would change it by {format_short(noise)}."
    if _rise_significant(fitted):
        return f": {format_short(change - noise)} of the rise is beyond noise."
    return ", which noise alone can explain."


def _chance_headline(
    title: str, ends: tuple[str, str], texts: Sequence[str], null: NullDistribution, verdict: Verdict
) -> str:
    """The sentence about ends within and beyond chance; "" where the change over M is told instead."""
    chance = [BEYOND_CHANCE if beyond else WITHIN_CHANCE for beyond in significant_ends(null)]
    if verdict.miscalibrated and WITHIN_CHANCE in chance:
        return ""
    if len(set(texts)) == 1:
        if len(set(chance)) > 1:
            return f"{title} is {texts[0]} at every M: {chance[0]} at {ends[0]}, {chance[1]} at {ends[1]}."
        return f"{title} is {texts[0]} at {ends[0] if len(texts) == 1 else 'every M'}, {chance[0]}."
    if BEYOND_CHANCE not in chance:
        return f"{title} is {texts[0]} at {ends[0]} and {texts[-1]} at {ends[1]}, both {WITHIN_CHANCE}."
    if WITHIN_CHANCE not in chance or _rise_significant(null):
        return ""
    return f"{title} is {texts[0]} at {ends[0]}, {chance[0]}, and {texts[-1]} at {ends[1]}, {chance[1]}."


def _calibrated_clause(null: NullDistribution, change: float, verdict: Verdict) -> str:
    """ ", as expected from smaller bins alone." """
    if change > 0 and _rise_significant(null):
        return ", more than smaller bins add by chance."
    if verdict.miscalibrated:
        return "."
    if change > 0:
        return ", as expected from smaller bins alone."
    return f"; a perfectly calibrated model's would change by {format_short(null.change_median or 0.0)}."


def sweep_chance_note(curve: SweepCurve, evidence: Evidence) -> str:
    """How much of the values and of their change is noise, and what the verdict is, in a few sentences.

    Parameters
    ----------
    curve : SweepCurve
    evidence : Evidence
        The run and method that the curve is of.

    Notes
    -----
    The rise is split into two numbers. Noise is the median rise in draws of the fitted model, whose own true
    value is the same at every M. The rest is the observed rise less the noise.
    """
    verdict, null = evidence.verdict, curve.null
    if any(value is None for value in curve.values):
        return ""
    if not verdict.is_tested:
        return verdict.reason
    if curve.fitted is not None:
        return " ".join(
            [*_split_sentences(curve, curve.fitted, evidence.terms), _verdict_sentence(curve, evidence)]
        )
    if null is None:
        return "How much of the value is chance is not known."
    if _is_noise_unknown(curve, verdict):
        return (
            f"{_calibrated_values(curve, null, evidence)}. How much of a change over M is noise is not "
            f"known: {curve.not_fitted}. {_verdict_sentence(curve, evidence)}"
        )
    ends = "" if len(curve.bins) == 1 else f" {_ends_sentence(curve, null)}"
    p_text = _p_text(null, null.p[0]) if len(curve.bins) == 1 else ""
    closing = (
        "" if curve.not_fitted and not verdict.miscalibrated else f" {_verdict_sentence(curve, evidence)}"
    )
    return f"{_calibrated_values(curve, null, evidence)}{p_text}.{ends}{closing}"


def _is_noise_unknown(curve: SweepCurve, verdict: Verdict) -> bool:
    """Whether nothing can be said of noise: no test, or no model has the miscalibration of the run."""
    if not verdict.is_tested:
        return True
    if len(curve.bins) == 1 or curve.null is None or curve.fitted is not None:
        return False
    return not curve.null.has_p or (verdict.miscalibrated and not _rise_significant(curve.null))


def _split_sentences(curve: SweepCurve, fitted: NullDistribution, terms: Terms) -> list[str]:
    """The rise in two parts, or that there is none; [] for a single M."""
    values = [value for value in curve.values if value is not None]
    if len(values) == 1:
        return []
    change, noise = values[-1] - values[0], fitted.change_median or 0.0
    if format_short(values[0]) == format_short(values[-1]) or change < 0:
        return ["There is no rise over M that noise would have to explain."]
    band = f"{format_short(fitted.change_low or 0.0)} to {format_short(fitted.change_high or 0.0)}"
    noise_sentence = (
        "In a model fitted to the run, whose gaps never cancel within a bin, noise alone causes a rise of "
        f"{format_short(noise)} (5–95 %: {band})."
    )
    p_text = _p_text(fitted, fitted.change_p)
    if not _rise_significant(fitted):
        rest = f"The observed rise of {format_short(change)} is not clearly larger{p_text}"
        return [noise_sentence, f"{rest}, but gaps that cancel are not ruled out."]
    causes = (
        f"gaps that cancel within the bins at M = {curve.bins[0]}, or {terms.accuracy} that falls as "
        f"{terms.confidence} rises"
    )
    return [noise_sentence, f"The other {format_short(change - noise)}{p_text} comes from {causes}."]


def _verdict_sentence(curve: SweepCurve, evidence: Evidence) -> str:
    """The verdict, with the values of a calibrated model where calibration is not rejected."""
    verdict, by = evidence.verdict, "" if METRICS[curve.metric].needs == "pairs" else ", by its top label"
    opening = f"The run {verdict_phrase(verdict.kind)}{verdict.scope}{by}"
    if verdict.kind == "none" and curve.fitted is not None and _rise_significant(curve.fitted):
        return f"{opening} in level and spread, all that the verdict tests."
    if verdict.miscalibrated or curve.null is None or curve.fitted is None:
        return f"{opening}."
    values = _calibrated_values(curve, curve.null, evidence)
    return f"{opening}: {values[0].lower()}{values[1:]}."


def _calibrated_values(curve: SweepCurve, null: NullDistribution, evidence: Evidence) -> str:
    """ "A perfectly calibrated model would score about 0.0191 (M = 5) and 0.1685 (M = 500) on 60 rows"."""
    places = (0,) if len(curve.bins) == 1 else (0, -1)
    medians = [f"{format_short(null.median[place])} (M = {curve.bins[place]})" for place in places]
    independent = "" if null.has_p else "independent "
    rows = plural(evidence.n_used, f"{independent}{evidence.unit[:-1]}")
    return f"A perfectly calibrated model would score about {' and '.join(medians)} on {rows}"


def significant_ends(null: NullDistribution) -> list[bool]:
    """Whether the value goes beyond chance: at the only M, or at the first and the last."""
    if len(null.p) == 1:
        return [null.p[0] is not None and null.p[0] <= SIGNIFICANCE_LEVEL]
    # With few draws the smallest possible p exceeds half the level; it still counts as significant.
    limit = max(SIGNIFICANCE_LEVEL / 2, 1 / (1 + null.n_draws))
    return [p is not None and p <= limit for p in (null.p[0], null.p[-1])]


def _rise_significant(null: NullDistribution | None) -> bool:
    """Whether the value rises over M by more than it does by chance."""
    return null is not None and null.change_p is not None and null.change_p <= SIGNIFICANCE_LEVEL


def _ends_sentence(curve: SweepCurve, null: NullDistribution) -> str:
    """The test at both ends and of the change, against a perfectly calibrated model."""
    values = [value for value in curve.values if value is not None]
    changed = format_short(values[0]) != format_short(values[-1])
    change = format_short(values[-1] - values[0])
    significant = significant_ends(null)
    if not any(significant):
        opening = f"Both are {WITHIN_CHANCE}{_p_text(null, null.p[0], null.p[-1])}"
        is_noise = changed and null.change_p is not None and not _rise_significant(null)
        return f"{opening}, and the change over M is no more than noise." if is_noise else f"{opening}."
    if all(significant):
        opening = f"Both numbers are {BEYOND_CHANCE}{_p_text(null, null.p[0], null.p[-1])}"
    else:
        end = 0 if significant[0] else -1
        opening = f"Only the number at M = {curve.bins[end]} is {BEYOND_CHANCE}{_p_text(null, null.p[end])}"
    if not changed:
        return f"{opening}."
    expected = f"smaller bins add by chance (about {format_short(null.median[-1] - null.median[0])})"
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

"""How uncertain is a metric, and a difference between two runs? Intervals over rows or questions.

Metrics that sum |gap| over bins have intervals by the directional delta method (`inference.directional`),
since any bootstrap covers too little near 0. Means, and differences of paired runs, have the basic
(reflected) bootstrap, never the percentile one. An interval decides no verdict; that is
`inference.verdict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import FINEST_BINS, Scheme, assign_bins, bin_of
from calib_core.errors import Unavailable
from calib_core.inference.bootstrap import (
    BOOTSTRAP_DRAWS,
    BOOTSTRAP_DRAWS_RECOMPUTED,
    BOOTSTRAP_SEED,
    MAX_INDIVIDUAL_UNITS,
    Interval,
    PairedDifference,
    WeightedMetric,
    basic_interval,
    equal_weight_draws,
    interval_method_text,
    mean_difference,
    multinomial_draws,
    resampling_units,
)
from calib_core.inference.clusters import effective_sample_size, repeated_question_keys
from calib_core.inference.directional import (
    DIRECTIONAL_DRAWS,
    MAX_DIRECTIONAL_BINS,
    BinMeans,
    directional_difference,
    directional_interval,
)
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.null import null_distribution
from calib_core.inference.pairing import KEY_SEPARATOR, common_questions
from calib_core.inference.verdict import MIN_ROWS
from calib_core.metrics.metric import Metric, WeightedForm
from calib_core.pairs import Pairs
from calib_core.results.evidence import AnswerEvidence, Evidence, get_metric, restrict_rows
from calib_core.results.score import effective_scheme

MAX_DIFFERENCE_BINS: Final = 200
"""With more bins on both sides together, a difference has a bootstrap interval."""


def weighted_form_for(metric: Metric, scheme: Scheme) -> WeightedForm | None:
    """The metric as a function of row weights; None for equal-mass bins, which change with every draw."""
    return metric.weighted_form if not metric.binned or scheme.binning == "width" else None


def recompute_metric(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, positions: NDArray[np.intp]
) -> float:
    """The metric over some usable rows, recomputed from their pairs.

    Parameters
    ----------
    evidence : AnswerEvidence
    metric : Metric
    scheme : Scheme
    positions : NDArray[np.intp], shape (n,)
        Positions in the evidence's pairs.

    Returns
    -------
    float
        NaN where the metric is not defined.
    """
    confidences = evidence.confidences
    if metric.needs == "pairs" and evidence.options.labels == "top":
        sums = confidences.pairs.take(positions).sums()
    elif confidences.distribution is None:
        raise RuntimeError("pairs of all labels, or of all classes, without a distribution")
    elif metric.needs == "pairs":
        sums = confidences.distribution.take(positions).all_label_pairs().sums()
    else:
        sums = confidences.distribution.take(positions).sums()
        sums = sums if metric.required_sums == "classes" else sums.pooled()
    value = metric.compute(sums, scheme)
    return np.nan if value is None else value


def metric_interval(
    evidence: Evidence, metric_id: str, scheme: Scheme | None = None, *, seed: int = BOOTSTRAP_SEED
) -> Interval | None:
    """The 95 % interval of a metric, cut at its range.

    Wilson's for the accuracy, the directional delta method for sums of |gap| over bins, otherwise a
    bootstrap. The bootstrap resamples rows; above `MAX_INDIVIDUAL_UNITS` rows, cells of metrics that need
    one confidence a row. Where the file repeats questions, questions are the units, and Wilson's interval
    uses the effective sample size.

    Parameters
    ----------
    evidence : Evidence
    metric_id : str
    scheme : Scheme, optional
        Ten bins of equal width where omitted. The bins of ACE are held fixed.
    seed : int

    Returns
    -------
    Interval or None
        None where the metric is not defined or known only within bounds; with a single row, since every
        draw would be that row; where no rows can be resampled, as there are too many for a metric that has
        to be recomputed in each draw; and for the reasons of `no_interval_reason`.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    if (
        not isinstance(evidence, AnswerEvidence)
        or not evidence.n_used
        or evidence.unavailable_reason(metric, scheme)
        or no_interval_reason(evidence, metric_id, scheme)
    ):
        return None
    cluster = evidence.cluster
    if metric.interval_method == "wilson":
        return _accuracy_interval(evidence.confidences.pairs.correct, cluster)
    value = metric.compute(evidence.sums_for(metric, scheme), scheme)
    n_units = evidence.n_used if cluster is None else int(cluster.max()) + 1
    if value is None or not np.isfinite(value) or n_units < 2:
        return None
    unit_text = "rows" if cluster is None else f"{n_units:,} questions asked again"
    if metric.interval_method == "directional":
        return _directional_interval(evidence, metric, scheme, value, seed, unit_text)
    draws = _bootstrap_values(evidence, metric, scheme, seed, cluster)
    ends = None if draws is None else basic_interval(value, draws)
    if draws is None or ends is None:
        return None
    # Near a limit of the metric's range, reflection can push both ends beyond it.
    minimum = -np.inf if metric.low is None else metric.low
    maximum = np.inf if metric.high is None else metric.high
    low, high = (min(max(end, minimum), maximum) for end in ends)
    return Interval(low, high, draws.size, seed, interval_method_text(draws.size, seed, unit_text))


def no_interval_reason(evidence: Evidence, metric_id: str, scheme: Scheme | None = None) -> str | None:
    """Why a metric that has a value has no interval by design; None where it may have one."""
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    if not isinstance(evidence, AnswerEvidence):
        return "The positions of a text depend on one another, so that no interval is known."
    if metric.interval_method == "none":
        return f"{metric.title} has no interval: {metric.no_interval_reason}."
    if metric.interval_method != "directional":
        return None
    if evidence.no_null_reason:
        return f"{metric.title} has no interval: {evidence.no_null_reason}."
    if evidence.n_used < MIN_ROWS:
        return f"{metric.title} has no interval below {MIN_ROWS} rows."
    return None


def _directional_interval(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, value: float, seed: int, unit_text: str
) -> Interval | None:
    """The interval of a sum of |gap| over bins; None without a null distribution, or with too many bins."""
    null = null_distribution(evidence, metric, (scheme,), (value,))
    if null is None or null.p[0] is None:
        return None
    bins = _bin_means(evidence, metric, scheme)
    if bins is None:
        return None
    low, high = directional_interval(bins, null.p[0], metric.high, seed=seed)
    fixed = ", bins held fixed" if scheme.binning != "width" else ""
    text = f"directional delta method 95 % over {unit_text}{fixed}, {DIRECTIONAL_DRAWS} draws, seed {seed}"
    return Interval(min(low, value), max(high, value), DIRECTIONAL_DRAWS, seed, text)


def _bin_means(evidence: AnswerEvidence, metric: Metric, scheme: Scheme) -> BinMeans | None:
    """The gaps of the metric's bins with their covariance over rows or questions; None with too many bins."""
    if metric.divisor is None:
        raise RuntimeError(f"{metric.id} has no divisor")
    sums = evidence.sums_for(metric, scheme)
    binned = sums.binned(scheme)
    if binned.n_bins > MAX_DIRECTIONAL_BINS:
        return None
    if metric.needs == "pairs" and evidence.options.labels == "top" and evidence.cluster is None:
        return BinMeans.from_bins(binned)
    pairs, gap, bin_ = _gaps_by_bin(evidence, metric, scheme)
    usable = evidence.confidences.pairs.rows
    unit_of_row = np.zeros(evidence.run.rows.height, np.intp)
    unit_of_row[usable] = np.arange(usable.size) if evidence.cluster is None else evidence.cluster
    return BinMeans.from_pairs(gap, bin_, unit_of_row[pairs.rows], metric.divisor(sums))


def _gaps_by_bin(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme
) -> tuple[Pairs, NDArray[np.float64], NDArray[np.intp]]:
    """The pairs behind the metric's bins, the gap that each adds, and its occupied bin, numbered from 0."""
    pairs = evidence.diagram_pairs(metric)
    confidence = pairs.confidence.astype(np.float64)
    gap = confidence - pairs.correct
    key = assign_bins(pairs.confidence, scheme, computed=pairs.computed)
    if metric.required_sums == "squares":
        gap *= confidence
    if metric.required_sums == "classes" and evidence.confidences.distribution is not None:
        key = key + evidence.confidences.distribution.class_index * scheme.bins
    _keys, bin_ = np.unique(key, return_inverse=True)
    return pairs, gap, bin_


def _accuracy_interval(correct: NDArray[np.bool_], cluster: NDArray[np.intp] | None) -> Interval:
    """Wilson's interval; `cluster` is each row's question where some are repeated, otherwise None."""
    n_effective = float(correct.size) if cluster is None else effective_sample_size(correct, cluster)
    low, high = wilson_interval(np.array([correct.mean() * n_effective]), np.array([n_effective]))
    cluster_text = "" if cluster is None else f" of {int(cluster.max()) + 1:,} questions asked again"
    return Interval(float(low[0]), float(high[0]), 0, 0, f"Wilson 95 %{cluster_text}")


def paired_difference(
    evidence_pairs: Sequence[tuple[AnswerEvidence, AnswerEvidence]],
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    seed: int = BOOTSTRAP_SEED,
) -> PairedDifference:
    """How much larger a metric is in the second run of each pair than in the first, on the same questions.

    Each pair uses the questions for which both runs have a confidence and an outcome. The bootstrap resamples
    questions: all rows of a question stay together, in both runs and in all pairs of one data set. Sums of
    |gap| over bins have the directional delta method instead, from `MIN_ROWS` questions on, as the bootstrap
    excludes a difference of 0 too often; how often this one does is in benchmarks/groups.md.

    Parameters
    ----------
    evidence_pairs : sequence of (AnswerEvidence, AnswerEvidence)
    metric_id : str
    scheme : Scheme, optional
    seed : int

    Raises
    ------
    Unavailable
        Where runs cannot be paired or share only one question, or the metric is not defined.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    sides, keys = _pair_by_question(evidence_pairs, metric, scheme)
    distinct = pl.concat(keys).unique(maintain_order=True)
    if distinct.len() > MAX_INDIVIDUAL_UNITS:
        raise Unavailable(
            f"A paired difference is offered up to {MAX_INDIVIDUAL_UNITS:,} questions, not "
            f"{distinct.len():,}."
        )
    clusters_by_pair = _key_positions(keys, distinct)
    if metric.interval_method == "directional" and distinct.len() >= MIN_ROWS:
        directional = _directional_difference(sides, clusters_by_pair, metric, scheme, seed)
        if directional is not None:
            return directional
    weighted_metrics = [
        (
            _weighted_metric(first, metric, scheme, clusters),
            _weighted_metric(second, metric, scheme, clusters),
        )
        for (first, second), clusters in zip(sides, clusters_by_pair, strict=True)
    ]
    value = float(mean_difference(weighted_metrics, np.ones((1, distinct.len())))[0])
    if not np.isfinite(value):
        raise Unavailable(f"{metric.title} is not defined on the questions that both have.")
    if distinct.len() < 2:
        raise Unavailable("Only one question is in both: its difference has no interval.")
    draws = BOOTSTRAP_DRAWS_RECOMPUTED if weighted_form_for(metric, scheme) is None else BOOTSTRAP_DRAWS
    differences = np.concatenate(
        [
            mean_difference(weighted_metrics, weights)
            for weights in equal_weight_draws(distinct.len(), draws, seed)
        ]
    )
    ends = basic_interval(value, differences)
    if ends is None:
        raise Unavailable(f"{metric.title} is not defined in some draws of so few questions.")
    method = interval_method_text(draws, seed, "questions")
    return PairedDifference(value, *ends, distinct.len(), len(evidence_pairs), draws, seed, method)


def _directional_difference(
    sides: Sequence[tuple[AnswerEvidence, AnswerEvidence]],
    clusters_by_pair: Sequence[NDArray[np.intp]],
    metric: Metric,
    scheme: Scheme,
    seed: int,
) -> PairedDifference | None:
    """The mean difference of a sum of |gap| over bins; None with too many bins."""
    if metric.divisor is None:
        raise RuntimeError(f"{metric.id} has no divisor")
    n_questions = 1 + max(int(cluster.max()) for cluster in clusters_by_pair)
    contributions: list[NDArray[np.float64]] = []
    means: list[NDArray[np.float64]] = []
    weights: list[NDArray[np.float64]] = []
    for pair, cluster in zip(sides, clusters_by_pair, strict=True):
        for evidence, sign in zip(pair, (-1.0, 1.0), strict=True):
            pairs, gap, bin_ = _gaps_by_bin(evidence, metric, scheme)
            divisor, n_bins = metric.divisor(evidence.sums_for(metric, scheme)), int(bin_.max()) + 1
            if sum(mean.size for mean in means) + n_bins > MAX_DIFFERENCE_BINS:
                return None
            question = cluster[pairs.rows]
            part = np.bincount(question, minlength=n_questions) / pairs.n
            mean = np.bincount(bin_, gap, minlength=n_bins) / divisor
            sums = np.bincount(question * n_bins + bin_, gap, minlength=n_questions * n_bins)
            contributions.append(sums.reshape(n_questions, n_bins) / divisor - np.outer(part, mean))
            means.append(mean)
            weights.append(np.full(n_bins, sign / len(sides)))
    all_contributions = np.concatenate(contributions, axis=1)
    covariance = n_questions / (n_questions - 1) * (all_contributions.T @ all_contributions)
    bins, weight = BinMeans(np.concatenate(means), covariance, n_questions), np.concatenate(weights)
    low, high = directional_difference(bins, weight, seed=seed)
    fixed = ", bins held fixed" if scheme.binning != "width" else ""
    text = (
        f"directional delta method 95 % over questions{fixed}, {DIRECTIONAL_DRAWS} draws, seed {seed}, "
        "approximate"
    )
    value = float(weight @ np.abs(bins.mean))
    return PairedDifference(value, low, high, n_questions, len(sides), DIRECTIONAL_DRAWS, seed, text)


def _key_positions(keys: Sequence[pl.Series], distinct: pl.Series) -> list[NDArray[np.intp]]:
    """Position of each key among the distinct ones."""
    positions = pl.DataFrame({"key": distinct, "at": np.arange(distinct.len())})
    return [
        key.to_frame("key").join(positions, on="key", maintain_order="left")["at"].to_numpy() for key in keys
    ]


def _pair_by_question(
    evidence_pairs: Sequence[tuple[AnswerEvidence, AnswerEvidence]], metric: Metric, scheme: Scheme
) -> tuple[list[tuple[AnswerEvidence, AnswerEvidence]], list[pl.Series]]:
    """Both evidences of each pair on their common rows, aligned by question, and the questions' keys."""
    sides: list[tuple[AnswerEvidence, AnswerEvidence]] = []
    keys: list[pl.Series] = []
    for first, second in evidence_pairs:
        for evidence in (first, second):
            if reason := evidence.unavailable_reason(metric, scheme):
                raise Unavailable(f"{evidence.run.label}: {reason}")
        at_first, at_second, question_keys = common_questions(first.run, second.run)
        usable = np.isin(at_first, first.confidences.pairs.rows) & np.isin(
            at_second, second.confidences.pairs.rows
        )
        if not usable.any():
            raise Unavailable(f"{first.run.label} and {second.run.label} share no usable question.")
        sides.append((restrict_rows(first, at_first[usable]), restrict_rows(second, at_second[usable])))
        repeated = repeated_question_keys(first.run)
        question_keys = (
            question_keys if repeated is None else repeated.gather(pl.Series(at_first, dtype=pl.UInt32))
        )
        # Ids are unique within a data set only.
        keys.append(
            f"{first.run.info.dataset or ''}{KEY_SEPARATOR}" + question_keys.filter(pl.Series(usable))
        )
    if not sides:
        raise Unavailable("There is no pair of runs to compare.")
    return sides, keys


def _weighted_metric(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, cluster: NDArray[np.intp]
) -> WeightedMetric:
    """The metric of one evidence as a function of weights of clusters; `cluster` is that of each row."""
    form = weighted_form_for(metric, scheme)
    if form is None:
        return lambda weights: np.array(
            [
                recompute_metric(
                    evidence,
                    metric,
                    scheme,
                    np.repeat(np.arange(cluster.size), draw[cluster].astype(np.intp)),
                )
                for draw in weights
            ]
        )
    pairs = evidence.pairs
    units, unit_of_pair = resampling_units(pairs, scheme, np.arange(pairs.n))
    cluster_of_unit = np.empty(pairs.n, np.intp)
    cluster_of_unit[unit_of_pair] = cluster[pairs.rows]
    return lambda weights: form(units, weights[:, cluster_of_unit])


def _bootstrap_values(
    evidence: AnswerEvidence,
    metric: Metric,
    scheme: Scheme,
    seed: int,
    cluster: NDArray[np.intp] | None,
) -> NDArray[np.float64] | None:
    """The metric in each draw of rows or questions; None where these are too many.

    `cluster` is each usable row's question where some are repeated, otherwise None.
    """
    n = evidence.n_used if cluster is None else int(cluster.max()) + 1
    if n <= MAX_INDIVIDUAL_UNITS:
        usable = restrict_rows(evidence, evidence.confidences.pairs.rows)
        weighted_metric = _weighted_metric(
            usable, metric, scheme, np.arange(n) if cluster is None else cluster
        )
        n_draws = BOOTSTRAP_DRAWS_RECOMPUTED if weighted_form_for(metric, scheme) is None else BOOTSTRAP_DRAWS
        return np.concatenate([weighted_metric(weights) for weights in equal_weight_draws(n, n_draws, seed)])
    form = weighted_form_for(metric, scheme)
    if cluster is not None or form is None or evidence.options.labels == "all":
        return None
    pairs = evidence.pairs
    cell = bin_of(pairs.confidence, FINEST_BINS) * 2 + pairs.correct
    units, _unit = resampling_units(pairs, scheme, cell)
    return np.concatenate(
        [form(units, weights) for weights in multinomial_draws(units.count / n, n, BOOTSTRAP_DRAWS, seed)]
    )

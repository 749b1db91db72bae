"""How uncertain is a metric, and a difference between two runs? Intervals over rows or questions.

Metrics that sum |gap| over bins have intervals by the directional delta method (`inference.directional`),
since any bootstrap covers too little near 0. Means and the AUROC have intervals by their variance
(`inference.intervals`), since the bootstrap covers too little below 300 rows. Differences of paired runs
have the same, but for the AUROC: its difference has the basic (reflected) bootstrap, never the percentile
one. An interval decides no verdict; that is `inference.verdict`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import pairwise_sum
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
from calib_core.inference.clusters import effective_clusters, repeated_question_keys
from calib_core.inference.directional import (
    DIFFERENCE_DRAWS,
    DIRECTIONAL_DRAWS,
    MAX_DIRECTIONAL_BINS,
    BinMeans,
    Gaps,
    directional_contrasts,
    directional_interval,
    joint_bin_means,
)
from calib_core.inference.intervals import (
    auroc_interval,
    effective_with,
    mean_interval,
    mean_interval_of_rows,
    p_value_of_interval,
    share_interval,
)
from calib_core.inference.null import metric_draws, monte_carlo_p_value
from calib_core.inference.paired_test import MIN_QUESTIONS_OVER_BINS, paired_test
from calib_core.inference.pairing import KEY_SEPARATOR, common_questions
from calib_core.inference.text_test import DEPENDENT_POSITIONS
from calib_core.inference.verdict import MIN_ROWS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import ORDERED_SUMS, Metric, WeightedForm
from calib_core.pairs import Pairs
from calib_core.results.evidence import (
    AnswerEvidence,
    Evidence,
    get_metric,
    refuse_weights,
    restrict_rows,
)
from calib_core.results.score import Score, effective_scheme, score
from calib_core.wording import ROUNDING_TOLERANCE, plural

MIN_OF_EACH_OUTCOME: Final = 5
"""The AUROC has an interval from this many right and wrong answers on."""

MIN_OF_RARER_OUTCOME: Final = 10
"""What is gained or lost at extreme confidences is tested from this many right and wrong answers on, or
questions with one: fewer tell too little (benchmarks/recalibration.md, benchmarks/threshold_cost.md)."""


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
    if metric.required_sums == "ranks" or (metric.needs == "pairs" and evidence.options.labels == "top"):
        sums = evidence.pairs_for(metric).take(positions).sums()
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

    Wilson's for the accuracy, the directional delta method for sums of |gap| over bins, Student's t for
    means, DeLong's for the AUROC, otherwise a bootstrap.

    The bootstrap resamples rows; above `MAX_INDIVIDUAL_UNITS` rows, cells of metrics that need one
    confidence a row. Where the file repeats questions, questions are the units, and Wilson's interval uses
    the effective sample size.

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
        return _accuracy_interval(evidence.confidences.pairs, cluster)
    value = metric.compute(evidence.sums_for(metric, scheme), scheme)
    n_units = evidence.n_used if cluster is None else int(cluster.max()) + 1
    if value is None or not np.isfinite(value) or n_units < 2:
        return None
    unit_text = _unit_text(evidence)
    if metric.interval_method != "bootstrap":
        return _formula_interval(evidence, metric, scheme, value, seed, unit_text)
    draws = _bootstrap_values(evidence, metric, scheme, seed, cluster)
    ends = None if draws is None else basic_interval(value, draws)
    if draws is None or ends is None:
        return None
    # Near a limit of the metric's range, reflection can push both ends beyond it.
    minimum = -np.inf if metric.low is None else metric.low
    maximum = np.inf if metric.high is None else metric.high
    low, high = (min(max(end, minimum), maximum) for end in ends)
    return Interval(low, high, draws.size, seed, interval_method_text(draws.size, seed, unit_text))


def score_with_interval(evidence: Evidence, metric_id: str, scheme: Scheme | None = None) -> Score:
    """One metric of the evidence as `results.score.score` gives it, and its 95 % interval.

    Parameters and errors are as in `results.score.score`.
    """
    return replace(score(evidence, metric_id, scheme), interval=metric_interval(evidence, metric_id, scheme))


def no_interval_reason(evidence: Evidence, metric_id: str, scheme: Scheme | None = None) -> str | None:
    """Why a metric that has a value has no interval by design; None where it may have one."""
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    if not isinstance(evidence, AnswerEvidence):
        return f"{DEPENDENT_POSITIONS.capitalize()}, so there is no interval."
    if metric.interval_method == "none":
        return f"{metric.title} has no interval: {metric.no_interval_reason}."
    if metric.interval_method == "auroc" and count_rarer_outcome(evidence.top_label) < MIN_OF_EACH_OUTCOME:
        unit = "answers" if evidence.cluster is None else "answers to different questions"
        unit += "" if evidence.weight is None else ", counted by the effective number of their weights,"
        least = f"{MIN_OF_EACH_OUTCOME} right and {MIN_OF_EACH_OUTCOME} wrong {unit}"
        return f"{metric.title} needs at least {least} for an interval."
    if metric.interval_method != "directional":
        return None
    no_draws = evidence.no_null_reason
    if evidence.weight is not None and pools_choices(evidence, metric):
        no_draws = NO_WEIGHTED_CHOICES
    if no_draws:
        return f"{metric.title} has no interval: {no_draws}."
    rows = "rows" if evidence.weight is None else "rows of equal weight"
    return (
        f"{metric.title} needs at least {MIN_ROWS} {rows} for an interval."
        if evidence.n_effective < MIN_ROWS
        else None
    )


NO_WEIGHTED_CHOICES: Final = "no right choices are drawn for rows with weights"
"""Why pairs of every choice of weighted rows have neither an interval by bins nor a p-value."""


def pools_choices(evidence: Evidence, metric: Metric) -> bool:
    """Whether a metric is of a pair for every choice of each row."""
    return metric.needs == "distribution" or evidence.options.labels == "all"


def _unit_text(evidence: AnswerEvidence) -> str:
    """What is drawn or counted, for recipes: "rows", "60 questions, some repeated", "weighted rows"."""
    weighted = "" if evidence.weight is None else "weighted "
    if evidence.cluster is None:
        return f"{weighted}rows"
    return f"{int(evidence.cluster.max()) + 1:,} questions, some repeated{weighted and ', of weighted rows'}"


def missing_statistics_note(
    evidences: Sequence[Evidence], metric_ids: Sequence[str], scheme: Scheme | None = None, *, intervals: bool
) -> str:
    """Why numbers have no interval or no p-value, in one line; "" where none is missing.

    Parameters
    ----------
    evidences : sequence of Evidence
        What the numbers are of.
    metric_ids : sequence of str
        The numbers; those that an evidence does not support have no value that could lack anything.
    scheme : Scheme, optional
        Ten bins of equal width where omitted.
    intervals : bool
        Whether the numbers are shown with intervals where they have one.
    """
    counts: dict[str, int] = {}
    for evidence in evidences:
        for reason in dict.fromkeys(_missing_reasons(evidence, metric_ids, scheme, intervals=intervals)):
            counts[reason] = counts.get(reason, 0) + 1
    n = len(evidences)
    return " ".join(
        reason if count == n else f"{reason.rstrip('.')} ({count:,} of {n:,})."
        for reason, count in counts.items()
    )


def _missing_reasons(
    evidence: Evidence, metric_ids: Sequence[str], scheme: Scheme | None, *, intervals: bool
) -> list[str]:
    """The reasons of one evidence, as sentences."""
    metrics = [get_metric(id_) for id_ in metric_ids]
    shown = [
        metric
        for metric in metrics
        if not evidence.unavailable_reason(metric, effective_scheme(metric, scheme or Scheme()))
    ]
    if not shown:
        return []
    without_p = evidence.no_null_reason or evidence.no_p_reason
    reasons: list[str] = []
    if without_p and any(metric.binned for metric in shown):
        reasons.append(f"No p-value: {without_p}.")
    elif evidence.weight is not None and any(m.binned and pools_choices(evidence, m) for m in shown):
        reasons.append(f"No p-value: {NO_WEIGHTED_CHOICES}.")
    elif reason := evidence.untested_reason:
        reasons.append(reason)
    if intervals:
        found = (no_interval_reason(evidence, metric.id, scheme) for metric in shown)
        reasons += [reason for reason in found if reason]
    return reasons


def _formula_interval(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, value: float, seed: int, unit_text: str
) -> Interval | None:
    """The interval of a metric with a known variance; None where that can't be estimated."""
    if metric.interval_method == "directional":
        return _directional_interval(evidence, metric, scheme, value, seed, unit_text)
    if metric.interval_method == "mean":
        return _mean_interval(evidence, metric, unit_text)
    pairs = evidence.pairs_for(metric)
    ends = auroc_interval(
        pairs.confidence.astype(np.float64, copy=False),
        pairs.correct,
        evidence.cluster,
        pairs.weight,
        sums=evidence.sums if metric.needs == "pairs" else evidence.class_sums_for(metric),
    )
    text = f"DeLong t 95 % on the logit scale over {unit_text}"
    return None if ends is None else Interval(*ends, 0, 0, text)


def _directional_interval(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, value: float, seed: int, unit_text: str
) -> Interval | None:
    """The interval of a sum of |gap| over bins; None without a null distribution, or with too many bins."""
    null = metric_draws(evidence, metric, (scheme,))
    if null is None:
        return None
    bins = _bin_means(evidence, metric, scheme)
    if bins is None:
        return None
    p = monte_carlo_p_value(null[1][0], value)
    low, high = directional_interval(bins, p, metric.high, seed=seed)
    mean_gap = _largest_mean_gap(evidence, metric, unit_text)
    fixed = ", bins held fixed" if scheme.binning != "width" else ""
    text = f"directional delta method 95 % over {unit_text}{fixed}, {DIRECTIONAL_DRAWS} draws, seed {seed}"
    if mean_gap > high:
        high, text = mean_gap, f"{text}, upper end that of the bias"
    return Interval(min(low, value), max(high, value), DIRECTIONAL_DRAWS, seed, text)


def _largest_mean_gap(evidence: AnswerEvidence, metric: Metric, unit_text: str) -> float:
    """The farther end of the bias's interval, which no mean of |gap| over bins lies below; 0 for other sums.

    Where few outcomes differ, that interval allows for those that were not seen, and variances do not.
    """
    if metric.needs != "pairs" or metric.weighted_by_confidence or evidence.options.labels != "top":
        return 0.0
    bias = _mean_interval(evidence, METRICS["bias"], unit_text)
    return max(abs(bias.low), abs(bias.high))


def _bin_means(evidence: AnswerEvidence, metric: Metric, scheme: Scheme) -> BinMeans | None:
    """The gaps of the metric's bins with their covariance over rows or questions; None with too many bins."""
    binned = evidence.sums_for(metric, scheme).binned(scheme)
    if binned.n_bins > MAX_DIRECTIONAL_BINS:
        return None
    independent = evidence.cluster is None and evidence.weight is None
    if metric.needs == "pairs" and evidence.options.labels == "top" and independent:
        return BinMeans.from_bins(binned)
    usable = evidence.confidences.pairs.rows
    cluster = np.arange(usable.size) if evidence.cluster is None else evidence.cluster
    gaps = metric_gaps(evidence, metric, scheme, cluster)
    return joint_bin_means([gaps], int(cluster.max()) + 1)


def metric_gaps(evidence: AnswerEvidence, metric: Metric, scheme: Scheme, cluster: NDArray[np.intp]) -> Gaps:
    """The gaps of a sum of |gap| over bins.

    Parameters
    ----------
    evidence : AnswerEvidence
    metric : Metric
        One with a divisor.
    scheme : Scheme
    cluster : NDArray[np.intp], shape (usable rows,)
        Question of each usable row, numbered from 0.
    """
    if metric.divisor is None:
        raise RuntimeError(f"{metric.id} has no divisor")
    pairs = evidence.diagram_pairs(metric)
    confidence = pairs.confidence.astype(np.float64)
    gap = confidence - pairs.correct
    key = assign_bins(pairs.confidence, scheme, computed=pairs.computed, weight=pairs.weight)
    if metric.required_sums == "squares":
        gap *= confidence
    if pairs.weight is not None:
        gap *= pairs.weight
    if metric.required_sums == "classes" and evidence.confidences.distribution is not None:
        key = key + evidence.confidences.distribution.class_index * scheme.bins
    _keys, bin_ = np.unique(key, return_inverse=True)
    cluster_of_row = np.zeros(evidence.run.rows.height, np.intp)
    cluster_of_row[evidence.confidences.pairs.rows] = cluster
    divisor = metric.divisor(evidence.sums_for(metric, scheme))
    return Gaps(gap, bin_, cluster_of_row[pairs.rows], divisor, pairs.weight)


def count_rarer_outcome(evidence: AnswerEvidence) -> float:
    """Number of questions with a right answer, or with a wrong one, whichever are fewer.

    The effective number (Kish 1965) where rows have weights.
    """
    correct, cluster, weight = evidence.pairs.correct, evidence.cluster, evidence.pairs.weight
    if weight is not None:
        unit = np.arange(correct.size) if cluster is None else cluster
        return min(effective_with(outcome, unit, weight) for outcome in (correct, ~correct))
    if cluster is None:
        n_right = int(np.count_nonzero(correct))
        return min(n_right, correct.size - n_right)
    return min(np.unique(cluster[correct]).size, np.unique(cluster[~correct]).size)


def simultaneous_interval(evidence: AnswerEvidence, metric: Metric, n_intervals: int) -> Interval | None:
    """The interval of a mean that is one of several, each at 1 − 0.05 / their number (Bonferroni).

    Parameters
    ----------
    evidence : AnswerEvidence
    metric : Metric
        One whose interval method is "mean".
    n_intervals : int

    Returns
    -------
    Interval or None
        None with a single row or question.
    """
    cluster = evidence.cluster
    n_units = evidence.n_used if cluster is None else int(cluster.max()) + 1
    return _mean_interval(evidence, metric, _unit_text(evidence), n_intervals) if n_units > 1 else None


def _mean_interval(
    evidence: AnswerEvidence, metric: Metric, unit_text: str, n_intervals: int = 1
) -> Interval:
    """Student's interval of a mean over rows or questions, cut at the metric's range."""
    most = evidence.length_of_scale if metric.required_sums == "distances" else metric.high
    added = _extreme_means(replace(metric, high=most), evidence.pairs)
    pairs, pair_term = evidence.confidences.pairs, metric.pair_term
    if (
        metric.needs == "pairs"
        and pair_term
        and evidence.pairs is pairs
        and evidence.cluster is None
        and pairs.weight is None
    ):
        confidence, correct = pairs.confidence, pairs.correct
        low, high = mean_interval_of_rows(
            pairs.n,
            lambda part: pair_term(confidence[part].astype(np.float64, copy=False), correct[part]),
            added,
            n_intervals,
        )
    else:
        n_units = evidence.n_used if evidence.cluster is None else int(evidence.cluster.max()) + 1
        total, weight = _totals_and_weights(evidence, metric, evidence.cluster, n_units)
        low, high = mean_interval(total, weight, added, n_intervals)
    low = low if metric.low is None else max(low, metric.low)
    high = high if most is None else min(high, most)
    return Interval(low, high, 0, 0, f"t interval 95 % over {unit_text}{_added_text(added)}")


def _extreme_means(metric: Metric, pairs: Pairs) -> tuple[float, float] | None:
    """The least and the largest value of an average row, whatever its outcome; None if there is no largest.

    For the accuracy these are 0 and 1, for the Brier score those of right and wrong answers.
    """
    if metric.pair_term is None or metric.low is None or metric.high is None:
        return None
    if metric.needs == "distribution":
        return metric.low, metric.high
    pair_term, weight = metric.pair_term, pairs.weight

    def mean(extreme: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]) -> float:
        def terms(part: slice) -> NDArray[np.float64]:
            confidence = pairs.confidence[part].astype(np.float64, copy=False)
            values = extreme(
                *(pair_term(confidence, np.full(confidence.size, outcome)) for outcome in (False, True))
            )
            return values if weight is None else values * weight[part]

        return pairwise_sum(pairs.n, terms) / (pairs.n if weight is None else float(weight.sum()))

    return mean(np.minimum), mean(np.maximum)


def _added_text(added: tuple[float, float] | None) -> str:
    return ", one of the least and one of the largest possible value added" if added else ""


def _accuracy_interval(pairs: Pairs, cluster: NDArray[np.intp] | None) -> Interval:
    """Wilson's interval; `cluster` is each row's question where some are repeated, otherwise None."""
    low, high = share_interval(pairs.correct, cluster, pairs.weight)
    weight_text = "" if pairs.weight is None else " of weighted rows"
    cluster_text = "" if cluster is None else f" of {int(cluster.max()) + 1:,} questions, some repeated"
    return Interval(low, high, 0, 0, f"Wilson 95 %{weight_text}{cluster_text}")


def paired_difference(
    evidence_pairs: Sequence[tuple[AnswerEvidence, AnswerEvidence]],
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    seed: int = BOOTSTRAP_SEED,
) -> PairedDifference:
    """How much larger a metric is in the second run of each pair than in the first, on the same questions.

    Each pair uses the questions for which both runs have a confidence and an outcome. A mean has
    `paired_test` over questions, a sum of |gap| the directional delta method, and any other metric a
    bootstrap, both with the p-value that belongs to their interval. All rows of a question stay together, in
    both runs and in all pairs of one data set.

    Parameters
    ----------
    evidence_pairs : sequence of (AnswerEvidence, AnswerEvidence)
    metric_id : str
    scheme : Scheme, optional
    seed : int

    Raises
    ------
    Unavailable
        Where runs cannot be paired or share only one question (fewer than `MIN_QUESTIONS_OVER_BINS` for a sum
        over bins), or the metric is not defined.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    sides, keys = _pair_by_question(evidence_pairs, metric, scheme)
    terms = sides[0][0].terms
    distinct = pl.concat(keys).unique(maintain_order=True)
    clusters_by_pair = _key_positions(keys, distinct)
    if metric.pair_term is not None:
        one_run = all(first.run is second.run for first, second in evidence_pairs)
        return _mean_difference(sides, clusters_by_pair, metric, distinct.len(), one_run=one_run)
    if distinct.len() > MAX_INDIVIDUAL_UNITS:
        raise Unavailable(
            f"A paired difference of {metric.title_in_sentence} is available up to {MAX_INDIVIDUAL_UNITS:,} "
            f"{terms.questions}; these runs have {distinct.len():,}."
        )
    if metric.interval_method == "directional":
        return _directional_difference(sides, clusters_by_pair, metric, scheme, distinct.len(), seed)
    for evidence in (one for pair in evidence_pairs for one in pair):
        refuse_weights(evidence, f"The bootstrap of a difference of {metric.title_in_sentence}")
    weighted_metrics = [
        (
            _weighted_metric(first, metric, scheme, clusters),
            _weighted_metric(second, metric, scheme, clusters),
        )
        for (first, second), clusters in zip(sides, clusters_by_pair, strict=True)
    ]
    value = float(mean_difference(weighted_metrics, np.ones((1, distinct.len())))[0])
    if not np.isfinite(value):
        raise Unavailable(f"{metric.title} is not defined on the {terms.questions} both runs share.")
    if distinct.len() < 2:
        raise Unavailable(f"The runs share only one {terms.question}, so the difference has no interval.")
    draws = BOOTSTRAP_DRAWS_RECOMPUTED if weighted_form_for(metric, scheme) is None else BOOTSTRAP_DRAWS
    differences = np.concatenate(
        [
            mean_difference(weighted_metrics, weights)
            for weights in equal_weight_draws(distinct.len(), draws, seed)
        ]
    )
    ends = basic_interval(value, differences)
    if ends is None:
        raise Unavailable(
            f"{metric.title} is not defined in some bootstrap draws: there are too few {terms.questions}."
        )
    method = interval_method_text(draws, seed, "questions")
    p = p_value_of_interval(value, *ends)
    return PairedDifference(value, *ends, p, distinct.len(), len(evidence_pairs), draws, seed, method)


def difference_on_same_rows(
    first: AnswerEvidence,
    second: AnswerEvidence,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    seed: int = BOOTSTRAP_SEED,
) -> PairedDifference:
    """As `paired_difference`, of two confidences of the same answers, whose rows need no id.

    Parameters
    ----------
    first, second : AnswerEvidence
        Of the same rows of one run, with the same outcomes.
    metric_id : str
        A mean or a sum of |gap|.
    scheme : Scheme, optional
    seed : int

    Raises
    ------
    Unavailable
        With a single question, or too many bins.
    ValueError
        For other rows, outcomes or metrics.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    one, other = first.confidences.pairs, second.confidences.pairs
    if not (np.array_equal(one.rows, other.rows) and np.array_equal(one.correct, other.correct)):
        raise ValueError("the two confidences are not of the same answers")
    cluster = np.arange(one.n) if first.cluster is None else first.cluster
    n_questions = int(cluster.max(initial=-1)) + 1
    sides, clusters = [(first, second)], [cluster]
    if metric.pair_term is not None:
        return _mean_difference(sides, clusters, metric, n_questions, one_run=True)
    if metric.interval_method != "directional":
        raise ValueError(f"{metric_id} is neither a mean nor a sum of |gap|")
    return _directional_difference(sides, clusters, metric, scheme, n_questions, seed)


def _mean_difference(
    sides: Sequence[tuple[AnswerEvidence, AnswerEvidence]],
    clusters_by_pair: Sequence[NDArray[np.intp]],
    metric: Metric,
    n_questions: int,
    *,
    one_run: bool,
) -> PairedDifference:
    """The paired difference of a mean, by Student's t over questions."""
    values: list[float] = []
    errors, size = np.zeros(n_questions), np.zeros(n_questions)
    for (first, second), cluster in zip(sides, clusters_by_pair, strict=True):
        totals = [_totals_and_weights(one, metric, cluster, n_questions) for one in (first, second)]
        means = [float(total.sum() / weight.sum()) for total, weight in totals]
        values.append(means[1] - means[0])
        for sign, mean, (total, weight) in zip((-1, 1), means, totals, strict=True):
            errors += sign * (total - mean * weight) / weight.sum()
            size += weight / weight.sum()
    value, terms = float(np.mean(values)), sides[0][0].terms
    if not np.isfinite(value):
        raise Unavailable(f"{metric.title} is not defined on the {terms.questions} both runs share.")
    if n_questions < 2:
        raise Unavailable(f"The runs share only one {terms.question}, so the difference has no interval.")
    # Two methods of one run that judge the same answers cannot differ on another question either.
    may_differ = not one_run or any(
        not np.array_equal(first.pairs.correct, second.pairs.correct) for first, second in sides
    )
    influences = [
        influence_of_one_more(
            metric, side_of_one_more(metric, first.pairs), side_of_one_more(metric, second.pairs)
        )
        for first, second in sides
    ]
    one_more = float(np.mean(influences)) if may_differ else 0.0
    # Errors of a mean over questions are its deviations over their number.
    test = paired_test(value, errors / len(sides) * n_questions, weight=size, one_more=one_more)
    low, high = _within_range(metric, (test.low, test.high))
    text = f"t interval 95 % over questions{', one that speaks for both added' if one_more else ''}"
    return PairedDifference(value, low, high, test.p, n_questions, len(sides), 0, 0, text)


def influence_of_one_more(metric: Metric, first: float, second: float) -> float:
    """What a row of one more question that two answer differently would add to the difference of a metric.

    Parameters
    ----------
    metric : Metric
        A mean, or a smooth function of means over pairs.
    first, second : float
        What it depends on, as `side_of_one_more` gives it: the range of each side's mean; for the Brier skill
        score, each side's accuracy.

    Returns
    -------
    float
        0 if a term of the mean has no largest value.
    """
    mean = (first + second) / 2
    if metric.pair_term is None:  # the Brier skill score
        return 1 / (mean * (1 - mean)) if 0 < mean < 1 else 0.0
    return mean


def influences_of_one_more(metric: Metric, first: float, second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `influence_of_one_more` for one side and each of several others, shape (others,)."""
    mean = (first + second) / 2
    if metric.pair_term is None:
        inner = (mean > 0) & (mean < 1)
        return np.divide(1, mean * (1 - mean), out=np.zeros_like(mean), where=inner)
    return mean


def side_of_one_more(metric: Metric, pairs: Pairs) -> float:
    """What `influence_of_one_more` needs to know of one side: how far its mean can move, or its accuracy."""
    if metric.pair_term is None:
        return float(np.average(pairs.correct, weights=pairs.weight))
    least, most = _extreme_means(metric, pairs) or (0.0, 0.0)
    return most - least


def _directional_difference(
    sides: Sequence[tuple[AnswerEvidence, AnswerEvidence]],
    clusters_by_pair: Sequence[NDArray[np.intp]],
    metric: Metric,
    scheme: Scheme,
    n_questions: int,
    seed: int,
) -> PairedDifference:
    """The paired difference of a sum of |gap| over bins, by the directional delta method over questions."""
    terms = sides[0][0].terms
    worth = [
        effective_clusters(cluster, common_weight(first.weight, second.weight))
        for (first, second), cluster in zip(sides, clusters_by_pair, strict=True)
    ]
    if min(worth) < MIN_QUESTIONS_OVER_BINS * (1 - ROUNDING_TOLERANCE):
        raise Unavailable(
            f"Only {plural(n_questions, terms.question)} in common; a difference of "
            f"{metric.title_in_sentence} needs {MIN_QUESTIONS_OVER_BINS}."
        )
    parts = [
        metric_gaps(one, metric, scheme, cluster)
        for pair, cluster in zip(sides, clusters_by_pair, strict=True)
        for one in pair
    ]
    n_bins = [int(part.bin.max()) + 1 for part in parts]
    if sum(n_bins) > MAX_DIRECTIONAL_BINS:
        raise Unavailable(f"A paired difference is available up to {MAX_DIRECTIONAL_BINS:,} bins in all.")
    bins = joint_bin_means(parts, n_questions)
    sign = np.repeat([-1.0, 1.0] * len(sides), n_bins) / len(sides)
    lows, highs, p_values = directional_contrasts(bins, sign[None, :], seed=seed)
    low, high = _within_range(metric, (float(lows[0]), float(highs[0])))
    value = float(sign @ np.abs(bins.mean))
    fixed = ", bins held fixed" if scheme.binning != "width" else ""
    text = f"directional delta method 95 % over questions{fixed}, {DIFFERENCE_DRAWS} draws, seed {seed}"
    return PairedDifference(
        value, low, high, float(p_values[0]), n_questions, len(sides), DIFFERENCE_DRAWS, seed, text
    )


def common_weight(
    first: NDArray[np.float64] | None, second: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """The weights of rows that two share, whatever the unit of each; None where all count alike.

    Raises
    ------
    Unavailable
        If one of them weighs a row more than the other does: their difference would be one of weights, too.
    """
    if first is None and second is None:
        return None
    if (
        first is None
        or second is None
        or not np.allclose(first / first.sum(), second / second.sum(), rtol=1e-9, atol=0)
    ):
        raise Unavailable("The runs give the same questions different weights (column weight).")
    return first


def _within_range(metric: Metric, ends: tuple[float, float]) -> tuple[float, float]:
    """Ends of an interval of a difference, cut at the largest possible difference where that is known."""
    most = np.inf if metric.low is None or metric.high is None else metric.high - metric.low
    return max(ends[0], -most), min(ends[1], most)


def _totals_and_weights(
    evidence: AnswerEvidence, metric: Metric, cluster: NDArray[np.intp] | None, n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and divisor of a mean for each cluster, shape (n_clusters,); None: each row is one of its own."""
    if metric.pair_term is None:
        raise RuntimeError(f"{metric.id} has no terms")
    over_rows = metric.needs == "distribution" and metric.required_sums not in ORDERED_SUMS
    pairs = evidence.pairs_for(metric)
    terms = metric.pair_term(pairs.confidence.astype(np.float64, copy=False), pairs.correct)
    if metric.required_sums == "distances":
        terms = terms * evidence.length_of_scale
    if pairs.weight is not None:
        terms = terms * pairs.weight
    if cluster is None and pairs is evidence.confidences.pairs:  # of one pair a row nothing is added up
        one = np.broadcast_to(np.float64(1), terms.shape)
        return terms, one if pairs.weight is None else pairs.weight
    cluster = np.arange(n_clusters) if cluster is None else cluster
    unit_of_row = np.zeros(evidence.run.rows.height, np.intp)
    unit_of_row[evidence.confidences.pairs.rows] = cluster
    unit = unit_of_row[pairs.rows]
    total = np.bincount(unit, terms, n_clusters).astype(np.float64)
    weight = np.bincount(
        cluster if over_rows else unit,
        evidence.weight if over_rows else pairs.weight,
        minlength=n_clusters,
    )
    return total, weight.astype(np.float64)


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
            raise Unavailable(
                f"{first.run.label} and {second.run.label} share no usable {first.terms.question}."
            )
        sides.append((restrict_rows(first, at_first[usable]), restrict_rows(second, at_second[usable])))
        _ = common_weight(sides[-1][0].weight, sides[-1][1].weight)
        repeated = repeated_question_keys(first.run)
        question_keys = (
            question_keys if repeated is None else repeated.gather(pl.Series(at_first, dtype=pl.UInt32))
        )
        # Ids are unique within a data set only.
        keys.append(
            f"{first.run.info.dataset or ''}{KEY_SEPARATOR}" + question_keys.filter(pl.Series(usable))
        )
    if not sides:
        raise Unavailable("Choose at least two runs to compare.")
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
    own = np.ones(pairs.n)
    if pairs.weight is not None:
        own[unit_of_pair] = pairs.weight
    return lambda weights: form(units, weights[:, cluster_of_unit] * own)


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
    if cluster is not None or form is None or evidence.options.labels == "all" or evidence.weight is not None:
        return None
    pairs = evidence.pairs
    cell = bin_of(pairs.confidence, FINEST_BINS) * 2 + pairs.correct
    units, _unit = resampling_units(pairs, scheme, cell)
    return np.concatenate(
        [form(units, weights) for weights in multinomial_draws(units.count / n, n, BOOTSTRAP_DRAWS, seed)]
    )

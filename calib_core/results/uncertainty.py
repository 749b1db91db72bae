"""How far may a number be from what more questions would give, and two numbers from one another?

The basic (reflected) bootstrap, never the percentile one. It covers less than it says near 0, whatever one
does, so its ends are approximate and decide no verdict: that is the null's (null.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import FINEST_BINS, Scheme, bin_of
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
from calib_core.inference.clusters import cluster_numbers, effective_sample_size, repeated_question_keys
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.pairing import KEY_SEPARATOR, common_questions
from calib_core.metrics.metric import Metric, WeightedForm
from calib_core.results.evidence import AnswerEvidence, Evidence, get_metric, restrict_rows
from calib_core.results.score import effective_scheme

# MERGED reweighted: What would a metric be if each row counted so many times?  The inside of every bootstrap.


def form_of(metric: Metric, scheme: Scheme) -> WeightedForm | None:
    """The metric as a product of weights, or None: bins of equal mass move with every draw."""
    return metric.weighted_form if not metric.binned or scheme.binning == "width" else None


def recompute_metric(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, positions: NDArray[np.intp]
) -> float:
    """The metric over these usable rows, positions in the evidence's pairs; NaN where it is not defined."""
    said = evidence.confidences
    if metric.needs == "pairs" and evidence.options.labels == "top":
        sums = said.pairs.take(positions).sums()
    elif said.distribution is None:
        raise RuntimeError("pairs of all labels, or of all classes, without a distribution")
    elif metric.needs == "pairs":
        sums = said.distribution.take(positions).all_label_pairs().sums()
    else:
        sums = said.distribution.take(positions).sums()
        sums = sums if metric.required_sums == "classes" else sums.pooled()
    value = metric.compute(sums, scheme)
    return np.nan if value is None else value


def metric_interval(
    evidence: Evidence, metric_id: str, scheme: Scheme | None = None, *, seed: int = BOOTSTRAP_SEED
) -> Interval | None:
    """The interval of a metric: Wilson's of the accuracy, else the bootstrap's over rows, cut at its range.

    Pairs of one confidence a row are drawn by rows, or by cells beyond EACH rows; metrics of all classes or
    all labels by rows. None where the number is not defined, only bounds are known, there is one row only
    (every draw is that row), or there are no single rows to draw (token-level sums, whose positions depend on
    one another; too many rows for a metric that has to be added up anew). Where the file asks questions again
    (`trials`) questions are drawn, up to EACH of them, and Wilson's rows are as many as theirs are worth.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    if (
        not isinstance(evidence, AnswerEvidence)
        or not evidence.n_used
        or evidence.unavailable_reason(metric, scheme)
    ):
        return None
    question = cluster_numbers(evidence.run, evidence.confidences.pairs.rows)
    if metric.interval_method == "wilson":
        return _accuracy_interval(evidence.confidences.pairs.correct, question)
    value = metric.compute(evidence.sums_for(metric, scheme), scheme)
    units = evidence.n_used if question is None else int(question.max()) + 1
    if value is None or not np.isfinite(value) or units < 2:
        return None
    drawn = _bootstrap_values(evidence, metric, scheme, seed, question)
    ends = None if drawn is None else basic_interval(value, drawn)
    if drawn is None or ends is None:
        return None
    # Reflected at a number near a limit both ends may lie beyond it.
    least = -np.inf if metric.low is None else metric.low
    most = np.inf if metric.high is None else metric.high
    low, high = (min(max(end, least), most) for end in ends)
    of = "rows" if question is None else f"{units:,} questions asked again"
    return Interval(low, high, drawn.size, seed, interval_method_text(drawn.size, seed, of))


def _accuracy_interval(correct: NDArray[np.bool_], cluster: NDArray[np.intp] | None) -> Interval:
    """Wilson's interval; question: of each row where some come again, None where none does."""
    rows = float(correct.size) if cluster is None else effective_sample_size(correct, cluster)
    low, high = wilson_interval(np.array([correct.mean() * rows]), np.array([rows]))
    of = "" if cluster is None else f" of {int(cluster.max()) + 1:,} questions asked again"
    return Interval(float(low[0]), float(high[0]), 0, 0, f"Wilson 95 %{of}")


def paired_difference(
    evidence_pairs: Sequence[tuple[AnswerEvidence, AnswerEvidence]],
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    seed: int = BOOTSTRAP_SEED,
) -> PairedDifference:
    """How much larger the metric is in the second of each pair than in the first, on the same questions.

    Each pair stands on the questions that both runs hold and both give a confidence and an outcome for. The
    bootstrap draws questions: all rows of one go together, in both runs and in all pairs of one data set.
    Raises Unavailable where runs cannot be paired, share one question only, or the number is not defined.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    sides, keys = _pair_by_question(evidence_pairs, metric, scheme)
    distinct = pl.concat(keys).unique(maintain_order=True)
    if distinct.len() > MAX_INDIVIDUAL_UNITS:
        raise Unavailable(
            f"A paired difference is offered up to {MAX_INDIVIDUAL_UNITS:,} questions, not {distinct.len():,}."
        )
    questions = _key_positions(keys, distinct)
    redraws = [
        (_weighted_metric(first, metric, scheme, of), _weighted_metric(second, metric, scheme, of))
        for (first, second), of in zip(sides, questions, strict=True)
    ]
    value = float(mean_difference(redraws, np.ones((1, distinct.len())))[0])
    if not np.isfinite(value):
        raise Unavailable(f"{metric.title} is not defined on the questions that both have.")
    if distinct.len() < 2:
        raise Unavailable("Only one question is in both: its difference has no interval.")
    draws = BOOTSTRAP_DRAWS_RECOMPUTED if form_of(metric, scheme) is None else BOOTSTRAP_DRAWS
    drawn = np.concatenate(
        [mean_difference(redraws, weights) for weights in equal_weight_draws(distinct.len(), draws, seed)]
    )
    ends = basic_interval(value, drawn)
    if ends is None:
        raise Unavailable(f"{metric.title} is not defined in some draws of so few questions.")
    how = interval_method_text(draws, seed, "questions")
    return PairedDifference(value, *ends, distinct.len(), len(evidence_pairs), draws, seed, how)


def _key_positions(keys: Sequence[pl.Series], distinct: pl.Series) -> list[NDArray[np.intp]]:
    """Where each key stands among the distinct ones."""
    place = pl.DataFrame({"key": distinct, "at": np.arange(distinct.len())})
    return [key.to_frame("key").join(place, on="key", maintain_order="left")["at"].to_numpy() for key in keys]


def _pair_by_question(
    evidence_pairs: Sequence[tuple[AnswerEvidence, AnswerEvidence]], metric: Metric, scheme: Scheme
) -> tuple[list[tuple[AnswerEvidence, AnswerEvidence]], list[pl.Series]]:
    """Both evidences of each pair on the rows that both use, row by row the same question, and its key."""
    sides: list[tuple[AnswerEvidence, AnswerEvidence]] = []
    keys: list[pl.Series] = []
    for first, second in evidence_pairs:
        for one in (first, second):
            if reason := one.unavailable_reason(metric, scheme):
                raise Unavailable(f"{one.run.label}: {reason}")
        at_first, at_second, key = common_questions(first.run, second.run)
        both = np.isin(at_first, first.confidences.pairs.rows) & np.isin(
            at_second, second.confidences.pairs.rows
        )
        if not both.any():
            raise Unavailable(f"{first.run.label} and {second.run.label} share no usable question.")
        sides.append((restrict_rows(first, at_first[both]), restrict_rows(second, at_second[both])))
        again = repeated_question_keys(first.run)
        key = key if again is None else again.gather(pl.Series(at_first, dtype=pl.UInt32))
        # Ids count anew in each data set.
        keys.append(f"{first.run.info.dataset or ''}{KEY_SEPARATOR}" + key.filter(pl.Series(both)))
    if not sides:
        raise Unavailable("There is no pair of runs to compare.")
    return sides, keys


def _weighted_metric(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, cluster: NDArray[np.intp]
) -> WeightedMetric:
    """How the metric of one evidence follows from weights; question: of each of its rows."""
    form = form_of(metric, scheme)
    if form is None:
        return lambda weights: np.array(
            [
                recompute_metric(
                    evidence,
                    metric,
                    scheme,
                    np.repeat(np.arange(cluster.size), each[cluster].astype(np.intp)),
                )
                for each in weights
            ]
        )
    pairs = evidence.pairs
    units, unit = resampling_units(pairs, scheme, np.arange(pairs.n))
    of_unit = np.empty(pairs.n, np.intp)
    of_unit[unit] = cluster[pairs.rows]
    return lambda weights: form(units, weights[:, of_unit])


def _bootstrap_values(
    evidence: AnswerEvidence,
    metric: Metric,
    scheme: Scheme,
    seed: int,
    cluster: NDArray[np.intp] | None,
) -> NDArray[np.float64] | None:
    """The metric in each draw of as many rows, or questions; None where these are too many.

    question: of each usable row where some come again, None where none does.
    """
    n = evidence.n_used if cluster is None else int(cluster.max()) + 1
    if n <= MAX_INDIVIDUAL_UNITS:
        used = restrict_rows(evidence, evidence.confidences.pairs.rows)
        redraw = _weighted_metric(used, metric, scheme, np.arange(n) if cluster is None else cluster)
        draws = BOOTSTRAP_DRAWS_RECOMPUTED if form_of(metric, scheme) is None else BOOTSTRAP_DRAWS
        return np.concatenate([redraw(weights) for weights in equal_weight_draws(n, draws, seed)])
    form = form_of(metric, scheme)
    if cluster is not None or form is None or evidence.options.labels == "all":
        return None
    pairs = evidence.pairs
    cell = bin_of(pairs.confidence, FINEST_BINS) * 2 + pairs.correct
    units, _unit = resampling_units(pairs, scheme, cell)
    return np.concatenate(
        [form(units, weights) for weights in multinomial_draws(units.count / n, n, BOOTSTRAP_DRAWS, seed)]
    )

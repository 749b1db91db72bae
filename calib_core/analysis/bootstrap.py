"""How far may a number be from what more questions would give, and two numbers from one another?

The basic (reflected) bootstrap, never the percentile one. It covers less than it says near 0, whatever one
does, so its ends are approximate and decide no verdict: that is the null's (null.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.analysis.evidence import AnswerEvidence, Evidence, metric_of
from calib_core.analysis.intervals import wilson
from calib_core.analysis.pairing import BETWEEN, common
from calib_core.analysis.resampling import equally_weighted, weighted
from calib_core.analysis.restricted import restricted
from calib_core.analysis.reweighted import added_up_anew, form_of, units_of
from calib_core.analysis.score import scheme_for
from calib_core.analysis.trials import asked_again, question_numbers, worth
from calib_core.binned import FINEST
from calib_core.bins import Scheme, bin_of
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable

DRAWS: Final = 999
FEWER: Final = 199
"""Draws of a metric that is a product of the weights, and of one that has to be added up anew each time."""

BOOTSTRAP_SEED: Final = 0
"""Of the draws, where no other is asked for."""

EACH: Final = 20_000
"""Up to so many rows each is drawn by itself; more are drawn by cells of 1/3000 and outcome."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval. how: "Wilson 95 %", or the bootstrap with its draws and seed (0 and 0 for Wilson)."""

    low: float
    high: float
    draws: int
    seed: int
    how: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean paired difference with its 95 % interval.

    value: mean over the pairs of runs of second − first; questions: distinct ones it rests on; pairs: of
    runs.
    """

    value: float
    low: float
    high: float
    questions: int
    pairs: int
    draws: int
    seed: int
    how: str


def interval(
    evidence: Evidence, metric_id: str, scheme: Scheme | None = None, *, seed: int = BOOTSTRAP_SEED
) -> Interval | None:
    """The interval of a metric: Wilson's of the accuracy, else the bootstrap's over rows, cut at its range.

    Pairs of one confidence a row are drawn by rows, or by cells beyond EACH rows; metrics of all classes or
    all labels by rows. None where the number is not defined, only bounds are known, there is one row only
    (every draw is that row), or there are no single rows to draw (token-level sums, whose positions depend on
    one another; too many rows for a metric that has to be added up anew). Where the file asks questions again
    (`trials`) questions are drawn, up to EACH of them, and Wilson's rows are as many as theirs are worth.
    """
    metric = metric_of(metric_id)
    scheme = scheme_for(metric, scheme or Scheme())
    if not isinstance(evidence, AnswerEvidence) or not evidence.n_used or evidence.refusal(metric, scheme):
        return None
    question = question_numbers(evidence.run, evidence.confidences.pairs.rows)
    if metric.interval == "wilson":
        return _of_accuracy(evidence.confidences.pairs.correct, question)
    value = metric.of(evidence.sums_for(metric, scheme), scheme)
    units = evidence.n_used if question is None else int(question.max()) + 1
    if value is None or not np.isfinite(value) or units < 2:
        return None
    drawn = _drawn(evidence, metric, scheme, seed, question)
    ends = None if drawn is None else _reflected(value, drawn)
    if drawn is None or ends is None:
        return None
    # Reflected at a number near a limit both ends may lie beyond it.
    least = -np.inf if metric.low is None else metric.low
    most = np.inf if metric.high is None else metric.high
    low, high = (min(max(end, least), most) for end in ends)
    of = "rows" if question is None else f"{units:,} questions asked again"
    return Interval(low, high, drawn.size, seed, _how(drawn.size, seed, of))


def _of_accuracy(correct: NDArray[np.bool_], question: NDArray[np.intp] | None) -> Interval:
    """Wilson's interval; question: of each row where some come again, None where none does."""
    rows = float(correct.size) if question is None else worth(correct, question)
    low, high = wilson(np.array([correct.mean() * rows]), np.array([rows]))
    of = "" if question is None else f" of {int(question.max()) + 1:,} questions asked again"
    return Interval(float(low[0]), float(high[0]), 0, 0, f"Wilson 95 %{of}")


def difference(
    pairs: Sequence[tuple[AnswerEvidence, AnswerEvidence]],
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    seed: int = BOOTSTRAP_SEED,
) -> Difference:
    """How much larger the metric is in the second of each pair than in the first, on the same questions.

    Each pair stands on the questions that both runs hold and both give a confidence and an outcome for. The
    bootstrap draws questions: all rows of one go together, in both runs and in all pairs of one data set.
    Raises Unavailable where runs cannot be paired, share one question only, or the number is not defined.
    """
    metric = metric_of(metric_id)
    scheme = scheme_for(metric, scheme or Scheme())
    sides, keys = _paired(pairs, metric, scheme)
    distinct = pl.concat(keys).unique(maintain_order=True)
    if distinct.len() > EACH:
        raise Unavailable(f"A paired difference is offered up to {EACH:,} questions, not {distinct.len():,}.")
    questions = _places(keys, distinct)
    redraws = [
        (_redraw(first, metric, scheme, of), _redraw(second, metric, scheme, of))
        for (first, second), of in zip(sides, questions, strict=True)
    ]
    value = float(_mean_difference(redraws, np.ones((1, distinct.len())))[0])
    if not np.isfinite(value):
        raise Unavailable(f"{metric.title} is not defined on the questions that both have.")
    if distinct.len() < 2:
        raise Unavailable("Only one question is in both: its difference has no interval.")
    draws = FEWER if form_of(metric, scheme) is None else DRAWS
    drawn = np.concatenate([
        _mean_difference(redraws, weights)
        for weights in equally_weighted(distinct.len(), draws, seed)
    ])
    ends = _reflected(value, drawn)
    if ends is None:
        raise Unavailable(f"{metric.title} is not defined in some draws of so few questions.")
    how = _how(draws, seed, "questions")
    return Difference(value, *ends, distinct.len(), len(pairs), draws, seed, how)


def _places(keys: Sequence[pl.Series], distinct: pl.Series) -> list[NDArray[np.intp]]:
    """Where each key stands among the distinct ones."""
    place = pl.DataFrame({"key": distinct, "at": np.arange(distinct.len())})
    return [key.to_frame("key").join(place, on="key", maintain_order="left")["at"].to_numpy() for key in keys]


Redraw = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Weights of the questions, shape (draws, questions) → the metric in each draw, shape (draws,)."""


def _paired(
    pairs: Sequence[tuple[AnswerEvidence, AnswerEvidence]], metric: Metric, scheme: Scheme
) -> tuple[list[tuple[AnswerEvidence, AnswerEvidence]], list[pl.Series]]:
    """Both evidences of each pair on the rows that both use, row by row the same question, and its key."""
    sides: list[tuple[AnswerEvidence, AnswerEvidence]] = []
    keys: list[pl.Series] = []
    for first, second in pairs:
        for one in (first, second):
            if reason := one.refusal(metric, scheme):
                raise Unavailable(f"{one.run.label}: {reason}")
        at_first, at_second, key = common(first.run, second.run)
        both = np.isin(at_first, first.confidences.pairs.rows) & np.isin(
            at_second, second.confidences.pairs.rows
        )
        if not both.any():
            raise Unavailable(f"{first.run.label} and {second.run.label} share no usable question.")
        sides.append((restricted(first, at_first[both]), restricted(second, at_second[both])))
        again = asked_again(first.run)
        key = key if again is None else again.gather(pl.Series(at_first, dtype=pl.UInt32))
        # Ids count anew in each data set.
        keys.append(f"{first.run.info.dataset or ''}{BETWEEN}" + key.filter(pl.Series(both)))
    if not sides:
        raise Unavailable("There is no pair of runs to compare.")
    return sides, keys


def _redraw(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, question: NDArray[np.intp]
) -> Redraw:
    """How the metric of one evidence follows from weights; question: of each of its rows."""
    form = form_of(metric, scheme)
    if form is None:
        return lambda weights: np.array([
            added_up_anew(
                evidence, metric, scheme, np.repeat(np.arange(question.size), each[question].astype(np.intp))
            )
            for each in weights
        ])
    pairs = evidence.pairs
    units, unit = units_of(pairs, scheme, np.arange(pairs.n))
    of_unit = np.empty(pairs.n, np.intp)
    of_unit[unit] = question[pairs.rows]
    return lambda weights: form(units, weights[:, of_unit])


def _drawn(
    evidence: AnswerEvidence,
    metric: Metric,
    scheme: Scheme,
    seed: int,
    question: NDArray[np.intp] | None,
) -> NDArray[np.float64] | None:
    """The metric in each draw of as many rows, or questions; None where these are too many.

    question: of each usable row where some come again, None where none does.
    """
    n = evidence.n_used if question is None else int(question.max()) + 1
    if n <= EACH:
        used = restricted(evidence, evidence.confidences.pairs.rows)
        redraw = _redraw(used, metric, scheme, np.arange(n) if question is None else question)
        draws = FEWER if form_of(metric, scheme) is None else DRAWS
        return np.concatenate([redraw(weights) for weights in equally_weighted(n, draws, seed)])
    form = form_of(metric, scheme)
    if question is not None or form is None or evidence.options.labels == "all":
        return None
    pairs = evidence.pairs
    cell = bin_of(pairs.confidence, FINEST) * 2 + pairs.correct
    units, _unit = units_of(pairs, scheme, cell)
    return np.concatenate([form(units, weights) for weights in weighted(units.count / n, n, DRAWS, seed)])


def _mean_difference(
    redraws: Sequence[tuple[Redraw, Redraw]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.mean([second(weights) - first(weights) for first, second in redraws], axis=0)


def _reflected(value: float, drawn: NDArray[np.float64]) -> tuple[float, float] | None:
    """2·value − the 97.5 % and 2.5 % points of the draws; None where a draw is not defined."""
    if not np.isfinite(drawn).all():
        return None
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(2 * value - high), float(2 * value - low)


def _how(draws: int, seed: int, of: str) -> str:
    return f"basic bootstrap 95 % over {of}, {draws} draws, seed {seed}, approximate"

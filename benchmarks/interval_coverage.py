"""Measure the coverage of the 95 % intervals: how often they contain the true value.

Draws data sets from known distributions, computes the intervals as the program does, and writes
interval_coverage.md beside this script. The true value is that of two million confidences and their true
probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import binom

from calib_core.edges import Scheme, bin_of
from calib_core.inference.bootstrap import BOOTSTRAP_DRAWS, basic_interval, equal_weight_draws
from calib_core.inference.cluster_draws import MIN_CLUSTERS, correlated_uniforms
from calib_core.inference.intervals import mean_interval, wilson_interval
from calib_core.inference.paired_test import MIN_QUESTIONS_OVER_BINS
from calib_core.metrics import METRICS
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.uncertainty import MIN_OF_EACH_OUTCOME, metric_interval, paired_difference
from calib_core.runs import AnswerRun, RowCounts, RunInfo
from core.run_builders import choice_evidence

SEED: Final = 20261121
REPEATS: Final = 100
REPEATS_WITHOUT_BINS: Final = 400
ROWS: Final = (30, 100, 300, 1_000, 10_000)
ROWS_OF_PAIRS: Final = (30, MIN_QUESTIONS_OVER_BINS, 100, 300, 1_000, 10_000)
MAX_ROWS_OF_CLASSES: Final = 1_000
CLUSTERS: Final = (30, 60, 200)
TRIALS: Final = 5
CLASSES: Final = 4
LEVELS: Final = 5
ENDLESS: Final = 2_000_000
TOP_LABEL: Final = ("ece", "ace", "brier", "bias", "auroc")
OF_STATED: Final = ("ece", "brier", "bias", "accuracy")
ROWS_OF_STATED: Final = (30, 60, 100, 300, 1_000)
OF_CLUSTERS: Final = ("ece", "brier", "bias", "accuracy", "auroc")
ACCURACIES: Final = ((0.5, 0.9), (0.9, 0.97), (0.97, 0.99), (0.99, 0.999))
"""Between these, Wilson's interval is measured at `STEPS` accuracies."""
STEPS: Final = 1_000
PAIRED_BINNED: Final = ("ece",)
PAIRED_MEANS: Final = ("accuracy", "brier")
FEWER_REPEATS: Final = 100
OF_SCALES: Final = ("rps", "expectation_error")
ALL_CLASSES: Final = ("full_ece", "full_ece_mass", "cw_ece_sum", "brier_multi", "nll")
SCHEME: Final = Scheme()

Confidences = Callable[[np.random.Generator, int], NDArray[np.float64]]


def from_half(random: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Uniform confidences from ½ to 1."""
    return 0.5 + 0.5 * random.random(n)


@dataclass(frozen=True)
class Truth:
    """Rows that are right with their confidence minus `off`, which `swing` varies."""

    title: str
    off: float
    swing: float = 0.0
    confidences: Confidences = from_half

    def chance(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of being right."""
        return np.clip(confidence - self.off - self.swing * np.sin(4 * np.pi * confidence), 0, 1)

    def drawn(self, n: int, random: np.random.Generator) -> AnswerEvidence:
        """A number of independent rows."""
        confidence = self.confidences(random, n)
        return evidence_of(confidence, random.random(n) < self.chance(confidence))

    def drawn_clusters(self, n: int, shared: float, random: np.random.Generator) -> AnswerEvidence:
        """Questions asked several times, whose answers are as alike as λ = `shared` makes them."""
        cluster = np.repeat(np.arange(n), TRIALS)
        confidence = self.confidences(random, n)[cluster]
        correct = correlated_uniforms(random, cluster, shared) < self.chance(confidence)
        return evidence_of(confidence, correct, [f"q{question}" for question in cluster])

    @cached_property
    def endless(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sorted confidences, and the sum of c − chance below each, over their number."""
        c = np.sort(self.confidences(np.random.default_rng(SEED), ENDLESS))
        return c, np.concatenate([[0.0], np.cumsum(c - self.chance(c))]) / ENDLESS

    @cached_property
    def means(self) -> dict[str, float]:
        """The true value of each metric without bins."""
        c = self.endless[0]
        chance = self.chance(c)
        wrong_below = np.cumsum(1 - chance) - (1 - chance) / 2
        return {
            "accuracy": float(chance.mean()),
            "brier": float(np.mean((c - chance) ** 2 + chance * (1 - chance))),
            "bias": float(np.mean(c - chance)),
            "auroc": float(chance @ wrong_below / (chance.sum() * (1 - chance).sum())),
        }

    def value(self, metric: str, evidence: AnswerEvidence) -> float:
        """The true value; that of ACE is for the bins of this data set."""
        c, gap = self.endless
        if metric in self.means:
            return self.means[metric]
        edges = np.arange(1, SCHEME.bins) / SCHEME.bins
        if metric == "ace":
            binned = evidence.sums.binned(Scheme("mass", SCHEME.bins))
            edges = (binned.high[:-1] + binned.low[1:]) / 2
        at = np.concatenate([[0], np.searchsorted(c, edges, side="right"), [c.size]])
        return float(np.abs(np.diff(gap[at])).sum())


def evidence_of(
    confidence: NDArray[np.float64],
    correct: NDArray[np.bool_],
    trial_of: Sequence[str] | None = None,
    *,
    ids: Sequence[str] | None = None,
    model: str | None = None,
) -> AnswerEvidence:
    """The evidence of a table with these columns."""
    columns = {"row": np.arange(1, confidence.size + 1), "confidence": confidence, "correct": correct}
    texts = {"trial_of": trial_of, "id": ids}
    rows = pl.DataFrame(columns | {name: values for name, values in texts.items() if values is not None})
    run = AnswerRun(
        "made", "table", model or "made", RunInfo(model=model), rows, RowCounts(n_rows=confidence.size)
    )
    return gather_evidence(run, "given")


TRUTHS: Final = (
    Truth("exactly right", 0.0),
    Truth("0.02 too sure", 0.02),
    Truth("0.10 too sure", 0.10),
    Truth("too sure here, too unsure there", 0.0, 0.10),
    Truth("exactly right, mostly above 0.9", 0.0, 0.0, lambda random, n: random.beta(20, 1, n)),
    Truth("0.05 too sure, mostly above 0.9", 0.05, 0.0, lambda random, n: random.beta(20, 1, n)),
)


def stated(*values: float) -> Confidences:
    """One of a few confidences."""
    return lambda random, n: random.choice(values, n)


STATED: Final = (
    Truth("exactly right, .6, .8 or .95", 0.0, 0.0, stated(0.6, 0.8, 0.95)),
    Truth("0.05 too sure, .6, .8 or .95", 0.05, 0.0, stated(0.6, 0.8, 0.95)),
    Truth("exactly right, all .7", 0.0, 0.0, stated(0.7)),
    Truth("0.05 too sure, all .7", 0.05, 0.0, stated(0.7)),
    Truth("exactly right, all .99", 0.0, 0.0, stated(0.99)),
    Truth("0.02 too sure, all .99", 0.02, 0.0, stated(0.99)),
    Truth("0.02 too sure, .95, .99 or 1", 0.02, 0.0, stated(0.95, 0.99, 1.0)),
)
"""Few values, among them extreme ones."""


PAIRS: Final = (
    ("equal models, exactly right", TRUTHS[0], TRUTHS[0]),
    ("exactly right, 0.10 too sure", TRUTHS[0], TRUTHS[2]),
    ("0.02 too sure, swing", TRUTHS[1], TRUTHS[3]),
    ("exactly right, 0.05 too sure, mostly above 0.9", TRUTHS[4], TRUTHS[5]),
)


@dataclass(frozen=True)
class ClassTruth:
    """Rows with four choices, whose true probabilities are the stated ones to a power, rescaled."""

    title: str
    power: float

    def stated(self, n: int, random: np.random.Generator) -> NDArray[np.float64]:
        """Stated probabilities, shape (n, K)."""
        return random.dirichlet(np.full(CLASSES, 0.5), n)

    def true(self, stated: NDArray[np.float64]) -> NDArray[np.float64]:
        """True probabilities, shape (n, K)."""
        powered = stated**self.power
        return powered / powered.sum(axis=1, keepdims=True)

    @cached_property
    def values(self) -> dict[str, float]:
        """The true value of each metric."""
        stated = self.stated(ENDLESS // 4, np.random.default_rng(SEED))
        gap = stated - self.true(stated)
        bin_ = bin_of(stated.ravel(), SCHEME.bins)
        by_class = bin_ + SCHEME.bins * np.tile(np.arange(CLASSES), stated.shape[0])

        def total(key: NDArray[np.intp], weight: NDArray[np.float64]) -> float:
            return float(np.abs(np.bincount(key, weight.ravel())).sum()) / stated.shape[0]

        return {
            "full_ece": total(bin_, gap),
            "full_ece_mass": total(bin_, gap * stated),
            "cw_ece_sum": total(by_class, gap),
            "brier_multi": float((gap**2 + self.true(stated) * (1 - self.true(stated))).sum())
            / stated.shape[0],
            "nll": float(-(self.true(stated) * np.log(stated)).sum()) / stated.shape[0],
        }

    def drawn(self, n: int, random: np.random.Generator) -> AnswerEvidence:
        """A number of rows."""
        stated = self.stated(n, random)
        upto = np.cumsum(self.true(stated), axis=1)
        gold = np.minimum((random.random((n, 1)) >= upto).sum(axis=1), CLASSES - 1)
        return choice_evidence(stated.tolist(), gold.tolist())


CLASS_TRUTHS: Final = (ClassTruth("exactly right", 1.0), ClassTruth("too extreme, power 0.7", 0.7))


@dataclass(frozen=True)
class ScaleTruth:
    """Rows on five levels, whose probabilities fall off around a place on the scale.

    Of the rows, a share of `missed` has any level, whatever is stated.
    """

    title: str
    spread: float
    power: float = 1.0
    missed: float = 0.0

    def stated(self, n: int, random: np.random.Generator) -> NDArray[np.float64]:
        """Stated probabilities, shape (n, levels)."""
        place = random.uniform(0, LEVELS - 1, (n, 1))
        weight = np.exp(-np.abs(np.arange(LEVELS) - place) / self.spread)
        return weight / weight.sum(axis=1, keepdims=True)

    def true(self, stated: NDArray[np.float64]) -> NDArray[np.float64]:
        """True probabilities, shape (n, levels)."""
        powered = stated**self.power
        return (1 - self.missed) * powered / powered.sum(axis=1, keepdims=True) + self.missed / LEVELS

    @cached_property
    def values(self) -> dict[str, float]:
        """The true value of each metric."""
        stated = self.stated(ENDLESS // 4, np.random.default_rng(SEED))
        true, level = self.true(stated), np.arange(LEVELS)
        below, true_below = (np.cumsum(of, axis=1)[:, :-1] for of in (stated, true))
        distance = np.abs((stated @ level)[:, None] - level)
        return {
            "rps": float(((below - true_below) ** 2 + true_below * (1 - true_below)).mean()),
            "expectation_error": float((true * distance).sum(axis=1).mean()),
        }

    def drawn(self, n: int, trials: int, shared: float, random: np.random.Generator) -> AnswerEvidence:
        """Questions asked once, or several times with right levels as alike as λ = `shared` makes them."""
        cluster = np.repeat(np.arange(n), trials)
        stated = self.stated(n, random)[cluster]
        luck = correlated_uniforms(random, cluster, shared) if trials > 1 else random.random(n)
        gold = np.minimum((luck[:, None] >= np.cumsum(self.true(stated), axis=1)).sum(axis=1), LEVELS - 1)
        columns = {"row": np.arange(1, gold.size + 1), "gold_index": gold.astype(np.int32)}
        rows = pl.DataFrame(columns).with_columns(choice_probs=pl.Series(stated.tolist()))
        if trials > 1:
            rows = rows.with_columns(trial_of=pl.Series([f"q{question}" for question in cluster]))
        info = RunInfo(choices_are="levels")
        return gather_evidence(
            AnswerRun("made", "table", "made", info, rows, RowCounts(n_rows=rows.height)), "choice"
        )


SCALE_TRUTHS: Final = (
    ScaleTruth("exactly right", 0.7),
    ScaleTruth("too extreme, power 0.5", 0.7, 0.5),
    ScaleTruth("sure, one in fifty missed", 0.2, 1.0, 0.02),
)


@dataclass
class Measured:
    """Coverage of one metric's interval in one setting.

    Attributes
    ----------
    truth, metric : str
    n : int
        Rows, or questions.
    covers : float
        Share of the data sets whose interval contains the true value; NaN where none is shown.
    width : float
        Mean width.
    holds_estimate : bool
        Whether every interval contains its own estimate.
    """

    truth: str
    metric: str
    n: int
    covers: float
    width: float
    holds_estimate: bool


def measure(
    title: str,
    metrics: Sequence[str],
    n: int,
    draw: Callable[[np.random.Generator], AnswerEvidence],
    value: Callable[[str, AnswerEvidence], float],
) -> Iterator[Measured]:
    """The coverage of some metrics' intervals over the same data sets; more of them without bins."""
    binned = [id_ for id_ in metrics if METRICS[id_].binned]
    yield from _measure(title, binned, n, REPEATS, draw, value)
    others = [id_ for id_ in metrics if id_ not in binned]
    yield from _measure(title, others, n, REPEATS_WITHOUT_BINS, draw, value)


def _measure(
    title: str,
    metrics: Sequence[str],
    n: int,
    repeats: int,
    draw: Callable[[np.random.Generator], AnswerEvidence],
    value: Callable[[str, AnswerEvidence], float],
) -> Iterator[Measured]:
    random = np.random.default_rng([SEED, n, len(title)])
    hits: dict[str, list[bool]] = {metric: [] for metric in metrics}
    widths: dict[str, list[float]] = {metric: [] for metric in metrics}
    holds = dict.fromkeys(metrics, True)
    for _ in range(repeats if metrics else 0):
        evidence = draw(random)
        for id_ in metrics:
            interval, metric = metric_interval(evidence, id_), METRICS[id_]
            if interval is None:
                continue
            hits[id_].append(interval.low <= value(id_, evidence) <= interval.high)
            widths[id_].append(interval.high - interval.low)
            scheme = Scheme("mass") if metric.binning == "mass" else SCHEME
            estimate = metric.compute(evidence.sums_for(metric, scheme), scheme)
            holds[id_] &= estimate is not None and interval.low <= estimate <= interval.high
    for id_ in metrics:
        shown = bool(hits[id_])
        covers, width = (float(np.mean(of[id_])) if shown else np.nan for of in (hits, widths))
        yield Measured(title, id_, n, covers, width, holds[id_])


def measure_rows() -> Iterator[Measured]:
    """One confidence a row."""
    for truth in TRUTHS:
        for n in ROWS:
            yield from measure(
                truth.title, TOP_LABEL, n, lambda random, t=truth, n=n: t.drawn(n, random), truth.value
            )


def measure_stated() -> Iterator[Measured]:
    """One confidence a row, of which there are few."""
    for truth in STATED:
        for n in ROWS_OF_STATED:
            yield from measure(
                truth.title, OF_STATED, n, lambda random, t=truth, n=n: t.drawn(n, random), truth.value
            )


def measure_clusters() -> Iterator[Measured]:
    """Questions asked several times."""
    for truth in (*TRUTHS[:3], TRUTHS[5]):
        for shared in (1.0, 0.7):
            title = f"{truth.title}, trials {'identical' if shared == 1 else 'partly alike'}"
            for n in CLUSTERS:
                yield from measure(
                    title,
                    OF_CLUSTERS,
                    n,
                    lambda random, t=truth, n=n, s=shared: t.drawn_clusters(n, s, random),
                    truth.value,
                )


def measure_classes() -> Iterator[Measured]:
    """Four choices a row."""
    for truth in CLASS_TRUTHS:
        for n in ROWS:
            if n <= MAX_ROWS_OF_CLASSES:
                yield from measure(
                    truth.title,
                    ALL_CLASSES,
                    n,
                    lambda random, t=truth, n=n: t.drawn(n, random),
                    lambda metric, _evidence, t=truth: t.values[metric],
                )


def measure_scales() -> Iterator[Measured]:
    """Five levels a row."""
    for truth in SCALE_TRUTHS:
        for n in ROWS:
            if n <= MAX_ROWS_OF_CLASSES:
                yield from measure_scale(truth.title, truth, n, 1, 0.0)


def measure_scale_clusters() -> Iterator[Measured]:
    """Five levels a row, and questions asked several times."""
    for truth in SCALE_TRUTHS:
        for shared in (1.0, 0.7):
            title = f"{truth.title}, trials {'identical' if shared == 1 else 'partly alike'}"
            for n in CLUSTERS:
                yield from measure_scale(title, truth, n, TRIALS, shared)


def measure_scale(title: str, truth: ScaleTruth, n: int, trials: int, shared: float) -> Iterator[Measured]:
    """The metrics of a scale in one setting."""
    yield from measure(
        title,
        OF_SCALES,
        n,
        lambda random: truth.drawn(n, trials, shared, random),
        lambda metric, _evidence: truth.values[metric],
    )


def measure_log_loss() -> Iterator[Measured]:
    """Student's t over rows of the log loss of pairs, which has no interval in the program."""
    for truth in TRUTHS:
        c = np.clip(truth.endless[0], np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
        chance = truth.chance(c)
        true = float(-(chance * np.log(c) + (1 - chance) * np.log1p(-c)).mean())
        for n in ROWS:
            random = np.random.default_rng([SEED, n, len(truth.title), 2])
            hits: list[bool] = []
            widths: list[float] = []
            for _ in range(REPEATS_WITHOUT_BINS):
                pairs = truth.drawn(n, random).confidences.pairs
                given = np.where(pairs.correct, pairs.confidence, 1 - pairs.confidence)
                if not given.all():
                    continue
                low, high = mean_interval(-np.log(given), np.ones(n), None)
                hits.append(low <= true <= high)
                widths.append(high - low)
            yield Measured(
                truth.title, "log_loss", n, float(np.mean(hits)), float(np.mean(widths)), holds_estimate=True
            )


WeightedValue = Callable[[AnswerEvidence, NDArray[np.float64]], NDArray[np.float64]]
"""The rows, and weights of shape (draws, n) → a metric in each draw."""


def weighted_skill(evidence: AnswerEvidence, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Brier skill score; −∞ where all weighted rows have one outcome."""
    pairs = evidence.pairs
    accuracy = weights @ pairs.correct / weights.sum(1)
    error = weights @ (pairs.confidence - pairs.correct) ** 2 / weights.sum(1)
    spread = accuracy * (1 - accuracy)
    return 1 - np.divide(error, spread, out=np.full(spread.size, np.inf), where=spread > 0)


def weighted_aurc(evidence: AnswerEvidence, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """AURC of rows without ties."""
    order = np.argsort(-evidence.pairs.confidence)
    weights = weights[:, order]
    answered = np.cumsum(weights, axis=1)
    wrong = np.cumsum(weights * ~evidence.pairs.correct[order], axis=1)
    risk = np.divide(wrong, answered, out=np.zeros_like(wrong), where=answered > 0)
    return (weights * risk).sum(1) / weights.sum(1)


def true_skill(truth: Truth) -> float:
    """Brier skill score of endless rows."""
    c, _gap = truth.endless
    chance = truth.chance(c)
    return float(
        1 - np.mean((c - chance) ** 2 + chance * (1 - chance)) / (chance.mean() * (1 - chance.mean()))
    )


def true_aurc(truth: Truth) -> float:
    """AURC of endless rows."""
    c, _gap = truth.endless
    wrong = np.cumsum(1 - truth.chance(c)[::-1])
    return float(np.mean(wrong / np.arange(1, c.size + 1)))


MAX_ROWS_NOT_SHOWN: Final = 1_000
"""Largest n at which the bootstraps that are not shown are measured."""

NOT_SHOWN: Final[dict[str, tuple[WeightedValue, Callable[[Truth], float]]]] = {
    "brier_skill": (weighted_skill, true_skill),
    "aurc": (weighted_aurc, true_aurc),
}
"""Metrics whose basic bootstrap is measured here and shown nowhere."""


def measure_not_shown() -> Iterator[Measured]:
    """The basic bootstrap over rows of metrics that have no interval in the program."""
    for truth in TRUTHS:
        for n in ROWS:
            if n > MAX_ROWS_NOT_SHOWN:
                continue
            for id_, (weighted, value) in NOT_SHOWN.items():
                random = np.random.default_rng([SEED, n, len(truth.title)])
                true = value(truth)
                hits: list[bool] = []
                widths: list[float] = []
                holds = True
                for _ in range(REPEATS):
                    evidence = truth.drawn(n, random)
                    estimate = float(weighted(evidence, np.ones((1, n)))[0])
                    drawn = [weighted(evidence, w) for w in equal_weight_draws(n, BOOTSTRAP_DRAWS, 0)]
                    ends = basic_interval(estimate, np.concatenate(drawn)) if np.isfinite(estimate) else None
                    if ends is None:
                        continue
                    hits.append(ends[0] <= true <= ends[1])
                    widths.append(ends[1] - ends[0])
                    holds &= ends[0] <= estimate <= ends[1]
                share, width = (float(np.mean(each)) if hits else np.nan for each in (hits, widths))
                yield Measured(truth.title, id_, n, share, width, holds)


def measure_pairs() -> Iterator[Measured]:
    """Two models on the same questions; the second's confidences and outcomes depend on the first's."""
    for title, first, second in PAIRS:
        for n in ROWS_OF_PAIRS:
            for metrics, repeats in ((PAIRED_BINNED, REPEATS), (PAIRED_MEANS, REPEATS_WITHOUT_BINS)):
                if metrics is PAIRED_BINNED and n < MIN_QUESTIONS_OVER_BINS:
                    continue
                random = np.random.default_rng([SEED, n, len(title), 1])
                hits: dict[str, list[bool]] = {metric: [] for metric in metrics}
                widths: dict[str, list[float]] = {metric: [] for metric in metrics}
                holds = dict.fromkeys(metrics, True)
                for _ in range(repeats if n <= 1_000 else FEWER_REPEATS):
                    sides = drawn_pair(first, second, n, random)
                    for metric in metrics:
                        found = paired_difference([sides], metric)
                        true = second.value(metric, sides[1]) - first.value(metric, sides[0])
                        hits[metric].append(found.low <= true <= found.high)
                        widths[metric].append(found.high - found.low)
                        holds[metric] &= found.low <= found.value <= found.high
                for metric in metrics:
                    covers, width = float(np.mean(hits[metric])), float(np.mean(widths[metric]))
                    yield Measured(title, metric, n, covers, width, holds[metric])


def drawn_pair(
    first: Truth, second: Truth, n: int, random: np.random.Generator
) -> tuple[AnswerEvidence, AnswerEvidence]:
    """Two models whose confidences have one rank in half of the questions, and whose luck is shared."""
    c1, own = first.confidences(random, n), second.confidences(random, n)
    # The rank of c1 among endless confidences, so that the questions stay independent of one another.
    rank = np.minimum(np.searchsorted(first.endless[0], c1), ENDLESS - 1)
    c2 = np.where(random.random(n) < 0.5, second.endless[0][rank], own)
    luck = random.random(n)
    ids = [f"q{question}" for question in range(n)]
    sides = [
        evidence_of(c, luck < truth.chance(c), ids=ids, model=name)
        for c, truth, name in ((c1, first, "a"), (c2, second, "b"))
    ]
    return sides[0], sides[1]


def exact_coverage(low: float, high: float, n: int) -> NDArray[np.float64]:
    """Probability that Wilson's interval of n answers holds the accuracy, at accuracies of a range."""
    right = np.arange(n + 1)
    ends = wilson_interval(right, np.full(n + 1, n))
    accuracy = np.linspace(low, high, STEPS)[:, None]
    held = (ends[0] <= accuracy) & (accuracy <= ends[1])
    return np.where(held, binom.pmf(right, n, accuracy), 0.0).sum(axis=1)


def wilson_lines() -> Iterator[str]:
    """The exact coverage of Wilson's interval: its mean over each range of accuracies, and the least."""
    yield "## Accuracy of independent answers, exactly"
    yield ""
    yield (
        f"The mean over {STEPS:,} accuracies of each range, and the least. A number of right answers is "
        "whole, so that the coverage of Wilson's interval rises and falls with the accuracy (Brown, Cai, "
        "DasGupta 2001, doi:10.1214/ss/1009213286): near 95 % on average, but less at single accuracies."
    )
    yield ""
    yield "| accuracy | " + " | ".join(f"{n:,} rows" for n in ROWS_OF_STATED) + " |"
    yield "| --- |" + " --: |" * len(ROWS_OF_STATED)
    for low, high in ACCURACIES:
        covers = [100 * exact_coverage(low, high, n) for n in ROWS_OF_STATED]
        cells = (f"{each.mean():.1f} %, {each.min():.1f} %" for each in covers)
        yield f"| {low:g} to {high:g} | {' | '.join(cells)} |"


def table(measured: Sequence[Measured], unit: str) -> list[str]:
    """A row per truth and metric, a column per n: coverage, and the mean width in brackets."""
    ns = sorted({one.n for one in measured})
    cells = {(one.truth, one.metric, one.n): one for one in measured}
    lines = [
        "| truth | metric | " + " | ".join(f"{n:,} {unit}" for n in ns) + " |",
        "| --- | --- |" + " --: |" * len(ns),
    ]
    for truth, metric in dict.fromkeys((one.truth, one.metric) for one in measured):
        found = [cells.get((truth, metric, n)) for n in ns]
        texts = [
            "–" if one is None or np.isnan(one.covers) else f"{100 * one.covers:.0f} % ({one.width:.3f})"
            for one in found
        ]
        lines.append(f"| {truth} | {metric} | {' | '.join(texts)} |")
    return lines


def summary(measured: Sequence[Measured], metric: str) -> str:
    """The range of coverage over all settings, as the registry has it."""
    covers = [one.covers for one in measured if one.metric == metric and not np.isnan(one.covers)]
    return f"{metric}: {round(100 * min(covers))} to {round(100 * max(covers))} %."


def page(parts: dict[str, list[Measured]]) -> str:
    """The page, from what was measured in each part."""
    lines = [
        "# How often a 95 % interval contains the true value",
        "",
        (
            f"Written by `python benchmarks/interval_coverage.py`: {REPEATS} data sets per cell, "
            f"{REPEATS_WITHOUT_BINS} for metrics without bins ({FEWER_REPEATS} for differences at 10,000 "
            f"rows), seed {SEED}; M = 10; as in `calib_core.results.uncertainty`. In brackets, the mean "
            f"width. The value of {ENDLESS:,} confidences and their true probabilities counts as the true "
            "value; that of ACE is for the bins of each data set. A share of 95 % is known to about four "
            f"points with {REPEATS} data sets, and to two with {REPEATS_WITHOUT_BINS}. The AUROC has no "
            f"interval below {MIN_OF_EACH_OUTCOME} right and {MIN_OF_EACH_OUTCOME} wrong answers: only data "
            "sets with an interval count."
        ),
    ]
    for heading, measured in parts.items():
        unit = "questions" if heading.startswith("Questions") else "rows"
        lines += ["", f"## {heading}", "", *table(measured, unit)]
    lines += ["", *wilson_lines()]
    every = [one for measured in parts.values() for one in measured]
    single = [one for heading, measured in parts.items() if heading != DIFFERENCES for one in measured]
    for metric in dict.fromkeys(one.metric for one in single):
        lines += ["", summary(single, metric)]
    for metric in (*PAIRED_MEANS, *PAIRED_BINNED):
        lines += ["", f"Difference in {summary(parts[DIFFERENCES], metric)}"]
    held = all(one.holds_estimate for one in every)
    lines += ["", f"Every interval contains its own estimate: {'yes' if held else 'no'}."]
    lines += ["", f"{datetime.now(UTC).date()}, Python and numpy as pinned."]
    return "\n".join(lines) + "\n"


DIFFERENCES: Final = f"Differences of two models on common questions, ECE from {MIN_QUESTIONS_OVER_BINS} on"

PARTS: Final[dict[str, Callable[[], Iterator[Measured]]]] = {
    "One confidence a row": measure_rows,
    "One of few confidences a row": measure_stated,
    f"Questions asked {TRIALS} times, ECE from {MIN_CLUSTERS} questions on": measure_clusters,
    f"All of {CLASSES} choices": measure_classes,
    f"{LEVELS} levels of a scale": measure_scales,
    f"Questions on {LEVELS} levels asked {TRIALS} times": measure_scale_clusters,
    "Student's t of the log loss, which is not shown": measure_log_loss,
    "Basic bootstraps that are not shown, since some hold too little": measure_not_shown,
    DIFFERENCES: measure_pairs,
}


def main() -> None:
    """Measures, prints and writes the tables."""
    parts: dict[str, list[Measured]] = {}
    for heading, measures in PARTS.items():
        parts[heading] = []
        for one in measures():
            print(one, flush=True)
            parts[heading].append(one)
    Path(__file__).with_suffix(".md").write_text(page(parts), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Measure verdicts and intervals of rows with weights: how often they err.

Draws data sets whose true values are known, and writes weights.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.edges import Scheme, assign_bins
from calib_core.inference.clusters import effective_clusters, effective_number
from calib_core.inference.directional import Gaps, directional_contrasts, joint_bin_means
from calib_core.inference.intervals import interval_contains
from calib_core.inference.paired_test import MIN_QUESTIONS_OVER_BINS, paired_test
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL
from calib_core.metrics import METRICS
from calib_core.pairs import Pairs
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.score import score
from calib_core.results.uncertainty import influence_of_one_more, metric_interval, side_of_one_more
from calib_core.runs import AnswerRun, RowCounts, RunInfo

SEED: Final = 20261129
REPEATS: Final = 400
REPEATS_OF_INTERVALS: Final = 200
ROWS: Final = (100, 300, 1000)
LEVELS: Final = np.array([0.15, 0.35, 0.55, 0.75, 0.85, 0.95])
SHARES: Final = np.array([0.1, 0.1, 0.2, 0.2, 0.2, 0.2])
Floats = NDArray[np.float64]

WEIGHTS: Final[dict[str, Callable[[np.random.Generator, NDArray[np.intp]], Floats]]] = {
    "1 to 5": lambda random, level: random.integers(1, 6, level.size).astype(np.float64),
    "lognormal, σ = 1": lambda random, level: random.lognormal(0, 1, level.size),
    "1, or 10 in a fifth of the rows": lambda random, level: np.where(
        random.random(level.size) < 0.2, 10, 1.0
    ),
    "larger where confident": lambda random, level: random.integers(1, 4, level.size) * (1.0 + LEVELS[level]),
}
Size = tuple[int, int]
"""Number of questions, and rows of each."""

REPEATED: Final[Size] = (200, 4)
PAIRED_SIZES: Final[tuple[Size, ...]] = ((100, 1), (300, 1), REPEATED)
SMOOTH: Final = ("brier_skill", "accuracy", "brier")
SHARED: Final = 0.5
SLANT: Final = 0.1
"""By how much light rows are right less often, in the data whose weighted average is calibrated."""


def draw(
    random: np.random.Generator, n: int, weights: str, shift: float
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Confidences, outcomes and weights; each row is right `shift` less often than its confidence."""
    level = random.choice(LEVELS.size, n, p=SHARES)
    return LEVELS[level], random.random(n) < LEVELS[level] - shift, WEIGHTS[weights](random, level)


def draw_questions(
    random: np.random.Generator, size: Size, weights: str, shifts: tuple[float, ...]
) -> tuple[Floats, list[NDArray[np.bool_]], Floats]:
    """As `draw`, of rows of a question with one confidence and one weight; outcomes by model, one a shift.

    Half of the variance of a row's outcome is shared by the rows of its question, and by the models.
    """
    questions, rows = size
    level = random.choice(LEVELS.size, questions, p=SHARES)
    weight, c = np.repeat(WEIGHTS[weights](random, level), rows), np.repeat(LEVELS[level], rows)
    shared = np.repeat(random.random(questions), rows)

    def right(shift: float) -> NDArray[np.bool_]:
        alike = random.random(c.size) < SHARED**0.5
        return np.where(alike, shared, random.random(c.size)) < c - shift

    return c, [right(shift) for shift in shifts], weight


def draw_slanted(random: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Light rows are right less often, heavy ones more often: on the weighted average as stated."""
    level = random.choice(LEVELS.size, n, p=SHARES)
    heavy = random.random(n) < 0.4
    # 0.6 · 1 · SLANT = 0.4 · 3 · SLANT / 2, so that the weighted mean of the outcomes is the confidence.
    chance = LEVELS[level] + np.where(heavy, SLANT / 2, -SLANT)
    return LEVELS[level], random.random(n) < chance, np.where(heavy, 3.0, 1.0)


def truths(weights: str, shift: float) -> dict[str, float]:
    """The true accuracy, Brier score, bias, ECE and AUROC of all rows, each by its weight."""
    random = np.random.default_rng(0)
    level = np.repeat(np.arange(LEVELS.size), 200_000)
    weight = WEIGHTS[weights](random, level).reshape(LEVELS.size, -1).mean(axis=1) * SHARES
    weight /= weight.sum()
    right = LEVELS - shift
    above = (right * weight)[:, None] * ((1 - right) * weight)[None, :]
    order = LEVELS[:, None] - LEVELS[None, :]
    return {
        "accuracy": float(right @ weight),
        "brier": float((right * (1 - LEVELS) ** 2 + (1 - right) * LEVELS**2) @ weight),
        "bias": shift,
        "ece": abs(shift),
        "auroc": float(((order > 0) * above).sum() + above[order == 0].sum() / 2) / float(above.sum()),
    }


def evidence_of(c: Floats, y: NDArray[np.bool_], w: Floats, rows_of_question: int = 1) -> AnswerEvidence:
    """The evidence of rows, made without a file."""
    row = np.arange(1, c.size + 1)
    rows = pl.DataFrame({"row": row, "confidence": c, "correct": y, "weight": w})
    if rows_of_question > 1:
        rows = rows.with_columns(trial_of=pl.Series((row - 1) // rows_of_question).cast(pl.String))
    run = AnswerRun("", "table", "data", RunInfo(), rows, RowCounts(c.size))
    return gather_evidence(run, "given")


def rejections() -> Iterator[list[str]]:
    """Weights, rows, effective rows, and how often verdict and ECE reject calibration."""
    for place, weights in enumerate((*WEIGHTS, "3 where right more often, else 1")):
        for n in ROWS:
            random = np.random.default_rng([SEED, place, n])
            worth, verdict, ece = 0.0, 0, 0
            slanted = weights not in WEIGHTS
            for _ in range(REPEATS):
                c, y, w = draw_slanted(random, n) if slanted else draw(random, n, weights, 0.0)
                evidence = evidence_of(c, y, w)
                worth += evidence.n_effective / REPEATS
                verdict += is_small(evidence.verdict.p)
                ece += not slanted and is_small(score(evidence, "ece", with_remark=False).p)
            shares = [percent(verdict / REPEATS), "–" if slanted else percent(ece / REPEATS)]
            yield [weights, str(n), f"{worth:.0f}", *shares]


def is_small(p: float | None) -> bool:
    """Whether a p-value is given and rejects."""
    return p is not None and p <= SIGNIFICANCE_LEVEL


def rejections_of_questions() -> Iterator[list[str]]:
    """Weights, what the questions are worth, and how often verdict and ECE reject calibration."""
    for place, weights in enumerate(WEIGHTS):
        random = np.random.default_rng([SEED, 200 + place])
        worth, verdict, ece = 0.0, 0, 0
        for _ in range(REPEATS_OF_INTERVALS):
            c, (y,), w = draw_questions(random, REPEATED, weights, (0.0,))
            evidence = evidence_of(c, y, w, REPEATED[1])
            worth += effective_number(w[:: REPEATED[1]]) / REPEATS_OF_INTERVALS
            verdict += is_small(evidence.verdict.p)
            ece += is_small(score(evidence, "ece", with_remark=False).p)
        shares = [percent(found / REPEATS_OF_INTERVALS) for found in (verdict, ece)]
        yield [weights, size_text(REPEATED), f"{worth:.0f}", *shares]


def size_text(size: Size) -> str:
    """How many questions there are, and how many rows of each where not one."""
    return f"{size[0]} × {size[1]}" if size[1] > 1 else f"{size[0]}"


def coverages() -> Iterator[list[str]]:
    """Weights, shift, rows, and how often each metric's interval holds its true value."""
    for place, weights in enumerate(WEIGHTS):
        for shift in (0.0, 0.1):
            truth = truths(weights, shift)
            for n in ROWS:
                random = np.random.default_rng([SEED, 100 + place, n, round(10 * shift)])
                rows = (draw(random, n, weights, shift) for _ in range(REPEATS_OF_INTERVALS))
                found = (evidence_of(c, y, w) for c, y, w in rows)
                yield [weights, f"{shift:g}", str(n), *held_shares(truth, found)]
            random = np.random.default_rng([SEED, 300 + place, round(10 * shift)])
            drawn = (draw_questions(random, REPEATED, weights, (shift,)) for _ in range(REPEATS_OF_INTERVALS))
            found = (evidence_of(c, y, w, REPEATED[1]) for c, (y,), w in drawn)
            yield [weights, f"{shift:g}", size_text(REPEATED), *held_shares(truth, found)]


def held_shares(truth: dict[str, float], evidences: Iterable[AnswerEvidence]) -> list[str]:
    """How often the interval of each metric holds its true value, of those that there are."""
    held, found = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
    for evidence in evidences:
        for metric, value in truth.items():
            interval = metric_interval(evidence, metric)
            if interval is not None:
                found[metric] += 1
                held[metric] += interval_contains(interval.low, interval.high, value)
    return [percent(held[one] / found[one]) if found[one] else "–" for one in truth]


def paired_coverages() -> Iterator[list[str]]:
    """Weights, shift, questions, and how often each interval of a paired difference holds the true one."""
    for place, weights in enumerate(WEIGHTS):
        for shift in (0.0, 0.1):
            sides = [truths(weights, one) for one in (0.0, shift)]
            for one in sides:
                one["brier_skill"] = 1 - one["brier"] / (one["accuracy"] * (1 - one["accuracy"]))
            truth = {metric: sides[1][metric] - sides[0][metric] for metric in (*SMOOTH, "ece")}
            for size in PAIRED_SIZES:
                random = np.random.default_rng([SEED, 400 + place, *size, round(10 * shift)])
                held, found = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
                for _ in range(REPEATS_OF_INTERVALS):
                    c, outcomes, w = draw_questions(random, size, weights, (0.0, shift))
                    for metric, (low, high) in paired_intervals(c, outcomes, w, size[1]):
                        found[metric] += 1
                        held[metric] += interval_contains(low, high, truth[metric])
                shares = [percent(held[one] / found[one]) if found[one] else "–" for one in truth]
                yield [weights, f"{shift:g}", size_text(size), *shares]


def paired_intervals(
    c: Floats, outcomes: Sequence[NDArray[np.bool_]], w: Floats, rows: int
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Each metric with the interval of how much higher it is with the second outcomes, as it is computed."""
    question = np.arange(c.size) // rows
    sides = [Pairs(c, y, np.arange(c.size), computed=False, weight=w) for y in outcomes]
    for metric in map(METRICS.__getitem__, SMOOTH):
        (first, of_first), (second, of_second) = (metric.value_and_influence(c, y, w) for y in outcomes)
        one_more = influence_of_one_more(metric, *(side_of_one_more(metric, side) for side in sides))
        test = paired_test(second - first, of_second - of_first, question, w, one_more=one_more)
        yield metric.id, (test.low, test.high)
    if effective_clusters(question, w) >= MIN_QUESTIONS_OVER_BINS:
        _, place = np.unique(assign_bins(c, Scheme()), return_inverse=True)
        gaps = [Gaps((c - y) * w, place, question, float(w.sum()), w) for y in outcomes]
        sign = np.repeat([-1.0, 1.0], int(place.max()) + 1)
        bins = joint_bin_means(gaps, int(question.max()) + 1)
        low, high, _ = directional_contrasts(bins, sign[None, :])
        yield "ece", (float(low[0]), float(high[0]))


def lines() -> Iterator[str]:
    """The page."""
    yield "# Verdicts and intervals of rows with weights"
    yield ""
    yield (
        f"Written by `python benchmarks/weights.py`: seed {SEED}, {REPEATS} data sets per cell, 5 % known to "
        f"± {points_known(0.05, REPEATS)} points. Confidences: {', '.join(f'{level:g}' for level in LEVELS)}."
    )
    yield ""
    yield (
        "How often calibration is rejected at 5 % where it holds: of every row or, in the last rows, of the "
        "weighted average only, which the p-value of the ECE does not test (decision 0018). “Worth”: as many "
        "rows of equal weight."
    )
    yield ""
    yield from table(["weights", "rows", "worth", "verdict", "p of ECE"], rejections())
    yield ""
    yield (
        f"The same for questions of {REPEATED[1]} rows, which have one weight and one confidence and share "
        f"half of the variance of their outcomes: {REPEATS_OF_INTERVALS} data sets per cell. “Worth”: as "
        "many questions of equal weight."
    )
    yield ""
    yield from table(["weights", "questions", "worth", "verdict", "p of ECE"], rejections_of_questions())
    yield ""
    yield (
        "How often 95 % intervals hold the truth, where rows are right less often than stated by the shift: "
        f"{REPEATS_OF_INTERVALS} data sets per cell, 95 % known to "
        f"± {points_known(0.95, REPEATS_OF_INTERVALS)} points."
    )
    yield ""
    titles = ["weights", "shift", "rows", "accuracy", "Brier score", "bias", "ECE", "AUROC"]
    yield from table(titles, coverages())
    yield ""
    yield (
        "How often 95 % intervals of paired differences hold the true one: of a calibrated model and one "
        "that is right less often by the shift, on the same questions. Half of the variance of outcomes is "
        f"shared: {REPEATS_OF_INTERVALS} data sets per cell."
    )
    yield ""
    titles = ["weights", "shift", "questions", "Brier skill", "accuracy", "Brier score", "ECE"]
    yield from table(titles, paired_coverages())
    yield ""
    yield date_line()


if __name__ == "__main__":
    write_page(__file__, lines())

"""Measure verdicts and intervals of rows with weights: how often they err.

Draws data sets whose true values are known, and writes weights.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.inference.intervals import interval_contains
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.score import score
from calib_core.results.uncertainty import metric_interval
from calib_core.runs import AnswerRun, RowCounts, RunInfo

SEED: Final = 20261129
REPEATS: Final = 200
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
SLANT: Final = 0.1
"""By how much light rows are right less often, in the data whose weighted average is calibrated."""


def draw(
    random: np.random.Generator, n: int, weights: str, shift: float
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Confidences, outcomes and weights; each row is right `shift` less often than its confidence."""
    level = random.choice(LEVELS.size, n, p=SHARES)
    return LEVELS[level], random.random(n) < LEVELS[level] - shift, WEIGHTS[weights](random, level)


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


def evidence_of(c: Floats, y: NDArray[np.bool_], w: Floats) -> AnswerEvidence:
    """The evidence of rows, made without a file."""
    rows = pl.DataFrame({"row": np.arange(1, c.size + 1), "confidence": c, "correct": y, "weight": w})
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
                p = evidence.verdict.p
                verdict += p is not None and p <= SIGNIFICANCE_LEVEL
                if not slanted:
                    own = score(evidence, "ece", with_remark=False).p
                    ece += own is not None and own <= SIGNIFICANCE_LEVEL
            shares = [percent(verdict / REPEATS), "–" if slanted else percent(ece / REPEATS)]
            yield [weights, str(n), f"{worth:.0f}", *shares]


def coverages() -> Iterator[list[str]]:
    """Weights, shift, rows, and how often each metric's interval holds its true value."""
    for place, weights in enumerate(WEIGHTS):
        for shift in (0.0, 0.1):
            truth = truths(weights, shift)
            for n in ROWS:
                random = np.random.default_rng([SEED, 100 + place, n, round(10 * shift)])
                held, found = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
                for _ in range(REPEATS):
                    evidence = evidence_of(*draw(random, n, weights, shift))
                    for metric, value in truth.items():
                        interval = metric_interval(evidence, metric)
                        if interval is not None:
                            found[metric] += 1
                            held[metric] += interval_contains(interval.low, interval.high, value)
                shares = [percent(held[one] / found[one]) if found[one] else "–" for one in truth]
                yield [weights, f"{shift:g}", str(n), *shares]


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
    yield "How often 95 % intervals hold the truth, where rows are right less often than stated by the shift."
    yield ""
    titles = ["weights", "shift", "rows", "accuracy", "Brier score", "bias", "ECE", "AUROC"]
    yield from table(titles, coverages())
    yield ""
    yield date_line()


if __name__ == "__main__":
    write_page(__file__, lines())

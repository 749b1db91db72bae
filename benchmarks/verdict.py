"""Measure the verdict: how often it rejects calibrated rows, and how often it finds what is there.

Draws data sets, judges each as the program does, and writes verdict.md beside this script. For independent
rows, the p-value of ECE's null distribution on the same data stands beside the verdict's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.cluster_draws import correlated_uniforms
from calib_core.inference.null import BinnedNullDraws, BinomialDraws, null_distribution
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, judge
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric

SEED: Final = 20261123
REPEATS: Final = 400
REPEATS_OF_LARGE: Final = 200
REPEATS_OF_POWER: Final = 100
ROWS: Final = (30, 100, 300, 1_000, 10_000)
CLUSTERS: Final = (60, 200)
TRIALS: Final = 5

Confidences = Callable[[np.random.Generator, int], NDArray[np.float64]]


def beta(first: float, second: float) -> Confidences:
    """Beta-distributed confidences."""
    return lambda random, n: random.beta(first, second, n)


def constant(value: float) -> Confidences:
    """One confidence for every row."""
    return lambda _random, n: np.full(n, value)


def tenths(random: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Shares of ten answers that agree."""
    return random.binomial(10, random.beta(4, 2, n)) / 10


INDEPENDENT: Final[dict[str, Confidences]] = {
    "beta(4, 2)": beta(4, 2),
    "beta(20, 1), mostly above .9": beta(20, 1),
    "beta(.2, .2), near 0 and 1": beta(0.2, 0.2),
    "k/10": tenths,
    "all .9": constant(0.9),
    "all .9985": constant(0.9985),
}

CLUSTERED: Final[dict[str, Confidences]] = {
    "beta(4, 2)": beta(4, 2),
    "beta(8, 1)": beta(8, 1),
    "beta(.3, .3), near 0 and 1": beta(0.3, 0.3),
    "all .9": constant(0.9),
    "all .9985": constant(0.9985),
}


@dataclass(frozen=True, slots=True)
class Error:
    """How far accuracy is from confidence.

    Attributes
    ----------
    title : str
    chance : callable
        Confidences → probability of being right.
    confidences : callable
        Random generator and n → confidences; by default .05 + .9 beta(4, 2), with a mean of .65.
    """

    title: str
    chance: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    confidences: Confidences = lambda random, n: 0.05 + 0.9 * random.beta(4, 2, n)


ERRORS: Final = (
    Error(".04 over-confident", lambda c: c - 0.04),
    Error(".04 under-confident", lambda c: c + 0.04),
    Error("swing of .06: over ½ too high, below too low", lambda c: c - 0.06 * np.sign(c - 0.5)),
    Error("logit times 0.7", lambda c: 1 / (1 + (1 / c - 1) ** 0.7)),
    Error("logit times 1.4", lambda c: 1 / (1 + (1 / c - 1) ** 1.4)),
    Error(
        ".04 over-confident, c uniform from ½ to 1",
        lambda c: c - 0.04,
        lambda random, n: 0.5 + 0.5 * random.random(n),
    ),
    Error(".04 over-confident, c beta(8, 2)", lambda c: c - 0.04, beta(8, 2)),
)


class DrawnRun:
    """ECE's null distribution of one data set."""

    def __init__(self, confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> None:
        self.sums = BinSums.from_pairs(confidence, correct)

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """As `NullSource` wants it."""
        return {}

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws:
        """Independent draws."""
        del metric
        return BinomialDraws(self.sums).null_draws(scheme)

    @property
    def ece_p(self) -> float:
        """p-value of ECE with ten bins."""
        metric = METRICS["ece"]
        null = null_distribution(self, metric, [Scheme()], [metric.compute(self.sums, Scheme())])
        return 1.0 if null is None or null.p[0] is None else null.p[0]


def false_alarm(p: float | None) -> bool:
    """Whether a calibrated model is called miscalibrated."""
    return p is not None and p <= SIGNIFICANCE_LEVEL


def sizes_of_rows() -> Iterator[tuple[str, list[float]]]:
    """Share of calibrated data sets that are called miscalibrated, for each n."""
    for place, (title, confidences) in enumerate(INDEPENDENT.items()):
        shares: list[float] = []
        for n in ROWS:
            random = np.random.default_rng([SEED, place, n])
            alarms = 0
            repeats = REPEATS if n < 10_000 else REPEATS_OF_LARGE
            for _ in range(repeats):
                c = confidences(random, n)
                alarms += false_alarm(judge(c, random.random(n) < c).p)
            shares.append(alarms / repeats)
        print(title, shares, flush=True)
        yield title, shares


def sizes_of_clusters() -> Iterator[tuple[str, list[float]]]:
    """The same for five trials of each question, for each number of questions."""
    for place, (title, confidences) in enumerate(CLUSTERED.items()):
        for how, shared, jitter in (
            ("identical trials", 1.0, 0.0),
            ("partly alike, confidences differ", 0.7, 0.7),
        ):
            shares: list[float] = []
            for n_clusters in CLUSTERS:
                random = np.random.default_rng([SEED, 100 + place, n_clusters])
                cluster = np.repeat(np.arange(n_clusters), TRIALS)
                alarms = 0
                for _ in range(REPEATS_OF_LARGE):
                    c = np.repeat(confidences(random, n_clusters), TRIALS)
                    if jitter:
                        logit = np.log(np.maximum(c, 1e-9) / np.maximum(1 - c, 1e-9))
                        c = 1 / (1 + np.exp(-logit - jitter * random.standard_normal(c.size)))
                    y = correlated_uniforms(random, cluster, shared) < c.astype(np.float32)
                    alarms += false_alarm(judge(c, y, cluster).p)
                shares.append(alarms / REPEATS_OF_LARGE)
            print(title, how, shares, flush=True)
            yield f"{title}, {how}", shares


def powers() -> Iterator[tuple[str, int, float, float]]:
    """Error, n, and the share of data sets in which the verdict, and ECE's p, are clear."""
    for place, error in enumerate(ERRORS):
        for n in (300, 1_000):
            random = np.random.default_rng([SEED, 200 + place, n])
            found = found_by_ece = 0
            for _ in range(REPEATS_OF_POWER):
                c = error.confidences(random, n)
                y = random.random(n) < np.clip(error.chance(c), 0, 1)
                found += false_alarm(judge(c, y).p)
                found_by_ece += DrawnRun(c, y).ece_p <= SIGNIFICANCE_LEVEL
            print(error.title, n, found, found_by_ece, flush=True)
            yield error.title, n, found / REPEATS_OF_POWER, found_by_ece / REPEATS_OF_POWER


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def table(titles: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table; all columns but the first are numbers."""
    return [
        "| " + " | ".join(titles) + " |",
        "| --- |" + " --: |" * (len(titles) - 1),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def main() -> None:
    """Measures, prints and writes the tables."""
    rows = [[title, *map(percent, shares)] for title, shares in sizes_of_rows()]
    clusters = [[title, *map(percent, shares)] for title, shares in sizes_of_clusters()]
    power = [[title, f"{n:,}", percent(found), percent(ece)] for title, n, found, ece in powers()]
    lines = [
        "# How often the verdict is right",
        "",
        (
            f"Written by `python benchmarks/verdict.py`: seed {SEED}; {REPEATS} data sets per cell, "
            f"{REPEATS_OF_LARGE} for n = 10,000 and for clusters, {REPEATS_OF_POWER} for power. A share near "
            f"5 % is known to ± {100 * 1.96 * (0.0475 / REPEATS) ** 0.5:.1f} points ({REPEATS} data sets) "
            f"or ± {100 * 1.96 * (0.0475 / REPEATS_OF_LARGE) ** 0.5:.1f} points ({REPEATS_OF_LARGE})."
        ),
        "",
        "## Calibrated rows called miscalibrated at p ≤ .05",
        "",
        *table(["confidences", *(f"n = {n:,}" for n in ROWS)], rows),
        "",
        f"## The same for {TRIALS} trials of each question",
        "",
        "“Partly alike”: an answer follows its question's common number with probability 0.7 (ρ ≈ .5).",
        "",
        *table(["confidences", *(f"{n} questions" for n in CLUSTERS)], clusters),
        "",
        "## Miscalibrated rows found at p ≤ .05",
        "",
        "Confidences are .05 + .9 beta(4, 2), with a mean of .65, unless others are named.",
        "",
        *table(["error", "n", "verdict", "ECE's p, M = 10"], power),
        "",
        f"{datetime.now(UTC).date()}, Python and numpy as pinned.",
    ]
    text = "\n".join(lines) + "\n"
    Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

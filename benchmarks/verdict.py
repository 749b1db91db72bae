"""Measure the verdict: how often it rejects calibrated rows, and how often it finds what is there.

Draws data sets, judges each as the program does, and writes verdict.md beside this script. For independent
rows, the p-value of ECE's null distribution on the same data stands beside the verdict's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Final
from unittest.mock import patch

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import FINEST_BINS, Scheme, bin_of
from calib_core.inference.calibration_test import CalibrationSums, cell_logit, cox_test
from calib_core.inference.cluster_draws import correlated_uniforms
from calib_core.inference.null import BinnedNullDraws, BinomialDraws, null_distribution
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, judge, judge_sums
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric

SEED: Final = 20261123
REPEATS: Final = 400
REPEATS_OF_LARGE: Final = 200
REPEATS_OF_POWER: Final = 100
REPEATS_AGAIN: Final = 2_000
REPEATS_OF_ALTERNATIVES: Final = 4_000
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


def three_values(random: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Three confidences, as a person who rates answers uses."""
    return random.choice([0.6, 0.8, 0.95], n)


def tenths(random: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Shares of ten answers that agree."""
    return random.binomial(10, random.beta(4, 2, n)) / 10


INDEPENDENT: Final[dict[str, Confidences]] = {
    "beta(4, 2)": beta(4, 2),
    "beta(20, 1), mostly above .9": beta(20, 1),
    "beta(.2, .2), near 0 and 1": beta(0.2, 0.2),
    "beta(49.5, .5), mostly above .99": beta(49.5, 0.5),
    "k/10": tenths,
    ".6, .8 or .95": three_values,
    "all .9": constant(0.9),
    "all .9985": constant(0.9985),
}

ROUNDED: Final[dict[str, tuple[Confidences, Callable[[NDArray[np.float64]], NDArray[np.float64]]]]] = {
    f"{title} to {how}": (confidences, write)
    for title, confidences in (
        ("beta(4, 2)", beta(4, 2)),
        ("beta(20, 1)", beta(20, 1)),
        ("beta(.2, .2)", beta(0.2, 0.2)),
    )
    for how, write in (
        ("two decimals", lambda c: c.round(2)),
        ("one decimal", lambda c: c.round(1)),
        ("float16", lambda c: c.astype(np.float16).astype(np.float64)),
    )
}
"""What is meant, and how it is written."""

CLUSTERED: Final[dict[str, Confidences]] = {
    "beta(4, 2)": beta(4, 2),
    "beta(8, 1)": beta(8, 1),
    "beta(.3, .3), near 0 and 1": beta(0.3, 0.3),
    "all .9": constant(0.9),
    "all .9985": constant(0.9985),
}


ABOVE_SIX: Final = (
    ("beta(20, 1), mostly above .9", 10_000),
    ("beta(.2, .2), near 0 and 1", 300),
    ("k/10", 1_000),
)
"""Cells of independent rows in which the first data sets gave more than 6 %."""


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
    Error(
        "zigzag of .08 at .6, .8 and .95",
        lambda c: np.where(c == 0.8, 0.92, np.where(c == 0.6, 0.5267, 0.9033)),
        three_values,
    ),
    Error("three waves of .1", lambda c: c + 0.1 * np.sin(6 * np.pi * c)),
)
SIZES_OF_POWER: Final = (300, 600, 1_000)


class DrawnRun:
    """ECE's null distribution of one data set."""

    def __init__(self, confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> None:
        self.sums = BinSums.from_pairs(confidence, correct)

    @property
    def no_p_reason(self) -> None:
        """None: it has p-values."""
        return

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


def sizes_of_rows() -> Iterator[list[str]]:
    """Share of calibrated data sets that are called miscalibrated, for each n."""
    for place, (title, confidences) in enumerate(INDEPENDENT.items()):
        shares = [
            share_of_rows(
                np.random.default_rng([SEED, place, n]),
                confidences,
                n,
                repeats=REPEATS if n < 10_000 else REPEATS_OF_LARGE,
            )
            for n in ROWS
        ]
        yield [title, *map(percent, shares)]


def share_of_rows(random: np.random.Generator, confidences: Confidences, n: int, *, repeats: int) -> float:
    """Share of calibrated data sets of independent rows that are called miscalibrated."""
    alarms = 0
    for _ in range(repeats):
        c = confidences(random, n)
        alarms += false_alarm(judge(c, random.random(n) < c).p)
    return alarms / repeats


def sizes_of_rounded() -> Iterator[list[str]]:
    """Share of calibrated data sets that are called miscalibrated because of how they are written."""
    for place, (title, (confidences, write)) in enumerate(ROUNDED.items()):
        shares: list[float] = []
        for n in ROWS[1:4]:
            random, alarms = np.random.default_rng([SEED, 700 + place, n]), 0
            for _ in range(REPEATS):
                meant = confidences(random, n)
                alarms += false_alarm(judge(write(meant), random.random(n) < meant).p)
            shares.append(alarms / REPEATS)
        yield [title, *map(percent, shares)]


def zigzag(parts: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Chances that are .022 too low and too high in turn, by so many parts of [0, 1]."""
    return lambda c: c - 0.022 * np.where(np.floor(c * parts + 1e-9).astype(int) % 2, 1, -1)


def two_decimals(random: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Confidences between .1 and .9, as most are written."""
    return (0.1 + 0.8 * random.beta(4, 2, n)).round(2)


def high(random: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Confidences that are mostly above .9."""
    return 0.02 + 0.96 * random.beta(20, 1, n)


def twentieth_off(c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Right chances, but .08 too low in the most confident twentieth."""
    return c - 0.08 * (c > np.quantile(c, 0.95))


TOO_FAR: Final = (
    Error(".022 over-confident", lambda c: c - 0.022, two_decimals),
    Error("zigzag of .022 by tenths", zigzag(10), two_decimals),
    Error("zigzag of .022 by twentieths", zigzag(20), two_decimals),
    Error("zigzag of .022 by hundredths", zigzag(100), two_decimals),
    Error("zigzag of .022 by hundredths, c mostly above .9", zigzag(100), high),
)
"""Mean deviations of .022."""

NEAR_ENOUGH: Final = (
    Error(".005 over-confident", lambda c: c - 0.005, two_decimals),
    Error(".01 over-confident", lambda c: c - 0.01, two_decimals),
    Error("logit times 1.1 (.013)", lambda c: 1 / (1 + (1 / c - 1) ** 1.1), two_decimals),
    Error(".01 over-confident, c mostly above .9", lambda c: c - 0.01, high),
    Error("top twentieth .08 over-confident (.004)", twentieth_off, high),
)
"""Mean deviations below .02."""

SIZES_OF_TOLERANCE: Final = (5_000, 10_000, 30_000, 100_000)


def tolerable(errors: Sequence[Error]) -> Iterator[list[str]]:
    """Share of data sets called “within tolerance”; in brackets without a look into the groups."""
    for error in errors:
        shares: list[str] = []
        for n in SIZES_OF_TOLERANCE:
            random = np.random.default_rng([SEED, 800, n, *map(ord, error.title)])
            called = np.zeros(2)
            for _ in range(REPEATS_OF_POWER):
                c = error.confidences(random, n)
                sums = CalibrationSums.from_pairs(c, random.random(n) < error.chance(c))
                called[0] += judge_sums(sums).kind == "tolerable"
                with patch("calib_core.inference.calibration_test.FINE_GROUP_INFORMATION", np.inf):
                    called[1] += judge_sums(sums).kind == "tolerable"
            found, before = map(percent, called / REPEATS_OF_POWER)
            shares.append(f"{found} ({before})")
        yield [error.title, *shares]


def tolerance() -> Iterator[str]:
    """How often a run is called “within tolerance”, rightly and wrongly."""
    columns = ["error", *(f"n = {n:,}" for n in SIZES_OF_TOLERANCE)]
    yield from ("", "## Off by .022 and called within the tolerance of .02", "")
    yield (
        "In brackets: by the groups of the test alone, up to 12, in which gaps of a zigzag cancel. The finer "
        "groups are the more the more rows there are; what is finer than these stays unseen, and the reason "
        "that the verdict gives says how many they are. A zigzag about as fine as these is still within "
        "tolerance in up to 20 %."
    )
    yield ""
    yield from table(columns, tolerable(TOO_FAR))
    yield from ("", "## Off by less and called within the tolerance of .02", "")
    yield (
        "It is said only where miscalibration is clear. The mean deviation, where it is not named, is in "
        "brackets. What is lost is the price of looking into the groups."
    )
    yield ""
    yield from table(columns, tolerable(NEAR_ENOUGH))


def sizes_again() -> Iterator[list[str]]:
    """The cells above 6 % with other data sets, and more of them."""
    for place, (title, n) in enumerate(ABOVE_SIX):
        random = np.random.default_rng([SEED, 500 + place])
        share = share_of_rows(random, INDEPENDENT[title], n, repeats=REPEATS_AGAIN)
        yield [title, f"n = {n:,}", percent(share)]
    random = np.random.default_rng([SEED, 400])
    share = share_of_alarms(random, CLUSTERED["beta(8, 1)"], 200, 0.7, 0.7, repeats=REPEATS_AGAIN)
    yield ["beta(8, 1), partly alike, confidences differ", "200 questions of 5 trials", percent(share)]


def sizes_of_clusters() -> Iterator[list[str]]:
    """The same for five trials of each question, for each number of questions."""
    for place, (title, confidences) in enumerate(CLUSTERED.items()):
        for how, shared, jitter, unequal in (
            ("identical trials", 1.0, 0.0, False),
            ("partly alike, confidences differ", 0.7, 0.7, False),
            ("1 to 50 trials, confidences differ much", 0.7, 3.0, True),
        ):
            shares = [
                share_of_alarms(
                    np.random.default_rng([SEED, 100 + place, n]),
                    *(confidences, n, shared, jitter),
                    repeats=REPEATS_OF_LARGE,
                    unequal=unequal,
                )
                for n in CLUSTERS
            ]
            yield [f"{title}, {how}", *map(percent, shares)]


def share_of_alarms(
    random: np.random.Generator,
    confidences: Confidences,
    n_clusters: int,
    shared: float,
    jitter: float,
    *,
    repeats: int,
    unequal: bool = False,
) -> float:
    """Share of calibrated data sets of repeated questions that are called miscalibrated."""
    alarms = 0
    for _ in range(repeats):
        sizes = random.integers(1, 51, n_clusters) if unequal else np.full(n_clusters, TRIALS)
        cluster = np.repeat(np.arange(n_clusters), sizes)
        c = confidences(random, n_clusters)[cluster]
        if jitter:
            logit = np.log(np.maximum(c, 1e-9) / np.maximum(1 - c, 1e-9))
            c = 1 / (1 + np.exp(-logit - jitter * random.standard_normal(c.size)))
        y = correlated_uniforms(random, cluster, shared) < c.astype(np.float32)
        alarms += false_alarm(judge(c, y, cluster).p)
    return alarms / repeats


def powers() -> Iterator[list[str]]:
    """Error, n, and the share of data sets in which the verdict, its parts, and ECE's p are clear."""
    for place, error in enumerate(ERRORS):
        for n in SIZES_OF_POWER:
            random = np.random.default_rng([SEED, 200 + place, n])
            found = np.zeros(4)
            for _ in range(REPEATS_OF_POWER):
                c = error.confidences(random, n)
                y = random.random(n) < np.clip(error.chance(c), 0, 1)
                test = cox_test(c, y)
                ps = (test.p, test.logistic_p, test.curve_p, DrawnRun(c, y).ece_p)
                found += [false_alarm(p) for p in ps]
            yield [error.title, f"{n:,}", *map(percent, found / REPEATS_OF_POWER)]


def weighted_p(level: NDArray[np.float64], slope: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """p-values of level² + weight · slope², where both are standard normal under the null hypothesis.

    In polar coordinates the radius is √χ² with two degrees of freedom, so the p-value is a mean over angles.
    """
    angle = (np.arange(64) + 0.5) * np.pi / 64
    scale = np.cos(angle) ** 2 + weight * np.sin(angle) ** 2
    return np.exp(-(level**2 + weight * slope**2)[:, None] / (2 * scale)).mean(axis=1)


def best_possible() -> Iterator[list[str]]:
    """Power of the best possible tests of two hypotheses: calibrated, or wrong by exactly this error.

    By the lemma of Neyman and Pearson no test at 5 % finds the error more often than the likelihood ratio
    does. The second test does not know the sign: it takes Σ w(y − c), w = error / c(1 − c), in both
    directions. The critical values are the quantiles under the null hypothesis of as many data sets.
    """
    for place, error in enumerate(ERRORS[:7]):
        for n in (300, 1_000):
            random = np.random.default_rng([SEED, 600 + place, n])
            drawn: list[NDArray[np.float64]] = []
            for _ in range(REPEATS_OF_ALTERNATIVES // 500):
                c = error.confidences(random, 500 * n).reshape(500, n)
                q = np.clip(error.chance(c), 1e-6, 1 - 1e-6)
                weight = (q - c) / (c * (1 - c))
                spread = np.sqrt((weight**2 * c * (1 - c)).sum(axis=1))
                uniform = random.random(c.shape)
                for truth in (c, q):
                    y = uniform < truth
                    ratio = np.where(y, np.log(q / c), np.log((1 - q) / (1 - c))).sum(axis=1)
                    drawn.append(np.array([ratio, np.abs((weight * (y - c)).sum(axis=1)) / spread]))
            null, found = (np.concatenate(drawn[start::2], axis=1) for start in (0, 1))
            critical = np.quantile(null, 1 - SIGNIFICANCE_LEVEL, axis=1)
            yield [error.title, f"{n:,}", *map(percent, (found > critical[:, None]).mean(axis=1))]


def alternatives() -> Iterator[list[str]]:
    """Power of other ways to join the level and the slope, from the same two score statistics."""
    normal = NormalDist()
    larger = normal.inv_cdf((1 + (1 - SIGNIFICANCE_LEVEL) ** 0.5) / 2)
    alone = normal.inv_cdf(1 - SIGNIFICANCE_LEVEL / 2)
    for place, error in enumerate(ERRORS[:7]):
        for n in (300, 1_000):
            random = np.random.default_rng([SEED, 300 + place, n])
            found = np.zeros(len(ALTERNATIVES), np.float64)
            for _ in range(REPEATS_OF_ALTERNATIVES // 500):
                c = error.confidences(random, 500 * n)
                y = random.random(c.size) < np.clip(error.chance(c), 0, 1)
                x = cell_logit(bin_of(c, FINEST_BINS)).reshape(500, n)
                residual, v = (y - c).reshape(500, n), (c * (1 - c)).reshape(500, n)
                x = x - ((x * v).sum(axis=1) / v.sum(axis=1))[:, None]
                level = residual.sum(axis=1) / np.sqrt(v.sum(axis=1))
                slope = (residual * x).sum(axis=1) / np.sqrt((x * x * v).sum(axis=1))
                found += [
                    *(
                        np.mean(weighted_p(level, slope, weight) <= SIGNIFICANCE_LEVEL)
                        for weight in (1.0, 0.5, 0.3)
                    ),
                    np.mean(np.maximum(np.abs(level), np.abs(slope)) > larger),
                    np.mean(np.abs(level) > alone),
                ]
            yield [error.title, f"{n:,}", *map(percent, found / (REPEATS_OF_ALTERNATIVES // 500))]


ALTERNATIVES: Final = (
    "level² + slope² (the verdict's)",
    "level² + ½ slope²",
    "level² + 0.3 slope²",
    "larger of the two",
    "level alone",
)


BOUND_NOTE: Final = (
    f"Power at p ≤ .05 of tests made for one error each, {REPEATS_OF_ALTERNATIVES:,} data sets per cell:"
    " the likelihood ratio of a calibrated model and of one with exactly this error, which no test "
    "exceeds (Neyman and Pearson), and the same in both directions. At n = 1,000 and a mean confidence "
    "of .65, an error of .04 is found in 81 to 85 % by a test that knows all but its sign and in about "
    "80 % by the level alone. The verdict looks at the spread as well, and finds it in 73 to 74 %; 80 %"
    " is not reached there. It finds 90 % with c uniform from ½ to 1 or beta(8, 2)."
)


def lines() -> Iterator[str]:
    """The page, line by line."""
    known = ", ".join(f"± {points_known(0.05, n)} points ({n:,})" for n in (REPEATS, REPEATS_OF_LARGE))
    yield "# How often the verdict is right"
    yield ""
    yield (
        f"Written by `python benchmarks/verdict.py`: seed {SEED}; {REPEATS} data sets per cell, "
        f"{REPEATS_OF_LARGE} for n = 10,000 and for clusters, {REPEATS_OF_POWER} for power and "
        f"tolerance. A share near "
        f"5 % is known to {known}."
    )
    yield from ("", "## Calibrated rows called miscalibrated at p ≤ .05", "")
    yield from table(["confidences", *(f"n = {n:,}" for n in ROWS)], sizes_of_rows())
    yield from ("", f"## The same for {TRIALS} trials of each question", "")
    yield (
        "“Partly alike”: an answer follows its question's common number with probability 0.7 (ρ ≈ .5). 60 "
        "questions asked 1 to 50 times are worth fewer than 60 of one size, and are not judged."
    )
    yield ""
    yield from table(["confidences", *(f"{n} questions" for n in CLUSTERS)], sizes_of_clusters())
    yield from ("", "## The same where confidences are rounded", "")
    yield (
        "The outcomes follow the confidences meant, the test sees those written. One decimal is off by up to "
        ".05, which is a miscalibration of the number stated and is found as one when rows are many."
    )
    yield ""
    yield from table(["meant and written", *(f"n = {n:,}" for n in ROWS[1:4])], sizes_of_rounded())
    known = points_known(0.05, REPEATS_AGAIN)
    yield from ("", f"## Again, with {REPEATS_AGAIN:,} other data sets", "")
    yield f"Some of the cells above 6 %: each to ± {known} points."
    yield ""
    yield from table(["confidences", "size", "p ≤ .05"], sizes_again(), n_texts=2)
    yield from ("", "## Miscalibrated rows found at p ≤ .05", "")
    yield "Confidences are .05 + .9 beta(4, 2), with a mean of .65, unless others are named."
    yield ""
    yield from table(
        ["error", "n", "verdict", "level and slope, at .05", "curve, at .05", "ECE's p, M = 10"], powers()
    )
    yield from tolerance()
    yield from ("", "## Other ways to join level and slope", "")
    yield (
        f"Power at p ≤ .05 from the same two statistics, {REPEATS_OF_ALTERNATIVES:,} data sets per cell. To "
        "find .04 in the level at n = 1,000 as often as the test of the level alone takes a weight of about "
        "0.3 for the slope, which then finds the swing less often than ECE's p; ½ comes within two points, "
        "for less power against a wrong spread. The verdict keeps the even sum."
    )
    yield ""
    yield from table(["error", "n", *ALTERNATIVES], alternatives())
    yield from ("", "## What no test can exceed", "")
    yield BOUND_NOTE
    yield ""
    yield from table(["error", "n", "error and its sign known", "error known, not its sign"], best_possible())
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())

"""Measure the p-values of null distributions: how often they are at most .05 for calibrated rows.

Draws calibrated data sets, independent and clustered, computes p-values of ECE and others as the program
does, and writes null.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.bins import Binned, BinSums, segment_starts
from calib_core.edges import FINEST_BINS, Scheme
from calib_core.inference.calibration_test import stated_ends
from calib_core.inference.cluster_draws import ClusterDraws, correlated_uniforms
from calib_core.inference.null import (
    BinnedNullDraws,
    BinomialDraws,
    monte_carlo_p_value,
    null_distribution,
)
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.reliability_without_bins import CELLS, miscalibration_null

SEED: Final = 20261124
ROWS: Final = {30: 600, 100: 600, 300: 600, 1_000: 600, 10_000: 200}
"""Number of rows → number of data sets."""

CLUSTERS: Final = {30: 200, 60: 400, 200: 1_000}
"""Number of questions → number of data sets."""

REPEATS_OF_CORP: Final = 200
AGAIN: Final = 1_000
"""Number of data sets with which the cells above 7 % are measured again."""

REPEATS_ALONE: Final = 100
TRIALS: Final = 5
MAX_TRIALS: Final = 50
UNEQUAL: Final = 200
REPEATS_OF_UNEQUAL: Final = 200
LEVEL: Final = 0.05
SHOWN: Final = (
    ("ece", Scheme("width", 10)),
    ("ece", Scheme("width", 100)),
    ("ece_debiased_sq", Scheme("width", 10)),
)

Confidences = Callable[[np.random.Generator, int], NDArray[np.float64]]

CONFIDENCES: Final[dict[str, Confidences]] = {
    "beta(4, 2)": lambda random, n: random.beta(4, 2, n),
    "beta(8, 1)": lambda random, n: random.beta(8, 1, n),
    "beta(.3, .3), near 0 and 1": lambda random, n: random.beta(0.3, 0.3, n),
}


Written = Callable[[NDArray[np.float64]], NDArray[np.float64]]

WRITTEN: Final[dict[str, tuple[Confidences, Written]]] = {
    ".6, .8 or .95": (lambda random, n: random.choice([0.6, 0.8, 0.95], n), lambda c: c),
    "k/10": (lambda random, n: random.binomial(10, random.beta(4, 2, n)) / 10, lambda c: c),
    "all .9": (lambda _random, n: np.full(n, 0.9), lambda c: c),
    "all .9985": (lambda _random, n: np.full(n, 0.9985), lambda c: c),
    "beta(49.5, .5), mostly above .99": (lambda random, n: random.beta(49.5, 0.5, n), lambda c: c),
    "beta(20, 1) to two decimals": (lambda random, n: random.beta(20, 1, n), lambda c: c.round(2)),
    "beta(20, 1) to one decimal": (lambda random, n: random.beta(20, 1, n), lambda c: c.round(1)),
    "beta(20, 1) to float16": (
        lambda random, n: random.beta(20, 1, n),
        lambda c: c.astype(np.float16).astype(np.float64),
    ),
    "beta(.2, .2) to two decimals": (lambda random, n: random.beta(0.2, 0.2, n), lambda c: c.round(2)),
}
"""What is meant, and how it is written."""

ROWS_OF_WRITTEN: Final = {100: 400, 300: 400, 1_000: 400}


@dataclass(frozen=True)
class DrawnBins:
    """One data set by cell of the finest grid, with the outcomes of its draws.

    The metrics of all draws are computed at once, which takes a fraction of the time; `checked` compares
    their p-values with the program's.
    """

    sums: BinSums
    draws: BinomialDraws | ClusterDraws

    @property
    def no_p_reason(self) -> None:
        """None: they have p-values."""
        return

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """As `NullSource` wants it."""
        return {}

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws:
        """The bins with drawn outcomes, as the program wants them."""
        del metric
        return self.draws.null_draws(scheme)

    @cached_property
    def cells(self) -> Binned:
        """The pairs by cell."""
        return self.sums.binned(CELLS)

    @cached_property
    def outcomes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Σ y and Σ c·y of the data, then of each draw, shape (1 + draws, cells)."""
        drawn = [self.cells, *(draw.bins for draw in self.draws.null_draws(CELLS))]
        return (
            np.array([bins.correct for bins in drawn], np.float64),
            np.array([bins.correct_confidence for bins in drawn]),
        )

    def p_values(self) -> list[float]:
        """The p-value of each metric shown."""
        return [
            monte_carlo_p_value(values[1:], float(values[0]))
            for values in (self.values(metric, scheme) for metric, scheme in SHOWN)
        ]

    def values(self, metric: str, scheme: Scheme) -> NDArray[np.float64]:
        """The metric of the data, then of each draw, shape (1 + draws,)."""
        start = segment_starts(self.cells.index // (FINEST_BINS // scheme.bins))
        correct, correct_confidence = (np.add.reduceat(part, start, axis=1) for part in self.outcomes)
        count = np.add.reduceat(self.cells.count, start)
        gap = correct - np.add.reduceat(self.cells.confidence, start)
        if metric == "ece":
            return np.abs(gap).sum(axis=1) / self.sums.n_pairs
        squares = np.add.reduceat(self.cells.squared_confidence, start) - 2 * correct_confidence + correct
        shared = count > 1
        return ((gap**2 - squares)[:, shared] / (count[shared] - 1)).sum(axis=1) / self.sums.n_pairs

    def miscalibration_p(self) -> float:
        """p-value of the miscalibration of an isotonic fit (CORP)."""
        drawn = self.outcomes[0][1:].astype(np.int64)
        return miscalibration_null(self.cells, drawn)[1]

    def checked(self) -> None:
        """Compares the p-values with those of the program."""
        for p, (metric_id, scheme) in zip(self.p_values(), SHOWN, strict=True):
            metric = METRICS[metric_id]
            null = null_distribution(self, metric, [scheme], [metric.compute(self.sums, scheme)])
            assert null is not None
            assert null.p == (p,)


class Tally:
    """How many p-values of one cell of a table are at most .05."""

    def __init__(self, repeats_of_corp: int = REPEATS_OF_CORP) -> None:
        self.repeats_of_corp = repeats_of_corp
        self.clear = np.zeros(len(SHOWN), np.int64)
        self.n = self.clear_of_corp = self.n_of_corp = 0

    def add(self, drawn: DrawnBins) -> None:
        """Count one data set."""
        if not self.n:
            drawn.checked()
        self.n += 1
        self.clear += np.array(drawn.p_values()) <= LEVEL
        if self.n_of_corp < self.repeats_of_corp:
            self.n_of_corp += 1
            self.clear_of_corp += drawn.miscalibration_p() <= LEVEL

    @property
    def cells(self) -> list[str]:
        """Number of data sets, and the shares."""
        shares = (*self.clear / self.n, self.clear_of_corp / self.n_of_corp)
        return [f"{self.n:,}", *map(percent, shares)]


def drawn_rows(random: np.random.Generator, confidences: Confidences, n: int) -> DrawnBins:
    """One calibrated data set of independent rows."""
    c = confidences(random, n)
    sums = BinSums.from_pairs(c, random.random(n) < c)
    return DrawnBins(sums, BinomialDraws(sums, seed=int(random.integers(2**32))))


def drawn_written(random: np.random.Generator, meant: Confidences, write: Written, n: int) -> DrawnBins:
    """One data set of rows that are right as often as what is meant, with draws of what is written."""
    c = meant(random, n)
    written, y = write(c), random.random(n) < c
    sums = BinSums.from_pairs(written, y)
    at_zero, at_one = stated_ends(written, y)
    moved = at_zero.moved, at_one.moved
    return DrawnBins(sums, BinomialDraws(sums, moved, seed=int(random.integers(2**32))))


def drawn_clusters(
    random: np.random.Generator,
    confidences: Confidences,
    n_clusters: int,
    shared: float,
    jitter: float,
    *,
    unequal: bool = False,
) -> tuple[DrawnBins, int]:
    """One calibrated data set of questions asked several times, and the seed of its draws."""
    sizes = random.integers(1, MAX_TRIALS + 1, n_clusters) if unequal else TRIALS
    cluster = np.repeat(np.arange(n_clusters), sizes)
    c = np.repeat(confidences(random, n_clusters), sizes)
    if jitter:
        c = np.clip(c, 1e-9, 1 - 1e-9)
        logit = np.log(c / (1 - c))
        c = 1 / (1 + np.exp(-logit - jitter * random.standard_normal(c.size)))
    y = correlated_uniforms(random, cluster, shared) < c.astype(np.float32)
    sums, seed = BinSums.from_pairs(c, y), int(random.integers(2**32))
    return DrawnBins(sums, ClusterDraws(sums, c, y, cluster, seed=seed)), seed


def sizes_of_rows() -> Iterator[list[str]]:
    """Confidences, n, data sets, and the share of clear p-values of each metric."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for n, repeats in ROWS.items():
            random, tally = np.random.default_rng([SEED, place, n]), Tally()
            for _ in range(repeats):
                tally.add(drawn_rows(random, confidences, n))
            yield [title, f"{n:,}", *tally.cells]


def sizes_of_written() -> Iterator[list[str]]:
    """The same for confidences that repeat, are rounded or are extreme."""
    for place, (title, (meant, write)) in enumerate(WRITTEN.items()):
        for n, repeats in ROWS_OF_WRITTEN.items():
            random, tally = np.random.default_rng([SEED, 200 + place, n]), Tally()
            for _ in range(repeats):
                tally.add(drawn_written(random, meant, write, n))
            yield [title, f"{n:,}", *tally.cells]


def sizes_of_unequal() -> Iterator[list[str]]:
    """The same for questions that are asked unequally often, whose trials differ."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        random, tally = np.random.default_rng([SEED, 300 + place]), Tally()
        for _ in range(REPEATS_OF_UNEQUAL):
            tally.add(drawn_clusters(random, confidences, UNEQUAL, 0.7, 3.0, unequal=True)[0])
        yield [title, str(UNEQUAL), *tally.cells]


ALIKE: Final = {"identical": (1.0, 0.0), "partly alike": (0.7, 0.5)}
"""How alike trials are → λ, and the spread of their confidences' logits."""


def sizes_of_clusters() -> Iterator[list[str]]:
    """The same for clusters; the last share is that of ECE, M = 10, with rows drawn as if independent."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for how, alike in ALIKE.items():
            for n_clusters, repeats in CLUSTERS.items():
                random, tally = np.random.default_rng([SEED, 100 + place, n_clusters]), Tally()
                clear_alone = 0
                for number in range(repeats):
                    drawn, seed = drawn_clusters(random, confidences, n_clusters, *alike)
                    tally.add(drawn)
                    if number < REPEATS_ALONE:
                        alone = DrawnBins(drawn.sums, BinomialDraws(drawn.sums, seed=seed))
                        clear_alone += alone.p_values()[0] <= LEVEL
                alone_share = percent(clear_alone / min(repeats, REPEATS_ALONE))
                yield [f"{title}, {how}", str(n_clusters), *tally.cells, alone_share]


def sizes_again() -> Iterator[list[str]]:
    """The cells above 7 % (of 30 and 60 questions, 11 %) with other data sets, and more of them."""
    title = "beta(4, 2)"
    random, tally = np.random.default_rng([SEED, 500]), Tally(AGAIN)
    for _ in range(AGAIN):
        tally.add(drawn_rows(random, CONFIDENCES[title], 100))
    yield [title, "n = 100", *tally.cells]
    for place, (title, how) in enumerate(
        (("beta(4, 2)", "identical"), ("beta(.3, .3), near 0 and 1", "partly alike"))
    ):
        random, tally = np.random.default_rng([SEED, 501 + place]), Tally(AGAIN)
        for _ in range(AGAIN):
            tally.add(drawn_clusters(random, CONFIDENCES[title], 200, *ALIKE[how])[0])
        yield [f"{title}, {how}", "200 questions", *tally.cells]


def lines() -> Iterator[str]:
    """The page, line by line."""
    metrics = [f"{METRICS[metric].title}, M = {scheme.bins}" for metric, scheme in SHOWN]
    metrics.append("miscalibration (CORP)")
    known = ", ".join(f"± {points_known(LEVEL, n)} points ({n:,})" for n in (1_000, 600, 400, 200))
    yield "# How often p ≤ .05 for calibrated rows"
    yield ""
    yield (
        f"Written by `python benchmarks/null.py`, seed {SEED}. Each data set has draws of its own, with its "
        f"own seed. By the number of data sets, a share near 5 % is known to {known}; CORP's is over the "
        f"first {REPEATS_OF_CORP}, and that of rows as if independent over the first {REPEATS_ALONE}."
    )
    yield from ("", "## Independent rows", "")
    yield from table(["confidences", "n", "data sets", *metrics], sizes_of_rows())
    yield from ("", "## Confidences that repeat, are rounded or are extreme", "")
    yield (
        "The outcomes follow the confidences meant, the p-value sees those written, and takes a 0 or 1 as "
        "what rounds to it. One decimal is off by up to .05, which is a miscalibration of the number stated."
    )
    yield ""
    yield from table(["meant and written", "n", "data sets", *metrics], sizes_of_written())
    yield from ("", f"## Questions asked {TRIALS} times", "")
    yield (
        "“Partly alike”: an answer follows its question's common number with probability 0.7 (ρ ≈ .5), and "
        "confidences differ from trial to trial. Below 60 questions the program gives no p-value."
    )
    yield ""
    yield from table(
        ["confidences", "questions", "data sets", *metrics, f"{metrics[0]}, rows as if independent"],
        sizes_of_clusters(),
    )
    yield from ("", f"## Questions asked 1 to {MAX_TRIALS} times, whose confidences differ much", "")
    yield from table(["confidences", "questions", "data sets", *metrics], sizes_of_unequal())
    yield from ("", "## Again, with other data sets", "")
    yield f"Some of the cells above 7 %; each to ± {points_known(LEVEL, AGAIN)} points."
    yield ""
    yield from table(["confidences", "size", "data sets", *metrics], sizes_again(), n_texts=2)
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())

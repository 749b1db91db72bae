"""Measure the p-values of null distributions: how often they are at most .05 for calibrated rows.

Draws calibrated data sets, independent and clustered, computes p-values of ECE and others as the program
does, and writes null.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.cluster_draws import ClusterDraws, correlated_uniforms
from calib_core.inference.null import BinnedNullDraws, BinomialDraws, null_distribution
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.reliability_without_bins import CELLS, miscalibration_null

SEED: Final = 20261124
ROWS: Final = {30: 1_000, 100: 1_000, 300: 1_000, 1_000: 600, 10_000: 300}
"""Number of rows → number of data sets."""

CLUSTERS: Final = {30: 400, 60: 1_000, 200: 1_000}
"""Number of questions → number of data sets."""

TRIALS: Final = 5
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


class Drawn:
    """The null distributions of one data set."""

    def __init__(self, sums: BinSums, draws: BinomialDraws | ClusterDraws) -> None:
        self.sums, self.draws = sums, draws

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """As `NullSource` wants it."""
        return {}

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws:
        """The bins with drawn outcomes."""
        del metric
        return self.draws.null_draws(scheme)

    def miscalibration_clear(self) -> bool:
        """Whether p ≤ .05 for the miscalibration of an isotonic fit (CORP)."""
        drawn = np.array([draw.bins.correct for draw in self.draws.null_draws(CELLS)])
        return miscalibration_null(self.sums.binned(CELLS), drawn)[1] <= LEVEL

    def clear(self, metric_id: str, scheme: Scheme) -> bool:
        """Whether p ≤ .05."""
        metric = METRICS[metric_id]
        null = null_distribution(self, metric, [scheme], [metric.compute(self.sums, scheme)])
        p = None if null is None else null.p[0]
        return p is not None and p <= LEVEL


def sizes_of_rows() -> Iterator[list[str]]:
    """Confidences, n, data sets, and the share of clear p-values of each metric."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for n, repeats in ROWS.items():
            random = np.random.default_rng([SEED, place, n])
            clear = np.zeros(len(SHOWN) + 1, np.float64)
            for _ in range(repeats):
                c = confidences(random, n)
                sums = BinSums.from_pairs(c, random.random(n) < c)
                drawn = Drawn(sums, BinomialDraws(sums, seed=int(random.integers(2**32))))
                of_shown = (drawn.clear(metric, scheme) for metric, scheme in SHOWN)
                clear += [*of_shown, drawn.miscalibration_clear()]
            yield [title, f"{n:,}", f"{repeats:,}", *map(percent, clear / repeats)]


def sizes_of_clusters() -> Iterator[list[str]]:
    """The same for clusters; the last share is that of ECE, M = 10, with rows drawn as if independent."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for how, shared, jitter in (("identical", 1.0, 0.0), ("partly alike", 0.7, 0.5)):
            for n_clusters, repeats in CLUSTERS.items():
                random = np.random.default_rng([SEED, 100 + place, n_clusters])
                cluster = np.repeat(np.arange(n_clusters), TRIALS)
                clear = np.zeros(len(SHOWN) + 2, np.float64)
                for _ in range(repeats):
                    c = np.repeat(confidences(random, n_clusters), TRIALS)
                    if jitter:
                        c = np.clip(c, 1e-9, 1 - 1e-9)
                        logit = np.log(c / (1 - c))
                        c = 1 / (1 + np.exp(-logit - jitter * random.standard_normal(c.size)))
                    y = correlated_uniforms(random, cluster, shared) < c.astype(np.float32)
                    sums, seed = BinSums.from_pairs(c, y), int(random.integers(2**32))
                    drawn = Drawn(sums, ClusterDraws(sums, c, y, cluster, seed=seed))
                    alone = Drawn(sums, BinomialDraws(sums, seed=seed))
                    clear += [
                        *(drawn.clear(metric, scheme) for metric, scheme in SHOWN),
                        drawn.miscalibration_clear(),
                        alone.clear(*SHOWN[0]),
                    ]
                yield [f"{title}, {how}", str(n_clusters), f"{repeats:,}", *map(percent, clear / repeats)]


def lines() -> Iterator[str]:
    """The page, line by line."""
    metrics = [f"{METRICS[metric].title}, M = {scheme.bins}" for metric, scheme in SHOWN]
    metrics.append("miscalibration (CORP)")
    known = [f"± {points_known(LEVEL, repeats)} points ({repeats:,})" for repeats in (1_000, 600, 300)]
    yield "# How often p ≤ .05 for calibrated rows"
    yield ""
    yield (
        f"Written by `python benchmarks/null.py`, seed {SEED}. Each data set has draws of its own, with its "
        f"own seed. By the number of data sets, a share near 5 % is known to {', '.join(known)}."
    )
    yield from ("", "## Independent rows", "")
    yield from table(["confidences", "n", "data sets", *metrics], sizes_of_rows())
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
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())

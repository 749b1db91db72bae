"""Measure the null draws of positions: how often p ≤ .05 for calibrated distributions.

Draws token-level runs whose targets come from their own distributions, compares their metrics with the draws
that are made as they are read, and writes token_null.md beside this script. The program shows the draws of
positions as calibrated values, without a p, since positions of one text depend on one another; here they are
independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.inference.null import metric_draws, monte_carlo_p_value
from calib_core.metrics import METRICS
from calib_core.results.evidence import TokenEvidence, gather_evidence
from calib_core.runs import RowCounts, RunInfo, TokenRun
from calib_core.tokens.dense import DenseReducer

SEED: Final = 20261129
REPEATS: Final = 600
SIZES: Final = ((4, 100), (4, 2_000), (30, 100), (30, 2_000), (30, 10_000))
"""Numbers of classes and of positions."""
SHARPNESS: Final = {"even": 1.0, "sharp": 4.0}
"""Standard deviation of the logits."""
LEVEL: Final = 0.05
PAPER: Final = (5, 10, 20, 50, 100, 200, 500)
SHOWN: Final = (("ece", 10), ("ece", 100), ("full_ece", 10), ("full_ece", 100), ("cw_ece", 10))


def drawn_run(random: np.random.Generator, classes: int, rows: int, sharpness: float) -> TokenEvidence:
    """One calibrated run."""
    probs = np.exp(sharpness * random.standard_normal((rows, classes)))
    probs /= probs.sum(axis=1, keepdims=True)
    up_to = np.cumsum(probs, axis=1)
    target = (up_to < random.random((rows, 1)) * up_to[:, -1:]).sum(axis=1)
    reducer = DenseReducer(classes, seed=int(random.integers(2**32)), compiled=True)
    reducer.add(probs, target)
    run = TokenRun("text.npz", "npz", "text", RunInfo(), reducer.result(), RowCounts(n_rows=rows))
    return gather_evidence(run, "tokens")


def p_values(run: TokenEvidence) -> list[float]:
    """P of each metric shown, and of the relative standard deviation of Full-ECE over the paper's M."""
    found = [p_of(run, metric, Scheme("width", bins)) for metric, bins in SHOWN]
    metric, schemes = METRICS["full_ece"], [Scheme("width", bins) for bins in PAPER]
    drawn = metric_draws(run, metric, schemes)
    assert drawn is not None
    observed = np.array([[metric.compute(run.sums_for(metric, scheme), scheme)] for scheme in schemes])
    return [*found, monte_carlo_p_value(spread(drawn[1]), float(spread(observed)[0]))]


def p_of(run: TokenEvidence, metric_id: str, scheme: Scheme) -> float:
    """P of one metric."""
    metric = METRICS[metric_id]
    drawn, value = metric_draws(run, metric, [scheme]), metric.compute(run.sums_for(metric, scheme), scheme)
    assert drawn is not None
    assert value is not None
    return monte_carlo_p_value(drawn[1][0], value)


def spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative standard deviation over the first axis."""
    return values.std(axis=0) / values.mean(axis=0)


def sizes() -> Iterator[list[str]]:
    """Distributions, K, T, and the share of small p of each metric."""
    for place, (title, sharpness) in enumerate(SHARPNESS.items()):
        for classes, rows in SIZES:
            random = np.random.default_rng([SEED, place, classes, rows])
            runs = (drawn_run(random, classes, rows, sharpness) for _ in range(REPEATS))
            clear = (np.array([p_values(run) for run in runs]) <= LEVEL).mean(axis=0)
            yield [title, str(classes), f"{rows:,}", *map(percent, clear)]


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often p ≤ .05 for calibrated positions"
    yield ""
    yield (
        f"Written by `python benchmarks/token_null.py`: seed {SEED}; {REPEATS} data sets per cell, so that a "
        f"share near 5 % is known to ± {points_known(LEVEL, REPEATS)} points. Positions are independent, and "
        "their draws are those of the program, a Latin hypercube (decision 0009): 199, or 19 by class. "
        "Logits are normal, with standard deviation 1 (even) or 4 (sharp)."
    )
    yield ""
    metrics = [f"{METRICS[metric].title}, M = {bins}" for metric, bins in SHOWN]
    yield from table(["distributions", "K", "positions", *metrics, "RSD of Full-ECE over M"], sizes())
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())

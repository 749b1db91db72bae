"""How far may a metric be from its true value? Bootstrap intervals by weights of resampled units.

The intervals are basic (reflected) bootstrap intervals: Davison & Hinkley (1997), *Bootstrap Methods and
their Application*, doi:10.1017/CBO9780511802843.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import segment_starts
from calib_core.edges import Scheme, assign_bins
from calib_core.metrics.metric import BootstrapUnits
from calib_core.pairs import Pairs

BOOTSTRAP_DRAWS: Final = 999
"""Number of draws for a metric that is a product of the weights."""

BOOTSTRAP_DRAWS_RECOMPUTED: Final = 199
"""Number of draws for a metric that has to be computed again in each draw."""

BOOTSTRAP_SEED: Final = 0
"""Default seed."""

MAX_INDIVIDUAL_UNITS: Final = 20_000
"""Up to this many rows, each is a unit; more are grouped by outcome and by finest bin (width 1/3000)."""

_MAX_WEIGHTS: Final = 4_000_000
"""Number of weights held in memory at once."""

WeightedMetric = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Weights of the questions, shape (draws, questions) → the metric in each draw, shape (draws,)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a metric.

    Attributes
    ----------
    low, high : float
        Ends of the interval.
    n_draws, seed : int
        Number and seed of the bootstrap's draws; both 0 for Wilson's interval.
    interval_method : str
        How it was computed, for recipes.
    """

    low: float
    high: float
    n_draws: int
    seed: int
    interval_method: str


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A mean paired difference with its 95 % interval.

    Attributes
    ----------
    value : float
        Mean of second − first over the pairs of runs.
    low, high : float
        Ends of the interval.
    p : float
        Two-sided p-value of no difference, in [0, 1].
    n_questions : int
        Number of distinct questions.
    n_pairs : int
        Number of pairs of runs.
    n_draws, seed : int
        Number and seed of the bootstrap's draws.
    interval_method : str
        How the interval was computed, for recipes.
    """

    value: float
    low: float
    high: float
    p: float
    n_questions: int
    n_pairs: int
    n_draws: int
    seed: int
    interval_method: str


def equal_weight_draws(n: int, n_draws: int, seed: int) -> Iterable[NDArray[np.float64]]:
    """`multinomial_draws` of n units with equal probabilities; every run of n rows has the same draws."""
    return (
        _cached_equal_weight_draws(n, n_draws, seed)
        if n * n_draws <= _MAX_WEIGHTS
        else multinomial_draws(np.full(n, 1 / n), n, n_draws, seed)
    )


@lru_cache(maxsize=4)
def _cached_equal_weight_draws(n: int, n_draws: int, seed: int) -> tuple[NDArray[np.float64], ...]:
    # Drawing takes ten times as long as everything else, and many runs have the same number of rows.
    return tuple(multinomial_draws(np.full(n, 1 / n), n, n_draws, seed))


def multinomial_draws(
    probabilities: NDArray[np.float64], n: int, n_draws: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Bootstrap weights: how often each unit is drawn.

    Parameters
    ----------
    probabilities : NDArray[np.float64], shape (units,)
        Probability of each unit; they sum to 1.
    n : int
        Number of units drawn, with replacement, in each draw.
    n_draws, seed : int
        Number and seed of the draws.

    Yields
    ------
    NDArray[np.float64], shape (draws, units)
        Weights of a batch of draws.
    """
    random = np.random.default_rng(seed)
    batch = max(1, _MAX_WEIGHTS // probabilities.size)
    for start in range(0, n_draws, batch):
        yield random.multinomial(n, probabilities, size=min(batch, n_draws - start)).astype(np.float64)


def mean_difference(
    metric_pairs: Sequence[tuple[WeightedMetric, WeightedMetric]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean over the pairs of metrics of second − first in each draw, shape (draws,)."""
    return np.mean([second(weights) - first(weights) for first, second in metric_pairs], axis=0)


def basic_interval(value: float, draws: NDArray[np.float64]) -> tuple[float, float] | None:
    """Ends of the basic 95 % bootstrap interval, 2·value minus the 97.5 % and 2.5 % quantiles of the draws.

    None if the metric is not finite in any draw.
    """
    if not np.isfinite(draws).all():
        return None
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(2 * value - high), float(2 * value - low)


def interval_method_text(n_draws: int, seed: int, unit: str) -> str:
    """How the interval was computed, for recipes."""
    return f"basic bootstrap 95 % over {unit}, {n_draws} draws, seed {seed}, approximate"


def resampling_units(
    pairs: Pairs, scheme: Scheme, cell: NDArray[np.intp]
) -> tuple[BootstrapUnits, NDArray[np.intp]]:
    """Group pairs into bootstrap units.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    scheme : Scheme
        Bins of the metric.
    cell : NDArray[np.intp], shape (pairs,)
        Pairs in the same bin with the same cell number form one unit.

    Returns
    -------
    units : BootstrapUnits
        The units, sorted by bin.
    unit : NDArray[np.intp], shape (pairs,)
        Unit of each pair.
    """
    outcome = pairs.correct.astype(np.float64)
    gap = pairs.confidence.astype(np.float64) - outcome
    bin_ = assign_bins(pairs.confidence, scheme, computed=pairs.computed)
    order = np.lexsort((cell, bin_))
    first = segment_starts(bin_[order], cell[order])
    count = np.diff(first, append=order.size)
    unit = np.empty(order.size, np.intp)
    unit[order] = np.repeat(np.arange(first.size), count)
    mean_gap, squared_error, accuracy = (
        np.bincount(unit, values, first.size) / count for values in (gap, gap**2, outcome)
    )
    bin_starts = segment_starts(bin_[order][first])
    return BootstrapUnits(count, mean_gap, squared_error, accuracy, bin_starts), unit

"""moved."""

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

# MERGED resampling: How often does each unit count in each draw of a bootstrap?

_MAX_WEIGHTS: Final = 4_000_000
"""Weights held at once."""


def equal_weight_draws(n: int, n_draws: int, seed: int) -> Iterable[NDArray[np.float64]]:
    """As `weighted`, of n units with equal shares: the same ones for every run of n rows."""
    return (
        _cached_equal_weight_draws(n, n_draws, seed)
        if n * n_draws <= _MAX_WEIGHTS
        else multinomial_draws(np.full(n, 1 / n), n, n_draws, seed)
    )


@lru_cache(maxsize=4)
def _cached_equal_weight_draws(n: int, n_draws: int, seed: int) -> tuple[NDArray[np.float64], ...]:
    # Drawing them takes ten times as long as all else, and many runs have as many rows.
    return tuple(multinomial_draws(np.full(n, 1 / n), n, n_draws, seed))


def multinomial_draws(
    probabilities: NDArray[np.float64], n: int, n_draws: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Multinomial draws of n among units of these shares, in parts of shape (draws, units)."""
    random = np.random.default_rng(seed)
    part = max(1, _MAX_WEIGHTS // probabilities.size)
    for start in range(0, n_draws, part):
        yield random.multinomial(n, probabilities, size=min(part, n_draws - start)).astype(np.float64)


# MERGED bootstrap__to__bootstrap: moved.

BOOTSTRAP_DRAWS: Final = 999


BOOTSTRAP_DRAWS_RECOMPUTED: Final = 199
"""Draws of a metric that is a product of the weights, and of one that has to be added up anew each time."""


BOOTSTRAP_SEED: Final = 0
"""Of the draws, where no other is asked for."""


MAX_INDIVIDUAL_UNITS: Final = 20_000
"""Up to so many rows each is drawn by itself; more are drawn by cells of 1/3000 and outcome."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval. how: "Wilson 95 %", or the bootstrap with its draws and seed (0 and 0 for Wilson)."""

    low: float
    high: float
    n_draws: int
    seed: int
    interval_method: str


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A mean paired difference with its 95 % interval.

    value: mean over the pairs of runs of second − first; questions: distinct ones it rests on; pairs: of
    runs.
    """

    value: float
    low: float
    high: float
    n_questions: int
    n_pairs: int
    n_draws: int
    seed: int
    interval_method: str


WeightedMetric = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Weights of the questions, shape (draws, questions) → the metric in each draw, shape (draws,)."""


def mean_difference(
    metric_pairs: Sequence[tuple[WeightedMetric, WeightedMetric]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean over the metrics of second − first, in each draw; shape (draws,)."""
    return np.mean([second(weights) - first(weights) for first, second in metric_pairs], axis=0)


def basic_interval(value: float, draws: NDArray[np.float64]) -> tuple[float, float] | None:
    """2·value − the 97.5 % and 2.5 % points of the draws; None where a draw is not defined."""
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
    """Pairs added up by bin and cell, and the unit of each pair.

    cell: of each pair, shape (pairs,): pairs of one bin and one cell are one unit.
    """
    right = pairs.correct.astype(np.float64)
    gap = pairs.confidence.astype(np.float64) - right
    bin_ = assign_bins(pairs.confidence, scheme, computed=pairs.computed)
    order = np.lexsort((cell, bin_))
    first = segment_starts(bin_[order], cell[order])
    count = np.diff(first, append=order.size)
    unit = np.empty(order.size, np.intp)
    unit[order] = np.repeat(np.arange(first.size), count)
    gaps, squares, rights = (np.bincount(unit, values, first.size) / count for values in (gap, gap**2, right))
    return BootstrapUnits(count, gaps, squares, rights, segment_starts(bin_[order][first])), unit

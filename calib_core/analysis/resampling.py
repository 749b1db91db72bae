"""How often does each unit count in each draw of a bootstrap?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MAX_WEIGHTS: Final = 4_000_000
"""Weights held at once."""


def equal_weight_draws(n: int, n_draws: int, seed: int) -> Iterable[NDArray[np.float64]]:
    """As `weighted`, of n units with equal shares: the same ones for every run of n rows."""
    return _cached_equal_weight_draws(n, n_draws, seed) if n * n_draws <= _MAX_WEIGHTS else multinomial_draws(np.full(n, 1 / n), n, n_draws, seed)


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

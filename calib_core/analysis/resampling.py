"""How often does each unit count in each draw of a bootstrap?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_AT_ONCE: Final = 4_000_000
"""Weights held at once."""


def equally_weighted(n: int, draws: int, seed: int) -> Iterable[NDArray[np.float64]]:
    """As `weighted`, of n units with equal shares: the same ones for every run of n rows."""
    return _few(n, draws, seed) if n * draws <= _AT_ONCE else weighted(np.full(n, 1 / n), n, draws, seed)


@lru_cache(maxsize=4)
def _few(n: int, draws: int, seed: int) -> tuple[NDArray[np.float64], ...]:
    # Drawing them takes ten times as long as all else, and many runs have as many rows.
    return tuple(weighted(np.full(n, 1 / n), n, draws, seed))


def weighted(
    share: NDArray[np.float64], n: int, draws: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Multinomial draws of n among units of these shares, in parts of shape (draws, units)."""
    random = np.random.default_rng(seed)
    part = max(1, _AT_ONCE // share.size)
    for start in range(0, draws, part):
        yield random.multinomial(n, share, size=min(part, draws - start)).astype(np.float64)

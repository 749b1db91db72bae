"""Which random numbers belong to a position, whatever part of the data is read first?

SplitMix64 (Steele, Lea and Flood 2014): each position has its own stream, begun at a hash of the seed, its
row and what is stored there. So the size of the parts read changes nothing, and two parts of a data set,
whose rows are counted from 0 both times, do not share their draws.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

RandomWords = NDArray[np.uint64]

_GOLDEN_GAMMA: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_FACTOR_1: Final = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX_FACTOR_2: Final = np.uint64(0x94D0_49BB_1331_11EB)


def mix64(words: RandomWords) -> RandomWords:
    """Each word's bits, well stirred: the output function of SplitMix64, a bijection."""
    stirred = (words ^ (words >> np.uint64(30))) * _MIX_FACTOR_1
    stirred = (stirred ^ (stirred >> np.uint64(27))) * _MIX_FACTOR_2
    return stirred ^ (stirred >> np.uint64(31))


def stream_states(seed: int, *keys: NDArray[np.int64] | NDArray[np.float64]) -> RandomWords:
    """The state in which the stream of each position begins; facts: what tells it from others, shape (n,)."""
    state = np.full(facts[0].shape, seed % (1 << 64), np.uint64)
    for fact in facts:
        state = mix64((state ^ fact.view(np.uint64)) + _GOLDEN_GAMMA)
    return state


def uniform_draws(state: RandomWords, draws: int) -> NDArray[np.float64]:
    """The first numbers of each stream, uniform in [0, 1), multiples of 2⁻⁵³; shape (n, draws)."""
    steps = np.arange(1, draws + 1, dtype=np.uint64) * _GOLDEN_GAMMA
    return (mix64(state[:, None] + steps) >> np.uint64(11)).astype(np.float64) * 2.0**-53

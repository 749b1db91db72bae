"""Which random numbers belong to a position, whatever part of the data is read first?

SplitMix64 (Steele, Lea and Flood 2014): each position has its own stream, begun at a hash of the seed, its
row and what is stored there. So the size of the parts read changes nothing, and two parts of a data set,
whose rows are counted from 0 both times, do not share their draws.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_STEP: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_FIRST: Final = np.uint64(0xBF58_476D_1CE4_E5B9)
_SECOND: Final = np.uint64(0x94D0_49BB_1331_11EB)


def mixed(words: Words) -> Words:
    """Each word's bits, well stirred: the output function of SplitMix64, a bijection."""
    stirred = (words ^ (words >> np.uint64(30))) * _FIRST
    stirred = (stirred ^ (stirred >> np.uint64(27))) * _SECOND
    return stirred ^ (stirred >> np.uint64(31))


def streams(seed: int, *facts: NDArray[np.int64] | NDArray[np.float64]) -> Words:
    """The state in which the stream of each position begins; facts: what tells it from others, shape (n,)."""
    state = np.full(facts[0].shape, seed % (1 << 64), np.uint64)
    for fact in facts:
        state = mixed((state ^ fact.view(np.uint64)) + _STEP)
    return state


def uniform(state: Words, draws: int) -> NDArray[np.float64]:
    """The first numbers of each stream, uniform in [0, 1), multiples of 2⁻⁵³; shape (n, draws)."""
    steps = np.arange(1, draws + 1, dtype=np.uint64) * _STEP
    return (mixed(state[:, None] + steps) >> np.uint64(11)).astype(np.float64) * 2.0**-53

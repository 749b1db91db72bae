"""What is F_PC of these cluster sizes, to the nearest double?

A product over 64 samples overflows 64 bits. Numerator and denominator are whole numbers as far as 62 bits
hold them, and pairs of doubles beyond (`paired`); where those cannot tell which double is the nearest, they
are Python's integers, each distinct tuple of sizes once.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.confidence.method import Unparseable
from calib_core.confidence.paired import nearest, power, product, quotient

Whole = NDArray[np.int64]

CELLS: Final = 1 << 18
"""How many sizes are multiplied at a time."""
BITS: Final = 62
"""What a whole number of numpy holds, with room to round it up."""


def pairwise_of(
    sizes: NDArray[np.integer[Any]], unparsed: NDArray[np.integer[Any]], rule: Unparseable
) -> NDArray[np.float64]:
    """F_PC = Π_{j≠i} n_i/(n_i + n_j) of each row's largest cluster i (Wang et al., arXiv 2403.09849).

    sizes: shape (rows, k), whole numbers ≥ 0, clusters of samples that parse, each row ascending, 0 = no
    such cluster; unparsed: shape (rows,), samples that do not parse, which make clusters as `rule` says.
    Returns float64 of shape (rows,), each the double nearest to the exact quotient; NaN where a row has
    no cluster. Equal clusterings have bitwise equal values.
    """
    values = np.full(sizes.shape[0], np.nan)
    if not sizes.size:
        return values
    known = np.flatnonzero(sizes[:, -1])
    step = max(1, CELLS // sizes.shape[1])
    for part in np.split(known, range(step, known.size, step)):
        largest, *others = sizes[part, ::-1].astype(np.int64).T
        apart = unparsed[part].astype(np.int64)
        if rule == "one":
            others.append(apart)
        values[part] = _products(largest, others, apart if rule == "own" else np.zeros_like(apart))
    return values


def _products(largest: Whole, others: list[Whole], alone: Whole) -> NDArray[np.float64]:
    """Π n/(n + n_j) over the other clusters and n/(n + 1) as often as there are samples alone."""
    value = power(quotient(largest, largest + 1), alone)
    steps = 4 * int(alone.max(initial=0))
    for over, under in _fractions(largest, others):
        value, steps = product(value, quotient(over, under)), steps + 2
    values, sure = nearest(value, steps)
    if not sure.all():
        rows = np.column_stack([largest, alone, *others])[~sure]
        table, which = np.unique(rows, axis=0, return_inverse=True)
        values[~sure] = np.array([_exactly(*row) for row in table.tolist()])[which]
    return values


def _fractions(largest: Whole, others: list[Whole]) -> Iterator[tuple[Whole, Whole]]:
    """Numerators and denominators of as many factors at a time as 62 bits hold.

    A cluster of size 0, of which there is none, has the factor n/(n + 0) = 1.
    """
    at_once = BITS // (2 * int(largest.max(initial=1))).bit_length()
    for low in range(0, len(others), at_once):
        some = others[low : low + at_once]
        yield largest ** len(some), prod((largest + size for size in some[1:]), start=largest + some[0])


def _exactly(largest: int, alone: int, *others: int) -> float:
    """The same of one row in Python's integers."""
    under = prod(largest + size for size in others) * (largest + 1) ** alone
    return largest ** (len(others) + alone) / under

"""What is F_PC of these cluster sizes, as one quotient of whole numbers?

A product over 64 samples overflows 64 bits, so numerator and denominator are Python's integers; each
distinct tuple of sizes, sorted, is computed once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.confidence.method import Unparseable

Whole = NDArray[np.int64]

CELLS: Final = 1 << 20
"""How many sizes are multiplied at a time."""
BITS: Final = 63
"""What a whole number of numpy holds."""


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
    alone = np.zeros_like(unparsed) if rule == "drop" else unparsed
    first, which = distinct_rows(np.column_stack([alone, sizes]))
    step = max(1, CELLS // sizes.shape[1])
    of_distinct = np.concatenate([
        _quotients(sizes[part].astype(np.int64), alone[part].astype(np.int64), rule)
        for part in np.split(first, range(step, first.size, step))
    ])
    return of_distinct[which]


def distinct_rows(table: NDArray[np.integer[Any]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each distinct row of whole numbers ≥ 0, and which of those each row is."""
    key = np.zeros(table.shape[0], np.uint64)
    used = 0
    for column in table.T:
        bits = int(column.max()).bit_length()
        if used + bits > BITS:
            # The columns so far are renamed 0, 1, 2 … so that there is room for more.
            key = np.unique(key, return_inverse=True)[1].astype(np.uint64)
            used = int(table.shape[0]).bit_length()
        key = key << np.uint64(bits) | column.astype(np.uint64)
        used += bits
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first, which


def _quotients(sizes: Whole, alone: Whole, rule: Unparseable) -> NDArray[np.float64]:
    """One quotient a row; a cluster of size 0 has the factor n_i/(n_i + 0) = 1."""
    largest = sizes[:, -1]
    power = np.full(largest.size, sizes.shape[1])
    under = _product(largest[:, None] + sizes)
    # The majority's own factor n_i/(2 n_i) is in the product over all clusters: 2 n_i takes it out.
    if rule == "own":
        over = 2 * _power(largest, power + alone)
        under = under * _power(largest + 1, alone) if alone.any() else under
    else:
        over, under = 2 * _power(largest, power + 1), under * (largest + alone)
    known = largest > 0
    values = np.full(largest.size, np.nan)
    values[known] = (over[known] / under[known]).astype(np.float64)
    return values


def _power(base: Whole, exponent: Whole) -> NDArray[Any]:
    """The base to the exponent as Python's integers, each distinct one computed once."""
    width = int(exponent.max()) + 1
    pairs, which = np.unique(base * width + exponent, return_inverse=True)
    return ((pairs // width).astype(object) ** (pairs % width).astype(object))[which]


def _product(factors: Whole) -> NDArray[Any]:
    """The product of each row as Python's integers: as many at a time as 63 bits hold, then exactly."""
    at_once = max(1, BITS // int(factors.max()).bit_length())
    starts = list(range(0, factors.shape[1], at_once))
    parts = np.multiply.reduceat(factors, starts, axis=1)
    return np.multiply.reduce(parts.astype(object), axis=1)

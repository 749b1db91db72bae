"""What is a product of quotients to more than twice the digits of a double?  Pairs of doubles.

A value is the sum of two doubles, the second at most half a unit in the last place of the first: about 106
bits (T. J. Dekker, A floating-point technique for extending the available precision, 1971).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_SPLIT: Final = float(2**27 + 1)
"""Splits the 53 bits of a double in two halves, whose products are exact."""
_ERROR: Final = 2.0**-98
"""More than the relative error of one quotient or product."""
_LEAST: Final = 1e-250
"""Below it the second double may be too small to be one."""


class Pair(NamedTuple):
    """Values, each as the sum of two doubles; float64 of one shape."""

    value: NDArray[np.float64]
    rest: NDArray[np.float64]


def quotient(over: NDArray[np.int64], under: NDArray[np.int64]) -> Pair:
    """over/under, whole numbers of at most 62 bits, under > 0; to a relative error of 2⁻⁹⁸."""
    above, below = _whole(over), _whole(under)
    first = above.value / below.value
    times = _times(first, below.value)
    left = above.value - times.value - times.rest + above.rest - first * below.rest
    return _sum(first, left / below.value)


def product(one: Pair, other: Pair) -> Pair:
    """Both multiplied, to a relative error of 2⁻⁹⁸ beside theirs."""
    times = _times(one.value, other.value)
    return _sum(times.value, times.rest + (one.value * other.rest + one.rest * other.value))


def power(base: Pair, exponent: NDArray[np.int64]) -> Pair:
    """The base, of at most 1, to whole numbers ≥ 0; an exponent n counts for less than 3n products."""
    value = Pair(np.ones(exponent.size), np.zeros(exponent.size))
    while exponent.any():
        more, odd = product(value, base), exponent % 2 == 1
        value = Pair(np.where(odd, more.value, value.value), np.where(odd, more.rest, value.rest))
        base, exponent = product(base, base), exponent // 2
    return value


def nearest(of: Pair, steps: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The double nearest to each exact value, and whether it surely is.

    steps: how many quotients and products the values have gone through.
    """
    error = of.value * (steps * _ERROR)
    low, high = of.value + (of.rest - error), of.value + (of.rest + error)
    return of.value, (low == of.value) & (high == of.value) & (of.value > _LEAST)


def _whole(numbers: NDArray[np.int64]) -> Pair:
    """Whole numbers as pairs, exactly."""
    value = numbers.astype(np.float64)
    return Pair(value, (numbers - value.astype(np.int64)).astype(np.float64))


def _times(one: NDArray[np.float64], other: NDArray[np.float64]) -> Pair:
    """The product of two doubles, exactly."""
    value = one * other
    left, right = _halves(one), _halves(other)
    rest = left.value * right.value - value
    rest += left.value * right.rest
    rest += left.rest * right.value
    rest += left.rest * right.rest
    return Pair(value, rest)


def _halves(values: NDArray[np.float64]) -> Pair:
    """Each double as the sum of two of at most 26 bits."""
    wide = values * _SPLIT
    high = wide - (wide - values)
    return Pair(high, values - high)


def _sum(large: NDArray[np.float64], small: NDArray[np.float64]) -> Pair:
    """The sum of a double and a smaller one, exactly."""
    value = large + small
    return Pair(value, small - (value - large))

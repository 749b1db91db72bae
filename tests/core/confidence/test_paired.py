"""Do pairs of doubles keep what they promise: steps exact to 98 bits, and which double is nearest?"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calib_core.confidence.paired import Pair, nearest, power, product, quotient

FRACTIONS = st.tuples(st.integers(1, 2**62 - 1), st.integers(1, 2**62 - 1))


def pair(over: int, under: int) -> Pair:
    return quotient(np.array([over]), np.array([under]))


def exact(of: Pair) -> Fraction:
    return Fraction(of.value.item()) + Fraction(of.rest.item())


@given(st.lists(FRACTIONS, min_size=1, max_size=8))
def test_each_step_is_exact_to_98_bits(fractions: list[tuple[int, int]]) -> None:
    value, true, steps = pair(*fractions[0]), Fraction(*fractions[0]), 1
    for one in fractions[1:]:
        value, true, steps = product(value, pair(*one)), true * Fraction(*one), steps + 2
    assert abs(exact(value) - true) <= true * steps / 2**98
    values, sure = nearest(value, steps)
    assert not sure.item() or values.item() == float(true)


def test_ordinary_quotients_are_sure_and_halfway_ones_are_not() -> None:
    over = np.array([1, 2, 1, 2**53 + 1, 2**54 + 2, 2**62 - 1])
    under = np.array([3, 7, 4, 2, 2, 2**61 + 1])
    values, sure = nearest(quotient(over, under), 1)
    # (2⁵³ + 1)/2 lies halfway between two doubles; (2⁵⁴ + 2)/2 does so, too.
    assert sure.tolist() == [True, True, True, False, False, True]
    true = [float(Fraction(*one)) for one in zip(over.tolist(), under.tolist(), strict=True)]
    assert values[sure].tolist() == np.array(true)[sure].tolist()


def test_what_is_too_small_for_a_second_double_is_not_sure() -> None:
    tiny = Pair(np.array([1e-260]), np.array([0.0]))
    assert nearest(tiny, 1)[1].tolist() == [False]
    assert math.isfinite(nearest(tiny, 1)[0].item())


@given(st.lists(st.tuples(st.integers(1, 2**40), st.integers(0, 300)), min_size=1, max_size=6))
def test_powers_are_as_exact_as_their_products(powers: list[tuple[int, int]]) -> None:
    bases, exponents = np.array(powers).T
    value = power(quotient(bases, bases + 1), exponents)
    for at, (base, exponent) in enumerate(powers):
        true = Fraction(base, base + 1) ** exponent
        one = Pair(value.value[at : at + 1], value.rest[at : at + 1])
        assert abs(exact(one) - true) <= true * 4 * exponent / 2**98

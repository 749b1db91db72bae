"""Is bias mean confidence minus accuracy, positive when over-confident?"""

from __future__ import annotations

from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.bias import BIAS
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("bias", pairs, how)


def test_saying_more_than_is_right_is_positive() -> None:
    assert BIAS.compute(BinSums.from_pairs([0.75, 0.75], [1, 0]), Scheme()) == 0.25
    assert BIAS.compute(BinSums.from_pairs([0.25, 0.25], [1, 0]), Scheme()) == -0.25


def test_gaps_of_opposite_sign_cancel() -> None:
    assert BIAS.compute(BinSums.from_pairs([0.0, 1.0], [1, 0]), Scheme()) == 0.0


def test_nothing_has_no_bias() -> None:
    assert BIAS.compute(BinSums.from_pairs([], []), Scheme()) is None

"""Is accuracy the share of right rows?"""

from __future__ import annotations

from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.accuracy import ACCURACY
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("accuracy", pairs, how)


def test_by_hand() -> None:
    assert ACCURACY.compute(BinSums.from_pairs([0.1, 0.1, 0.9, 0.9], [1, 1, 1, 0]), Scheme()) == 0.75


def test_nothing_has_no_accuracy() -> None:
    assert ACCURACY.compute(BinSums.from_pairs([], []), Scheme()) is None

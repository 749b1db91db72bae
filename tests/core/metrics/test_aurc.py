"""Is AURC the mean share of wrong answers over all thresholds, ties answered together?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.aurc import AURC
from calib_core.results.abstention import abstention_curve
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair
from core.run_builders import given_evidence


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("aurc", pairs, how)


@pytest.mark.parametrize(
    ("confidence", "area"),
    [
        ([0.9, 0.8, 0.7, 0.6], (0 + 0 + 1 / 3 + 1 / 2) / 4),
        ([0.6, 0.7, 0.8, 0.9], (1 + 1 + 2 / 3 + 1 / 2) / 4),
        ([0.9, 0.8, 0.8, 0.6], (0 + 1 / 3 + 1 / 3 + 1 / 2) / 4),
        ([0.5, 0.5, 0.5, 0.5], 1 / 2),
    ],
)
def test_by_hand(confidence: list[float], area: float) -> None:
    found = AURC.compute(BinSums.from_pairs(confidence, [1, 1, 0, 0]), Scheme())
    assert found == pytest.approx(area, abs=1e-15)


def test_the_abstention_page_has_the_same_number() -> None:
    evidence = given_evidence([0.9, 0.8, 0.8, 0.6, 0.6, 0.1], [1, 1, 0, 0, 1, 0])
    assert abstention_curve(evidence).aurc == AURC.compute(evidence.sums, Scheme())


def test_nothing_has_no_aurc() -> None:
    assert AURC.compute(BinSums.from_pairs([], []), Scheme()) is None

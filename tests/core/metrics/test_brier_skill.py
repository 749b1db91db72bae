"""Is the Brier skill score the share of the constant forecast's score that the confidences save?"""

from __future__ import annotations

import pytest
from hypothesis import given

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.brier import BRIER_SKILL
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("brier_skill", pairs, how)


@pytest.mark.parametrize(
    ("confidence", "skill"), [([0.5, 0.5, 0.5, 0.5], 0.0), ([1, 1, 0, 0], 1.0), ([0, 0, 1, 1], -3.0)]
)
def test_the_constant_has_none_and_the_truth_has_all(confidence: list[float], skill: float) -> None:
    assert BRIER_SKILL.compute(BinSums.from_pairs(confidence, [1, 1, 0, 0]), Scheme()) == skill


@pytest.mark.parametrize("outcomes", [[], [1, 1], [0, 0]])
def test_one_outcome_only_has_no_skill(outcomes: list[int]) -> None:
    assert BRIER_SKILL.compute(BinSums.from_pairs([0.5] * len(outcomes), outcomes), Scheme()) is None

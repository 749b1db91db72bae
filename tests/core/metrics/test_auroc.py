"""Is AUROC the chance that a right row is more confident than a wrong one, ties half?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.auroc import AUROC
from core import oracle
from core.edge_cases import agrees, close, confidences, schemes, some_pairs, sums_of
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("auroc", pairs, how)


@given(st.lists(st.tuples(confidences(8), st.sampled_from((0.0, 1e-16, 3e-13, 2e-12)), st.integers(0, 1))))
def test_computed_confidences_are_tied_to_twelve_decimals(drawn: list[tuple[float, float, int]]) -> None:
    pairs = [Pair(min(1.0, value + wobble), 8, y) for value, wobble, y in drawn]
    value = AUROC.compute(sums_of(pairs, computed=True), Scheme())
    assert close(value, oracle.auroc(pairs, Bins(computed=True)))


def test_a_tie_counts_half() -> None:
    assert AUROC.compute(BinSums.from_pairs([0.5, 0.5], [1, 0]), Scheme()) == 0.5
    assert AUROC.compute(BinSums.from_pairs([0.25, 0.5, 0.5, 0.75], [0, 1, 0, 1]), Scheme()) == 3.5 / 4


def test_order_is_all_that_matters() -> None:
    assert AUROC.compute(BinSums.from_pairs([0.1, 0.2, 0.3], [0, 0, 1]), Scheme()) == 1.0
    assert AUROC.compute(BinSums.from_pairs([0.1, 0.2, 0.3], [1, 0, 0]), Scheme()) == 0.0


def test_what_differs_by_a_rounding_only_is_tied_when_computed_and_not_when_stored() -> None:
    values, outcomes = [0.3, 0.1 + 0.2], [0, 1]
    assert AUROC.compute(BinSums.from_pairs(values, outcomes, computed=True), Scheme()) == 0.5
    assert AUROC.compute(BinSums.from_pairs(values, outcomes), Scheme()) == 1.0


@pytest.mark.parametrize("outcomes", [[], [1, 1], [0, 0]])
def test_one_outcome_only_has_no_auroc(outcomes: list[int]) -> None:
    assert AUROC.compute(BinSums.from_pairs([0.5] * len(outcomes), outcomes), Scheme()) is None


def test_a_hundred_thousand_rows_are_counted_exactly() -> None:
    random = np.random.default_rng(5)
    confidence = random.integers(0, 1000, 100_000) / 1000
    correct = random.random(confidence.size) < confidence
    wrong = np.sort(confidence[~correct])
    right = confidence[correct]
    twice = int((np.searchsorted(wrong, right, "left") + np.searchsorted(wrong, right, "right")).sum())
    expected = twice / (2 * right.size * wrong.size)
    assert AUROC.compute(BinSums.from_pairs(confidence, correct), Scheme()) == expected

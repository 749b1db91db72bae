"""Verdicts on swapped pairs: what stays, where the rest leans, and McNemar's exact test."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from calib_core.inference.order_effect import mcnemar_p, order_effect


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_sign_test(one: int, other: int) -> None:
    expected = scipy.stats.binomtest(one, one + other).pvalue if one + other else 1.0
    assert mcnemar_p(one, other) == pytest.approx(expected, abs=1e-12)


def test_a_judge_of_answers_alone_turns_its_label_with_the_order() -> None:
    effect = order_effect(np.array([1, -1, 0]), np.array([-1, 1, 0]))
    assert (effect.n_pairs, effect.n_consistent, effect.n_first, effect.n_second) == (3, 3, 0, 0)
    assert (effect.consistent, effect.p) == (1.0, 1.0)


def test_leaning_to_a_place_counts_with_ties() -> None:
    one, other = np.array([1, 1, 0, -1, -1, 1]), np.array([1, 0, 1, -1, 0, -1])
    effect = order_effect(one, other)
    assert (effect.n_consistent, effect.n_first, effect.n_second) == (1, 3, 2)
    assert effect.low < effect.consistent < effect.high

"""Log loss is the mean of −ln of the probability of what happened, and infinite where that is 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

import calib_core
from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics.log_loss import LOG_LOSS
from core.edge_cases import agrees, schemes, some_pairs
from core.oracle import Bins, Pair


@given(some_pairs(), schemes())
def test_it_is_the_exact_number(pairs: list[Pair], how: Bins) -> None:
    assert agrees("log_loss", pairs, how)


def test_by_hand() -> None:
    sums = BinSums.from_pairs([0.75, 0.75, 0.5], [1, 0, 1])
    assert LOG_LOSS.compute(sums, Scheme()) == pytest.approx((math.log(16 / 3) + math.log(2)) / 3, abs=1e-15)
    assert str(LOG_LOSS.compute(BinSums.from_pairs([1.0, 0.0], [1, 0]), Scheme())) == "0.0"


def test_certainty_of_what_did_not_happen_is_infinite_with_a_remark() -> None:
    assert LOG_LOSS.remark is not None
    sums = BinSums.from_pairs([1.0, 0.0, 0.9], [0, 1, 1])
    assert LOG_LOSS.compute(sums, Scheme()) == math.inf
    assert LOG_LOSS.remark(sums) == "Infinite: the outcome was given probability 0 in 2 of 3 rows."
    assert LOG_LOSS.remark(BinSums.from_pairs([0.9], [0])) is None


def test_it_is_the_number_of_recalibration_and_can_be_gated() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 0.99, 200)
    (run,) = calib_core.load(confidence, rng.random(200) < confidence)
    value = float(calib_core.score(run, metric="log_loss"))
    assert calib_core.recalibrate(run).before["nll"] == pytest.approx(value)
    gate = calib_core.gate(run, max={"log_loss": value + 0.01}, min={"log_loss": value + 0.01})
    assert [check.held for check in gate.checks] == [True, False]

"""Paired differences: exactly Student's t over the sums by question, and Holm over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calib_core.inference.multiplicity import holm
from calib_core.inference.paired_test import paired_test
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric

SMOOTH = [metric for metric in METRICS.values() if metric.is_smooth]
VALUES = st.lists(st.integers(-8, 8), min_size=3, max_size=20)


@given(VALUES)
def test_it_is_the_t_test_of_the_row_differences(values: list[int]) -> None:
    rows = np.array(values) / 8
    found = paired_test(float(rows.mean()), rows - rows.mean())
    if np.ptp(rows) == 0:
        assert found.p == (1 if rows[0] == 0 else 2.0 ** (1 - rows.size))
        return
    wanted = stats.ttest_1samp(rows, 0)
    ends = wanted.confidence_interval(0.95)
    assert (found.low, found.high, found.p) == pytest.approx((ends.low, ends.high, wanted.pvalue))


def test_copies_of_a_question_add_nothing() -> None:
    rows = np.random.default_rng(1).normal(0.2, 1, 40)
    once = paired_test(float(rows.mean()), rows - rows.mean())
    thrice = paired_test(
        float(rows.mean()), np.repeat(rows - rows.mean(), 3), np.repeat(np.arange(40) * 7, 3)
    )
    assert (thrice.low, thrice.high, thrice.p) == pytest.approx((once.low, once.high, once.p))
    assert (thrice.n_rows, thrice.n_clusters) == (120, 40)


def test_one_more_question_widens_the_interval_by_its_influence() -> None:
    rows = np.zeros(30)
    found = paired_test(0.0, rows, one_more=1.0)
    half = stats.t.ppf(0.975, 29) * np.sqrt(30 / 29) / 30
    assert (found.low, found.high, found.p) == pytest.approx((-half, half, 1))


def test_one_question_has_no_test() -> None:
    with pytest.raises(ValueError, match="two questions"):
        paired_test(0.5, np.zeros(3), np.zeros(3, np.intp))


def test_one_more_question_has_as_many_rows_as_the_others() -> None:
    once = paired_test(0.0, np.zeros(30), one_more=0.7)
    thrice = paired_test(0.0, np.zeros(90), np.repeat(np.arange(30), 3), one_more=0.7)
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize("metric", SMOOTH, ids=lambda metric: metric.id)
def test_the_influence_is_the_derivative_in_the_weight_of_a_pair(metric: Metric) -> None:
    """Doubling 1 of n pairs moves the value by its influence over n, to first order."""
    random = np.random.default_rng(3)
    c = random.random(2000)
    y = random.random(2000) < c
    value, influence = metric.value_and_influence(c, y)
    assert influence.mean() == pytest.approx(0, abs=1e-12)
    for at in range(5):
        doubled, _ = metric.value_and_influence(np.append(c, c[at]), np.append(y, y[at]))
        assert doubled - value == pytest.approx(influence[at] / 2001, abs=2e-6)


def test_a_metric_over_bins_has_no_influence() -> None:
    assert {"accuracy", "brier", "bias", "brier_skill"} <= {metric.id for metric in SMOOTH}
    with pytest.raises(ValueError, match="not a smooth function"):
        METRICS["ece"].value_and_influence(np.array([0.5]), np.array([True]))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_the_step_down_rule(p_values: list[float]) -> None:
    corrected = holm(p_values)
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    largest = 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, p_values[at] * (len(p_values) - rank)))
        assert corrected[at] == pytest.approx(largest)

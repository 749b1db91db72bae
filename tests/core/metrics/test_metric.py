"""Does a metric that has nothing to remark stay silent, and stay as it is?"""

from __future__ import annotations

import dataclasses

import pytest

from calib_core.bins import BinSums
from calib_core.metrics import METRICS
from calib_core.metrics.ece import ECE
from calib_core.metrics.metric import Metric


def test_without_a_remark_there_is_none() -> None:
    assert ECE.remark(BinSums.from_pairs([0.5], [1])) is None


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_title_within_a_sentence_differs_by_a_capital_at_most(metric: Metric) -> None:
    assert metric.title_in_sentence[1:] == metric.title[1:]
    assert metric.title_in_sentence[0] in (metric.title[0], metric.title[0].lower())


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_an_entry_does_not_contradict_itself(metric: Metric) -> None:
    assert metric.binned or not metric.in_default_sweep
    assert metric.needs == "pairs" or metric.sampling_default == "named"
    assert metric.needs == "pairs" or not metric.all_labels
    if metric.bootstrap_coverage:
        assert 0 <= metric.bootstrap_coverage[0] <= metric.bootstrap_coverage[1] <= 100


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ECE.id = "other"  # pyright: ignore[reportAttributeAccessIssue]

"""Entries of the metric registry: remarks, titles, consistency, immutability."""

from __future__ import annotations

import dataclasses

import pytest

from calib_core.metrics import METRICS
from calib_core.metrics.ece import ECE
from calib_core.metrics.metric import Metric


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_title_within_a_sentence_differs_at_most_in_its_capital(metric: Metric) -> None:
    assert metric.title_in_sentence[1:] == metric.title[1:]
    assert metric.title_in_sentence[0] in (metric.title[0], metric.title[0].lower())


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_an_entry_does_not_contradict_itself(metric: Metric) -> None:
    assert metric.binned or not metric.in_default_sweep
    assert metric.needs == "pairs" or metric.sampling_default == "named"
    assert metric.needs == "pairs" or not metric.all_labels
    if metric.interval_coverage:
        assert 0 <= metric.interval_coverage[0] <= metric.interval_coverage[1] <= 100


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ECE.id = "other"  # pyright: ignore[reportAttributeAccessIssue]

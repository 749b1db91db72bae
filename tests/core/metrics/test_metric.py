"""Does a metric that has nothing to remark stay silent, and stay as it is?"""

from __future__ import annotations

import dataclasses

import pytest

from calib_core.bins import BinSums
from calib_core.metrics.ece import ECE


def test_without_a_remark_there_is_none() -> None:
    assert ECE.remark(BinSums.from_pairs([0.5], [1])) is None


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ECE.id = "other"  # pyright: ignore[reportAttributeAccessIssue]

"""Does a metric that has nothing to remark stay silent, and a binning that does not fit speak up?"""

from __future__ import annotations

import dataclasses

import pytest

from calib_core.bins import BinSums, Scheme
from calib_core.metrics.ece import ECE
from calib_core.metrics.metric import equal_width_only
from calib_core.problems import Unavailable


def test_without_a_remark_there_is_none() -> None:
    assert ECE.remark(BinSums.from_pairs([0.5], [1])) is None


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ECE.id = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_equal_width_passes() -> None:
    equal_width_only("This", Scheme("width", 7))


def test_the_refusal_names_the_metric_and_says_what_to_do() -> None:
    with pytest.raises(Unavailable) as caught:
        equal_width_only("Classwise ECE", Scheme("mass"))
    expected = "Classwise ECE is defined on equal-width bins only. Choose equal-width bins."
    assert str(caught.value) == expected

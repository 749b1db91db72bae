"""Does a metric that has nothing to remark stay silent, and stay as it is?"""

from __future__ import annotations

import dataclasses

import pytest

from calib_core.bins import BinSums
from calib_core.metrics import METRICS
from calib_core.metrics.ece import ECE


def test_without_a_remark_there_is_none() -> None:
    assert ECE.remark(BinSums.from_pairs([0.5], [1])) is None


@pytest.mark.parametrize(("id_", "inside"), [
    ("ece", "ECE"), ("accuracy", "accuracy"), ("brier", "Brier score"), ("nll", "negative log-likelihood"),
    ("brier_multi", "Brier score, all choices"), ("cw_ece_sum", "K·cw-ECE"),
    ("full_ece", "Full-ECE"), ("full_ece_mass", "mass-weighted Full-ECE"), ("auroc", "AUROC"),
])
def test_a_title_within_a_sentence_keeps_the_capital_of_a_name_alone(id_: str, inside: str) -> None:
    assert METRICS[id_].inside == inside


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ECE.id = "other"  # pyright: ignore[reportAttributeAccessIssue]

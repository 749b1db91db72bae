"""One row a run and method, of the top label."""

from __future__ import annotations

import pytest

from calib_core.analysis.overview import overview
from calib_core.confidence.method import Options
from core.made_runs import blocks, choice_evidence, given_evidence


def test_one_row_a_run_and_method() -> None:
    frame = overview({"a": [blocks((0.9, 10, 5))], "b": [blocks((1.0, 4, 4)), blocks((0.5, 2, 1))]})
    assert frame["run"].to_list() == ["a", "b", "b"]
    assert frame["rows"].to_list() == frame["used"].to_list() == [10, 4, 2]
    assert frame["accuracy"].to_list() == [0.5, 1.0, 0.5]
    assert frame["ece"].to_list() == pytest.approx([0.4, 0.0, 0.0])
    assert frame["brier"].to_list() == pytest.approx([0.41, 0.0, 0.25])


def test_many_distinct_confidences_are_no_obstacle() -> None:
    frame = overview({"a": [given_evidence([k / 100 for k in range(100)], [0] * 100)]})
    assert frame["ece"].item() == pytest.approx(0.495)


def test_all_labels_are_shown_by_their_top_label() -> None:
    probs, gold = [[0.7, 0.3], [0.4, 0.6]], [0, 0]
    top = overview({"run": [choice_evidence(probs, gold)]})
    assert overview({"run": [choice_evidence(probs, gold, Options(labels="all"))]}).equals(top)


def test_nothing_at_hand_keeps_its_columns() -> None:
    assert overview({}).schema == overview({"a": [blocks((0.9, 10, 5))]}).schema

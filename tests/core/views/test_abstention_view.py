"""Thresholds of several methods and a cascade: their tables, and what is said once for all methods."""

from __future__ import annotations

from dataclasses import replace

from calib_core.results.abstention import abstention_curve, guaranteed_threshold
from calib_core.results.cascade import Costs, cascade
from calib_core.views.abstention import abstention_view, cascade_view
from core.run_builders import block_evidence, given_evidence

CURVE = replace(abstention_curve(block_evidence((0.9, 200, 190), (0.5, 200, 100))), remarks=("2 ties",))
GIVEN = guaranteed_threshold(CURVE, 0.9)
VERBAL = guaranteed_threshold(replace(CURVE, method="verbal"), 0.9)


def test_a_typed_threshold_is_a_row_of_each_method_without_a_bound() -> None:
    table = abstention_view(GIVEN, [VERBAL], typed=0.5).tables[0].texts()
    assert table["Threshold"].to_list() == 2 * ["guaranteed", "empirical", "typed"]
    assert table["Confidence ≥"].to_list() == 2 * ["0.9", "0.9", "0.5"]
    assert table["Accuracy"].to_list() == 2 * ["95.0 %", "95.0 %", "72.5 %"]
    assert table["At least"].to_list()[2] == "–"
    assert table["Accuracy 95 %"].to_list()[2] == "67.9 to 76.6 %"


def test_methods_that_share_a_remark_are_named_together() -> None:
    facts = dict(abstention_view(GIVEN, [VERBAL]).facts)
    assert facts["Confidence in the file, Stated confidence"] == "2 ties"
    assert facts["Judged"] == CURVE.judged


def test_costs_are_a_column_where_both_are_typed() -> None:
    first, second = (
        given_evidence([0.9, 0.4] * 20, [1, right] * 20, id=[str(at) for at in range(40)]) for right in (0, 1)
    )
    found = cascade(first, second)
    plain = cascade_view(found, 0.5, ("small", "large")).tables[0].texts()
    assert "Cost per question" not in plain.columns
    assert plain["Cascade better by, points"].to_list() == ["+50.0", "0.0", "–"]
    priced = cascade_view(found, 0.5, ("small", "large"), costs=Costs(0.001, 0.0002)).tables[0].texts()
    assert priced["Cost per question"].to_list() == ["0.0010", "0.0002", "0.0011"]

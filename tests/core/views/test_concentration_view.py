"""Bin concentration of several methods: one warning for all, and a row each."""

from __future__ import annotations

from calib_core.results.concentration import measure_concentration
from calib_core.views.concentration import concentration_view
from core.run_builders import block_evidence

CONCENTRATED = measure_concentration(block_evidence((0.55, 90, 45), (0.95, 10, 9)))
SPREAD = measure_concentration(block_evidence(*((tenth / 10 - 0.05, 10, tenth) for tenth in range(1, 11))))


def test_the_warning_of_one_method_is_the_caveat() -> None:
    assert concentration_view(CONCENTRATED).caveat == CONCENTRATED.warning
    assert concentration_view(SPREAD).caveat == ""


def test_methods_whose_ece_rests_on_few_bins_are_named_together() -> None:
    view = concentration_view(SPREAD, [CONCENTRATED])
    assert view.caveat == (
        "By “confidence in the file” the ECE rests on one or two bins: look at the Brier score and AUROC "
        "before trusting it."
    )
    assert [fact.text for fact in view.facts] == [CONCENTRATED.warning]
    assert concentration_view(SPREAD, [SPREAD]).caveat == ""


def test_several_methods_have_a_table_for_their_tiles() -> None:
    view = concentration_view(SPREAD, [CONCENTRATED])
    (table,) = view.tables
    assert view.tiles == ()
    assert table.texts()["Two fullest bins"].to_list() == ["20.0 %", "100.0 %"]
    assert table.texts()["Effective bins"].to_list() == ["10.0", "1.2"]
    assert concentration_view(SPREAD).tables == ()

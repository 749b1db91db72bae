"""Bin concentration of several methods: one warning for all, and a row each."""

from __future__ import annotations

from dataclasses import replace

from calib_core.inference.missingness import Missingness
from calib_core.results.concentration import measure_concentration
from calib_core.views.concentration import concentration_view
from core.run_builders import block_evidence

CONCENTRATED = measure_concentration(block_evidence((0.55, 90, 45), (0.95, 10, 9)))
SPREAD = measure_concentration(block_evidence(*((tenth / 10 - 0.05, 10, tenth) for tenth in range(1, 11))))
CAUTION = (
    "A low ECE of so few bins does not say that higher confidence means more right answers: look at the "
    "Brier score and AUROC."
)


def test_the_warning_of_one_method_is_the_headline_and_what_a_low_ece_hides_the_caveat() -> None:
    view = concentration_view(CONCENTRATED)
    assert (view.headline, view.caveat) == (CONCENTRATED.warning, CAUTION)
    assert concentration_view(SPREAD).caveat == ""


def test_confidences_missing_from_wrong_answers_are_the_caveat_before_a_low_ece() -> None:
    view = concentration_view(replace(CONCENTRATED, missing=Missingness(50, 5, 100, 54, 1e-6)))
    assert view.caveat.startswith(
        "50 of 150 rows have no confidence and are right less often (10.0 % against"
    )
    assert CAUTION in [fact.text for fact in view.facts]
    other = replace(SPREAD, method="verbal", missing=Missingness(50, 5, 100, 54, 1e-6))
    both = concentration_view(SPREAD, [other])
    assert both.caveat.startswith("By “stated confidence”, 50 of 150 rows have no confidence")


def test_methods_whose_ece_rests_on_few_bins_are_named_together() -> None:
    view = concentration_view(SPREAD, [CONCENTRATED])
    assert view.caveat == (
        "By “confidence in the file” the ECE rests on one or two bins: look at the Brier score and AUROC "
        "before trusting it."
    )
    assert [fact.text for fact in view.facts] == [CONCENTRATED.warning]
    assert concentration_view(SPREAD, [SPREAD]).caveat == ""


def test_the_numbers_stand_in_a_table() -> None:
    view = concentration_view(SPREAD, [CONCENTRATED])
    (table,) = view.tables
    assert view.tiles == ()
    assert table.texts()["Two fullest bins"].to_list() == ["20.0 %", "100.0 %"]
    assert table.texts()["Effective bins"].to_list() == ["10.0", "1.2"]
    (one,) = concentration_view(SPREAD).tables
    assert one.texts()["Distinct values"].to_list() == ["10"]

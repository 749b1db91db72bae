"""Are the papers' figures those that they published?"""

from __future__ import annotations

from calib_core.analysis.published import published_rsd


def test_table_one_of_the_full_ece_paper() -> None:
    assert published_rsd().rows() == [
        ("cw_ece", "2B", 0.4093), ("cw_ece", "7B", 0.4490), ("full_ece", "2B", 0.0756),
        ("full_ece", "7B", 0.0836),
    ]

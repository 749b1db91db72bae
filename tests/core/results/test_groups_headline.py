"""The sentences about groups claim no more than chance allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calib_core.inference.bootstrap import PairedDifference
from calib_core.inference.intervals import p_value_of_interval
from calib_core.inference.verdict import judge
from calib_core.metrics import METRICS
from calib_core.results.changes import Contrast, correct_contrasts
from calib_core.results.groups import (
    RestDifference,
    contrasts_headline,
    groups_headline,
    groups_subheadline,
    runs_headline,
)
from core.figures.group_builders import make_group, make_groups

ECE = METRICS["ece"]
OVER = judge([0.9] * 100, [1, 0] * 50)


def test_the_worst_is_the_largest_gap_that_chance_does_not_explain() -> None:
    law = make_group("law", 0.1, verdict=OVER, q=0.01, gap=0.4)
    art = make_group("art", 0.9, run="s", verdict=OVER, q=0.0001, gap=0.2)
    unclear = make_group("sums", 0.4, verdict=OVER, q=0.06, gap=0.8)
    few = make_group("logic", 0.9, n=9, gap=0.5)
    groups, titles = [art, unclear, law, few], {"r": "red", "s": "blue"}
    assert groups_headline("subject", groups, titles) == (
        "Calibration is worst in law, where red states 90.0 % on average and is right 50.0 % of the time: a "
        "gap of +0.400 (+0.350 to +0.450). 2 of 3 groups by subject are clearly miscalibrated."
    )
    assert [group.name for group in make_groups(*groups).sorted_by("gap").groups] == [
        "law",
        "art",
        "sums",
        "logic",
    ]
    under = replace(law, bias=-0.5, bias_low=-0.6, bias_high=-0.4, mean_confidence=0.1, accuracy=0.6)
    assert "worst in law, where the model states 10.0 % " in groups_headline("subject", [under], {"r": "red"})
    assert "a gap of −0.500 (−0.600 to −0.400). 1 of 1 group by subject is clearly" in groups_headline(
        "subject", [under], {"r": "red"}
    )
    assert groups_headline("subject", [law, law], {}).endswith(
        "Both groups by subject are clearly miscalibrated."
    )
    level = replace(law, bias=0.03, bias_low=-0.02, bias_high=0.08)
    assert groups_headline("subject", [level], {}).startswith(
        "Calibration is worst in law, where the model is over-confident, off by "
    )


def test_where_chance_explains_every_gap_no_group_is_named() -> None:
    unclear, few = make_group("sums", 0.4, verdict=OVER, q=0.06), make_group("art", 0.9, n=9)
    assert groups_headline("subject", [unclear, few], {}) == (
        "The only group by subject with enough rows is not worse than chance explains."
    )
    assert groups_headline("subject", [few, few], {}) == "Both groups by subject have too few rows."
    assert groups_headline("subject", [], {}) == "There is no group by subject here."


def test_verdicts_are_counted_by_q() -> None:
    law = make_group("law", 0.4, verdict=OVER, q=0.01)
    unclear = make_group("sums", 0.4, verdict=OVER, q=0.06)
    few = make_group("art", 0.9, n=9)
    assert groups_subheadline("subject", [law, unclear, few]) == (
        "Of 3 groups by subject, 1 is over-confident, 1 shows no evidence of miscalibration and 1 has too "
        "few rows. 1 group has p ≤ 0.05 but q > 0.05 and does not count. In sums the interval of the gap "
        "leaves out 0, although the verdict is not clear by its q: the verdict tests mean, spread and "
        "individual confidences together, while the intervals are of the mean and are to hold all at once."
    )
    holding = make_group("maps", 0.4, verdict=OVER, q=0.034, gap=0.01)
    assert "In maps the verdict is clear by its q, although the interval of the gap holds 0: the " in (
        groups_subheadline("subject", [law, holding])
    )
    assert groups_subheadline("subject", [law, replace(law, run="s")]) == (
        "Both groups by subject in 2 runs are over-confident."
    )
    assert groups_subheadline("subject", []) == ""


def test_a_group_differs_from_the_rest_only_by_its_own_q() -> None:
    clear, unclear = (RestDifference(-0.1, -0.2, -0.01, 0.02, q) for q in (0.04, 0.06))
    law, sums = make_group("law", 0.2, rest=clear), make_group("sums", 0.2, rest=unclear)
    assert groups_subheadline("subject", [law, sums]).endswith(
        " At the same confidence, 1 of 2 groups is right more or less often than the other rows of "
        "its run, beyond chance."
    )
    assert "At the same confidence, none of 2 groups is right more or less often than the other " in (
        groups_subheadline("subject", [sums, sums])
    )
    assert "2 of 2 groups are right more or less often than the other rows of their run, beyond chance" in (
        groups_subheadline("subject", [law, law])
    )


def test_of_runs_the_worst_is_named_and_the_only_difference() -> None:
    few = make_group("0-shot", 0.3, verdict=OVER, q=0.01, gap=0.3)
    many = make_group("5-shot", 0.2, run="s", verdict=OVER, q=0.01, gap=0.2)
    worst = (
        "Calibration is worst for 0-shot, which states 80.0 % on average and is right 50.0 % of the time: a "
        "gap of +0.300 (+0.250 to +0.350)."
    )
    assert runs_headline([many, few], "It falls.", n_differences=1) == f"{worst} It falls."
    assert runs_headline([many, few], "Both fall.", n_differences=2) == worst
    assert runs_headline([make_group("0-shot", 0.3)], "It falls.", n_differences=2) == "It falls."


def make_contrast(low: float, high: float, questions: int = 431) -> Contrast:
    value = (low + high) / 2
    p = p_value_of_interval(value, low, high)
    difference = PairedDifference(value, low, high, p, questions, 2, 999, 0, "how")
    return Contrast("0-shot", "5-shot", (("a", "b"),), difference, None, p if questions >= 30 else None)


def test_a_change_is_said_by_the_interval_of_the_difference() -> None:
    assert contrasts_headline(ECE, [make_contrast(-0.02, 0.04)], {"red", "blue"}) == (
        "5-shot − 0-shot: ECE +0.0100 (95 % −0.0200 to +0.0400) on 431 questions: no clear change."
    )
    assert contrasts_headline(ECE, [make_contrast(-0.04, -0.02)], {"red"}) == (
        "5-shot − 0-shot of red: ECE −0.0300 (95 % −0.0400 to −0.0200) on 431 questions: lower."
    )
    assert contrasts_headline(ECE, [make_contrast(0.02, 0.04)], {"red"}).endswith(": higher.")
    assert contrasts_headline(ECE, [make_contrast(-0.04, -0.02, 29)], {"red"}).endswith(
        "on 29 questions: not tested: fewer than 30 questions."
    )
    nothing = Contrast("0-shot", "5-shot", (), None, "why")
    assert contrasts_headline(ECE, [nothing], {"red"}) == "No two runs can be compared question by question."


def test_differences_that_are_shown_together_are_corrected_together() -> None:
    barely = make_contrast(0.0001, 0.04)
    assert barely.is_clear
    two = correct_contrasts([barely, replace(make_contrast(-0.02, 0.04), level="1-shot")])
    assert not two[0].is_clear
    assert two[0].p == pytest.approx(2 * (barely.p or 0))
    headline = contrasts_headline(ECE, two, {"red"})
    assert headline.count("no clear change, corrected for 2 differences (Holm).") == 2
    unknown = Contrast("0-shot", "2-shot", (), None, "why")
    few = make_contrast(0.1, 0.2, 12)
    assert [one.p for one in correct_contrasts([unknown, few, barely])] == [None, None, barely.p]


@pytest.mark.parametrize("low", [-0.3, -0.001, 0.0, 1e-9, 0.001, 0.2])
def test_p_is_clear_exactly_where_the_interval_does_not_hold_zero(low: float) -> None:
    for sign in (1, -1):
        first, last = sorted((sign * low, sign * (low + 0.35)))
        holds = first <= 1e-12 and last >= -1e-12
        assert (p_value_of_interval(sign * (low + 0.1), first, last) <= 0.05 - 1e-12) == (not holds)


def test_a_difference_without_spread_is_certain() -> None:
    assert p_value_of_interval(0.1, 0.1, 0.1) == 0
    assert p_value_of_interval(1e-17, 1e-17, 1e-17) == 1

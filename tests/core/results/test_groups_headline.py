"""The sentences about groups claim no more than chance allows."""

from __future__ import annotations

import pytest

from calib_core.inference.bootstrap import PairedDifference
from calib_core.metrics import METRICS
from calib_core.results.groups import Contrast, chance_expectation, contrasts_headline, groups_headline

ECE = METRICS["ece"]
RED = {"red": "red"}


def test_intervals_that_miss_the_value_of_the_run_are_counted() -> None:
    groups: list[tuple[float | None, float | None, float | None]] = [
        (0.1, 0.2, 0.15),
        (0.1, 0.2, 0.25),
        (0.1, 0.2, 0.05),
        (0.1, 0.2, 0.2),
        (0.1, 0.2, 0.1),
    ]
    groups.append((None, None, 0.1))
    chance = chance_expectation(METRICS["accuracy"], groups)
    assert chance is not None
    assert (chance.n_outside, chance.n_intervals) == (2, 5)
    assert chance.sentence == (
        "2 of 5 intervals do not hold the value of the whole run; if all groups were alike, about 0.2 of 5 "
        "would not by chance alone (5 %)."
    )
    assert chance_expectation(ECE, groups[:1]) is None
    assert chance_expectation(ECE, [(0.1, 0.2, None)] * 3) is None


MORE = "and more where intervals hold less than they promise"
SIMULATED = "of 57 would not by chance alone: in simulations intervals of {} held the truth in {} to {} % of "


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("accuracy", "about 2.9 of 57 would not by chance alone (5 %)."),
        ("ece", f"about 0.0 to 2.3 {SIMULATED.format('ECE', 96, 100)}data sets."),
        ("brier", f"about 0.0 to 3.4 {SIMULATED.format('Brier score', 94, 100)}data sets."),
        ("mce", f"about 2.9 of 57 would not by chance alone (5 %, {MORE})."),
    ],
)
def test_as_many_are_outside_by_chance_as_intervals_of_that_metric_miss(metric: str, message: str) -> None:
    chance = chance_expectation(METRICS[metric], [(0.1, 0.2, 0.15)] * 57)
    assert chance is not None
    assert chance.sentence.endswith(f"if all groups were alike, {message}")


def test_what_rounding_left_is_inside_an_interval() -> None:
    chance = chance_expectation(ECE, [(0.1, 0.1, 0.1 + 2**-56), (0.3, 0.3, 0.1 + 0.2)])
    assert chance is not None
    assert chance.n_outside == 0
    assert contrasts_headline(ECE, [make_contrast(1e-17, 1e-17)], {"red"}).endswith("the interval holds 0.")


def test_one_interval_is_in_the_singular() -> None:
    chance = chance_expectation(ECE, [(0.1, 0.2, 0.3), (0.1, 0.2, 0.15)])
    assert chance is not None
    assert chance.sentence.startswith("1 of 2 intervals does not")
    assert "about 0.0 to 0.1 of 2 would not by chance alone" in chance.sentence


def test_the_range_of_one_run() -> None:
    groups = {"red": [("law", 0.2, 40), ("sums", 0.1, 1200), ("none", None, 0)]}
    assert groups_headline(ECE, "subject", RED, groups, {"red": 0.15}) == (
        "ECE by subject: from 0.1000 (sums, n = 1,200) to 0.2000 (law, n = 40); of the whole run 0.1500."
    )
    assert groups_headline(ECE, "subject", RED, {"red": [("law", 0.2, 40)]}, {}) == (
        "ECE by subject: 0.2000 (law, n = 40)."
    )
    alike = {"red": [("law", 0.2, 40), ("sums", 0.20001, 12), ("art", 0.2, 9)]}
    assert groups_headline(ECE, "subject", RED, alike, {"red": 0.2}) == (
        "ECE by subject: 0.2000 throughout; of the whole run 0.2000."
    )
    below = {"red": [("law", -0.2, 40), ("sums", 0.1, 1)]}
    assert groups_headline(METRICS["bias"], "subject", RED, below, {"red": -0.15}).endswith(
        ": from −0.2000 (law, n = 40) to 0.1000 (sums, n = 1); of the whole run −0.1500."
    )
    assert (
        groups_headline(ECE, "subject", RED, {"red": []}, {"red": 0.1}) == "No group here has a defined ECE."
    )
    none = groups_headline(METRICS["accuracy"], "subject", RED, {"red": []}, {})
    assert none == "No group here has a defined accuracy."


def test_the_range_of_several_runs_names_them() -> None:
    groups = {"r": [("law", 0.2, 40)], "b": [("law", 0.1, 40)]}
    assert groups_headline(ECE, "subject", {"r": "red", "b": "blue"}, groups, {"r": 0.2, "b": 0.1}) == (
        "ECE by subject in 2 runs: from 0.1000 (law of blue, n = 40) to 0.2000 (law of red, n = 40)."
    )


def make_contrast(low: float, high: float, questions: int = 431) -> Contrast:
    difference = PairedDifference((low + high) / 2, low, high, questions, 2, 999, 0, "how")
    return Contrast("0-shot", "5-shot", (("a", "b"),), difference, None)


def test_a_difference_says_whether_its_interval_holds_zero() -> None:
    assert contrasts_headline(ECE, [make_contrast(-0.02, 0.04)], {"red", "blue"}) == (
        "5-shot − 0-shot: ECE +0.0100 (−0.0200 to +0.0400) on 431 questions; the interval holds 0."
    )
    assert contrasts_headline(ECE, [make_contrast(-0.04, -0.02, 1)], {"red"}) == (
        "5-shot − 0-shot of red: ECE −0.0300 (−0.0400 to −0.0200) on 1 question; the interval does not hold "
        "0."
    )
    nothing = Contrast("0-shot", "5-shot", (), None, "why")
    assert (
        contrasts_headline(ECE, [nothing], {"red"})
        == "No two runs here can be compared question by question."
    )

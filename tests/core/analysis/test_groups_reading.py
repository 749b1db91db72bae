"""Do the sentences about groups say the numbers, and no more than chance allows?"""

from __future__ import annotations

from calib_core.analysis.bootstrap import Difference
from calib_core.analysis.contrasts import Contrast
from calib_core.analysis.groups_reading import chance_of, read_contrasts, read_range
from calib_core.metrics import METRICS

ECE = METRICS["ece"]


def test_chance_counts_intervals_that_do_not_hold_the_whole() -> None:
    groups: list[tuple[float | None, float | None, float | None]] = [
        (0.1, 0.2, 0.15), (0.1, 0.2, 0.25), (0.1, 0.2, 0.05), (0.1, 0.2, 0.2), (0.1, 0.2, 0.1),
    ]
    groups.append((None, None, 0.1))
    chance = chance_of(groups)
    assert chance is not None
    assert (chance.outside, chance.of, chance.expected) == (2, 5, 0.25)
    assert chance.words.startswith("2 of 5 intervals do not hold the value of the whole run; if all groups")
    assert "about 0.2 of 5" in chance.words
    assert chance_of(groups[:1]) is None
    assert chance_of([(0.1, 0.2, None)] * 3) is None


def test_one_interval_is_spoken_of_as_one() -> None:
    chance = chance_of([(0.1, 0.2, 0.3), (0.1, 0.2, 0.15)])
    assert chance is not None
    assert chance.words.startswith("1 of 2 intervals does not")


def test_the_range_of_one_run() -> None:
    groups = {"red": [("law", 0.2, 40), ("sums", 0.1, 1200), ("none", None, 0)]}
    assert read_range(ECE, "subject", groups, {"red": 0.15}) == (
        "ECE by subject: from 0.1000 (sums, n=1,200) to 0.2000 (law, n=40); of the whole run 0.1500."
    )
    assert read_range(ECE, "subject", {"red": [("law", 0.2, 40)]}, {}) == (
        "ECE by subject: 0.2000 (law, n=40)."
    )
    assert read_range(ECE, "subject", {"red": []}, {"red": 0.1}) == "No group here has a defined ECE."


def test_the_range_of_several_runs_names_them() -> None:
    groups = {"red": [("law", 0.2, 40)], "blue": [("law", 0.1, 40)]}
    assert read_range(ECE, "subject", groups, {"red": 0.2, "blue": 0.1}) == (
        "ECE by subject in 2 runs: from 0.1000 (law of blue, n=40) to 0.2000 (law of red, n=40)."
    )


def contrast(low: float, high: float) -> Contrast:
    difference = Difference((low + high) / 2, low, high, 431, 2, 999, 0, "how")
    return Contrast("0-shot", "5-shot", (("a", "b"),), difference, None)


def test_a_difference_says_whether_its_interval_holds_nought() -> None:
    assert read_contrasts(ECE, [contrast(-0.02, 0.04)]) == (
        "5-shot − 0-shot: ECE +0.0100 (−0.0200 to +0.0400) on 431 questions; the interval holds 0."
    )
    assert read_contrasts(ECE, [contrast(-0.04, -0.02)]).endswith("the interval does not hold 0.")
    nothing = Contrast("0-shot", "5-shot", (), None, "why")
    assert read_contrasts(ECE, [nothing]) == "No two runs here can be compared question by question."

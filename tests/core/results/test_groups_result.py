"""Recipe, order and frame of the result of many groups."""

from __future__ import annotations

import math
from dataclasses import replace

from calib_core.inference.verdict import Verdict, judge
from calib_core.results.groups import Group, RestDifference
from calib_core.views.groups import groups_view
from core.figures.group_builders import make_group, make_groups


def test_one_row_per_group_with_its_series_by_title() -> None:
    frame = make_groups(make_group("law", 0.3, low=0.2, high=0.4, n=20), make_group("sums", None)).to_frame()
    assert frame.select("name", "series", "value", "low", "n_used", "small").rows() == [
        ("law", "r", 0.3, 0.2, 20, True),
        ("sums", "r", None, None, 100, False),
    ]
    assert make_groups().to_frame().columns == frame.columns


def with_recipe(group: Group, recipe: str) -> Group:
    return replace(group, recipe=recipe)


def test_the_recipe_is_that_of_every_group() -> None:
    made = [
        with_recipe(
            make_group("law", 0.3, n=20), "ECE-L1, equal mass, M=10 (8 realised), n=20/25, p over R=199"
        ),
        with_recipe(make_group("sums", 0.2, n=50), "ECE-L1, equal mass, M=10, n=50/50, p over R=199"),
    ]
    assert make_groups(*made[:1]).recipe == made[0].recipe
    assert make_groups(*made).recipe == "each group: ECE-L1, equal mass, M=10, n=20 to 50, p over R=199"
    assert make_groups(make_group("law", 0.3), make_group("sums", 0.2)).recipe == "each group: ECE-L1"
    assert make_groups().recipe == ""


def test_the_recipe_says_in_what_runs_differ() -> None:
    made = [
        with_recipe(make_group("one", 0.3), "ECE-L1, N=10, n=50/50"),
        with_recipe(make_group("two", 0.2), "ECE-L1, N=64, n=50/50, 1 bad row left out"),
    ]
    assert make_groups(*made, of="runs").recipe == (
        "each run: ECE-L1, n=50/50; differing: N=10, N=64, 1 bad row left out"
    )


def over_by(gap: float) -> Verdict:
    """The verdict on 200 rows that are right this much less often than they say, 0.9."""
    right = round(200 * (0.9 - gap))
    return judge([0.9] * 200, [1] * right + [0] * (200 - right))


def test_the_worst_are_the_largest_gaps_of_any_run_that_chance_does_not_explain() -> None:
    off = {"verdict": over_by(0.2), "q": 0.001}
    groups = make_groups(
        make_group("law", 0.3, run="a", gap=0.1, **off),
        make_group("law", 0.1, run="b", gap=0.9, verdict=over_by(0.2), q=0.2),
        make_group("sums", 0.2, run="a", gap=0.05, **off),
        make_group("sums", 0.4, run="b", gap=-0.2, **off),
        make_group("none", None, run="a"),
        make_group("few", 0.9, n=29, gap=0.5),
    )
    assert groups.worst_groups(2) == ["sums", "law"]
    assert groups.worst_groups(9) == ["sums", "law", "few"]
    assert [(group.name, group.run) for group in groups.sorted_by("gap").groups] == [
        ("sums", "b"),
        ("sums", "a"),  # its gap may be 0, so what counts is how far single confidences are off
        ("law", "a"),
        ("law", "b"),
        ("few", "r"),
        ("none", "a"),
    ]
    runs = make_groups(
        make_group("one", 0.2, run="a", gap=0.1, **off),
        make_group("one", 0.1, run="b", gap=0.2, **off),
        of="runs",
    )
    assert runs.worst_groups(1) == ["b"]


def test_an_infinite_value_is_the_largest_and_an_undefined_one_stands_last() -> None:
    groups = make_groups(
        make_group("none", None), make_group("law", 0.3), make_group("all", math.inf), make_group("sums", 2.5)
    )
    assert [group.name for group in groups.sorted_by("value").groups] == ["all", "sums", "law", "none"]


def test_a_row_has_the_verdict_and_both_q_values() -> None:
    rest = RestDifference(-0.123, -0.2, -0.046, 0.001, 0.002)
    groups = make_groups(
        make_group("law", 0.3, null=0.1, verdict=over_by(0.1), q=2e-7, rest=rest), make_group("few", 0.2, n=9)
    )
    (table,) = groups_view(groups).tables
    assert table.texts().columns[:4] == ["Group", "Gap", "95 % (gap)", "Verdict"], (
        "a narrow window cuts off the rest"
    )
    assert table.texts()["Verdict", "q", "Against the rest", "95 % (rest)", "q (rest)"].rows() == [
        ("▲ over-confident", "< 0.001", "−12.3", "−20.0 to −4.6", "0.002"),
        ("– too few rows", "–", "–", "–", "–"),
    ]
    frame = groups.to_frame()
    assert frame["verdict"].to_list() == ["over-confident", "too few rows"]
    assert frame["against_rest_high"].to_list() == [-0.046, None]
    assert frame["p"].to_list() == [over_by(0.1).p, None]

"""What the view of groups says beside the figure, what it leaves out, and the tables that it shows."""

from __future__ import annotations

from dataclasses import replace

from calib_core.inference.bootstrap import PairedDifference
from calib_core.results.changes import Contrast
from calib_core.results.groups import NO_COMPARABLE_RUNS
from calib_core.results.hidden_groups import NO_COLUMN, hidden_groups
from calib_core.views.groups import GroupDiagram, GroupEvidence, groups_view, hidden_groups_view
from core.figures.group_builders import make_group, make_groups
from core.run_builders import given_evidence

ALIKE = given_evidence([0.5, 0.9] * 40, [0, 1] * 40, subject=["law"] * 80)


def test_the_line_below_the_figure_explains_the_marks_that_are_drawn() -> None:
    bare = groups_view(make_groups(make_group("law", 0.2)))
    assert bare.how_to_read == "This metric has no interval."
    full = make_groups(make_group("law", 0.2, n=9, low=0.1, high=0.3, null=0.1), overall={"r": 0.2})
    assert groups_view(full).how_to_read == (
        "Whiskers: 95 % intervals. Hollow: fewer than 30 rows. Dashed: the whole run. Stroke: a perfectly "
        "calibrated model."
    )


def test_what_is_not_shown_is_named_by_the_titles_of_the_runs() -> None:
    result = make_groups(make_group("law", 0.2))
    result = replace(result, n_ungrouped={"r": 1200, "s": 0}, unavailable={"t": "Its rows have no subject."})
    refused = GroupDiagram(GroupEvidence("law", "law", "red", ALIKE), "Only sums are kept.")
    view = groups_view(
        result,
        titles={"r": "red", "s": "blue", "t": "green"},
        diagrams=[refused],
        left_out={"grey": "No column."},
        notes=("", "4 of 5 runs."),
    )
    assert view.small_figures == ()
    assert view.left_out == (
        "red: 1,200 used rows belong to no group by subject.",
        "grey: No column.",
        "green: Its rows have no subject.",
        "law · red: Only sums are kept.",
        "4 of 5 runs.",
    )


def test_a_file_of_groups_names_the_runs_in_full() -> None:
    numbers = groups_view(make_groups(make_group("law", 0.2)), titles={"r": "red · quiz"}).tables[0].numbers
    assert numbers is not None
    assert numbers.frame()["run"].to_list() == ["red · quiz"]


def test_rows_that_are_not_used_have_a_column_beside() -> None:
    group = make_group("law", 0.2)
    (whole,), (part,) = (
        groups_view(make_groups(one)).tables for one in (group, replace(group, n_total=group.n_used + 1))
    )
    assert set(part.texts().columns) - set(whole.texts().columns) == {"Rows"}


def test_a_difference_that_cannot_be_paired_has_its_reason() -> None:
    found = PairedDifference(-0.25, -0.5, 0.0, 0.04, 1431, 1, 1999, 0, "paired bootstrap")
    contrasts = (
        Contrast("0-shot", "5-shot", (("a", "b"),), found, None, 0.04),
        Contrast("0-shot", "9-shot", (), None, NO_COMPARABLE_RUNS),
    )
    result = replace(make_groups(make_group("a", 0.2), of="runs"), contrasts=contrasts)
    paired, runs = groups_view(result).tables
    assert runs.title == "Every run"
    assert paired.texts().rows() == [
        ("5-shot − 0-shot", "−0.2500", "−0.5000 to +0.0000", "0.040", "1,431", "1", "paired bootstrap"),
        ("9-shot − 0-shot", "–", "–", "–", "–", "0", NO_COMPARABLE_RUNS),
    ]


def test_what_else_was_found_and_what_it_stands_on_is_behind_the_figure() -> None:
    result = replace(make_groups(make_group("law", 0.2, low=0.1, high=0.3, q=0.2)), subheadline="Law is off.")
    facts = dict(groups_view(result).facts)
    assert list(facts) == ["Also found", "Gap", "Intervals", "Few rows", "Verdict"]
    assert facts["Also found"] == "Law is off."
    assert facts["Intervals"].startswith("basic bootstrap 95 %. In simulations, these intervals contained")
    assert facts["Verdict"].endswith("Benjamini–Hochberg over 1 group with enough rows.")
    assert "Few rows" not in dict(groups_view(make_groups(make_group("law", 0.2), metric="brier")).facts)


def test_a_run_that_was_not_scanned_is_named_where_others_were() -> None:
    halves = given_evidence([0.5, 0.9] * 60, [0, 1] * 60, subject=["law"] * 60 + ["art"] * 60)
    titles = {"r": "red", "s": "blue"}
    some = hidden_groups_view(hidden_groups({"r": halves, "s": ALIKE}, titles=titles), titles=titles)
    assert some.left_out == (f"blue: {NO_COLUMN}",)
    none = hidden_groups_view(hidden_groups({"s": ALIKE}, titles=titles), titles=titles)
    assert (none.headline, none.left_out, none.tables) == (NO_COLUMN, (), ())

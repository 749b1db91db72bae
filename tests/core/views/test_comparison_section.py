"""A comparison without a trend says so once, and what dependent runs cannot give."""

from __future__ import annotations

from dataclasses import replace

from calib_core.methods import METHODS
from calib_core.results.comparison import compare_runs
from calib_core.results.evidence import Evidence
from calib_core.views.comparison import (
    GREY_AREA,
    comparison_view,
    no_trend_reason,
    trend_sentences,
)
from core.comparison_runs import model_run
from core.figures.comparison_builders import make_comparison, make_point


def test_where_no_method_has_a_trend_one_sentence_says_why() -> None:
    one = model_run("a", 120)
    seen: dict[str, Evidence] = {id_: replace(one, method=METHODS[id_]) for id_ in ("given", "verbal")}
    comparison = compare_runs(seen)
    said = "No rank correlation: 1 model; at least 3 are needed."
    assert (no_trend_reason(comparison), trend_sentences(comparison)) == (said, [said])
    assert no_trend_reason(compare_runs({"a": one, "b": model_run("b", 60)})) is None
    assert no_trend_reason(compare_runs({})) is None


def test_the_interval_note_names_only_drawn_metrics() -> None:
    seen: dict[str, Evidence] = {"a": model_run("a", 120), "b": model_run("b", 60)}

    def note(x: str, y: str) -> str:
        return dict(comparison_view(compare_runs(seen, x, y)).facts).get("Intervals", "")

    told = "In simulations, these intervals contained the true value in "
    accuracy = "in 90 to 98 % of data sets for accuracy."
    assert note("accuracy", "brier") == f"{told}92 to 100 % of data sets for Brier, {accuracy}"
    assert note("ece", "accuracy") == f"{told}93 to 100 % of data sets for ECE, {accuracy}"
    both = "93 to 100 % of data sets for ECE, in 92 to 100 % of data sets for Brier."
    assert note("ece", "brier") == f"{told}{both}"
    assert note("accuracy", "mce") == f"{told}90 to 98 % of data sets for accuracy."
    assert note("brier_skill", "mce") == ""


def test_the_grey_area_is_explained_where_it_is_drawn() -> None:
    seen: dict[str, Evidence] = {"a": model_run("a", 120)}
    said = [comparison_view(compare_runs(seen, "accuracy", y)).how_to_read for y in ("brier", "ece")]
    assert [GREY_AREA in text for text in said] == [True, False]


def test_the_first_caveat_stands_above_the_figure_and_the_others_behind_it() -> None:
    """Two data sets change what may be compared; the numbers of rows can be read in the table."""
    seen: dict[str, Evidence] = {"a": model_run("a", 120), "b": model_run("b", 60)}
    moved = replace(seen["b"].run, info=replace(seen["b"].run.info, dataset="another"))
    result = compare_runs({"a": seen["a"], "b": replace(seen["b"], run=moved)})
    caveats = "The points come from 2 data sets: compare within one.", "The points judge different answers."
    view = comparison_view(replace(result, caveats=caveats))
    assert view.caveat == caveats[0]
    assert [text for name, text in view.facts if name == "Differences"] == [caveats[1]]
    assert result.caveats[0] == caveats[0]


def test_rows_and_answers_have_a_column_where_they_differ() -> None:
    one, other = make_point("a", 0.5, 0.24), make_point("b", 0.6, 0.2)
    shown = {
        differ: comparison_view(make_comparison(one, replace(other, **fields)))
        for differ, fields in ((False, {}), (True, {"n_used": 7, "judged": "majority answer"}))
    }
    titles = {differ: view.tables[0].texts().columns for differ, view in shown.items()}
    assert set(titles[True]) - set(titles[False]) == {"Rows used", "Judged"}
    assert dict(shown[False].facts)["Judged"] == one.judged
    assert "Judged" not in dict(shown[True].facts)


def test_points_that_are_missing_for_one_reason_share_a_line() -> None:
    result = make_comparison(make_point("a", 0.5, 0.24))
    left_out = {"red, stated": "No column.", "green, stated": "No column.", "blue, stated": "No row."}
    wanted = ("red, stated, green, stated: No column.", "blue, stated: No row.")
    assert comparison_view(result, left_out=left_out).left_out == wanted
    own = replace(result, unavailable={"k": "∞"})
    assert comparison_view(own).left_out == ("k: ∞",)


def test_a_point_is_below_the_curve_for_certain_where_its_whole_interval_is() -> None:
    """Both are right half of the time, so a(1 − a) is 0.25; the intervals end at 0.26 and 0.22."""
    view = comparison_view(make_comparison(make_point("a", 0.5, 0.24), make_point("b", 0.5, 0.2)))
    assert view.how_to_read.endswith(f" {GREY_AREA}: 2 of 2 points, 1 of them clearly.")


def test_a_picture_says_which_point_each_number_is() -> None:
    """Its table is not in it."""
    points = make_point("low", 0.3, 0.3), make_point("high", 0.8, 0.1)
    (figure,) = comparison_view(make_comparison(*points)).figures
    assert figure.numbers is not None
    key = figure.numbers.recipe.splitlines()[-1]
    assert key == "1 high; 2 low"

"""A comparison without a trend says so once, and what dependent runs cannot give."""

from __future__ import annotations

from dataclasses import replace

from calib_core.methods import METHODS
from calib_core.results.comparison import compare_runs
from calib_core.results.evidence import Evidence
from calib_core.views.comparison import (
    CHANGE_HEADING,
    comparison_caption,
    comparison_tiles,
    no_trend_reason,
    trend_rows,
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
    said = {
        axes: comparison_caption(compare_runs(seen, *axes))
        for axes in (("accuracy", "brier"), ("ece", "accuracy"))
    }
    assert "contained the true value in 94 to 100 % of data sets for Brier." in said["accuracy", "brier"]
    assert "ECE" not in said["accuracy", "brier"]
    assert "contained the true value in 96 to 100 % of data sets for ECE." in said["ece", "accuracy"]
    both = comparison_caption(compare_runs(seen, "ece", "brier"))
    assert "96 to 100 % of data sets for ECE, in 94 to 100 % of data sets for Brier." in both
    assert "simulations" not in comparison_caption(compare_runs(seen, "accuracy", "mce"))


def test_runs_of_fewer_models_have_neither_p_nor_interval() -> None:
    seen: dict[str, Evidence] = {
        f"{right}": model_run("abc"[right % 3], right, shots=right) for right in (60, 61, 62, 63, 70)
    }
    seen["again"] = model_run("a", 60, shots=99)
    (row,) = trend_rows(compare_runs(seen))
    assert row["Models"] == "6 runs of 3, not independent"
    assert row["p"] == "–"
    assert row["Rank correlation ρ"] == "-1.00"
    assert row[CHANGE_HEADING] == "none: 2 points share the lowest accuracy"


def test_a_point_is_below_the_curve_for_certain_where_its_whole_interval_is() -> None:
    """Both are right half of the time, so a(1 − a) is 0.25; the intervals end at 0.26 and 0.22."""
    tiles = comparison_tiles(make_comparison(make_point("a", 0.5, 0.24), make_point("b", 0.5, 0.2)))
    (below,) = [tile for tile in tiles if tile.label == "Below a(1−a)"]
    assert (below.value, below.below) == ("2 of 2", "1 with the whole interval")

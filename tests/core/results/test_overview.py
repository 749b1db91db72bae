"""The overview: one row per run and method, of the top label, by data set."""

from __future__ import annotations

import pytest

from calib_core.methods.method import MethodOptions
from calib_core.results.overview import group_by_dataset, overview_frame, summarise_runs
from core.run_builders import block_evidence, choice_evidence, given_evidence
from core.tour_runs import CALIBRATED, OVER, UNDER, block_answers, evidences


def test_one_row_per_run_and_method() -> None:
    runs = {
        "a": [block_evidence((0.9, 10, 5))],
        "b": [block_evidence((1.0, 4, 4)), block_evidence((0.5, 2, 1))],
    }
    frame = summarise_runs(runs).to_frame()
    assert frame["run"].to_list() == ["a", "b", "b"]
    assert frame["rows"].to_list() == frame["used"].to_list() == [10, 4, 2]
    assert frame["accuracy"].to_list() == [0.5, 1.0, 0.5]
    assert frame["confidence"].to_list() == pytest.approx([0.9, 1.0, 0.5])
    assert frame["ece"].to_list() == pytest.approx([0.4, 0.0, 0.0])
    assert frame["brier"].to_list() == pytest.approx([0.41, 0.0, 0.25])
    assert frame["verdict"].to_list() == ["too few rows"] * 3


def test_one_method_stands_for_a_run_and_runs_stay_in_their_order() -> None:
    result = summarise_runs(
        {
            "good": [block_evidence(*CALIBRATED), block_evidence(*OVER)],
            "bad": [block_evidence(*OVER)],
            "shy": [block_evidence(*UNDER)],
        }
    )
    assert [(look.run, look.verdict.kind) for look in result.by_default_method] == [
        ("good", "none"),
        ("bad", "over"),
        ("shy", "under"),
    ]
    assert [look.run for look in result.by_every_method] == ["good", "good", "bad", "shy"]


def test_a_method_that_is_not_shown_is_judged_once_it_is_asked_for() -> None:
    shown, other = block_evidence(*CALIBRATED), block_evidence(*OVER)
    result = summarise_runs({"good": [shown, other]})
    assert (result.has_several_methods, result.has_judged_run) == (True, True)
    assert ("verdict" in vars(shown), "verdict" in vars(other)) == (True, False)
    assert [look.verdict.kind for look in result.by_every_method] == ["none", "over"]
    assert "verdict" in vars(other)


def test_the_method_a_person_would_use_stands_for_a_run() -> None:
    run = block_answers(*OVER, verbal_confidence=[0.5] * 300, p_true=[0.5] * 300)
    result = summarise_runs({"red": tuple(reversed(evidences(red=run)["red"]))})
    assert [look.method for look in result.by_default_method] == ["verbal"]
    assert {look.method for look in result.by_every_method} == {"given", "verbal", "p_true"}


def test_runs_are_grouped_by_data_set_and_named_within_it() -> None:
    runs = {
        "red · quiz": block_answers(*OVER, model="red", dataset="quiz"),
        "red · exam": block_answers(*OVER, model="red", dataset="exam"),
        "blue · quiz": block_answers(*OVER, model="blue", dataset="quiz"),
        "quiz": block_answers(*OVER, model="", dataset="quiz"),
        "alone": block_answers(*OVER, model="", dataset=None),
    }
    groups = group_by_dataset(summarise_runs(evidences(**runs)).by_default_method)
    assert {dataset: [look.short_name for look in looks] for dataset, looks in groups.items()} == {
        "quiz": ["red", "blue", "quiz"],
        "exam": ["red"],
        None: ["alone"],
    }
    assert list(groups) == ["quiz", "exam", None]


def test_runs_of_one_model_are_told_apart_without_their_data_set() -> None:
    first, second = (block_answers(*OVER, model="red", dataset="quiz") for _ in range(2))
    looks = summarise_runs(
        evidences(**{"red · quiz (a.csv)": first, "red · quiz (b.csv)": second})
    ).by_default_method
    assert [look.short_name for look in looks] == ["red (a.csv)", "red (b.csv)"]


def test_the_curve_has_bins_with_rows_alone() -> None:
    (look,) = summarise_runs({"a": [block_evidence((0.95, 40, 20), (0.15, 4, 1))]}).by_default_method
    assert look.curve.select("bin", "count", "thin").rows() == [(2, 4, True), (10, 40, False)]
    assert look.curve["accuracy"].to_list() == [0.25, 0.5]


def test_a_verdict_is_the_run_s_own_and_the_headline_counts_by_q() -> None:
    """Of 40 runs, one with p = .012 is chance; by itself it is over-confident, also among them."""
    off, right = block_evidence((0.5, 400, 175)), block_evidence((0.5, 400, 200))
    alone = summarise_runs({"a": [off]})
    many = summarise_runs({"a": [off], **{str(at): [right] for at in range(39)}})
    for result in (alone, many):
        (look,) = [look for look in result.by_default_method if look.run == "a"]
        assert (look.verdict.kind, look.verdict.p) == ("over", pytest.approx(0.01242, abs=1e-5))
        assert look.q == pytest.approx(len(result.by_default_method) * 0.01242, abs=1e-3)
    assert "over-confident" in alone.headline
    assert many.headline == "All 40 runs show no evidence of miscalibration."
    assert many.subheadline.endswith("1 run has p ≤ 0.05 but q > 0.05 and does not count.")
    assert "ECE-L1, equal width, M=10, right-closed, top label" in alone.recipe
    assert set(many.to_frame()["recipe"]) == {many.recipe}


def test_runs_of_one_cause_stay_discoveries() -> None:
    off = (0.5, 400, 175)
    result = summarise_runs({str(at): [block_evidence(off)] for at in range(40)})
    assert result.headline == "All 40 runs are over-confident."


def test_q_values_are_those_of_the_list() -> None:
    off, right = block_evidence((0.5, 400, 175)), block_evidence((0.5, 400, 200))
    result = summarise_runs({"a": [off, *[right] * 9]})
    (first,) = result.by_default_method
    assert first.q == first.verdict.p
    (same,) = [look for look in result.by_every_method if look.verdict.kind == "over"]
    assert same.q == pytest.approx(10 * (first.q or 0))


def test_many_distinct_confidences_are_no_obstacle() -> None:
    (look,) = summarise_runs(
        {"a": [given_evidence([k / 100 for k in range(100)], [0] * 100)]}
    ).by_every_method
    assert look.ece == pytest.approx(0.495)


def test_all_labels_are_shown_by_their_top_label() -> None:
    probs, gold = [[0.7, 0.3], [0.4, 0.6]], [0, 0]
    top = summarise_runs({"run": [choice_evidence(probs, gold)]}).to_frame()
    every = summarise_runs({"run": [choice_evidence(probs, gold, MethodOptions(labels="all"))]}).to_frame()
    assert every.equals(top)


def test_every_method_of_a_run_that_has_several() -> None:
    run = block_answers(*OVER, verbal_confidence=[0.5] * 300)
    result = summarise_runs(evidences(red=run))
    assert [look.method for look in result.by_every_method] == ["verbal", "given"]
    assert [look.method for look in result.by_default_method] == ["verbal"]


def test_an_empty_overview_keeps_its_columns() -> None:
    empty = summarise_runs({})
    assert empty.to_frame().schema == summarise_runs({"a": [block_evidence((0.9, 10, 5))]}).to_frame().schema
    assert overview_frame(empty.by_default_method).height == 0
    assert (empty.headline, empty.subheadline) == ("No run is loaded.", "")

"""Confidences missing from wrong answers make no run seem accurate, calibrated or willing to answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.edges import Scheme
from calib_core.figures.abstention import describe_abstention
from calib_core.results.abstention import abstention_curve, guaranteed_threshold
from calib_core.results.comparison import compare_runs
from calib_core.results.evidence import AnswerEvidence, gather_evidence, restrict_rows
from calib_core.results.gate import Rule, check_limit, check_no_worse, measure
from calib_core.results.groups import group_by_choices, groups_of_rows
from calib_core.results.judged_answer import judged_by
from calib_core.results.lines import reliability_lines
from calib_core.results.methods_table import with_unparsed_as_wrong
from calib_core.results.overview import summarise_runs
from calib_core.results.recalibration import recalibrate
from calib_core.results.reliability import reliability_diagram
from calib_core.results.reliability_without_bins import corp_reliability
from calib_core.results.robustness import sweep_bins
from calib_core.results.run_verdict import run_verdict
from calib_core.results.score import score
from calib_core.results.training import training_curves
from calib_core.runs import RunInfo
from calib_core.views.abstention import abstention_view
from calib_core.views.comparison import comparison_view
from calib_core.views.recalibrate import recalibration_view
from calib_core.views.reliability import reliability_view
from calib_core.views.score import score_view
from calib_core.views.verdict import verdict_view
from core.cli_calls import Call, write
from core.confidence_runs import run_of
from core.run_builders import given_evidence, make_answer_run
from core.tour_runs import make_step

FINDING = "117 of 800 rows have no confidence and are right less often (0.0 % against 77.7 %)"


def quiz(
    name: str, right: int, lacking: int = 0, *, confidence_wrong: float = 0.6, **columns: Any
) -> AnswerEvidence:
    """A run of 800 questions; `lacking` wrong answers have no confidence."""
    place = np.random.default_rng(len(name) + right).permutation(800)
    correct = place < right
    confidence = np.where(correct, 0.75, confidence_wrong).tolist()
    ids = [f"q{at}" for at in range(800)]
    run = make_answer_run(
        {
            "id": ids,
            "confidence": [
                None if at >= 800 - lacking else value for at, value in zip(place, confidence, strict=True)
            ],
            "correct": correct.tolist(),
            **columns,
        },
        label=f"{name} · quiz",
    )
    info = RunInfo(model=name, dataset="quiz", checkpoint="step10")
    return gather_evidence(replace(run, info=info), "given")


A, B = quiz("A", 571), quiz("B", 531, 117, subject=["law", "sums"] * 400)


def test_the_run_that_is_right_most_often_is_the_most_accurate() -> None:
    result = compare_runs({"B": B, "A": A})
    assert result.paired.best("accuracy") == {"A"}
    assert result.headline.endswith(". A is the most accurate (71.4 %).")
    b = result.points[0]
    assert (b.x.value, b.accuracy_of_all.value, b.n_judged) == (531 / 800, 531 / 800, 800)
    assert (b.accuracy.value, b.n_used) == (531 / 683, 683)
    assert b.brier_skill == pytest.approx(1 - b.brier.value / (531 * 152 / 683**2))
    pair = result.paired.pair("accuracy", "A", "B")
    assert pair is not None
    assert (pair.test.n_rows, pair.test.difference) == (800, pytest.approx(40 / 800))
    brier = result.paired.pair("brier", "A", "B")
    assert brier is not None
    assert brier.test.n_rows == 683


def test_of_runs_that_cannot_be_told_apart_the_more_accurate_comes_first() -> None:
    result = compare_runs({"B": quiz("B", 560, 117), "A": A})
    assert result.headline.endswith(". A is the most accurate (71.4 %); its lead over B may be chance.")
    assert result.trends[0].change is not None
    assert (result.trends[0].change.least_accurate, result.trends[0].change.most_accurate) == ("B", "A")


def test_the_comparison_says_first_of_which_rows_its_numbers_are() -> None:
    result = compare_runs({"B": B, "A": A})
    view = comparison_view(result)
    assert view.caveat == ("Not ranked: B lacks confidences on 14.6 % of rows, which are right less often.")
    assert next(text for name, text in view.facts if name == "Differences") == (
        f"In B, {FINDING}: accuracy uses all rows with an outcome, all other numbers those with a confidence."
    )
    frame = result.to_frame()
    by_run = {
        run: (of_all, used)
        for run, of_all, used in frame.select("run", "accuracy_of_all", "accuracy").iter_rows()
    }
    assert by_run["B · quiz"] == (531 / 800, 531 / 683)
    figure = view.figures[0]
    assert "Accuracy of all rows 66.4 %" in figure.alt
    titles = [column.title for column in result.columns]
    assert {"Accuracy of all", "Accuracy with confidence"} <= {*titles}
    assert "Accuracy of all" not in [column.title for column in compare_runs({"A": A}).columns]


def test_compare_names_the_more_accurate_run(call: Call, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.csv" for name in "BA"]
    for path, evidence in zip(paths, (B, A), strict=True):
        frame = evidence.run.rows.select("id", "confidence", "correct")
        write(tmp_path, path.name, frame.with_columns(frame["correct"].cast(int)).write_csv())
    b, a = call("compare", *paths, "--json").elements
    assert (b["accuracy"], b["accuracy_of_all"], b["n_used"]) == (531 / 683, 531 / 800, 683)
    assert {key: b["missing"][key] for key in ("n", "n_right")} == {"n": 117, "n_right": 0}
    assert b["missing"]["p"] < 1e-30
    assert (a["accuracy_of_all"], a["missing"]) == (a["accuracy"], None)
    assert (a["accuracy_of_all_low"], a["accuracy_of_all_high"]) == (a["accuracy_low"], a["accuracy_high"])
    elements = call("score", paths[0], "--metric", "brier", "--metric", "verdict", "--json").elements
    assert [element["missing"] for element in elements] == [b["missing"]] * 2
    printed = call("score", paths[0], "--metric", "brier", "--metric", "verdict").out
    assert printed.count("117 of 800 rows have no confidence") == 2
    found = call("threshold", paths[0], "--accuracy", ".7", "--json").element
    assert found["missing"] == b["missing"]
    assert found["answered"] == found["n_answered"] / 800


def test_the_verdict_is_about_the_rows_with_a_confidence() -> None:
    verdict = B.verdict
    assert (verdict.scope, A.verdict.scope) == (" where it has a confidence", "")
    assert B.with_tolerance(0.5).verdict.scope == verdict.scope
    said = run_verdict(B)
    assert said.headline.startswith(f"B · quiz is {verdict.words} where it has a confidence: states ")
    assert verdict_view(said).caveat == f"{FINDING}."
    for headline in (
        reliability_diagram(B, "ece").headline,
        corp_reliability(B).headline,
        summarise_runs({"B": [B]}).headline,
        sweep_bins(B, ["ece"]).chance_note,
        training_curves({"B": B}, "ece").headline,
        make_step("whole", B.run).heading,
        groups_of_rows({"B": B}, group_by_choices({"B": B.run})["subject"], "ece").headline,
    ):
        assert "where it has a confidence" in headline
    summary = summarise_runs({"A": [A], "B": [B]})
    assert summary.subheadline.endswith(
        "1 run lacks a confidence in rows that are right more or less often than the others: its verdict is "
        "about rows with a confidence."
    )
    assert "lacks" not in summarise_runs({"A": [A], "C": [A]}).subheadline


@pytest.mark.parametrize("far", [0.1, 0.6])
def test_every_verdict_of_the_diagram_has_its_scope(far: float) -> None:
    """Within the tolerance, and without evidence of miscalibration."""
    correct = [True] * 70 + [False] * 30 + [False] * 20
    evidence = given_evidence([0.6 + far / 10] * 100 + [None] * 20, correct).with_tolerance(far)
    assert evidence.verdict.kind in {"none", "tolerable"}
    assert "where it has a confidence" in reliability_diagram(evidence, "ece").headline


def test_a_view_of_one_number_has_the_caveat() -> None:
    said = f"{FINDING}: they are left out."
    assert score_view(score(B, "ece")).caveat == said
    assert reliability_view(reliability_diagram(B, "ece")).caveat == f"{FINDING}."  # its headline says it
    assert reliability_view(reliability_diagram(A, "ece")).caveat == ""
    assert recalibration_view(recalibrate(B, "temperature")).caveat == said
    assert sweep_bins(B, ["ece"]).caveats[0] == said
    lines = reliability_lines({"A": A, "B": B}, "ece", titles={"A": "A", "B": "B"})
    assert lines.caveats[0] == f"In B, {said}"


def test_a_question_without_a_confidence_is_not_answered() -> None:
    curve = abstention_curve(B)
    assert (curve.n_used, curve.n_questions) == (683, 800)
    assert curve.coverage.tolist() == [531 / 800, 683 / 800]
    assert curve.accuracy_of_all == 531 / 800
    assert abstention_curve(A).coverage.tolist()[-1] == 1
    found = guaranteed_threshold(curve, 0.7)
    assert found.point is not None
    assert (found.point.n_answered, found.point.coverage) == (683, 683 / 800)
    assert found.headline.startswith(
        "Every question that has a confidence (85.4 %) can be answered: accuracy 77.7 %"
    )
    view = abstention_view(found)
    assert view.caveat == f"{FINDING}."
    assert view.tables[1].texts()["Accuracy of all"].to_list() == ["66.4 %"]
    strict = abstention_view(guaranteed_threshold(curve, 0.9))
    assert ": 66.4 % answered, " in strict.headline
    typed = curve.at_threshold(0.99)
    assert (typed.n_answered, typed.coverage) == (0, 0)


def test_the_more_confident_half_is_one_of_the_answers_with_a_confidence() -> None:
    correct = [True] * 10 + [at < 5 for at in range(10)] + [False] * 30
    said = describe_abstention(
        [abstention_curve(given_evidence([0.9] * 10 + [0.5] * 10 + [None] * 30, correct))]
    )
    assert "accuracy 30.0 % with all answered, 100.0 % with the half of the highest confidence" in said


def test_the_gate_takes_the_accuracy_of_all_rows() -> None:
    accuracy = check_limit(Rule("min", "accuracy", 0.7), measure(B, "accuracy", Scheme()))
    assert (accuracy.held, accuracy.value, accuracy.n_used) == (False, 531 / 800, 800)
    assert accuracy.reason == f"{FINDING}: the value is of all rows with an outcome"
    worse = check_no_worse(
        Rule("worse-by", "accuracy", 0.02), measure(B, "accuracy", Scheme()), measure(A, "accuracy", Scheme())
    )
    assert (worse.held, worse.value) == (False, pytest.approx(40 / 800))
    assert worse.reason == f"{FINDING}: the value is of all rows with an outcome; paired on 800 questions"
    brier = check_limit(Rule("max", "brier", 0.3), measure(B, "brier", Scheme()))
    assert (brier.held, brier.n_used) == (True, 683)
    assert brier.reason == f"{FINDING}: the value is of those with a confidence"
    assert check_limit(Rule("min", "accuracy", 0.7), measure(A, "accuracy", Scheme())).reason == ""


def test_what_is_missing_by_chance_is_compared_and_not_mentioned() -> None:
    lacking = given_evidence([None] * 20 + [0.7] * 180, [at % 10 < 7 for at in range(200)])
    missing = lacking.missingness
    assert missing is not None
    assert (missing.n, missing.n_right, missing.n_with, missing.n_right_with) == (20, 14, 180, 126)
    assert (missing.is_clear, lacking.verdict.scope) == (False, "")
    assert score_view(score(lacking, "ece")).caveat == ""


def test_rows_without_an_answer_to_judge_lack_nothing() -> None:
    status = ["error"] * 20 + [None] * 80
    evidence = given_evidence(
        [None] * 20 + [0.7] * 80, [False] * 20 + [at < 56 for at in range(80)], status=status
    )
    assert evidence.missingness is None
    assert evidence.every_outcome is evidence


def test_a_part_of_the_rows_lacks_what_these_rows_lack() -> None:
    evidence = given_evidence([None, 0.5, None, 0.7, 0.8], [True, True, False, False, None])
    part = restrict_rows(evidence, np.array([4, 3, 2, 2]))
    missing = part.missingness
    assert missing is not None
    assert (missing.n, missing.n_right, missing.n_with, missing.n_right_with) == (2, 0, 1, 0)
    assert part.every_outcome.pairs.rows.tolist() == [1, 2, 3]
    assert part.every_outcome.pairs.correct.tolist() == [False, False, False]
    assert restrict_rows(evidence, np.array([1, 3])).missingness is None


def test_another_judged_answer_has_its_own_outcomes() -> None:
    run = make_answer_run(
        {
            "confidence": [None, None, None, 0.6],
            "correct": [False, False, False, True],
            "correct_majority": [True, None, False, True],
        }
    )
    evidence = gather_evidence(run, "given")
    judged = judged_by(evidence, "majority").missingness
    assert evidence.missingness is not None
    assert judged is not None
    assert (evidence.missingness.n, evidence.missingness.n_right) == (3, 0)
    assert (judged.n, judged.n_right, judged.n_right_with) == (2, 1, 1)


def test_samples_that_do_not_parse_are_a_wrong_answer_without_a_confidence() -> None:
    asked = {"answer_kind": "number", "gold": "1"}
    rows: list[dict[str, Any]] = [
        {**asked, "samples": ["1", "1", "2"]},
        {**asked, "samples": ["no", "idea", "?"]},
        {"answer_kind": "number", "samples": ["no", "idea", "?"]},
        {**asked, "samples": []},
        {**asked, "samples": ["1", "2", "2"]},
    ]
    evidence = gather_evidence(run_of(rows), "cluster_size")
    missing = evidence.missingness
    assert missing is not None
    assert (missing.n, missing.n_right, missing.n_with, missing.n_right_with) == (1, 0, 2, 1)
    assert with_unparsed_as_wrong(evidence).missingness is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans() | st.none()), min_size=1, max_size=60))
def test_where_no_row_lacks_a_confidence_nothing_changes(rows: list[tuple[float, bool | None]]) -> None:
    if all(right is None for _, right in rows):
        rows = [*rows, (0.5, True)]
    evidence = given_evidence(*zip(*rows, strict=True))
    assert evidence.every_outcome is evidence
    assert score(evidence, "brier").to_dict()["missing"] is None
    assert (run_verdict(evidence).to_dict()["missing"], evidence.verdict.scope) == (None, "")
    curve = abstention_curve(evidence)
    assert (curve.coverage[-1], curve.accuracy_of_all) == (1, curve.answering_all.accuracy)
    comparison = compare_runs({"only": evidence})
    assert not any("of all" in column.title for column in comparison.columns)
    (point,) = comparison.points
    assert point.accuracy_of_all is point.accuracy

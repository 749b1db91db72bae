"""The worked example of one question can be checked by hand."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from calib_core.methods.answers.subsample import sample_matrix
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.question_clusters import (
    QuestionClusters,
    question_clusters,
    sampled_question_titles,
    typical_question,
)
from core import confidence_oracle as exact
from core.run_builders import make_answer_run
from core.sampled_runs import METHODS, make_questions, make_run

RULES: tuple[UnparseableRule, ...] = ("own", "one", "drop")


def worked_question(
    samples: list[str], rule: UnparseableRule = "own", gold: str = "1", **more: Any
) -> QuestionClusters:
    beside = {"id": "b", "answer_kind": "number", "gold": "5", "samples": ["5"] * 3}
    run = make_run([{"id": "a", "answer_kind": "number", "gold": gold, "samples": samples}, beside], **more)
    return question_clusters(run, sample_matrix(run, MethodOptions(unparseable=rule)), 0, rule)


def right_side_value(told: str) -> Fraction:
    """Value of the right-hand side of a worked line."""
    formula = told.replace(" ≈ ", " = ").split(" = ")[-2]
    value = Fraction(1)
    if "1 − " in formula:
        top, bottom = map(int, formula.split("−")[1].split("/"))
        return 1 - Fraction(top, bottom)
    for top, low, more, times in re.findall(r"\(?(\d+)/\(?(\d+)(?:\+(\d+))?\)?\)?(?:\^(\d+))?", formula):
        value *= Fraction(int(top), int(low) + int(more or 0)) ** int(times or 1)
    return value


def test_the_worked_lines() -> None:
    shown = worked_question(["1"] * 9 + ["2"] * 4 + ["3"] * 2 + ["4"])
    assert dict(shown.derivations) == {
        "cluster_number": "F_CN = 1 − |C|/N = 1 − 4/16 = 0.7500",
        "cluster_size": "F_CS = n_i/N = 9/16 = 0.5625",
        "pairwise": "F_PC = Π n_i/(n_i+n_j) = 9/(9+4) · 9/(9+2) · 9/(9+1) ≈ 0.5098",
    }
    assert shown.sizes_text == "N = 16, |C| = 4, n_i = 9 (chosen), n_j = 4, 2, 1"
    assert shown.headline == "Chosen: “1” with 9 of 16 samples, which is right."


@pytest.mark.parametrize("rule", RULES)
def test_every_line_comes_to_the_method_s_own_confidence(rule: UnparseableRule) -> None:
    questions = make_questions(40, 9, seed=3, lost=0.4)
    run = make_run(questions)
    options = MethodOptions(unparseable=rule)
    coded = sample_matrix(run, options)
    evidence = {method: gather_evidence(run, method, options).confidences for method in METHODS}
    for place, question in enumerate(questions):
        shown = question_clusters(run, coded, place, rule)
        for method in METHODS:
            exact_confidence = exact.self_consistency(question, method, rule)
            if exact_confidence is None:
                assert shown.confidences[method] is None
                continue
            assert shown.confidences[method] == float(exact_confidence.confidence)
            assert right_side_value(shown.derivations[method]) == exact_confidence.confidence, (
                shown.derivations[method]
            )
            at = evidence[method].pairs.rows.tolist().index(place)
            assert shown.confidences[method] == evidence[method].pairs.confidence[at]
            assert shown.clusters[0].right == evidence[method].pairs.correct[at] == exact_confidence.correct
        clusters = exact.cluster_samples(question, rule)
        if clusters is not None:
            assert (shown.n_clusters, shown.n_samples) == (len(clusters.sizes), sum(clusters.sizes))
            assert (shown.n_tied > 0) == clusters.tied


def test_a_tie_goes_to_the_first_sampled_with_a_note() -> None:
    shown = worked_question(["2", "1", "1", "2", "3"])
    assert [(each.answer, each.size, each.right) for each in shown.clusters] == [
        ("2", 2, False),
        ("1", 2, True),
        ("3", 1, False),
    ]
    assert shown.n_tied == 1
    assert "1 other is as large: the one sampled first is taken." in shown.headline


@pytest.mark.parametrize(
    ("rule", "number", "counted", "message"),
    [
        ("own", 4, 6, "each a separate cluster"),
        ("one", 2, 6, "one cluster together"),
        ("drop", 1, 3, "left out of N"),
    ],
)
def test_samples_that_do_not_parse(rule: UnparseableRule, number: int, counted: int, message: str) -> None:
    shown = worked_question(["1", "?", "1", "?", "1", ""], rule)
    assert (shown.n_clusters, shown.n_samples, shown.n_unparsed) == (number, counted, 3)
    assert message in shown.headline
    assert shown.to_frame().rows()[-1] == (f"do not parse, {message}", 3, False, None)


def test_the_page_opens_on_a_question_of_average_agreement() -> None:
    asked = [["1"] * 6, ["1", "1", "1", "1", "2", "3"], ["1", "2", "3", "4", "5", "6"]]
    beside = {"answer_kind": "number", "gold": "1"}
    run = make_run([{"id": f"{at}", "samples": own, **beside} for at, own in enumerate(asked)])
    coded = sample_matrix(run, MethodOptions())
    assert typical_question(coded, [0, 1, 2]) == 1  # of 1, 2/3 and 1/6 the average is 0.61
    assert typical_question(coded, [0, 2]) == 0  # as near: the first
    assert typical_question(coded, []) == 0


def test_one_unparsed_sample_is_in_the_singular() -> None:
    shown = worked_question(["1", "?", "1"])
    assert shown.headline.endswith(" 1 does not parse, a separate cluster.")
    assert shown.unparsed_text == "does not parse, a separate cluster"


def test_equal_factors_are_written_once_and_unanimity_has_none() -> None:
    assert "1/(1+1))^3" in worked_question(["1", "2", "3", "4"]).derivations["pairwise"]
    alone = worked_question(["1"] * 4).derivations["pairwise"]
    assert alone == "F_PC = the empty product, as there is one cluster only = 1.0000"
    assert worked_question(["1", "2", "3"]).sizes_text == "N = 3, |C| = 3, n_i = 1 (chosen), n_j = 1 (twice)"
    tiny = worked_question([str(number) for number in range(1, 15)]).derivations["pairwise"]
    assert tiny.endswith("≈ 0.000122")


def test_no_sample_parses() -> None:
    shown = worked_question(["?", "?"])
    assert set(shown.derivations.values()) == {"no confidence: no sample parses"}
    assert shown.headline.startswith("No sample parses, so there is no majority answer.")
    assert shown.to_frame().height == 1


def test_one_sample_that_counts_has_no_confidence() -> None:
    shown = worked_question(["1", "?"], "drop")
    assert set(shown.confidences.values()) == {None}
    assert set(shown.derivations.values()) == {"no confidence: one sample only"}


def test_titles_say_what_one_looks_for() -> None:
    asked = [
        {"id": "a", "answer_kind": "number", "gold": "1", "samples": ["1", "1", "2", "2"]},
        {"id": "b", "answer_kind": "number", "gold": "1", "samples": []},
        {"id": "c", "answer_kind": "number", "gold": "1", "samples": ["1", "?", "1"]},
    ]
    run = make_run(asked, question=["What\nis  it?", "gone", None])
    places, titles = sampled_question_titles(run, sample_matrix(run, MethodOptions()))
    assert places == [0, 2]
    assert titles == ["1: What is it? · 2 of 4 agree, a tie", "3: c · 2 of 3 agree, 1 does not parse"]


def test_labels_without_texts_have_a_name_and_golds_are_listed() -> None:
    run = make_answer_run(
        {
            "sample_cluster": [[4, 4, 7]],
            "sample_correct": [[True, True, False]],
            "gold_all": [["x", "y"]],
        }
    )
    shown = question_clusters(run, sample_matrix(run, MethodOptions()), 0)
    assert [(each.answer, each.size, each.right) for each in shown.clusters] == [
        ("cluster 1", 2, True),
        ("cluster 2", 1, False),
    ]
    assert shown.gold == "x, y"
    with pytest.raises(IndexError):
        question_clusters(run, sample_matrix(run, MethodOptions()), 1)

"""Comparison of runs: like with like, and the best as far as common questions tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.results.comparison import MetricEstimate, compare_runs, estimate_metric, place_runs
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence
from calib_core.results.judged_answer import JudgedChoice
from calib_core.results.uncertainty import paired_difference
from core.comparison_runs import brier_of, model_run
from core.run_builders import make_answer_run
from core.token_run_builders import dense_evidence, random_rows


def evidences_of_accuracies(*rights: int, **more: object) -> dict[str, Evidence]:
    return {f"m{right}": model_run(f"m{right}", right, **more) for right in rights}  # type: ignore[arg-type]


def test_every_evidence_is_a_point_and_the_table_begins_with_the_highest_skill() -> None:
    result = compare_runs(evidences_of_accuracies(60, 140, 100))
    assert [point.key for point in result.points] == ["m60", "m140", "m100"]
    frame = result.to_frame()
    assert frame["run"].to_list() == ["m100 · quiz", "m140 · quiz", "m60 · quiz"]
    assert frame["brier"][1] == pytest.approx(brier_of(140, 200, 0.8, 0.3))
    assert frame["accuracy"].to_list() == [0.5, 0.7, 0.3]
    assert frame["best_by"].to_list() == ["brier_skill", "brier_skill, accuracy, brier", ""]
    assert (frame["accuracy_low"] < frame["accuracy"]).all()
    assert frame["skill"].is_sorted(descending=True)
    assert frame["skill"][0] == pytest.approx(1 - brier_of(100, 200, 0.8, 0.3) / 0.25)
    assert frame.columns[-1] == "recipe"
    assert result.has_reference_curves
    assert compare_runs({}).to_frame().columns == frame.columns


def test_points_are_known_before_they_are_compared() -> None:
    seen = evidences_of_accuracies(60, 140, 100)
    placed, whole = place_runs(seen), compare_runs(seen, available_methods=("given", "verbal"))
    assert [(point.key, point.x, point.y) for point in placed.picture.points] == [
        (point.key, point.x, point.y) for point in whole.points
    ]
    assert not placed.picture.paired.pairs
    shares: list[float] = []
    paired = placed.pairs(shares.append)
    assert shares[-1] == 1.0
    compared = placed.compared(paired, ("given", "verbal"))
    assert (compared.headline, compared.trends) == (whole.headline, whole.trends)
    assert (compared.remarks, compared.recipe) == (whole.remarks, whole.recipe)
    assert compared.to_frame().equals(whole.to_frame())


def test_one_point_and_no_point_have_a_headline() -> None:
    assert (
        compare_runs(evidences_of_accuracies(60)).headline
        == "m60 has accuracy 30.0 % and Brier score 0.0750."
    )
    nothing = compare_runs({})
    assert (nothing.points, nothing.trends) == ((), ())
    assert nothing.headline == "No run has both numbers."


def test_points_that_differ_in_more_than_model_and_method_are_distinguished() -> None:
    assert compare_runs(evidences_of_accuracies(60, 100)).caveats == ()
    seen: dict[str, Evidence] = {
        **evidences_of_accuracies(60),
        "other": model_run("x", 10, of=20),
        "five": model_run("y", 60, shots=5),
        "else": model_run("z", 60, dataset="else"),
    }
    result = compare_runs(seen)
    (data_sets, shots), (pairs, thin, rows) = result.caveats, result.remarks
    assert data_sets == "The points come from 2 data sets: compare within one."
    assert shots == "The points come from 2 numbers of shots: compare within one."
    assert (
        pairs
        == "2 of 3 pairs of points cannot be compared: only 20 questions in common; at least 30 are needed."
    )
    assert thin == "1 of 4 points has fewer than 30 rows, too few to be called the best."
    assert rows == "The points have different numbers of rows: 20 to 200."
    assert compare_runs(seen).recipe.endswith("top label, n=20/20 to 200/200")
    assert compare_runs(evidences_of_accuracies(60, 100, 101)).recipe.endswith(
        "top label, n=200/200; best: paired t over 200 common questions, Holm over 3 pairs"
    )


def sampled_evidences(name: str) -> dict[str, AnswerEvidence]:
    run = make_answer_run(
        {
            "id": ["a", "b", "c", "d"],
            "gold": ["1", "2", "3", "4"],
            "confidence": [0.9, 0.8, 0.4, 0.3],
            "correct": [True, True, False, False],
            "samples": [["1", "1"], ["2", "3"], ["3", "3"], ["5", "5"]],
        },
        label=name,
    )
    return {f"{name}:{method}": gather_evidence(run, method) for method in ("given", "cluster_size")}


def test_answers_judged_differently_are_reported() -> None:
    result = compare_runs(sampled_evidences("red"))
    (told,), (unpaired,) = result.caveats, result.remarks
    assert (
        unpaired
        == "1 of 1 pair of points cannot be compared: only 4 questions in common; at least 30 are needed."
    )
    assert told.startswith("The points judge different answers, so their accuracies differ: ")
    assert told.endswith("greedy answer (1), majority answer (1).")


@pytest.mark.parametrize(
    ("judged", "accuracy", "brier_scores"),
    [
        # Right by the greedy answer: a, b. Confidences 0.9, 0.8, 0.4, 0.3; shares of the majority 1, ½, 1, 1.
        ("greedy", 2 / 4, ((0.01 + 0.04 + 0.16 + 0.09) / 4, (0 + 1 / 4 + 1 + 1) / 4)),
        # Right by the majority of the samples, the first of equal answers: a, b, c.
        ("majority", 3 / 4, ((0.01 + 0.04 + 0.36 + 0.09) / 4, (0 + 1 / 4 + 0 + 1) / 4)),
    ],
)
def test_every_method_is_judged_by_one_answer(
    judged: JudgedChoice, accuracy: float, brier_scores: tuple[float, float]
) -> None:
    result = compare_runs(sampled_evidences("red"), judged_choice=judged)
    assert [point.accuracy.value for point in result.points] == [accuracy, accuracy]
    assert [point.brier.value for point in result.points] == pytest.approx(brier_scores)
    assert result.paired.values["brier"] == {
        f"red:{method}": pytest.approx(value)
        for method, value in zip(("given", "cluster_size"), brier_scores, strict=True)
    }
    assert {point.judged for point in result.points} == {f"{judged} answer"}
    assert not any("different answers" in caveat for caveat in result.caveats)
    assert f", top label, all judged by the {judged} answer, n=4/4" in result.recipe
    assert all(f"judged by the {judged} answer" in point.recipe for point in result.points)


def test_runs_without_the_chosen_answer_are_refused_by_name() -> None:
    tokens = dense_evidence(*random_rows(50, 4))
    evidences = {**sampled_evidences("red"), "alone": model_run("alone", 60), "tokens": tokens}
    result = compare_runs(evidences, judged_choice="majority")
    assert [point.key for point in result.points] == ["red:given", "red:cluster_size"]
    assert result.unavailable == {
        "alone": "The run has no samples, so no majority answer.",
        "tokens": "A run of tokens has no majority answer.",
    }
    assert len(compare_runs(evidences).points) == 4
    with pytest.raises(ValueError, match="judged must be one of own, greedy, majority, not 'first'"):
        compare_runs(evidences, judged_choice="first")  # type: ignore[arg-type]


def test_each_method_and_data_set_has_its_own_trend() -> None:
    evidences = {**sampled_evidences("red"), **sampled_evidences("green")}
    assert [(trend.method, trend.n_points) for trend in compare_runs(evidences).trends] == [
        ("given", 2),
        ("cluster_size", 2),
    ]
    apart = {**evidences_of_accuracies(60, 80, 100), "else": model_run("m60", 60, dataset="else")}
    assert [(trend.dataset, trend.n_models) for trend in compare_runs(apart).trends] == [
        ("quiz", 3),
        ("else", 1),
    ]


def test_sizes_are_joined_within_a_method() -> None:
    evidences = {
        "small": model_run("m-7b", 60, params_b=7),
        "large": model_run("m-13b", 100, params_b=13),
        "other": model_run("n-13b", 100, params_b=13),
    }
    assert compare_runs(evidences).size_families == (("small", "large"),)


def test_any_two_metrics_can_be_asked_for() -> None:
    result = compare_runs(evidences_of_accuracies(60, 100), "ece", "auroc", Scheme("width", 20))
    assert not result.has_reference_curves
    assert [point.x.metric for point in result.points] == ["ece", "ece"]
    assert {"ece", "ece_low", "auroc", "auroc_high", "ece_10"} <= set(result.to_frame().columns)
    assert result.recipe.startswith("ECE-L1, equal width, M=20, right-closed (directional delta method")
    with pytest.raises(Unavailable):
        compare_runs({}, "no_such_metric")


def test_runs_without_both_metrics_are_refused_by_name() -> None:
    one_sided = model_run("all", 200)
    result = compare_runs({"all": one_sided, **evidences_of_accuracies(60)}, "accuracy", "auroc")
    assert list(result.unavailable) == ["all"]
    assert "not defined" in result.unavailable["all"]
    assert [point.key for point in result.points] == ["m60"]


def test_names_are_short_where_they_can_be() -> None:
    titles = {"a": "red · quiz · 0-shot", "b": "red · quiz · 5-shot", "c": "blue · quiz"}
    red = (model_run("red", 60, shots=0), model_run("red", 80, shots=5))
    seen = dict(zip("abc", (*red, model_run("blue", 70)), strict=True))
    result = compare_runs(seen, titles=titles)
    assert [point.name for point in result.points] == ["red · 0-shot", "red · 5-shot", "blue"]
    assert [point.run for point in result.points] == list(titles.values())


def test_numbers_may_come_from_a_store() -> None:
    asked: list[str] = []

    def store(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
        asked.append(metric)
        return replace(estimate_metric(evidence, metric, scheme), interval_method="kept")

    result = compare_runs(evidences_of_accuracies(60), estimator=store)
    assert sorted(set(asked)) == ["accuracy", "brier"]
    assert "kept" in result.recipe


def test_of_events_it_is_items_that_are_too_few() -> None:
    random = np.random.default_rng(4)
    sides = [
        gather_evidence(
            make_answer_run(
                {
                    "id": [str(at) for at in range(20)],
                    "event_prob": random.random(20),
                    "event": (random.random(20) < 0.5).tolist(),
                },
                label=name,
            ),
            "event",
        )
        for name in "ab"
    ]
    remarks = compare_runs(dict(zip("ab", sides, strict=True))).remarks
    assert any("only 20 items in common" in remark for remark in remarks)
    with pytest.raises(Unavailable, match="Only 20 items in common"):
        paired_difference([(sides[0], sides[1])], "ece")

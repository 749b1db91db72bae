"""The verb `samples`: stable names and shapes, what is refused, and the printed text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import calib_core
from calib_core.methods.method import MethodOptions
from calib_core.results.sampling import SamplingPlan, sample_size_sweep
from core.cli_calls import GOOD, Call, write
from core.sampled_runs import METHODS, make_questions


def quiz(folder: Path, rows: int = 20, count: int = 8) -> Path:
    questions = make_questions(rows, count)
    for row, question in enumerate(questions):
        question |= {"p_true": 0.5, "correct": row % 2 == 0}
    return write(folder, "quiz.jsonl", "".join(json.dumps(question) + "\n" for question in questions))


def test_element(call: Call, tmp_path: Path) -> None:
    path = quiz(tmp_path)
    words = ("--sizes", "2,4,8", "--seed", "3", "--repeats", "6", "--within", "0.1", "--json")
    answer = call("samples", path, "--method", "cluster_size", "--metric", "brier", *words)
    element = answer.element
    (run,) = calib_core.load(path)
    result = sample_size_sweep(run, SamplingPlan((2, 4, 8), 6, 3), tolerance=0.1)
    curve = result.curve("cluster_size", "brier")
    assert (answer.code, answer.err) == (0, "")
    assert (element["file"], element["run"]) == ("quiz.jsonl", "quiz")
    assert (element["method"], element["metric"]) == ("cluster_size", "brier")
    assert {size: (told["mean"], told["std"]) for size, told in element["sizes"].items()} == {
        str(size): (curve.mean[at], curve.std[at]) for at, size in enumerate((2, 4, 8))
    }
    assert element["sizes"]["8"]["std"] is None
    assert [told["draws"] for told in element["sizes"].values()] == [6, 6, 1]
    assert (element["repeats"], element["seed"], element["n_used"], element["n_total"]) == (6, 3, 20, 20)
    assert list(element["greyed"]) == ["8"]
    assert element["samples"] == {"fewest": 8, "most": 8}
    gap = result.brier_differences["cluster_size"][2]
    enough = next(each for each in result.sufficient_sizes if each.method == "cluster_size")
    assert element["enough"] == {
        "size": enough.size,
        "against": 4,
        "within": 0.1,
        "differences": {"2": {"value": gap.value, "low": gap.low, "high": gap.high}},
    }
    assert element["baselines"]["p_true"]["value"] == 0.25
    assert element["baselines"]["p_true"]["judged"] == "greedy answer"
    assert (element["judged"], element["refused"]) == ("majority answer", {})
    assert element["recipe"].startswith("Brier, F_CS, N'=2, 4, 8 of N=8")
    assert element["reading"] == "By the Brier score, 2 samples are enough for F_CS."
    assert element["measure"] == result.sufficiency_definition


def test_bins_are_used_and_options_without_effect_are_reported(call: Call, tmp_path: Path) -> None:
    path = quiz(tmp_path)
    words = ("--method", "pairwise", "--metric", "ece", "--sizes", "4", "--repeats", "3", "--json")
    usual = call("samples", path, *words).element
    mass = call("samples", path, *words, "--binning", "mass", "--bins", "3")
    assert mass.code == 0
    assert usual["recipe"].startswith("ECE-L1, equal width, M=10")
    assert mass.element["recipe"].startswith("ECE-L1, equal mass, M=3")
    assert mass.element["sizes"]["4"]["mean"] != usual["sizes"]["4"]["mean"]
    idle = call("samples", path, *words, "--labels", "all", "--no-renormalise")
    assert (idle.code, idle.element["sizes"]) == (0, usual["sizes"])
    assert "--labels has no effect" in idle.err
    assert "--no-renormalise affects only p_true" in idle.err


def test_the_three_methods_and_usual_metrics_if_none_are_named(call: Call, tmp_path: Path) -> None:
    elements = call("samples", quiz(tmp_path), "--repeats", "3", "--json").elements
    assert [(element["method"], element["metric"]) for element in elements] == [
        (method, metric) for method in METHODS for metric in ("brier", "ece", "accuracy")
    ]
    assert list(elements[0]["sizes"]) == ["2", "4", "8"]
    assert elements[0]["seed"] == 0
    again = call("samples", quiz(tmp_path), "--repeats", "3", "--json").elements
    assert again == elements
    assert call("samples", quiz(tmp_path), "--repeats", "3", "--seed", "1", "--json").elements != elements


def test_an_unavailable_size_is_reported_and_null(call: Call, tmp_path: Path) -> None:
    answer = call("samples", quiz(tmp_path), "--sizes", "4,64", "--metric", "ece", "--json")
    assert answer.code == 0
    assert answer.elements[0]["sizes"]["64"] == {"mean": None, "std": None, "draws": 0}
    assert "no question has that many samples" in answer.elements[0]["refused"]["64"]
    assert "no question has that many samples" in answer.err


def test_samples_that_do_not_parse_are_counted_as_chosen(call: Call, tmp_path: Path) -> None:
    path = quiz(tmp_path)
    words = ("--repeats", "3", "--metric", "brier", "--method", "cluster_number", "--sizes", "4", "--json")
    own, dropped = (call("samples", path, *words, *more).element for more in ((), ("--unparseable", "drop")))
    (run,) = calib_core.load(path)
    wanted = sample_size_sweep(run, SamplingPlan((4,), 3), MethodOptions(unparseable="drop"))
    assert dropped["sizes"]["4"]["mean"] == wanted.curve("cluster_number", "brier").mean[0]
    assert own["sizes"]["4"]["mean"] != dropped["sizes"]["4"]["mean"]
    assert "left out" in dropped["recipe"]


@pytest.mark.parametrize(
    ("verb", "more"),
    [("score", ()), ("bins", ("--bins", "1")), ("sweep", ("--bins", "1")), ("compare", ())],
)
def test_every_verb_counts_them_as_chosen(
    verb: str, more: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    path = quiz(tmp_path)
    words = (verb, path, "--metric", "ece", "--method", "cluster_size", *more, "--json")
    own, dropped = (call(*words, *rule).element["recipe"] for rule in ((), ("--unparseable", "drop")))
    assert "unparseable samples own clusters" in own
    assert "unparseable samples left out" in dropped


def test_the_brier_difference_is_shown_once_for_each_number_of_samples(call: Call, tmp_path: Path) -> None:
    words = ("samples", quiz(tmp_path), "--repeats", "3", "--sizes", "2,4,8", "--method", "cluster_size")

    def rows(*more: str) -> list[list[str]]:
        """The cells of the method, the last three of the difference, its interval and the answer."""
        lines = [line for line in call(*words, *more).out.splitlines() if "│ cluster_size" in line]
        return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]

    assert {row[1] for row in rows()} == {"brier", "ece", "accuracy"}
    assert {row[1] for row in rows() if row[-3:] != ["–", "–", "–"]} == {"brier"}
    assert any("–" not in row[-3:] for row in rows("--metric", "ece"))


def test_a_person_reads_a_table(call: Call, tmp_path: Path) -> None:
    answer = call("samples", quiz(tmp_path), "--repeats", "3", "--sizes", "2,4,8")
    assert answer.code == 0
    assert "“Enough” means a Brier score within ±0.005 of that at N' = " in answer.out
    for said in (
        "quiz.jsonl",
        "F_CN",
        "greedy answer",
        "uses all samples",
        "3 repeats, seed 0",
        "Logit w/ Path: no column",
    ):
        assert said in answer.out


@pytest.mark.parametrize("sizes", ["", "4,", "1", "0", "2.5", "four", "-4", "9" * 5000])
def test_what_is_not_a_list_of_sizes_is_refused(call: Call, tmp_path: Path, sizes: str) -> None:
    answer = call("samples", quiz(tmp_path), f"--sizes={sizes}", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "expected whole numbers of 2 or more" in answer.err
    assert len(answer.err) < 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "p_true"), "does not use samples"),
        (("--metric", "full_ece"), "whole distribution"),
        (("--metric", "nothing"), "There is no metric"),
        (("--within", "0"), "above 0"),
        (("--within", "nan"), "above 0"),
        (("--sizes", "64"), "no question has that many samples"),
        (("--repeats", "0"), "--repeats: expected a whole number of 1 or more, found '0'"),
        (("--seed", "-1"), "--seed: expected a whole number of 0 or more, found '-1'"),
    ],
)
def test_impossible_sample_sizes_are_refused(
    call: Call, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    answer = call("samples", quiz(tmp_path), *words, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert message in answer.err


def test_a_run_without_samples_is_refused_and_stops_no_other(call: Call, tmp_path: Path) -> None:
    path = quiz(tmp_path)
    answer = call("samples", write(tmp_path, "plain.csv", GOOD), path, "--repeats", "2", "--json")
    assert answer.code == 2
    assert "plain.csv, plain: no column samples" in answer.err
    assert {element["file"] for element in answer.elements} == {"quiz.jsonl"}

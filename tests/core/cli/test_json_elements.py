"""The JSON output as scripts see it: stable names, shapes and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats

import calib_core
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import ORDERED_SUMS
from calib_core.results.evidence import gather_evidence, survey_methods
from calib_core.results.uncertainty import metric_interval
from core.cli_calls import BAD, CHOICES, GOOD, GOOD_TEN_TIMES, VERBS, Call, write
from predictions import quiz, write_csv


def test_score_element(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD_TEN_TIMES)
    answer = call("score", path, "--metric", "ece", "--json")
    assert answer.code == 0
    assert answer.element == {
        "file": "quiz.csv",
        "run": "quiz",
        "method": "given",
        "metric": "ece",
        "value": pytest.approx(0.4),
        "bins": 10,
        "n_used": 40,
        "n_total": 40,
        "recipe": "ECE-L1, equal width, M=10, right-closed, as given, n=40/40, p over R=199 draws, seed 0",
        "judged": "greedy answer",
        "remarks": [],
        "remark": None,
        "p": 0.005,
        "null_median": pytest.approx(0.1, abs=0.05),
        "draws": 199,
        "interval": [pytest.approx(0.32, abs=0.01), pytest.approx(0.48, abs=0.01)],
        "interval_method": "directional delta method 95 % over rows, 1999 draws, seed 0",
        "corrections": None,
        "missing": None,
        "n_effective": None,
    }
    assert answer.err == ""
    few = call("score", write(tmp_path, "few.csv", GOOD), "--metric", "ece", "--json").element
    assert (few["value"], few["n_used"]) == (pytest.approx(0.4), 4)
    assert [few[key] for key in ("p", "null_median", "draws", "interval")] == [None] * 4


def test_intervals_are_those_of_the_pages(call: Call, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", quiz(200, model="red", dataset="quiz"))
    words = ("--method", "given", "--metric", "ece", "--metric", "accuracy", "--metric", "mce")
    ece, accuracy, mce = call("score", path, *words, "--json").elements
    evidence = gather_evidence(calib_core.load(path)[0], "given")
    for element in (ece, accuracy):
        interval = metric_interval(evidence, element["metric"])
        assert interval is not None
        assert element["interval"] == [interval.low, interval.high]
        assert element["interval_method"] == interval.interval_method
    assert (mce["interval"], mce["interval_method"]) == (None, None)


def test_the_verdict_is_an_element_of_its_own(call: Call, tmp_path: Path) -> None:
    rows = [
        {"id": f"{model}{at}", "model": model, "confidence": said, "correct": int(at % 10 < 5)}
        for model, said in (("red", 0.9), ("green", 0.5), ("blue", 0.55))
        for at in range(100)
    ]
    path = write_csv(tmp_path / "quiz.csv", rows)
    words = ("--metric", "verdict", "--json")
    red, green, blue = call("score", path, *words).elements
    assert set(red) == {
        *("file", "run", "method", "metric", "value", "p", "q", "level", "slope", "deviation"),
        *("p_level", "p_slope", "p_curve", "deviation_bound", "tolerance", "reason", "n_used", "n_total"),
        *("words", "reading", "recipe", "judged", "remarks", "missing"),
        *("score_note", "held_out_gap", "held_out_low", "held_out_high"),
    }
    assert [element["value"] for element in (red, green, blue)] == ["over", "none", "none"]
    assert (red["metric"], red["tolerance"], red["n_used"]) == ("verdict", 0.02, 100)
    assert (red["score_note"], red["held_out_gap"]) == (None, None)
    assert red["level"] == pytest.approx(0.4)
    p_values = [element["p"] for element in (red, green, blue)]
    assert [element["q"] for element in (red, green, blue)] == pytest.approx(
        list(stats.false_discovery_control(p_values))
    )
    assert call("score", path, *words, "--tolerance", "0.5").elements[0]["value"] == "tolerable"
    few = call("score", write(tmp_path, "few.csv", GOOD), *words).element
    assert (few["value"], few["p"], few["q"], few["slope"]) == ("few", None, None, None)
    out = call("score", path, "--metric", "verdict").out
    assert "over-confident" in out
    assert "q: Benjamini–Hochberg over 3 verdicts" in out
    for element in (red, green, blue):
        assert f"{element['run']}, given: {element['reason']}" in " ".join(out.split())
    alone = " ".join(call("score", path.with_name("few.csv"), "--metric", "verdict").out.split())
    assert f" {few['reason']} Verdict: score test" in alone


def test_score_gives_every_usable_method_and_metric(call: Call, tmp_path: Path) -> None:
    answer = call("score", write(tmp_path, "quiz.jsonl", CHOICES), "--json")
    assert answer.code == 0
    had: dict[str, set[str]] = {}
    for element in answer.elements:
        had.setdefault(element["method"], set()).add(element["metric"])
    (run,) = calib_core.load(tmp_path / "quiz.jsonl")
    assert list(had) == list(survey_methods(run).usable)
    of_decisions = (*ORDERED_SUMS, "ranks")
    others = {id_ for id_, metric in METRICS.items() if metric.required_sums not in of_decisions}
    assert had["choice_softmax"] == others | {"verdict"}
    assert had["given"] == {id_ for id_ in others if METRICS[id_].needs == "pairs"} | {"verdict"}
    assert answer.err == ""


def test_bins_element(call: Call, tmp_path: Path) -> None:
    element = call("bins", write(tmp_path, "quiz.csv", GOOD), "--bins", "2", "--json").element
    assert (element["run"], element["method"], element["metric"], element["binning"]) == (
        "quiz",
        "given",
        "ece",
        "width",
    )
    low, high = element["bins"]
    contract = {"low", "high", "count", "confidence", "accuracy", "accuracy_low", "accuracy_high"}
    assert contract <= set(low)
    assert (low["low"], low["high"], low["count"], low["accuracy"]) == (0.0, 0.5, 1, 0.0)
    assert (high["low"], high["high"], high["count"]) == (0.5, 1.0, 3)
    assert high["confidence"] == pytest.approx(2.3 / 3)
    assert high["accuracy_low"] < high["accuracy"] < high["accuracy_high"]


@pytest.mark.parametrize(
    ("words", "pairs"), [(("--labels", "all"), 6), (("--metric", "full_ece"), 6), (("--metric", "cw_ece"), 6)]
)
def test_bins_of_all_classes_have_no_interval(
    call: Call, tmp_path: Path, words: tuple[str, ...], pairs: int
) -> None:
    element = call("bins", write(tmp_path, "quiz.jsonl", CHOICES), *words, "--json").element
    assert element["method"] == "choice_softmax"
    assert sum(row["count"] for row in element["bins"]) == pairs
    assert {(row["accuracy_low"], row["accuracy_high"]) for row in element["bins"]} == {(None, None)}


def test_bins_of_several_metrics_are_several_elements(call: Call, tmp_path: Path) -> None:
    words = ("--method", "given", "--metric", "ece", "--metric", "ace", "--metric", "brier")
    elements = call("bins", write(tmp_path, "quiz.csv", GOOD), *words, "--json").elements
    assert [(element["metric"], element["binning"]) for element in elements] == [
        ("ece", "width"),
        ("ace", "mass"),
        ("brier", "width"),
    ]


def test_check_element(call: Call, tmp_path: Path) -> None:
    answer = call("check", write(tmp_path, "quiz.csv", BAD), "--json")
    assert answer.code == 3
    element = answer.element
    assert (element["file"], element["format"], element["run"], element["kind"]) == (
        "quiz.csv",
        "table",
        "quiz",
        "answers",
    )
    assert (element["rows"], element["usable"], element["status"]) == (3, {"given": 2}, "asks")
    (problem,) = element["problems"]
    (cell,) = problem["first"]
    assert problem["count"] == 1
    assert (cell["row"], cell["column"], cell["found"]) == (2, "confidence", "1.8")
    assert cell["expected"]
    assert set(element["not_usable"]) == set(METHODS) - {"given"}


def test_every_element_says_what_is_judged_and_remarked(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.jsonl", '{"gold": "1", "samples": ["1", "2", "x"]}\n')
    judged = "majority answer"
    remarks = ["1 tie, the first sampled answer taken", "1 sample does not parse"]
    for verb in ("score", "bins"):
        element = call(verb, path, "--method", "pairwise", "--metric", "ece", "--json").element
        assert (element["judged"], element["remarks"]) == (judged, remarks)
    element = call("check", path, "--json").element
    assert element["judged"] == dict.fromkeys(("cluster_number", "cluster_size", "pairwise"), judged)
    assert element["remarks"]["pairwise"] == remarks


def test_check_has_one_element_per_run(call: Call, tmp_path: Path) -> None:
    text = "model,shots,confidence,correct\nm1,0,0.5,1\nm2,5,0.6,0\nm1,0,0.7,1\n"
    elements = call("check", write(tmp_path, "quiz.csv", text), "--json").elements
    assert [(element["run"], element["rows"]) for element in elements] == [
        ("m1 · 0-shot", 2),
        ("m2 · 5-shot", 1),
    ]


def test_renormalise_reaches_the_recipe(call: Call, tmp_path: Path) -> None:
    text = (
        '{"choice_logprobs": [-2.0, -1.0], "choice_token_counts": [2, 1], "gold": "0"}\n'
        '{"choice_logprobs": [-0.5, -3.0], "choice_token_counts": [1, 3], "gold": "0"}\n'
    )
    words = (
        "score",
        write(tmp_path, "quiz.jsonl", text),
        "--method",
        "choice_length_normalised",
        "--metric",
        "ece",
        "--json",
    )
    recipes = {
        flag: call(*words, *flag).element["recipe"]
        for flag in ((), ("--renormalise",), ("--no-renormalise",))
    }
    assert recipes[()] == recipes[("--renormalise",)] != recipes[("--no-renormalise",)]


def test_infinite_is_text(call: Call, tmp_path: Path) -> None:
    text = '{"choice_probs": [1.0, 0.0], "gold": "1"}\n'
    element = call("score", write(tmp_path, "quiz.jsonl", text), "--metric", "nll", "--json").element
    assert element["value"] == "inf"
    assert "1 of 1 row." in element["remark"]


def test_not_defined_is_null(call: Call, tmp_path: Path) -> None:
    text = "confidence,correct\n0.5,1\n"
    assert (
        call("score", write(tmp_path, "q.csv", text), "--metric", "auroc", "--json").element["value"] is None
    )


def test_other_column_names_are_mapped_by_hand(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD.replace("confidence", "a=b").replace("correct", "is right"))
    assert call("score", path, "--json").code == 2
    words = ("--map", "a=b=confidence", "--map", "is right=correct")
    assert call("score", path, *words, "--metric", "accuracy", "--json").element["value"] == 0.5


def test_a_folder_stands_for_its_files(call: Call, tmp_path: Path) -> None:
    for name in ("quiz.csv", "more/quiz.csv", "README.md", ".hidden/quiz.csv"):
        write(tmp_path / "data", name, GOOD)
    answer = call("score", tmp_path / "data", "--metric", "ece", "--json")
    assert answer.code == 0
    assert [element["file"] for element in answer.elements] == ["more/quiz.csv", "quiz.csv"]
    (tmp_path / "empty").mkdir()
    empty = call("score", tmp_path / "empty", "--json")
    assert (empty.code, empty.elements) == (2, [])
    assert "empty: no prediction file in this folder" in empty.err


@pytest.mark.parametrize("verb", VERBS)
def test_text_from_a_file_is_neither_markup_nor_a_terminal_command(
    call: Call, tmp_path: Path, verb: str
) -> None:
    name = "[red]m[/red] :smile: [/nothing] \x1b[2J\u202e"
    text = f"model,confidence,correct\n{name},0.9,1\n{name},0.4,0\n"
    answer = call(verb, write(tmp_path, "quiz.csv", text))
    assert answer.code == 0
    assert "[red]m[/red] :smile: [/nothing] \\x1b[2J\\u202e" in answer.out
    assert "\x1b" not in answer.out + answer.err
    listed = call(verb, write(tmp_path, "quiz.csv", text), "--json")
    assert listed.elements[0]["run"] == name

"""The command line as scripts see it: names, shapes and exit codes that stay put."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from calib_core.confidence import METHODS
from calib_core.metrics import METRICS
from core.cli_words import BAD, CHOICES, GOOD, VERBS, Call, write
from serving import ROOT


def program(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A fresh process."""
    return subprocess.run(
        [sys.executable, "-m", "calib_core", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_score_element(call: Call, tmp_path: Path) -> None:
    answer = call("score", write(tmp_path, "quiz.csv", GOOD), "--metric", "ece", "--json")
    assert answer.code == 0
    assert answer.element == {
        "file": "quiz.csv",
        "run": "quiz",
        "method": "given",
        "metric": "ece",
        "value": pytest.approx(0.4),
        "bins": 10,
        "n_used": 4,
        "n_total": 4,
        "recipe": "ECE-L1, equal width, M=10, right-closed, as given, n=4/4",
        "remark": None,
    }
    assert answer.err == ""


def test_score_gives_every_usable_method_and_metric(call: Call, tmp_path: Path) -> None:
    answer = call("score", write(tmp_path, "quiz.jsonl", CHOICES), "--json")
    assert answer.code == 0
    had = {(element["method"], element["metric"]) for element in answer.elements}
    of_one = {"ece", "mce", "ace", "brier", "accuracy", "bias", "auroc"}
    assert had == {("choice_softmax", metric) for metric in METRICS} | {
        ("given", metric) for metric in of_one
    }
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


def test_check_has_one_element_a_run(call: Call, tmp_path: Path) -> None:
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
    assert "1 of 1 rows" in element["remark"]


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
def test_text_from_a_file_is_no_markup_and_no_terminal_command(call: Call, tmp_path: Path, verb: str) -> None:
    name = "[red]m[/red] :smile: [/nothing] \x1b[2J\u202e"
    text = f"model,confidence,correct\n{name},0.9,1\n{name},0.4,0\n"
    answer = call(verb, write(tmp_path, "quiz.csv", text))
    assert answer.code == 0
    assert "[red]m[/red] :smile: [/nothing] \\x1b[2J\\u202e" in answer.out
    assert "\x1b" not in answer.out + answer.err
    listed = call(verb, write(tmp_path, "quiz.csv", text), "--json")
    assert listed.elements[0]["run"] == name


def test_help_says_what_there_is_and_waits_for_nothing_it_does_not_need() -> None:
    helped = program("--help")
    assert helped.returncode == 0
    for verb in VERBS:
        assert verb.encode() in helped.stdout
    code = (
        "import sys; from calib_core.__main__ import main; main(['--help']);"
        "sys.exit(str(sorted({'streamlit', 'plotly', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules))))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert loaded.stderr.strip() == "[]"  # each of them costs more than all the rest


def test_stdout_of_a_fresh_process_is_json_in_any_locale(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", "model,dataset,confidence,correct\nmé,d,0.9,1\n")
    done = program("score", path, "--json", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0
    assert json.loads(done.stdout)[0]["run"] == "mé · d"
    shown = program(
        "score", path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii"
    )
    assert shown.returncode == 0
    assert b"Traceback" not in shown.stderr


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    assert program("score", write(tmp_path, "bad.csv", BAD), "--json").returncode == 3
    unknown = program("sweep", tmp_path / "gone.csv", "--json")
    assert (unknown.returncode, json.loads(unknown.stdout)) == (2, [])

"""The verb `compare`: stable names and shapes, what is refused, and the printed text."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import calib_core
from core.cli_calls import BAD, CHOICES, GOOD, NOTHING, Call, write
from core.token_run_builders import random_rows
from predictions import quiz, samples, write_csv, write_jsonl

KEYS = {
    "file",
    "run",
    "method",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "accuracy_of_all",
    "accuracy_of_all_low",
    "accuracy_of_all_high",
    "brier",
    "brier_low",
    "brier_high",
    "skill",
    "best",
    "best_by",
    "n_used",
    "n_total",
    "judged",
    "metrics",
    "recipe",
    "missing",
}

METHOD, SKILL = 3, 8
"""Places in a printed row."""


def two_models(folder: Path) -> Path:
    return write_csv(
        folder / "quiz.csv",
        [
            *quiz(150, model="red", dataset="quiz"),
            *quiz(160, seed=6, model="green", dataset="quiz"),
        ],
    )


def test_element(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    answer = call("compare", path, "--json")
    element = answer.element
    (run,) = calib_core.load(path)
    assert (answer.code, answer.err) == (0, "")
    assert set(element) == KEYS
    assert (element["file"], element["run"], element["method"]) == ("quiz.csv", "quiz", "given")
    for metric in ("accuracy", "brier"):
        assert element[metric] == calib_core.score(run, method="given", metric=metric).value
        assert element[f"{metric}_low"] <= element[metric] <= element[f"{metric}_high"]
    assert element["skill"] == pytest.approx(1 - element["brier"] / 0.25)
    assert (element["n_used"], element["n_total"], element["judged"]) == (4, 4, "greedy answer")
    assert element["metrics"] == {}
    assert element["recipe"].endswith("as given, n=4/4")


def test_every_run_and_method_is_a_point(call: Call, tmp_path: Path) -> None:
    files = (two_models(tmp_path), write_jsonl(tmp_path / "ten.jsonl", samples()))
    elements = call("compare", *files, "--json").elements
    assert [(element["file"], element["run"], element["method"]) for element in elements] == [
        ("quiz.csv", "red · quiz", "verbal"),
        ("quiz.csv", "red · quiz", "given"),
        ("quiz.csv", "green · quiz", "verbal"),
        ("quiz.csv", "green · quiz", "given"),
        *(("ten.jsonl", "ten", method) for method in ("cluster_number", "cluster_size", "pairwise")),
    ]
    chosen = call("compare", *files, "--json", "--method", "cluster_size").elements
    assert [element["method"] for element in chosen] == ["cluster_size"]


def test_skill_is_null_where_all_are_right(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "sure.csv", "confidence,correct\n0.9,1\n0.8,1\n")
    assert call("compare", path, "--json").element["skill"] is None
    (row,) = [line for line in call("compare", path).out.splitlines() if "│" in line]
    assert row.split("│")[SKILL].strip() == "–"


def test_other_metrics_are_shown_beside_them(call: Call, tmp_path: Path) -> None:
    path = two_models(tmp_path)
    words = ("--method", "given", "--metric", "ece", "--metric", "brier", "--bins", "20")
    first = call("compare", path, *words, "--json").elements[0]
    run = calib_core.load(path)[0]
    assert set(first["metrics"]) == {"ece"}
    wanted = calib_core.score(run, method="given", metric="ece", bins=20).value
    assert first["metrics"]["ece"]["value"] == wanted
    assert first["metrics"]["ece"]["low"] <= wanted <= first["metrics"]["ece"]["high"]
    refused = call("compare", path, "--method", "given", "--metric", "full_ece", "--json")
    assert refused.code == 2
    assert "full_ece by given is not available" in refused.err
    assert len(refused.elements) == 2
    assert call("compare", path, "--metric", "no_such", "--json").code == 2


def test_it_is_of_the_top_label_whatever_is_asked(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "four.jsonl", CHOICES)
    top = call("compare", path, "--json")
    every = call("compare", path, "--labels", "all", "--json")
    assert (every.code, every.elements) == (0, top.elements)
    assert "--labels has no effect" in every.err
    assert top.err == ""


def test_every_method_can_be_judged_by_one_answer(call: Call, tmp_path: Path) -> None:
    """The greedy answer is wrong in every second row, the majority of the samples right in all."""
    made = [
        {"gold": "7", "prediction": "78"[at % 2], "samples": ["7", "7", "9"], "confidence": 0.8}
        for at in range(40)
    ]
    path = write_jsonl(tmp_path / "ten.jsonl", made)
    methods = ("--method", "given", "--method", "cluster_size", "--json")

    def accuracies(*options: str) -> dict[str, tuple[float, str]]:
        elements = call("compare", path, *methods, *options).elements
        return {one["method"]: (one["accuracy"], one["judged"]) for one in elements}

    greedy, majority = (0.5, "greedy answer"), (1.0, "majority answer")
    assert accuracies() == {"given": greedy, "cluster_size": majority}
    assert accuracies("--judged", "greedy") == {"given": greedy, "cluster_size": greedy}
    assert accuracies("--judged", "majority") == {"given": majority, "cluster_size": majority}
    pair = call("compare", path, *methods, "--pairs", "--metric", "accuracy", "--judged", "greedy").element
    assert (pair["difference"], pair["n_common"]) == (0, 40)
    assert call("compare", path, *methods, "--pairs", "--metric", "accuracy").element["difference"] != 0
    assert "all judged by the greedy answer" in call("compare", path, "--judged", "greedy").out
    alone = call("compare", write(tmp_path, "alone.csv", GOOD), "--judged", "majority")
    assert alone.code == 2
    assert "The run has no samples, so no majority answer." in alone.err


def test_token_level_files_are_compared_without_intervals(call: Call, tmp_path: Path) -> None:
    probs, target = random_rows(50, 6, seed=4)
    np.savez(tmp_path / "text.npz", probs=probs, target=target)
    element = call("compare", tmp_path / "text.npz", "--json").element
    assert (element["method"], element["n_used"]) == ("tokens", 50)
    assert (element["brier_low"], element["accuracy_high"]) == (None, None)


def test_a_person_reads_the_most_accurate_run_first_and_its_highest_skill(call: Call, tmp_path: Path) -> None:
    answer = call("compare", two_models(tmp_path))
    rows = [line for line in answer.out.splitlines() if "│" in line]
    assert sorted(row.split("│")[METHOD].strip() for row in rows) == ["given", "given", "verbal", "verbal"]
    keys = [(int(row.split("│")[1]), -float(row.split("│")[SKILL].replace("−", "-"))) for row in rows]
    assert keys == sorted(keys)
    why = "Trend: Confidence in the file: No rank correlation: 2 models"
    for said in ("the most accurate", why, "n=150/150 to 160/160"):
        assert said in answer.out


def test_files_of_the_same_label_are_distinguished(call: Call, tmp_path: Path) -> None:
    for name, seed in (("one.csv", 5), ("two.csv", 6)):
        write_csv(tmp_path / name, quiz(40, seed=seed, model="red"))
    answer = call("compare", tmp_path / "one.csv", tmp_path / "two.csv", "--method", "given")
    assert "red (one.csv)" in answer.out
    elements = call("compare", tmp_path, "--method", "given", "--json").elements
    assert [element["file"] for element in elements] == ["one.csv", "two.csv"]
    assert {element["run"] for element in elements} == {"red"}


def test_bad_rows_and_refused_files_do_not_stop_the_others(call: Call, tmp_path: Path) -> None:
    good, bad = write(tmp_path, "good.csv", GOOD), write(tmp_path, "bad.csv", BAD)
    answer = call("compare", good, bad, "--json")
    assert (answer.code, [element["file"] for element in answer.elements]) == (3, ["good.csv"])
    skipped = call("compare", good, bad, "--skip-bad-rows", "--json")
    assert (skipped.code, len(skipped.elements)) == (0, 2)
    assert skipped.elements[1]["n_total"] == 3
    nothing = call("compare", write(tmp_path, "nothing.csv", NOTHING), "--json")
    assert (nothing.code, nothing.elements) == (2, [])


def test_a_method_that_no_run_gives_is_refused(call: Call, tmp_path: Path) -> None:
    answer = call("compare", write(tmp_path, "quiz.csv", GOOD), "--method", "p_true", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "p_true is not available" in answer.err


def test_missing_values_are_counted(call: Call, tmp_path: Path) -> None:
    rows = list(csv.reader(GOOD.splitlines()))
    rows[1][1] = ""
    path = write(tmp_path, "quiz.csv", "\n".join(map(",".join, rows)) + "\n")
    element = call("compare", path, "--json").element
    assert (element["n_used"], element["n_total"]) == (3, 4)


def test_files_without_ids_are_paired_by_row_only_where_asked(call: Call, tmp_path: Path) -> None:
    golds = "ABCD" * 15
    one = [{"gold": gold, "prediction": "A", "confidence": 0.5} for gold in golds]
    two = [{"gold": gold, "prediction": gold, "confidence": 0.75} for gold in golds]
    files = [write_csv(tmp_path / f"{name}.csv", rows) for name, rows in (("one", one), ("two", two))]
    words = ("--pairs", "--metric", "accuracy")
    assert "map row=id" in call("compare", *files, *words).err
    pair = call("compare", *files, *words, "--json", "--map", "row=id").element
    assert pair["n_common"] == 60
    assert (
        "over 60 common questions, the same by row number,"
        in call("compare", *files, *words, "--map", "row=id").out
    )
    assert pair["difference"] == pytest.approx(-0.75)
    write_csv(files[1], two[1:] + two[:1])
    assert "60 of 60 equal ids have different right answers" in " ".join(
        call("compare", *files, *words, "--map", "row=id").err.split()
    )


def test_pairs_are_compared_on_their_common_questions(call: Call, tmp_path: Path) -> None:
    """Green is asked all of red's questions but the last ten; its confidence is .1 higher throughout."""
    random = np.random.default_rng(7)
    said = random.uniform(0.1, 0.8, 60)
    right = (random.random(60) < said).astype(int)
    rows = [
        {"id": f"q{at}", "model": model, "dataset": "quiz", "confidence": c + higher, "correct": y}
        for model, higher, asked in (("red", 0.0, 60), ("green", 0.1, 50))
        for at, (c, y) in enumerate(zip(said[:asked], right[:asked], strict=True))
    ]
    path = write_csv(tmp_path / "quiz.csv", rows)
    elements = call("compare", path, "--pairs", "--json").elements
    assert [element["metric"] for element in elements] == ["brier_skill", "accuracy", "brier"]
    brier = elements[2]
    assert set(brier) == {
        *("metric", "a", "b", "difference", "interval", "p", "p_holm", "n_common", "clusters"),
    }
    assert (brier["a"]["run"], brier["b"]["run"]) == ("red · quiz", "green · quiz")
    assert (brier["n_common"], brier["clusters"]) == (50, 50)
    difference = ((said - right) ** 2 - (said + 0.1 - right) ** 2)[:50]
    one_more = np.mean([np.abs(1 - 2 * confidence[:50]).mean() for confidence in (said, said + 0.1)])
    value, error = difference.mean(), np.sqrt(50 / 49 * (50 * difference.var() + one_more**2)) / 50
    assert brier["difference"] == pytest.approx(value)
    assert brier["interval"] == pytest.approx(list(stats.t.interval(0.95, 49, value, error)))
    assert brier["p"] == brier["p_holm"] == pytest.approx(2 * stats.t.sf(abs(value / error), 49))
    assert elements[1]["difference"] == 0
    assert elements[1]["p"] == 1
    out = call("compare", path, "--pairs", "--metric", "brier").out
    assert "brier: paired t over 50 common questions, Holm over 1 pair" in out
    refused = call("compare", path, "--pairs", "--metric", "mce", "--json")
    assert (refused.code, refused.elements) == (2, [])
    assert "A paired difference of MCE cannot be tested" in refused.err
    assert "calib gate FILE --baseline OTHER --worse-by METRIC=0 --significant" in refused.err


def test_what_cannot_be_paired_is_said(call: Call, tmp_path: Path) -> None:
    for name, letters in (("one.csv", "ABCD"), ("two.csv", "BADC")):
        rows = [{"id": at, "gold": letters[at % 4], "prediction": "A", "confidence": 0.5} for at in range(40)]
        write_csv(tmp_path / name, rows)
    answer = call("compare", tmp_path / "one.csv", tmp_path / "two.csv", "--pairs", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert call("compare", tmp_path / "one.csv", tmp_path / "two.csv", "--pairs").out == ""
    assert (
        "40 of 40 equal ids have different right answers, so the ids belong to different questions."
        in answer.err
    )

"""The verb `judge`: the keys that scripts depend on, what is refused, and the printed words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.cli_calls import GOOD, Call, write

KEYS = {"run", "metric", "value", "interval", "n", "n_labelled", "method"}


def judged(tmp_path: Path, passing: str = "pass", failing: str = "fail") -> Path:
    """Sixty rows of which people labelled every other, and half of them on each of two tasks."""
    random = np.random.default_rng(1)
    human = random.random(60) < 0.7
    judge = human ^ (random.random(60) < 0.2)
    lines = [
        f"q{at},{'xy'[at // 2 % 2]},{passing if judge[at] else failing},"
        f"{'' if at % 2 else passing if human[at] else failing}"
        for at in range(60)
    ]
    return write(tmp_path, "judged.csv", "\n".join(("id,subject,judge,human", *lines, "")))


def test_every_measure_and_every_pass_rate(call: Call, tmp_path: Path) -> None:
    answer = call("judge", judged(tmp_path), "--json")
    assert (answer.code, answer.err) == (0, "")
    elements = answer.elements
    assert all(element.keys() >= KEYS for element in elements)
    found = [(element["metric"], element["method"]) for element in elements]
    assert found == [
        ("agreement", "labelled"),
        ("constant", "labelled"),
        ("kappa", "unweighted"),
        ("sensitivity", "labelled"),
        ("specificity", "labelled"),
        ("base_rate", "labelled"),
        ("pass_rate", "judged"),
        ("pass_rate", "rogan_gladen"),
        ("pass_rate", "ppi"),
        ("pass_rate", "labelled"),
    ]
    assert {
        (element["n"], element["n_labelled"]) for element in elements if element["metric"] == "kappa"
    } == {(60, 30)}
    assert [element["chosen"] for element in elements if element["metric"] == "pass_rate"].count(True) == 1
    low, high = elements[0]["interval"]
    assert low < elements[0]["value"] < high


def test_one_metric_by_groups(call: Call, tmp_path: Path) -> None:
    elements = call("judge", judged(tmp_path), "--metric", "agreement", "--by", "subject", "--json").elements
    assert [(element["by"], element["group"]) for element in elements] == [
        (None, None), ("subject", "x"), ("subject", "y")
    ]  # fmt: skip
    assert sum(element["n_labelled"] for element in elements[1:]) == elements[0]["n_labelled"]


def test_what_passes_is_asked_for_and_not_guessed(call: Call, tmp_path: Path) -> None:
    path = judged(tmp_path, "good", "poor")
    answer = call("judge", path, "--json")
    assert answer.code == 0
    assert {element["metric"] for element in answer.elements} == {"agreement", "constant", "kappa"}
    assert "which label passes is not known: name it with --pass LABEL" in answer.err
    asked = call("judge", path, "--metric", "sensitivity", "--json")
    assert (asked.code, asked.elements) == (2, [])
    assert "sensitivity cannot be computed: which label passes is not known" in asked.err
    told = call("judge", path, "--metric", "sensitivity", "--pass", "Good", "--json")
    assert (told.code, len(told.elements)) == (0, 1)
    wrong = call("judge", path, "--pass", "fine", "--json")
    assert (wrong.code, wrong.elements) == (2, [])
    assert "No label is “fine”. The labels are “good”, “poor”." in wrong.err


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (GOOD, (), "has no labels of a judge: read the column that holds them with --map COLUMN=judge"),
        ("id,judge\na,pass\nb,fail\n", (), "has no labels of people"),
        (
            "id,judge,human\na,pass,pass\nb,fail,fail\n",
            ("--metric", "ece"),
            "--metric: a judge has no metric 'ece'",
        ),
        ("id,judge,human\na,pass,pass\nb,fail,fail\n", ("--by", "task"), "There is no grouping “task”"),
        ("id,judge,human\na,good,pass\nb,poor,fail\n", (), "no label in common"),
    ],
)
def test_refusals(call: Call, tmp_path: Path, text: str, words: tuple[str, ...], said: str) -> None:
    answer = call("judge", write(tmp_path, "run.csv", text), *words, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert said in answer.err


def test_other_verbs_still_need_a_confidence(call: Call, tmp_path: Path) -> None:
    answer = call("score", judged(tmp_path), "--json")
    assert (answer.code, answer.elements) == (2, [])


def test_what_is_printed(call: Call, tmp_path: Path) -> None:
    printed = call("judge", judged(tmp_path), "--by", "subject").out
    assert "The judge agrees with people on" in printed
    assert "The judge passes" in printed
    assert "All rates assume that a random sample of the rows was labelled" in printed
    assert "subject: x: Judge against people" in printed
    whole = call("judge", judged(tmp_path)).out
    assert "Is it fair?: No two groups by subject have 30 labelled rows each" in whole

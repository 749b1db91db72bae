"""Does the front door list every run with its numbers, and lead on?"""

from __future__ import annotations

from pathlib import Path

import pytest

import calib_core
import screens
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, address, table


def test_every_run_and_method_with_its_numbers(data: Path, visit: Visit) -> None:
    write_jsonl(data / "choice.jsonl", choices(model="blue", dataset="four"))
    write_csv(data / "quiz.csv", [*quiz(200, model="red"), *quiz(100, seed=6, model="green")])
    shown = table(visit("start"), "run", "ece")
    runs = [*calib_core.load(data / "choice.jsonl"), *calib_core.load(data / "quiz.csv")]
    metrics = ("accuracy", "brier", "ece")
    methods = {"blue · four": ("choice_softmax", "choice_length_normalised", "p_true")}
    expected = [
        (run.label, run.n_total, *(
            calib_core.score(run, method=method, metric=metric).value for metric in metrics
        ))
        for run in runs
        for method in methods.get(run.label, ("verbal", "given"))
    ]
    assert [run.label for run in runs] == ["blue · four", "red", "green"]
    found = shown[["run", "rows", "accuracy", "brier", "ece"]].itertuples(index=False, name=None)
    assert list(found) == expected


def test_a_row_leads_to_its_diagram(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", [*quiz(50, model="red"), *quiz(60, seed=6, model="green")])
    at = visit("start")
    at.session_state["overview"] = {"selection": {"rows": [3], "columns": [], "cells": []}}
    screens.run(at)
    assert at.title[0].value == "Reliability"
    assert address(at) == {"run": "green", "method": "given"}
    assert screens.tiles(at)["Rows used / total"] == "60 / 60"


def test_two_files_with_runs_of_one_name_are_told_apart(data: Path, visit: Visit) -> None:
    write_csv(data / "first.csv", quiz(50, model="red"))
    write_csv(data / "second.csv", quiz(70, seed=6, model="red"))
    at = visit("start")
    assert sorted(set(table(at, "run", "ece")["run"])) == ["red (first.csv)", "red (second.csv)"]
    at = visit("reliability", run="red--second.csv")
    assert screens.tiles(at)["Rows used / total"] == "70 / 70"


def test_the_demo_data_stands_in_for_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALIB_DATA", raising=False)
    at = screens.visit("start", {})
    assert len(table(at, "run", "ece")) > 5
    assert "Demo data" in screens.said(at)


def test_its_own_folder_is_not_called_demo_data(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    assert "Demo data" not in screens.said(visit("start"))

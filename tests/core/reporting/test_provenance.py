"""The command line under a report says how its files were read."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from calib_core.inference.decision_loss import ErrorCosts
from calib_core.methods.method import MethodOptions
from calib_core.readers.format import ReadOptions
from calib_core.reporting.provenance import ReportCommand
from calib_core.views.inputs import ReportSettings

WRITTEN = ["-o", "out.html", "--", "quiz.csv"]


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ({}, []),
        ({"skip_bad_rows": True}, ["--skip-bad-rows"]),
        ({"format": "table"}, ["--format", "table"]),
        (
            {"options": ReadOptions(columns={"confidence": "p", "correct": "ok"})},
            ["--map", "confidence=p", "--map", "correct=ok"],
        ),
        ({"options": ReadOptions(wide={"*.ok": "correct"})}, ["--wide", "*.ok=correct"]),
        ({"options": ReadOptions(rows="data.items")}, ["--rows", "data.items"]),
        ({"options": ReadOptions(missing=("n/a", "-1"))}, ["--missing", "n/a", "--missing=-1"]),
        ({"options": ReadOptions(dataset="Trivia 2")}, ["--dataset", "Trivia 2"]),
        ({"gold": "gold.csv"}, ["--gold", "gold.csv"]),
        ({"options": ReadOptions(gold_on="qid=id")}, ["--on", "qid=id"]),
        ({"options": ReadOptions(gold_columns={"x": "correct:not"})}, ["--map-gold", "x=correct:not"]),
        ({"pages": ("files",), "runs": ("-m", "b c")}, ["--page", "files", "--run=-m", "--run", "b c"]),
    ],
)
def test_only_what_differs_from_the_default_is_an_option(changed: dict[str, Any], options: list[str]) -> None:
    command = ReportCommand(("quiz.csv",), "out.html", ReportSettings(), **changed)
    assert shlex.split(command.command_line) == [
        "python",
        "-m",
        "calib_core",
        "report",
        *options,
        *WRITTEN,
    ]


def test_holding_out_is_an_option() -> None:
    settings = ReportSettings(options=MethodOptions(held_out=True))
    command = ReportCommand(("quiz.csv",), "out.html", settings)
    assert "report --held-out -o" in command.command_line


def test_the_answer_that_judges_is_an_option() -> None:
    command = ReportCommand(("quiz.csv",), "out.html", ReportSettings(judged_choice="majority"))
    assert "report --judged majority -o" in command.command_line


def test_costs_are_two_options() -> None:
    command = ReportCommand(("quiz.csv",), "out.html", ReportSettings(costs=ErrorCosts(10, 0.5)))
    assert "report --cost-wrong 10 --cost-handed-on 0.5 -o" in command.command_line

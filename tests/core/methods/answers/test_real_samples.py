"""The confidences of sampled answers in real files are exact, question by question."""

from __future__ import annotations

import ast
import csv
import json
from pathlib import Path

import pytest

from calib_core.errors import Unavailable
from core import confidence_oracle as oracle
from core.confidence_runs import Row, agrees, confidences, run_of

METHODS = ("cluster_number", "cluster_size", "pairwise")

VOTERS = slice(4, 18)
"""The columns of 14 models' letters."""


@pytest.fixture(scope="module")
def redux(extra_files: Path) -> list[Row]:
    """MMLU-Redux with 14 models' letters in place of 14 samples of one."""
    path = extra_files / "real/mmlu-redux-votes/all.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {
                "answer_kind": "choice",
                "choices": ast.literal_eval(row[1]),
                "gold_index": int(row[2]),
                "samples_parsed": [letter or None for letter in row[VOTERS]],
            }
            for row in list(csv.reader(file))[1:]
        ]


@pytest.fixture(scope="module")
def gsm8k(extra_files: Path) -> list[Row]:
    """GSM8K with four systems' whole solutions in place of four samples of one."""
    path = extra_files / "real/gsm8k-model-solutions/example_model_solutions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    systems = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
    return [
        {"gold": row["ground_truth"], "samples": [row[system]["solution"] for system in systems]}
        for row in rows
    ]


def last_line(text: str) -> str | None:
    """What a solution of GSM8K says on its last line."""
    *before, line = text.strip().splitlines()
    if not before:
        return line.removeprefix("A:").strip()
    return line.removeprefix("A:").strip() if line.startswith("A:") else None


def whole_number(text: str) -> str | None:
    """What a solution says on a last line that begins with "A:", where that is no fraction."""
    said = last_line(text) if "A:" in text else None
    return None if said is None or "/" in said else said


def without_letters(row: Row) -> Row:
    """The row as its letters are read: no choice's own text is a letter that names another."""
    letters = tuple("ABCD")
    choices = [f"the letter {one}" if one.upper() in letters else one for one in row["choices"]]
    return {**row, "choices": choices}


@pytest.mark.parametrize("rule", ["own", "one", "drop"])
def test_every_question_of_mmlu_redux_is_exact(rule: str, redux: list[Row]) -> None:
    for method in METHODS:
        expected = [oracle.self_consistency(without_letters(row), method, rule) for row in redux]
        result = confidences(method, run_of(redux), unparseable=rule)
        assert agrees(result, expected)
        assert "203 samples do not parse" in result.remarks


@pytest.mark.parametrize("rule", ["own", "one", "drop"])
def test_every_question_of_gsm8k_is_exact(rule: str, gsm8k: list[Row]) -> None:
    alone: list[Row] = [
        {
            "answer_kind": "number",
            "gold": last_line(row["gold"]),
            "samples": [last_line(text) for text in row["samples"]],
        }
        for row in gsm8k
    ]
    for method in METHODS:
        expected = [oracle.self_consistency(row, method, rule) for row in alone]
        result = confidences(method, run_of(gsm8k), unparseable=rule)
        assert agrees(result, expected)
        assert "read where an output marks its answer" in result.recipe


def brier(method: str, rows: list[Row], rule: str) -> float:
    pairs = confidences(method, run_of(rows), unparseable=rule).pairs
    return float(((pairs.confidence - pairs.correct) ** 2).mean())


def test_the_votes_are_as_noted_beside_the_files(redux: list[Row], gsm8k: list[Row]) -> None:
    # The notes read only the letters A to D and no fractions; here everything that denotes a choice is read.
    letters: list[Row] = [
        {
            "answer_kind": "choice",
            "gold_index": row["gold_index"],
            "samples_parsed": [one if one in tuple("ABCD") else None for one in row["samples_parsed"]],
        }
        for row in redux
    ]
    assert [round(brier(method, letters, "drop"), 4) for method in METHODS] == [0.1025, 0.0890, 0.0887]
    plain: list[Row] = [
        {"gold": last_line(row["gold"]), "samples_parsed": [whole_number(text) for text in row["samples"]]}
        for row in gsm8k
    ]
    assert [round(brier(method, plain, "drop"), 4) for method in METHODS] == [0.1659, 0.1389, 0.1249]
    for rows, accuracy in ((letters, 0.8644), (plain, 0.4435)):
        correct = confidences("cluster_size", run_of(rows), unparseable="drop").pairs.correct
        assert round(float(correct.mean()), 4) == accuracy


def test_programs_are_not_samples_of_an_answer(extra_files: Path) -> None:
    path = extra_files / "real/pot-aqua-sc/aqua_sc_s0_e-1_11_07_20_49.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows: list[Row] = [
        {"gold": line["answer"], "choices": line["options"], "samples": line["generated"]}
        for line in lines
        if "generated" in line
    ]
    with pytest.raises(Unavailable, match=r"^no sample parses as a choice: "):
        confidences("cluster_size", run_of(rows))

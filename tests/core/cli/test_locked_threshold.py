"""A threshold that was locked is checked against new answers, question by question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli_calls import Call
from predictions import write_csv


def quiz(folder: Path, name: str, **right: tuple[int, int]) -> Path:
    """Decisions of each question: how many of its answers at 0.9 are right, and of how many."""
    lines = [
        {
            "id": f"{question}{at}",
            "dataset": question,
            "model": "m",
            "confidence": 0.9,
            "correct": at < n_right,
        }
        for question, (n_right, n) in right.items()
        for at in range(n)
    ]
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def locked(call: Call, folder: Path, **right: tuple[int, int]) -> Path:
    path = folder / "lock.json"
    assert call("threshold", quiz(folder, "before.jsonl", **right), "--lock", path).code == 0
    return path


def test_a_locked_threshold_has_the_keys_of_its_question(call: Call, tmp_path: Path) -> None:
    entries = json.loads(locked(call, tmp_path, team=(197, 200), spam=(100, 200)).read_text("utf-8"))
    team, spam = entries
    assert team == {
        "question": "team",
        "threshold": 0.9,
        "accuracy": 0.9,
        "confidence": 0.95,
        "n": 200,
        "method": "given",
        "model": "m",
    }
    assert (spam["question"], spam["threshold"]) == ("spam", None)


@pytest.mark.parametrize(
    ("right", "held", "code", "reason"),
    [
        ((195, 200), True, 0, "200 answers from 0.9 on"),
        ((178, 200), True, 0, "200 answers from 0.9 on"),
        ((150, 200), False, 1, "are right less often than 90.0 %"),
    ],
)
def test_new_answers_hold_it_unless_they_contradict_its_target(
    call: Call, tmp_path: Path, right: tuple[int, int], *, held: bool, code: int, reason: str
) -> None:
    lock = locked(call, tmp_path, team=(197, 200))
    answer = call("gate", quiz(tmp_path, "new.jsonl", team=right), "--lock", lock, "--json")
    assert answer.code == code
    assert (answer.element["held"], answer.element["kind"], answer.element["limit"]) == (held, "lock", 0.9)
    assert reason in answer.element["reason"]


def test_what_cannot_be_checked_is_null_and_no_pass(call: Call, tmp_path: Path) -> None:
    lock = locked(call, tmp_path, team=(197, 200), spam=(100, 200), mood=(197, 200))
    new = quiz(tmp_path, "new.jsonl", team=(195, 200), spam=(195, 200))
    answer = call("gate", new, "--lock", lock, "--json")
    assert answer.code == 2
    found = {element["run"]: element for element in answer.elements}
    assert {name: element["held"] for name, element in found.items()} == {
        "m · team": True,
        "m · spam": None,
        "mood": None,
    }
    assert found["m · spam"]["reason"] == "no threshold was guaranteed when it was locked"
    assert found["mood"]["reason"] == "no run in the files has this question"
    for output in ("text", "markdown", "junit"):
        assert call("gate", new, "--lock", lock, "--format", output).code == 2


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '[{"question": "team"}]', '[{"question": 1, "threshold": 2}]']
)
def test_another_file_is_refused(call: Call, tmp_path: Path, content: str) -> None:
    lock = tmp_path / "lock.json"
    lock.write_text(content, "utf-8")
    answer = call("gate", quiz(tmp_path, "new.jsonl", team=(195, 200)), "--lock", lock)
    assert answer.code == 2
    assert "expected locked thresholds" in answer.err


def test_the_lock_of_decisions_is_of_the_top_label(call: Call, tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"custom_id": str(at), "answers": {"spam": {"type": "noul", "noul": 0.05}}, "gold": {"spam": at < 2}}
        for at in range(200)
    ]
    path = tmp_path / "decisions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    lock = tmp_path / "lock.json"
    assert call("threshold", path, "--lock", lock).code == 0
    (entry,) = json.loads(lock.read_text("utf-8"))
    assert (entry["question"], entry["method"], entry["threshold"]) == ("spam", "choice", 0.95)
    assert call("gate", path, "--lock", lock).code == 0


def test_the_threshold_of_an_event_is_locked_and_checked_in_its_own_words(call: Call, tmp_path: Path) -> None:
    def events(name: str, n_yes: int) -> Path:
        rows = [{"dataset": "spam", "event_prob": 0.9, "event": int(at < n_yes)} for at in range(200)]
        return write_csv(tmp_path / name, rows)

    lock = tmp_path / "lock.json"
    assert call("threshold", events("old.csv", 197), "--accuracy", "0.9", "--lock", lock).code == 0
    held = call("gate", events("new.csv", 178), "--lock", lock)
    assert held.code == 0
    assert "precision from the locked threshold on ≥ 0.9" in held.out
    broken = call("gate", events("worse.csv", 150), "--lock", lock, "--json")
    assert (broken.code, broken.element["held"], broken.element["method"]) == (1, False, "event")
    assert broken.element["reason"] == "200 rows from 0.9 on hold yes less often than 90.0 %"

"""What suggests a misread file is said on every page that shows a number of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import screens
from predictions import write_jsonl
from screens import Visit

QUESTIONS = [
    {
        "id": str(number),
        "subject": ("law", "logic")[number % 2],
        "gold": f"answer {number}",
        "prediction": f"['answer {number}']",
        "confidence": 0.5 + number % 40 / 100,
        "samples": [f"['answer {number}']", f"['answer {number + n_repeated}']"],
        "dataset": "quiz",
        "model": "m",
        "checkpoint": f"step{step}",
        "tokens_seen": step * 1000,
    }
    for step, n_repeated in ((1, 0), (2, 1))
    for number in range(40)
]
"""Two checkpoints whose answers were written as lists, so that no answer equals its gold."""


@pytest.mark.parametrize(
    "page",
    [
        "start",
        "reliability",
        "concentration",
        "robustness",
        "comparison",
        "abstention",
        "recalibrate",
        "sampling",
        "methods",
        "groups",
        "training",
        "files",
    ],
)
def test_every_page_says_what_suggests_a_misread_file(page: str, data: Path, visit: Visit) -> None:
    write_jsonl(data / "quiz.jsonl", QUESTIONS)
    texts = [screens.plain(warning.value) for warning in visit(page).warning]
    (first, *_) = [text for text in texts if "Suspicious: none of 40 answers counts as right" in text]
    assert "['answer" in first, "an example row shows why"

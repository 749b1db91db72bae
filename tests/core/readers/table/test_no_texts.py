"""Values of JSON that are no text, among texts, are bad rows; numbers are texts, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from core.readers.conftest import ReadText

ROW: dict[str, Any] = {
    "id": "q",
    "subject": "s",
    "gold": "4",
    "prediction": "4",
    "confidence": 0.5,
    "samples": ["4", "5"],
}


def lines(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


NO_TEXTS = [True, float("nan"), float("-inf"), {"a": 1}]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *product(["id", "gold", "prediction", "subject"], NO_TEXTS),
        *product(["samples"], NO_TEXTS[1:]),  # of sampled answers, some may be true
    ],
)
def test_what_is_no_text_is_a_bad_row(read_text: ReadText, column: str, value: object) -> None:
    rows = [ROW | {"id": f"q{at}"} for at in range(3)]
    rows[1][column] = ["4", value] if column == "samples" else value
    reading = read_text(lines(rows), "quiz.jsonl")
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    assert [(cell.row, cell.column) for cell in cells] == [(2, column)]
    assert reading.n_bad_rows == 1


@pytest.mark.parametrize("golds", [("4", 5, 6.5), (True, False, None)])
def test_numbers_among_texts_and_flags_alone_are_answers(
    read_text: ReadText, golds: tuple[object, ...]
) -> None:
    rows = [ROW | {"id": f"q{at}", "gold": gold, "prediction": gold} for at, gold in enumerate(golds)]
    assert read_text(lines(rows), "quiz.jsonl").n_bad_rows == 0


def test_a_list_of_one_gold_that_no_choice_has_is_a_bad_row(read_text: ReadText) -> None:
    row = {"choices": ["red", "blue"], "gold": "red", "choice_probs": [0.75, 0.25]}
    reading = read_text(lines([row, row, row | {"gold": ["green"]}]), "quiz.jsonl")
    assert [(cell.row, cell.column) for cell in reading.problems[0].first_cells] == [(3, "gold")]

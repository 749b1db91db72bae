"""Prediction files made from seeds, which the tests of the pages write and open."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


def quiz(rows: int = 1319, seed: int = 5, **more: str) -> list[dict[str, Any]]:
    """Open answers with a confidence of three decimals and a stated one of eleven values; too sure by far.

    more: the same value in every row, e.g. model="red".
    """
    chance = random.Random(seed)  # noqa: S311  rows, not keys
    made: list[dict[str, Any]] = []
    for number in range(rows):
        confidence = round(chance.betavariate(5, 2), 3)
        correct = int(chance.random() < 0.75 * confidence)
        made.append(
            {
                "id": f"q{number}",
                "subject": ("sums", "words")[number % 2],
                "question": f"What is {number} and {number % 7}?",
                "prediction": str(number + number % 7 + (1 - correct)),
                "gold": str(number + number % 7),
                "confidence": confidence,
                "verbal_confidence": round(confidence, 1),
                "correct": correct,
                **more,
            }
        )
    return made


def choices(rows: int = 240, seed: int = 9, **more: str) -> list[dict[str, Any]]:
    """Four options a question, with log-probabilities, token counts, p(True) and four sampled answers."""
    chance = random.Random(seed)  # noqa: S311  rows, not keys
    made: list[dict[str, Any]] = []
    for number in range(rows):
        scores = [chance.gauss(0, 1.5) for _ in range(4)]
        scale = math.log(sum(math.exp(score) for score in scores))
        gold = chance.choices(range(4), weights=[math.exp(score / 2) for score in scores])[0]
        best = scores.index(max(scores))
        made.append(
            {
                "id": f"c{number}",
                "question": f"Which is number {number}?",
                "choices": [f"{letter}{number}" for letter in "abcd"],
                "choice_logprobs": [score - scale for score in scores],
                "choice_token_counts": [chance.randint(1, 4) for _ in range(4)],
                "gold": gold,
                "p_true": round(chance.uniform(0.2, 0.6), 4),
                "p_false": round(chance.uniform(0.1, 0.4), 4),
                "correct": int(best == gold),
                **more,
            }
        )
    return made


def samples(rows: int = 60, seed: int = 4) -> list[dict[str, Any]]:
    """Ten sampled answers a question, of which some do not parse."""
    chance = random.Random(seed)  # noqa: S311  rows, not keys
    return [
        {
            "id": f"s{number}",
            "gold": str(number),
            "samples": [
                "" if chance.random() < 0.1 else str(number + chance.choice((0, 0, 0, 1, 2)))
                for _ in range(10)
            ],
        }
        for number in range(rows)
    ]


def judged(
    rows: int = 400, labelled: int = 160, seed: int = 1, words: Sequence[str] = ("pass", "fail")
) -> list[Row]:
    """A judge's labels with scores; people's, alike for every seed, on the first rows."""
    people, errors = random.Random(0), random.Random(seed)  # noqa: S311  rows, not keys
    found: list[Row] = []
    for at in range(rows):
        good = people.random() < 0.7
        judge = good != (errors.random() < 0.15)
        found.append(
            {
                "id": f"q{at}",
                "judge": words[not judge],
                "judge_score": round((judge + errors.random()) / 2, 3),
                "human": words[not good] if at < labelled else "",
                "task": "ab"[at % 2],
            }
        )
    return found


def write_csv(path: Path, rows: Sequence[Row]) -> Path:
    """The rows as CSV, the columns of the first; lists as JSON text."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()}
            )
    return path


def write_jsonl(path: Path, rows: Sequence[Row]) -> Path:
    """The rows as JSON, one a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def response(number: int) -> dict[str, object]:
    """One line of an OpenAI batch output: a letter with the log-probabilities of the likeliest ones."""
    tops = [
        {"token": letter, "logprob": value, "bytes": None}
        for letter, value in (("A", -0.2 - number / 100), ("B", -1.8 + number / 100))
    ]
    content = [{"token": "A", "logprob": tops[0]["logprob"], "bytes": None, "top_logprobs": tops}]
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": "A"},
        "logprobs": {"content": content},
    }
    body = {"object": "chat.completion", "model": "m", "choices": [choice]}
    return {"custom_id": f"q{number}", "response": {"status_code": 200, "body": body}, "error": None}

"""Runs for testing confidence methods: a builder, strategies, and the worked example."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from calib_core.methods import METHODS
from calib_core.methods.method import Confidences, MethodOptions
from calib_core.runs import ANSWER_SCHEMA, AnswerRun, RowCounts, RunInfo
from core.confidence_oracle import JudgedConfidence

Row = Mapping[str, Any]

TOLERANCE = 1e-12

FEWER = settings(max_examples=settings().max_examples // 2)
"""For a property whose every example groups samples or reads files, which is slow on few rows, too."""


def run_of(
    rows: Sequence[Row], info: RunInfo | None = None, dtypes: Mapping[str, pl.DataType] | None = None
) -> AnswerRun:
    """A run of these rows; a column that no row names is not there."""
    schema = {**ANSWER_SCHEMA, **(dtypes or {})}
    names = [name for name in schema if any(name in row for row in rows)]
    data = {name: pl.Series(name, [row.get(name) for row in rows], dtype=schema[name]) for name in names}
    frame = pl.DataFrame({"row": pl.Series(range(1, len(rows) + 1), dtype=pl.Int64), **data})
    return AnswerRun("made.jsonl", "table", "made", info or RunInfo(), frame, RowCounts(n_rows=len(rows)))


def confidences(method: str, run: AnswerRun, **options: Any) -> Confidences:
    """What the method says of the run; every row is used or missing for a reason."""
    result = METHODS[method].confidences(run, MethodOptions(**options))
    assert result.pairs.n + sum(result.missing.values()) == run.rows.height
    assert result.pairs.n == result.pairs.correct.size == result.pairs.rows.size
    assert result.answers is not None
    assert result.answers.len() == result.pairs.n
    assert all(count > 0 for count in result.missing.values())
    return result


def agrees(said: Confidences, expected: Sequence[JudgedConfidence | None]) -> bool:
    """Whether the pairs are the expected ones, to 1e-12, and the other rows are missing."""
    used = [at for at, one in enumerate(expected) if one is not None]
    known = [one for one in expected if one is not None]
    return (
        said.pairs.rows.tolist() == used
        and said.pairs.correct.tolist() == [one.correct for one in known]
        and all(
            abs(float(one.confidence) - value) <= TOLERANCE
            for one, value in zip(known, said.pairs.confidence.tolist(), strict=True)
        )
    )


LOGS = st.one_of(
    st.just(-math.inf),
    st.integers(-200, 0).map(lambda sixteenth: sixteenth / 16),
    st.floats(-800, 0, allow_nan=False),
)
"""Log-probabilities: zero, such as tie, such as do not, such as underflow."""

NUMBERS = st.sampled_from(
    ["1", "1.0", "$1.00", "2", "02", "1,000", "1e3", "-0", "0", "3.", None, "no idea", "1,00"]
)
TEXTS = st.sampled_from(["Paris", "PARIS.", " paris ", "Rome", "new  york", "New York.", ".", "", None])
CHOICES = ("Rome", "a bridge", "C", "salt")
LETTERS = st.sampled_from(["A", "(a)", "B.", "b", "2", "C", "rome", "a  bridge.", "E", "9", "none", None])
ANSWERS = {"number": NUMBERS, "text": TEXTS, "choice": LETTERS}


RIGHT = {
    "number": ["1", "1000.0", "0"],
    "text": ["paris", "New York"],
    "choice": ["A", "a bridge", "2"],
}


@st.composite
def sampled_question(draw: st.DrawFn, *, every_parses: bool = False) -> Row:
    """A question with some sampled answers and a gold, of any kind."""
    kind = draw(st.sampled_from(sorted(ANSWERS)))
    right = RIGHT[kind]
    answers: st.SearchStrategy[str | None] = st.sampled_from(right) if every_parses else ANSWERS[kind]
    question: dict[str, Any] = {
        "answer_kind": kind,
        "gold": draw(st.sampled_from(right)),
        "samples": draw(st.lists(answers, min_size=2 if every_parses else 0, max_size=9)),
    }
    if kind == "choice":
        question["choices"] = list(CHOICES)
    if not every_parses and draw(st.integers(0, 9)) == 0:
        del question["gold"]
    return question


@st.composite
def choice_question(draw: st.DrawFn) -> Row:
    """A question with a number for each choice, some unknown now and then."""
    count = draw(st.integers(1, 5))
    logs: list[float | None] = draw(st.lists(LOGS, min_size=count, max_size=count))
    if draw(st.integers(0, 9)) == 0:
        logs[draw(st.integers(0, count - 1))] = None
    lengths = st.lists(st.integers(1, 40), min_size=count, max_size=count)
    question: dict[str, Any] = {"choice_logprobs": logs, "gold_index": draw(st.integers(0, count - 1))}
    for name in ("choice_token_counts", "choice_char_counts"):
        question[name] = draw(lengths)
    for name in sorted(question):
        if draw(st.integers(0, 19)) == 0:
            del question[name]
    return question


WORKED: tuple[Row, ...] = (
    {
        "id": "mc-1",
        "answer_kind": "choice",
        "choices": ["salt", "an old bridge", "café", "zinc"],
        "gold": "an old bridge",
        "gold_index": 1,
        "choice_logprobs": [-4.017384, -0.385662, -1.514128, -math.inf],
        "choice_token_counts": [1, 3, 2, 2],
        "prediction": "an old bridge",
        "prediction_index": 1,
        "correct": True,
    },
    {
        "id": "gsm-1",
        "answer_kind": "number",
        "gold": "18",
        "prediction": "18",
        "correct": True,
        "samples": ["... is 17", "... is $17.00", "... is 18", "I cannot tell."],
        "samples_parsed": ["17", "17", "18", None],
        "correct_majority": False,
        "path_logprobs": [-0.105361, -0.223144, -0.051293, -0.356675, -0.510826],
        "answer_start": 3,
        "answer_end": 5,
        "answer_logprobs": [-0.356675, -0.510826],
        "p_true": 0.56,
        "p_false": 0.14,
        "p_true_norm": "raw",
        "verbal_confidence": 0.9,
    },
    {
        "id": "gpt-1",
        "answer_kind": "choice",
        "choices": ["A", "B", "C", "D"],
        "gold": "C",
        "gold_index": 2,
        "choice_logprobs": [-0.356675, -1.89712, None, None],
        "correct": False,
    },
)
"""The three questions of the canonical format's description."""

"""Runs built in memory, as a file would give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.runs import ANSWER_SCHEMA, AnswerRun, RowCounts, RunInfo, schema_name

Columns = Mapping[str, Sequence[Any] | np.ndarray[Any, Any] | pl.Series]


def make_answer_run(
    columns: Columns, *, left_out: int = 0, label: str = "model · quiz", dataset: str | None = None
) -> AnswerRun:
    """A run of these columns; arrays and series keep their dtype, other values take the schema's."""
    made = {
        name: pl.Series(name, values)
        if isinstance(values, np.ndarray | pl.Series)
        else pl.Series(name, values, dtype=ANSWER_SCHEMA[schema_name(name)])
        for name, values in columns.items()
    }
    rows = pl.DataFrame(list(made.values()))
    if "row" not in made:
        rows = rows.with_columns(row=pl.int_range(1, rows.height + 1, dtype=pl.Int64))
    return AnswerRun(
        file="quiz.csv",
        format="table",
        label=label,
        info=RunInfo(dataset=dataset),
        rows=rows,
        row_counts=RowCounts(n_rows=rows.height + left_out, n_left_out=left_out),
    )


def given_evidence(
    confidence: Sequence[float | None] | np.ndarray[Any, Any],
    correct: Sequence[bool | int | None] | np.ndarray[Any, Any],
    **columns: Sequence[Any],
) -> AnswerEvidence:
    """One stored confidence and one outcome a row, seen by the method `given`."""
    outcome = [None if value is None else bool(value) for value in correct]
    return gather_evidence(
        make_answer_run({"confidence": confidence, "correct": outcome, **columns}), "given"
    )


def choice_evidence(
    probs: Sequence[Sequence[float]],
    gold_index: Sequence[int],
    options: MethodOptions | None = None,
    **columns: Sequence[Any],
) -> AnswerEvidence:
    """Stored probabilities of every choice, seen by the method `choice_softmax`."""
    run = make_answer_run({"choice_probs": probs, "gold_index": gold_index, **columns})
    return gather_evidence(run, "choice_softmax", options)


def block_evidence(*parts: tuple[float, int, int]) -> AnswerEvidence:
    """Rows in blocks of (confidence, rows, right ones among them)."""
    confidence = [value for value, rows, _ in parts for _ in range(rows)]
    correct = [at < right for _, rows, right in parts for at in range(rows)]
    return given_evidence(confidence, correct)

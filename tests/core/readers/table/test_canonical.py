"""Calib's own format names its run, and the worked example is read exactly."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import Reading
from calib_core.runs import ANSWER_SCHEMA, RunInfo
from core.readers.answer_run_checks import answer_runs
from fixture_files import FIXTURES

ReadText = Callable[..., Reading]

METADATA = {"format": "calib-answers", "version": 1, "model": "m", "dataset": "d", "shots": 5, "params_b": 7}


def lines(metadata: object, *records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in ({"calib": metadata}, *records))


def parquet_bytes(metadata: str, **columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, metadata={"calib": metadata})
    return buffer.getvalue()


def test_metadata_of_json_lines(read_text: ReadText) -> None:
    reading = read_text(lines(METADATA, {"id": "a", "confidence": 0.5}, {"id": "b", "confidence": 2}))
    assert (reading.format, reading.n_rows, reading.n_bad_rows) == ("canonical", 2, 1)
    (run,) = answer_runs(reading.good_runs)
    assert run.info == RunInfo(model="m", dataset="d", shots=5, params_b=7.0)
    assert run.label == "m · d · 5-shot"
    cell = reading.problems[0].first_cells[0]
    assert (cell.row, cell.line) == (2, 3)


def test_metadata_of_parquet(read_text: ReadText) -> None:
    content = parquet_bytes(json.dumps({**METADATA, "path_of": "majority"}), id=["a"], confidence=[0.5])
    (run,) = answer_runs(read_text(content, "quiz.parquet").good_runs)
    assert (run.format, run.info.path_of, run.label) == ("canonical", "majority", "m · d · 5-shot")


def test_a_row_overrides_the_metadata(read_text: ReadText) -> None:
    reading = read_text(lines(METADATA, {"id": "a", "model": "other"}, {"id": "a"}))
    assert [run.label for run in reading.good_runs] == ["other · d · 5-shot", "m · d · 5-shot"]


def test_a_row_that_repeats_the_metadata_is_of_the_same_run(read_text: ReadText) -> None:
    reading = read_text(lines(METADATA, {"id": "a", "model": "m"}, {"id": "b"}, {"id": "a"}))
    assert [(run.label, run.row_counts.n_rows) for run in reading.good_runs] == [("m · d · 5-shot", 3)]
    assert [problem.kind for problem in reading.problems] == ["repeated id"]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"format": "calib-answers", "version": 2}, "'calib-answers', version 2; this version reads"),
        ({}, "None, version None"),
        ({**METADATA, "shots": "5"}, "'shots' in its metadata cannot be '5'"),
        ({**METADATA, "shots": True}, "'shots' in its metadata cannot be True"),
        ({**METADATA, "path_of": "best"}, "'path_of' in its metadata cannot be 'best'"),
        ("text", "not a JSON object"),
    ],
)
def test_metadata_that_cannot_be_used_is_refused(read_text: ReadText, metadata: object, message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_text(lines(metadata, {"id": "a", "confidence": 0.5}))


def test_metadata_of_parquet_that_is_not_json_is_refused(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"not a JSON object.*--format table"):
        read_text(parquet_bytes("oops", id=["a"], confidence=[0.5]))


def test_the_metadata_may_be_passed_over_by_asking_for_a_table(read_text: ReadText) -> None:
    content = parquet_bytes("oops", id=["a"], confidence=[0.5])
    assert read_text(content, format="table").good_runs[0].info == RunInfo()


def test_a_plain_table_is_not_canonical(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"has no 'calib' metadata"):
        read_text("id,confidence\na,0.5\n", format="canonical")


@pytest.mark.parametrize("name", ["example.answers.jsonl", "example.answers.parquet"])
def test_the_worked_example(name: str) -> None:
    reading = readers.read(FIXTURES / "canonical" / name)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.info == RunInfo(
        "fixture/tiny-7b", "fx", 5, "step1000", 7.0, "chat", 0.0, 2097152000, "greedy", "greedy", "auto"
    )
    assert all(run.rows.schema[column] == ANSWER_SCHEMA[column] for column in run.rows.columns)
    choice, sampled, partial = run.rows.to_dicts()
    assert choice["choice_logprobs"] == [-4.017384, -0.385662, -1.514128, -math.inf]
    assert (choice["gold_index"], choice["correct"], choice["choice_token_counts"]) == (1, True, [1, 3, 2, 2])
    assert sampled["samples_parsed"] == ["17", "17", "18", None]
    assert (sampled["correct"], sampled["correct_majority"]) == (True, False)
    assert (sampled["answer_start"], sampled["answer_end"], sampled["p_true_norm"]) == (3, 5, "raw")
    assert (sampled["p_true"], sampled["verbal_confidence"]) == (0.56, 0.9)
    assert partial["choice_logprobs"] == [-0.356675, -1.89712, None, None]
    assert (partial["gold_index"], partial["correct"], partial["samples"]) == (2, False, None)


def test_both_forms_of_the_worked_example_are_one() -> None:
    folder = FIXTURES / "canonical"
    one, other = (
        answer_runs(readers.read(folder / f"example.answers.{ending}").good_runs)[0].rows
        for ending in ("jsonl", "parquet")
    )
    assert one.to_dicts() == [{name: row[name] for name in one.columns} for row in other.to_dicts()]
    assert other.select(set(other.columns) - set(one.columns)).null_count().row(0) == (3,) * (
        len(other.columns) - len(one.columns)
    )


@pytest.mark.parametrize("name", ["example.tokens.jsonl", "example.tokens.parquet"])
def test_token_level_files_are_not_answers(name: str) -> None:
    path = FIXTURES / "canonical" / name
    assert readers.read(path).format == "topk"
    with pytest.raises(Refused, match="its metadata says 'calib-tokens', version 1; this version reads"):
        readers.read(path, format="canonical")

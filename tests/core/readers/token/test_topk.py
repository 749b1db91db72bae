"""Top-k lists are read in every layout, or refused with instructions."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl
import pytest

from calib_core import readers
from calib_core.edges import Scheme
from calib_core.errors import BadRowsFound, Refused
from calib_core.runs import RunInfo
from calib_core.tokens.bounds import full_ece_bounds, largest_exact_bins
from core.readers.topk_files import GOOD, METADATA, ReadText, lines, only_run, without_field
from fixture_files import FIXTURES, expected


def test_twenty_of_five_hundred_give_the_dense_numbers() -> None:
    dense = expected("token_level/dense_probs")
    run = only_run(readers.read(FIXTURES / "token_level" / "topk20.jsonl"))
    sums = run.sums
    assert (run.format, run.label, run.n_total, sums.n_rows, sums.n_classes) == (
        "topk",
        "topk20",
        64,
        64,
        500,
    )
    for bins in (10, 20):
        low, high = full_ece_bounds(sums, bins)
        assert low == high
        assert round(low, 6) == dense[f"M={bins}"]["full_ece"]
        top = sums.top_label.binned(Scheme("width", bins))
        assert round(float(top.absolute_gap.sum()) / 64, 6) == dense[f"M={bins}"]["ece_top_label"]
    assert round(sums.all_labels.log_loss_sum / 64, 6) == dense["nll"]
    assert sums.top_label.n_correct / 64 == dense["accuracy"]
    low, high = full_ece_bounds(sums, 100)
    assert low < high


def test_weights_are_not_used_and_that_is_said(read_text: ReadText) -> None:
    run = only_run(read_text(lines(METADATA, GOOD | {"weight": 2}, GOOD | {"weight": 1})))
    assert "weight is not used: positions of texts count alike" in run.row_counts.notes
    assert only_run(read_text(lines(METADATA, GOOD))).row_counts.notes == ()


def test_targets_without_a_probability_are_asked_about() -> None:
    reading = readers.read(FIXTURES / "token_level" / "topk20_missing_target.jsonl")
    assert [(problem.kind, problem.count) for problem in reading.problems] == [
        ("target without a probability", 16)
    ]
    with pytest.raises(BadRowsFound, match="16 of 64 rows are bad"):
        reading.runs(skip_bad_rows=False)
    run = only_run(reading, skip_bad_rows=True)
    assert (run.row_counts.n_rows, run.row_counts.n_left_out, run.sums.n_rows) == (64, 16, 48)


@pytest.mark.parametrize("name", ["example.tokens.jsonl", "example.tokens.parquet"])
def test_the_worked_example(name: str) -> None:
    dense = expected("canonical/example.tokens")
    reading = readers.read(FIXTURES / "canonical" / name)
    run = only_run(reading)
    assert run.info == RunInfo(
        model="fixture/tiny-7b",
        dataset="fx-text",
        checkpoint="step1000",
        params_b=7.0,
        tuning="base",
        temperature=1.0,
        tokens_seen=2097152000,
    )
    assert run.label == "fixture/tiny-7b · fx-text · step1000"
    assert reading.unused_columns == ("target_rank",)
    assert full_ece_bounds(run.sums, 5) == pytest.approx((0.6, 0.6), abs=1e-6)
    low, high = full_ece_bounds(run.sums, 10)
    assert low < dense["M=10"]["full_ece"] < high
    assert largest_exact_bins(run.sums) == 6
    top = run.sums.top_label.binned(Scheme("width", 10))
    assert float(top.absolute_gap.sum()) / 3 == pytest.approx(dense["M=10"]["ece_top_label"], abs=1e-6)


def csv_of(record: dict[str, Any], delimiter: str) -> str:
    cells = [json.dumps(value) for value in record.values()]
    quoted = [f'"{cell}"' if delimiter in cell else cell for cell in cells]
    return f"{delimiter.join(record)}\n{delimiter.join(quoted)}\n"


def parquet_of(record: dict[str, Any], metadata: dict[str, Any] | None = None) -> bytes:
    buffer = io.BytesIO()
    frame = pl.DataFrame([record], schema_overrides={"top_logprobs": pl.List(pl.Float32)})
    frame.write_parquet(buffer, metadata={"calib": json.dumps(metadata)} if metadata else None)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        lines(GOOD),
        json.dumps([GOOD, GOOD][:1]),
        csv_of(GOOD, ","),
        csv_of(GOOD, ";"),
        csv_of(GOOD, "\t"),
        parquet_of(GOOD),
        lines({"calib": METADATA}, without_field("vocab_size")),
        parquet_of(without_field("vocab_size"), METADATA),
        lines({**GOOD, "target_logprob": str(GOOD["target_logprob"]), "target": "1"}),
    ],
    ids=["lines", "list", "commas", "semicolons", "tabs", "parquet", "our lines", "our parquet", "text"],
)
def test_each_way_of_writing_it_is_read_alike(read_text: ReadText, content: str | bytes) -> None:
    reading = read_text(content, "some.file")
    sums = only_run(reading).sums
    assert (reading.format, sums.n_rows, sums.n_classes, sums.all_labels.n_pairs) == ("topk", 1, 9, 9)
    assert sums.all_labels.confidence.tolist() == pytest.approx([0.2, 0.3, 0.5], abs=1e-7)
    assert sums.all_labels.correct.tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", ["target", "top_ids", "top_logprobs"])
def test_a_missing_column_is_named(read_text: ReadText, name: str) -> None:
    reading = read_text(lines(without_field(name)), format="topk")
    assert reading.good_runs == ()
    assert f"has no column '{name}'" in (reading.refusal or "")
    assert f"--map COLUMN={name}" in (reading.refusal or "")


def test_a_file_that_does_not_say_k_is_refused_with_what_to_do(read_text: ReadText) -> None:
    reading = read_text(lines(without_field("vocab_size")))
    assert reading.good_runs == ()
    assert "Add a column vocab_size" in (reading.refusal or "")
    with pytest.raises(Refused, match="how many classes"):
        reading.runs(skip_bad_rows=True)


def test_a_column_of_another_name_may_be_named(read_text: ReadText) -> None:
    record = {**without_field("vocab_size"), "V": 9, "revision": "step8"}
    reading = read_text(lines(record), columns={"V": "vocab_size"})
    assert (only_run(reading).sums.n_classes, reading.unused_columns) == (9, ("revision",))
    assert dict(reading.proposed_mapping) == {"revision": "checkpoint"}
    with pytest.raises(Refused, match=r"not a column name of Calib. Names: target, target_logprob"):
        read_text(lines(record), columns={"V": "gold"})
    with pytest.raises(Refused, match="has no column 'W'"):
        read_text(lines(record), columns={"W": "vocab_size"})


def test_nothing_usable_is_refused_with_examples(read_text: ReadText) -> None:
    reading = read_text(lines(*[{**GOOD, "target": 77}] * 3))
    assert (reading.n_bad_rows, reading.good_runs) == (3, ())
    assert "none of its 3 rows is a position that can be used" in (reading.refusal or "")
    assert "found '77'" in (reading.refusal or "")
    missing = read_text(lines({**GOOD, "target": None}))
    assert "none of its 1 rows" in (missing.refusal or "")


def test_no_rows_are_refused(read_text: ReadText) -> None:
    with pytest.raises(Refused, match="but no rows"):
        read_text("target,top_ids,top_logprobs,vocab_size\n")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({**METADATA, "version": 2}, "'calib-tokens', version 2; this version reads 'calib-tokens'"),
        ({**METADATA, "vocab_size": "many"}, "'vocab_size' in its metadata cannot be 'many'"),
        ({**METADATA, "vocab_size": True}, "'vocab_size' in its metadata cannot be True"),
        ({**METADATA, "k": 0}, "'k' in its metadata cannot be 0"),
        ({**METADATA, "model": 7}, "'model' in its metadata cannot be 7"),
    ],
)
def test_metadata_that_cannot_be_used_is_refused(
    read_text: ReadText, metadata: dict[str, Any], message: str
) -> None:
    with pytest.raises(Refused, match=message):
        read_text(lines({"calib": metadata}, GOOD))


def test_answers_are_not_top_lists(read_text: ReadText) -> None:
    assert read_text("id,confidence,correct\na,0.5,1\n").format == "table"
    answers = {"calib": {"format": "calib-answers", "version": 1}}
    assert read_text(lines(answers, {"id": "a", "confidence": 0.5})).format == "canonical"


@pytest.mark.parametrize("field", ["target", "top_ids", "vocab_size"])
def test_incomplete_positions_are_counted(read_text: ReadText, field: str) -> None:
    no_entry = GOOD | {"top_ids": [0, None]}
    run = only_run(read_text(lines(GOOD, GOOD | {field: None}, no_entry), "top.jsonl"))
    assert (run.n_total, run.sums.n_rows) == (3, 1)
    assert any(note.startswith("2 positions without a target") for note in run.row_counts.notes)

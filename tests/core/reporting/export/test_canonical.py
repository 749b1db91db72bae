"""A converted run reads back to the same numbers, whatever its content and file format."""

from __future__ import annotations

import io
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core import readers
from calib_core.errors import Refused
from calib_core.methods import methods_of
from calib_core.reporting.export.canonical import source_record, to_canonical
from calib_core.runs import AnswerRun, ReportedMetric, RowCounts, RunInfo
from core.confidence_runs import FEWER
from core.reporting.round_trip import KINDS, SOURCE, all_metrics, content, read_again, write_and_read
from core.run_builders import make_answer_run

words = st.sampled_from(["x", "y", "0", "1", "2", "3", "4", "B", "(c)", " x", "ß", "=1", '"', "\u2028"])
share = st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 0.7, 0.9, 1.0])
logs = st.floats(-50, 0)


@st.composite
def records(draw: st.DrawFn, position: int) -> dict[str, Any]:
    """One row; some of it is missing, and some of it may be bad."""
    size = draw(st.integers(1, 4))

    def list_of_size(values: st.SearchStrategy[Any]) -> list[Any] | None:
        return draw(st.none() | st.lists(values, min_size=size, max_size=size))

    logprobs = list_of_size(logs | st.none() | st.just(float("-inf")))
    if logprobs:
        logprobs[0] = draw(logs)
    return {
        "id": draw(st.sampled_from([f"q{position}", None])),
        "subject": draw(st.none() | st.sampled_from(["law", "art"])),
        "question": draw(st.none() | words),
        "choices": list_of_size(words),
        "gold": draw(st.none() | words),
        "choice_logprobs": logprobs,
        "choice_logits": list_of_size(st.floats(-9, 9)),
        "choice_token_counts": list_of_size(st.integers(1, 9)),
        "prediction": draw(st.none() | words),
        "correct": draw(st.none() | st.booleans()),
        "samples": draw(st.none() | st.lists(st.none() | words, min_size=1, max_size=4)),
        "path_logprobs": draw(st.none() | st.lists(logs, min_size=1, max_size=4)),
        "answer_mean_prob": draw(st.none() | share),
        "p_true": draw(st.none() | share),
        "verbal_confidence": draw(st.none() | share),
        "confidence": draw(st.none() | share | st.just(1 + 5e-7) | st.just(7.0)),
        "confidence.b": draw(st.none() | share),
        "confidence.a": draw(st.none() | share),
        "model": draw(st.sampled_from([None, "m", "m · ß"])),
        "shots": draw(st.sampled_from([None, 0, 5])),
        "temperature": draw(st.sampled_from([None, 0.7])),
        "level": draw(st.sampled_from(["easy", "hard", None])),
    }


SCHEMA: dict[str, Any] = {
    "id": pl.String, "subject": pl.String, "question": pl.String, "choices": pl.List(pl.String),
    "gold": pl.String, "choice_logprobs": pl.List(pl.Float64), "choice_logits": pl.List(pl.Float64),
    "choice_token_counts": pl.List(pl.Int32),
    "prediction": pl.String, "correct": pl.Boolean, "samples": pl.List(pl.String),
    "path_logprobs": pl.List(pl.Float64), "answer_mean_prob": pl.Float64, "p_true": pl.Float64,
    "verbal_confidence": pl.Float64, "confidence": pl.Float64,
    "confidence.b": pl.Float64, "confidence.a": pl.Float64, "model": pl.String, "shots": pl.Int32,
    "temperature": pl.Float64, "level": pl.String,
}  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """A table of one run or several, its shares as wide as a file may store them."""
    rows = [draw(records(position)) for position in range(draw(st.integers(1, 8)))]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    if draw(st.booleans()):
        frame = frame.with_columns(pl.lit("m").alias("model"), pl.lit(5, pl.Int32).alias("shots"))
    width = draw(st.sampled_from([pl.Float32, pl.Float64]))
    return frame.with_columns(pl.col("confidence", "confidence.a", "answer_mean_prob", "p_true").cast(width))


def read_frame(frame: pl.DataFrame) -> readers.Reading:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quiz.parquet"
        path.write_bytes(buffer.getvalue())
        return readers.read(path)


@FEWER
@given(frame=tables())
def test_what_was_read_is_what_is_read_again(frame: pl.DataFrame) -> None:
    reading = read_frame(frame)
    runs = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if not any(content(run)[1] for run in runs):  # bad rows only, or nothing is known of any row
        return
    held = list(map(content, runs))
    for kind in KINDS:
        again = write_and_read(runs, kind, notes=reading.notes)
        assert [content(run) for run in again.good_runs if isinstance(run, AnswerRun)] == held
        assert set(reading.notes) <= set(again.notes)
        twice = write_and_read(again.good_runs, kind, notes=again.notes)
        assert twice.notes == again.notes


def full_run() -> AnswerRun:
    """A run that every method but the stored clusters can use."""
    return make_answer_run({
        "id": ["a", "b", "c", "d"],
        "choice_probs": [[0.5, 0.5 - 1e-4], [0.2, 0.8], [1.0, 0.0], [0.4, 0.6]],
        "choice_token_counts": [[1, 2]] * 4,
        "gold_index": [0, 1, 1, 0],
        "correct": [True, False, True, None],
        "samples_parsed": [["1", "1", None], ["2", "3", "2"], ["1", "1", "1"], ["0", None, None]],
        "gold": ["1", "2", "2", "0"],
        "answer_kind": ["number"] * 4,
        "path_logprobs": [[-0.1, float("-inf")], [-0.3], [-0.2], [-0.9]],
        "answer_start": [0, 0, 0, 0],
        "answer_end": [1, 1, 1, 1],
        "p_true": [0.5, 0.6, 0.7, 0.8],
        "p_false": [0.1, 0.2, 0.1, 0.1],
        "verbal_confidence": [0.9, 0.8, 0.3, None],
        "confidence": pl.Series([0.3, 1 / 3, 0.7, 0.9], dtype=pl.Float32),
        "confidence.of_tokens": pl.Series([1 / 3, 0.3, 0.6, None], dtype=pl.Float32),
    })  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_and_metric_is_the_same(kind: str) -> None:
    run = full_run()
    before = all_metrics(run)
    methods = {method for method, metric, _ in before if metric}
    assert methods >= {
        "given",
        "choice_softmax",
        "cluster_size",
        "logit_path",
        "p_true",
        "verbal",
        "given.of_tokens",
    }
    assert methods <= set(methods_of(run))
    (again,) = write_and_read([run], kind).good_runs
    assert all_metrics(again) == before


def test_what_the_metadata_says() -> None:
    info = RunInfo("m", "d", 5, "step1", 7.0, "chat", 0.7, 10, "majority", "sample_0", "number")
    ledger = RowCounts(n_rows=6, n_left_out=2, clipped={"p": 3}, notes=("A remark.",))
    run = replace(
        full_run(),
        info=info,
        row_counts=ledger,
        evaluation="mmlu",
        reported_metrics=(ReportedMetric("acc", 0.5, 4),),
    )
    converted = to_canonical([run], [SOURCE], ["Another."])
    assert {**converted.metadata, "notes": None} == {
        "format": "calib-answers", "version": 1, "logprob_base": "e", "created_by": "Calib",
        "model": "m", "dataset": "d", "shots": 5, "checkpoint": "step1", "params_b": 7.0, "tuning": "chat",
        "temperature": 0.7, "tokens_seen": 10, "path_of": "majority", "p_true_of": "sample_0",
        "judged": "greedy",
        "answer_normaliser": "number", "sources": [{"name": "quiz.csv", "sha256": "0" * 64, "rows": 3}],
        "reported": {"acc": 0.5}, "part_of": "mmlu", "groups": [], "notes": None,
        "reported_in_full": [{
            "name": "acc", "value": 0.5, "rows": 4, "why": "2 bad rows were left out when it was converted.",
            "model": "m", "dataset": "d", "shots": 5, "checkpoint": "step1",
        }],
    }  # fmt: skip
    assert converted.notes == (
        "2 of 6 rows were bad and are left out.",
        "3 values of p were moved onto the edge of their range.",
        "A remark.",
        "Another.",
    )
    for kind in KINDS:
        reading = read_again(converted, kind)
        (again,) = reading.good_runs
        assert isinstance(again, AnswerRun)
        assert (again.info, again.evaluation, reading.notes) == (info, "mmlu", converted.notes)


def runs_of(*infos: RunInfo) -> list[AnswerRun]:
    return [replace(full_run(), info=info, file=f"{at}.csv") for at, info in enumerate(infos)]


@pytest.mark.parametrize("kind", KINDS)
def test_runs_are_distinguished_row_by_row(kind: str) -> None:
    infos = (RunInfo(), RunInfo("m", shots=5), RunInfo("m", temperature=0.5), RunInfo(checkpoint="s"))
    again = write_and_read(runs_of(*infos), kind).good_runs
    assert [run.info for run in again] == list(infos)
    assert [all_metrics(run) for run in again] == [all_metrics(full_run())] * 4


def test_runs_that_would_be_one_are_refused() -> None:
    with pytest.raises(Refused, match=r"0\.csv and 1\.csv have the same model, .*\(m · 5-shot\).*one run"):
        to_canonical(runs_of(RunInfo("m", shots=5), RunInfo("m", shots=5)), [])


def test_runs_that_one_file_cannot_hold_are_refused() -> None:
    with pytest.raises(Refused, match=r"differ in path_of \(greedy, majority\)"):
        to_canonical(runs_of(RunInfo("m"), RunInfo("n", path_of="majority")), [])
    one, other = runs_of(RunInfo("m"), RunInfo("n"))
    wide = replace(other, rows=other.rows.with_columns(pl.col("confidence").cast(pl.Float64)))
    with pytest.raises(Refused, match=r"differ in the dtype of confidence \(Float32, Float64\)"):
        to_canonical([one, wide], [])


def test_groups_keep_their_column_whatever_it_is_called() -> None:
    """Too few rows to look like groups, and names that the format has itself."""
    others = pl.DataFrame(
        {
            name: pl.Series(["a", "b", None, "a"], dtype=pl.Enum(["a", "b"]))
            for name in (
                "level",
                "confidence",
                "source_row",
                "row",
                "calib",
                "confidence (group)",
                "confidence.a",
            )
        }
    )
    run = replace(full_run(), group_columns=others)
    for kind in KINDS:
        reading = write_and_read([run], kind)
        (again,) = reading.good_runs
        assert isinstance(again, AnswerRun)
        assert set(reading.group_columns) == {
            "level", "confidence (group) (group)", "source_row (group)", "row", "calib (group)",
            "confidence (group)", "confidence.a (group)",
        }  # fmt: skip
        assert all(
            again.group_columns[name].to_list() == ["a", "b", None, "a"] for name in reading.group_columns
        )
        assert all_metrics(again) == all_metrics(run)


def test_more_groups_than_are_read_are_reported() -> None:
    names = [[f"g{60 * at + number}" for number in range(60)] for at in range(2)]
    runs = [
        replace(
            make_answer_run({"confidence": [0.5] * 60, "correct": [True] * 60}),
            info=RunInfo(str(at)),
            group_columns=pl.DataFrame({"topic": pl.Series(each, dtype=pl.Enum(each))}),
        )
        for at, each in enumerate(names)
    ]
    assert to_canonical(runs[:1], []).metadata["groups"] == ["topic"]
    converted = to_canonical(runs, [])
    assert converted.metadata["groups"] == []
    (note,) = converted.notes
    assert note == "The column 'topic' is not written: together the runs have more groups than are read."


def test_a_source_is_known_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "quiz.csv").write_bytes(b"abc")
    source = source_record(tmp_path / "quiz.csv", "a/quiz.csv", 7)
    assert source.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (source.name, source.rows) == ("a/quiz.csv", 7)

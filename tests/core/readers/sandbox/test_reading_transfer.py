"""Every part of a reading arrives exactly as sent, and invalid readings are refused."""

from __future__ import annotations

import json
import math
import weakref
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from calib_core import readers
from calib_core.errors import BadCell, Problem
from calib_core.readers.format import Candidate, Reading
from calib_core.readers.sandbox import protocol
from calib_core.runs import AnswerRun, ReportedMetric, RowCounts, RunInfo, TokenRun

ROWS = pl.DataFrame(
    {
        "row": pl.Series([1, 2, 3], dtype=pl.Int64),
        "id": ["a", None, "ß\u2028"],
        "correct": [True, None, False],
        "gold_index": pl.Series([0, None, 2**31 - 1], dtype=pl.Int32),
        "confidence": pl.Series([0.1, None, 5e-324], dtype=pl.Float64),
        "path_mean_prob": pl.Series([0.1, None, 1.0], dtype=pl.Float32),
        "answer_mean_prob": pl.Series([0.1, None, 6e-8], dtype=pl.Float16),
        "choice_probs": pl.Series([[0.1, None], None, []], dtype=pl.List(pl.Float16)),
        "choice_logprobs": [[-math.inf, -0.5], [None], None],
        "samples": [["x", None, ""], [], None],
        "question": pl.Series([None] * 3, dtype=pl.String),
        "subject": pl.Series([None] * 3, dtype=pl.Null),
    }
)
OTHERS = pl.DataFrame({"grade": pl.Series(["b", None, "a"], dtype=pl.Enum(["z", "b", "a"]))})
CELL = BadCell("quiz.csv", 2, None, "p", "a number", "half\udcff", "Mend it.")


def run(**changes: Any) -> AnswerRun:
    default = AnswerRun(
        file="quiz.csv",
        format="table",
        label="m · d",
        info=RunInfo(model="m", shots=0, params_b=7, temperature=0.1, path_of="majority"),
        rows=ROWS,
        row_counts=RowCounts(4, 1, MappingProxyType({"p": 2}), 1, ("A note.",)),
        group_columns=OTHERS,
        reported_metrics=(ReportedMetric("acc", 0.1 + 0.2, 3, None, "why"), ReportedMetric("f1", math.nan)),
        evaluation="mmlu",
    )
    return replace(default, **changes)


def reading(*runs: AnswerRun | TokenRun, **changes: Any) -> Reading:
    default = Reading(
        file="quiz.csv",
        format="table",
        n_rows=4,
        n_bad_rows=1,
        problems=(Problem("number", 1, (CELL,)),),
        good_runs=runs,
        columns=("id", "p"),
        unused_columns=(),
        candidates=(Candidate({"p": "confidence"}, "said", "its name", ("n/a",), 3, 1),),
        refusal=None,
        group_columns=("grade",),
    )
    return replace(default, **changes)


def send_and_receive(sent: Reading) -> Reading:
    """What arrives: the tree as JSON, each blob as bytes that are the receiver's own."""
    tree, blobs = protocol.pack_reading(sent)
    text = json.dumps(tree).encode("ascii")
    found = protocol.unpack_reading(json.loads(text), lambda: bytearray(next(blobs)))
    assert next(blobs, None) is None
    return found


def is_identical(one: Any, other: Any) -> bool:
    """Equal to the last bit, types included; NaN is NaN."""
    if isinstance(one, pl.DataFrame):
        return one.schema == other.schema and one.equals(other, null_equal=True)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if is_dataclass(one):
        return type(one) is type(other) and all(
            is_identical(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(is_identical, one, other))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(is_identical(one[key], other[key]) for key in one)
    return type(one) is type(other) and (one == other or (one != one and other != other))  # noqa: PLR0124


def test_answers_arrive_exactly() -> None:
    sent = reading(run(), run(group_columns=pl.DataFrame(), rows=ROWS.head(0), evaluation=None))
    assert is_identical(sent, send_and_receive(sent))


def test_what_makes_readings_differ_is_seen_here() -> None:
    changed = ROWS.with_columns(pl.col("answer_mean_prob").cast(pl.Float32))
    assert not is_identical(reading(run()), reading(run(rows=changed)))
    assert not is_identical(reading(run()), reading(run(info=RunInfo(model="m"))))


def test_large_frames_go_in_columns_and_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SLICE_BYTES", 8)
    sent = reading(run(), run(rows=ROWS.slice(1, 1)))
    found = send_and_receive(sent)
    assert is_identical(sent, found)
    (first, _) = found.good_runs
    assert isinstance(first, AnswerRun)
    assert first.rows.n_chunks() == 1
    numbers = ROWS.select("row", "path_mean_prob")  # 24 and 13 bytes
    _, blobs = protocol.pack_reading(reading(run(rows=numbers, group_columns=pl.DataFrame())))
    assert [pl.read_ipc_stream(bytes(blob)).shape for blob in blobs][:-1] == 3 * [(1, 1)] + [(1, 1), (2, 1)]


class Owned(np.ndarray[Any, np.dtype[np.int64]]):
    """Numbers that a column borrows: they are gone once nothing holds the column."""


def borrowed(name: str, held: set[str]) -> pl.Series:
    numbers = np.arange(100).view(Owned)
    held.add(name)
    weakref.finalize(numbers, held.remove, name)
    buffers = [None, pa.py_buffer(numbers.data)]
    return pl.Series(name, pl.from_arrow(pa.Array.from_buffers(pa.int64(), len(numbers), buffers)))


def test_a_column_that_was_sent_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SLICE_BYTES", 400)
    held = set[str]()
    (tree, blobs) = protocol.pack(run(rows=pl.DataFrame([borrowed(name, held) for name in "abc"])))
    assert tree["of"]["rows"] == [[["a"], 2], [["b"], 2], [["c"], 2]]
    held_at_each = ["".join(sorted(held)) for _ in blobs]
    assert held_at_each == ["abc", "abc", "bc", "bc", "c", "c", ""]  # the last: other columns


def test_a_slice_sends_its_own_texts_alone() -> None:
    texts = pl.DataFrame({"id": ["x" * 1000] * 1000})
    _, blobs = protocol.pack_reading(reading(run(rows=texts.slice(10, 1), group_columns=pl.DataFrame())))
    assert sum(map(len, blobs)) < 10_000


@pytest.mark.parametrize("name", ["tokens.npz", "top.jsonl"])
def test_token_sums_arrive_exactly(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith("npz"):
        probs = np.random.default_rng(1).dirichlet(np.ones(5), 40).astype(np.float16)
        np.savez(path, probs=probs, target=np.arange(40) % 5)
    else:
        row = {"target": 1, "target_logprob": -1.5, "top_ids": [0, 1], "top_logprobs": [-0.5, -1.5]}
        path.write_text((json.dumps(row | {"vocab_size": 9}) + "\n") * 3)
    sent = readers.read_in_this_process(path, file=name)
    assert isinstance(sent.good_runs[0], TokenRun)
    found = send_and_receive(sent)
    assert is_identical(sent, found)
    (token_run,) = found.good_runs
    assert isinstance(token_run, TokenRun)
    assert token_run.sums.merge(token_run.sums).n_rows == 2 * token_run.sums.n_rows


def test_what_has_no_place_in_a_reading_is_not_sent() -> None:
    for wrong in (object(), {1, 2}, b"bytes"):
        with pytest.raises(TypeError, match=r"a reading holds no "):
            protocol.pack_reading(reading(file=wrong))
    objects = protocol.pack_reading(reading(columns=np.array([None])))[1]
    with pytest.raises(TypeError, match=r"no array of object"):
        list(objects)


def altered_tree(change: str, value: object) -> object:
    """A good reading's tree with one thing in it that is wrong."""
    tree, _ = protocol.pack_reading(reading(run()))
    *path, last = change.split(".")
    at: Any = tree
    for part in path:
        at = at[int(part) if part.isdigit() else part]
    at[int(last) if last.isdigit() else last] = value
    return tree


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("is", "RowCounts"),
        ("of.n_rows", "4"),
        ("of.n_rows", 4.0),
        ("of.n_rows", True),
        ("of.file", None),
        ("of.columns", "id"),
        ("of.columns", ["id", 2]),
        ("of.candidates.0.of.names", [["p"]]),
        ("of.problems.0.is", "Reading"),
        ("of.problems.0.of", {}),
        ("of.problems.0.of.first_cells.0.of.row", None),
        ("of.good_runs.0.is", "Path"),
        ("of.good_runs.0.is", "TokenRun"),
        ("of.good_runs.0.of.info.of.path_of", "nobody"),
        ("of.good_runs.0.of.info.of.shots", "0"),
        ("of.good_runs.0.of.rows", [[["id"], 1]]),
        ("of.good_runs.0.of.rows", [[["row"], 0]]),
        ("of.good_runs.0.of.rows", [[[], 1]]),
        ("of.good_runs.0.of.rows", []),
        ("of.good_runs.0.of.reported_metrics.0.of.value", "0.3"),
        ("of.extra", 1),
    ],
)
def test_what_is_not_a_reading_is_not_taken_for_one(change: str, value: object) -> None:
    _, blobs = protocol.pack_reading(reading(run()))
    with pytest.raises(protocol.InvalidReadingError):
        protocol.unpack_reading(altered_tree(change, value), lambda: bytearray(next(blobs)))


@pytest.mark.parametrize("blob", [b"", b"garbage", b"\xff\xff\xff\xff" + b"\x10\0\0\0" * 9])
def test_blobs_that_hold_no_frame_are_not_taken_for_one(blob: bytes) -> None:
    tree, _ = protocol.pack_reading(reading(run()))
    with pytest.raises(protocol.InvalidReadingError):
        protocol.unpack_reading(tree, lambda: bytearray(blob))


@pytest.mark.parametrize("tree", [None, [], "x", 3, {}, {"is": "Reading"}, {"is": "Reading", "of": []}])
def test_trees_of_other_shapes_are_none(tree: object) -> None:
    with pytest.raises(protocol.InvalidReadingError):
        protocol.unpack_reading(tree, bytearray)


@pytest.mark.parametrize(
    ("dtype", "shape", "size"), [("|O", [1], 8), ("<f8", [2], 8), ("<f8", [-1], 8), ("<U9", [1], 36)]
)
def test_arrays_are_as_many_numbers_as_they_say(dtype: str, shape: list[int], size: int) -> None:
    with pytest.raises((TypeError, ValueError)):
        protocol._unpack_array({"dtype": dtype, "shape": shape}, lambda: bytes(size))

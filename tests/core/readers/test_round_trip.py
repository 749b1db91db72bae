"""What was written is read back unchanged, in every container."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core import readers
from calib_core.runs import ANSWER_SCHEMA, AnswerRun
from core.confidence_runs import FEWER
from core.readers.answer_run_checks import answer_runs

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6).filter(
    lambda text: bool(text.strip())
)
probabilities = st.floats(0, 1)
logprobs = st.one_of(st.floats(-1e3, 0), st.just(float("-inf")))


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """One row: some of its values missing, its lists of one length, its first choice possible."""
    size = draw(st.integers(1, 4))
    list_of_size = lambda values: st.lists(values, min_size=size, max_size=size)  # noqa: E731
    row = {
        "question": draw(st.none() | texts),
        "prediction": draw(st.none() | texts),
        "choices": draw(st.none() | list_of_size(texts)),
        "choice_logprobs": draw(st.none() | list_of_size(logprobs | st.none())),
        "choice_token_counts": draw(st.none() | list_of_size(st.integers(1, 99))),
        "samples": draw(st.none() | st.lists(st.none() | texts, min_size=1, max_size=4)),
        "path_logprobs": draw(st.none() | st.lists(st.floats(-1e3, 0), min_size=1, max_size=4)),
        "correct": draw(st.none() | st.booleans()),
        "p_true": draw(st.none() | probabilities),
        "confidence": draw(st.none() | probabilities),
    }
    if row["choice_logprobs"]:
        row["choice_logprobs"][0] = draw(st.floats(-1e3, 0))
    return row


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.lists(answers(), min_size=1, max_size=5))
    schema = {name: ANSWER_SCHEMA[name] for name in rows[0]}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    ids = draw(st.lists(texts, min_size=len(rows), max_size=len(rows), unique=True))
    return frame.with_columns(id=pl.Series(ids))


def as_csv(frame: pl.DataFrame) -> bytes:
    lists = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    cells = {
        name: pl.Series([_cell(value) for value in frame[name].to_list()], dtype=pl.String) for name in lists
    }
    return frame.with_columns(**cells).write_csv(quote_style="always").encode()


def as_json_lines(frame: pl.DataFrame) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in frame.to_dicts()).encode()


def as_json_list(frame: pl.DataFrame) -> bytes:
    return json.dumps(frame.to_dicts()).encode()


def as_parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _cell(value: list[Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


def reread(content: bytes) -> AnswerRun:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quiz"
        path.write_bytes(content)
        (run,) = answer_runs(readers.read(path).runs(skip_bad_rows=False))
    return run


@pytest.mark.parametrize("write", [as_csv, as_json_lines, as_json_list, as_parquet])
@FEWER
@given(frame=tables())
def test_what_is_written_comes_back(write: Any, frame: pl.DataFrame) -> None:
    run = reread(write(frame))
    assert run.rows["row"].to_list() == list(range(1, frame.height + 1))
    assert [{name: row[name] for name in frame.columns} for row in run.rows.to_dicts()] == frame.to_dicts()
    assert all(run.rows.schema[name] == dtype for name, dtype in frame.schema.items())


@FEWER
@given(
    values=st.lists(st.floats(0, 1, width=16), min_size=1, max_size=20), bits=st.sampled_from([16, 32, 64])
)
def test_parquet_keeps_every_bit_of_a_confidence(values: list[float], bits: int) -> None:
    dtype = {16: pl.Float16, 32: pl.Float32, 64: pl.Float64}[bits]
    stored = pl.Series("confidence", values, dtype=dtype)
    assert reread(as_parquet(stored.to_frame())).rows["confidence"].equals(stored, check_dtypes=True)

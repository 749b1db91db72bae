"""Numbers in memory that are all good are read as the reader of tables reads them, without it."""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from calib_core.readers import FORMATS, Reading, ReadOptions, read_values
from calib_core.readers.content import Content
from calib_core.readers.format import AS_IT_LIES, Head
from calib_core.readers.table.good_numbers import read_good_numbers
from calib_core.readers.table.raw import ignore_progress
from calib_core.runs import AnswerRun

COLUMNS = {
    "confidence": [0.9, 0.0, 1.0, None, 0.25],
    "correct": [1, 0, None, 1, 1],
    "event_prob": [0.5, 0.75, 0.125, 1.0, None],
    "event": [True, False, False, None, True],
    "weight": [1.0, 2.5, 0.0, 1.0, 3.0],
}
SOME = [names for n_columns in range(1, 6) for names in combinations(COLUMNS, n_columns)]
GOOD = pl.DataFrame({"confidence": [0.9, 0.6], "correct": [1, 0]})


def as_table(frame: pl.DataFrame) -> Reading:
    """What the reader of tables makes of a frame, by itself."""
    head = Head("x", Content(b""), "frame", names=tuple(frame.columns), frame=frame)
    chosen = next(one for one in FORMATS.values() if "frame" in one.kinds and one.recognises(head))
    assert chosen.id == "table"
    return chosen.read(head, AS_IT_LIES, ignore_progress)


def fields_of(reading: Reading) -> dict[str, Any]:
    """The fields by name, with runs and their rows' types as they compare."""
    found = {field.name: getattr(reading, field.name) for field in fields(reading)}
    return {**found, "schemas": [run.rows.schema for run in reading.good_runs if isinstance(run, AnswerRun)]}


@pytest.mark.parametrize("names", SOME, ids="-".join)
def test_the_reading_is_that_of_a_table(names: tuple[str, ...]) -> None:
    frame = pl.DataFrame({name: COLUMNS[name] for name in names})
    for rows in (frame, frame.head(1), frame.cast({pl.Float64: pl.Float32}), frame[:, ::-1]):
        short = read_good_numbers(rows, "x", "table", AS_IT_LIES)
        has_both = {"confidence", "event_prob"} & {*names} and {"correct", "event"} & {*names}
        assert (short is not None) == bool(has_both)
        if short is not None:
            assert fields_of(short) == fields_of(as_table(rows))


@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("value", [float("nan"), 1e-9, -1e-9, 0.5, -0.5, 1 + 1e-9, 7.0, 85.0, float("inf")])
def test_an_odd_value_is_read_alike(name: str, value: float) -> None:
    frame = pl.DataFrame(COLUMNS).with_columns(pl.col(name).cast(pl.Float64).fill_null(value))
    for rows in (frame, frame.with_columns(pl.lit(value).alias(name))):
        short = read_good_numbers(rows, "x", "table", AS_IT_LIES)
        assert short is None or fields_of(short) == fields_of(as_table(rows))


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (GOOD.with_columns(id=pl.Series([7, 7])), AS_IT_LIES),
        (GOOD.with_columns(correct=pl.Series(["1", "0"])), AS_IT_LIES),
        (GOOD.with_columns(confidence=pl.Series([0.9, 1.5])), AS_IT_LIES),
        (GOOD.with_columns(confidence=pl.Series([0.9, 1 + 1e-9])), AS_IT_LIES),
        (GOOD.head(0), AS_IT_LIES),
        (GOOD, ReadOptions(columns={"confidence": "confidence:inverted"})),
        (GOOD, ReadOptions(missing=("0",))),
    ],
    ids=["ids", "texts", "out of range", "clipped", "empty", "mapped", "missing"],
)
def test_another_table_is_left_to_its_reader(frame: pl.DataFrame, options: ReadOptions) -> None:
    assert read_good_numbers(frame, "x", "table", options) is None


def test_the_data_set_is_named_and_a_run_is_called_as_its_table() -> None:
    (run,) = read_values(GOOD, file="quiz.parquet", options=ReadOptions(dataset="MMLU")).good_runs
    assert isinstance(run, AnswerRun)
    assert (run.info.dataset, run.label) == ("MMLU", "quiz · MMLU")
    assert np.array_equal(run.rows["row"].to_numpy(), [1, 2])

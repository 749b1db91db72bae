"""The runs of a file are separated, named, and their rows counted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from calib_core.readers.table.run_split import (
    Origin,
    RowJudgement,
    fill_run_columns,
    repeated_id_faults,
    split_into_runs,
)
from calib_core.runs import AnswerRun, RunInfo


def judgement(rows: int, bad: tuple[int, ...] = (), adrift: tuple[int, ...] = ()) -> RowJudgement:
    masks = [np.isin(np.arange(rows), at) for at in (bad, adrift)]
    return RowJudgement(masks[0], masks[1], {}, np.zeros(0, np.int64), {})


def runs_of(
    frame: pl.DataFrame, judged: RowJudgement | None = None, info: RunInfo | None = None
) -> tuple[tuple[AnswerRun, ...], tuple[str, ...]]:
    info = info or RunInfo()
    frame = fill_run_columns(frame.with_row_index("row", 1), info)
    return split_into_runs(frame, judged or judgement(frame.height), Origin("sub/quiz.v2.csv", "table", info))


def test_a_file_without_run_columns_is_one_run_named_after_the_file() -> None:
    ((run,), notes) = runs_of(pl.DataFrame({"confidence": [0.5, 0.6]}))
    assert (run.label, run.info, run.row_counts.n_rows, run.rows.height) == ("quiz.v2", RunInfo(), 2, 2)
    assert notes == ()


def test_rows_that_differ_in_a_run_column_are_different_runs_in_order_of_appearance() -> None:
    frame = pl.DataFrame(
        {
            "model": ["b", "a", "b", "b"],
            "shots": pl.Series([5, 5, 5, None], dtype=pl.Int32),
            "confidence": [0.1, 0.2, 0.3, 0.4],
        }
    )
    runs, _ = runs_of(frame)
    assert [run.label for run in runs] == ["b · 5-shot", "a · 5-shot", "b"]
    assert [run.rows["row"].to_list() for run in runs] == [[1, 3], [2], [4]]
    assert runs[0].rows.columns == ["row", "confidence"]


def test_a_row_overrules_the_metadata() -> None:
    frame = pl.DataFrame({"model": [None, "other"], "confidence": [0.1, 0.2]})
    runs, _ = runs_of(frame, info=RunInfo(model="stated", dataset="quiz", tuning="chat"))
    assert [run.label for run in runs] == ["stated · quiz", "other · quiz"]
    assert [run.info.tuning for run in runs] == ["chat", "chat"]


def test_contradicting_metadata_of_rows_is_left_out_of_the_run() -> None:
    ((run,), _) = runs_of(pl.DataFrame({"temperature": [0.0, 0.7, None], "tuning": ["chat", None, "chat"]}))
    assert (run.info.temperature, run.info.tuning) == (None, "chat")
    assert run.row_counts.notes == (
        "temperature differs between rows of this run (0.0, 0.7, …), so the run has none.",
    )


def test_labels_are_unique_within_a_file() -> None:
    runs, _ = runs_of(pl.DataFrame({"model": ["x", None], "dataset": [None, "x"]}))
    assert [run.label for run in runs] == ["x", "x (2)"]


@pytest.mark.parametrize(
    ("file", "label"),
    [
        ("runs/quiz.answers.parquet", "quiz"),
        ("quiz.csv", "quiz"),
        ("answers.csv", "answers"),
        (".answers.csv", ".answers"),
    ],
)
def test_a_run_without_a_name_has_that_of_its_file(file: str, label: str) -> None:
    frame = pl.DataFrame({"row": [1], "confidence": [0.5]})
    ((run,), _) = split_into_runs(frame, judgement(1), Origin(file, "table", RunInfo()))
    assert run.label == label


def test_row_counts_include_rows_left_out_and_values_clipped_in_good_rows() -> None:
    frame = pl.DataFrame({"model": ["a", "a", "b"], "confidence": [0.1, None, 0.3]}).with_row_index("row", 1)
    judged = RowJudgement(
        np.array([False, True, False]),
        np.zeros(3, np.bool_),
        {"conf": np.array([0, 0, 1]), "p": np.array([1])},
        np.array([1, 2]),
        {},
    )
    runs, _ = split_into_runs(frame, judged, Origin("quiz.csv", "table", RunInfo()))
    assert [
        (
            run.row_counts.n_rows,
            run.row_counts.n_left_out,
            dict(run.row_counts.clipped),
            run.row_counts.n_inexact_sums,
        )
        for run in runs
    ] == [
        (2, 1, {"conf": 2}, 0),
        (1, 0, {}, 1),
    ]
    assert runs[0].rows["row"].to_list() == [1]


def test_rows_of_unknown_run_belong_to_the_only_run_or_to_none() -> None:
    one = pl.DataFrame({"model": ["a", "a", None]})
    ((run,), notes) = runs_of(one, judgement(3, (2,), (2,)))
    assert (run.row_counts.n_rows, run.row_counts.n_left_out, run.info.model, notes) == (3, 1, "a", ())
    two = pl.DataFrame({"model": ["a", "b", None]})
    runs, notes = runs_of(two, judgement(3, (2,), (2,)))
    assert [run.row_counts.n_rows for run in runs] == [1, 1]
    assert notes == ("1 bad row belongs to none of the runs, because what it says of its run is bad.",)


def test_a_run_with_only_bad_rows_is_left_out_with_a_note() -> None:
    runs, notes = runs_of(pl.DataFrame({"model": ["a", "b", "b"]}), judgement(3, (1, 2)))
    assert [run.label for run in runs] == ["a"]
    assert notes == ("All 2 rows of b are bad: the run is left out.",)
    _, notes = runs_of(pl.DataFrame({"model": ["a", "b"]}), judgement(2, (1,)))
    assert notes == ("The only row of b is bad: the run is left out.",)


def test_single_choices_are_pointed_out() -> None:
    ((run,), _) = runs_of(pl.DataFrame({"choice_probs": [[1.0], [0.5, 0.5]]}))
    assert run.row_counts.notes == ("In 1 row there is a single choice, which is always right.",)


@pytest.mark.parametrize(
    ("columns", "again"),
    [
        ({"id": ["a", "b", "a", "a"]}, [2, 3]),
        ({"id": ["a", None, None, "b"]}, []),
        ({"id": ["a", "a", "b", "b"], "subject": ["x", "y", None, None]}, [3]),
        ({"id": ["a", "a", "a", "b"], "model": ["x", "y", "x", "x"]}, [2]),
        ({"id": ["a", "a", "a", "b"], "shots": [0, 5, 5, 5]}, [2]),
        ({"confidence": [0.5, 0.5, 0.5, 0.5]}, []),
    ],
)
def test_an_id_is_taken_once_within_a_run_and_subject(
    columns: dict[str, list[object]], again: list[int]
) -> None:
    faults = repeated_id_faults(pl.DataFrame(columns), np.zeros(4, np.bool_), "my id")
    assert [at for fault in faults for at in fault.positions.tolist()] == again
    assert all("my id=trial_of" in fault.fix for fault in faults)


@pytest.mark.parametrize("bad", [[False, True], [True, False]])
def test_bad_rows_take_no_id(bad: list[bool]) -> None:
    assert repeated_id_faults(pl.DataFrame({"id": ["a", "a"]}), np.array(bad), "id") == ()


def test_what_could_not_be_read_is_noted_once_for_each_run_and_column() -> None:
    frame = pl.DataFrame({"model": ["a", "a", "b"]}).with_row_index("row", 1)
    none = np.zeros(3, np.bool_)
    unread = {"size": pl.DataFrame({"at": [0, 1], "found": ["8x7B", "8x7B"]})}
    judged = RowJudgement(none, none, {}, np.zeros(0, np.int64), unread)
    runs, _ = split_into_runs(frame, judged, Origin("quiz.csv", "table", RunInfo()))
    assert [run.row_counts.notes for run in runs] == [
        ("size cannot be read as a number in 2 rows (8x7B) and is unknown there.",),
        (),
    ]

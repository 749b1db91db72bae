"""A table of corrections is read strictly: what is not clear in it is refused with its place."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import ReadOptions
from core.cli_calls import write


def test_usual_names_and_values_are_read(tmp_path: Path) -> None:
    text = "question_id;Leave out;answer;reason;note\n007;yes;;too hard;x\n8;No;B;;\n;;;;\n9;;;;\n"
    table = readers.read_corrections(write(tmp_path, "fixes.csv", text))
    assert table.rows.select("row", "id", "leave_out", "gold", "reason").rows() == [
        (1, "007", True, None, "too hard"),
        (2, "8", False, "B", None),
        (4, "9", False, None, None),
    ]
    assert table.unused_columns == ("note",)
    assert table.column_of["gold"] == "answer"


@pytest.mark.parametrize("suffix", ["jsonl", "json", "parquet"])
def test_every_kind_of_table_gives_the_same(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"id": [1, 2], "leave_out": [True, None], "gold_index": [None, 3]})
    path = tmp_path / f"fixes.{suffix}"
    {"jsonl": frame.write_ndjson, "json": frame.write_json, "parquet": frame.write_parquet}[suffix](path)
    rows = readers.read_corrections(path).rows
    assert rows.select("id", "leave_out", "gold_index").rows() == [("1", True, None), ("2", False, 3)]
    assert rows.equals(readers.read_corrections(frame).rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,reason\nq1,x\n", r"cannot be used as a table of corrections: its columns are 'id', 'reason'"),
        ("leave_out\n1\n", "It needs a column of ids"),
        ("id,leave_out\nq1,maybe\n", r"row 1, column 'leave_out': expected true or false.*found 'maybe'"),
        ("id,correct\nq1,1\nq2,half\n", r"row 2, column 'correct': expected right or wrong"),
        ("id,gold\nq1,A\n,B\n", r"row 2, column 'id': expected an id, found none"),
        ("id,gold\nq1,A\nq2,B\nq1,C\n", r"'q1' in rows 1, 3, which correct it differently"),
        (
            "id,answer,target\nq1,A,B\n",
            "may each hold the corrected right answers. Rename the one that does to gold",
        ),
        ("id,gold\n", "holds no rows"),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        readers.read_corrections(write(tmp_path, "fixes.csv", text))


def test_equal_rows_are_one_and_subjects_tell_ids_apart(tmp_path: Path) -> None:
    text = "id,subject,gold\nq1,law,A\nq1,law,A\nq1,art,B\n"
    table = readers.read_corrections(write(tmp_path, "fixes.csv", text))
    assert table.rows.select("row", "subject", "gold").rows() == [(1, "law", "A"), (3, "art", "B")]


def test_positions_count_as_those_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "fixes.csv", "id,gold\nq1,2\n")
    assert readers.read_corrections(path).rows["gold"].to_list() == ["2"]
    from_one = readers.read_corrections(path, options=ReadOptions({"label": "gold_index:from1"}))
    assert from_one.rows.select("gold", "gold_index").row(0) == (None, 1)

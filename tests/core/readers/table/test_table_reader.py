"""A plain table is read from end to end: every container, every kind of problem."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from calib_core.errors import BadRowsFound, Refused
from calib_core.readers import content as content_module
from calib_core.readers.format import Reading
from calib_core.readers.table import json_reader, parquet_reader
from calib_core.readers.table.raw import MAX_COLUMNS
from core.readers.answer_run_checks import answer_runs

ReadText = Callable[..., Reading]

CSV = "id,confidence,correct\nq1,0.9,1\nq2,0.8,0\nq3,,1\n"
LINES = '{"id": "q1", "confidence": 0.9, "correct": 1}\n{"id": "q2", "confidence": 0.8, "correct": 0}\n'


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def test_a_csv_becomes_one_run(read_text: ReadText) -> None:
    reading = read_text(CSV)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert (reading.format, reading.n_rows, reading.n_bad_rows) == ("table", 3, 0)
    assert (run.file, run.label, run.n_total) == ("quiz.csv", "quiz", 3)
    assert run.rows.to_dict(as_series=False) == {
        "row": [1, 2, 3],
        "id": ["q1", "q2", "q3"],
        "correct": [True, False, True],
        "confidence": [0.9, 0.8, None],
    }


@pytest.mark.parametrize("content", [LINES, f"[{','.join(LINES.splitlines())}]"], ids=["lines", "list"])
def test_json_whatever_the_file_is_called(read_text: ReadText, content: str) -> None:
    (run,) = answer_runs(read_text(content, "quiz.csv").runs(skip_bad_rows=False))
    assert run.rows["confidence"].to_list() == [0.9, 0.8]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "record",
    [
        {"id": 1, "confidence": 0.5, "correct": True},
        {"choices": ["x", "y"], "choice_probs": [0.75, 0.25], "gold": "y"},
        {"samples": ["4", "5"], "gold": "4", "messages": [{"role": "user"}, {"role": "assistant"}]},
    ],
)
def test_one_json_object_may_be_a_row(read_text: ReadText, record: object, indent: int | None) -> None:
    (run,) = answer_runs(read_text(json.dumps(record, indent=indent)).runs(skip_bad_rows=False))
    assert run.rows.height == 1


def test_an_object_that_can_be_no_row_is_read_where_it_is_asked_for(read_text: ReadText) -> None:
    content = json.dumps({"id": 1, "sure": 0.5, "correct": True}, indent=1)
    with pytest.raises(Refused, match=r"looks like one JSON object"):
        read_text(content)
    assert read_text(content, format="table").n_rows == 1


def test_parquet_with_stored_dtypes(read_text: ReadText) -> None:
    frame = pl.DataFrame(
        {
            "id": [7, 8],
            "confidence": pl.Series([0.3, None], dtype=pl.Float16),
            "correct": pl.Series([1, 0], dtype=pl.Int8),
            "choice_probs": pl.Series([[0.3, 0.7], None], dtype=pl.List(pl.Float32)),
            "gold": ["B", None],
        }
    )
    (run,) = answer_runs(read_text(parquet_bytes(frame), "quiz.parquet").runs(skip_bad_rows=False))
    assert run.rows.schema == {
        "row": pl.Int32,
        "id": pl.String,
        "gold": pl.String,
        "choice_probs": pl.List(pl.Float32),
        "correct": pl.Boolean,
        "confidence": pl.Float16,
        "gold_index": pl.Int32,
    }
    assert run.rows["confidence"].to_list() == frame["confidence"].to_list()
    assert run.rows["gold_index"].to_list() == [1, None]


def test_bad_rows_are_told_by_row_line_column_and_value(read_text: ReadText) -> None:
    reading = read_text(
        'id,conf,correct\n"q\n1",0.9,1\nq2,87%,0\nq3,0.6,maybe\n', columns={"conf": "confidence"}
    )
    assert (reading.n_rows, reading.n_bad_rows) == (3, 2)
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    assert [(cell.row, cell.line, cell.column, cell.found) for cell in cells] == [
        (2, 4, "conf", "87%"),
        (3, 5, "correct", "maybe"),
    ]
    with pytest.raises(BadRowsFound, match=r"2 of 3 rows are bad"):
        reading.runs(skip_bad_rows=False)
    (run,) = answer_runs(reading.runs(skip_bad_rows=True))
    assert (run.rows["row"].to_list(), run.row_counts.n_rows, run.row_counts.n_left_out) == ([1], 3, 2)


def test_a_row_bad_for_several_reasons_is_one_bad_row(read_text: ReadText) -> None:
    reading = read_text("id,confidence,correct\nq1,0.9,1\nq2,2,maybe\n")
    assert reading.n_bad_rows == 1
    assert {problem.kind for problem in reading.problems} == {"out of range", "neither right nor wrong"}


def test_the_id_of_a_bad_row_is_free(read_text: ReadText) -> None:
    reading = read_text("id,confidence,correct\n1,oops,1\n1,0.7,1\n2,.6,0\n2,.5,0\n")
    places = {problem.kind: [cell.row for cell in problem.first_cells] for problem in reading.problems}
    assert places == {"not a number": [1], "repeated id": [4]}


def test_a_file_of_bad_rows_alone_is_a_reading_without_runs(read_text: ReadText) -> None:
    reading = read_text("id,confidence,correct\nq1,90%,1\nq2,high,0\n")
    assert (reading.format, reading.n_rows, reading.n_bad_rows, reading.good_runs) == ("table", 2, 2, ())
    assert [(problem.kind, problem.count) for problem in reading.problems] == [("not a number", 2)]
    refusal = (
        r"None of the 2 values in column 'confidence' is a number from 0 to 1\.\n"
        r"[^\n]*'confidence'.*found '90%'.*Write"
    )
    with pytest.raises(Refused, match=refusal):
        reading.runs(skip_bad_rows=True)


@pytest.mark.parametrize(
    "content", ["id,confidence\n", "id;confidence", parquet_bytes(pl.DataFrame({"id": [], "confidence": []}))]
)
def test_columns_without_rows_are_refused(read_text: ReadText, content: str | bytes) -> None:
    with pytest.raises(Refused, match=r"has the columns 'id', 'confidence' but no rows"):
        read_text(content)


@pytest.mark.parametrize("delimiter", ["\t", ";", "|", "  "])
def test_other_delimiters_are_told_by_the_header(read_text: ReadText, delimiter: str) -> None:
    reading = read_text(
        CSV.replace(",", delimiter).replace(f"q3{delimiter}{delimiter}", f"q3{delimiter}0.5{delimiter}")
    )
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["confidence"].to_list() == [0.9, 0.8, 0.5]


def test_a_mapping_tells_the_delimiter_too(read_text: ReadText) -> None:
    reading = read_text("a b\n1 0.5\n", columns={"a": "correct", "b": "confidence"})
    assert answer_runs(reading.good_runs)[0].rows["confidence"].to_list() == [0.5]


def test_columns_that_are_known_count_more_than_columns_that_only_look_familiar(read_text: ReadText) -> None:
    reading = read_text("confidence,acc;conf;model_name\n0.5,x;y;z\n")
    assert reading.columns == ("confidence", "acc;conf;model_name")


def test_proposals_tell_the_delimiter_of_the_refusal(read_text: ReadText) -> None:
    reading = read_text("grade confidence_level\nCorrect 0.9\n")
    assert dict(reading.proposed_mapping) == {"confidence_level": "confidence", "grade": "correct"}
    with pytest.raises(Refused, match="columns: 'grade', 'confidence_level'"):
        reading.runs(skip_bad_rows=True)


def test_decimal_commas_beside_points_are_bad_values_not_guessed(read_text: ReadText) -> None:
    reading = read_text("id;confidence;correct\nq1;0,9;1\nq2;0.8;0\n")
    assert [(problem.kind, problem.first_cells[0].found) for problem in reading.problems] == [
        ("not a number", "0,9")
    ]


def test_what_is_not_read_is_listed_and_proposed(read_text: ReadText) -> None:
    reading = read_text("id,confidence,correct,category,note\nq1,0.9,1,law,x\n")
    assert reading.columns == ("id", "confidence", "correct", "category", "note")
    assert reading.unused_columns == ("category", "note")
    assert dict(reading.proposed_mapping) == {"category": "subject"}
    assert "subject" not in answer_runs(reading.good_runs)[0].rows.columns


def test_mapped_columns_take_part_in_every_check(read_text: ReadText) -> None:
    lines = [
        {"key": "q1", "probs": [0.5, 0.5], "label": "B", "texts": ["x", "y"]},
        {"key": "q1", "probs": [0.5, 0.5], "label": "B", "texts": ["x", "y"]},
        {"key": "q2", "probs": [0.5, 0.5], "label": "C", "texts": ["x"]},
    ]
    columns = {"key": "id", "probs": "choice_probs", "label": "gold", "texts": "choices"}
    reading = read_text("\n".join(map(json.dumps, lines)), columns=columns)
    assert {(problem.kind, problem.first_cells[0].column) for problem in reading.problems} == {
        ("label outside the classes", "label"),
        ("lists of different lengths", "texts"),
        ("repeated id", "key"),
    }


def test_several_runs_and_their_row_counts(read_text: ReadText) -> None:
    reading = read_text("model,id,confidence\na,1,0.5\nb,1,2\nb,2,0.5\na,1,0.5\na,2,1.0000001\n")
    assert [
        (run.label, run.rows.height, run.row_counts.n_rows, run.row_counts.n_left_out)
        for run in answer_runs(reading.good_runs)
    ] == [
        ("a", 2, 3, 1),
        ("b", 1, 2, 1),
    ]
    assert dict(reading.good_runs[0].row_counts.clipped) == {"confidence": 1}


def test_text_keys_stay_apart(read_text: ReadText) -> None:
    reading = read_text("id,gold,confidence\n007,NA,0.5\n7,None,0.5\n07,3-4,0.5\n")
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["id"].to_list() == ["007", "7", "07"]
    assert run.rows["gold"].to_list() == ["NA", "None", "3-4"]


def test_objects_with_too_many_keys_are_refused(read_text: ReadText) -> None:
    wide = json.dumps({f"k{number}": 1 for number in range(MAX_COLUMNS + 1)})
    with pytest.raises(Refused, match=r"more than 10,000 keys"):
        read_text(wide)


@pytest.mark.parametrize("name", ["quiz.csv", "quiz.jsonl", "quiz.parquet"])
def test_progress_is_reported_after_every_slice(
    read_text: ReadText, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, size in ((content_module, "CHUNK_BYTES"), (parquet_reader, "PARQUET_ROWS_PER_SLICE")):
        monkeypatch.setattr(module, size, 10)
    frame = pl.DataFrame({"id": range(95), "confidence": [0.5] * 95})
    content = {
        "quiz.csv": frame.write_csv(),
        "quiz.jsonl": frame.write_ndjson(),
        "quiz.parquet": parquet_bytes(frame),
    }[name]
    told: list[tuple[float, str]] = []
    read_text(content, name, progress=lambda share, text: told.append((share, text)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    counts = [int(text.split()[0]) for _, text in told if text.endswith("rows read")]
    assert max(after - before for before, after in pairwise([0, *counts])) <= 10
    assert counts[-1] == 95


def test_slices_change_nothing(read_text: ReadText, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "".join(json.dumps(record) + "\n" for record in _assorted())
    whole = read_text(content)
    monkeypatch.setattr(json_reader, "ROWS_PER_SLICE", 3)
    cut = read_text(content)
    assert cut.problems == whole.problems
    assert answer_runs(cut.good_runs)[0].rows.equals(answer_runs(whole.good_runs)[0].rows)


def _assorted() -> list[dict[str, Any]]:
    odd: list[Any] = [0.5, 1, "0.5", None, "", "high", True, [0.5], 2, 0.25]
    return [
        {
            "id": number,
            "confidence": value,
            "samples": [number, str(value)],
            **({"late": 1} if number > 7 else {}),
        }
        for number, value in enumerate(odd)
    ]


LARGE: dict[str, tuple[int, Callable[[int], object]]] = {
    "keys of objects": (400, lambda n: {f"key{at}": {"a": at} for at in range(n)}),
    "digits in a name": (2_000, lambda n: {f"{'9' * n}.a": 0.5, "correct": 1}),
    "digits in a value": (700, lambda n: {"x": f"{'9' * n}a", "correct": 1}),
}
"""What a record may have much of, how much takes little time, and such a record."""


@pytest.mark.parametrize("name", LARGE)
def test_ten_times_as_much_takes_ten_times_as_long(read_text: ReadText, name: str) -> None:
    size, record = LARGE[name]

    def seconds(n: int) -> float:
        text = json.dumps([record(n)] * 2)
        begun = time.process_time()
        with suppress(Refused):
            read_text(text)
        return time.process_time() - begun

    assert min(seconds(10 * size) for _ in range(2)) < 15 * min(seconds(size) for _ in range(5))

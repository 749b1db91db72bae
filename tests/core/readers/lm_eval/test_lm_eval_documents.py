"""Records with unexpected field values are read as far as possible or are bad rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.lm_eval.documents import differing_parts
from calib_core.readers.table.raw import as_json_text
from calib_core.results.files import check_file
from calib_core.runs import AnswerRun
from core.readers.lm_eval_logs import choice_record, text_record, write_log

THIRDS = [-0.5, -1.5, -2.5, -3.5]


@pytest.mark.parametrize(
    "value",
    [None, 7, "text", [], [[]], [[[]]], [None], [[None]], [[["-1"]]], {"a": 1}, [[[{}, []]], [[{}, []]]]],
)
@pytest.mark.parametrize(
    "key", ["doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_id"]
)
def test_any_value_anywhere_is_read_or_a_bad_row(tmp_path: Path, key: str, value: object) -> None:
    try:
        records = [choice_record(0, THIRDS, "0"), choice_record(1, THIRDS, "1") | {key: value}]
        reading = readers.read(write_log(tmp_path, "quiz", records))
    except Refused:
        return
    assert reading.n_rows == 2
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["choice_logprobs"].to_list()[0] == THIRDS
    check_file(reading)


NO_TEXT = ({"a": 1}, float("nan"), True, 1, ["x"])
FIELDS_OF_CHOICES = {
    "arguments.gen_args_0.arg_0": NO_TEXT,
    "arguments.gen_args_3.arg_1": (*NO_TEXT, None),
    "arguments.gen_args_1": (1, "x"),
    "arguments": (1, "x"),
    "target": NO_TEXT,
    "doc_id": ({"a": 1}, float("nan"), True, 0.5),
    "filter": NO_TEXT,
    "resps.2": (1, "x", {"a": 1}),
    "filtered_resps.2": ([-1.0, -2.0, False],),
}
FIELDS_OF_TEXTS = {
    "resps.0.1": NO_TEXT,
    "filtered_resps.0.1": NO_TEXT,
    "arguments.gen_args_0.arg_1": (1, ["\n"]),
    "arguments.gen_args_0.arg_1.do_sample": (1, "x", {"a": 1}),
    "arguments.gen_args_0.arg_1.temperature": (True, "x", {"a": 1}, float("nan")),
    "target": NO_TEXT,
}


@pytest.mark.parametrize(
    ("record", "path", "value"),
    [
        (record, path, value)
        for record, fields in (("choices", FIELDS_OF_CHOICES), ("texts", FIELDS_OF_TEXTS))
        for path, values in fields.items()
        for value in values
    ],
)
def test_a_value_of_the_wrong_type_makes_the_row_bad_by_its_path(
    tmp_path: Path, record: str, path: str, value: object
) -> None:
    records = [
        choice_record(at, THIRDS, "0")
        if record == "choices"
        else text_record(at, ["4 it is", "so 5"], "4", ["4", "5"])
        for at in range(4)
    ]
    holder: Any = records[1]
    *steps, last = (int(step) if step.isdecimal() else step for step in path.split("."))
    for step in steps:
        holder = holder[step]
    holder[last] = value
    reading = readers.read(write_log(tmp_path, "quiz", records))
    (cell,) = [cell for problem in reading.problems for cell in problem.first_cells]
    assert (cell.row, cell.column, reading.n_bad_rows) == (2, path, 1)
    assert cell.expected
    assert cell.found == as_json_text(value) or value is None
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows.height == 3


@pytest.mark.parametrize("targets", [[[0], [0, 1]], [0, 1], ["0", None]])
def test_targets_of_one_type_are_read(tmp_path: Path, targets: list[object]) -> None:
    records = [choice_record(at, THIRDS, target) for at, target in enumerate(targets)]
    assert readers.read(write_log(tmp_path, "quiz", records)).n_bad_rows == 0


def test_a_missing_sample_is_no_answer_and_not_an_empty_one(tmp_path: Path) -> None:
    record = text_record(0, ["4", "5"], "4", ["4", "5"])
    reading = readers.read(write_log(tmp_path, "quiz", [record | {"resps": [[None, "5"]]}]))
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["samples"].to_list() == [[None, "5"]]


def test_a_word_that_is_shared_from_both_ends_is_counted_once() -> None:
    assert differing_parts(["a b", "a b b"]) == ["", "b"]
    assert differing_parts(["x is y", "z is y"]) == ["x", "z"]

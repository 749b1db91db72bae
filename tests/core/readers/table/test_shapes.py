"""Files whose rows are nested, lie below a key, or hold several systems side by side."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calib_core
from calib_core import readers
from calib_core.advice import set_surface
from calib_core.errors import Refused
from calib_core.readers.format import Reading, ReadOptions
from calib_core.readers.table import group_columns, reader
from calib_core.runs import AnswerRun
from core.cli_calls import Call
from core.readers.conftest import ReadText

CONFIDENCES = (0.9, 0.25, 0.6, 0.75)
OUTCOMES = (True, False, True, True)


def pairs(reading: Reading) -> dict[str | None, list[tuple[float, bool]]]:
    """Model → (confidence, correct) of each row."""
    found: dict[str | None, list[tuple[float, bool]]] = {}
    for run in reading.runs(skip_bad_rows=False):
        assert isinstance(run, AnswerRun)
        found[run.info.model] = list(run.rows.select("confidence", "correct").iter_rows())
    return found


FLAT = {None: list(zip(CONFIDENCES, OUTCOMES, strict=True))}
NESTED: list[dict[str, Any]] = [
    {"id": number, "signals": {"stated": confidence}, "results": [{"score": 7}, {"score": int(correct)}]}
    for number, (confidence, correct) in enumerate(FLAT[None])
]
PATHS = {"signals.stated": "confidence", "results.1.score": "correct"}


def answer_runs(reading: Reading) -> list[AnswerRun]:
    return [run for run in reading.good_runs if isinstance(run, AnswerRun)]


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    target = io.BytesIO()
    pl.DataFrame(rows).write_parquet(target)
    return target.getvalue()


def as_json_lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, rows))


def as_plain_csv(rows: list[dict[str, Any]]) -> str:
    return pl.DataFrame(rows).write_csv()


def as_csv(rows: list[dict[str, Any]], write: Callable[[Any], str]) -> bytes:
    """Write a CSV file in which each cell is written by `write`."""
    table = pl.DataFrame([{key: write(part) for key, part in row.items()} for row in rows])
    return table.write_csv().encode()


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(map(json.dumps, NESTED)),
        json.dumps(NESTED),
        as_parquet(NESTED),
        as_csv(NESTED, json.dumps),
        as_csv(NESTED, repr),
    ],
    ids=["json lines", "json list", "parquet", "json in csv", "python in csv"],
)
def test_a_nested_field_is_named_by_its_path(content: str | bytes, read_text: ReadText) -> None:
    reading = read_text(content, columns=PATHS)
    assert pairs(reading) == FLAT
    assert reading.unused_columns == ()


def test_a_column_with_dots_in_its_name_comes_first(read_text: ReadText) -> None:
    rows = [{"a.b": 0.5, "a": {"b": 0.75}, "correct": 1}, {"a.b": 0.25, "a": {"b": 0.125}, "correct": 0}]
    for content in ("\n".join(map(json.dumps, rows)), as_parquet(rows)):
        reading = read_text(content, columns={"a.b": "confidence"})
        assert pairs(reading) == {None: [(0.5, True), (0.25, False)]}


def test_a_key_with_dots_may_be_part_of_a_path(read_text: ReadText) -> None:
    rows = [{"m": {"gpt-4.1": {"p": 0.5}}, "correct": 1}, {"m": {"gpt-4.1": {"p": 1}}, "correct": 0}]
    for content in (json.dumps(rows), as_parquet(rows)):
        assert pairs(read_text(content, columns={"m.gpt-4.1.p": "confidence"})) == {
            None: [(0.5, True), (1.0, False)]
        }


def test_a_key_at_a_list_is_looked_up_in_each_element(read_text: ReadText) -> None:
    rows = [{"samples": ["4", "5"], "infos": [{"r": 1}, {"r": 0}]}, {"samples": ["6"], "infos": [{"r": 0}]}]
    for content in (json.dumps(rows), as_parquet(rows), as_csv(rows, json.dumps)):
        (run,) = read_text(content, columns={"infos.r": "sample_correct"}).good_runs
        assert isinstance(run, AnswerRun)
        assert run.rows["sample_correct"].to_list() == [[True, False], [False]]


def test_a_nested_number_keeps_its_precision(read_text: ReadText) -> None:
    """A Float32 is binned by its stored value (decision 0002), also inside a struct."""
    schema = {"s": pl.Struct({"p": pl.Float32}), "correct": pl.Int8}
    target = io.BytesIO()
    pl.DataFrame({"s": [{"p": 0.1}, {"p": 0.7}], "correct": [1, 0]}, schema=schema).write_parquet(target)
    (run,) = read_text(target.getvalue(), columns={"s.p": "confidence"}).good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["confidence"].dtype == pl.Float32


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("signals.said", "\n".join(map(json.dumps, NESTED))),
        ("signals.said", as_parquet(NESTED)),
        ("results.9.score", as_parquet(NESTED)),
        ("results.-1.score", as_parquet(NESTED)),
        ("results.99999999999999999999.score", json.dumps(NESTED)),
        ("id.x", as_csv(NESTED, json.dumps)),
        ("nothing.here", as_csv(NESTED, json.dumps)),
        (".", json.dumps(NESTED)),
        (".".join("a" * 40), json.dumps(NESTED)),
    ],
)
def test_a_path_to_nothing_is_refused(path: str, content: str | bytes, read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"no column|none of its rows has|40 steps"):
        read_text(content, columns={path: "confidence", "results.1.score": "correct"})


def test_a_text_like_an_object_does_no_harm(read_text: ReadText) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    table = pl.DataFrame({"s": [deep, '{"p": 0.5}', "{'p': 0.25}", "{broken"], "correct": [1, 0, 1, 1]})
    (run,) = read_text(table.write_csv(), columns={"s.p": "confidence"}).good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["confidence"].to_list() == [None, 0.5, 0.25, None]


# --- Rows below a key ---------------------------------------------------------------------------------------

ROWS = [{"confidence": confidence, "correct": correct} for confidence, correct in FLAT[None]]
BY_ID = {f"q{number}": row for number, row in enumerate(ROWS)}
SPLIT = {"columns": ["confidence", "correct"], "data": [list(row.values()) for row in ROWS]}
LISTS = {"confidence": list(CONFIDENCES), "correct": list(OUTCOMES)}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "value",
    [
        {"meta": {"n": 4}, "data": {"items": ROWS}},
        BY_ID,
        {"results": BY_ID},
        SPLIT,
        {"index": [0, 1, 2, 3], **SPLIT},
        {"table": SPLIT, "version": 2},
        LISTS,
        {"eval": LISTS},
    ],
)
def test_rows_are_found_below_a_key(value: object, indent: int | None, read_text: ReadText) -> None:
    assert pairs(read_text(json.dumps(value, indent=indent))) == FLAT


def test_the_key_of_a_row_is_its_id(read_text: ReadText) -> None:
    (run,) = read_text(json.dumps(BY_ID, indent=1)).good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["id"].to_list() == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize("beside", [{"question": "2 + 2?"}, {}])
def test_objects_with_samples_of_one_question_are_rows(read_text: ReadText, beside: dict[str, str]) -> None:
    row = {"samples": [{"text": "4", "logprob": -0.1}, {"text": "5", "logprob": -2}], **beside}
    reading = read_text(json.dumps({"q0": row, "q1": row}))
    assert (reading.proposed_rows, reading.n_rows) == ((), 2)


def test_several_places_with_rows_are_asked_about(read_text: ReadText) -> None:
    value = {"dev": {"rows": ROWS[:2]}, "test": ROWS}
    unread = read_text(json.dumps(value))
    assert unread.proposed_rows == ("dev.rows", "test")
    with pytest.raises(Refused, match=r"--rows dev\.rows \(2 rows\), --rows test \(4 rows\)"):
        unread.runs(skip_bad_rows=True)
    reading = read_text(json.dumps(value), rows="test")
    assert pairs(reading) == FLAT
    assert "Its rows are read from 'test'." in reading.notes


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ("dev.no", "there is nothing at 'dev.no'.*'dev.rows', 'test'"),
        ("n", "'n' does not hold a list of rows"),
    ],
)
def test_a_place_without_rows_is_refused(rows: str, match: str, read_text: ReadText) -> None:
    with pytest.raises(Refused, match=match):
        read_text(json.dumps({"dev": {"rows": ROWS}, "test": ROWS, "n": 3}), rows=rows)


SUMMARY = {"model": "m", "dataset": "d", "id": 7, "confidence": 0.71, "correct": 1, "accuracy": 0.67}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("names", [("confidence", "correct"), ("sure", "right")])
@pytest.mark.parametrize("key", [*SUMMARY, ""])
def test_a_summary_beside_rows_is_no_row(
    read_text: ReadText, indent: int | None, names: tuple[str, str], key: str
) -> None:
    rows = [dict(zip(names, row.values(), strict=True)) for row in ROWS]
    value = {**(SUMMARY if key == "" else {key: SUMMARY[key]}), "results": rows}
    columns = dict(zip(names, ("confidence", "correct"), strict=True))
    for mapping in (columns, {column: f"{name}:{form}" for (column, name), form in
                              zip(columns.items(), ("inverted", "not"), strict=True)}):  # fmt: skip
        reading = read_text(json.dumps(value, indent=indent), columns=mapping)
        assert reading.n_rows == len(ROWS)
        assert "Its rows are read from 'results'." in reading.notes
    assert read_text(json.dumps(value, indent=indent)).n_rows == len(ROWS)


def test_a_mapped_column_that_only_the_object_has_makes_it_a_row(read_text: ReadText) -> None:
    record = {"sure": 0.9, "right": 1, "steps": [{"text": "x"}, {"text": "y"}]}
    columns = {"sure": "confidence", "right": "correct"}
    assert pairs(read_text(json.dumps(record), columns=columns)) == {None: [(0.9, True)]}
    infos = {"answers": ["4", "5"], "infos": [{"r": 1}, {"r": 0}]}
    (run,) = read_text(
        json.dumps(infos), columns={"answers": "samples", "infos.r": "sample_correct"}
    ).good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["sample_correct"].to_list() == [[True, False]]


@pytest.mark.parametrize("indent", [None, 1])
def test_columns_as_pandas_writes_them_are_rows(read_text: ReadText, indent: int | None) -> None:
    by_number = {
        name: {str(row): value for row, value in zip((3, 4, 7, 9), values, strict=True)}
        for name, values in LISTS.items()
    }
    for value in (by_number, {"data": by_number}, {"data": LISTS}):
        assert pairs(read_text(json.dumps(value, indent=indent))) == FLAT
    numbered_rows = {str(row): record for row, record in enumerate(ROWS)}
    assert ids(read_text(json.dumps(numbered_rows, indent=indent))) == [["0", "1", "2", "3"]]


# --- Rows in several places ---------------------------------------------------------------------------------

TWO = {"small-1.5": ROWS, "large": ROWS[1:]}
RUNS = {"small-1.5": FLAT[None], "large": FLAT[None][1:]}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("value", "path"),
    [
        (TWO, "*"),
        ({"results": TWO}, "results.*"),
        ({name: {"n": len(rows), "samples": rows} for name, rows in TWO.items()}, "*.samples"),
        ({"by": {name: {"a": {"b": rows}} for name, rows in TWO.items()}, "version": 2}, "by.*.a.b"),
        ({"small-1.5": {"x": ROWS, "n": 1}, "large": {"x": ROWS[1:]}, "other": {"y": 1}}, "*.x"),
        ({"small-1.5": {"samples": ROWS, "acc": 0.5}, "large": {"samples": ROWS[1:], "acc": 1}}, "*.samples"),
    ],
)
def test_a_star_reads_every_place_as_runs_of_its_own(
    read_text: ReadText, value: object, path: str, indent: int | None
) -> None:
    reading = read_text(json.dumps(value, indent=indent), rows=path)
    assert pairs(reading) == RUNS
    assert (reading.n_rows, reading.columns) == (7, ("confidence", "correct"))
    assert "Its rows are read from 'small-1.5', 'large', each as a separate run." in reading.notes


def test_a_star_means_the_same_on_the_command_line_and_in_python(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text(json.dumps({"a": ROWS, "b": [{**row, "correct": not row["correct"]} for row in ROWS]}))
    typed = call("score", path, "--rows", "*", "--metric", "accuracy", "--json").elements
    assert [(one["run"], one["value"]) for one in typed] == [("a", 0.75), ("b", 0.25)]
    loaded = calib_core.load(path, rows="*")
    assert [(run.label, run.row_counts.n_rows) for run in loaded] == [("a", 4), ("b", 4)]
    set_surface("Python")
    with pytest.raises(Refused, match=r'Say which are meant: rows="\*" \(8 rows\), rows="a"'):
        calib_core.load(path)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (TWO, "*"),
        ({"results": TWO, "version": 2}, "results.*"),
        ({"small-1.5": {"x": ROWS, "n": 1}, "large": {"x": ROWS[1:]}, "other": {"y": 1}}, "*.x"),
        ({"small-1.5": {"samples": ROWS, "acc": 0.5}, "large": {"samples": ROWS[1:], "acc": 1}}, "*.samples"),
    ],
)
def test_a_star_for_places_that_are_alike_is_proposed_first(
    read_text: ReadText, value: object, path: str
) -> None:
    unread = read_text(json.dumps(value))
    assert unread.proposed_rows[0] == path
    assert f'Say which are meant: --rows "{path}" (7 rows), --rows ' in (unread.refusal or "")


def test_a_star_is_not_proposed_for_places_that_are_not_alike(read_text: ReadText) -> None:
    for value in (
        {"dev": ROWS, "test": [{"other": 1}]},
        {"a": ROWS, "b": {"rows": ROWS}},
        {"a": {"x": {"1": ROWS}, "y": {"2": ROWS}}, "b": {"x": {"3": ROWS}, "y": {"4": ROWS}}},
    ):
        assert not any("*" in place for place in read_text(json.dumps(value)).proposed_rows)


def test_rows_that_name_their_model_keep_it(read_text: ReadText) -> None:
    value = {place: [{**row, "model": f"model {place}"} for row in ROWS] for place in "ab"}
    reading = read_text(json.dumps(value), rows="*")
    assert [(run.info.model, run.info.dataset, run.label) for run in answer_runs(reading)] == [
        ("model a", None, "model a"),
        ("model b", None, "model b"),
    ]


def test_the_star_is_the_data_set_of_one_model(read_text: ReadText) -> None:
    value = {place: [{**row, "model": "m"} for row in ROWS] for place in "ab"}
    runs = answer_runs(read_text(json.dumps(value), rows="*"))
    assert [(run.info.model, run.info.dataset, run.label) for run in runs] == [
        ("m", "a", "m · a"),
        ("m", "b", "m · b"),
    ]
    named = {place: [{**row, "dataset": "d"} for row in rows] for place, rows in value.items()}
    runs = answer_runs(read_text(json.dumps(named), rows="*"))
    assert [(run.info.dataset, run.label) for run in runs] == [("d", "m · d"), ("d", "m · d (2)")]


def test_systems_side_by_side_in_several_places_have_data_sets(read_text: ReadText) -> None:
    value = {"easy": WIDE, "hard": WIDE[:2]}
    runs = answer_runs(read_text(json.dumps(value), rows="*", wide=PATTERNS))
    assert [(run.info.model, run.info.dataset, run.rows.height) for run in runs] == [
        ("A", "easy", 4),
        ("B", "easy", 4),
        ("A", "hard", 2),
        ("B", "hard", 2),
    ]


def test_bad_rows_and_refusals_name_their_place(read_text: ReadText) -> None:
    value = {
        "a": ROWS,
        "b": [{**ROWS[0], "confidence": 7}, *ROWS[1:]],
        "c": [{"confidence": 80, "correct": 1}],
    }
    reading = read_text(json.dumps(value), rows="*")
    (problem,) = [problem for problem in reading.problems if problem.first_cells[0].file == "quiz.csv (b)"]
    assert (problem.first_cells[0].row, reading.n_bad_rows) == (1, 2)
    assert any(
        note.startswith("quiz.csv (c): column 'confidence' looks like percent") for note in reading.notes
    )
    assert {run.info.model for run in answer_runs(reading)} == {"a", "b"}
    only_bad = read_text(json.dumps({"c": value["c"], "d": value["c"]}), rows="*")
    assert (only_bad.refusal or "").startswith("quiz.csv (c): column 'confidence' looks like percent")


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ("*.*", "needs one star in place of a whole step"),
        ("a*", "needs one star in place of a whole step"),
        ("*b.c", "needs one star in place of a whole step"),
        ("none.*", r"there is nothing at 'none\.\*'.*Places with rows: 'small-1\.5', 'large'"),
        ("*.none", r"there is nothing at '\*\.none'"),
    ],
)
def test_a_star_that_finds_nothing_is_refused(read_text: ReadText, rows: str, match: str) -> None:
    with pytest.raises(Refused, match=match):
        read_text(json.dumps(TWO), rows=rows)


def test_more_places_than_can_be_read_are_refused(read_text: ReadText) -> None:
    value = {f"m{number}": ROWS[:1] for number in range(201)}
    with pytest.raises(Refused, match=r"rows in 201 places at '\*' \(--rows\), and at most 200"):
        read_text(json.dumps(value), rows="*")


def test_a_key_that_is_a_star_comes_first(read_text: ReadText) -> None:
    assert pairs(read_text(json.dumps({"*": ROWS, "b": ROWS[:1]}), rows="*")) == FLAT


RUN_OF: list[dict[str, Any]] = [{"model": name, "accuracy": 0.5, "out": rows} for name, rows in TWO.items()]


@pytest.mark.parametrize("path", ["", "out", "*.out"])
def test_rows_inside_records_have_what_these_say_of_them(read_text: ReadText, path: str) -> None:
    for content in (json.dumps(RUN_OF), as_json_lines(RUN_OF), json.dumps({"runs": RUN_OF})):
        rows = path and (f"runs.{path}" if content.startswith('{"runs"') else path)
        reading = read_text(content, rows=rows)
        assert pairs(reading) == RUNS
        assert reading.columns == ("model", "confidence", "correct")


def test_what_a_config_says_is_said_of_its_rows(read_text: ReadText) -> None:
    runs = [
        {"config": {"model": name, "seed": 1}, "sums": {"accuracy": 0.5, "n": 4}, "out": rows}
        for name, rows in TWO.items()
    ]
    reading = read_text(json.dumps(runs), columns={"config.model": "model"})
    assert pairs(reading) == RUNS
    assert reading.columns == ("config.model", "confidence", "correct")


def test_what_records_come_to_together_is_said_of_no_row(read_text: ReadText) -> None:
    answers = [{"model": model, "answer": "x", "confidence": 0.5} for model in "ab"]
    around = {
        "question": "Which?",
        "gold": "x",
        "id": 7,
        "confidence": 0.9,
        "correct": 1,
        "n": 2,
        "prompt": "p",
    }
    reading = read_text(as_json_lines([{**around, "said": answers}] * 2), rows="said")
    assert reading.columns == ("question", "gold", "id", "prompt", "model", "answer", "confidence")


def test_keys_may_be_data_sets_or_ids(read_text: ReadText) -> None:
    by_task = {model: {"dev": ROWS, "test": ROWS[1:]} for model in "ab"}
    for path, of_model in (
        ("*.{dataset}", "ab"),
        ("{model}.{dataset}", "ab"),
        ("{dataset}.*", ("dev", "test")),
    ):
        runs = answer_runs(read_text(json.dumps(by_task), rows=path))
        assert {run.info.model for run in runs} == {*of_model}
        assert {run.info.dataset for run in runs} == {"dev", "test", "a", "b"} - {*of_model}
        assert sorted(run.rows.height for run in runs) == [3, 3, 4, 4]
    answers = [{"model": model, "correct": model == "a", "confidence": 0.75} for model in "ab"]
    by_question = {f"q{number}": {"note": "n", "all": answers} for number in range(4)}
    unread = read_text(json.dumps(by_question))
    assert unread.proposed_rows[0] == "{id}.all"
    reading = read_text(json.dumps(by_question), rows="{id}.all")
    assert pairs(reading) == {"a": [(0.75, True)] * 4, "b": [(0.75, False)] * 4}
    assert ids(reading) == [["q0", "q1", "q2", "q3"]] * 2


@pytest.mark.parametrize(
    ("field", "inside"),
    [
        ("choices", [{"text": "x", "prob": 0.5, "correct": True}]),
        ("scores", [{"label": "x", "prob": 0.5}]),
        ("messages", [{"role": "user", "content": "x"}]),
        ("steps", [{"step": 1, "correct": True}]),
    ],
)
def test_a_list_that_is_no_table_of_predictions_is_a_field(
    read_text: ReadText, field: str, inside: list[dict[str, object]]
) -> None:
    assert field in read_text(json.dumps([{"gold": "x", field: inside}] * 3)).columns


def test_a_row_may_have_predictions_inside(read_text: ReadText) -> None:
    rows = [{**row, "kind": "k", "before": [{"confidence": 0.1, "correct": False}]} for row in ROWS]
    assert pairs(read_text(json.dumps(rows))) == FLAT
    records = [{"sure": row["confidence"], "right": row["correct"], "before": ROWS} for row in ROWS]
    mapped = read_text(json.dumps(records), columns={"sure": "confidence", "right": "correct"})
    assert pairs(mapped) == FLAT


def test_objects_inside_one_another_are_searched_in_time(read_text: ReadText) -> None:
    value: dict[str, Any] = {"a": {}, "b": {}}
    for _ in range(200):
        value = {"a": value, "b": {"a": {}, "b": {}}}
    assert read_text(json.dumps(value)).columns == ("id", "a", "b")
    lists: Any = ROWS
    for _ in range(200):
        lists = [lists]
    with pytest.raises(Refused, match="there is nothing at"):
        read_text(json.dumps({"x": lists, "y": ROWS}), rows="x.confidence.z")


def test_a_broken_line_between_records_is_told(read_text: ReadText) -> None:
    lines = as_json_lines(RUN_OF).replace('"accuracy"', "accuracy", 1).splitlines()
    with pytest.raises(Refused, match="line 2 is no JSON"):
        read_text("\n".join([json.dumps(RUN_OF[0]), lines[0]]))


def test_a_list_needs_no_place_of_its_rows(read_text: ReadText) -> None:
    with pytest.raises(Refused, match="holds rows already"):
        read_text(json.dumps(ROWS), rows="data")


def test_a_single_line_may_be_a_row(read_text: ReadText) -> None:
    row = {"id": "q", "choices": ["x", "y"], "choice_probs": [0.75, 0.25], "gold": "x"}
    assert read_text(json.dumps(row)).n_rows == 1


# --- Several systems in one row -----------------------------------------------------------------------------


def wide_row(number: int) -> dict[str, Any]:
    return {
        "id": number,
        **{f"{name}-conf": [CONFIDENCES[(number + shift) % 4]] for shift, name in enumerate("AB")},
        **{f"{name}-eval": [int(OUTCOMES[(number + shift) % 4])] for shift, name in enumerate("AB")},
        "model": "ignored",
        "is-eval": 1,
    }


WIDE = [wide_row(number) for number in range(4)]
PATTERNS = {"*-conf": "confidence", "*-eval": "correct"}
SYSTEMS = {"A": FLAT[None], "B": [*FLAT[None][1:], FLAT[None][0]]}


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(map(json.dumps, WIDE)),
        as_parquet(WIDE),
        pl.DataFrame(WIDE).with_columns(pl.col(pl.List).list.first()).write_csv(),
        pl.DataFrame(WIDE).with_columns(pl.col(pl.List).list.first()).write_csv(separator="\t"),
    ],
    ids=["json", "parquet", "csv", "tsv"],
)
def test_systems_side_by_side_are_runs(content: str | bytes, read_text: ReadText) -> None:
    reading = read_text(content, wide=PATTERNS)
    assert pairs(reading) == SYSTEMS
    assert reading.n_rows == 8
    assert "Each of its 4 records holds these systems: 'A', 'B'." in reading.notes
    assert "'is' has no column '*-conf', so it is not a system." in reading.notes


def test_the_star_may_stand_before_a_nested_field(read_text: ReadText) -> None:
    rows = [
        {name: {"p": row[f"{name}-conf"][0], "ok": bool(row[f"{name}-eval"][0])} for name in "AB"}
        for row in WIDE
    ]
    for content in (json.dumps(rows), as_parquet(rows)):
        reading = read_text(content, wide={"*.p": "confidence", "*.ok": "correct"})
        assert pairs(reading) == SYSTEMS
        assert reading.unused_columns == ()


@pytest.mark.parametrize("write", [as_plain_csv, as_json_lines, as_parquet], ids=["csv", "json", "parquet"])
def test_a_file_is_parsed_once_for_all_systems(
    write: Callable[[list[dict[str, Any]]], str | bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what they share, such as columns of groups, is looked at once."""
    done = Counter[str]()

    def counted(module: Any, name: str) -> None:
        real = getattr(module, name)

        def call(*of: Any, **options: Any) -> Any:
            done[name] += 1
            return real(*of, **options)

        monkeypatch.setattr(module, name, call)

    counted(reader, "open_table")
    counted(group_columns, "_name_texts")
    counts: list[Counter[str]] = []
    for n_systems in (2, 9):
        rows = [
            {
                f"s{at}-{name}": value
                for at in range(n_systems)
                for name, value in (("conf", 0.5), ("eval", 1))
            }
            | {"level": "easy" if row % 2 else "hard", "note": f"n{row}"}
            for row in range(8)
        ]
        path = tmp_path / f"{n_systems}"
        content = write(rows)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        done.clear()
        reading = readers.read_in_this_process(
            path, file="a", options=readers.ReadOptions(wide={"*-conf": "confidence", "*-eval": "correct"})
        )
        runs = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
        assert [run.group_columns.columns for run in runs] == [["level"]] * n_systems
        assert reading.unused_columns == ("note",)
        counts.append(done.copy())
    assert counts[0] == counts[1]
    assert counts[0]["open_table"] == 1


def test_bad_values_of_all_systems_are_told(read_text: ReadText) -> None:
    rows = [{**WIDE[0], "A-conf": [7.0], "B-conf": ["high"]}, *WIDE[1:]]
    reading = read_text(json.dumps(rows), wide=PATTERNS)
    assert reading.n_bad_rows == 2
    assert {cell.column for problem in reading.problems for cell in problem.first_cells} == {
        "A-conf",
        "B-conf",
    }


# --- Rows numbered ------------------------------------------------------------------------------------------


def ids(reading: Reading) -> list[list[str | None]]:
    runs = reading.runs(skip_bad_rows=True)
    return [run.rows["id"].to_list() for run in runs if isinstance(run, AnswerRun)]


@pytest.mark.parametrize("content", [as_plain_csv, as_json_lines, as_parquet], ids=["csv", "json", "parquet"])
def test_the_row_number_is_the_id_where_asked_for(
    content: Callable[[list[dict[str, Any]]], str | bytes], read_text: ReadText
) -> None:
    n = 40_000  # more than one slice
    rows = [{"confidence": 0.5, "correct": row % 2} for row in range(n)]
    rows[1]["confidence"] = 5.0
    reading = read_text(content(rows), columns={"row": "id"})
    assert reading.n_bad_rows == 1
    assert ids(reading) == [["row 1", *(f"row {number}" for number in range(3, n + 1))]]
    assert any("The number of the row is the id" in note for note in reading.notes)
    assert "row" not in reading.columns


def test_systems_side_by_side_have_the_ids_of_their_rows(read_text: ReadText) -> None:
    rows = [{key: value for key, value in row.items() if key != "id"} for row in WIDE]
    numbered = read_text(json.dumps(rows), wide=PATTERNS, columns={"row": "id"})
    assert ids(numbered) == [["row 1", "row 2", "row 3", "row 4"]] * 2


def test_a_column_named_row_comes_first(read_text: ReadText) -> None:
    rows = [{"row": f"q{number}", **row} for number, row in enumerate(NESTED)]
    for content in (json.dumps(rows), as_parquet(rows)):
        reading = read_text(content, columns={**PATHS, "row": "id"})
        assert ids(reading) == [["q0", "q1", "q2", "q3"]]
        assert reading.notes == ()


@pytest.mark.parametrize("name", ["gold", "confidence"])
def test_a_row_number_is_nothing_but_an_id(name: str, read_text: ReadText) -> None:
    with pytest.raises(Refused, match="has no column 'row'"):
        read_text(json.dumps([{"confidence": 0.5, "correct": 1}]), columns={"row": name})


def test_arrays_are_numbered_too() -> None:
    with TemporaryDirectory() as folder:
        np.savez(Path(folder) / "a.npz", confidence=np.array([0.5, 0.75]), correct=np.array([1, 0]))
        options = readers.ReadOptions({"row": "id"})
        assert ids(readers.read(Path(folder) / "a.npz", options=options)) == [["row 1", "row 2"]]


def test_a_list_of_two_values_is_no_value(read_text: ReadText) -> None:
    reading = read_text(json.dumps([{**row, "A-conf": [0.5, 0.6]} for row in WIDE]), wide=PATTERNS)
    assert reading.n_bad_rows == 4


@pytest.mark.parametrize(
    ("wide", "columns", "match"),
    [
        ({"conf": "confidence"}, {}, "needs one star"),
        ({"*": "confidence"}, {}, "needs one star"),
        ({"*-*": "confidence"}, {}, "needs one star"),
        ({"*-no": "confidence"}, {}, "no system has a column for each of '[*]-no'"),
        (PATTERNS, {"model": "model"}, "the star .* names the model"),
        ({**PATTERNS, "*-id": "sureness"}, {}, "no system has"),
        ({"*-conf": "sureness"}, {}, "'sureness', which is not a column name"),
    ],
)
def test_patterns_that_mean_nothing_are_refused(
    wide: dict[str, str], columns: dict[str, str], match: str, read_text: ReadText
) -> None:
    with pytest.raises(Refused, match=match):
        read_text(json.dumps(WIDE), wide=wide, columns=columns)


def test_a_star_that_matches_thousands_is_refused(read_text: ReadText) -> None:
    header = ",".join(f"s{number}-conf" for number in range(3000))
    with pytest.raises(Refused, match="match 3,000 systems, and at most 200"):
        read_text(f"{header}\n{','.join(['0.5'] * 3000)}\n", wide={"*-conf": "confidence"})


@given(
    st.lists(st.fixed_dictionaries({name: st.floats(0, 1) for name in "abc"}), min_size=1, max_size=5),
    st.permutations(["a", "b", "c"]),
)
def test_wide_rows_are_those_of_narrow_files(rows: list[dict[str, float]], order: list[str]) -> None:
    """Whatever the order of the columns, a system has the values of its own column."""
    wide = [{f"{name}_conf": row[name] for name in order} | {"correct": 1} for row in rows]
    with TemporaryDirectory() as folder:
        path = Path(folder, "wide.json")
        path.write_text(json.dumps(wide))
        reading = readers.read_in_this_process(
            path, file="wide.json", options=readers.ReadOptions(wide={"*_conf": "confidence"})
        )
    assert {model: [value for value, _ in values] for model, values in pairs(reading).items()} == {
        name: [row[name] for row in rows] for name in order
    }


# --- Values that count as missing --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "confidence,grade\n0.5,Yes\n-1,No\n0.25, Unparseable \n0.75,No\n",
        json.dumps(
            [
                {"confidence": confidence, "grade": grade}
                for confidence, grade in ((0.5, "Yes"), (-1, "No"), (0.25, "Unparseable"), (0.75, "No"))
            ]
        ),
    ],
)
def test_named_values_count_as_missing(content: str, read_text: ReadText) -> None:
    reading = read_text(content, columns={"grade": "correct:Yes"}, missing=("Unparseable", "-1"))
    (run,) = reading.runs(skip_bad_rows=False)
    assert isinstance(run, AnswerRun)
    assert run.rows["confidence"].to_list() == [0.5, None, 0.25, 0.75]
    assert run.rows["correct"].to_list() == [True, False, None, False]
    assert "1 value of 'grade' ('-1', 'Unparseable') counts as missing." in reading.notes


def test_numbers_that_are_not_a_number_may_count_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "quiz.parquet"
    pl.DataFrame({"confidence": [0.5, float("nan")], "correct": [1, 0]}).write_parquet(path)
    assert readers.read(path).n_bad_rows == 1
    (run,) = readers.read(path, options=ReadOptions(missing=("NaN",))).runs(skip_bad_rows=False)
    assert isinstance(run, AnswerRun)
    assert run.rows["confidence"].to_list() == [0.5, None]


def test_a_missing_value_that_is_nowhere_is_told(read_text: ReadText) -> None:
    reading = read_text("confidence,correct\n0.5,1\n0.25,0\n", missing=("N/A",))
    assert "No column that is read holds 'N/A'." in reading.notes

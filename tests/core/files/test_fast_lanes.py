"""Does what fast parsers are trusted with come to the same reading, to the last message, as with care?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calib_core.files import content, parse
from calib_core.files.content import Content
from calib_core.files.tables import csv_fast, csv_text, json_fast, json_lines, lists
from calib_core.files.tables.json_lines import open_json_lines
from calib_core.problems import CalibError


def shown(value: Any) -> object:
    """A reading as plain values, frames and series included."""
    if isinstance(value, pl.DataFrame):
        return [(name, str(dtype)) for name, dtype in value.schema.items()], repr(value.rows())
    if isinstance(value, tuple):
        return [shown(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return [(field.name, shown(getattr(value, field.name))) for field in fields(value)]
    return repr(dict(value)) if hasattr(value, "keys") else repr(value)


def outcome(path: Path, columns: dict[str, str]) -> object:
    try:
        return shown(parse(path, file="quiz", columns=columns))
    except CalibError as refusal:
        return str(refusal)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[object, object]]:
    """The reading of a file in small blocks by the fast parsers, and that with care.

    With care delimited text is read in one,
    and JSON lines in the same blocks: whether the values of a key are
    of one kind is asked block by block.
    """

    def read(path: Path, columns: dict[str, str] | None = None, piece: int = 2**25) -> tuple[object, object]:
        with monkeypatch.context() as patch:
            patch.setattr(content, "PIECE", piece)
            fast = outcome(path, columns or {})
        with monkeypatch.context() as patch:
            patch.setattr(content, "PIECE", piece if path.suffix == ".jsonl" else 2**25)
            patch.setattr(csv_fast, "is_well_quoted", lambda *_: False)
            patch.setattr(json_fast, "frame_of", lambda *_: None)
            patch.setattr(lists, "_plain_numbers", lambda _: None)
            careful = outcome(path, columns or {})
        return fast, careful

    return read


CELLS = st.one_of(
    st.sampled_from(
        ["", " ", "0.5", "1", "0", "true", "False", "yes", "0_1", "nan", "inf", "1e400", "-0",
        ".5", "1.", "７",
         " 0.25", "0.25 ", '"0.5"', '"a, b"', '"say ""no"""', 'a"b', '"', '""', '"two\nlines"',
         "é", "1.0000001",
         "-0.0000001", "87%", "[0.5, 0.5]", '"[0.5, 0.5]"', '"[0.25, 0.8]"', "\r", "x\r\ny", "A",
         "007", "1e-7"]
    ),
    st.text(st.sampled_from('ab,"\n\r ;.01é'), max_size=4),
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 10**18), st.floats(allow_nan=False, width=32),
    st.text(max_size=4),
    st.sampled_from(["0.5", "A", "\ud800", "\U0001f600", '"id": 1', "a\\", "NaN", "\x7f\u2028"]),
    st.lists(st.one_of(st.none(), st.floats(-2, 1, width=32), st.integers(0, 3)), max_size=3),
    st.lists(st.text(max_size=2), max_size=3),
    st.sampled_from([float("nan"), float("inf"), 10**30, {"a": 1}, [[1]]]),
)
RULES = settings(
    max_examples=150, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
CSV_NAMES = ["id", "confidence", "correct", "choice_probs", "level"]


def good_csv(row: int) -> str:
    return f"q{row},0.{row % 10}5,{row % 2},{'abc'[row % 3]}"


@RULES
@given(
    odd=st.dictionaries(st.integers(0, 11), st.lists(CELLS, max_size=6), max_size=3),
    piece=st.integers(40, 400),
    end=st.sampled_from(["\n", "\n", "\n", "\r\n"]),
    last=st.sampled_from(["", "\n", "\n\n"]),
)
def test_delimited_text(
    odd: dict[int, list[str]], piece: int, end: str, last: str, tmp_path: Path, both: Callable[..., Any]
) -> None:
    rows = [",".join(odd[row]) if row in odd else good_csv(row) for row in range(12)]
    text = end.join(["id,confidence,correct,level", *rows]) + last
    path = tmp_path / "quiz.csv"
    path.write_bytes(text.encode())
    fast, careful = both(path, piece=piece)
    assert fast == careful


@RULES
@given(cells=st.lists(st.tuples(*[CELLS] * 3), min_size=1, max_size=6), mark=st.sampled_from(['"', ""]))
def test_cells_of_all_kinds(
    cells: list[tuple[str, ...]], mark: str, tmp_path: Path, both: Callable[..., Any]
) -> None:
    def written(cell: str) -> str:
        return mark + (cell.replace('"', '""') if mark else cell) + mark

    lines = [",".join([f"q{at}", *map(written, row)]) for at, row in enumerate(cells)]
    path = tmp_path / "quiz.csv"
    path.write_bytes("\n".join(["id,confidence,correct,choice_probs", *lines, ""]).encode())
    fast, careful = both(path)
    assert fast == careful


KEYS = ["id", "confidence", "correct", "choice_logprobs", "choices", "gold", "level", "note", "loss"]
GOOD: dict[str, Callable[[int], object]] = {
    "id": lambda row: f"q{row}",
    "confidence": lambda row: [0.5, 1, 0.25][row % 3],
    "correct": lambda row: row % 2 == 0,
    "choice_logprobs": lambda row: [-0.5, -1 - row],
    "choices": lambda _: ["a", 'b"'],
    "gold": lambda row: row % 2,
    "level": lambda row: "xy"[row % 2],
    "note": lambda row: None if row % 3 else 1.5,
    "loss": lambda row: [1.5, float("nan"), float("-inf")][row % 3],
}


@RULES
@given(
    keys=st.lists(st.sampled_from(KEYS[1:]), unique=True, max_size=5),
    odd=st.dictionaries(st.tuples(st.integers(0, 9), st.sampled_from(KEYS)), VALUES, max_size=2),
    gone=st.sets(st.tuples(st.integers(0, 9), st.sampled_from(KEYS[1:])), max_size=4),
    extra=st.dictionaries(st.integers(0, 9), st.sampled_from(
        ["", " ", "{}", "[]", "{", '{"id": "x", "id": "y"}', '{"id": null, "id": "y"}',
        '{"id": "a"} {"id": "b"}',
         '{"id" : "x"}', '{"\\u0069d": "x", "id": "y"}', '{"id":"x","confidence":01}',
         '{"id": "a\tb"}', "\ufeff{}",
         '{"id": "z", "new": 1}', '{"id":"u",  "confidence":0.5}', "null",
         '{"id": ": NaN, b", "loss": NaN}', '{"id": "NaN", "x:": NaN}',
         '{"id": "k", "loss": -NaN}']), max_size=2),
    written=st.fixed_dictionaries({
        "separators": st.sampled_from([(",", ":"), (", ", ": ")]), "ensure_ascii": st.booleans(),
    }),
    piece=st.integers(60, 900),
)
def test_json_lines(
    keys: list[str],
    odd: dict[tuple[int, str], object],
    gone: set[tuple[int, str]],
    extra: dict[int, str],
    written: dict[str, Any],
    piece: int,
    tmp_path: Path,
    both: Callable[..., Any],
) -> None:
    written_lines: list[str] = []
    for row in range(10):
        record = {key: odd.get((row, key), GOOD[key](row)) for key in ["id", *keys] if (row, key) not in gone}
        written_lines.append(json.dumps(record, **written))
        written_lines += [extra[row]] if row in extra else []
    path = tmp_path / "quiz.jsonl"
    path.write_bytes("\n".join([*written_lines, ""]).encode("utf-8", "replace"))
    fast, careful = both(path, piece=piece)
    assert fast == careful


def test_the_plain_hostile_cases(hostile_plain_files: list[Path], both: Callable[..., Any]) -> None:
    for path in hostile_plain_files:
        fast, careful = both(path, piece=64)
        assert fast == careful, path.name


@pytest.fixture
def hostile_plain_files(shared: Path, tmp_path: Path) -> list[Path]:
    """The hostile cases whose whole text stands in the manifest."""
    cases = json.loads((shared / "hostile" / "manifest.json").read_text(encoding="utf-8"))
    found: list[Path] = []
    for at, case in enumerate(cases):
        if isinstance(case.get("text"), str) and case["path"].endswith((".csv", ".jsonl", ".tsv", ".txt")):
            path = tmp_path / f"{at}{Path(case['path']).suffix}"
            path.write_bytes(case["text"].encode("utf-8", "surrogatepass"))
            found.append(path)
    assert found
    return found


def test_the_real_tables(shared: Path, both: Callable[..., Any]) -> None:
    for path in sorted((shared / "real").glob("*/*.csv")) + sorted((shared / "real").glob("*/*.txt"))[:2]:
        fast, careful = both(path, piece=2**16)
        assert fast == careful, path.name


def test_good_files_are_read_by_the_fast_parsers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("read with care")

    monkeypatch.setattr(csv_text._Records, "_careful", fail)
    monkeypatch.setattr(json_lines._Lines, "_careful", fail)
    for name, text in {
        "plain.csv": "id,confidence,correct\n" + "".join(f"q{at},0.5,{at % 2}\n" for at in range(50)),
        "quoted.csv": 'id,question,confidence,correct\nq1,"a, ""b""\nc",0.5,true\nq2,d,,false\n',
        "plain.jsonl": "".join(
            json.dumps({"id": f"q{at}", "confidence": 0.5, "correct": True, "choices": ["a", "é\n"]}) + "\n"
            for at in range(50)
        ),
        "nan.jsonl": '{"id":"a","confidence":1,"correct":true,"loss":NaN}\n',
        "absent.jsonl": '{"id":"a","confidence":1,"correct":true}\n{"id":"b","correct":false,"note":null}\n',
    }.items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert parse(path, file=name).refusal is None


def test_a_line_beyond_reason_is_refused_before_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "PIECE", 10)
    monkeypatch.setattr(content, "LONGEST", 40)
    with pytest.raises(CalibError, match="a line of it is longer"):
        list(open_json_lines(Content(b'{"a": "' + b"x" * 100), "quiz", lambda _: True).slices)

"""The fast parsers give the same reading as the careful ones, to the last message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calib_core.errors import CalibError
from calib_core.readers import content, read_in_this_process
from calib_core.readers.content import Content
from calib_core.readers.format import ReadOptions
from calib_core.readers.table import csv_reader, list_cells
from calib_core.readers.table.json_reader import open_json_lines
from hostile.manifest import CASES


def plain_values(value: Any) -> object:
    """A reading as plain values, frames and series included."""
    if isinstance(value, pl.DataFrame):
        return [(name, str(dtype)) for name, dtype in value.schema.items()], repr(value.rows())
    if isinstance(value, tuple):
        return [plain_values(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return [(field.name, plain_values(getattr(value, field.name))) for field in fields(value)]
    return repr(dict(value)) if hasattr(value, "keys") else repr(value)


def outcome(path: Path, columns: dict[str, str]) -> object:
    try:
        return plain_values(read_in_this_process(path, file="quiz", options=ReadOptions(columns)))
    except CalibError as refusal:
        return str(refusal)


@pytest.fixture
def read_both_ways(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[object, object]]:
    """The reading of a file in small blocks by the fast parsers, and that with care.

    With care delimited text is read in one.
    """

    def read(path: Path, columns: dict[str, str] | None = None, piece: int = 2**25) -> tuple[object, object]:
        with monkeypatch.context() as patch:
            patch.setattr(content, "CHUNK_BYTES", piece)
            fast = outcome(path, columns or {})
        with monkeypatch.context() as patch:
            patch.setattr(csv_reader, "without_quoted_cells", lambda *_: b'"')
            patch.setattr(list_cells, "_parse_number_lists", lambda _: None)
            careful = outcome(path, columns or {})
        return fast, careful

    return read


CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "0.5",
            "1",
            "0",
            "true",
            "False",
            "yes",
            "0_1",
            "nan",
            "inf",
            "1e400",
            "-0",
            ".5",
            "1.",
            "７",
            " 0.25",
            "0.25 ",
            '"0.5"',
            '"a, b"',
            '"say ""no"""',
            'a"b',
            '"',
            '""',
            '"two\nlines"',
            "é",
            "1.0000001",
            "-0.0000001",
            "87%",
            "[0.5, 0.5]",
            '"[0.5, 0.5]"',
            '"[0.25, 0.8]"',
            "\r",
            "x\r\ny",
            "A",
            "007",
            "1e-7",
        ]
    ),
    st.text(st.sampled_from('ab,"\n\r ;.01é'), max_size=4),
)
HEAD_BYTES = 100_000
"""Of a real table."""
RULES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
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
    odd: dict[int, list[str]],
    piece: int,
    end: str,
    last: str,
    tmp_path: Path,
    read_both_ways: Callable[..., Any],
) -> None:
    rows = [",".join(odd[row]) if row in odd else good_csv(row) for row in range(12)]
    text = end.join(["id,confidence,correct,level", *rows]) + last
    path = tmp_path / "quiz.csv"
    path.write_bytes(text.encode())
    fast, careful = read_both_ways(path, piece=piece)
    assert fast == careful


@RULES
@given(cells=st.lists(st.tuples(*[CELLS] * 3), min_size=1, max_size=6), mark=st.sampled_from(['"', ""]))
def test_cells_of_all_kinds(
    cells: list[tuple[str, ...]], mark: str, tmp_path: Path, read_both_ways: Callable[..., Any]
) -> None:
    def written(cell: str) -> str:
        return mark + (cell.replace('"', '""') if mark else cell) + mark

    lines = [",".join([f"q{at}", *map(written, row)]) for at, row in enumerate(cells)]
    path = tmp_path / "quiz.csv"
    path.write_bytes("\n".join(["id,confidence,correct,choice_probs", *lines, ""]).encode())
    fast, careful = read_both_ways(path)
    assert fast == careful


ODD = {
    "a quote that never closes": 'q1,"0.5,1,a',
    "three quotes": '"q1,0.5",1,"a',
    "a quote within a cell": 'q1,0"5,1,a',
    "two quotes within a cell": 'q1,0"5",1,a',
    "a blank after a quote": 'q1,"0.5" ,1,a',
    "letters after a quote": 'q1,0.5,1,"a"b',
    "a short record": "q1,0.5,1",
    "a long record": "q1,0.5,1,a,b",
    "a short and a long record": "q1,0.5,1\nq2,0.5,0,b,c",
    "two lines in a cell": 'q1,0.5,1,"two\nlines"',
    "two lines and two quotes in a cell": 'q1,0.5,1,"two ""x""\nlines, and more"',
    "infinite": "q1,inf,1,a",
    "none": "q1,nan,1,a",
    "a return alone": "q1,0.5,1,a\rq2,0.5,0,b",
    "both ends of lines": "q1,0.5,1,a\r\nq2,0.5,0,b",
}
"""What stands between good records."""


@pytest.mark.parametrize("odd", ODD)
def test_each_odd_record(odd: str, tmp_path: Path, read_both_ways: Callable[..., Any]) -> None:
    good = [good_csv(row) for row in range(3, 9)]
    path = tmp_path / "quiz.csv"
    for piece in (40, 2**25):
        for records in ([*good[:3], ODD[odd], *good[3:]], [*good, ODD[odd]]):
            path.write_bytes("\n".join(["id,confidence,correct,level", *records, ""]).encode())
            fast, careful = read_both_ways(path, piece=piece)
            assert fast == careful


def test_the_plain_hostile_cases(hostile_plain_files: list[Path], read_both_ways: Callable[..., Any]) -> None:
    for path in hostile_plain_files:
        fast, careful = read_both_ways(path, piece=64)
        assert fast == careful, path.name


@pytest.fixture
def hostile_plain_files(tmp_path: Path) -> list[Path]:
    """The hostile cases whose whole text stands in the manifest."""
    found: list[Path] = []
    for at, case in enumerate(CASES):
        if isinstance(case.get("text"), str) and case["path"].endswith((".csv", ".tsv", ".txt")):
            path = tmp_path / f"{at}{Path(case['path']).suffix}"
            path.write_bytes(case["text"].encode("utf-8", "surrogatepass"))
            found.append(path)
    assert found
    return found


def test_the_real_tables(extra_files: Path, tmp_path: Path, read_both_ways: Callable[..., Any]) -> None:
    """The first records of each: the end may be in the middle of one."""
    real = extra_files / "real"
    for path in [*sorted(real.glob("*/*.csv")), *sorted(real.glob("*/*.txt"))[:2]]:
        head = tmp_path / f"quiz{path.suffix}"
        with path.open("rb") as whole:
            head.write_bytes(whole.read(HEAD_BYTES))
        fast, careful = read_both_ways(head, piece=2**14)
        assert fast == careful, path.name


def test_good_files_are_read_by_the_fast_parsers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("read with care")

    monkeypatch.setattr(csv_reader._CsvRecords, "_parse_carefully", fail)
    for name, text in {
        "plain.csv": "id,confidence,correct\n" + "".join(f"q{at},0.5,{at % 2}\n" for at in range(50)),
        "quoted.csv": 'id,question,confidence,correct\nq1,"a, ""b""\nc",0.5,true\nq2,d,,false\n',
    }.items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert read_in_this_process(path, file=name).refusal is None


def test_an_overlong_line_is_refused_before_it_is_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "CHUNK_BYTES", 10)
    monkeypatch.setattr(content, "MAX_LINE_BYTES", 40)
    with pytest.raises(CalibError, match="a line of it is longer"):
        list(open_json_lines(Content(b'{"a": "' + b"x" * 100), "quiz", lambda _: True).slices)

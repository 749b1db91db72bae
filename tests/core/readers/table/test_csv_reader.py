"""Records of delimited text are split, counted and refused correctly."""

from __future__ import annotations

import time

import polars as pl
import pytest

from calib_core.errors import Refused
from calib_core.readers import content
from calib_core.readers.content import Content
from calib_core.readers.table import csv_reader, raw
from calib_core.readers.table.csv_reader import COMMAS, DIALECTS, WHITE_SPACE, header_of, open_csv


def is_well_quoted(block: bytes) -> bool:
    return b'"' not in csv_reader.without_quoted_cells(block, ",")


def slices(text: str, layout: csv_reader.CsvDialect = COMMAS) -> list[raw.Slice]:
    return list(open_csv(text.encode(), "quiz.csv", layout, lambda _: True).slices)


def columns(text: str, layout: csv_reader.CsvDialect = COMMAS) -> dict[str, list[str]]:
    (part,) = slices(text, layout)
    return {name: values.to_list() for name, values in part.columns.items()}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end(end: str) -> None:
    (part,) = slices(end.join(["a,b", "1,2", "3,4", ""]))
    assert part.columns["b"].to_list() == ["2", "4"]
    assert part.lines is not None
    assert part.lines.to_list() == [2, 3]
    assert not part.broken


def test_a_byte_order_mark_is_not_part_of_the_header() -> None:
    assert header_of("\ufeffid,x\n".encode(), COMMAS) == ("id", "x")


def test_lines_are_physical_and_blank_ones_are_passed_over() -> None:
    (part,) = slices('\n a,b\n\n"x\ny",1\n \nz,2\n')
    assert part.columns["a"].to_list() == ["x\ny", "z"]
    assert part.lines is not None
    assert part.lines.to_list() == [4, 7]


def test_short_and_long_records_are_broken_and_hold_nothing() -> None:
    (part,) = slices("a,b,c\n1,2,3\n1,2\n1,2,3,4\n")
    assert part.n_rows == 3
    assert [(broken.position, broken.column) for broken in part.broken] == [(1, "c"), (2, "")]
    assert "4 cells, the last '4'" in part.broken[1].found
    assert part.columns["a"].to_list() == ["1", "", ""]


def test_a_header_with_a_name_twice_is_refused() -> None:
    with pytest.raises(Refused, match=r"'a'.*Rename"):
        slices("a, a,b\n1,2,3\n")


def test_columns_without_a_name_are_not_repetitions() -> None:
    assert columns(",,a\n1,2,3\n") == {"(column 1)": ["1"], "(column 2)": ["2"], "a": ["3"]}


def test_too_many_columns_are_refused() -> None:
    header = ",".join(f"c{number}" for number in range(raw.MAX_COLUMNS + 1))
    with pytest.raises(Refused, match=r"10,001 columns"):
        slices(header + "\n")


def test_a_quote_that_never_closes_is_refused_with_its_line() -> None:
    with pytest.raises(Refused, match=r"line 3 never closes"):
        slices('a,b\n1,2\n3,"4\n5,6\n')


def test_a_quote_followed_by_text_is_refused_with_its_line() -> None:
    with pytest.raises(Refused, match=r"line 2 cannot be read as cells"):
        slices('a,b\n1,"2"x\n')


def test_only_wanted_columns_are_built() -> None:
    (part,) = open_csv(b"a,b\n1,2\n", "quiz.csv", COMMAS, lambda name: name == "b").slices
    assert list(part.columns) == ["b"]


@pytest.mark.parametrize("layout", DIALECTS, ids=lambda layout: layout.title)
def test_every_layout(layout: csv_reader.CsvDialect) -> None:
    text = "id,note,c\nq1,a b,0.5\n".replace("a b", "ab" if layout is WHITE_SPACE else "a b")
    assert columns(text.replace(",", layout.delimiter), layout)["c"] == ["0.5"]


def test_white_space_comes_in_runs() -> None:
    assert columns(" id \t c\n q1   0.5 \n", WHITE_SPACE) == {"id": ["q1"], "c": ["0.5"]}


def test_a_header_that_is_not_a_record_has_no_names() -> None:
    assert header_of(b'"a', COMMAS) == ()
    assert header_of(b"\n\n", COMMAS) == ()


def test_slices_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_reader, "ROWS_PER_SLICE", 2)
    text = "a\n" + "".join(f"{number}\n" for number in range(5))
    parts = slices(text)
    assert [part.n_rows for part in parts] == [2, 2, 1]
    assert pl.concat([part.columns["a"] for part in parts]).to_list() == ["0", "1", "2", "3", "4"]
    assert [int(line) for part in parts if part.lines is not None for line in part.lines] == [2, 3, 4, 5, 6]
    assert parts[-1].share == 1.0


def test_a_cell_may_be_longer_than_pythons_default_limit() -> None:
    assert columns("a,b\n" + "x" * 200_000 + ",1\n")["b"] == ["1"]


@pytest.mark.parametrize("size", [1, 3, 10, 1000])
def test_blocks_end_where_records_end(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(content, "CHUNK_BYTES", size)
    data = b'1,"a\nb"\n2,"""\n"""\n3,c\n' * 20
    blocks = list(csv_reader.record_blocks(Content(data), 0))
    assert b"".join(blocks) == data
    assert all(is_well_quoted(block) and block.endswith((b'"\n', b"c\n")) for block in blocks)


def test_a_block_ends_with_the_first_record_that_ends_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "CHUNK_BYTES", 1)
    records = [b'1,"a\nb"\n', b'2,"""\n"""\n', b"3,c\n"]
    assert list(csv_reader.record_blocks(Content(b"".join(records)), 0)) == records


@pytest.mark.parametrize(
    ("block", "well_quoted"),
    [
        (b"a,b\n", True),
        (b'"a","b"\n', True),
        (b'"a","b"', True),
        (b'"a ""b""",c\r\n', True),
        (b'a,"b\n', False),
        (b'"a""b,c\n', False),
        (b'a,b"c"\n', False),
        (b'"a"b,c\n', False),
        (b'"a" ,b\n', False),
        (b'"a"\rb,c\n', False),
    ],
)
def test_quotes_open_and_close_cells(block: bytes, well_quoted: bool) -> None:  # noqa: FBT001
    assert is_well_quoted(block) == well_quoted


@pytest.mark.parametrize("delimiter", [layout.delimiter for layout in DIALECTS])
def test_only_cells_in_quotes_are_taken_out(delimiter: str) -> None:
    block = f'a{delimiter}"b{delimiter}\n""c"""\r\n"d"{delimiter}e\n'.encode()
    bare = f"a{delimiter}\r\n{delimiter}e\n".encode()
    assert csv_reader.without_quoted_cells(block, delimiter) == bare


def test_quotes_that_never_close_are_looked_through_in_time_that_grows_with_the_block() -> None:
    def seconds(block: bytes) -> float:
        begun = time.thread_time()
        csv_reader.without_quoted_cells(block, ",")
        return time.thread_time() - begun

    for record in (b'"\n', b'"a\n', b'"""\n', b'""a\n', b',"",""'):
        assert seconds(b'"' + record * 2**18) < 1, record


def test_what_never_ends_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "CHUNK_BYTES", 10)
    looked: list[int] = []
    end = csv_reader._last_record_end

    def counted(piece: bytes, *, starts_quoted: bool) -> int:
        looked.append(len(piece))
        return end(piece, starts_quoted=starts_quoted)

    monkeypatch.setattr(csv_reader, "_last_record_end", counted)
    data = b'"' + b"q1,0.5\n" * 100
    assert list(csv_reader.record_blocks(Content(data), 0)) == [data]
    assert sum(looked) == len(data)


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf"])
def test_what_is_no_finite_number_is_left_to_the_careful_parser(cell: str) -> None:
    schema = {"id": pl.String(), "confidence": pl.Float64()}
    good, bad = b"q1,0.5\nq2,0.25\n", f"q1,0.5\nq2,{cell}\n".encode()
    assert csv_reader.parse_csv_frame(good, good, ",", schema) is not None
    assert csv_reader.parse_csv_frame(bad, bad, ",", schema) is None


@pytest.mark.parametrize(
    ("block", "fits"),
    [
        (b"a,b\nc,d\n", True),
        (b"a,b\nc,d", True),
        (b'a,b\nc,"\n,"', True),
        (b"a,b\nc,d\n\n", False),
        (b"a,b\nc\nd,e\n", False),
        (b"a,b,c,d\n", False),
        (b"a,b\nc,d,e\n", False),
        (b'a,b\nc,"\n,"\n\n', False),
    ],
)
def test_two_records_have_two_delimiters_and_two_line_ends(block: bytes, fits: bool) -> None:  # noqa: FBT001
    bare = csv_reader.without_quoted_cells(block, ",")
    schema = {"first": pl.String(), "second": pl.String()}
    assert (csv_reader.parse_csv_frame(block, bare, ",", schema) is not None) == fits

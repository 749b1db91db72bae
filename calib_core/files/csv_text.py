"""How does delimited text become records, each with its line, and none of them bent into shape?"""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import polars as pl

from calib_core.files.raw import MAX_COLUMNS, SLICE, Batch, Broken, RawTable, Slice, Wanted
from calib_core.problems import Refused, shorten

if TYPE_CHECKING:
    from _csv import Reader

MAX_CELL: Final = 64 * 2**20
"""Characters in one cell; more is taken for a quote that never closes."""

csv.field_size_limit(MAX_CELL)


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands between two cells."""

    title: str
    delimiter: str

    def records(self, data: bytes) -> tuple[Reader, io.BytesIO]:
        """A reader of UTF-8 text's records, and the buffer it reads from (whose position is progress)."""
        buffer = io.BytesIO(data)
        lines: Iterator[str] = io.TextIOWrapper(buffer, encoding="utf-8-sig", newline="")
        if self is WHITE_SPACE:
            lines = (" ".join(line.split()) + "\n" for line in lines)
        return csv.reader(lines, delimiter=self.delimiter, strict=True), buffer


COMMAS: Final = Layout("commas", ",")
WHITE_SPACE: Final = Layout("white space", " ")
LAYOUTS: Final = (
    COMMAS,
    Layout("tabs", "\t"),
    Layout("semicolons", ";"),
    Layout("vertical bars", "|"),
    WHITE_SPACE,
)


def header_of(data: bytes, layout: Layout) -> tuple[str, ...]:
    """The names in the first record that is not blank; () where there is none or it is no record."""
    try:
        return tuple(cell.strip() for cell in _header(layout.records(data)[0]))
    except csv.Error:
        return ()


def first_of_csv(data: bytes, layout: Layout, columns: Sequence[str], rows: int) -> list[pl.Series]:
    """The cells of these columns in the first records, as far as these are complete."""
    header = header_of(data, layout)
    records, _ = layout.records(data)
    cells: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        _header(records)
        cells += [row for row in islice(records, rows) if len(row) == len(header)]
    places = [header.index(name) if name in header else None for name in columns]
    return [
        pl.Series([None if at is None else row[at] for row in cells], dtype=pl.String) for at in places
    ]


def open_csv(data: bytes, file: str, layout: Layout, wanted: Wanted) -> RawTable:
    """The records of delimited text (already known to be UTF-8) below its header.

    While the slices are read it raises Refused where a column is named twice, there are too many
    columns, or a quote is wrong.
    """
    header = header_of(data, layout)
    names = tuple(name or f"(column {position})" for position, name in enumerate(header, 1))
    return RawTable(names, _slices(data, file, layout, names, wanted))


def _check_header(names: Sequence[str], file: str) -> None:
    twice = [shorten(name, 40) for name, times in Counter(names).items() if times > 1]
    if twice:
        raise Refused(
            f"{file}: the header has more than one column named {', '.join(map(repr, twice[:5]))}, so which "
            f"is meant is not clear. Rename all but one."
        )
    if len(names) > MAX_COLUMNS:
        raise Refused(
            f"{file}: the header has {len(names):,} columns and at most {MAX_COLUMNS:,} are read. "
            f"Keep only the columns that are needed."
        )


def _blank(row: Sequence[str]) -> bool:
    """Whether a record is an empty line, or one of white space alone."""
    return not row or (len(row) == 1 and not row[0].strip())


def _header(records: Reader) -> list[str]:
    for row in records:
        if not _blank(row):
            return row
    return []


def _slices(
    data: bytes, file: str, layout: Layout, names: Sequence[str], wanted: Wanted
) -> Iterator[Slice]:
    """The records in slices; a record with too few or too many cells is broken."""
    _check_header(names, file)
    records, buffer = layout.records(data)
    batch = Batch[list[str]]()
    end = 0
    try:
        _header(records)
        end = records.line_num
        for row in records:
            begin, end = end + 1, records.line_num
            if len(row) == len(names):
                batch.add(row, begin)
            elif not _blank(row):
                batch.broken.append(_wrong_width(len(batch.lines), row, names))
                batch.add([""] * len(names), begin)
            if len(batch.lines) == SLICE:
                yield _slice(batch, _taken(names, wanted), buffer.tell() / len(data))
                batch = Batch[list[str]]()
    except csv.Error as error:
        raise Refused(_wrong_quote(file, end + 1, error)) from None
    if batch.lines:
        yield _slice(batch, _taken(names, wanted), 1.0)


def _taken(names: Sequence[str], wanted: Wanted) -> list[tuple[int, str]]:
    """The columns to read, asked for each slice anew: some are given up on the way."""
    return [(position, name) for position, name in enumerate(names) if wanted(name)]


def _slice(batch: Batch[list[str]], taken: Sequence[tuple[int, str]], share: float) -> Slice:
    columns = {name: pl.Series(name, [row[at] for row in batch.records]) for at, name in taken}
    lines = pl.Series(batch.lines, dtype=pl.Int64)
    return Slice(len(batch.lines), columns, lines, share, batch.broken)


def _wrong_width(at: int, row: Sequence[str], names: Sequence[str]) -> Broken:
    short = len(row) < len(names)
    return Broken(
        at,
        kind="wrong number of cells",
        column=names[len(row)] if short else "",
        expected=f"{len(names)} cells, as in the header",
        found=f"{len(row)} cells" if short else shorten(f"{len(row)} cells, the last {row[-1]!r}"),
        fix="Complete the record, or put a text that holds the delimiter in double quotes.",
    )


def _wrong_quote(file: str, line: int, error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return (
            f"{file}: a double quote in the record that begins on line {line:,} never closes, so the file "
            f"ends inside a cell. Close the quote, or save the file again: it may be half written."
        )
    return (
        f"{file}: the record that begins on line {line:,} cannot be read as cells ({error}). "
        f"Write a double quote inside a quoted cell twice."
    )

"""How does delimited text become records, each with its line, and none of them bent into shape?"""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

import polars as pl

from calib_core.files.content import Content, as_content
from calib_core.files.tables import csv_fast
from calib_core.files.tables.ahead import map_ahead
from calib_core.files.tables.raw import MAX_COLUMNS, ROWS_PER_SLICE, Batch, BrokenRecord, RawTable, Slice, ColumnFilter, no_column
from calib_core.problems import Refused, shorten

if TYPE_CHECKING:
    from _csv import Reader

MAX_CELL_CHARACTERS: Final = 64 * 2**20
"""Characters in one cell; more is taken for a quote that never closes."""

MAX_HEADER_BYTES: Final = 2**20
"""Bytes in which the header's line has to end for the fast parser to be asked."""

csv.field_size_limit(MAX_CELL_CHARACTERS)


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """What stands between two cells."""

    title: str
    delimiter: str

    def records(
        self, content: Content, start: int = 0, *, mid_file: bool = False
    ) -> tuple[Reader, io.BytesIO | io.BufferedReader]:
        """A reader of UTF-8 text's records, and the stream it reads from (whose position is progress).

        begun: whether the file begins before, so that no byte order mark stands here.
        """
        stream = content.stream(start)
        encoding = "utf-8" if mid_file else "utf-8-sig"
        lines = _checked_lines(io.TextIOWrapper(stream, encoding=encoding, newline=""), content.file)
        if self is WHITE_SPACE:
            lines = (" ".join(line.split()) + "\n" for line in lines)
        return csv.reader(lines, delimiter=self.delimiter, strict=True), stream


COMMAS: Final = CsvDialect("commas", ",")
WHITE_SPACE: Final = CsvDialect("white space", " ")
DIALECTS: Final = (
    COMMAS,
    CsvDialect("tabs", "\t"),
    CsvDialect("semicolons", ";"),
    CsvDialect("vertical bars", "|"),
    WHITE_SPACE,
)


def _checked_lines(text: io.TextIOWrapper, file: str) -> Iterator[str]:
    """The lines of a text. Raises Refused where one is longer than any cell may be."""
    while line := text.readline(MAX_CELL_CHARACTERS + 1):
        if len(line) > MAX_CELL_CHARACTERS:
            raise Refused(
                f"{file}: a line of it has more than {MAX_CELL_CHARACTERS:,} characters, which no record has. It may be "
                f"damaged: write it again, one record a line."
            )
        yield line


def header_of(data: bytes | Content, dialect: CsvDialect) -> tuple[str, ...]:
    """The names in the first record that is not blank; () where there is none or it is no record."""
    try:
        return tuple(cell.strip() for cell in _read_header(dialect.records(as_content(data))[0]))
    except csv.Error:
        return ()


def first_csv_values(
    data: bytes | Content, dialect: CsvDialect, columns: Sequence[str], n_rows: int
) -> list[pl.Series]:
    """The cells of these columns in the first records, as far as these are complete."""
    header = header_of(data, dialect)
    records, _ = dialect.records(as_content(data))
    cells: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        _read_header(records)
        cells += [row for row in islice(records, n_rows) if len(row) == len(header)]
    places = [header.index(name) if name in header else None for name in columns]
    return [
        pl.Series([None if at is None else row[at] for row in cells], dtype=pl.String) for at in places
    ]


def open_csv(
    data: bytes | Content, file: str, dialect: CsvDialect, is_used: ColumnFilter, *, is_numeric: ColumnFilter = no_column
) -> RawTable:
    """The records of delimited text (already known to be UTF-8) below its header.

    numeric: columns of which only the number counts, not how it is written. While the slices are read it
    raises Refused where a column is named twice, there are too many columns, or a quote is wrong.
    """
    header = header_of(data, dialect)
    names = tuple(name or f"(column {position})" for position, name in enumerate(header, 1))
    return RawTable(names, _CsvRecords(as_content(data, file), file, dialect, names, is_used).slices(is_numeric))


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


def _is_blank_record(row: Sequence[str]) -> bool:
    """Whether a record is an empty line, or one of white space alone."""
    return not row or (len(row) == 1 and not row[0].strip())


def _read_header(records: Reader) -> list[str]:
    for row in records:
        if not _is_blank_record(row):
            return row
    return []


@dataclass(frozen=True, slots=True, eq=False)
class _CsvRecords:
    """The records of a text below its header, on their way to slices."""

    content: Content
    file: str
    dialect: CsvDialect
    names: tuple[str, ...]
    is_used: ColumnFilter

    def slices(self, is_numeric: ColumnFilter) -> Iterator[Slice]:
        """What a fast parser may be trusted with, block by block, by it; every other block with care."""
        _check_header(self.names, self.file)
        start = b"" if self.dialect is WHITE_SPACE else self.content.read(0, MAX_HEADER_BYTES)
        at, above = csv_fast.first_record_offset(start), 1
        if not at:
            yield from self._parse_carefully(self.content)
            return
        read = partial(csv_fast.parse_block, delimiter=self.dialect.delimiter, names=self.names, is_numeric=is_numeric)
        for block, found in map_ahead(csv_fast.record_blocks(self.content, at), read):
            if found is None:
                yield from self._parse_carefully(self.content, at, above)
                return
            at += len(block)
            lines = range(above, above := above + found.lines)
            yield from self._slices_of_block(block, found.frame, lines, at / len(self.content))

    def _slices_of_block(
        self, block: bytes, frame: pl.DataFrame | None, lines: range, share: float
    ) -> Iterator[Slice]:
        """A well quoted block of these lines, from 0 on, as it was read; with care where it was not."""
        if frame is None:
            yield from self._parse_carefully(Content(block, self.file), 0, lines.start, share)
            return

        def reread() -> Iterator[Slice]:
            texts = csv_fast.parse_csv_frame(block, self.dialect.delimiter, dict.fromkeys(self.names, pl.String()))
            return self._slices_of_block(block, texts, lines, share)

        columns = {name: frame[name] for name in self.names if self.is_used(name)}
        begins = csv_fast.record_line_numbers(frame, lines.start, len(lines))
        texts = set(frame.dtypes) == {pl.String()}
        yield Slice(frame.height, columns, begins, share, reread=None if texts else reread)

    def _parse_carefully(
        self, content: Content, start: int = 0, n_lines_above: int = 0, share: float | None = None
    ) -> Iterator[Slice]:
        """The records of a content from a byte on, below so many lines, each by itself.

        A header is passed over where there are no lines above. A record with too few or too many cells is
        broken.
        """
        records, stream = self.dialect.records(content, start, mid_file=n_lines_above > 0)
        batch = Batch[list[str]]()
        end = 0
        try:
            if not n_lines_above:
                _read_header(records)
                end = records.line_num
            for row in records:
                begin, end = end + 1, records.line_num
                if len(row) == len(self.names):
                    batch.add(row, n_lines_above + begin)
                elif not _is_blank_record(row):
                    batch.broken.append(_wrong_cell_count(len(batch.lines), row, self.names))
                    batch.add([""] * len(self.names), n_lines_above + begin)
                if len(batch.lines) == ROWS_PER_SLICE:
                    read = (start + stream.tell()) / len(content) if share is None else share
                    yield _slice_of_batch(batch, _used_columns(self.names, self.is_used), read)
                    batch = Batch[list[str]]()
        except csv.Error as error:
            raise Refused(_quote_error_message(self.file, n_lines_above + end + 1, error)) from None
        if batch.lines:
            yield _slice_of_batch(batch, _used_columns(self.names, self.is_used), 1.0 if share is None else share)


def _used_columns(names: Sequence[str], is_used: ColumnFilter) -> list[tuple[int, str]]:
    """The columns to read, asked for each slice anew: some are given up on the way."""
    return [(position, name) for position, name in enumerate(names) if is_used(name)]


def _slice_of_batch(batch: Batch[list[str]], used: Sequence[tuple[int, str]], share: float) -> Slice:
    columns = {name: pl.Series(name, [row[at] for row in batch.records]) for at, name in used}
    lines = pl.Series(batch.lines, dtype=pl.Int64)
    return Slice(len(batch.lines), columns, lines, share, batch.broken)


def _wrong_cell_count(position: int, row: Sequence[str], names: Sequence[str]) -> BrokenRecord:
    short = len(row) < len(names)
    return BrokenRecord(
        position,
        kind="wrong number of cells",
        column=names[len(row)] if short else "",
        expected=f"{len(names)} cells, as in the header",
        found=f"{len(row)} cells" if short else shorten(f"{len(row)} cells, the last {row[-1]!r}"),
        fix="Complete the record, or put a text that holds the delimiter in double quotes.",
    )


def _quote_error_message(file: str, line: int, error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return (
            f"{file}: a double quote in the record that begins on line {line:,} never closes, so the file "
            f"ends inside a cell. Close the quote, or save the file again: it may be half written."
        )
    return (
        f"{file}: the record that begins on line {line:,} cannot be read as cells ({error}). "
        f"Write a double quote inside a quoted cell twice."
    )

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

from calib_core.files.content import Content, held
from calib_core.files.tables import csv_fast
from calib_core.files.tables.ahead import ahead
from calib_core.files.tables.raw import MAX_COLUMNS, SLICE, Batch, Broken, RawTable, Slice, Wanted, no_column
from calib_core.problems import Refused, shorten

if TYPE_CHECKING:
    from _csv import Reader

MAX_CELL: Final = 64 * 2**20
"""Characters in one cell; more is taken for a quote that never closes."""

HEADER: Final = 2**20
"""Bytes in which the header's line has to end for the fast parser to be asked."""

csv.field_size_limit(MAX_CELL)


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands between two cells."""

    title: str
    delimiter: str

    def records(
        self, content: Content, start: int = 0, *, begun: bool = False
    ) -> tuple[Reader, io.BytesIO | io.BufferedReader]:
        """A reader of UTF-8 text's records, and the stream it reads from (whose position is progress).

        begun: whether the file begins before, so that no byte order mark stands here.
        """
        stream = content.stream(start)
        encoding = "utf-8" if begun else "utf-8-sig"
        lines = _lines(io.TextIOWrapper(stream, encoding=encoding, newline=""), content.file)
        if self is WHITE_SPACE:
            lines = (" ".join(line.split()) + "\n" for line in lines)
        return csv.reader(lines, delimiter=self.delimiter, strict=True), stream


COMMAS: Final = Layout("commas", ",")
WHITE_SPACE: Final = Layout("white space", " ")
LAYOUTS: Final = (
    COMMAS,
    Layout("tabs", "\t"),
    Layout("semicolons", ";"),
    Layout("vertical bars", "|"),
    WHITE_SPACE,
)


def _lines(text: io.TextIOWrapper, file: str) -> Iterator[str]:
    """The lines of a text. Raises Refused where one is longer than any cell may be."""
    while line := text.readline(MAX_CELL + 1):
        if len(line) > MAX_CELL:
            raise Refused(
                f"{file}: a line of it has more than {MAX_CELL:,} characters, which no record has. It may be "
                f"damaged: write it again, one record a line."
            )
        yield line


def header_of(data: bytes | Content, layout: Layout) -> tuple[str, ...]:
    """The names in the first record that is not blank; () where there is none or it is no record."""
    try:
        return tuple(cell.strip() for cell in _header(layout.records(held(data))[0]))
    except csv.Error:
        return ()


def first_of_csv(
    data: bytes | Content, layout: Layout, columns: Sequence[str], rows: int
) -> list[pl.Series]:
    """The cells of these columns in the first records, as far as these are complete."""
    header = header_of(data, layout)
    records, _ = layout.records(held(data))
    cells: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        _header(records)
        cells += [row for row in islice(records, rows) if len(row) == len(header)]
    places = [header.index(name) if name in header else None for name in columns]
    return [
        pl.Series([None if at is None else row[at] for row in cells], dtype=pl.String) for at in places
    ]


def open_csv(
    data: bytes | Content, file: str, layout: Layout, wanted: Wanted, *, numeric: Wanted = no_column
) -> RawTable:
    """The records of delimited text (already known to be UTF-8) below its header.

    numeric: columns of which only the number counts, not how it is written. While the slices are read it
    raises Refused where a column is named twice, there are too many columns, or a quote is wrong.
    """
    header = header_of(data, layout)
    names = tuple(name or f"(column {position})" for position, name in enumerate(header, 1))
    return RawTable(names, _Records(held(data, file), file, layout, names, wanted).slices(numeric))


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


@dataclass(frozen=True, slots=True, eq=False)
class _Records:
    """The records of a text below its header, on their way to slices."""

    content: Content
    file: str
    layout: Layout
    names: tuple[str, ...]
    wanted: Wanted

    def slices(self, numeric: Wanted) -> Iterator[Slice]:
        """What a fast parser may be trusted with, block by block, by it; every other block with care."""
        _check_header(self.names, self.file)
        start = b"" if self.layout is WHITE_SPACE else self.content.read(0, HEADER)
        at, above = csv_fast.below_header(start), 1
        if not at:
            yield from self._careful(self.content)
            return
        read = partial(csv_fast.read, delimiter=self.layout.delimiter, names=self.names, numeric=numeric)
        for block, found in ahead(csv_fast.blocks(self.content, at), read):
            if found is None:
                yield from self._careful(self.content, at, above)
                return
            at += len(block)
            lines = range(above, above := above + found.lines)
            yield from self._of_block(block, found.frame, lines, at / len(self.content))

    def _of_block(
        self, block: bytes, frame: pl.DataFrame | None, lines: range, share: float
    ) -> Iterator[Slice]:
        """A well quoted block of these lines, from 0 on, as it was read; with care where it was not."""
        if frame is None:
            yield from self._careful(Content(block, self.file), 0, lines.start, share)
            return

        def again() -> Iterator[Slice]:
            texts = csv_fast.frame_of(block, self.layout.delimiter, dict.fromkeys(self.names, pl.String()))
            return self._of_block(block, texts, lines, share)

        columns = {name: frame[name] for name in self.names if self.wanted(name)}
        begins = csv_fast.lines_of(frame, lines.start, len(lines))
        texts = set(frame.dtypes) == {pl.String()}
        yield Slice(frame.height, columns, begins, share, again=None if texts else again)

    def _careful(
        self, content: Content, start: int = 0, above: int = 0, share: float | None = None
    ) -> Iterator[Slice]:
        """The records of a content from a byte on, below so many lines, each by itself.

        A header is passed over where there are no lines above. A record with too few or too many cells is
        broken.
        """
        records, stream = self.layout.records(content, start, begun=above > 0)
        batch = Batch[list[str]]()
        end = 0
        try:
            if not above:
                _header(records)
                end = records.line_num
            for row in records:
                begin, end = end + 1, records.line_num
                if len(row) == len(self.names):
                    batch.add(row, above + begin)
                elif not _blank(row):
                    batch.broken.append(_wrong_width(len(batch.lines), row, self.names))
                    batch.add([""] * len(self.names), above + begin)
                if len(batch.lines) == SLICE:
                    read = (start + stream.tell()) / len(content) if share is None else share
                    yield _slice(batch, _taken(self.names, self.wanted), read)
                    batch = Batch[list[str]]()
        except csv.Error as error:
            raise Refused(_wrong_quote(self.file, above + end + 1, error)) from None
        if batch.lines:
            yield _slice(batch, _taken(self.names, self.wanted), 1.0 if share is None else share)


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

"""Which text would a spreadsheet run as a formula, and how is it written and read so that none does?

Such a text gets an apostrophe in front; so does one that begins with apostrophes before such a mark, which
makes the step reversible: taking one apostrophe off gives back the text.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Refused, shorten
from calib_core.readers.content import Content, as_content
from calib_core.readers.table.cells import PLAIN_NUMBER
from calib_core.readers.table.raw import (
    MAX_COLUMNS,
    ROWS_PER_SLICE,
    Batch,
    BrokenRecord,
    ColumnFilter,
    RawTable,
    Slice,
    map_ahead,
    no_column,
)
from calib_core.wording import plural

# MERGED csv_fast: May this delimited text be left to a fast parser, which forgives short records and odd quotes?
#
# It is given blocks of whole records whose quotes stand only where they may, and what it makes of a block is
# held against the block's own bytes: as many line ends and delimiters as so many whole records have.

_QUOTE: Final = ord('"')
_RETURN: Final = ord("\r")
_NEWLINE: Final = ord("\n")

_SAMPLED_RECORDS: Final = 16
"""Records in which a number is looked for to tell a column of numbers."""

MAX_RECORD_BYTES: Final = 2**27
"""Bytes without the end of a record after which no further end is looked for."""

_COUNT_CHUNK_BYTES: Final = 2**18
"""Bytes counted at a time."""

_POLARS_ERRORS: Final = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def first_record_offset(first_bytes: bytes) -> int:
    """Where the first record begins in the beginning of a text, if its header is one plain line; else 0."""
    line = first_bytes[: first_bytes.find(b"\n") + 1]
    odd = b'"' in line or b"\r" in line[:-2] or not line.strip()
    return 0 if odd else len(line)


def record_blocks(content: Content, start: int) -> Iterator[bytes]:
    """The bytes from `start` on in blocks of whole records, as far as quotes stand where they may.

    The last block is what is left where no record ends any more.
    """
    kept: list[bytes] = []
    inside = False
    for piece in content.chunks(start):
        cut = _last_record_end(piece, starts_quoted=inside)
        if cut:
            yield b"".join((*kept, memoryview(piece)[:cut]))
            kept, inside = [], False
        kept.append(piece[cut:])
        inside ^= bool(kept[-1].count(b'"') % 2)
        if sum(map(len, kept)) > MAX_RECORD_BYTES:
            break
    if rest := b"".join(kept):
        yield rest


def _last_record_end(piece: bytes, *, starts_quoted: bool) -> int:
    """Where the last record ends, 0 where none does; inside: whether the piece begins within quotes."""
    cut = piece.rfind(b"\n") + 1
    if (starts_quoted + piece.count(b'"', 0, cut)) % 2 == 0:
        return cut
    cells = np.frombuffer(piece, np.uint8)
    ends = np.flatnonzero(cells == _NEWLINE)
    outside = (np.searchsorted(np.flatnonzero(cells == _QUOTE), ends) + starts_quoted) % 2 == 0
    return int(ends[outside][-1]) + 1 if outside.any() else 0


def is_well_quoted(block: bytes, delimiter: str) -> bool:
    """Whether every quote opens a cell, closes one, or is one of two that stand for one within a cell."""
    if b'"' not in block:
        return True
    cells = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(cells == _QUOTE)
    if quotes.size % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    doubled = np.zeros(opening.size + 1, np.bool_)
    doubled[1:-1] = opening[1:] == closing[:-1] + 1
    before, after, later = (_bytes_at(cells, place) for place in (opening - 1, closing + 1, closing + 2))
    opens = doubled[:-1] | (before == _NEWLINE) | (before == ord(delimiter))
    ends = (after == _NEWLINE) | ((after == _RETURN) & (later == _NEWLINE))
    return bool(opens.all() and (doubled[1:] | ends | (after == ord(delimiter))).all())


def _bytes_at(cells: NDArray[np.uint8], offsets: NDArray[np.intp]) -> NDArray[np.uint8]:
    """The bytes at these places; outside a block stands the end of a line."""
    found = cells.take(offsets, mode="clip")
    found[(offsets < 0) | (offsets >= cells.size)] = _NEWLINE
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ParsedBlock:
    """What a block holds: its records, None where they are to be read with care, and how many lines."""

    frame: pl.DataFrame | None
    lines: int


def parse_block(
    block: bytes, *, delimiter: str, names: Sequence[str], is_numeric: ColumnFilter
) -> ParsedBlock | None:
    """A block of whole records, numbers as such if they all are, else as text; None where a quote is odd.

    numeric: as in `kinds`.
    """
    if not is_well_quoted(block, delimiter):
        return None
    texts = dict.fromkeys(names, pl.String())
    likely = guess_dtypes(block, delimiter, names, is_numeric)
    frame = parse_csv_frame(block, delimiter, likely)
    if frame is None and likely != texts:
        frame = parse_csv_frame(block, delimiter, texts)
    return ParsedBlock(frame, count_csv_lines(block))


def guess_dtypes(
    block: bytes, delimiter: str, names: Sequence[str], is_numeric: ColumnFilter
) -> dict[str, pl.DataType]:
    """Column → dtype to be parsed as: that of numbers or flags where the first values are such, else text.

    numeric: columns of which only the number counts, not how it is written.
    """
    lines = block[: 2**16].decode("utf-8", "ignore").splitlines(keepends=True)
    records = list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLED_RECORDS))
    found: dict[str, pl.DataType] = {}
    for at, name in enumerate(names):
        cells = [row[at].strip() for row in records if len(row) == len(names)] if is_numeric(name) else []
        first = next((cell for cell in cells if cell), "")
        number, flag = re.search(PLAIN_NUMBER, first), first.lower() in ("true", "false")
        found[name] = pl.Float64() if number else pl.Boolean() if flag else pl.String()
    return found


def parse_csv_frame(block: bytes, delimiter: str, schema: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
    """The records of a well quoted block; None where it may not be, or cannot be, read so.

    schema: column → text, number or flag; a number or a flag that is not there is null, a text empty.
    """
    if len(schema) < 2 or (b"\r" in block and block.count(b"\r") != block.count(b"\r\n")):
        return None
    quoted = b'"' in block
    try:
        frame = pl.read_csv(
            block,
            has_header=False,
            schema=dict(schema),
            separator=delimiter,
            quote_char='"' if quoted else None,
            empty_string_is_null=False,
            extra_columns="raise",
        )
    except _POLARS_ERRORS:
        return None
    if not _all_finite(frame) or not _matches_bytes(
        frame, np.frombuffer(block, np.uint8), delimiter, quoted=quoted
    ):
        return None
    return frame


def _all_finite(frame: pl.DataFrame) -> bool:
    """Whether no number is infinite, or none: as text such are none of ours."""
    numbers = frame.select(pl.selectors.float())
    return all(bool(values.is_finite().all()) for values in numbers)


def _matches_bytes(frame: pl.DataFrame, cells: NDArray[np.uint8], delimiter: str, *, quoted: bool) -> bool:
    """Whether the block has the delimiters and line ends of so many whole records, and no others."""
    delimiters = count_byte(cells, ord(delimiter))
    ends = count_byte(cells, _NEWLINE) + int(cells[-1] != _NEWLINE)
    if quoted:
        quotes = np.flatnonzero(cells == _QUOTE)
        delimiters -= _count_quoted(cells, ord(delimiter), quotes)
        ends -= _count_quoted(cells, _NEWLINE, quotes)
    return delimiters == frame.height * (frame.width - 1) and ends == frame.height


def _count_quoted(cells: NDArray[np.uint8], byte: int, quotes: NDArray[np.intp]) -> int:
    """How often a byte stands between quotes, of which each second one closes."""
    before = np.searchsorted(np.flatnonzero(cells == byte), quotes)
    return int((before[1::2] - before[::2]).sum())


def count_byte(cells: NDArray[np.uint8], byte: int) -> int:
    """How often a byte stands in a block: a part at a time, which stays in the core's own cache."""
    parts = (cells[low : low + _COUNT_CHUNK_BYTES] for low in range(0, cells.size, _COUNT_CHUNK_BYTES))
    return sum(int(np.count_nonzero(part == byte)) for part in parts)


def record_line_numbers(frame: pl.DataFrame, n_lines_above: int, n_lines: int) -> pl.Series:
    """The line on which each record begins, of a block of so many lines below so many."""
    first = pl.int_range(n_lines_above + 1, n_lines_above + 1 + frame.height, dtype=pl.Int64, eager=True)
    if n_lines == frame.height:
        return first
    within = _line_ends_in_cells(frame)
    return first + within.cum_sum() - within


def count_csv_lines(block: bytes) -> int:
    """How many lines a block has: every line end counts, a lone carriage return too."""
    ends = count_byte(np.frombuffer(block, np.uint8), _NEWLINE) + (not block.endswith(b"\n"))
    return ends + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def _line_ends_in_cells(frame: pl.DataFrame) -> pl.Series:
    """How many line ends stand in the cells of each record."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    within = [pl.col(name).str.count_matches("\n", literal=True).cast(pl.Int64) for name in texts]
    none = pl.repeat(0, frame.height, dtype=pl.Int64)
    return frame.select(ends=pl.sum_horizontal(none, *within))["ends"]


# MERGED csv_text: How does delimited text become records, each with its line, and none of them bent into shape?

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
    return [pl.Series([None if at is None else row[at] for row in cells], dtype=pl.String) for at in places]


def open_csv(
    data: bytes | Content,
    file: str,
    dialect: CsvDialect,
    is_used: ColumnFilter,
    *,
    is_numeric: ColumnFilter = no_column,
) -> RawTable:
    """The records of delimited text (already known to be UTF-8) below its header.

    numeric: columns of which only the number counts, not how it is written. While the slices are read it
    raises Refused where a column is named twice, there are too many columns, or a quote is wrong.
    """
    header = header_of(data, dialect)
    names = tuple(name or f"(column {position})" for position, name in enumerate(header, 1))
    return RawTable(
        names, _CsvRecords(as_content(data, file), file, dialect, names, is_used).slices(is_numeric)
    )


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
        at, above = first_record_offset(start), 1
        if not at:
            yield from self._parse_carefully(self.content)
            return
        read = partial(parse_block, delimiter=self.dialect.delimiter, names=self.names, is_numeric=is_numeric)
        for block, found in map_ahead(record_blocks(self.content, at), read):
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
            texts = parse_csv_frame(block, self.dialect.delimiter, dict.fromkeys(self.names, pl.String()))
            return self._slices_of_block(block, texts, lines, share)

        columns = {name: frame[name] for name in self.names if self.is_used(name)}
        begins = record_line_numbers(frame, lines.start, len(lines))
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
            yield _slice_of_batch(
                batch, _used_columns(self.names, self.is_used), 1.0 if share is None else share
            )


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


_FORMULA_START: Final = r"'*[=+\-@\t\r＝＋－＠]"
"""How a text begins that a spreadsheet may take for a formula."""


def escape_formulas(texts: pl.Expr) -> pl.Expr:
    """The texts as they are written."""
    return pl.when(texts.str.contains(f"^{_FORMULA_START}")).then(pl.lit("'") + texts).otherwise(texts)


def unescape_formulas(texts: pl.Series) -> pl.Series:
    """The texts that were written so."""
    if texts.dtype != pl.String or not texts.str.starts_with("'").any():
        return texts
    return texts.str.replace(f"^'({_FORMULA_START})", "$1")


def unescape_ids(
    slices: Iterator[Slice], is_id: ColumnFilter, unescaped_counts: Counter[str]
) -> Iterator[Slice]:
    """The records of a CSV file, which may have been written for a spreadsheet, with their ids as they were.

    is_id: which column of the file holds them; taken: counts the apostrophes taken off in each column.
    """
    for part in slices:
        ids = {name: unescape_formulas(values) for name, values in part.columns.items() if is_id(name)}
        here = Counter({name: _count_different(part.columns[name], values) for name, values in ids.items()})
        unescaped_counts.update(here)
        again = (
            None
            if part.reread is None
            else partial(_reread_unescaped, part.reread, is_id, unescaped_counts, here)
        )
        yield replace(part, columns={**part.columns, **ids}, reread=again)


def unescaped_id_notes(unescaped_counts: Counter[str]) -> tuple[str, ...]:
    """A sentence on each column of which apostrophes were taken off."""
    return tuple(
        f"In {plural(count, 'row')} {name} begins with an apostrophe before a sign that "
        f"begins a formula, as tables for spreadsheets are written: it is read without the apostrophe."
        for name, count in unescaped_counts.items()
        if count
    )


def _count_different(first: pl.Series, second: pl.Series) -> int:
    return 0 if first is second else int((first != second).sum())


def _reread_unescaped(
    read: Callable[[], Iterator[Slice]],
    is_id: ColumnFilter,
    unescaped_counts: Counter[str],
    counts_before: Counter[str],
) -> Iterator[Slice]:
    """The same records, read with more care: what was counted of them is counted anew."""
    unescaped_counts.subtract(counts_before)
    return unescape_ids(read(), is_id, unescaped_counts)

"""Reads delimited text: finds records, parses them, and undoes the escaping of formulas.

Blocks of well-quoted records go to the fast parser of polars. That parser forgives short records and stray
quotes, so its result is checked against the block: the block must have exactly the line ends and delimiters
of that many complete records. Every other block goes to the strict parser of the `csv` module, which gives
each record its line and never completes or merges records.
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

from calib_core.errors import Refused, shorten
from calib_core.readers.content import Content, as_content
from calib_core.readers.table.cells import PLAIN_NUMBER
from calib_core.readers.table.raw import (
    ROWS_PER_SLICE,
    Batch,
    BrokenRecord,
    ColumnFilter,
    RawTable,
    Slice,
    check_column_count,
    map_ahead,
    no_column,
)
from calib_core.wording import plural

if TYPE_CHECKING:
    from _csv import Reader

MAX_CELL_CHARACTERS: Final = 64 * 2**20
"""Limit on the characters of a cell; a longer one means a quote that never closes."""

MAX_HEADER_BYTES: Final = 2**20
"""The header's line must end within this many bytes for the fast parser to be used."""

csv.field_size_limit(MAX_CELL_CHARACTERS)

_QUOTE: Final = ord('"')
_NEWLINE: Final = ord("\n")

_SAMPLED_RECORDS: Final = 16
"""Records of a block that are looked at to guess the dtype of a column."""

MAX_RECORD_BYTES: Final = 2**27
"""Bytes without the end of a record after which the search for one stops."""

_COUNT_CHUNK_BYTES: Final = 2**18
"""Bytes counted at a time; a chunk stays in the processor's cache."""

_POLARS_ERRORS: Final = (pl.exceptions.PolarsError, pl.exceptions.PanicException)

_FORMULA_START: Final = r"'*[=+\-@\t\r＝＋－＠]"
"""How a text begins that a spreadsheet may take for a formula."""

# --- The fast parser --------------------------------------------------------------------------------------


def first_record_offset(first_bytes: bytes) -> int:
    """Return the offset of the first record, given the beginning of a text; 0 unless the header is simple.

    A simple header is one line without quotes or lone carriage returns.
    """
    line = first_bytes[: first_bytes.find(b"\n") + 1]
    is_simple = b'"' not in line and b"\r" not in line[:-2] and line.strip()
    return len(line) if is_simple else 0


def record_blocks(content: Content, start: int) -> Iterator[bytes]:
    """Yield the bytes from `start` on in blocks of whole records, assuming that they are well quoted.

    The last block is the remainder after the last end of a record, or the part read when the search for an
    end was given up.
    """
    pending: list[bytes] = []
    is_quoted = False
    for chunk in content.chunks(start):
        end = _last_record_end(chunk, starts_quoted=is_quoted)
        if end:
            yield b"".join((*pending, memoryview(chunk)[:end]))
            pending, is_quoted = [], False
        pending.append(chunk[end:])
        is_quoted ^= bool(pending[-1].count(b'"') % 2)
        if sum(map(len, pending)) > MAX_RECORD_BYTES:
            break
    if remainder := b"".join(pending):
        yield remainder


def _last_record_end(chunk: bytes, *, starts_quoted: bool) -> int:
    """Return the end offset of the last complete record in a chunk; 0 if none ends in it."""
    end = chunk.rfind(b"\n") + 1
    if (starts_quoted + chunk.count(b'"', 0, end)) % 2 == 0:
        return end
    codes = np.frombuffer(chunk, np.uint8)
    line_ends = np.flatnonzero(codes == _NEWLINE)
    is_unquoted = (np.searchsorted(np.flatnonzero(codes == _QUOTE), line_ends) + starts_quoted) % 2 == 0
    return int(line_ends[is_unquoted][-1]) + 1 if is_unquoted.any() else 0


def without_quoted_cells(block: bytes, delimiter: str) -> bytes:
    """Return a block without its cells in quotes; a quote that is left is misplaced."""
    if b'"' not in block:
        return block
    ends_cell = re.escape(delimiter.encode()) + rb"\n"
    opening, text = rb'"(?<![^%b]")' % ends_cell, rb'[^"]*+(?:""[^"]*+)*+'
    return re.sub(opening + text + rb'"(?=[%b]|\r\n|\Z)' % ends_cell, b"", block)


@dataclass(frozen=True, slots=True, eq=False)
class ParsedBlock:
    """A block as the fast parser read it.

    Attributes
    ----------
    frame
        Its records; None if the strict parser has to read them.
    lines
        Number of lines.
    """

    frame: pl.DataFrame | None
    n_lines: int


def parse_block(
    block: bytes, *, delimiter: str, names: Sequence[str], is_numeric: ColumnFilter
) -> ParsedBlock | None:
    """Parse a block of whole records with the fast parser.

    Parameters
    ----------
    block
        The bytes of the block.
    delimiter
        The character between two cells.
    names
        The columns.
    is_numeric
        Columns that are parsed as numbers or flags if all their values are such, and as text otherwise.

    Returns
    -------
    ParsedBlock or None
        None if a quote is misplaced, so that the block may not end where a record ends.
    """
    bare = without_quoted_cells(block, delimiter)
    if b'"' in bare:
        return None
    all_text = dict.fromkeys(names, pl.String())
    guessed = guess_dtypes(block, delimiter, names, is_numeric)
    frame = parse_csv_frame(block, bare, delimiter, guessed)
    if frame is None and guessed != all_text:
        frame = parse_csv_frame(block, bare, delimiter, all_text)
    return ParsedBlock(frame, count_csv_lines(block))


def guess_dtypes(
    block: bytes, delimiter: str, names: Sequence[str], is_numeric: ColumnFilter
) -> dict[str, pl.DataType]:
    """Map each column to a dtype guessed from its first value: a number, a flag, or else text.

    Columns for which `is_numeric` is False are text.
    """
    lines = block[: 2**16].decode("utf-8", "ignore").splitlines(keepends=True)
    records = list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLED_RECORDS))
    dtypes: dict[str, pl.DataType] = {}
    for index, name in enumerate(names):
        cells = [row[index].strip() for row in records if len(row) == len(names)] if is_numeric(name) else []
        first = next((cell for cell in cells if cell), "")
        if re.search(PLAIN_NUMBER, first):
            dtypes[name] = pl.Float64()
        elif first.lower() in ("true", "false"):
            dtypes[name] = pl.Boolean()
        else:
            dtypes[name] = pl.String()
    return dtypes


def parse_csv_frame(
    block: bytes, bare: bytes, delimiter: str, schema: Mapping[str, pl.DataType]
) -> pl.DataFrame | None:
    """Parse a well-quoted block with polars; None if it cannot do so exactly.

    Parameters
    ----------
    block
        The bytes of the block.
    bare
        The same `without_quoted_cells`.
    delimiter
        The character between two cells.
    schema
        Column → text, number or flag. An empty cell is null in a column of numbers or flags, and an empty
        text otherwise.
    """
    if len(schema) < 2 or (b"\r" in block and block.count(b"\r") != block.count(b"\r\n")):
        return None
    try:
        frame = pl.read_csv(
            block,
            has_header=False,
            schema=dict(schema),
            separator=delimiter,
            quote_char='"' if b'"' in block else None,
            empty_string_is_null=False,
            extra_columns="raise",
        )
    except _POLARS_ERRORS:
        return None
    n_delimiters = frame.height * (frame.width - 1)
    is_complete = count_byte(bare, ord(delimiter)) == n_delimiters and count_csv_lines(bare) == frame.height
    return frame if is_complete and _all_finite(frame) else None


def _all_finite(frame: pl.DataFrame) -> bool:
    """Return whether all numbers are finite: polars parses "nan" and "inf", which are not valid here."""
    numbers = frame.select(pl.selectors.float())
    return all(bool(values.is_finite().all()) for values in numbers)


def count_byte(block: bytes, byte: int) -> int:
    """Count a byte in a block, chunk by chunk."""
    codes = np.frombuffer(block, np.uint8)
    chunks = (codes[start : start + _COUNT_CHUNK_BYTES] for start in range(0, codes.size, _COUNT_CHUNK_BYTES))
    return sum(int(np.count_nonzero(chunk == byte)) for chunk in chunks)


def record_line_numbers(frame: pl.DataFrame, n_lines_above: int, n_lines: int) -> pl.Series:
    """Return the line, from 1, that each record of a block begins on.

    Parameters
    ----------
    frame
        The records of the block.
    n_lines_above
        Lines of the file before the block.
    n_lines
        Lines of the block; more than records if cells contain line ends.
    """
    lines = pl.int_range(n_lines_above + 1, n_lines_above + 1 + frame.height, dtype=pl.Int64, eager=True)
    if n_lines == frame.height:
        return lines
    n_inside = _line_ends_in_cells(frame)
    return lines + n_inside.cum_sum() - n_inside


def count_csv_lines(block: bytes) -> int:
    """Count the lines of a block; a lone carriage return ends a line, too."""
    n_lines = count_byte(block, _NEWLINE) + (not block.endswith(b"\n"))
    return n_lines + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def _line_ends_in_cells(frame: pl.DataFrame) -> pl.Series:
    """Count the line ends inside the cells of each record."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    counts = [pl.col(name).str.count_matches("\n", literal=True).cast(pl.Int64) for name in texts]
    zeros = pl.repeat(0, frame.height, dtype=pl.Int64)
    return frame.select(ends=pl.sum_horizontal(zeros, *counts))["ends"]


# --- Records ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """The delimiter of a text, and its name in messages."""

    title: str
    delimiter: str

    @property
    def may_have_decimal_commas(self) -> bool:
        """Whether a spreadsheet of a language with decimal commas may have written the text."""
        return self.delimiter in {";", "\t"}

    def records(
        self, content: Content, start: int = 0, *, mid_file: bool = False
    ) -> tuple[Reader, io.BytesIO | io.BufferedReader]:
        """Read UTF-8 text with the strict parser.

        Parameters
        ----------
        content
            The text.
        start
            Offset of the first byte to read.
        mid_file
            Whether `content` begins in the middle of a file, so that there is no byte order mark to remove.

        Returns
        -------
        tuple
            An iterator of records, and the stream that it reads from, whose position shows the progress.
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
    """Yield the lines of a text; raises Refused if one is longer than `MAX_CELL_CHARACTERS`."""
    while line := text.readline(MAX_CELL_CHARACTERS + 1):
        if len(line) > MAX_CELL_CHARACTERS:
            raise Refused(
                f"{file}: a line of it has more than {MAX_CELL_CHARACTERS:,} characters. The file may be "
                "damaged: write it again, with one record per line."
            )
        yield line


def header_of(data: bytes | Content, dialect: CsvDialect) -> tuple[str, ...]:
    """Return the names in the first record that is not blank; () if there is none or it is malformed."""
    try:
        return tuple(cell.strip() for cell in _read_header(dialect.records(as_content(data))[0]))
    except csv.Error:
        return ()


def first_csv_values(
    data: bytes | Content, dialect: CsvDialect, columns: Sequence[str], n_rows: int
) -> list[pl.Series]:
    """Return the cells of these columns in the first `n_rows` records, without incomplete records."""
    header = header_of(data, dialect)
    records, _ = dialect.records(as_content(data))
    cells: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        _read_header(records)
        cells += [row for row in islice(records, n_rows) if len(row) == len(header)]
    indices = [header.index(name) if name in header else None for name in columns]
    return [
        pl.Series([None if index is None else row[index] for row in cells], dtype=pl.String)
        for index in indices
    ]


def has_regular_records(data: bytes | Content, dialect: CsvDialect, n_rows: int) -> bool:
    """Return whether there are records, and the first `n_rows` have as many cells as the header."""
    records, _ = dialect.records(as_content(data))
    try:
        width = len(_read_header(records))
        widths = {len(row) for row in islice(records, n_rows) if row}
    except csv.Error:
        return False
    return widths == {width}


def open_csv(
    data: bytes | Content,
    file: str,
    dialect: CsvDialect,
    is_used: ColumnFilter,
    *,
    is_numeric: ColumnFilter = no_column,
) -> RawTable:
    """Open delimited text, which must be UTF-8.

    Parameters
    ----------
    data
        The text.
    file
        What messages call the file.
    dialect
        The delimiter.
    is_used
        The columns to read.
    is_numeric
        Columns in which only the number counts, not its spelling.

    Returns
    -------
    RawTable
        The records below the header. Reading its slices raises Refused if two columns have the same name,
        there are too many columns, or a quote is misplaced.
    """
    header = header_of(data, dialect)
    names = tuple(name or f"(column {position})" for position, name in enumerate(header, 1))
    return RawTable(
        names, _CsvRecords(as_content(data, file), file, dialect, names, is_used).slices(is_numeric)
    )


def _check_header(names: Sequence[str], file: str) -> None:
    repeated = [shorten(name, 40) for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise Refused(
            f"{file}: the header has more than one column named {', '.join(map(repr, repeated[:5]))}, so "
            "it is unclear which one is meant. Rename all but one."
        )
    check_column_count(names, file)


def is_blank_record(row: Sequence[str]) -> bool:
    """Return whether a record is an empty line or all white space."""
    return not row or (len(row) == 1 and not row[0].strip())


def _read_header(records: Reader) -> list[str]:
    for row in records:
        if not is_blank_record(row):
            return row
    return []


@dataclass(frozen=True, slots=True, eq=False)
class _CsvRecords:
    """Turns the records below the header of a text into slices."""

    content: Content
    file: str
    dialect: CsvDialect
    names: tuple[str, ...]
    is_used: ColumnFilter

    def slices(self, is_numeric: ColumnFilter) -> Iterator[Slice]:
        """Yield the records block by block, from the fast parser where possible."""
        _check_header(self.names, self.file)
        start = b"" if self.dialect is WHITE_SPACE else self.content.read(0, MAX_HEADER_BYTES)
        offset, n_lines_above = first_record_offset(start), 1
        if not offset:
            yield from self._parse_carefully(self.content)
            return
        parse = partial(
            parse_block, delimiter=self.dialect.delimiter, names=self.names, is_numeric=is_numeric
        )
        for block, parsed in map_ahead(record_blocks(self.content, offset), parse):
            if parsed is None:
                yield from self._parse_carefully(self.content, offset, n_lines_above)
                return
            offset += len(block)
            lines = range(n_lines_above, n_lines_above := n_lines_above + parsed.n_lines)
            yield from self._slices_of_block(block, parsed.frame, lines, offset / len(self.content))

    def _slices_of_block(
        self, block: bytes, frame: pl.DataFrame | None, lines: range, share: float
    ) -> Iterator[Slice]:
        """Yield a well-quoted block; with the strict parser if the fast one did not read it.

        `lines` are the 0-based numbers of its lines in the file.
        """
        if frame is None:
            yield from self._parse_carefully(Content(block, self.file), 0, lines.start, share)
            return

        def read_strictly() -> Iterator[Slice]:
            bare = without_quoted_cells(block, self.dialect.delimiter)
            all_text = dict.fromkeys(self.names, pl.String())
            texts = parse_csv_frame(block, bare, self.dialect.delimiter, all_text)
            return self._slices_of_block(block, texts, lines, share)

        columns = {name: frame[name] for name in self.names if self.is_used(name)}
        line_numbers = record_line_numbers(frame, lines.start, len(lines))
        is_all_text = set(frame.dtypes) == {pl.String()}
        yield Slice(
            frame.height, columns, line_numbers, share, read_strictly=None if is_all_text else read_strictly
        )

    def _parse_carefully(
        self, content: Content, start: int = 0, n_lines_above: int = 0, share: float | None = None
    ) -> Iterator[Slice]:
        """Yield the records from byte `start` on, read by the strict parser.

        A header is skipped if there are no lines above. A record with too few or too many cells is broken.
        """
        records, stream = self.dialect.records(content, start, mid_file=n_lines_above > 0)
        batch = Batch[list[str]]()
        last_line = 0
        try:
            if not n_lines_above:
                _read_header(records)
                last_line = records.line_num
            for row in records:
                first_line, last_line = last_line + 1, records.line_num
                if len(row) == len(self.names):
                    batch.add(row, n_lines_above + first_line)
                elif not is_blank_record(row):
                    batch.broken.append(_wrong_cell_count(len(batch.lines), row, self.names))
                    batch.add([""] * len(self.names), n_lines_above + first_line)
                if len(batch.lines) == ROWS_PER_SLICE:
                    share_read = (start + stream.tell()) / len(content) if share is None else share
                    yield _slice_of_batch(batch, _used_columns(self.names, self.is_used), share_read)
                    batch = Batch[list[str]]()
        except csv.Error as error:
            raise Refused(_quote_error_message(self.file, n_lines_above + last_line + 1, error)) from None
        if batch.lines:
            yield _slice_of_batch(
                batch, _used_columns(self.names, self.is_used), 1.0 if share is None else share
            )


def _used_columns(names: Sequence[str], is_used: ColumnFilter) -> list[tuple[int, str]]:
    """Return the columns to read; called for each slice, as group columns may be excluded meanwhile."""
    return [(position, name) for position, name in enumerate(names) if is_used(name)]


def _slice_of_batch(batch: Batch[list[str]], used: Sequence[tuple[int, str]], share: float) -> Slice:
    columns = {name: pl.Series(name, [row[index] for row in batch.records]) for index, name in used}
    lines = pl.Series(batch.lines, dtype=pl.Int64)
    return Slice(len(batch.lines), columns, lines, share, batch.broken)


def _wrong_cell_count(position: int, row: Sequence[str], names: Sequence[str]) -> BrokenRecord:
    is_short = len(row) < len(names)
    return BrokenRecord(
        position,
        kind="wrong number of cells",
        column=names[len(row)] if is_short else "",
        expected=f"{len(names)} cells, as in the header",
        found=f"{len(row)} cells" if is_short else shorten(f"{len(row)} cells, the last {row[-1]!r}"),
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


# --- Formulas ---------------------------------------------------------------------------------------------


def escape_formulas(texts: pl.Expr) -> pl.Expr:
    """Escape texts that a spreadsheet would run as a formula with a leading apostrophe.

    A text that already begins with apostrophes before such a character gets one more, so that
    `unescape_formulas` restores every text.
    """
    return pl.when(texts.str.contains(f"^{_FORMULA_START}")).then(pl.lit("'") + texts).otherwise(texts)


def unescape_formulas(texts: pl.Series) -> pl.Series:
    """Undo `escape_formulas`."""
    if texts.dtype != pl.String or not texts.str.starts_with("'").any():
        return texts
    return texts.str.replace(f"^'({_FORMULA_START})", "$1")


def unescape_ids(
    slices: Iterator[Slice], is_id: ColumnFilter, unescaped_counts: Counter[str]
) -> Iterator[Slice]:
    """Undo the escaping of formulas in ids, as a CSV file may have been written for a spreadsheet.

    Parameters
    ----------
    slices
        The records.
    is_id
        Tells the columns of ids.
    unescaped_counts
        Column → number of ids that were changed; updated while the slices are read.
    """
    for part in slices:
        ids = {name: unescape_formulas(values) for name, values in part.columns.items() if is_id(name)}
        counts = Counter({name: _count_different(part.columns[name], values) for name, values in ids.items()})
        unescaped_counts.update(counts)
        read_strictly = None
        if part.read_strictly is not None:
            read_strictly = partial(
                _read_strictly_unescaped, part.read_strictly, is_id, unescaped_counts, counts
            )
        yield replace(part, columns={**part.columns, **ids}, read_strictly=read_strictly)


def unescaped_id_notes(unescaped_counts: Counter[str]) -> tuple[str, ...]:
    """Write a note on each column in which ids were unescaped."""
    return tuple(
        f"In {plural(count, 'row')} {name} begins with an apostrophe before a sign that begins a formula, "
        "as in tables for spreadsheets: it is read without the apostrophe."
        for name, count in unescaped_counts.items()
        if count
    )


def _count_different(first: pl.Series, second: pl.Series) -> int:
    return 0 if first is second else int((first != second).sum())


def _read_strictly_unescaped(
    read: Callable[[], Iterator[Slice]],
    is_id: ColumnFilter,
    unescaped_counts: Counter[str],
    counts_before: Counter[str],
) -> Iterator[Slice]:
    """Read the same records again with the strict parser, and count their unescaped ids again."""
    unescaped_counts.subtract(counts_before)
    return unescape_ids(read(), is_id, unescaped_counts)

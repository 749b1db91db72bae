"""May this delimited text be left to a fast parser, which forgives short records and odd quotes?

It is given blocks of whole records whose quotes stand only where they may, and what it makes of a block is
held against the block's own bytes: as many line ends and delimiters as so many whole records have.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.content import Content
from calib_core.files.tables.numbers import PLAIN_NUMBER
from calib_core.files.tables.raw import ColumnFilter

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


def parse_block(block: bytes, *, delimiter: str, names: Sequence[str], is_numeric: ColumnFilter) -> ParsedBlock | None:
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


def guess_dtypes(block: bytes, delimiter: str, names: Sequence[str], is_numeric: ColumnFilter) -> dict[str, pl.DataType]:
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
    if not _all_finite(frame) or not _matches_bytes(frame, np.frombuffer(block, np.uint8), delimiter, quoted=quoted):
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

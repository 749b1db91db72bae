"""Reads JSON lines, or one JSON list of objects, as records."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.content import Content, as_content
from calib_core.readers.table.printed import parse_printed
from calib_core.readers.table.raw import (
    ROWS_PER_SLICE,
    Batch,
    BrokenRecord,
    ColumnFilter,
    RawTable,
    Slice,
    as_json_text,
    positions_of_no_text,
    series_from_values,
)

BOM: Final = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""

ABSENT: Final = object()
"""Stands for no value, where null is one."""

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")

JsonRecord = dict[str, object]


class RepeatedKeyError(Exception):
    """A JSON object has a key twice; the argument is the key."""


def parse_json(text: str) -> object:
    """Parse a JSON text; bare NaN and Infinity are accepted, and lone surrogates become U+FFFD.

    Raises
    ------
    ValueError
        The text is not JSON.
    RecursionError
        It is nested too deeply.
    RepeatedKeyError
        An object has a key twice.
    """
    text = text.strip()
    value, end = _JSON_DECODER.raw_decode(text)
    if end != len(text):
        raise ValueError(f"something follows the JSON value, at character {end + 1}")
    return replace_surrogates(value) if "\\u" in text and _SURROGATE_ESCAPE.search(text) else value


def _object_without_repeats(pairs: list[tuple[str, object]]) -> JsonRecord:
    record = dict(pairs)
    if len(record) != len(pairs):
        keys = [key for key, _ in pairs]
        raise RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return record


_JSON_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object_without_repeats)
"""Shared: creating one for each line would take as long as parsing the line."""


def replace_surrogates(value: object) -> object:
    """Replace lone surrogates in all texts of a value by U+FFFD, as they cannot be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [replace_surrogates(part) for part in cast("list[object]", value)]
    if isinstance(value, dict):
        return {
            str(replace_surrogates(key)): replace_surrogates(part)
            for key, part in cast("JsonRecord", value).items()
        }
    return value


def value_at(value: object, path: str, default: object = None) -> object:
    """Return what lies at a path in a value parsed from JSON; `default` if nothing does.

    The steps of a path are separated by dots: keys of objects, and positions in lists from 0. A key at a
    list is looked up in each of its elements. A key that contains dots itself comes first. Text that is JSON,
    or an object or list as Python prints it, is looked into as well.

    Examples
    --------
    >>> value_at({"signals": {"stated": 0.9}}, "signals.stated")
    0.9
    >>> value_at({"signals.stated": 0.5, "signals": {"stated": 0.9}}, "signals.stated")
    0.5
    >>> value_at({"results": [{"score": 1}]}, "results.0.score")
    1
    >>> value_at({"results": [{"score": 1}, {"score": 0}]}, "results.score")
    [1, 0]
    """
    if isinstance(value, str):
        value = parse_text(value)
    if isinstance(value, list):
        return _element_at(cast("list[object]", value), path, default)
    if not isinstance(value, dict):
        return default
    record = cast("JsonRecord", value)
    if path in record:
        return record[path]
    for key in path_prefixes(path):
        if key in record:
            found = value_at(record[key], path[len(key) + 1 :], ABSENT)
            if found is not ABSENT:
                return found
    return default


def _element_at(elements: list[object], path: str, default: object) -> object:
    """Return what lies at a path in a list: in the element at a position, or else in each of them."""
    step, _, rest = path.partition(".")
    if is_position(step):
        if int(step) >= len(elements):
            return default
        return value_at(elements[int(step)], rest, default) if rest else elements[int(step)]
    parts = [value_at(element, path, ABSENT) for element in elements]
    is_absent = all(part is ABSENT for part in parts)
    return default if is_absent else [None if part is ABSENT else part for part in parts]


def path_prefixes(path: str) -> Iterator[str]:
    """Yield what may be the first key of a path, the longest first, without the whole path.

    Examples
    --------
    >>> list(path_prefixes("a.b.c"))
    ['a.b', 'a']
    """
    while "." in path:
        path = path.rpartition(".")[0]
        yield path


def is_position(step: str) -> bool:
    """Return whether a step of a path is a position in a list: a whole number of at most nine digits."""
    return step.isascii() and step.isdecimal() and len(step) < 10


def parse_text(text: str) -> object:
    """Parse an object or list written as JSON or as Python prints it; None for any other text."""
    if not text.lstrip().startswith(("{", "[", "(", "array(", "tensor(")):
        return None
    try:
        return parse_json(text)
    except (ValueError, RecursionError, RepeatedKeyError):
        pass
    try:
        return replace_surrogates(parse_printed(text))
    except ValueError:
        return None


def numbered_lines(data: bytes | Content) -> Iterator[tuple[int, bytes, int]]:
    """Yield (line number from 1, stripped line, bytes read so far) for each line that is not blank."""
    content = as_content(data)
    return _numbered_lines_from(content, _offset_after_bom(content), _line_ending(content))


def _numbered_lines_from(
    content: Content, offset: int, line_ending: bytes
) -> Iterator[tuple[int, bytes, int]]:
    number = 0
    for block in content.line_blocks(offset, line_ending):
        for line in io.BytesIO(_with_newlines(block, line_ending)):
            number += 1
            offset += len(line)
            if text := line.strip():
                yield number, text, offset


def _offset_after_bom(content: Content) -> int:
    """Return the offset of the text after a byte order mark."""
    return len(BOM) if content.read(0, len(BOM)) == BOM else 0


def _line_ending(content: Content) -> bytes:
    """Return the line ending: a carriage return if the text has no line feeds."""
    has_returns = False
    for chunk in content.chunks():
        if b"\n" in chunk:
            return b"\n"
        has_returns = has_returns or b"\r" in chunk
    return b"\r" if has_returns else b"\n"


def _with_newlines(block: bytes, line_ending: bytes) -> bytes:
    return block if line_ending == b"\n" else block.replace(line_ending, b"\n")


def open_json_lines(
    data: bytes | Content,
    file: str,
    is_used: ColumnFilter,
    *,
    skip_lines: int = 0,
    paths: Sequence[str] = (),
) -> RawTable:
    """Open JSON lines, one object per line, which must be UTF-8.

    Parameters
    ----------
    data
        The text.
    file
        What messages call the file.
    is_used
        The keys to read.
    skip_lines
        Lines of metadata before the records.
    paths
        Nested fields to read, each as a column.

    Returns
    -------
    RawTable
        The records. Reading its slices raises Refused if an object has a key twice.
    """
    found_keys: dict[str, None] = {}
    lines = _JsonLines(as_content(data, file), file, is_used, found_keys, paths)
    return RawTable(None, lines.slices(skip_lines), found_keys)


def open_json_list(records: Sequence[object], is_used: ColumnFilter, paths: Sequence[str] = ()) -> RawTable:
    """Open a parsed JSON list; an element that is not an object is a broken record.

    `paths` are nested fields to read, each as a column.
    """
    found_keys: dict[str, None] = {}

    def slices() -> Iterator[Slice]:
        for start in range(0, len(records), ROWS_PER_SLICE):
            batch = Batch[Mapping[str, object]]()
            for position, value in enumerate(records[start : start + ROWS_PER_SLICE]):
                if not isinstance(value, dict):
                    batch.broken.append(_not_an_object(position, as_json_text(value) or "null"))
                batch.records.append(cast("JsonRecord", value) if isinstance(value, dict) else {})
            share = (start + len(batch.records)) / len(records)
            yield slice_of_records(batch, is_used, found_keys, share, paths)

    return RawTable(None, slices(), found_keys)


@dataclass(frozen=True, slots=True, eq=False)
class _JsonLines:
    """Turns JSON lines into slices, and collects the keys found so far."""

    content: Content
    file: str
    is_used: ColumnFilter
    found_keys: dict[str, None]
    paths: Sequence[str]

    def slices(self, skip_lines: int) -> Iterator[Slice]:
        """Yield the records below `skip_lines` lines, block by block to hold few long lines at once."""
        offset, n_lines_above = _offset_after_bom(self.content), 0
        for n_lines_above, _, offset in islice(numbered_lines(self.content), skip_lines):  # noqa: B007
            pass
        line_ending = _line_ending(self.content)
        for lines in self.content.line_blocks(offset, line_ending):
            offset += len(lines)
            block = _with_newlines(lines, line_ending)
            yield from self._records(block, n_lines_above, offset / len(self.content))
            n_lines_above += block.count(b"\n")

    def _records(self, block: bytes, n_lines_above: int, share: float) -> Iterator[Slice]:
        """Yield the records of a block; `share` is that of the file up to the end of the block."""
        batch = Batch[Mapping[str, object]]()
        block_share = len(block) / len(self.content)
        for number, line, end in _numbered_lines_from(Content(block, self.file), 0, b"\n"):
            record = _parse_record(line, self.file, n_lines_above + number, len(batch.records))
            if isinstance(record, BrokenRecord):
                batch.broken.append(record)
                record = {}
            batch.records.append(record)
            batch.lines.append(n_lines_above + number)
            if len(batch.records) == ROWS_PER_SLICE:
                so_far = share - block_share * (1 - end / len(block))
                yield slice_of_records(batch, self.is_used, self.found_keys, so_far, self.paths)
                batch = Batch[Mapping[str, object]]()
        if batch.records:
            yield slice_of_records(batch, self.is_used, self.found_keys, share, self.paths)


def _parse_record(line: bytes, file: str, number: int, position: int) -> JsonRecord | BrokenRecord:
    """Parse the object on a line, or say why there is none."""
    text = line.decode()
    try:
        value: Any = parse_json(text)
    except RepeatedKeyError as repeated:
        raise Refused(
            f"{file}, line {number:,}: the object has the key {shorten(str(repeated))!r} more than once, "
            "so it is unclear which value is meant. Keep one."
        ) from None
    except RecursionError:
        raise Refused(
            f"{file}, line {number:,}: the JSON in it is nested too deeply to be read. Remove the line."
        ) from None
    except ValueError:
        return BrokenRecord(
            position,
            kind="not JSON",
            column="",
            expected="one JSON object on the line",
            found=shorten(text),
            fix="Correct the line, or remove it; the file may be half written.",
        )
    return cast("JsonRecord", value) if isinstance(value, dict) else _not_an_object(position, text)


def _not_an_object(position: int, text: str) -> BrokenRecord:
    return BrokenRecord(
        position,
        kind="not an object",
        column="",
        expected="a JSON object with named values",
        found=shorten(text),
        fix='Write the record as {"name": value, …}.',
    )


def slice_of_records(
    batch: Batch[Mapping[str, object]],
    is_used: ColumnFilter,
    found_keys: dict[str, None],
    share: float,
    paths: Sequence[str] = (),
) -> Slice:
    """Make a slice of objects: one column for each key that is used, null where an object lacks the key.

    The nested fields at `paths` become columns, too. All keys, and the paths at which something lies, are
    added to `found_keys`.
    """
    rows = batch.records
    keys: JsonRecord = {}
    for row in rows:
        keys.update(row)
    found_keys.update(dict.fromkeys(keys))
    columns: dict[str, pl.Series] = {}
    nested: dict[str, frozenset[int]] = {}
    no_texts: dict[str, frozenset[int]] = {}
    for key in keys:
        if is_used(key):
            values = [row.get(key) for row in rows]
            columns[key], nested[key] = series_from_values(key, values)
            no_texts[key] = positions_of_no_text(values, columns[key])
    for path in paths:
        if path not in keys:
            values = [value_at(row, path, ABSENT) for row in rows]
            if any(value is not ABSENT for value in values):
                found_keys[path] = None
                values = [None if value is ABSENT else value for value in values]
                columns[path], nested[path] = series_from_values(path, values)
                no_texts[path] = positions_of_no_text(values, columns[path])
    lines = pl.Series(batch.lines, dtype=pl.Int64) if batch.lines else None
    return Slice(len(rows), columns, lines, share, batch.broken, nested, no_texts)

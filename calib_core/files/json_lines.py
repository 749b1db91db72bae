"""How do JSON lines, or one JSON list of objects, become records?"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, cast

import polars as pl

from calib_core.files.raw import SLICE, Batch, Broken, RawTable, Slice, Wanted, as_text, series_of
from calib_core.problems import Refused, shorten

BOM: Final = b"\xef\xbb\xbf"
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")

Record = dict[str, object]


class RepeatedKeyError(Exception):
    """An object holds one key twice; the argument is the key."""


def parse(text: str) -> object:
    """A JSON text, with bare NaN and Infinity; lone surrogates become U+FFFD.

    Raises ValueError (RecursionError where it nests too deep) where it is not JSON, RepeatedKeyError
    where an object holds one key twice.
    """
    text = text.strip()
    value, end = cast("tuple[object, int]", _DECODER.raw_decode(text))
    if end != len(text):
        raise ValueError(f"something follows the JSON value, at character {end + 1}")
    return mended(value) if "\\u" in text and _SURROGATE.search(text) else value


def _object(pairs: list[tuple[str, object]]) -> Record:
    record = dict(pairs)
    if len(record) != len(pairs):
        keys = [key for key, _ in pairs]
        raise RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return record


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object)
"""Made once: a new one for each line would take as long as the line."""


def mended(value: object) -> object:
    """The value, text with every lone surrogate replaced: no writer of UTF-8 takes one."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [mended(part) for part in cast("list[object]", value)]
    if isinstance(value, dict):
        return {str(mended(key)): mended(part) for key, part in cast("Record", value).items()}
    return value


def lines_of(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Line number from 1, line without its end, and bytes read so far, of each line that is not blank."""
    at = len(BOM) if data.startswith(BOM) else 0
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    buffer = io.BytesIO(data)
    buffer.seek(at)
    for number, line in enumerate(buffer, 1):
        at += len(line)
        if line := line.strip():
            yield number, line, at


def open_json_lines(data: bytes, file: str, wanted: Wanted, *, skip: int = 0) -> RawTable:
    """The records of JSON lines (already known to be UTF-8), one object a line, below `skip` lines.

    Raises Refused, while the slices are read, where an object holds one key twice.
    """
    seen: dict[str, None] = {}
    return RawTable(None, _slices(data, file, wanted, seen, skip), seen)


def open_json_list(records: Sequence[object], wanted: Wanted) -> RawTable:
    """The records of a parsed JSON list. An element that is no object is a broken record."""
    seen: dict[str, None] = {}

    def slices() -> Iterator[Slice]:
        for start in range(0, len(records), SLICE):
            batch = Batch[Record]()
            for at, value in enumerate(records[start : start + SLICE]):
                if not isinstance(value, dict):
                    batch.broken.append(_not_an_object(at, as_text(value) or "null"))
                batch.records.append(cast("Record", value) if isinstance(value, dict) else {})
            yield _slice(batch, wanted, seen, (start + len(batch.records)) / len(records))

    return RawTable(None, slices(), seen)


def _slices(data: bytes, file: str, wanted: Wanted, seen: dict[str, None], skip: int) -> Iterator[Slice]:
    batch = Batch[Record]()
    for number, line, end in islice(lines_of(data), skip, None):
        record = _record(line, file, number, len(batch.records))
        if isinstance(record, Broken):
            batch.broken.append(record)
            record = {}
        batch.add(record, number)
        if len(batch.records) == SLICE:
            yield _slice(batch, wanted, seen, end / len(data))
            batch = Batch[Record]()
    if batch.records:
        yield _slice(batch, wanted, seen, 1.0)


def _record(line: bytes, file: str, number: int, at: int) -> Record | Broken:
    """The object on a line, or why it is none."""
    text = line.decode()
    try:
        value = parse(text)
    except RepeatedKeyError as repeated:
        raise Refused(
            f"{file}, line {number:,}: the object has the key {shorten(str(repeated))!r} more than once, "
            f"so which value is meant is not clear. Keep one."
        ) from None
    except (ValueError, RecursionError):
        return Broken(
            at,
            kind="not JSON",
            column="",
            expected="one JSON object on the line",
            found=shorten(text),
            fix="Mend the line, or take it out; the file may be half written.",
        )
    return cast("Record", value) if isinstance(value, dict) else _not_an_object(at, text)


def _not_an_object(at: int, text: str) -> Broken:
    return Broken(
        at,
        kind="not an object",
        column="",
        expected="a JSON object with named values",
        found=shorten(text),
        fix='Write the record as {"name": value, …}.',
    )


def _slice(batch: Batch[Record], wanted: Wanted, seen: dict[str, None], share: float) -> Slice:
    """The wanted keys of these objects as columns; a key that an object lacks is null there."""
    rows = batch.records
    keys: Record = {}
    for row in rows:
        keys.update(row)
    seen.update(dict.fromkeys(keys))
    columns: dict[str, pl.Series] = {}
    nested: dict[str, frozenset[int]] = {}
    for key in keys:
        if wanted(key):
            columns[key], nested[key] = series_of(key, [row.get(key) for row in rows])
    lines = pl.Series(batch.lines, dtype=pl.Int64) if batch.lines else None
    return Slice(len(rows), columns, lines, share, batch.broken, nested)

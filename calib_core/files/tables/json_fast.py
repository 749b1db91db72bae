"""May these JSON lines be left to a fast parser, which is silent about much of what may be wrong?

It drops keys it was not told of and all but one value of a key that comes twice, and makes text of what is
none. So it is given only lines of which a pattern says that none of this is in them: each is one flat object,
its keys are those that are known, in one order, none twice, and each value is of its key's kind or null.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final, cast

import numpy as np
import polars as pl

from calib_core.files.tables.csv_fast import count
from calib_core.files.tables.raw import Wanted, every_column

SAMPLED: Final = 64
"""Lines that are looked at to tell the keys and the kinds of their values."""

MOST_KEYS: Final = 100

_LONGEST_KEY: Final = 200
"""Bytes that are looked through for the first quote of a key."""

_NO_ENDS: Final = frozenset({b"", b" ", b":", b",", b"[", b"{", b"\\"})

_ESCAPE: Final = (
    r'\\(?:["\\/bfnrt]|u[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|u[dD][0-7][0-9a-fA-F]{2}'
    r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_WHOLE: Final = r"-?(?:0|[1-9][0-9]{0,14})"
_EXPONENT: Final = r"[eE][-+]?[0-9]{1,2}"
_FRACTION: Final = rf"{_WHOLE}(?:\.[0-9]{{1,40}}(?:{_EXPONENT})?|{_EXPONENT})"


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a value may be: a pattern of how it is written, and the dtype that holds it unchanged."""

    pattern: str
    dtype: pl.DataType

    @property
    def listed(self) -> _Kind:
        """A list of such values."""
        value = f"(?:{self.pattern}|null)"
        return _Kind(rf"\[(?:{value}(?:, ?{value})*)?\]", pl.List(self.dtype))


_TEXT: Final = _Kind(rf'"[^"\\\x00-\x1f]*(?:{_ESCAPE}[^"\\\x00-\x1f]*)*"', pl.String())
_NUMBER: Final = _Kind(rf"{_WHOLE}(?:\.[0-9]{{1,40}})?(?:{_EXPONENT})?", pl.Float64())
_KINDS: Final = {
    str: _TEXT,
    bool: _Kind("true|false", pl.Boolean()),
    int: _Kind(_WHOLE.replace("14", "17"), pl.Int64()),
    float: _Kind(_FRACTION, pl.Float64()),
}

_FAILED: Final = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def frame_of(block: bytes, numeric: Wanted, wanted: Wanted = every_column) -> pl.DataFrame | None:
    """The objects of a block of lines, a key a column; None where a parser that takes care has to read them.

    numeric: keys whose whole numbers and fractions may be told apart or not, as only the number counts;
    wanted: keys whose values are read at all.
    """
    kinds = _fitting_kinds(block, numeric)
    if kinds is None and (plain := _with_nulls(block, wanted)) is not None:
        block, kinds = plain, _fitting_kinds(plain, numeric)
    if kinds is None:
        return None
    schema = {key: kind.dtype for key, kind in kinds.items() if kind is not None}
    try:
        frame = pl.read_ndjson(block, schema=schema) if schema else pl.DataFrame()
    except _FAILED:
        return None
    if frame.height != lines_in(block):
        return None
    empty = [pl.lit(None).alias(key) for key, kind in kinds.items() if kind is None]
    return frame.with_columns(empty).select(sorted(kinds, key=lambda key: block.find(_written(key).encode())))


def lines_in(block: bytes) -> int:
    """How many lines a block has; the last may lack its end."""
    return count(np.frombuffer(block, np.uint8), ord("\n")) + (not block.endswith(b"\n"))


def _with_nulls(block: bytes, wanted: Wanted) -> bytes | None:
    """The block with null for each number that JSON has no word for; None where there is none, or it is read.

    Only what follows the last quote of a key is one: before the first quote of a text, which may go on with
    ": NaN", stands none of what a key may end with here.
    """
    if b"NaN" not in block and b"Infinity" not in block:
        return None
    for word in (b"NaN", b"Infinity"):
        parts = block.split(word)
        joined = [parts[0]]
        for before, after in pairwise(parts):
            _, *key = before[-_LONGEST_KEY:].rsplit(b'"', 2)
            if word == b"Infinity" and key:
                key = [*key[:-1], key[-1].removesuffix(b"-")]
            is_value = len(key) == 2 and key[1] in {b":", b": "} and key[0][-1:] not in _NO_ENDS
            if is_value and after[:1] in {b",", b"}"}:
                if wanted(key[0].decode("utf-8", "replace")):
                    return None
                joined[-1] = joined[-1].removesuffix(b"-")
                joined += [b"null", after]
            else:
                joined += [word, after]
        block = b"".join(joined)
    return block


def _fitting_kinds(block: bytes, numeric: Wanted) -> dict[str, _Kind | None] | None:
    """As `_kinds`; None as well where a line of the block does not fit them."""
    kinds = _kinds(block, numeric)
    return kinds if kinds is not None and _is_so(block, _line(kinds)) else None


def _kinds(block: bytes, numeric: Wanted) -> dict[str, _Kind | None] | None:
    """Key → what its values are, in the lines' order, None where all are null; None if not so simple."""
    values: dict[str, list[object]] = {}
    order: list[str] = []
    for record in _sampled(block):
        if not isinstance(record, dict) or not record:
            return None
        keys = list(cast("dict[str, object]", record))
        if (merged := _merged(order, keys)) is None:
            return None
        order = merged
        for key, value in cast("dict[str, object]", record).items():
            values.setdefault(key, []).append(value)
    if not order or len(order) > MOST_KEYS or any(re.search(r'["\\\x00-\x1f]', key) for key in order):
        return None
    found: dict[str, _Kind | None] = {}
    for key in order:
        kind = _kind(values[key], numeric=numeric(key))
        if kind is False:
            return None
        found[key] = None if isinstance(kind, bool) else kind
    return found


def _sampled(block: bytes) -> list[object]:
    """Some of the lines, parsed; nothing where one of them is not JSON."""
    step = max(1, len(block) // SAMPLED)
    starts = {0} | {block.find(b"\n", at) + 1 for at in range(step, len(block), step)} - {len(block)}
    try:
        return [json.loads(block[at : _end(block, at)]) for at in sorted(starts)]
    except (ValueError, RecursionError):
        return []


def _end(block: bytes, at: int) -> int:
    end = block.find(b"\n", at)
    return len(block) if end < 0 else end


def _merged(order: list[str], keys: list[str]) -> list[str] | None:
    """The known order with further keys in their places; None where the two contradict each other."""
    merged = list(order)
    place = 0
    for key in keys:
        if key in merged:
            at = merged.index(key)
            if at < place:
                return None
            place = at + 1
        else:
            merged.insert(place, key)
            place += 1
    return merged if not order or keys[0] == order[0] else None


def _kind(values: list[object], *, numeric: bool) -> _Kind | bool:
    """The one kind of these values; True where all are null, False where they have no one kind."""
    types = set(map(type, values)) - {type(None)}
    if types == {list}:
        lists = cast("list[list[object]]", [value for value in values if value])
        inner = _kind(list(chain.from_iterable(lists)), numeric=numeric)
        return False if isinstance(inner, bool) or inner.dtype.is_nested() else inner.listed
    if not types:
        return True
    if numeric and types <= {int, float}:
        return _NUMBER
    return _KINDS.get(types.pop(), False) if len(types) == 1 else False


def _line(kinds: dict[str, _Kind | None]) -> str:
    """The pattern of a line that has the first key, and of the others any, in their order."""
    members = [
        f"{re.escape(_written(key))} ?(?:{'null' if kind is None else kind.pattern + '|null'})"
        for key, kind in kinds.items()
    ]
    return rf"\{{{members[0]}{''.join(f'(?:, ?{member})?' for member in members[1:])}\}}\r?\n"


def _written(key: str) -> str:
    """A key as it stands before its value. In a text that is a value its last quote would be escaped."""
    return f'"{key}":'


def _is_so(block: bytes, line: str) -> bool:
    """Whether every line of a block, known to be UTF-8, fits the pattern."""
    whole = block if block.endswith(b"\n") else block + b"\n"
    text = pl.Series([whole], dtype=pl.Binary).cast(pl.String)
    try:
        return text.str.contains(rf"\A(?:{line})*\z").all()
    except _FAILED:
        return False

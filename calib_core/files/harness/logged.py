"""Which records does a log in JSON hold, one after the other?  Lines, one list, or a list in an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from calib_core.files.format import Head
from calib_core.files.tables.json_lines import RepeatedKeyError, numbered_lines, parse_json
from calib_core.files.tables.raw import BrokenRecord, as_json_text
from calib_core.problems import Refused, shorten


@dataclass(frozen=True, slots=True, eq=False)
class LogRecord:
    """One record. line: the physical line it begins on, None where it has none; share: of the file read."""

    value: Mapping[str, object] | BrokenRecord
    line: int | None
    share: float


def read_log_records(head: Head, list_key: str | None = None) -> Iterator[LogRecord]:
    """The records in the file's order; within: the key whose list holds them, where the file is one object.

    Raises Refused where an object holds one key twice: which value is meant nobody can tell.
    """
    if head.kind == "json lines" and list_key is None:
        yield from _records_of_lines(head)
        return
    listed = head.list_elements if list_key is None else _list_or_empty(head.first_objects[0].get(list_key))
    for at, value in enumerate(listed, 1):
        yield LogRecord(_object_or_broken(value), None, at / len(listed))


def _records_of_lines(head: Head) -> Iterator[LogRecord]:
    size = len(head.content)
    for number, line, end in numbered_lines(head.content):
        try:
            value = _object_or_broken(parse_json(line.decode()))
        except RepeatedKeyError as repeated:
            raise Refused(
                f"{head.file}, line {number:,}: an object has the key {shorten(str(repeated))!r} more than "
                f"once, so which value is meant is not clear. Keep one."
            ) from None
        except (ValueError, RecursionError):
            fix = "Mend the line, or take it out; the file may be half written."
            value = BrokenRecord(0, "not JSON", "", "one JSON object on the line", shorten(line.decode()), fix)
        yield LogRecord(value, number, end / size)


def _object_or_broken(value: object) -> Mapping[str, object] | BrokenRecord:
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value)
    expected = "a JSON object with named values"
    return BrokenRecord(0, "not an object", "", expected, shorten(as_json_text(value) or "null"), "Take it out.")


def _list_or_empty(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()

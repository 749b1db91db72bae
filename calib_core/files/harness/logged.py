"""Which records does a log in JSON hold, one after the other?  Lines, one list, or a list in an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from calib_core.files.format import Head
from calib_core.files.tables.json_lines import RepeatedKeyError, lines_of, parse
from calib_core.files.tables.raw import Broken, as_text
from calib_core.problems import Refused, shorten


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One record. line: the physical line it begins on, None where it has none; share: of the file read."""

    value: Mapping[str, object] | Broken
    line: int | None
    share: float


def records_of(head: Head, within: str | None = None) -> Iterator[Record]:
    """The records in the file's order; within: the key whose list holds them, where the file is one object.

    Raises Refused where an object holds one key twice: which value is meant nobody can tell.
    """
    if head.kind == "json lines" and within is None:
        yield from _of_lines(head)
        return
    listed = head.records if within is None else _list(head.objects[0].get(within))
    for at, value in enumerate(listed, 1):
        yield Record(_object(value), None, at / len(listed))


def _of_lines(head: Head) -> Iterator[Record]:
    size = len(head.content)
    for number, line, end in lines_of(head.content):
        try:
            value = _object(parse(line.decode()))
        except RepeatedKeyError as repeated:
            raise Refused(
                f"{head.file}, line {number:,}: an object has the key {shorten(str(repeated))!r} more than "
                f"once, so which value is meant is not clear. Keep one."
            ) from None
        except (ValueError, RecursionError):
            fix = "Mend the line, or take it out; the file may be half written."
            value = Broken(0, "not JSON", "", "one JSON object on the line", shorten(line.decode()), fix)
        yield Record(value, number, end / size)


def _object(value: object) -> Mapping[str, object] | Broken:
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value)
    expected = "a JSON object with named values"
    return Broken(0, "not an object", "", expected, shorten(as_text(value) or "null"), "Take it out.")


def _list(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()

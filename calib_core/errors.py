"""What can be wrong with a person's file or wish, and in which words is it said?

A problem is a value (`BadCell`, `Problem`); an exception (`Refused`, `BadRowsFound`, `Unavailable`)
carries such values. Messages name the file by its name, never by a path of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.wording import bad_rows_phrase

MAX_CELLS_SHOWN: Final = 20
"""How many bad cells of one kind are kept and shown."""

MAX_MESSAGE_CHARS: Final = 2000
"""No message is longer, in characters, however long the text in the file was."""


def shorten(text: str, limit: int = 80) -> str:
    """`text` cut to `limit` characters, the cut marked by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def single_line(text: str, limit: int) -> str:
    """`text` on one line, of `limit` characters at most."""
    return shorten(" ".join(text.split()), limit)


@dataclass(frozen=True, slots=True)
class BadCell:
    """One value that is there and wrong.

    row: 1-based record number; line: 1-based physical line, None where the format has no lines;
    column: "" when the whole record is meant; found: the value as text, shortened.
    """

    file: str
    row: int
    line: int | None
    column: str
    expected: str
    found: str
    fix: str

    def __str__(self) -> str:
        place = f"row {self.row}" + (f" (line {self.line})" if self.line is not None else "")
        column = f", column {self.column!r}" if self.column else ""
        return f"{self.file}, {place}{column}: expected {self.expected}, found {self.found!r}. {self.fix}"


@dataclass(frozen=True, slots=True)
class Problem:
    """All bad values of one kind in one file: how many rows, and the first `FIRST` of them."""

    kind: str
    count: int
    first: tuple[BadCell, ...]


class CalibError(Exception):
    """Anything a person can cause and mend. `str()` is the message to show, as plain text."""

    def __str__(self) -> str:
        return shorten(super().__str__(), MAX_MESSAGE_CHARS)


class Refused(CalibError):
    """The file cannot be used at all; the message says what it is, why not, and what to do."""


class BadRowsFound(CalibError):
    """Some rows are bad and nobody has chosen to leave them out: nothing is loaded."""

    def __init__(self, file: str, bad_rows: int, rows: int, problems: Sequence[Problem]) -> None:
        self.file = file
        self.bad_rows = bad_rows
        self.rows = rows
        self.problems = tuple(problems)
        cells = [cell for problem in self.problems for cell in problem.first][:3]
        first = "".join(f"\n{shorten(str(cell), 300)}" for cell in cells)
        super().__init__(
            f"{file}: {bad_rows_phrase(bad_rows, rows)}, so nothing was loaded. "
            f"Mend them, or choose to load the good rows only.{first}"
        )


class Unavailable(CalibError):
    """This run cannot give the method or metric asked for; the message is the reason."""

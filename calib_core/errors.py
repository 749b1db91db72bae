"""What can go wrong with a file or a request, and how is it reported?

Problems are values (`BadCell`, `Problem`), which the exceptions (`Refused`, `BadRowsFound`, `Unavailable`)
carry. Messages name a file by its name, never by its path on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from calib_core.wording import bad_rows_phrase

MAX_CELLS_SHOWN: Final = 20
"""Number of bad cells of each kind that are kept and shown."""

MAX_MESSAGE_CHARS: Final = 2000
"""Maximum length of a message, in characters."""


def shorten(text: str, limit: int = 80) -> str:
    """`text` cut to `limit` characters, ending in an ellipsis if it was cut.

    Examples
    --------
    >>> shorten("expected calibration error", 12)
    'expected ca…'
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def single_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters."""
    return shorten(" ".join(text.split()), limit)


@dataclass(frozen=True, slots=True)
class BadCell:
    """One value that is present but wrong.

    Attributes
    ----------
    file : str
        Name of the file.
    row : int
        1-based record number.
    line : int or None
        1-based physical line; None if the format has no lines.
    column : str
        Name of the column; "" if the whole record is bad.
    expected : str
        What a right value looks like.
    found : str
        The value as text, shortened.
    fix : str
        How to fix it, as a sentence.
    """

    file: str
    row: int
    line: int | None
    column: str
    expected: str
    found: str
    fix: str

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: expected {self.expected}, found {self.found!r}. {self.fix}"

    @property
    def place(self) -> str:
        """Row, line and column in words: "row 3 (line 4), column 'confidence'"."""
        place = f"row {self.row}" + (f" (line {self.line})" if self.line is not None else "")
        return f"{place}, column {self.column!r}" if self.column else place


def cell_lines(cells: Iterable[BadCell]) -> list[str]:
    """A line for each bad value; after another of the same kind, only its place and what was found.

    Examples
    --------
    >>> cells = [BadCell("a.csv", at, None, "ok", "1 or 0", "T", "Write 1 for T.") for at in (1, 2)]
    >>> for line in cell_lines(cells):
    ...     print(line)
    a.csv, row 1, column 'ok': expected 1 or 0, found 'T'. Write 1 for T.
    row 2, column 'ok': found 'T'
    """
    lines: list[str] = []
    said = None
    for cell in cells:
        kind = cell.file, cell.expected, cell.fix
        lines.append(f"{cell.place}: found {cell.found!r}" if kind == said else shorten(str(cell), 300))
        said = kind
    return lines


@dataclass(frozen=True, slots=True)
class Problem:
    """All bad values of one kind in one file.

    Attributes
    ----------
    kind : str
        Kind of problem.
    count : int
        Number of rows that have it.
    first_cells : tuple of BadCell
        The first of them, at most `MAX_CELLS_SHOWN`.
    """

    kind: str
    count: int
    first_cells: tuple[BadCell, ...]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A sign that a file means something other than it was taken for.

    Two that differ in their example alone are equal.

    Attributes
    ----------
    kind : str
        Id of the check that found it.
    message : str
        What is found, what would explain it, and what to do.
    example : str
        A row that shows it.
    """

    kind: str
    message: str
    example: str = field(compare=False)

    @property
    def text(self) -> str:
        """Message and example in one paragraph."""
        return f"Suspicious: {self.message.rstrip('.')}. For example, {self.example}."


class CalibError(Exception):
    """Base class of errors that a user can cause and fix; `str()` is the message to show, as plain text."""

    def __str__(self) -> str:
        return shorten(super().__str__(), MAX_MESSAGE_CHARS)


class Refused(CalibError):
    """The file cannot be used at all; the message says what the file is, why not, and what to do."""


class BadRowsFound(CalibError):
    """Some rows are bad and the user has not chosen to leave them out, so nothing is loaded.

    Attributes
    ----------
    file : str
        Name of the file.
    n_bad_rows, n_rows : int
        Number of bad rows, and of all rows.
    problems : tuple of Problem
        The bad values by kind.
    option : str
        What makes the caller load the good rows only: "skip_bad_rows=True" in Python; "" if that is said
        elsewhere.
    """

    def __init__(
        self, file: str, n_bad_rows: int, n_rows: int, problems: Sequence[Problem], *, option: str = ""
    ) -> None:
        self.file = file
        self.n_bad_rows = n_bad_rows
        self.n_rows = n_rows
        self.problems = tuple(problems)
        cells = [cell for problem in self.problems for cell in problem.first_cells][:3]
        first = "".join(f"\n{line}" for line in cell_lines(cells))
        super().__init__(
            f"{file}: {bad_rows_phrase(n_bad_rows, n_rows)}, so nothing was loaded. Correct them, or load "
            f"the good rows only{option and f' ({option})'}.{first}"
        )


class Unavailable(CalibError):
    """The method or metric cannot be computed for this run; the message is the reason."""

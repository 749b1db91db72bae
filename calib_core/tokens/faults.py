"""Which positions cannot be used, what was expected there, and what was found?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from calib_core.problems import MAX_CELLS_SHOWN, shorten

MAX_FOUND_CHARS: Final = 80
"""Characters kept of what was found."""


@dataclass(frozen=True, slots=True)
class PositionProblem:
    """All bad rows of one kind.

    kind: what is wrong, as a title; expected, fix: for `problems.BadCell`; count: rows; first: 0-based row
    and what was found there, of the first `problems.FIRST`. A row has one kind, the first that was seen.
    """

    kind: str
    expected: str
    fix: str
    count: int
    first: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A way in which a row can be bad: the words of its `Fault`."""

    title: str
    expected: str
    fix: str


class PositionProblemLog:
    """Bad rows as they are met: all counted, the first of each kind kept."""

    def __init__(self) -> None:
        self._count: dict[ProblemKind, int] = {}
        self._first: dict[ProblemKind, list[tuple[int, str]]] = {}

    def add(self, kind: ProblemKind, found: str, *, row: int) -> None:
        """One bad row."""
        self._count[kind] = self._count.get(kind, 0) + 1
        first = self._first.setdefault(kind, [])
        if len(first) < MAX_CELLS_SHOWN:
            first.append((row, shorten(found, MAX_FOUND_CHARS)))

    @property
    def n_rows(self) -> int:
        """Bad rows of every kind."""
        return sum(self._count.values())

    def problems(self) -> tuple[PositionProblem, ...]:
        """One entry a kind, in the order in which the kinds were first met."""
        return tuple(
            PositionProblem(kind.title, kind.expected, kind.fix, count, tuple(self._first[kind]))
            for kind, count in self._count.items()
        )

"""Which column of the file is read as what: by its exact name, or because the person says so?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_core.files.tables.columns import COLUMNS, LISTS
from calib_core.files.tables.names import OTHER_NAMES, Fits, as_options, propose
from calib_core.problems import Refused, shorten


@dataclass(frozen=True, slots=True)
class Roles:
    """mapping: file column → contract name, as the person says; it wins over a column's own name.

    Several columns may be mapped to the name of a list: they are its elements, in the file's order. A
    column that is mapped to "" is left out. known: the names a column may be read as.
    """

    mapping: Mapping[str, str]
    known: tuple[str, ...] = tuple(COLUMNS)

    @classmethod
    def of(cls, mapping: Mapping[str, str], file: str, known: tuple[str, ...] = tuple(COLUMNS)) -> Roles:
        """Raises Refused where a name is not known, or is given to two columns and is that of no list."""
        names = list(mapping.values())
        for column, name in mapping.items():
            if name and name not in known:
                raise Refused(
                    f"{file}: column {column!r} cannot be read as {name!r}, which is no name this program "
                    f"knows. It knows {', '.join(known)}."
                )
            if names.count(name) > 1 and name and name not in LISTS:
                raise Refused(f"{file}: two columns are to be read as {name!r}. Choose one of them.")
        return cls(mapping, known)

    def role(self, column: str) -> str | None:
        """What a column of the file is read as; None where it is not read."""
        if column in self.mapping:
            return self.mapping[column] or None
        return column if column in self.known and column not in self.mapping.values() else None

    def wanted(self, column: str) -> bool:
        """Whether a column of the file is read."""
        return self.role(column) is not None

    def lists(self, order: Sequence[str]) -> dict[str, list[str]]:
        """The lists that are put together: name → its columns, in the order of the file's columns."""
        members: dict[str, list[str]] = {}
        for column in dict.fromkeys((*order, *self.mapping)):
            if self.mapping.get(column) in LISTS:
                members.setdefault(self.mapping[column], []).append(column)
        return {name: columns for name, columns in members.items() if len(columns) > 1}

    def read_as(self, columns: Sequence[str]) -> dict[str, str]:
        """Column → the name it is read as, of those that are read."""
        return {column: role for column in columns if (role := self.role(column)) is not None}

    def unused(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the file that nothing is read from."""
        return tuple(column for column in columns if not self.wanted(column))

    def proposals(self, columns: Sequence[str], fits: Fits) -> dict[str, str]:
        """What the columns that are not read, and not left out on purpose, probably stand for."""
        read_as = {role for column in columns if (role := self.role(column))}
        read_as |= OTHER_NAMES.keys() - set(self.known)
        free = [column for column in self.unused(columns) if column not in self.mapping]
        return propose(free, read_as, fits)

    def check(self, columns: Sequence[str], file: str) -> None:
        """Raises Refused where a mapped column is not there."""
        absent = [column for column in self.mapping if column not in columns]
        if absent:
            raise Refused(f"{file} has no column {absent[0]!r}. Its columns are {named(columns)}.")


def unknown(columns: Sequence[str], proposals: Mapping[str, str], file: str) -> str:
    """Why a file of which no column is read cannot be used, and what to do."""
    looks = f"If they mean what they look like, say so: {as_options(proposals)}"
    return (
        f"{file} was taken for a table with the columns {named(columns)}, and none of these is a name "
        f"this program knows. A row a question needs a confidence and whether the answer was right "
        f"(confidence, correct), or probabilities of the choices and the right one (choice_probs, gold), or "
        f"sampled answers and the right one (samples, gold). "
        + (looks if proposals else "Say what a column means: --map COLUMN=confidence")
    )


def named(columns: Sequence[str]) -> str:
    """Column names for a message, cut where there are many."""
    shown = ", ".join(repr(shorten(column, 40)) for column in columns[:20])
    return (shown or "(none)") + (f" and {len(columns) - 20:,} more" if len(columns) > 20 else "")

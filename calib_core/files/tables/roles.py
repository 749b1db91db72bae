"""Which column of the file is read as what: by its exact name, or because the person says so?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_core.files.tables.columns import COLUMN_JUDGES, LIST_COLUMNS
from calib_core.files.tables.names import COLUMN_ALIASES, FitsName, map_options, propose_names
from calib_core.problems import Refused, shorten


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """mapping: file column → contract name, as the person says; it wins over a column's own name.

    Several columns may be mapped to the name of a list: they are its elements, in the file's order. A
    column that is mapped to "" is left out. known: the names a column may be read as.
    """

    mapping: Mapping[str, str]
    known_names: tuple[str, ...] = tuple(COLUMN_JUDGES)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, str], file: str, known_names: tuple[str, ...] = tuple(COLUMN_JUDGES)) -> ColumnRoles:
        """Raises Refused where a name is not known, or is given to two columns and is that of no list."""
        names = list(mapping.values())
        for column, name in mapping.items():
            if name and name not in known_names:
                raise Refused(
                    f"{file}: column {column!r} cannot be read as {name!r}, which is no name this program "
                    f"knows. It knows {', '.join(known_names)}."
                )
            if names.count(name) > 1 and name and name not in LIST_COLUMNS:
                raise Refused(f"{file}: two columns are to be read as {name!r}. Choose one of them.")
        return cls(mapping, known_names)

    def role(self, column: str) -> str | None:
        """What a column of the file is read as; None where it is not read."""
        if column in self.mapping:
            return self.mapping[column] or None
        return column if column in self.known_names and column not in self.mapping.values() else None

    def is_used(self, column: str) -> bool:
        """Whether a column of the file is read."""
        return self.role(column) is not None

    def combined_lists(self, column_order: Sequence[str]) -> dict[str, list[str]]:
        """The lists that are put together: name → its columns, in the order of the file's columns."""
        members: dict[str, list[str]] = {}
        for column in dict.fromkeys((*column_order, *self.mapping)):
            if self.mapping.get(column) in LIST_COLUMNS:
                members.setdefault(self.mapping[column], []).append(column)
        return {name: columns for name, columns in members.items() if len(columns) > 1}

    def used_roles(self, columns: Sequence[str]) -> dict[str, str]:
        """Column → the name it is read as, of those that are read."""
        return {column: role for column in columns if (role := self.role(column)) is not None}

    def unused_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the file that nothing is read from."""
        return tuple(column for column in columns if not self.is_used(column))

    def propose(self, columns: Sequence[str], fits: FitsName) -> dict[str, str]:
        """What the columns that are not read, and not left out on purpose, probably stand for."""
        read_as = {role for column in columns if (role := self.role(column))}
        read_as |= COLUMN_ALIASES.keys() - set(self.known_names)
        free = [column for column in self.unused_columns(columns) if column not in self.mapping]
        return propose_names(free, read_as, fits)

    def check_columns_exist(self, columns: Sequence[str], file: str) -> None:
        """Raises Refused where a mapped column is not there."""
        absent = [column for column in self.mapping if column not in columns]
        if absent:
            raise Refused(f"{file} has no column {absent[0]!r}. Its columns are {column_list_text(columns)}.")


def no_known_column_message(columns: Sequence[str], proposals: Mapping[str, str], file: str) -> str:
    """Why a file of which no column is read cannot be used, and what to do."""
    looks = f"If they mean what they look like, say so: {map_options(proposals)}"
    return (
        f"{file} was taken for a table with the columns {column_list_text(columns)}, and none of these is a name "
        f"this program knows. A row a question needs a confidence and whether the answer was right "
        f"(confidence, correct), or probabilities of the choices and the right one (choice_probs, gold), or "
        f"sampled answers and the right one (samples, gold). "
        + (looks if proposals else "Say what a column means: --map COLUMN=confidence")
    )


def column_list_text(columns: Sequence[str]) -> str:
    """Column names for a message, cut where there are many."""
    shown = ", ".join(repr(shorten(column, 40)) for column in columns[:20])
    return (shown or "(none)") + (f" and {len(columns) - 20:,} more" if len(columns) > 20 else "")

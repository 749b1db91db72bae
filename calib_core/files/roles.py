"""Which column of the file is read as what: by its exact name, or because the person says so?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_core.files.columns import COLUMNS
from calib_core.files.names import as_options, propose
from calib_core.problems import Refused, shorten


@dataclass(frozen=True, slots=True)
class Roles:
    """mapping: file column → contract name, as the person says; it wins over a column's own name."""

    mapping: Mapping[str, str]

    @classmethod
    def of(cls, mapping: Mapping[str, str], file: str) -> Roles:
        """Raises Refused where a name is not known or is given to two columns."""
        names = list(mapping.values())
        for column, name in mapping.items():
            if name not in COLUMNS:
                raise Refused(
                    f"{file}: column {column!r} cannot be read as {name!r}, which is no name this program "
                    f"knows. It knows {', '.join(COLUMNS)}."
                )
            if names.count(name) > 1:
                raise Refused(f"{file}: two columns are to be read as {name!r}. Choose one of them.")
        return cls(mapping)

    def role(self, column: str) -> str | None:
        """What a column of the file is read as; None where it is not read."""
        if column in self.mapping:
            return self.mapping[column]
        return column if column in COLUMNS and column not in self.mapping.values() else None

    def wanted(self, column: str) -> bool:
        """Whether a column of the file is read."""
        return self.role(column) is not None

    def proposals(self, columns: Sequence[str]) -> dict[str, str]:
        """What the columns that are not read probably stand for."""
        read_as = {role for column in columns if (role := self.role(column))}
        return propose([column for column in columns if not self.wanted(column)], read_as)

    def check(self, columns: Sequence[str], file: str) -> None:
        """Raises Refused where a mapped column is not there, or no column at all is read."""
        absent = [column for column in self.mapping if column not in columns]
        if absent:
            raise Refused(f"{file} has no column {absent[0]!r}. Its columns are {named(columns)}.")
        if any(map(self.wanted, columns)):
            return
        hint = as_options(self.proposals(columns))
        advice = f"If they mean what they look like, say so: {hint}"
        if not hint:
            advice = (
                "Give at least a confidence and whether the answer was right, under names such as "
                "id,confidence,correct in the first line, or say what a column means: --map COLUMN=confidence"
            )
        raise Refused(
            f"{file} was taken for a table with the columns {named(columns)}, and none of these is a name "
            f"this program knows. {advice}"
        )


def named(columns: Sequence[str]) -> str:
    """Column names for a message, cut where there are many."""
    shown = ", ".join(repr(shorten(column, 40)) for column in columns[:20])
    return (shown or "(none)") + (f" and {len(columns) - 20:,} more" if len(columns) > 20 else "")

"""Detects columns without a role that split the rows into groups, such as a category, a level or a language.

Such a column has few distinct texts, integers or booleans; it is kept under its own name. A column that turns
out to have more is dropped at once, so that files of long texts need no extra memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

from calib_core.readers.table.cells import PLAIN_NUMBER
from calib_core.readers.table.columns import ColumnRoles
from calib_core.readers.table.raw import Slice
from calib_core.runs import is_missing

MAX_GROUPS: Final = 100
"""Limit on the distinct values of a group column."""

MAX_GROUP_COLUMNS: Final = 64
"""Limit on group columns; the first of the file are kept."""

MAX_NAME_CHARACTERS: Final = 200
"""Limit on the length of a group's name."""

MIN_ROWS_PER_GROUP: Final = 2
"""Minimum of rows per value, on average; with fewer, the values identify rows rather than group them."""

_FRACTION_PATTERN: Final = r"[.eE]"


class GroupColumns:
    """Collects the group columns of one file, slice by slice.

    Parameters
    ----------
    roles
        What the file's other columns are read as.

    Attributes
    ----------
    frame
        The group columns, once they were taken.
    """

    def __init__(self, roles: ColumnRoles) -> None:
        self.roles = roles
        self.frame = pl.DataFrame()
        self._n_rows = 0
        self._excluded: set[str] = set()
        self._codes: dict[str, list[pl.Series]] = {}
        self._names: dict[str, dict[str, int]] = {}

    def is_used(self, column: str) -> bool:
        """Return whether a column has to be read: for its role, or because it may form groups."""
        return self.roles.is_used(column) or self.may_group(column)

    def may_group(self, column: str) -> bool:
        """Return whether a column may still form groups: it has no role and was not left out or excluded."""
        if self.roles.is_used(column) or column in self.roles.mapping or column in self._excluded:
            return False
        return column in self._names or len(self._names) < MAX_GROUP_COLUMNS

    def exclude(self, columns: Iterable[str]) -> None:
        """Exclude columns and forget their values."""
        for column in columns:
            self._excluded.add(column)
            self._codes.pop(column, None)
            self._names.pop(column, None)

    def exclude_by_objects(self, objects: Iterable[Mapping[str, object]]) -> None:
        """Exclude keys whose first values cannot name groups: lists, objects, floats, or long texts."""
        self.exclude({key for record in objects for key, value in record.items() if _cannot_be_name(value)})

    def exclude_by_values(self, first_values: Iterable[pl.Series]) -> None:
        """Exclude columns whose first values have too many distinct values or cannot name groups."""
        for raw in first_values:
            if self.may_group(raw.name) and _distinct_names(_name_texts(raw)) is None:
                self.exclude([raw.name])

    def add(self, part: Slice) -> None:
        """Add the values of one slice."""
        for column, raw in part.columns.items():
            if not self.may_group(column):
                continue
            texts = None if part.nested.get(column) else _name_texts(raw)
            names = _distinct_names(texts)
            if texts is None or names is None or not self._add_names(column, names):
                self.exclude([column])
                continue
            codes = texts.replace_strict(self._names[column], default=None, return_dtype=pl.UInt8)
            self._pad(column)
            self._codes[column].append(codes)
        self._n_rows += part.n_rows

    def take_frame(self) -> pl.DataFrame:
        """Return the group columns, each an Enum of its names, null where missing.

        Can be called only once, as it releases the values to save memory.
        """
        columns: list[pl.Series] = []
        for column, names in self._names.items():
            self._pad(column)
            codes = pl.concat(self._codes.pop(column), rechunk=True)
            if self._is_group(codes, list(names)):
                columns.append(codes.cat.to(pl.Enum(list(names))).alias(column))
        self.frame = pl.DataFrame(columns)
        return self.frame

    def _is_group(self, codes: pl.Series, names: list[str]) -> bool:
        """Return whether a column that was read to the end forms groups."""
        return _is_grouping(codes, names)

    def _add_names(self, column: str, new_names: list[str]) -> bool:
        """Add the names of a slice; return False if there are too many."""
        names = self._names.setdefault(column, {})
        for name in new_names:
            names.setdefault(name, len(names))
        return len(names) <= MAX_GROUPS

    def _pad(self, column: str) -> None:
        """Append nulls for slices that did not have this column."""
        parts = self._codes.setdefault(column, [])
        n_missing = self._n_rows - sum(part.len() for part in parts)
        if n_missing:
            parts.append(pl.repeat(None, n_missing, dtype=pl.UInt8, eager=True))


class NamedGroupColumns(GroupColumns):
    """Collects only the group columns that the file itself lists.

    Parameters
    ----------
    roles
        What the file's other columns are read as.
    names
        The group columns listed in the file's metadata.
    """

    def __init__(self, roles: ColumnRoles, names: Iterable[str]) -> None:
        super().__init__(roles)
        self._listed = frozenset(names)

    def may_group(self, column: str) -> bool:
        """Return whether the file lists a column and it may still form groups."""
        return column in self._listed and super().may_group(column)

    def _is_group(self, codes: pl.Series, names: list[str]) -> bool:
        return bool(names) and codes.len() > 0


class KnownGroupColumns(GroupColumns):
    """Group columns that were collected before, for rows of which other columns are read now.

    Parameters
    ----------
    roles
        What the columns are read as.
    frame
        The group columns.
    """

    def __init__(self, roles: ColumnRoles, frame: pl.DataFrame) -> None:
        super().__init__(roles)
        self.frame = frame

    def may_group(self, column: str) -> bool:
        """Return False: no column is looked at."""
        del column
        return False

    def take_frame(self) -> pl.DataFrame:
        """Return the group columns."""
        return self.frame


def _cannot_be_name(value: object) -> bool:
    return isinstance(value, list | dict | float) or (
        isinstance(value, str) and len(value) > MAX_NAME_CHARACTERS
    )


def _name_texts(raw: pl.Series) -> pl.Series | None:
    """Return the values as text, null where missing; None for a dtype that cannot name groups."""
    if raw.dtype == pl.String:
        return pl.select(pl.when(~is_missing(raw)).then(raw).alias(raw.name)).to_series()
    if raw.dtype.is_integer() or isinstance(raw.dtype, pl.Boolean | pl.Null):
        return raw.cast(pl.String)
    return None


def _distinct_names(texts: pl.Series | None) -> list[str] | None:
    """Return the distinct names in order of appearance; None if there are too many or one is too long."""
    if texts is None or texts.n_unique() > MAX_GROUPS + 1:  # a missing value counts as one
        return None
    names: list[str] = texts.drop_nulls().unique(maintain_order=True).to_list()
    return None if any(len(name) > MAX_NAME_CHARACTERS for name in names) else names


def _is_grouping(codes: pl.Series, names: list[str]) -> bool:
    """Return whether there are at least two values, they recur, and they are not measurements."""
    n_present = codes.len() - codes.null_count()
    texts = pl.Series(names, dtype=pl.String)
    is_measured = texts.str.contains(PLAIN_NUMBER).all() and texts.str.contains(_FRACTION_PATTERN).any()
    return len(names) > 1 and n_present >= MIN_ROWS_PER_GROUP * len(names) and not is_measured

"""Which columns that the program has no name for sort the rows into groups?

A column of few different texts, whole numbers or booleans may be a category, a level, a language: it is
kept as it is, under the file's own name. One that turns out to hold more is let go at once, so that a file
of long texts needs no more memory than without this.
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
"""A column with more different values sorts nothing into groups."""

MAX_GROUP_COLUMNS: Final = 64
"""So many such columns are kept, the first of the file."""

MAX_NAME_CHARACTERS: Final = 200
"""A longer text, in characters, is no name of a group."""

MIN_ROWS_PER_GROUP: Final = 2
"""With fewer rows to a value on average, the values tell rows apart instead of sorting them."""

_FRACTION_PATTERN: Final = r"[.eE]"


class GroupColumns:
    """The columns of one file that may sort its rows into groups, as far as it has been read.

    roles: what the file's other columns are read as.
    """

    def __init__(self, roles: ColumnRoles) -> None:
        self.roles = roles
        self._rows = 0
        self._closed: set[str] = set()
        self._codes: dict[str, list[pl.Series]] = {}
        self._names: dict[str, dict[str, int]] = {}

    def is_used(self, column: str) -> bool:
        """Whether a column has to be read: for what it means, or for the groups it may make."""
        return self.roles.is_used(column) or self.may_group(column)

    def may_group(self, column: str) -> bool:
        """Whether a column may still sort the rows: no name of ours, not left out, not given up."""
        if self.roles.is_used(column) or column in self.roles.mapping or column in self._closed:
            return False
        return column in self._names or len(self._names) < MAX_GROUP_COLUMNS

    def exclude(self, columns: Iterable[str]) -> None:
        """Gives up columns of which something is known beforehand."""
        for column in columns:
            self._closed.add(column)
            self._codes.pop(column, None)
            self._names.pop(column, None)

    def exclude_by_objects(self, objects: Iterable[Mapping[str, object]]) -> None:
        """Gives up what the first records of a JSON file show to be no names: lists, fractions, prose."""
        self.exclude({key for record in objects for key, value in record.items() if _cannot_be_name(value)})

    def exclude_by_values(self, first_values: Iterable[pl.Series]) -> None:
        """Gives up columns whose first values are too many or no names."""
        for raw in first_values:
            if self.may_group(raw.name) and _distinct_names(_name_texts(raw)) is None:
                self.exclude([raw.name])

    def add(self, part: Slice) -> None:
        """Takes what one slice has of these columns."""
        for column, raw in part.columns.items():
            if not self.may_group(column):
                continue
            texts = None if part.nested.get(column) else _name_texts(raw)
            found = _distinct_names(texts)
            if texts is None or found is None or not self._add_names(column, found):
                self.exclude([column])
                continue
            codes = texts.replace_strict(self._names[column], default=None, return_dtype=pl.UInt8)
            self._pad(column)
            self._codes[column].append(codes)
        self._rows += part.n_rows

    def take_frame(self) -> pl.DataFrame:
        """The columns that sort the rows, each an Enum of its names, null where missing.

        To be called once: the values are not kept here as well.
        """
        columns: list[pl.Series] = []
        for column, names in self._names.items():
            self._pad(column)
            codes = pl.concat(self._codes.pop(column), rechunk=True)
            if self._is_group(codes, list(names)):
                columns.append(codes.cat.to(pl.Enum(list(names))).alias(column))
        return pl.DataFrame(columns)

    def _is_group(self, codes: pl.Series, names: list[str]) -> bool:
        """Whether a column that was read to the end sorts the rows."""
        return _is_grouping(codes, names)

    def _add_names(self, column: str, new_names: list[str]) -> bool:
        """Notes the names of a slice; False where they are too many."""
        names = self._names.setdefault(column, {})
        for name in new_names:
            names.setdefault(name, len(names))
        return len(names) <= MAX_GROUPS

    def _pad(self, column: str) -> None:
        """Nulls for the slices that did not have this column."""
        parts = self._codes.setdefault(column, [])
        lacking = self._rows - sum(part.len() for part in parts)
        if lacking:
            parts.append(pl.repeat(None, lacking, dtype=pl.UInt8, eager=True))


class NamedGroupColumns(GroupColumns):
    """The columns that the file itself names as those of groups, and no others; roles: as above."""

    def __init__(self, roles: ColumnRoles, names: Iterable[str]) -> None:
        super().__init__(roles)
        self._said = frozenset(names)

    def may_group(self, column: str) -> bool:
        """Whether the file names a column, and nothing speaks against it."""
        return column in self._said and super().may_group(column)

    def _is_group(self, codes: pl.Series, names: list[str]) -> bool:
        return bool(names) and codes.len() > 0


def _cannot_be_name(value: object) -> bool:
    return isinstance(value, list | dict | float) or (
        isinstance(value, str) and len(value) > MAX_NAME_CHARACTERS
    )


def _name_texts(raw: pl.Series) -> pl.Series | None:
    """The values as text, null where missing; None where they are of a kind that names nothing."""
    if raw.dtype == pl.String:
        return pl.select(pl.when(~is_missing(raw)).then(raw).alias(raw.name)).to_series()
    if raw.dtype.is_integer() or isinstance(raw.dtype, pl.Boolean | pl.Null):
        return raw.cast(pl.String)
    return None


def _distinct_names(texts: pl.Series | None) -> list[str] | None:
    """The different names, in their order; None where they are too many or too long."""
    if texts is None or texts.n_unique() > MAX_GROUPS + 1:  # a missing value counts as one
        return None
    names: list[str] = texts.drop_nulls().unique(maintain_order=True).to_list()
    return None if any(len(name) > MAX_NAME_CHARACTERS for name in names) else names


def _is_grouping(codes: pl.Series, names: list[str]) -> bool:
    """Whether the values are at least two, come again, and are no measurements."""
    there = codes.len() - codes.null_count()
    values = pl.Series(names, dtype=pl.String)
    measured = values.str.contains(PLAIN_NUMBER).all() and values.str.contains(_FRACTION_PATTERN).any()
    return len(names) > 1 and there >= MIN_ROWS_PER_GROUP * len(names) and not measured

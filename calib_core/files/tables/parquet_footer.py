"""Would the library that reads Parquet files survive this one, and read all of it?  Its footer says.

A schema nested deep enough overflows the library's stack, which ends the process, and row groups of one row
take it longer than any file of that size should. Where a footer tells of fewer rows than there are values,
the library reads the fewer and says nothing. All three are looked for before anything is unpacked.
"""

from __future__ import annotations

from typing import Final

from calib_core.files.tables.thrift import I64, LIST, NUMBERS, STRUCT, Compact
from calib_core.problems import Refused, shorten

DEEPEST: Final = 64
"""Levels of nesting; a table of predictions has three."""

MOST_GROUPS: Final = 20_000
"""Row groups; writers make one of 100,000 rows or more."""

COMPARED: Final = 2**18
"""Bytes of a footer whose counts are compared: longer ones would take too long."""

_SCHEMA, _ROWS, _GROUPS = 2, 3, 4
"""Field ids of the file's metadata: its schema, its rows, its row groups."""
_CHILDREN: Final = 5
"""… of an element of the schema: the number of its children."""
_COLUMNS: Final = 1
"""… of a row group: its columns; its rows are _ROWS as well."""
_METADATA, _PATH, _VALUES = 3, 3, 5
"""… of a column: its metadata, and in it the names that lead to it and the number of its values."""


def check_footer(data: bytes, file: str) -> None:
    """Raises Refused where the schema is nested too deep, there are too many row groups, or rows are hidden.

    A footer that cannot be understood is passed: the library says what is wrong with it.
    """
    size = int.from_bytes(data[-8:-4], "little")
    if not 0 < size <= len(data) - 12:
        return
    try:
        _check(Compact(bytes(data[-8 - size : -8])), file, compare=size <= COMPARED)
    except (IndexError, ValueError):
        return


def _check(footer: Compact, file: str, *, compare: bool) -> None:
    told: int | None = None
    for field, type_ in footer.fields():
        if field == _SCHEMA and type_ == LIST:
            _check_depth(_depth(footer, footer.length()), file)
        elif field == _ROWS and type_ == I64:
            told = footer.number()
        elif field == _GROUPS and type_ == LIST:
            groups = footer.length()
            _check_groups(groups, file)
            if compare:
                _check_rows(told, sum(_rows(footer, file) for _ in range(groups)), "rows in its parts", file)
            return
        else:
            footer.skip(type_)


def _check_depth(depth: int, file: str) -> None:
    if depth > DEEPEST:
        raise Refused(
            f"{file}: its columns are nested {depth:,} levels deep, and at most {DEEPEST} are read. It may "
            f"be made to do harm. Write plain columns and lists."
        )


def _check_groups(groups: int, file: str) -> None:
    if groups > MOST_GROUPS:
        raise Refused(
            f"{file} is cut into {groups:,} row groups, and at most {MOST_GROUPS:,} are read. Write it again "
            f"with larger ones, such as 100,000 rows."
        )


def _check_rows(told: int | None, found: int | None, what: str, file: str) -> None:
    if told is not None and found is not None and told != found:
        raise Refused(
            f"{file}: its footer tells of {told:,} rows and of {found:,} {what}, so which rows there are is "
            f"not clear. It is damaged, or was put together by hand: write it again."
        )


def _depth(footer: Compact, elements: int) -> int:
    """The schema is its tree's elements, each before its children."""
    open_: list[int] = []
    deepest = 0
    for _ in range(elements):
        while open_ and not open_[-1]:
            open_.pop()
        if open_:
            open_[-1] -= 1
        if children := _children(footer):
            open_.append(children)
            deepest = max(deepest, len(open_))
    return deepest


def _children(footer: Compact) -> int:
    children = 0
    for field, type_ in footer.fields():
        if field == _CHILDREN and type_ in NUMBERS:
            children = footer.number()
        else:
            footer.skip(type_)
    return max(children, 0)


def _rows(footer: Compact, file: str) -> int:
    """Rows of a row group. Raises Refused where a column has another number of values."""
    columns: dict[str, int | None] = {}
    rows: int | None = None
    for field, type_ in footer.fields():
        if field == _COLUMNS and type_ == LIST:
            columns.update(_column(footer) for _ in range(footer.length()))
        elif field == _ROWS and type_ == I64:
            rows = footer.number()
        else:
            footer.skip(type_)
    for name, values in columns.items():
        _check_rows(rows, values, f"values of {shorten(name)!r}", file)
    return rows or 0


def _column(footer: Compact) -> tuple[str, int | None]:
    """Name and number of values of a column; None of lists, which may have any number a row."""
    found: tuple[str, int | None] = "", None
    for field, type_ in footer.fields():
        if field == _METADATA and type_ == STRUCT:
            found = _metadata(footer)
        else:
            footer.skip(type_)
    return found


def _metadata(footer: Compact) -> tuple[str, int | None]:
    path: list[str] = []
    values: int | None = None
    for field, type_ in footer.fields():
        if field == _PATH and type_ == LIST:
            path = [footer.text() for _ in range(footer.length())]
        elif field == _VALUES and type_ == I64:
            values = footer.number()
        else:
            footer.skip(type_)
    return (path[0], values) if len(path) == 1 else (".".join(path), None)

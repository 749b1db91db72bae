"""The first rows of a table in CSV, JSON, Parquet or Arrow, for proposals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, cast

import polars as pl

from calib_core.readers.detect import N_FIRST_OBJECTS
from calib_core.readers.format import Head
from calib_core.readers.table.cells import with_decimal_points
from calib_core.readers.table.columnar import COLUMNAR_KINDS, first_columnar_values
from calib_core.readers.table.csv_reader import CsvDialect, first_csv_values, header_of
from calib_core.readers.table.json_reader import numbered_lines, parse_json, parse_text, value_at
from calib_core.readers.table.raw import series_from_values
from calib_core.readers.table.shape import path_root, series_at

N_FIRST_ROWS: Final = 1_000
"""First rows of a file by whose values columns are judged."""


def first_values(
    head: Head,
    dialect: CsvDialect,
    columns: Sequence[str],
    n_rows: int = N_FIRST_OBJECTS,
    *,
    as_written: bool = False,
) -> list[pl.Series]:
    """Return the first raw values of these columns, at most `n_rows` each, with decimal points in numbers."""
    if head.kind not in ("text", *COLUMNAR_KINDS):
        objects = _first_objects(head, n_rows)
        return [series_from_values(name, [value_at(row, name) for row in objects])[0] for name in columns]
    own = head.names or header_of(head.content, dialect)
    root_of = [name if name in own else path_root(name, own) or name for name in columns]
    roots = [*dict.fromkeys(root_of)]
    if head.kind == "text":
        values = first_csv_values(head.content, dialect, roots, n_rows)
        if dialect.may_have_decimal_commas and not as_written:
            values = list(map(with_decimal_points, values))
    else:
        values = first_columnar_values(head, roots, n_rows)
    by_root = dict(zip(roots, values, strict=True))
    return [
        by_root[root] if root == name else series_at(by_root[root], name[len(root) + 1 :])
        for name, root in zip(columns, root_of, strict=True)
    ]


def first_records(head: Head, dialect: CsvDialect, columns: Sequence[str]) -> Sequence[Mapping[str, object]]:
    """Return the first JSON objects; of a file of another kind, those in the cells of its first rows."""
    if head.kind not in ("text", *COLUMNAR_KINDS):
        return head.first_objects
    cells = dict(zip(columns, map(pl.Series.to_list, first_values(head, dialect, columns)), strict=True))
    parsed = {
        name: [parse_text(value) if isinstance(value, str) else value for value in values]
        for name, values in cells.items()
    }
    objects = {
        name: values for name, values in parsed.items() if any(isinstance(one, dict) for one in values)
    }
    return [dict(zip(objects, row, strict=True)) for row in zip(*objects.values(), strict=True)]


def _first_objects(head: Head, n_rows: int) -> Sequence[Mapping[str, object]]:
    """Return the first JSON objects; anything else is left out."""
    if n_rows <= N_FIRST_OBJECTS:
        return head.first_objects
    if head.kind == "json lines":
        lines = [line for _, line, _ in islice(numbered_lines(head.content), n_rows)]
        parsed: list[object] = []
        for line in lines:
            with suppress(ValueError, RecursionError):
                parsed.append(parse_json(line.decode()))
    else:
        parsed = list(head.list_elements[:n_rows]) or list(head.first_objects)
    return [cast("Mapping[str, object]", value) for value in parsed if isinstance(value, dict)]

"""What stands in the first rows of a file, and does a column there look like what its name promises?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from calib_core.files.format import Head
from calib_core.files.head import N_FIRST_OBJECTS
from calib_core.files.tables import numbers
from calib_core.files.tables.columns import COLUMN_JUDGES, PROBABILITY_COLUMNS
from calib_core.files.tables.csv_text import CsvDialect, first_csv_values
from calib_core.files.tables.gather import combine_columns
from calib_core.files.tables.parquet import first_parquet_values
from calib_core.files.tables.raw import series_from_values
from calib_core.records import is_missing

PERCENT_RANGE: Final = numbers.NumberRange(0.0, 100.0, "a number from 0 to 100", "")
"""A column of percentages looks like one of probabilities: once it is named, it is said what is wrong."""


def first_values(head: Head, dialect: CsvDialect, columns: Sequence[str]) -> list[pl.Series]:
    """The first raw values, at most `LOOKED_AT`, of each of these columns of the file."""
    match head.kind:
        case "parquet":
            return first_parquet_values(head.all_bytes, columns, N_FIRST_OBJECTS)
        case "text":
            return first_csv_values(head.content, dialect, columns, N_FIRST_OBJECTS)
        case _:
            return [series_from_values(name, [row.get(name) for row in head.first_objects])[0] for name in columns]


def looks_like(raw: Sequence[pl.Series], name: str) -> bool:
    """Whether most values that are there can be read as `name`; nothing there tells nothing against it.

    raw: the values of one column, or of all columns that are to be one list.
    """
    values = raw[0] if len(raw) == 1 else combine_columns(raw)
    there = values.len() - int(is_missing(values).sum())
    judged = numbers.judge_range(values, PERCENT_RANGE) if name in PROBABILITY_COLUMNS else COLUMN_JUDGES[name](values)
    good = judged.values.len() - judged.values.null_count()
    return 2 * good >= there

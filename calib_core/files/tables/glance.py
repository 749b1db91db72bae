"""What stands in the first rows of a file, and does a column there look like what its name promises?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from calib_core.files.format import Head
from calib_core.files.head import LOOKED_AT
from calib_core.files.tables import numbers
from calib_core.files.tables.columns import COLUMNS, PROBABILITIES
from calib_core.files.tables.csv_text import Layout, first_of_csv
from calib_core.files.tables.gather import in_one
from calib_core.files.tables.parquet import first_of_parquet
from calib_core.files.tables.raw import series_of
from calib_core.records import is_missing

PERCENT: Final = numbers.Range(0.0, 100.0, "a number from 0 to 100", "")
"""A column of percentages looks like one of probabilities: once it is named, it is said what is wrong."""


def first_rows(head: Head, layout: Layout, columns: Sequence[str]) -> list[pl.Series]:
    """The first raw values, at most `LOOKED_AT`, of each of these columns of the file."""
    match head.kind:
        case "parquet":
            return first_of_parquet(head.data, columns, LOOKED_AT)
        case "text":
            return first_of_csv(head.content, layout, columns, LOOKED_AT)
        case _:
            return [series_of(name, [row.get(name) for row in head.objects])[0] for name in columns]


def looks_like(raw: Sequence[pl.Series], name: str) -> bool:
    """Whether most values that are there can be read as `name`; nothing there tells nothing against it.

    raw: the values of one column, or of all columns that are to be one list.
    """
    values = raw[0] if len(raw) == 1 else in_one(raw)
    there = values.len() - int(is_missing(values).sum())
    judged = numbers.within(values, PERCENT) if name in PROBABILITIES else COLUMNS[name](values)
    good = judged.values.len() - judged.values.null_count()
    return 2 * good >= there

"""Which text would a spreadsheet run as a formula, and how is it written and read so that none does?

Such a text gets an apostrophe in front; so does one that begins with apostrophes before such a mark, which
makes the step reversible: taking one apostrophe off gives back the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl

from calib_core.files.tables.raw import Slice, Wanted

_BEGINNING: Final = r"'*[=+\-@\t\r＝＋－＠]"
"""How a text begins that a spreadsheet may take for a formula."""


def defused(texts: pl.Expr) -> pl.Expr:
    """The texts as they are written."""
    return pl.when(texts.str.contains(f"^{_BEGINNING}")).then(pl.lit("'") + texts).otherwise(texts)


def restored(texts: pl.Series) -> pl.Series:
    """The texts that were written so."""
    if texts.dtype != pl.String or not texts.str.starts_with("'").any():
        return texts
    return texts.str.replace(f"^'({_BEGINNING})", "$1")


def with_ids_restored(slices: Iterator[Slice], is_id: Wanted) -> Iterator[Slice]:
    """The records of a CSV file, which may have been written for a spreadsheet, with their ids as they were.

    is_id: which column of the file holds them.
    """
    for part in slices:
        ids = {name: restored(values) for name, values in part.columns.items() if is_id(name)}
        again = None if part.again is None else partial(_again, part.again, is_id)
        yield replace(part, columns={**part.columns, **ids}, again=again)


def _again(read: Callable[[], Iterator[Slice]], is_id: Wanted) -> Iterator[Slice]:
    return with_ids_restored(read(), is_id)

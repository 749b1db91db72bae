"""Which text would a spreadsheet run as a formula, and how is it written and read so that none does?

Such a text gets an apostrophe in front; so does one that begins with apostrophes before such a mark, which
makes the step reversible: taking one apostrophe off gives back the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl

from calib_core.files.tables.raw import Slice, Wanted
from calib_core.wording import count as counted

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


def with_ids_restored(slices: Iterator[Slice], is_id: Wanted, taken: Counter[str]) -> Iterator[Slice]:
    """The records of a CSV file, which may have been written for a spreadsheet, with their ids as they were.

    is_id: which column of the file holds them; taken: counts the apostrophes taken off in each column.
    """
    for part in slices:
        ids = {name: restored(values) for name, values in part.columns.items() if is_id(name)}
        here = Counter({name: _differing(part.columns[name], values) for name, values in ids.items()})
        taken.update(here)
        again = None if part.again is None else partial(_again, part.again, is_id, taken, here)
        yield replace(part, columns={**part.columns, **ids}, again=again)


def remarks(taken: Counter[str]) -> tuple[str, ...]:
    """A sentence on each column of which apostrophes were taken off."""
    return tuple(
        f"In {counted(count, 'row')} {name} begins with an apostrophe before a sign that "
        f"begins a formula, as tables for spreadsheets are written: it is read without the apostrophe."
        for name, count in taken.items()
        if count
    )


def _differing(one: pl.Series, other: pl.Series) -> int:
    return 0 if one is other else int((one != other).sum())


def _again(
    read: Callable[[], Iterator[Slice]], is_id: Wanted, taken: Counter[str], before: Counter[str]
) -> Iterator[Slice]:
    """The same records, read with more care: what was counted of them is counted anew."""
    taken.subtract(before)
    return with_ids_restored(read(), is_id, taken)

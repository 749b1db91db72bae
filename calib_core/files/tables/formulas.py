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

from calib_core.files.tables.raw import Slice, ColumnFilter
from calib_core.wording import plural as plural

_FORMULA_START: Final = r"'*[=+\-@\t\r＝＋－＠]"
"""How a text begins that a spreadsheet may take for a formula."""


def escape_formulas(texts: pl.Expr) -> pl.Expr:
    """The texts as they are written."""
    return pl.when(texts.str.contains(f"^{_FORMULA_START}")).then(pl.lit("'") + texts).otherwise(texts)


def unescape_formulas(texts: pl.Series) -> pl.Series:
    """The texts that were written so."""
    if texts.dtype != pl.String or not texts.str.starts_with("'").any():
        return texts
    return texts.str.replace(f"^'({_FORMULA_START})", "$1")


def unescape_ids(slices: Iterator[Slice], is_id: ColumnFilter, unescaped_counts: Counter[str]) -> Iterator[Slice]:
    """The records of a CSV file, which may have been written for a spreadsheet, with their ids as they were.

    is_id: which column of the file holds them; taken: counts the apostrophes taken off in each column.
    """
    for part in slices:
        ids = {name: unescape_formulas(values) for name, values in part.columns.items() if is_id(name)}
        here = Counter({name: _count_different(part.columns[name], values) for name, values in ids.items()})
        unescaped_counts.update(here)
        again = None if part.reread is None else partial(_reread_unescaped, part.reread, is_id, unescaped_counts, here)
        yield replace(part, columns={**part.columns, **ids}, again=again)


def unescaped_id_notes(unescaped_counts: Counter[str]) -> tuple[str, ...]:
    """A sentence on each column of which apostrophes were taken off."""
    return tuple(
        f"In {plural(count, 'row')} {name} begins with an apostrophe before a sign that "
        f"begins a formula, as tables for spreadsheets are written: it is read without the apostrophe."
        for name, count in unescaped_counts.items()
        if count
    )


def _count_different(first: pl.Series, second: pl.Series) -> int:
    return 0 if first is second else int((first != second).sum())


def _reread_unescaped(
    read: Callable[[], Iterator[Slice]], is_id: ColumnFilter, unescaped_counts: Counter[str], counts_before: Counter[str]
) -> Iterator[Slice]:
    """The same records, read with more care: what was counted of them is counted anew."""
    unescaped_counts.subtract(counts_before)
    return unescape_ids(read(), is_id, unescaped_counts)

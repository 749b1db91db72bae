"""How does a table become a CSV that a spreadsheet opens without running anything in it?

A text cell that a spreadsheet would take for a formula gets an apostrophe in front; so does one that
begins with an apostrophe before such a mark, which makes the step reversible: taking one apostrophe off
gives back the text.
"""

from __future__ import annotations

from typing import Final

import polars as pl

FORMULA: Final = r"^'*[=+\-@\t\r＝＋－＠]"
"""How a text begins that a spreadsheet may take for a formula."""


def to_csv(frame: pl.DataFrame) -> bytes:
    """UTF-8 CSV with a header; numbers stay numbers, null is an empty cell. `frame` has no lists."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(_defused(name) for name in texts).write_csv().encode("utf-8")


def _defused(name: str) -> pl.Expr:
    column = pl.col(name)
    return pl.when(column.str.contains(FORMULA)).then(pl.lit("'") + column).otherwise(column).alias(name)


"""How does a table become a CSV that a spreadsheet opens without running anything in it?

A text cell that a spreadsheet would take for a formula is defused as `files.formulas` says; ids are
restored where such a CSV is read again.
"""

from __future__ import annotations

import polars as pl

from calib_core.files.tables.formulas import escape_formulas


def safe_csv(frame: pl.DataFrame) -> bytes:
    """UTF-8 CSV with a header; numbers stay numbers, null is an empty cell. `frame` has no lists."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(escape_formulas(pl.col(name)).alias(name) for name in texts).write_csv().encode("utf-8")

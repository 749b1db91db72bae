"""Tables as the browser gets them."""

from __future__ import annotations

import math

import polars as pl
import pyarrow as pa

from pages.widgets.table import as_arrow


def test_tables_are_sent_with_types_that_the_browser_draws() -> None:
    """It knows no lists with long offsets, and would write NaN where a number is missing."""
    frame = pl.DataFrame(
        {"verdict": [["▲ over"], None], "ece": [math.nan, 0.5], "n": [1, None], "run": ["a", "b"]}
    )
    table = as_arrow(frame)
    assert table.to_pydict() == {
        "verdict": [["▲ over"], None],
        "ece": [None, 0.5],
        "n": [1, None],
        "run": ["a", "b"],
    }
    assert table.schema.field("verdict").type == pa.list_(pa.string())

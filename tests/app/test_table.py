"""Tables as the browser gets them."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
import streamlit as st

from pages.widgets.table import as_arrow, fit_to_page


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


NUMBER = st.column_config.NumberColumn("Number", format="%.4f")


def widths(columns: dict[str, Any], *names: str) -> list[int]:
    return [columns[name]["width"] for name in names]


def test_long_texts_give_way_so_that_a_table_fits_its_page() -> None:
    frame = pl.DataFrame(
        {
            "run": ["short"],
            "why": ["many words " * 30],
            "file": ["name " * 30],
            "ece": [0.12345],
            "n": [12345],
        }
    )
    columns = fit_to_page({"ece": NUMBER}, frame, room=500)
    run, why, file, ece, n = widths(columns, *frame.columns)
    assert 480 <= run + why + file + ece + n <= 500
    assert abs(why - file) <= 1
    assert run < 118 <= why
    wide = fit_to_page({"ece": NUMBER}, frame, room=5000)
    assert widths(wide, "run", "ece", "n") == [run, ece, n], "what is short has the same room on any page"
    assert widths(wide, "why", "file") == [280, 280]


@pytest.mark.parametrize(("room", "fits"), [(600, True), (400, False)])
def test_a_table_of_too_many_numbers_scrolls_and_hides_none(room: int, *, fits: bool) -> None:
    frame = pl.DataFrame({f"value {at}": [0.5] for at in range(9)})
    given = dict.fromkeys(frame.columns, NUMBER)
    columns = fit_to_page(given, frame, room=room)
    assert (columns != given) == fits
    assert not any(config.get("hidden") for config in columns.values())
    assert fit_to_page(columns, frame, room=room) == columns

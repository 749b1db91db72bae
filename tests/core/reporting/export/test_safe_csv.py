"""A downloaded table runs nothing in a spreadsheet, and reads back unchanged."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.reporting.export.table import safe_csv

STARTS = "=+-@\t\r＝＋－＠"


def csv_cells(frame: pl.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(safe_csv(frame).decode("utf-8"), newline="")))


def without_apostrophe(cell: str) -> str:
    """One apostrophe off, where what follows it would need one."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'")[:1] in set(STARTS) else cell


@pytest.mark.parametrize("start", STARTS)
def test_no_text_cell_begins_as_a_formula(start: str) -> None:
    (_header, (cell,)) = csv_cells(pl.DataFrame({"id": [f"{start}cmd|' /C calc'!A0"]}))
    assert cell == f"'{start}cmd|' /C calc'!A0"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00")), min_size=1, max_size=5))
def test_taking_one_apostrophe_off_gives_back_the_text(texts: list[str]) -> None:
    starred = [text or "x" for text in texts]
    rows = csv_cells(pl.DataFrame({"id": starred}))[1:]
    assert [without_apostrophe(cell) for (cell,) in rows] == starred


def test_numbers_stay_numbers_and_null_is_empty() -> None:
    frame = pl.DataFrame({"gap": [-0.5, None], "right": [True, False], "row": [1, 2]})
    assert csv_cells(frame)[1:] == [["-0.5", "true", "1"], ["", "false", "2"]]

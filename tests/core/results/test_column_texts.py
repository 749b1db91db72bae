"""Each kind of column is written as it is read."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.results.columns import Column, column_texts
from calib_core.views.view import ViewTable


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (Column("value", kind="number"), ["0.1235", "0.0000", "–"]),
        (Column("value", kind="mixed"), ["0.1235", "3.1e-05", "–"]),
        (Column("value", kind="number", digits=3), ["0.123", "0.000", "–"]),
        (Column("value", kind="signed", digits=1), ["+0.1", "+0.0", "–"]),
        (Column("value", kind="share", digits=2), ["12.35 %", "0.00 %", "–"]),
        (Column("p", kind="p"), ["0.005", "0.020", "–"]),
        (Column("p", kind="p", draws="draws"), ["≤ 0.005", "0.020", "–"]),
        (Column("value", kind="number", upper="high"), ["0.1235 to 0.2000", "0.0000", "–"]),
    ],
)
def test_cells(column: Column, texts: list[str]) -> None:
    frame = pl.DataFrame(
        {
            "value": [0.12346, 0.000031, None],
            "high": [0.2, None, None],
            "p": [0.005, 0.02, None],
            "draws": [199, 199, None],
        }
    )
    assert column_texts(column, frame) == texts


def test_a_run_that_is_called_as_another_column_keeps_its_own() -> None:
    frame = pl.DataFrame({"number": ["RSD"], "own": [0.5]})
    table = ViewTable("", frame, (Column("number", "Number"), Column("own", "Number", "number")))
    assert table.texts().row(0) == ("RSD", "0.5000")

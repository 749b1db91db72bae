"""Texts that begin like formulas are escaped when written and restored when read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core import readers
from calib_core.readers.format import ReadOptions
from calib_core.readers.table.csv_reader import escape_formulas, unescape_formulas
from calib_core.reporting.export.table import safe_csv
from core.readers.answer_run_checks import answer_runs

FORMULAS = ["=1+1", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "'=1", "''-1"]


@given(st.lists(st.sampled_from(FORMULAS) | st.text(alphabet="'=+-@ab1\t")))
def test_escaping_and_unescaping_give_back_the_text(texts: list[str]) -> None:
    written = pl.DataFrame({"id": texts}, {"id": pl.String}).select(id=escape_formulas(pl.col("id")))["id"]
    assert not [text for text in written if text.startswith(tuple("=+-@\t\r＝＋－＠"))]
    assert unescape_formulas(written).to_list() == texts


@pytest.mark.parametrize("text", ["'a'", "'; DROP TABLE x", "a=1", "'", ""])
def test_other_text_is_left_alone(text: str) -> None:
    assert unescape_formulas(pl.Series([text])).to_list() == [text]
    assert pl.select(escape_formulas(pl.lit(text))).item() == text


def test_only_ids_of_csv_are_restored(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "id": ["=1", "'=2", "-3", "q4"],
            "prediction": ["=1"] * 4,
            "confidence": [0.5] * 4,
            "correct": [1, 0, 1, 0],
        }
    )
    path = tmp_path / "export.csv"
    path.write_bytes(safe_csv(frame))
    (run,) = answer_runs(readers.read_in_this_process(path, file=path.name).good_runs)
    assert run.rows["id"].to_list() == frame["id"].to_list()
    assert run.rows["prediction"].to_list() == ["'=1"] * 4
    path.write_bytes(b'{"id": "\'=1", "confidence": 0.5, "correct": 1}\n')
    (run,) = answer_runs(readers.read_in_this_process(path, file=path.name).good_runs)
    assert run.rows["id"].to_list() == ["'=1"]


def test_a_row_that_is_read_with_care_is_restored_too(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("id,confidence,correct\n'=1,0.5,1\n'=2,oops,1\n'=3,0.25,0\n")
    (run,) = answer_runs(readers.read_in_this_process(path, file=path.name).good_runs)
    assert run.rows["id"].to_list() == ["=1", "=3"]


def test_removed_apostrophes_are_noted(tmp_path: Path) -> None:
    """A table of another program may have such ids: none silently loses its apostrophe."""
    path = tmp_path / "export.csv"
    path.write_text("qid,confidence,correct\n'=1,0.5,1\n'=2,oops,1\nq3,0.25,0\n'a',0.25,0\n")
    (note,) = readers.read_in_this_process(path, file=path.name, options=ReadOptions({"qid": "id"})).notes
    assert note.startswith("In 2 rows qid begins with an apostrophe before a sign that begins a formula")
    path.write_text("id,confidence,correct\n'a,0.5,1\n")
    assert readers.read_in_this_process(path, file=path.name).notes == ()

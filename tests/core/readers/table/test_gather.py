"""Do several columns become one list, each element in its place?"""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest

from calib_core.readers.format import Reading
from calib_core.readers.table import json_reader
from calib_core.readers.table.list_cells import as_lists
from calib_core.readers.table.reader import combine_columns
from core.readers.answer_runs import of_answers

ReadText = Callable[..., Reading]


def test_columns_of_one_element_each_become_a_list(read_text: ReadText) -> None:
    content = "id,p_A,p_B,gold,first,second\n1,0.7,0.3,A,x,x\n2,0.5,,b,,y\n3,,,0,,\n"
    probs = dict.fromkeys(("p_B", "p_A"), "choice_probs")
    samples = dict.fromkeys(("second", "first"), "samples")
    (run,) = of_answers(read_text(content, columns=probs | samples).runs(skip_bad_rows=False))
    assert run.rows["choice_probs"].to_list() == [[0.7, 0.3], None, None]
    assert run.rows["samples"].to_list() == [["x", "x"], [None, "y"], None]
    assert run.rows["gold_index"].to_list() == [0, None, None]


def test_a_wrong_element_is_told_with_its_columns(read_text: ReadText) -> None:
    columns = dict.fromkeys(("p_A", "p_B"), "choice_probs")
    reading = read_text("p_A,p_B,gold\n0.5,0.5,A\n1.5,-0.5,A\n", columns=columns)
    (cell,) = [cell for problem in reading.problems for cell in problem.first]
    assert (cell.row, cell.column, cell.found) == (2, "p_A, p_B", "1.5, -0.5")


def test_elements_stay_in_place_when_keys_come_and_go(
    read_text: ReadText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_reader, "ROWS_PER_SLICE", 1)
    lines = [{"a": "x"}, {"b": "y"}, {"b": "y", "a": "x"}]
    columns = dict.fromkeys(("b", "a"), "samples")
    reading = read_text("\n".join(map(json.dumps, lines)), columns=columns)
    (run,) = of_answers(reading.runs(skip_bad_rows=False))
    assert run.rows["samples"].to_list() == [["x", None], [None, "y"], ["x", "y"]]


def test_numbers_stay_numbers_and_other_mixtures_become_text() -> None:
    whole, narrow = pl.Series([1, 0]), pl.Series([0.5, None], dtype=pl.Float32)
    assert combine_columns([narrow, narrow]).dtype == pl.List(pl.Float32)
    assert combine_columns([whole, narrow]).to_list() == [[1.0, 0.5], [0.0, None]]
    assert combine_columns([whole, pl.Series(["x", " "])]).to_list() == [["1", "x"], ["0", None]]
    assert combine_columns([pl.Series([None]), pl.Series([None])]).to_list() == [None]


@pytest.mark.parametrize("odd", [pl.Series([["x"]]), pl.Series([b"\xff"])])
def test_what_is_no_plain_element_is_no_list(odd: pl.Series) -> None:
    _, wrong = as_lists(combine_columns([pl.Series(["x"]), odd]))
    assert wrong.to_list() == [True]

"""Which values are lists, and whether their elements are valid."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from calib_core.readers.table import cells, list_cells
from calib_core.readers.table.cells import JudgedColumn
from calib_core.readers.table.columns import COLUMN_JUDGES
from calib_core.readers.table.raw import series_from_values

TEXTS = list_cells.list_judge(cells.judge_sample_text, pl.String())
PROBS = list_cells.list_judge(cells.judge_element_probability, pl.Float64())


def positions_by_kind(judged: JudgedColumn) -> dict[str, list[int]]:
    return {fault.kind: fault.positions.tolist() for fault in judged.faults}


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('["7", "8"]', ["7", "8"]),
        ("['7', '8']", ["7", "8"]),
        ("('7', '8')", ["7", "8"]),
        ("['it\\'s', \"x\"]", ["it's", "x"]),
        ('[7, "7", 7.0, true, null]', ["7", "7", "7.0", "true", None]),
        ("['\\\\d', '\\d']", ["\\d", "\\d"]),
        ("['\\ud800']", ["�"]),
        ("[]", None),
        ("", None),
    ],
)
def test_a_list_in_a_cell(cell: str, value: list[str] | None) -> None:
    judged = TEXTS(pl.Series([cell]))
    assert judged.values.to_list() == [value]
    assert not judged.faults


@pytest.mark.parametrize(
    "cell",
    [
        "7 7 8",
        "7",
        '"7"',
        "{'a': 1}",
        "['7', '8' '7']",  # Python would join the last two
        "('7' '8')",
        "('7')",
        "['it''s']",
        "[7, 8 9]",
        "[7,, 8]",
        "[007 8]",
        "['\\U00110000']",
        "['7' other]",
        "[np.float64(0.5]",
        "array([0.5), 1]",
        "[['7']]",
        '[{"a": 1}]',
        '{"a": 1, "a": 2}',
        "['7'",
        "[['7'] ['8']]",
        "[" * 5000,
        "['" * 5000,
        "[" + "9" * 5000 + " 1]",
    ],
)
def test_what_is_not_a_list_of_plain_values(cell: str) -> None:
    judged = TEXTS(pl.Series(['["7"]', cell]))
    assert judged.values.to_list() == [["7"], None]
    assert positions_by_kind(judged) == {"not a list": [1]}


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("['0' '4' '2']", ["0", "4", "2"]),
        ("""["it's" 'a "b"' 'x\\n\\\\d' '\\u200b']""", ["it's", 'a "b"', "x\n\\d", "\u200b"]),
        ("[ 1.  -0.5\n  2.e-05 .5]", [1.0, -0.5, 2e-05, 0.5]),
        ("[nan, None, -inf, np.float64(0.5), np.str_('a)')]", [None, None, -math.inf, 0.5, "a)"]),
        ("[ True False]", [True, False]),
        ("[np.True_, np.False_]", [True, False]),
        ("array([0.1, 0.9], dtype=float32)", [0.1, 0.9]),
        ("tensor([0.5000], device='cuda:0')", [0.5]),
        ("array([], dtype=float64)", []),
        ("('a',)", ["a"]),
        ("()", []),
    ],
)
def test_a_list_as_python_or_numpy_prints_it(cell: str, value: list[object]) -> None:
    expected, _ = series_from_values("", [value])
    lists, is_no_list = list_cells.as_lists(pl.Series([cell]))
    assert lists.to_list() == expected.to_list()
    assert not is_no_list.any()


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)
    | st.lists(st.integers(-(2**62), 2**62), min_size=1)
    | st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1)
)
def test_a_list_is_the_same_however_it_is_written(value: list[float] | list[str]) -> None:
    array = np.array(value)
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        written = [
            str(value),
            json.dumps(value),
            str(tuple(value)),
            str(array),
            repr(array),
            str(list(array)),
        ]
    lists, is_no_list = list_cells.as_lists(pl.Series(written))
    assert not is_no_list.any()
    assert lists.to_list() == series_from_values("", [value] * len(written))[0].to_list()


@pytest.mark.parametrize("array", [np.arange(2000), np.full(2000, "it's ...")])
def test_an_abbreviated_list_has_lost_values(array: NDArray[Any]) -> None:
    judged = TEXTS(pl.Series([str(array), repr(array), "['... '", "['...' 'x']"]))
    assert positions_by_kind(judged) == {"list without some of its elements": [0, 1], "not a list": [2]}
    assert judged.values.to_list() == [None, None, None, ["...", "x"]]


def test_code_in_a_cell_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judged = TEXTS(pl.Series(["[__import__('os').mkdir('made')]"]))
    assert positions_by_kind(judged) == {"not a list": [0]}
    assert not list(tmp_path.iterdir())


def test_one_wrong_element_makes_the_row_wrong_and_is_shown() -> None:
    judged = PROBS(pl.Series([[0.5, 0.5], [1.1, -0.1], None, [0.2, math.nan]]))
    assert judged.values.to_list()[0] == [0.5, 0.5]
    assert positions_by_kind(judged) == {"out of range": [1], "not a number": [3]}
    shown = {fault.kind: fault.examples for fault in judged.faults}
    assert shown == {"out of range": ("1.1, -0.1",), "not a number": ("NaN",)}


def test_logits_are_any_finite_numbers_and_minus_infinity() -> None:
    raw = [[2.5, -1e308], [-math.inf, 0.0], [math.inf, 0.0], [math.nan, 0.0], [-math.inf, -math.inf]]
    judged = COLUMN_JUDGES["choice_logits"](pl.Series(raw))
    assert judged.values.to_list()[:2] == raw[:2]
    assert positions_by_kind(judged) == {
        "out of range": [2],
        "not a number": [3],
        "no choice is possible": [4],
    }
    texts = COLUMN_JUDGES["choice_logits"](pl.Series(['[2.5, "-inf"]', "[1, Infinity]"]))
    assert texts.values.to_list()[0] == [2.5, -math.inf]
    assert [fault.positions.tolist() for fault in texts.faults] == [[1]]


def test_no_more_wrong_elements_are_shown_than_can_be_read() -> None:
    (fault,) = PROBS(pl.Series([[2.0] * 50, [3.0]])).faults
    assert fault.positions.tolist() == [0, 1]
    assert fault.examples == ("2.0, 2.0, 2.0, 2.0, 2.0", "3.0")


def test_moved_elements_are_counted_by_row() -> None:
    judged = PROBS(pl.Series([[0.5], [1.0000001, -0.0000001], [0.2]]))
    assert judged.values.to_list() == [[0.5], [1.0, 0.0], [0.2]]
    assert judged.clipped_positions.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [pl.Float16(), pl.Float32()])
def test_lists_keep_their_stored_dtype(dtype: pl.DataType) -> None:
    raw = pl.Series([[0.3, 0.7], None, []], dtype=pl.List(dtype))
    judged = PROBS(raw)
    assert judged.values.dtype == pl.List(dtype)
    assert judged.values.to_list() == [raw.to_list()[0], None, None]


@pytest.mark.parametrize("last", [0.25, -0.0, 1.0000001])
@pytest.mark.parametrize(
    "rows",
    [
        [[0.5, 0.25], [0.75, 1.0]],
        [[0.5], [0.75, 1.0], [0.5, None, 0.1]],
        [[0.5, 0.5], [], None, [0.75, 0.1]],
        [None, [], [0.5]],
    ],
)
def test_every_row_keeps_its_own_elements(rows: list[list[float] | None], last: float) -> None:
    judged = PROBS(pl.Series("p", [*rows, [last]], dtype=pl.List(pl.Float64)))
    expected = [row or None for row in rows] + [[min(max(last, 0.0), 1.0)]]
    assert repr(judged.values.to_list()) == repr(expected).replace("-0.0", "0.0")
    assert judged.values.name == "p"


def test_a_column_without_any_list() -> None:
    assert PROBS(pl.Series([None, None])).values.to_list() == [None, None]
    assert positions_by_kind(PROBS(pl.Series([0.5, None]))) == {"not a list": [0]}
    assert positions_by_kind(PROBS(pl.Series([[[0.5]], None]))) == {"not a list": [0]}


@pytest.mark.parametrize(
    ("third", "good"), [(0.2, True), (0.201, True), (0.199, True), (0.2011, False), (0.1, False)]
)
def test_a_distribution_sums_to_one_within_a_thousandth(*, third: float, good: bool) -> None:
    judged = COLUMN_JUDGES["choice_probs"](pl.Series([[0.5, 0.3, third]]))
    assert positions_by_kind(judged) == ({} if good else {"distribution does not sum to 1": [0]})
    assert judged.values.to_list() == [[0.5, 0.3, third] if good else None]
    assert judged.inexact_sums.tolist() == ([0] if good and third != 0.2 else [])


def test_the_sum_is_shown() -> None:
    (fault,) = COLUMN_JUDGES["choice_probs"](pl.Series(["[0.6, 0.1, 0.1, 0.1]"])).faults
    assert fault.examples == ("0.9",)


def test_a_distribution_with_a_hole_is_missing() -> None:
    judged = COLUMN_JUDGES["choice_probs"](pl.Series(["[0.5, 0.5, null, 0]", "[0.5, 0.5]"]))
    assert judged.values.to_list() == [None, [0.5, 0.5]]
    assert not judged.faults


def test_an_unknown_log_probability_stays_unknown() -> None:
    judged = COLUMN_JUDGES["choice_logprobs"](pl.Series(['[-0.5, null, "-inf"]']))
    assert judged.values.to_list() == [[-0.5, None, -math.inf]]
    assert not judged.faults


def test_at_least_one_choice_is_possible() -> None:
    judged = COLUMN_JUDGES["choice_logprobs"](
        pl.Series([[-math.inf, -math.inf], [-math.inf, None], [-math.inf, -1.0]])
    )
    assert positions_by_kind(judged) == {"no choice is possible": [0]}
    assert judged.values.to_list() == [None, [-math.inf, None], [-math.inf, -1.0]]
    assert "inf" in judged.faults[0].examples[0].lower()


def test_counts_are_positive_whole_numbers() -> None:
    assert positions_by_kind(COLUMN_JUDGES["choice_token_counts"](pl.Series([[1, 2], [0, 1], [3, 4]]))) == {
        "not a whole number": [1]
    }
    assert COLUMN_JUDGES["choice_token_counts"](pl.Series(["[1, 2]"])).values.dtype == pl.List(pl.Int32)


def test_more_than_twenty_wrong_rows_are_counted_and_twenty_shown() -> None:
    (fault,) = PROBS(pl.Series([[2.0]] * 30)).faults
    assert fault.positions.size == 30
    assert len(fault.examples) == 20

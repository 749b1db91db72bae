"""Is gold found among the choices by text, then number, then letter?"""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.files.gold import resolve

PROBS = [0.7, 0.1, 0.1, 0.1]


def rows(gold: list[str | None], choices: list[list[str]] | None = None, **more: object) -> pl.DataFrame:
    frame = pl.DataFrame({"gold": pl.Series(gold, dtype=pl.String), "choice_probs": [PROBS] * len(gold)})
    frame = frame if choices is None else frame.with_columns(choices=pl.Series(choices))
    return frame.with_columns(**{name: pl.Series(values) for name, values in more.items()})  # type: ignore[arg-type]


def kinds(frame: pl.DataFrame) -> dict[tuple[str, str], list[int]]:
    return {(column, fault.kind): fault.at.tolist() for column, fault in resolve(frame)[1]}


@pytest.mark.parametrize(
    ("gold", "index"), [("0", 0), ("3", 3), ("2.0", 2), (" 1 ", 1), ("A", 0), ("d", 3), (None, None)]
)
def test_without_choices_gold_is_a_position_or_a_letter(gold: str | None, index: int | None) -> None:
    position, faults = resolve(rows([gold]))
    assert position.to_list() == [index]
    assert not faults


@pytest.mark.parametrize("gold", ["4", "E", "-1", "1.5", "A,B", "Paris", "99999999999", "AA"])
def test_anything_else_lies_outside_the_classes(gold: str) -> None:
    frame = rows(["A", gold])
    assert kinds(frame) == {("gold", "label outside the classes"): [1]}
    assert resolve(frame)[0].to_list() == [0, None]


def test_text_comes_before_number_and_letter() -> None:
    position, faults = resolve(
        rows(["0", "B", "c"], [["3", "2", "1", "0"], ["B", "x", "y", "z"], ["w", "x", "y", "z"]])
    )
    assert position.to_list() == [3, 0, 2]
    assert not faults


def test_a_text_that_fits_two_choices_fits_none() -> None:
    frame = rows(["Paris", "Rome"], [["Paris", "Paris", "Oslo", "Bern"], ["Paris", "Rome", "Oslo", "Bern"]])
    assert kinds(frame) == {("gold", "label fits several choices"): [0]}
    assert resolve(frame)[0].to_list() == [None, 1]


def test_a_stored_index_wins_and_must_lie_within_the_choices() -> None:
    frame = rows(["A", "B", "C"], gold_index=[3, 4, None])
    assert kinds(frame) == {("gold_index", "label outside the classes"): [1]}
    assert resolve(frame)[0].to_list() == [3, None, 2]


def test_a_letter_that_is_also_the_text_of_two_choices_is_not_read_as_a_letter() -> None:
    frame = rows(["A"], [["A", "A", "x", "y"]])
    assert kinds(frame) == {("gold", "label fits several choices"): [0]}
    assert resolve(frame)[0].to_list() == [None]


def test_gold_may_be_any_text_where_its_index_is_stored() -> None:
    position, faults = resolve(rows(["the third", "Paris"], gold_index=[2, 0]))
    assert position.to_list() == [2, 0]
    assert not faults


def test_rows_without_numbers_for_their_choices_are_not_judged() -> None:
    frame = pl.DataFrame(
        {"gold": ["Paris", "x"], "choice_probs": pl.Series([None, None], dtype=pl.List(pl.Float64))}
    )
    assert resolve(frame)[0].to_list() == [None, None]
    assert not resolve(frame)[1]
    assert resolve(frame.drop("choice_probs"))[0].to_list() == [None, None]


def test_each_row_has_its_own_number_of_choices() -> None:
    frame = pl.DataFrame({"gold": ["D", "D"], "choice_logprobs": [[-1.0] * 4, [-1.0] * 3]})
    assert resolve(frame)[0].to_list() == [3, None]
    assert kinds(frame) == {("gold", "label outside the classes"): [1]}


def test_index_alone_is_enough() -> None:
    frame = pl.DataFrame({"gold_index": pl.Series([1, 9], dtype=pl.Int32), "choice_probs": [PROBS, PROBS]})
    assert resolve(frame)[0].to_list() == [1, None]

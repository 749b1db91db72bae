"""Gold is matched with the choices by text, then number, then letter."""

from __future__ import annotations

import json

import polars as pl
import pytest

from calib_core.methods.answers.outcomes import greedy_correct
from calib_core.readers.table.gold_match import match_gold
from calib_core.runs import AnswerRun
from core.readers.conftest import ReadText

PROBS = [0.7, 0.1, 0.1, 0.1]


def rows(gold: list[str | None], choices: list[list[str]] | None = None, **more: object) -> pl.DataFrame:
    frame = pl.DataFrame({"gold": pl.Series(gold, dtype=pl.String), "choice_probs": [PROBS] * len(gold)})
    frame = frame if choices is None else frame.with_columns(choices=pl.Series(choices))
    return frame.with_columns(**{name: pl.Series(values) for name, values in more.items()})  # type: ignore[arg-type]


def faults_by_kind(frame: pl.DataFrame) -> dict[tuple[str, str], list[int]]:
    return {(column, fault.kind): fault.positions.tolist() for column, fault in match_gold(frame).faults}


@pytest.mark.parametrize(
    ("gold", "index"),
    [
        ("0", 0),
        ("3", 3),
        ("2.0", 2),
        (" 1 ", 1),
        ("A", 0),
        ("d", 3),
        ("(B)", 1),
        ("[c]", 2),
        ("B.", 1),
        (None, None),
    ],
)
def test_without_choices_gold_is_a_position_or_a_letter(gold: str | None, index: int | None) -> None:
    golds = match_gold(rows([gold]))
    assert golds.gold_index.to_list() == [index]
    assert not golds.faults


@pytest.mark.parametrize("gold", ["4", "E", "-1", "1.5", "A,B", "Paris", "99999999999", "AA", "(E)", "(1)"])
def test_anything_else_lies_outside_the_classes(gold: str) -> None:
    frame = rows(["A", gold])
    assert faults_by_kind(frame) == {("gold", "label outside the classes"): [1]}
    assert match_gold(frame).gold_index.to_list() == [0, None]


def test_text_comes_before_number_and_letter() -> None:
    golds = match_gold(
        rows(["0", "B", "c"], [["3", "2", "1", "0"], ["B", "x", "y", "z"], ["w", "x", "y", "z"]])
    )
    assert golds.gold_index.to_list() == [3, 0, 2]
    assert not golds.faults


def test_a_text_that_fits_two_choices_fits_none() -> None:
    frame = rows(["Paris", "Rome"], [["Paris", "Paris", "Oslo", "Bern"], ["Paris", "Rome", "Oslo", "Bern"]])
    assert faults_by_kind(frame) == {("gold", "label fits several choices"): [0]}
    assert match_gold(frame).gold_index.to_list() == [None, 1]


def test_a_stored_index_wins_and_must_lie_within_the_choices() -> None:
    frame = rows(["D", "B", "C"], gold_index=[3, 4, None])
    assert faults_by_kind(frame) == {("gold_index", "label outside the classes"): [1]}
    assert match_gold(frame).gold_index.to_list() == [3, None, 2]


def test_gold_and_its_index_must_name_one_choice() -> None:
    frame = rows(
        ["B", "1", "y", "none of them", "D"],
        [["w", "x", "y", "z"]] * 5,
        gold_index=[1, 2, 2, 0, None],
    )
    (problem,) = match_gold(frame).faults
    column, fault = problem
    assert (column, fault.kind, fault.positions.tolist()) == ("gold", "gold and gold_index differ", [1])
    assert fault.examples == ("1, and gold_index 2",)


def test_a_letter_that_is_also_the_text_of_two_choices_is_not_read_as_a_letter() -> None:
    frame = rows(["A"], [["A", "A", "x", "y"]])
    assert faults_by_kind(frame) == {("gold", "label fits several choices"): [0]}
    assert match_gold(frame).gold_index.to_list() == [None]


def test_gold_may_be_any_text_where_its_index_is_stored() -> None:
    golds = match_gold(rows(["the third", "Paris"], gold_index=[2, 0]))
    assert golds.gold_index.to_list() == [2, 0]
    assert not golds.faults


def test_choices_without_numbers_tell_the_index_and_blame_nothing() -> None:
    frame = pl.DataFrame(
        {"gold": ["y", "2", "(a)", "Y", "x", None], "choices": [["x", "y", "z"]] * 4 + [["x", "x"], ["x"]]}
    )
    golds = match_gold(frame)
    assert golds.gold_index.to_list() == [1, 2, 0, None, None, None]
    assert not golds.faults


def test_rows_without_numbers_for_their_choices_are_not_judged() -> None:
    frame = pl.DataFrame(
        {"gold": ["Paris", "x"], "choice_probs": pl.Series([None, None], dtype=pl.List(pl.Float64))}
    )
    assert match_gold(frame).gold_index.to_list() == [None, None]
    assert not match_gold(frame).faults
    assert match_gold(frame.drop("choice_probs")).gold_index.to_list() == [None, None]


def test_each_row_has_its_own_number_of_choices() -> None:
    frame = pl.DataFrame({"gold": ["D", "D"], "choice_logprobs": [[-1.0] * 4, [-1.0] * 3]})
    assert match_gold(frame).gold_index.to_list() == [3, None]
    assert faults_by_kind(frame) == {("gold", "label outside the classes"): [1]}


def test_index_alone_is_enough() -> None:
    frame = pl.DataFrame({"gold_index": pl.Series([1, 9], dtype=pl.Int32), "choice_probs": [PROBS, PROBS]})
    assert match_gold(frame).gold_index.to_list() == [1, None]


@pytest.mark.parametrize(
    ("gold", "looks"),
    [
        (["1", "2", "4", "3"], True),
        (["4", "4.0", None, "2"], True),
        (["1", "2", "4", "Z"], True),
        (["A", "B", "D", "4"], False),
        (["1", "2", "3", "2"], False),
        (["0", "1", "4", "2"], False),
        (["1", "2", "4", "5"], False),
        ([None, None], False),
    ],
)
def test_positions_that_look_counted_from_one(gold: list[str | None], *, looks: bool) -> None:
    assert match_gold(rows(gold)).one_based_column == ("gold" if looks else None)
    stored = pl.Series([int(float(part)) if part and part not in "ABDZ" else None for part in gold])
    held = rows(gold).drop("gold").with_columns(gold_index=stored.cast(pl.Int32))
    assert match_gold(held).one_based_column == ("gold_index" if looks or gold[0] == "A" else None)


def test_a_choices_text_is_not_a_position() -> None:
    assert match_gold(rows(["1", "4"], [["4", "3", "2", "1"]] * 2)).one_based_column is None
    assert match_gold(rows(["1", "4"], [["9", "8", "7", "6"]] * 2)).one_based_column == "gold"


def test_each_run_counts_in_its_own_way() -> None:
    mixed = rows(["0", "1", "1", "4"], model=["a", "a", "b", "b"])
    assert match_gold(mixed).one_based_column == "gold"
    assert match_gold(mixed.drop("model")).one_based_column is None


def test_without_choices_nothing_is_counted() -> None:
    assert match_gold(pl.DataFrame({"gold": ["1", "2"]})).one_based_column is None
    assert match_gold(pl.DataFrame({"confidence": [0.5]})).one_based_column is None


def test_golds_that_are_text_and_position_are_remarked_on() -> None:
    frame = rows(["0", "2", "3", "x"], [["3", "2", "1", "0"], ["0", "1", "2", "3"], ["w", "x", "y", "z"], []])
    (remark,) = match_gold(frame).notes
    assert remark.startswith("In 1 row gold is one choice's text and another one's position")
    assert match_gold(frame.with_columns(gold_index=pl.lit(3, pl.Int32))).notes == ()
    assert match_gold(frame.drop("choices")).notes == ()


def test_a_number_may_be_the_text_of_a_choice_that_is_not_given() -> None:
    assert faults_by_kind(rows(["2", "2"], gold_index=[0, 1])) == {}
    given = rows(["2", "2"], [["a", "b", "c", "d"]] * 2, gold_index=[0, 2])
    assert faults_by_kind(given) == {("gold", "gold and gold_index differ"): [0]}


def test_a_list_of_one_gold_is_gold() -> None:
    frame = rows([None, None, "A"], gold_all=[["B"], ["A", "B"], ["C"]])
    assert match_gold(frame).gold_index.to_list() == [1, None, 0]
    assert match_gold(frame.drop("gold")).gold_index.to_list() == [1, None, 2]


def test_what_gold_means_is_decided_for_the_column() -> None:
    """All golds are letters, so the third is one too, although a choice of its row reads "B"."""
    choices = [["w", "x", "y", "z"], ["q", "r", "s", "t"], ["B", "A", "vitamin", "C"]]
    golds = match_gold(rows(["A", "D", "B"], choices))
    assert golds.gold_index.to_list() == [0, 3, 1]
    assert not golds.faults
    (note,) = golds.notes
    assert note.startswith("In 1 row gold is one choice's position or letter, as in all others, and also")
    numbers = match_gold(rows(["0", "3", "1"], [*choices[:2], ["1", "7", "9", "11"]]))
    assert numbers.gold_index.to_list() == [0, 3, 1]


def test_golds_of_two_kinds_are_read_one_by_one() -> None:
    golds = match_gold(rows(["A", "x", "B"], [["w", "x", "y", "z"]] * 2 + [["B", "a", "b", "c"]]))
    assert golds.gold_index.to_list() == [0, 1, 0]
    (note,) = golds.notes
    assert note.startswith(
        "In 1 row gold is one choice's text and another one's letter, and is read as the text"
    )


def test_the_meaning_is_that_of_the_run() -> None:
    choices = [["w", "x", "y", "z"]] * 3 + [["B", "a", "b", "c"]] * 2
    golds = match_gold(rows(["A", "D", "C", "B", "c"], choices, model=["m"] * 3 + ["n"] * 2))
    assert golds.gold_index.to_list() == [0, 3, 2, 0, 3]


@pytest.mark.parametrize(("gold", "position"), [("A", 3), ("D", 0), ("d", 0)])
def test_a_letter_is_looked_up_among_the_labels_of_the_choices(gold: str, position: int) -> None:
    assert match_gold(rows([gold]), ("D", "C", "B", "A")).gold_index.to_list() == [position]


def test_an_integer_counts_in_the_order_of_the_labels() -> None:
    golds = match_gold(rows(["0", "A"]), ("D", "C", "B", "A"))
    assert golds.gold_index.to_list() == [0, 3]
    assert golds.faults == ()


@pytest.mark.parametrize(
    ("golds", "expected"),
    [
        ([["Paris"], ["4", "four"], ["x"]], [True, True, False]),
        ([["Paris", "paris, France"], "four", ["x", "y"]], [True, True, False]),
        ([["Paris"], None, []], [True, None, None]),
    ],
)
def test_any_of_several_accepted_answers_is_right(
    golds: list[object], expected: list[bool | None], read_text: ReadText
) -> None:
    rows = [
        {"prediction": answer, "confidence": 0.5, "gold": gold}
        for answer, gold in zip(("Paris", "four", "z"), golds, strict=True)
    ]
    (run,) = read_text("\n".join(map(json.dumps, rows))).runs(skip_bad_rows=False)
    assert isinstance(run, AnswerRun)
    assert greedy_correct(run).to_list() == expected

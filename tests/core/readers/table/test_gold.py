"""Is gold found among the choices by text, then number, then letter?"""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.readers.table.gold_match import gold_as_text_notes, match_gold, one_based_column

PROBS = [0.7, 0.1, 0.1, 0.1]


def rows(gold: list[str | None], choices: list[list[str]] | None = None, **more: object) -> pl.DataFrame:
    frame = pl.DataFrame({"gold": pl.Series(gold, dtype=pl.String), "choice_probs": [PROBS] * len(gold)})
    frame = frame if choices is None else frame.with_columns(choices=pl.Series(choices))
    return frame.with_columns(**{name: pl.Series(values) for name, values in more.items()})  # type: ignore[arg-type]


def kinds(frame: pl.DataFrame) -> dict[tuple[str, str], list[int]]:
    return {(column, fault.kind): fault.positions.tolist() for column, fault in match_gold(frame)[1]}


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
    position, faults = match_gold(rows([gold]))
    assert position.to_list() == [index]
    assert not faults


@pytest.mark.parametrize("gold", ["4", "E", "-1", "1.5", "A,B", "Paris", "99999999999", "AA", "(E)", "(1)"])
def test_anything_else_lies_outside_the_classes(gold: str) -> None:
    frame = rows(["A", gold])
    assert kinds(frame) == {("gold", "label outside the classes"): [1]}
    assert match_gold(frame)[0].to_list() == [0, None]


def test_text_comes_before_number_and_letter() -> None:
    position, faults = match_gold(
        rows(["0", "B", "c"], [["3", "2", "1", "0"], ["B", "x", "y", "z"], ["w", "x", "y", "z"]])
    )
    assert position.to_list() == [3, 0, 2]
    assert not faults


def test_a_text_that_fits_two_choices_fits_none() -> None:
    frame = rows(["Paris", "Rome"], [["Paris", "Paris", "Oslo", "Bern"], ["Paris", "Rome", "Oslo", "Bern"]])
    assert kinds(frame) == {("gold", "label fits several choices"): [0]}
    assert match_gold(frame)[0].to_list() == [None, 1]


def test_a_stored_index_wins_and_must_lie_within_the_choices() -> None:
    frame = rows(["D", "B", "C"], gold_index=[3, 4, None])
    assert kinds(frame) == {("gold_index", "label outside the classes"): [1]}
    assert match_gold(frame)[0].to_list() == [3, None, 2]


def test_gold_and_its_index_must_name_one_choice() -> None:
    frame = rows(
        ["B", "1", "y", "none of them", "D"],
        [["w", "x", "y", "z"]] * 5,
        gold_index=[1, 2, 2, 0, None],
    )
    (problem,) = match_gold(frame)[1]
    column, fault = problem
    assert (column, fault.kind, fault.positions.tolist()) == ("gold", "gold and gold_index differ", [1])
    assert fault.examples == ("1, and gold_index 2",)


def test_a_letter_that_is_also_the_text_of_two_choices_is_not_read_as_a_letter() -> None:
    frame = rows(["A"], [["A", "A", "x", "y"]])
    assert kinds(frame) == {("gold", "label fits several choices"): [0]}
    assert match_gold(frame)[0].to_list() == [None]


def test_gold_may_be_any_text_where_its_index_is_stored() -> None:
    position, faults = match_gold(rows(["the third", "Paris"], gold_index=[2, 0]))
    assert position.to_list() == [2, 0]
    assert not faults


def test_choices_without_numbers_tell_the_index_and_blame_nothing() -> None:
    frame = pl.DataFrame(
        {"gold": ["y", "2", "(a)", "Y", "x", None], "choices": [["x", "y", "z"]] * 4 + [["x", "x"], ["x"]]}
    )
    position, faults = match_gold(frame)
    assert position.to_list() == [1, 2, 0, None, None, None]
    assert not faults


def test_rows_without_numbers_for_their_choices_are_not_judged() -> None:
    frame = pl.DataFrame(
        {"gold": ["Paris", "x"], "choice_probs": pl.Series([None, None], dtype=pl.List(pl.Float64))}
    )
    assert match_gold(frame)[0].to_list() == [None, None]
    assert not match_gold(frame)[1]
    assert match_gold(frame.drop("choice_probs"))[0].to_list() == [None, None]


def test_each_row_has_its_own_number_of_choices() -> None:
    frame = pl.DataFrame({"gold": ["D", "D"], "choice_logprobs": [[-1.0] * 4, [-1.0] * 3]})
    assert match_gold(frame)[0].to_list() == [3, None]
    assert kinds(frame) == {("gold", "label outside the classes"): [1]}


def test_index_alone_is_enough() -> None:
    frame = pl.DataFrame({"gold_index": pl.Series([1, 9], dtype=pl.Int32), "choice_probs": [PROBS, PROBS]})
    assert match_gold(frame)[0].to_list() == [1, None]


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
    assert one_based_column(rows(gold)) == ("gold" if looks else None)
    stored = pl.Series([int(float(part)) if part and part not in "ABDZ" else None for part in gold])
    held = rows(gold).drop("gold").with_columns(gold_index=stored.cast(pl.Int32))
    assert one_based_column(held) == ("gold_index" if looks or gold[0] == "A" else None)


def test_a_choices_text_is_no_position() -> None:
    assert one_based_column(rows(["1", "4"], [["4", "3", "2", "1"]] * 2)) is None
    assert one_based_column(rows(["1", "4"], [["9", "8", "7", "6"]] * 2)) == "gold"


def test_each_run_counts_in_its_own_way() -> None:
    mixed = rows(["0", "1", "1", "4"], model=["a", "a", "b", "b"])
    assert one_based_column(mixed) == "gold"
    assert one_based_column(mixed.drop("model")) is None


def test_without_choices_nothing_is_counted() -> None:
    assert one_based_column(pl.DataFrame({"gold": ["1", "2"]})) is None
    assert one_based_column(pl.DataFrame({"confidence": [0.5]})) is None


def test_golds_that_are_text_and_position_are_remarked_on() -> None:
    frame = rows(["0", "2", "3", "x"], [["3", "2", "1", "0"], ["0", "1", "2", "3"], ["w", "x", "y", "z"], []])
    (remark,) = gold_as_text_notes(frame)
    assert remark.startswith("In 1 row gold is one choice's text and another one's position")
    assert gold_as_text_notes(frame.with_columns(gold_index=pl.lit(3, pl.Int32))) == ()
    assert gold_as_text_notes(frame.drop("choices")) == ()


def test_a_number_may_be_the_text_of_a_choice_that_is_not_given() -> None:
    assert kinds(rows(["2", "2"], gold_index=[0, 1])) == {}
    given = rows(["2", "2"], [["a", "b", "c", "d"]] * 2, gold_index=[0, 2])
    assert kinds(given) == {("gold", "gold and gold_index differ"): [0]}


def test_a_list_of_one_gold_is_gold() -> None:
    frame = rows([None, None, "A"], gold_all=[["B"], ["A", "B"], ["C"]])
    assert match_gold(frame)[0].to_list() == [1, None, 0]
    assert match_gold(frame.drop("gold"))[0].to_list() == [1, None, 2]

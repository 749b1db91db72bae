"""A column is read by its own name or by its mapping."""

from __future__ import annotations

import time

import pytest

from calib_core.errors import Refused
from calib_core.readers.table.columns import (
    ColumnRoles,
    MappedName,
    column_list_text,
    no_known_column_message,
)


def test_an_exact_name_is_read_and_any_other_is_not() -> None:
    roles = ColumnRoles.from_mapping({}, "quiz.csv")
    assert roles.role("confidence") == "confidence"
    assert roles.role("Confidence") is None


def test_what_the_person_says_wins_over_a_columns_own_name() -> None:
    roles = ColumnRoles.from_mapping({"conf": "confidence", "p_true": "p_false"}, "quiz.csv")
    assert roles.role("conf") == "confidence"
    assert roles.role("confidence") is None
    assert roles.role("p_true") == "p_false"


@pytest.mark.parametrize(
    ("text", "mapped"),
    [
        ("confidence", MappedName("confidence")),
        ("", MappedName("")),
        ("confidence/100", MappedName("confidence", divisor=100)),
        ("confidence/0", MappedName("confidence/0")),
        ("correct: A | |B", MappedName("correct", right_values=frozenset({"A", "B"}))),
        ("correct:1/2", MappedName("correct", right_values=frozenset({"1/2"}))),
    ],
)
def test_a_mapped_name_is_split_into_its_parts(text: str, mapped: MappedName) -> None:
    assert MappedName.parse(text) == mapped


def test_names_that_are_not_known_are_refused() -> None:
    with pytest.raises(Refused, match=r"quiz.csv: column 'c'.*'sureness'.*Names: id, .*confidence"):
        ColumnRoles.from_mapping({"c": "sureness"}, "quiz.csv")


def test_two_columns_for_one_name_are_refused() -> None:
    with pytest.raises(Refused, match=r"two columns.*'confidence'"):
        ColumnRoles.from_mapping({"a": "confidence", "b": "confidence"}, "quiz.csv")


def test_several_columns_are_one_list_in_the_order_of_the_mapping() -> None:
    roles = ColumnRoles.from_mapping(
        {"late": "samples", "b": "samples", "a": "samples", "o": "choices"}, "quiz.csv"
    )
    assert roles.combined_lists == {"samples": ["late", "b", "a"]}
    assert roles.choice_labels == ()


def test_letters_at_the_end_of_columns_are_those_of_the_choices() -> None:
    roles = ColumnRoles.from_mapping(
        {"prob_C": "choice_probs", "prob_A": "choice_probs", "prob_B": "choice_probs"}, "quiz.csv"
    )
    assert roles.choice_labels == ("C", "A", "B")


def test_lists_of_choices_in_different_orders_are_refused() -> None:
    mapping = {"p_b": "choice_probs", "p_a": "choice_probs", "a": "choices", "b": "choices"}
    with pytest.raises(Refused, match=r"choice_probs .* order B, A, and those of choices in the order A, B"):
        ColumnRoles.from_mapping(mapping, "quiz.csv")


def test_a_column_with_the_empty_name_is_left_out() -> None:
    roles = ColumnRoles.from_mapping({"choices": "", "gold": ""}, "quiz.csv")
    columns = ["choices", "gold", "options", "id"]
    assert [roles.role(column) for column in columns] == [None, None, None, "id"]
    assert roles.unused_columns(columns) == ("choices", "gold", "options")


def test_what_is_not_read_takes_time_as_columns_do() -> None:
    """Of each system side by side it is asked, where hundreds of columns are left out (10 times as many)."""

    def seconds(n_columns: int) -> float:
        columns = [f"m{at}.conf" for at in range(n_columns)]
        roles = ColumnRoles.from_mapping(dict.fromkeys(columns, ""), "quiz.csv")
        begun = time.process_time()
        assert len(roles.unused_columns(columns)) == n_columns
        return time.process_time() - begun

    pairs = [(seconds(200), seconds(2_000)) for _ in range(5)]
    assert min(large for _, large in pairs) < 40 * min(small for small, _ in pairs)


def test_a_mapping_of_a_missing_column_is_refused() -> None:
    with pytest.raises(Refused, match=r"quiz.csv has no column 'conf'. Its columns are 'id', 'confidence'"):
        ColumnRoles.from_mapping({"conf": "confidence"}, "quiz.csv").check_columns_exist(
            ["id", "confidence"], "quiz.csv"
        )


def test_the_message_for_a_file_without_a_known_column_has_the_option_to_type() -> None:
    message = no_known_column_message(["conf", "grade"], "quiz.csv")
    assert message.startswith("quiz.csv has no column that Calib recognises (columns: 'conf', 'grade')")
    assert "(confidence, correct)" in message
    assert message.endswith("--map COLUMN=confidence")


def test_a_long_column_list_is_cut_short() -> None:
    assert column_list_text([]) == "(none)"
    assert column_list_text([str(number) for number in range(25)]).endswith("'19' and 5 more")


def test_what_each_column_is_read_as() -> None:
    roles = ColumnRoles.from_mapping({"conf": "confidence", "gold": ""}, "quiz.csv")
    assert roles.used_roles(["conf", "gold", "correct", "x"]) == {"conf": "confidence", "correct": "correct"}

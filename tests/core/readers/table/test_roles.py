"""Is a column read as what it is called, or as what the person says?"""

from __future__ import annotations

import pytest

from calib_core.errors import Refused
from calib_core.readers.table.columns import ColumnRoles, column_list_text, no_known_column_message


def test_an_exact_name_is_read_and_any_other_is_not() -> None:
    roles = ColumnRoles.from_mapping({}, "quiz.csv")
    assert roles.role("confidence") == "confidence"
    assert roles.role("Confidence") is None


def test_what_the_person_says_wins_over_a_columns_own_name() -> None:
    roles = ColumnRoles.from_mapping({"conf": "confidence", "p_true": "p_false"}, "quiz.csv")
    assert roles.role("conf") == "confidence"
    assert roles.role("confidence") is None
    assert roles.role("p_true") == "p_false"


def test_names_that_are_not_known_are_refused() -> None:
    with pytest.raises(Refused, match=r"quiz.csv: column 'c'.*'sureness'.*It knows id, .*confidence"):
        ColumnRoles.from_mapping({"c": "sureness"}, "quiz.csv")


def test_two_columns_for_one_name_are_refused() -> None:
    with pytest.raises(Refused, match=r"two columns.*'confidence'"):
        ColumnRoles.from_mapping({"a": "confidence", "b": "confidence"}, "quiz.csv")


def test_several_columns_are_one_list_in_the_files_order() -> None:
    roles = ColumnRoles.from_mapping(
        {"late": "samples", "b": "samples", "a": "samples", "o": "choices"}, "quiz.csv"
    )
    assert roles.combined_lists(["a", "x", "b"]) == {"samples": ["a", "b", "late"]}


def test_a_column_with_the_empty_name_is_left_out() -> None:
    roles = ColumnRoles.from_mapping({"choices": "", "gold": ""}, "quiz.csv")
    columns = ["choices", "gold", "options", "id"]
    assert [roles.role(column) for column in columns] == [None, None, None, "id"]
    assert roles.unused_columns(columns) == ("choices", "gold", "options")
    assert roles.propose(columns, lambda _way, _name: True) == {"options": "choices"}


def test_a_mapped_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match=r"quiz.csv has no column 'conf'. Its columns are 'id', 'confidence'"):
        ColumnRoles.from_mapping({"conf": "confidence"}, "quiz.csv").check_columns_exist(
            ["id", "confidence"], "quiz.csv"
        )


def test_a_file_without_a_known_column_is_told_the_text_to_type() -> None:
    message = no_known_column_message(
        ["conf", "grade"], {"conf": "confidence", "grade": "correct"}, "quiz.csv"
    )
    assert message.startswith("quiz.csv was taken for a table with the columns 'conf', 'grade'")
    assert "(confidence, correct)" in message
    assert message.endswith("--map conf=confidence --map grade=correct")


def test_a_file_where_nothing_looks_familiar_is_told_what_to_name() -> None:
    assert "--map COLUMN=confidence" in no_known_column_message(["x"], {}, "q")


def test_many_columns_are_cut_short() -> None:
    assert column_list_text([]) == "(none)"
    assert column_list_text([str(number) for number in range(25)]).endswith("'19' and 5 more")


def test_what_each_column_is_read_as() -> None:
    roles = ColumnRoles.from_mapping({"conf": "confidence", "gold": ""}, "quiz.csv")
    assert roles.used_roles(["conf", "gold", "correct", "x"]) == {"conf": "confidence", "correct": "correct"}

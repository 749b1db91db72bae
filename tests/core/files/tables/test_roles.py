"""Is a column read as what it is called, or as what the person says?"""

from __future__ import annotations

import pytest

from calib_core.files.tables.roles import Roles, named, unknown
from calib_core.problems import Refused


def test_an_exact_name_is_read_and_any_other_is_not() -> None:
    roles = Roles.of({}, "quiz.csv")
    assert roles.role("confidence") == "confidence"
    assert roles.role("Confidence") is None


def test_what_the_person_says_wins_over_a_columns_own_name() -> None:
    roles = Roles.of({"conf": "confidence", "p_true": "p_false"}, "quiz.csv")
    assert roles.role("conf") == "confidence"
    assert roles.role("confidence") is None
    assert roles.role("p_true") == "p_false"


def test_names_that_are_not_known_are_refused() -> None:
    with pytest.raises(Refused, match=r"quiz.csv: column 'c'.*'sureness'.*It knows id, .*confidence"):
        Roles.of({"c": "sureness"}, "quiz.csv")


def test_two_columns_for_one_name_are_refused() -> None:
    with pytest.raises(Refused, match=r"two columns.*'confidence'"):
        Roles.of({"a": "confidence", "b": "confidence"}, "quiz.csv")


def test_several_columns_are_one_list_in_the_files_order() -> None:
    roles = Roles.of({"late": "samples", "b": "samples", "a": "samples", "o": "choices"}, "quiz.csv")
    assert roles.lists(["a", "x", "b"]) == {"samples": ["a", "b", "late"]}


def test_a_column_with_the_empty_name_is_left_out() -> None:
    roles = Roles.of({"choices": "", "gold": ""}, "quiz.csv")
    columns = ["choices", "gold", "options", "id"]
    assert [roles.role(column) for column in columns] == [None, None, None, "id"]
    assert roles.unused(columns) == ("choices", "gold", "options")
    assert roles.proposals(columns, lambda _way, _name: True) == {"options": "choices"}


def test_a_mapped_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match=r"quiz.csv has no column 'conf'. Its columns are 'id', 'confidence'"):
        Roles.of({"conf": "confidence"}, "quiz.csv").check(["id", "confidence"], "quiz.csv")


def test_a_file_without_a_known_column_is_told_the_text_to_type() -> None:
    message = unknown(["conf", "grade"], {"conf": "confidence", "grade": "correct"}, "quiz.csv")
    assert message.startswith("quiz.csv was taken for a table with the columns 'conf', 'grade'")
    assert "(confidence, correct)" in message
    assert message.endswith("--map conf=confidence --map grade=correct")


def test_a_file_where_nothing_looks_familiar_is_told_what_to_name() -> None:
    assert "--map COLUMN=confidence" in unknown(["x"], {}, "q")


def test_many_columns_are_cut_short() -> None:
    assert named([]) == "(none)"
    assert named([str(number) for number in range(25)]).endswith("'19' and 5 more")


def test_what_each_column_is_read_as() -> None:
    roles = Roles.of({"conf": "confidence", "gold": ""}, "quiz.csv")
    assert roles.read_as(["conf", "gold", "correct", "x"]) == {"conf": "confidence", "correct": "correct"}

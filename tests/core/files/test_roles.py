"""Is a column read as what it is called, or as what the person says?"""

from __future__ import annotations

import pytest

from calib_core.files.roles import Roles, named
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


def test_a_mapped_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match=r"quiz.csv has no column 'conf'. Its columns are 'id', 'confidence'"):
        Roles.of({"conf": "confidence"}, "quiz.csv").check(["id", "confidence"], "quiz.csv")


def test_a_file_without_a_known_column_is_refused_with_the_text_to_type() -> None:
    with pytest.raises(Refused, match=r"--map conf=confidence --map grade=correct"):
        Roles.of({}, "quiz.csv").check(["conf", "grade"], "quiz.csv")


def test_a_file_where_nothing_looks_familiar_is_told_what_to_name() -> None:
    with pytest.raises(Refused, match=r"--map COLUMN=confidence"):
        Roles.of({}, "q").check(["x"], "q")


def test_many_columns_are_cut_short() -> None:
    assert named([]) == "(none)"
    assert named([str(number) for number in range(25)]).endswith("'19' and 5 more")

"""The user says which values of a column mean right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from calib_core.errors import Refused
from calib_core.readers.format import Reading
from core.readers.answer_run_checks import answer_runs

ReadText = Callable[..., Reading]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("correct:Correct", [True, False, False, None, False]),
        ("correct:Correct|Mostly correct", [True, True, False, None, False]),
        ("correct: Mostly correct | Correct ", [True, True, False, None, False]),
        ("correct_majority:Wrong", [False, False, True, None, False]),
    ],
)
def test_the_named_values_are_right_and_all_others_wrong(
    read_text: ReadText, name: str, expected: list[bool | None]
) -> None:
    lines = "".join(f"{grade},0.5\n" for grade in ("Correct", " Mostly correct", "Wrong", "", "correct"))
    reading = read_text(f"grade,confidence\n{lines}", columns={"grade": name})
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows[name.partition(":")[0]].to_list() == expected


def test_numbers_are_compared_as_they_are_written(read_text: ReadText) -> None:
    reading = read_text("grade,confidence\n1,0.5\n2,0.5\n10,0.5\n", columns={"grade": "correct:2|10"})
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["correct"].to_list() == [False, True, True]
    assert "correct is 1 where 'grade' is '10', '2'." in reading.notes


def test_words_that_a_parser_knows_are_compared_as_they_are_written(read_text: ReadText) -> None:
    reading = read_text("grade,confidence\nTrue,0.5\nFalse,0.5\n", columns={"grade": "correct:True"})
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["correct"].to_list() == [True, False]


def test_only_an_outcome_has_values_that_mean_right(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"column 'name' cannot have values that mean right.*'subject'"):
        read_text("name,confidence,correct\nx,0.5,1\n", columns={"name": "subject:high"})


def test_a_list_is_no_outcome(read_text: ReadText) -> None:
    reading = read_text(
        '{"grade": ["Correct"], "confidence": 0.5}\n{"grade": "Correct", "confidence": 0.5}\n',
        columns={"grade": "correct:Correct"},
    )
    assert reading.n_bad_rows == 1
    (run,) = answer_runs(reading.good_runs)
    assert run.rows["correct"].to_list() == [True]


def test_values_that_never_occur_are_refused_with_those_that_do(read_text: ReadText) -> None:
    text = "grade,confidence\n" + "A,0.5\n" * 3 + "B,0.6\nB,0.7\n,0.8\n"
    for name, named in (("correct:Z", "'Z'"), ("correct:a|Z", "'Z' or 'a'")):
        refused = read_text(text, columns={"grade": name})
        assert refused.refusal == (
            f"quiz.csv: no value of column 'grade' is {named}, which should mean right, so every row would "
            "count as wrong. Its values: 'A' (3 rows), 'B' (2 rows)."
        )
        assert refused.good_runs == ()
    assert read_text(text, columns={"grade": "correct:A|Z"}).refusal is None
    many = "grade,confidence\n" + "".join(f"g{number},0.5\n" for number in range(40))
    assert (read_text(many, columns={"grade": "correct:Z"}).refusal or "").endswith("'g17' (1 row), ….")


def test_a_file_of_wrong_answers_alone_is_read(read_text: ReadText) -> None:
    reading = read_text("grade,confidence\nNo,0.5\nno,0.6\n", columns={"grade": "correct:Yes"})
    assert reading.refusal is None
    (run,) = answer_runs(reading.good_runs)
    assert run.rows["correct"].to_list() == [False, False]


def test_one_of_several_systems_may_be_always_wrong(read_text: ReadText) -> None:
    text = "a-conf,a-grade,b-conf,b-grade\n0.5,A,0.6,C\n0.7,B,0.8,C\n"
    reading = read_text(text, wide={"*-conf": "confidence", "*-grade": "correct:A"})
    assert [run.rows["correct"].to_list() for run in answer_runs(reading.good_runs)] == [
        [True, False],
        [False, False],
    ]

"""A column that does not hold what its name means is left out where nothing needs it, and stops nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from calib_core.methods import METHODS
from calib_core.readers.format import Reading
from calib_core.readers.table import csv_reader, json_reader
from calib_core.readers.table.rows import CONFIDENCE_COLUMNS
from core.readers.answer_run_checks import answer_runs

ReadText = Callable[..., Reading]


def lines(**columns: Sequence[object]) -> str:
    """JSON lines with these columns; None stands for a missing value."""
    rows = zip(*columns.values(), strict=True)
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)


def left_out(reading: Reading) -> list[str]:
    return [note for note in reading.notes if "is left out" in note]


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        (
            "p_true",
            ["n/a", "n/a", "0.5"],
            "2 of 3 values are not a number from 0 to 1, such as 'n/a' in row 1.",
        ),
        (
            "choices",
            ["Is it A or B?", None, None],
            "1 of 1 value is not a list, such as 'Is it A or B?' in row 1.",
        ),
        ("samples", [10, 10, 10], "3 of 3 values are not a list, such as '10' in row 1."),
        (
            "path_logprobs",
            [None, ["a"], ["b"]],
            (
                "2 of 2 values are not a list, each element a natural logarithm of a probability, at most 0, "
                "such as 'a' in row 2."
            ),
        ),
        (
            "subject",
            [{"a": 1}] * 3,
            """3 of 3 values are not one text or number, such as '{"a": 1}' in row 1.""",
        ),
        (
            "event",
            ["login", "logout", "click"],
            "3 of 3 values are not yes or no: 1 or 0, true or false, such as 'login' in row 1.",
        ),
        (
            "model",
            [{"a": 1}] * 3,
            """3 of 3 values are not one text or number, such as '{"a": 1}' in row 1.""",
        ),
    ],
)
def test_a_column_nobody_needs_stops_nothing(
    read_text: ReadText, column: str, values: list[object], told: str
) -> None:
    content = lines(confidence=[0.9, 0.8, 0.7], correct=[1, 0, 1], **{column: values})
    reading = read_text(content, "quiz.jsonl")
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows.columns == ["row", "correct", "confidence"]
    assert left_out(reading) == [f"Column {column!r} is left out: {told}"]
    assert (reading.n_bad_rows, reading.problems) == (0, ())
    assert reading.unused_columns == (column,)
    assert column not in reading.column_roles


def test_a_confidence_in_words_makes_way_for_numbers(read_text: ReadText) -> None:
    reading = read_text("confidence,verbal_confidence,prob,correct\nhigh,90%,0.9,1\nlow,30%,0.3,0\n")
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["verbal_confidence"].to_list() == [0.9, 0.3]
    assert "confidence" not in run.rows.columns
    assert reading.proposed_mapping["prob"] == "confidence"


@pytest.mark.parametrize(
    ("column", "content"),
    [
        ("confidence", "confidence,correct\n?,1\n-,0\n"),
        ("confidence", "confidence,p_true,correct\n?,,1\n-,,0\n"),
        ("p_true", "confidence,p_true,correct\n?,?,1\n-,-,0\n"),
        ("choice_probs", "confidence,gold,choice_probs\n0.9,A,x\n0.8,B,y\n"),
        ("correct", "confidence,correct\n0.9,good\n0.8,bad\n"),
        ("choices", 'choices,choice_probs,gold\nA or Rome,"[0.7, 0.3]",Rome\nA or Bern,"[0.7, 0.3]",Bern\n'),
    ],
    ids=["alone", "beside an empty one", "beside another", "judge", "outcome", "texts of the choices"],
)
def test_without_it_nothing_could_be_computed(read_text: ReadText, column: str, content: str) -> None:
    reading = read_text(content)
    why = (reading.refusal or "").partition("\n")[0]
    assert f"None of the 2 values in column {column!r} is " in why or "all 2 rows are bad, so nothing" in why
    alone = read_text("id,confidence,correct\na,?,1\n")
    assert "the only row is bad, so nothing in it can be used" in (alone.refusal or "")
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    assert {cell.row for cell in cells if cell.column == column} == {1, 2}
    assert column in reading.column_roles
    assert not left_out(reading)


@pytest.mark.parametrize("name", ["id", "trial_of", "gold", "correct", "correct_majority", "sample_correct"])
def test_what_decides_outcomes_is_never_left_out(read_text: ReadText, name: str) -> None:
    columns = {"correct": [1, 0], name: [{"a": 1}, {"a": 2}]}
    reading = read_text(lines(confidence=[0.9, 0.8], **columns), "quiz.jsonl")
    assert (reading.n_bad_rows, left_out(reading)) == (2, [])


def test_runs_are_never_merged_by_leaving_out_what_tells_them_apart(read_text: ReadText) -> None:
    for shots in (["few", "none", "few"], ["few", "few", 5], ["few", "few", None]):
        content = lines(confidence=[0.9, 0.8, 0.7], correct=[1, 0, 1], shots=shots)
        reading = read_text(content, "quiz.jsonl")
        assert reading.n_bad_rows
        assert not left_out(reading)


def test_what_else_is_known_of_a_run_stays_known(read_text: ReadText) -> None:
    content = lines(confidence=[0.9, 0.8], correct=[1, 0], model=[{"a": 1}] * 2, dataset=["quiz"] * 2)
    (run,) = answer_runs(read_text(content, "quiz.jsonl").runs(skip_bad_rows=False))
    assert (run.info.model, run.info.dataset) == (None, "quiz")


def test_half_of_the_values_are_no_column_of_another_meaning(read_text: ReadText) -> None:
    reading = read_text("confidence,correct,p_true\n0.9,1,n/a\n0.8,0,0.5\n0.7,0,\n")
    assert (reading.n_bad_rows, left_out(reading)) == (1, [])


def test_a_mapped_column_keeps_its_faults(read_text: ReadText) -> None:
    content = "confidence,correct,sure\n0.9,1,n/a\n0.8,0,n/a\n0.7,0,\n"
    reading = read_text(content, columns={"sure": "p_true"})
    assert (reading.n_bad_rows, left_out(reading)) == (2, [])
    members = read_text(
        "confidence,correct,a,b\n0.9,1,x,y\n0.8,0,x,y\n0.7,0,,\n", columns=dict.fromkeys("ab", "choice_probs")
    )
    assert (members.n_bad_rows, left_out(members)) == (2, [])


def test_other_faults_of_its_rows_still_count(read_text: ReadText) -> None:
    reading = read_text("id,confidence,correct,p_true\nq1,0.9,1,n/a\nq2,2,0,n/a\nq3,0.7,1,n/a\nq4,0.7,1\n")
    assert [problem.kind for problem in reading.problems] == ["out of range", "wrong number of cells"]
    assert [run.row_counts.n_left_out for run in answer_runs(reading.good_runs)] == [2]


def test_percentages_are_asked_about_instead(read_text: ReadText) -> None:
    reading = read_text("confidence,correct,p_true\n0.9,1,90\n0.8,0,80\n")
    assert "column 'p_true' looks like percentages" in (reading.refusal or "")
    assert "p_true" in reading.column_roles


def test_values_are_weighed_over_all_slices(read_text: ReadText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_reader, "ROWS_PER_SLICE", 2)
    rows = "".join(f"0.9,1,{p_true}\n" for p_true in ("0.1", "0.2", "x", "y", "z"))
    (note,) = left_out(read_text(f"confidence,correct,p_true\n{rows}"))
    assert "3 of 5 values are not a number from 0 to 1, such as 'x' in row 3." in note


def test_moved_values_and_sums_of_a_column_left_out_are_not_counted(read_text: ReadText) -> None:
    rows = ["0.9,1,1.0000001,'[0.4, 0.5999]'", "0.9,1,x,x", "0.9,1,x,x"]
    content = "confidence,correct,p_true,choice_probs\n" + "\n".join(rows).replace("'", '"') + "\n"
    reading = read_text(content)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert len(left_out(reading)) == 2
    assert (dict(run.row_counts.clipped), run.row_counts.n_inexact_sums) == ({}, 0)


def test_every_column_that_is_enough_for_a_method_is_known() -> None:
    assert {column for method in METHODS.values() for column in method.columns} == CONFIDENCE_COLUMNS


# --- Columns of tokens --------------------------------------------------------------------------------------

TOKENS = {"the": [0.5, 0.6, 0.7], "of": [0.27, 0.27, 0.18], "correct": [1, 0, 1]}


@pytest.mark.parametrize("name", ["id", "question", "trial_of"])
@pytest.mark.parametrize("values", [[0.03, 0.03, 0.02], ["0.03", "", "1"], [None, 0.5, 0]])
@pytest.mark.parametrize("rows_per_slice", [1, 100])
def test_the_numbers_of_a_token_name_no_question(
    read_text: ReadText,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    values: list[object],
    rows_per_slice: int,
) -> None:
    monkeypatch.setattr(json_reader, "ROWS_PER_SLICE", rows_per_slice)
    reading = read_text(lines(**TOKENS, **{name: values}), "quiz.jsonl", columns={"the": "confidence"})
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert (run.rows.height, name in run.rows.columns) == (3, False)
    (note,) = left_out(reading)
    assert note == (
        f"Column {name!r} is left out: its values are numbers between 0 and 1, which do not name "
        f"questions. If they do: --map {name}={name}"
    )
    assert not any("occur in several rows" in note for note in run.row_counts.notes)


@pytest.mark.parametrize("values", [[0, 1, 2], ["0.5", "q", "0.7"], [1.5, 2.5, 3.5], [0, 1, 1], [None] * 3])
def test_other_ids_are_kept(read_text: ReadText, values: list[object]) -> None:
    columns = {"the": "confidence"}
    assert left_out(read_text(lines(**TOKENS, id=values), "quiz.jsonl", columns=columns)) == []


def test_fractions_are_ids_where_a_person_says_so(read_text: ReadText) -> None:
    columns = {"the": "confidence", "id": "id"}
    reading = read_text(lines(**TOKENS, id=[0.25, 0.5, 0.75]), "quiz.jsonl", columns=columns)
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["id"].to_list() == ["0.25", "0.5", "0.75"]


@pytest.mark.parametrize(("column", "name"), [("target", "gold"), ("text", "question"), ("key", "id")])
def test_the_numbers_of_a_token_are_not_proposed(read_text: ReadText, column: str, name: str) -> None:
    proposals = {
        kind: read_text(lines(confidence=[0.9] * 3, correct=[1, 0, 1], **{column: values}), "quiz.jsonl")
        for kind, values in (("fractions", [0.03, 0.02, 0.5]), ("texts", ["a1", "b2", "c3"]))
    }
    assert proposals["fractions"].proposed_mapping == {}
    assert proposals["texts"].proposed_mapping == {column: name}


@pytest.mark.parametrize("content", ["confidence,correct\n0.5,1\n", '{"confidence": 0.5, "correct": 1}\n'])
def test_a_column_that_is_to_be_left_out_need_not_be_there(read_text: ReadText, content: str) -> None:
    (run,) = answer_runs(read_text(content, columns={"id": "", "a.b": ""}).runs(skip_bad_rows=False))
    assert run.rows.height == 1

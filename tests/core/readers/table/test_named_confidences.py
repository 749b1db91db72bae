"""Each of several confidences of one answer is a method of its own, as if it were in a file of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calib_core
from calib_core import readers
from calib_core.errors import Refused, Unavailable
from calib_core.methods import METHODS, in_order, methods_of
from calib_core.readers.format import Reading
from calib_core.readers.merged_runs import merge_runs
from calib_core.results.evidence import gather_evidence, survey_methods
from core.cli_calls import Call, write
from core.readers.answer_run_checks import answer_runs
from core.reporting.round_trip import all_metrics
from core.run_builders import make_answer_run

ReadText = Callable[..., Reading]

shares = st.sampled_from(["", "0", "0.1", "0.3", "0.5", "0.75", "0.9", "1"])


@settings(max_examples=20)
@given(rows=st.lists(st.tuples(shares, shares, st.sampled_from(["0", "1", ""])), min_size=1, max_size=12))
def test_several_confidences_give_what_a_file_each_gives(rows: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:

        def metrics(header: str, columns: tuple[int, ...]) -> dict[tuple[str, str, int], object]:
            path = Path(folder) / "quiz.csv"
            lines = [header, *(",".join(row[column] for column in columns) for row in rows)]
            path.write_text("\n".join(lines) + "\n")
            (run,) = readers.read_in_this_process(path, file="quiz.csv").good_runs
            return all_metrics(run)

        together = metrics("confidence.a,confidence.b,correct", (0, 1, 2))
        for name, column in (("a", 0), ("b", 1)):
            alone = metrics("confidence,correct", (column, 2))
            assert {key[1:]: value for key, value in together.items() if key[0] == f"given.{name}"} == {
                key[1:]: value for key, value in alone.items() if key[0] == "given"
            }


def test_every_interface_takes_them_by_name(call: Call, tmp_path: Path) -> None:
    path = write(
        tmp_path, "quiz.csv", "id,said,tok,confidence,correct\n1,90,.2,.5,1\n2,80,.4,.5,0\n3,50,,.5,1\n"
    )
    maps = ("--map", "said=confidence.said/100", "--map", "tok=confidence.top-1_tok.p")
    element = call("check", path, *maps, "--json").element
    assert element["usable"] == {"given": 3, "given.said": 3, "given.top-1_tok.p": 2}
    elements = call("score", path, *maps, "--method", "given.said", "--metric", "brier", "--json").elements
    assert [(one["method"], one["value"]) for one in elements] == [("given.said", pytest.approx(0.9 / 3))]
    assert "said as given" in elements[0]["recipe"]
    assert "no column confidence.nope" in call("score", path, "--method", "given.nope").err
    assert "tokens, given.NAME, at_least.LEVEL." in call("score", path, "--method", "given.no pe").err
    columns = {"said": "confidence.said/100"}
    (run,) = calib_core.load(path, columns=columns)
    assert calib_core.score(run, method="given.said", metric="brier").value == elements[0]["value"]


def test_they_follow_the_confidence_of_the_file_by_name() -> None:
    run = make_answer_run({"confidence.b": [0.5], "correct": [True], "confidence.a": [0.1]})
    assert [id_ for id_ in methods_of(run) if id_.startswith("given")] == ["given", "given.a", "given.b"]
    assert list(survey_methods(run).usable) == ["given.a", "given.b"]
    assert in_order({"tokens", "given.b", "verbal", "given.a", "given", "given. ", "nope"}) == [
        "verbal",
        "given",
        "given.a",
        "given.b",
        "tokens",
    ]
    assert in_order(["verbal", "given.a", "tokens"], ("given", "verbal")) == ["given.a", "verbal"]
    assert METHODS["given.a"].title == "a"


@pytest.mark.parametrize("id_", ["given.", "given.a b", "verbal.a", "given.a/b", "confidence.a"])
def test_ids_of_no_method_are_refused(id_: str) -> None:
    with pytest.raises(Unavailable, match=r"There is no method .*tokens, given\.NAME"):
        gather_evidence(make_answer_run({"confidence.a": [0.5], "correct": [True]}), id_)


@pytest.mark.parametrize("name", ["a", "top-1_tok.p", "A.9", "_", "x" * 40])
def test_names_of_letters_digits_and_three_marks_are_read(read_text: ReadText, name: str) -> None:
    reading = read_text(f"confidence.{name},correct\n0.5,1\n")
    (run,) = answer_runs(reading.good_runs)
    assert run.rows[f"confidence.{name}"].to_list() == [0.5]
    assert reading.notes == ()


@pytest.mark.parametrize("name", ["", "a b", "é", "a/b", "x" * 41, "<b>", "a:b"])
def test_other_names_are_told_and_refused_as_a_mapping(read_text: ReadText, name: str) -> None:
    column = f"confidence.{name}"
    reading = read_text(f'"{column}",confidence,correct\n0.5,0.5,1\n')
    (note,) = reading.notes
    assert note.startswith("Not read: 'confidence.")
    assert "40 characters at most" in note
    assert reading.unused_columns == (column,)
    assert read_text(f'"{column}",confidence,correct\n0.5,0.5,1\n', columns={column: ""}).notes == ()
    if ":" not in name:
        with pytest.raises(Refused, match=r"cannot be read as 'confidence\..*40 characters at most"):
            read_text("x,correct\n0.5,1\n", columns={"x": column})


def test_two_columns_cannot_have_one_name(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"two columns would be read as 'confidence\.a'"):
        read_text("x,y,correct\n.5,.5,1\n", columns={"x": "confidence.a", "y": "confidence.a"})


def test_they_are_no_outcomes(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"'confidence\.a' may be followed by"):
        read_text("x,correct\n.5,1\n", columns={"x": "confidence.a:b"})


def test_their_values_are_checked_as_those_of_a_confidence(read_text: ReadText) -> None:
    reading = read_text("confidence.a,correct\n0.5,1\n1.5,1\nhigh,0\n")
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    assert sorted((cell.row, cell.column) for cell in cells) == [(2, "confidence.a"), (3, "confidence.a")]
    percent = read_text("confidence.a,correct\n85,1\n90,1\n").refusal or ""
    assert percent.endswith("--map confidence.a=confidence.a/100")


def test_more_than_fifty_are_refused(read_text: ReadText) -> None:
    def text(columns: int) -> str:
        names = ",".join(f"confidence.{number}" for number in range(columns))
        return f"{names},correct\n{'0.5,' * columns}1\n"

    (run,) = answer_runs(read_text(text(50)).good_runs)
    assert len(survey_methods(run).usable) == 50
    with pytest.raises(Refused, match="more than 50 columns confidence"):
        read_text(text(51))


def test_merged_runs_keep_those_of_every_part() -> None:
    parts = [
        replace(
            make_answer_run({"id": [id_], f"confidence.{id_}": [0.5], "correct": [True]}), evaluation="quiz"
        )
        for id_ in ("a", "b")
    ]
    (merged,) = merge_runs(parts)
    assert {id_: evidence.n_used for id_, evidence in survey_methods(merged).usable.items()} == {
        "given.a": 1,
        "given.b": 1,
    }


def test_what_a_named_confidence_lacks_is_told_first(call: Call, tmp_path: Path) -> None:
    message = call("score", write(tmp_path, "quiz.csv", "id,confidence.a\n1,0.5\n2,0.6\n")).err
    first = next(line for line in message.splitlines() if line.startswith("- "))
    assert first == "- no gold and no outcome to judge by"

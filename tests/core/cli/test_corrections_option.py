"""Every verb that reads answers applies a table of corrections, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli_calls import make_caller, write

ANSWERS = "id,gold,prediction,confidence\n" + "".join(
    f"q{at},{'AB'[at % 2]},{'AB'[at % 3 % 2]},0.{5 + at % 5}\n" for at in range(40)
)
FIXES = "id,leave_out,gold,reason\nq3,,A,key is wrong\nq5,yes,,[bold]two[/bold] are right\nq99,1,,\n"
RECIPE = "with corrections fixes.csv: 1 left out, 1 corrected"
VERBS = ("score", "bins", "sweep", "audit", "compare", "recalibrate", "threshold")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path, "answers.csv", ANSWERS), write(tmp_path, "fixes.csv", FIXES)


@pytest.mark.parametrize("verb", VERBS)
def test_recipes_say_that_corrections_were_applied(
    verb: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    answers, fixes = files
    answer = make_caller(capsys)(verb, answers, "--corrections", fixes, "--json")
    assert answer.code == 0, answer.err
    assert all(RECIPE in element["recipe"] for element in answer.elements)
    assert "Corrections from fixes.csv: 1 question left out, 1 corrected. By given:" in answer.err


def test_paired_differences_say_so(
    tmp_path: Path, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    answers, fixes = files
    other = write(tmp_path, "other.csv", ANSWERS.replace(",0.9", ",0.6"))
    answer = make_caller(capsys)("compare", answers, other, "--pairs", "--corrections", fixes)
    assert answer.code == 0, answer.err
    assert " ".join(answer.out.split()).count(RECIPE) == 3


def test_score_has_the_numbers_before(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    call, (answers, fixes) = make_caller(capsys), files
    words = ("--metric", "accuracy", "--json")
    before = call("score", answers, *words).element
    after = call("score", answers, "--corrections", fixes, *words).element
    assert before["corrections"] is None
    corrections = after["corrections"]
    assert (corrections["file"], corrections["left_out"], corrections["corrected"]) == ("fixes.csv", 1, 1)
    assert corrections["accuracy_before"] == before["value"]
    assert corrections["accuracy"] == after["value"]
    assert (after["n_total"], before["n_total"]) == (39, 40)


def test_check_lists_what_changes(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    call, (answers, fixes) = make_caller(capsys), files
    element = call("check", answers, "--corrections", fixes, "--json").element
    changes = [
        (one["id"], one["change"], one["before"], one["after"]) for one in element["corrections"]["changes"]
    ]
    assert changes == [("q3", "right answer", "B", "A"), ("q5", "left out", "B", None)]
    assert "1 row of fixes.csv names no question of the file (q99)" in element["message"]
    out = call("check", answers, "--corrections", fixes).out
    assert "[bold]two[/bold] are right" in out
    assert RECIPE in out
    assert call("check", answers, "--json").element["corrections"] is None


def test_a_converted_file_keeps_them(
    tmp_path: Path, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    call, (answers, fixes) = make_caller(capsys), files
    words = ("--metric", "brier", "--json")
    expected = call("score", answers, "--corrections", fixes, *words).element["value"]
    output = tmp_path / "out.answers.jsonl"
    assert call("convert", answers, "--corrections", fixes, "-o", output).code == 0
    assert call("score", output, *words).element["value"] == expected
    assert "Corrections from fixes.csv" in output.read_text(encoding="utf-8")


def test_a_report_says_so_and_can_be_made_again(
    tmp_path: Path, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    answers, fixes = files
    output = tmp_path / "report.html"
    answer = make_caller(capsys)("report", answers, "--corrections", fixes, "--page", "files", "-o", output)
    assert answer.code == 0, answer.err
    text = output.read_text(encoding="utf-8")
    assert RECIPE in text
    assert f"--corrections {fixes}" in text
    assert "[bold]two[/bold] are right" in text


def test_with_workers_the_same_is_corrected(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    call, (answers, fixes) = make_caller(capsys), files
    words = ("score", answers, "--corrections", fixes, "--metric", "ece", "--json")
    assert call(*words, "--workers", "1").element["value"] == call(*words).element["value"]


def test_a_bad_table_is_refused_once_for_all_files(
    tmp_path: Path, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    call, (answers, _) = make_caller(capsys), files
    bad = write(tmp_path, "bad.csv", "id,leave_out\nq1,perhaps\n")
    answer = call("score", answers, "--corrections", bad, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "bad.csv, row 1, column 'leave_out': expected true or false" in answer.err
    missing = call("score", answers, "--corrections", tmp_path / "none.csv")
    assert missing.code == 2
    assert "none.csv" in missing.err


def test_the_output_is_never_the_table(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    answers, fixes = files
    answer = make_caller(capsys)("convert", answers, "--corrections", fixes, "-o", fixes)
    assert answer.code == 2
    assert fixes.read_text(encoding="utf-8") == FIXES

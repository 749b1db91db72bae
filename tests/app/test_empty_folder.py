"""What a page says where there is nothing to show, and how it follows a folder that changes."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

import calib_core
import screens
from predictions import quiz, write_csv, write_jsonl
from screens import SCRIPTS, Visit, page_text, table, tiles

PAGES = sorted(SCRIPTS)
TWO = ("files", "reliability")
"""The page that lists files, and one that shows a run: what is wrong with a folder reaches all by one way."""
CHOOSING = ["concentration", "reliability"]
GIVEN = "confidence in the file"


def message_text(at: screens.AppTest) -> str:
    """The messages of the page: that it says something, and no number."""
    assert not at.metric
    assert not at.get("plotly_chart")
    return "\n".join(screens.plain(box.value) for box in (*at.info, *at.warning, *at.error))


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_folder(page: str, visit: Visit) -> None:
    text = message_text(visit(page))
    assert "--data FOLDER" in text
    assert "CSV" in text


@pytest.mark.parametrize("page", TWO)
def test_no_folder_at_all(page: str, data: Path, visit: Visit) -> None:
    data.rmdir()
    assert "--data FOLDER" in message_text(visit(page))


@pytest.mark.parametrize("page", TWO)
def test_a_file_where_a_folder_should_be(page: str, data: Path, visit: Visit) -> None:
    data.rmdir()
    data.write_text("confidence,correct\n0.5,1\n")
    assert "--data FOLDER" in message_text(visit(page))


@pytest.mark.parametrize("page", PAGES)
def test_nothing_readable(page: str, data: Path, visit: Visit) -> None:
    (data / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (data / "letter.txt").write_text("Dear reader,\nthere is no prediction in here.\n")
    (data / "broken.parquet").write_bytes(b"PAR1" + b"\0" * 40)
    at = visit(page)
    text = message_text(at)
    assert text
    assert str(data) not in text
    if page == "files":
        assert all(name in page_text(at) for name in ("picture.png", "letter.txt", "broken.parquet"))
        assert len(at.error) == 3
    else:
        assert "Files" in text


def test_the_state_of_the_files_is_shown_with_a_link_to_them(data: Path, visit: Visit) -> None:
    write_csv(data / "a.csv", [{"conf": 0.5, "is_correct": 1}, {"conf": 0.6, "is_correct": 0}])
    write_csv(data / "b.csv", [{"conf": 0.5, "is_correct": 1}, {"conf": 0.6, "is_correct": 0}])
    (data / "letter.txt").write_text("Dear reader,\nthere is no prediction in here.\n")
    at = visit("reliability")
    text = message_text(at)
    assert (
        "None of the 3 files in the data folder is loaded: 2 need their columns confirmed and 1 is refused."
    ) in text
    assert "The first of them, a.csv: would give accuracy 50.0 %" in text
    ways = [link.proto.label.strip("*") for link in at.get("page_link")]
    assert "Open Files: what each file needs" in ways


def test_files_that_all_lack_the_same_and_one_alone(data: Path, visit: Visit) -> None:
    rows = [{"conf": 0.5, "is_correct": 1}, {"conf": 0.6, "is_correct": 0}]
    write_csv(data / "a.csv", rows)
    text = message_text(visit("start"))
    assert (
        "The only file in the data folder is not loaded: the file needs its columns confirmed. a.csv: "
        in text
    )
    write_csv(data / "b.csv", rows)
    text = message_text(visit("start"))
    assert "Neither of the 2 files in the data folder is loaded: both need their columns confirmed." in text


@pytest.mark.parametrize("page", CHOOSING)
def test_an_old_link_into_an_empty_folder(page: str, visit: Visit) -> None:
    assert "--data FOLDER" in message_text(visit(page, run="gone", method="given", m="20", bin="3"))


@pytest.mark.parametrize("page", TWO)
@pytest.mark.parametrize(("column", "named"), [("correct", "outcome"), ("confidence", "column confidence")])
def test_a_missing_column(column: str, named: str, page: str, data: Path, visit: Visit) -> None:
    names = [name for name in ("id", "confidence", "correct") if name != column]
    rows = [{name: row[name] for name in names} for row in quiz(9)]
    write_csv(data / "quiz.csv", rows)
    text = message_text(visit(page))
    assert text
    if page == "files":
        assert named in text


@pytest.mark.parametrize("page", TWO)
def test_a_file_half_written(page: str, data: Path, visit: Visit) -> None:
    pl.DataFrame(quiz(500)).write_parquet(data / "half.parquet")
    whole = (data / "half.parquet").read_bytes()
    (data / "half.parquet").write_bytes(whole[: len(whole) // 2])
    assert message_text(visit(page))
    (data / "half.parquet").write_bytes(whole)
    assert tiles(visit("reliability"))["Rows used / total"] == "500 / 500"


def test_lines_half_written_ask_and_then_load(data: Path, visit: Visit) -> None:
    write_jsonl(data / "half.jsonl", quiz(100))
    whole = (data / "half.jsonl").read_text()
    (data / "half.jsonl").write_text(whole[:-40])
    at = visit("files")
    assert "1 of 100 rows" in page_text(at)
    (data / "half.jsonl").write_text(whole)
    assert tiles(screens.go(at, "reliability"))["Rows used / total"] == "100 / 100"


def test_a_good_file_among_unreadable_ones_is_shown(data: Path, visit: Visit) -> None:
    (data / "broken.parquet").write_bytes(b"PAR1" + b"\0" * 40)
    write_csv(data / "quiz.csv", quiz(30))
    assert tiles(visit("reliability"))["Rows used / total"] == "30 / 30"


def test_one_changed_row_in_the_middle_changes_the_number(data: Path, visit: Visit) -> None:
    rows = quiz(1319)
    path = write_csv(data / "quiz.csv", rows)
    at = visit("reliability", method="given")
    before = tiles(at)
    row = rows[660]
    digits = "0.001" if row["correct"] else "0.999"
    rows[660] = {**row, "confidence": digits}
    stamp = path.stat()
    write_csv(path, rows)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    screens.run(at)
    (loaded,) = calib_core.load(path)
    number = calib_core.score(loaded, method="given", metric="brier")
    assert tiles(at)["Brier score"] == f"{number.value:.4f}" != before["Brier score"]
    assert tiles(visit("reliability", method="given")) == tiles(at)
    assert table(visit("start", every="1"), "run", "ece").set_index("title")["brier"][GIVEN] == number.value


def test_a_file_of_the_same_time_but_another_length_is_read_again(data: Path, visit: Visit) -> None:
    path = write_csv(data / "quiz.csv", quiz(50))
    at = visit("reliability")
    stamp = path.stat()
    write_csv(path, quiz(60))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert tiles(screens.run(at))["Rows used / total"] == "60 / 60"


def test_a_removed_file_disappears(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    write_csv(data / "rest.csv", quiz(20))
    at = visit("reliability", run="quiz", method="given")
    (data / "quiz.csv").unlink()
    assert tiles(screens.run(at))["Rows used / total"] == "20 / 20"
    (data / "rest.csv").unlink()
    assert "--data FOLDER" in message_text(screens.run(at))
    write_csv(data / "quiz.csv", quiz(40))
    assert tiles(screens.run(at))["Rows used / total"] == "40 / 40"


def test_an_added_file_appears(data: Path, visit: Visit) -> None:
    at = visit("start")
    write_csv(data / "quiz.csv", quiz(50))
    assert len(table(screens.run(at), "run", "ece")) == 1


def test_a_file_that_turns_bad_takes_its_numbers_away(data: Path, visit: Visit) -> None:
    path = write_csv(data / "quiz.csv", quiz(50))
    at = visit("reliability")
    assert tiles(at)["Rows used / total"] == "50 / 50"
    path.write_text("colour,size\nred,1\n")
    assert "Files" in message_text(screens.run(at))

"""Can a person say what a file's columns mean, and is it kept until they forget it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import screens
from calib_core.readers.table.columns import COLUMN_JUDGES
from pages.widgets.column_mapping import COLUMN_MEANINGS
from predictions import choices, quiz, write_csv, write_jsonl
from screens import AppTest, Visit, choose, control, go, said, table, tiles

NAMES = {"confidence": "how sure", "correct": "was fine", "id": "nr"}


def renamed(rows: int, **more: str) -> list[dict[str, Any]]:
    """Rows under names that mean nothing to the program."""
    return [{NAMES[name]: row[name] for name in NAMES} | more for row in quiz(rows)]


def say(at: AppTest, key: str, columns: dict[str, str]) -> AppTest:
    """Opens the controls, chooses these columns and their names, and applies."""
    if not control(at, f"reread_{key}").value:
        choose(at, f"reread_{key}", value=True)
    picker = next(picker for picker in at.multiselect if picker.key == f"columns_{key}")
    picker.set_value(list(columns))
    screens.run(at)
    for column, name in columns.items():
        next(box for box in at.selectbox if screens.plain(box.label) == column).set_value(name)
    screens.run(at)
    at.button(key=f"apply_{key}").click()
    return screens.run(at)


def state(at: AppTest) -> dict[str, str]:
    shown = table(at, "File", "State").set_index("File")["State"]
    return {str(name): str(value) for name, value in shown.items()}


def test_every_name_is_offered_with_its_meaning() -> None:
    assert COLUMN_MEANINGS.keys() == COLUMN_JUDGES.keys()


def test_it_is_used_kept_and_forgotten(data: Path, visit: Visit, tmp_path: Path) -> None:
    write_csv(data / "own.csv", renamed(80))
    before = (data / "own.csv").read_bytes()
    at = visit("files")
    assert state(at) == {"own.csv": "refused"}
    at = say(at, "own.csv", {"how sure": "confidence", "was fine": "correct"})
    assert state(at) == {"own.csv": "loaded"}
    assert all(text in said(at) for text in ("kept on this machine", "how sure as confidence"))
    assert [block.proto.expanded for block in at.expander if "own" in block.label] == [True]
    again = visit("reliability")
    assert tiles(again)["Rows used / total"] == "80 / 80"
    at = go(again, "files")
    at.button(key="forget_own.csv").click()
    assert state(screens.run(at)) == {"own.csv": "refused"}
    assert "kept on this machine" not in said(at)
    assert list((tmp_path / "cache" / "calib" / "wishes").iterdir()) == []
    assert [path.name for path in data.iterdir()] == ["own.csv"]
    assert (data / "own.csv").read_bytes() == before


def test_one_click_applies_to_all_files_with_the_same_columns(data: Path, visit: Visit) -> None:
    """Of many that ask the same the first is open; a file with another column is not spoken for."""
    rows = [{"conf": row["confidence"], "is_correct": row["correct"]} for row in quiz(40)]
    for name in "abcd":
        write_csv(data / f"{name}.csv", rows)
    write_csv(data / "other.csv", [row | {"extra": "x"} for row in rows])
    at = visit("files")
    opened = [screens.plain(block.label) for block in at.expander if block.proto.expanded]
    assert opened == ["a.csv"]
    at.button(key="apply_all_a.csv").click()
    loaded = dict.fromkeys(["a.csv", "b.csv", "c.csv", "d.csv"], "loaded")
    assert state(screens.run(at)) == {**loaded, "other.csv": "columns to be named"}


def test_a_proposal_is_shown_and_one_click_away(data: Path, visit: Visit) -> None:
    rows = [{"conf": row["confidence"], "is_correct": row["correct"]} for row in quiz(40)]
    write_csv(data / "likely.csv", rows)
    at = visit("files")
    assert state(at) == {"likely.csv": "columns to be named"}
    (asked,) = (screens.plain(warning.value) for warning in at.warning)
    assert "--map" not in asked
    assert "'conf', 'is_correct'" in asked
    assert not at.error
    assert "conf as confidence, is_correct as correct" in said(at)
    at.button(key="apply_likely.csv").click()
    assert state(screens.run(at)) == {"likely.csv": "loaded"}


def test_a_proposal_can_be_changed(data: Path, visit: Visit) -> None:
    rows = [{"conf": row["confidence"], "is_correct": row["correct"], "c2": 0.25} for row in quiz(40)]
    write_csv(data / "likely.csv", rows)
    at = say(visit("files"), "likely.csv", {"is_correct": "correct", "c2": "confidence"})
    shown = table(at, "Confidence method", "Many rows at one value")
    assert shown["Many rows at one value"][0] == "40 at 0.25"
    assert "conf as" not in said(at)


def test_a_column_can_be_left_out(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(60))
    at = say(visit("files"), "quiz.csv", {"verbal_confidence": "left out"})
    shown = table(at, "Confidence method", "Rows used").set_index("Confidence method")
    assert shown["Rows used"].count() == 1
    assert "verbal_confidence left out" in said(at)


def test_parts_of_a_list_at_once(data: Path, visit: Visit) -> None:
    rows = [
        {"which": number, "gold": number % 3, "one": number % 3, "two": number % 2, "three": number % 3}
        for number in range(30)
    ]
    write_csv(data / "votes.csv", rows)
    at = visit("files")
    assert control(at, "reread_votes.csv").value  # nothing comes of it unless a person says something
    at.multiselect(key="columns_votes.csv").set_value(["which", "one", "two", "three"])
    screens.run(at)
    choose(at, "as_votes.csv_0", "id")
    choose(at, "all_votes.csv", "samples")
    assert control(at, "all_votes.csv").value is None
    at.button(key="apply_votes.csv").click()
    at = screens.run(at)
    assert state(at) == {"votes.csv": "loaded"}
    assert "which as id, one, two, three as samples" in said(at)
    shown = table(at, "Confidence method", "Rows used").set_index("Confidence method")["Rows used"].dropna()
    assert set(shown) == {30}


def test_two_columns_cannot_be_one_value(data: Path, visit: Visit) -> None:
    write_csv(data / "own.csv", renamed(20))
    at = choose(visit("files"), "reread_own.csv", value=True)
    at.multiselect(key="columns_own.csv").set_value(["how sure", "was fine"])
    screens.run(at)
    for box in at.selectbox:
        if str(box.key).startswith("as_own.csv"):
            box.set_value("confidence")
    screens.run(at)
    assert at.button(key="apply_own.csv").disabled
    assert "choose one of them" in "\n".join(screens.plain(warning.value) for warning in at.warning)
    at.button(key="reset_own.csv").click()
    screens.run(at)
    assert at.multiselect(key="columns_own.csv").value == []


def test_a_file_with_other_columns_is_not_read_so(data: Path, visit: Visit) -> None:
    write_csv(data / "own.csv", renamed(20))
    say(visit("files"), "own.csv", {"how sure": "confidence", "was fine": "correct"})
    write_csv(data / "own.csv", renamed(30, more="x"))
    at = visit("files")
    assert state(at) == {"own.csv": "refused"}
    assert "has other columns now" in "\n".join(warning.value for warning in at.warning)
    choose(at, "reread_own.csv", value=True)
    assert at.multiselect(key="columns_own.csv").value == ["how sure", "was fine"]
    at.button(key="apply_own.csv").click()
    assert state(screens.run(at)) == {"own.csv": "loaded"}


def test_a_wish_that_does_not_work_can_be_mended(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(40))
    at = say(visit("files"), "quiz.csv", {"question": "confidence"})
    assert state(at) == {"quiz.csv": "refused"}
    assert "question" in "\n".join(screens.plain(error.value) for error in at.error)
    at = say(at, "quiz.csv", {"verbal_confidence": "confidence"})
    assert state(at) == {"quiz.csv": "loaded"}


def test_a_format_can_be_named(data: Path, visit: Visit) -> None:
    (data / "odd.csv").write_text("colour,size\nred,1\n")
    at = choose(visit("files"), "reread_odd.csv", value=True)
    choose(at, "format_odd.csv", "npz")
    at.button(key="apply_odd.csv").click()
    at = screens.run(at)
    assert state(at) == {"odd.csv": "refused"}
    assert "read as" in said(at)
    at.button(key="forget_odd.csv").click()
    assert "colour" in "\n".join(screens.plain(error.value) for error in screens.run(at).error)


def test_what_an_uploaded_file_means_is_said_for_its_session_alone(
    data: Path, visit: Visit, tmp_path: Path
) -> None:
    text = "".join(json.dumps(row) + "\n" for row in renamed(40)).encode()
    assert data.exists()
    at = visit("files")
    at.file_uploader[0].set_value([("own.jsonl", text, "")])
    at = say(screens.run(at), "uploaded--own.jsonl", {"how sure": "confidence", "was fine": "correct"})
    assert state(at) == {"own.jsonl": "loaded"}
    assert "kept for this session" in said(at)
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_said(data: Path, visit: Visit, tmp_path: Path) -> None:
    write_csv(data / "own.csv", renamed(20))
    (tmp_path / "cache").write_text("in the way")
    at = say(visit("files"), "own.csv", {"how sure": "confidence", "was fine": "correct"})
    assert state(at) == {"own.csv": "refused"}
    assert "cannot be kept" in "\n".join(error.value for error in at.error).replace("\u2060", "")
    assert str(tmp_path) not in said(at)


@pytest.mark.parametrize("name", ["![x](http://calib.invalid/a.png)", "<b>a</b>", ":red[x] $y$"])
def test_a_column_is_shown_as_text(name: str, data: Path, visit: Visit) -> None:
    rows = [{name: row["confidence"], "correct": row["correct"]} for row in quiz(30)]
    write_jsonl(data / "own.jsonl", rows)
    at = say(visit("files"), "own.jsonl", {name: "confidence"})
    assert f"{name} as confidence" in said(at)
    assert state(at) == {"own.jsonl": "loaded"}
    captions = "\n".join(caption.value for caption in at.caption)
    assert name not in captions


def test_why_it_was_taken_for_that(data: Path, visit: Visit) -> None:
    write_jsonl(data / "four.jsonl", choices(30))
    text = said(visit("files"))
    assert "Recognised as table (CSV, JSON lines or Parquet) because it has rows and columns" in text

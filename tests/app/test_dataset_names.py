"""Data whose file names no data set get a name: at upload, where columns are confirmed, and on Files."""

from __future__ import annotations

from pathlib import Path

import calib_core
import screens
from predictions import quiz, write_csv
from screens import AppTest, Visit, address, choose, control, go, page_text

NAME = "Trivia *2*"


def csv(rows: int, seed: int, confidence: str = "confidence", **more: str) -> bytes:
    """A table of confidences and outcomes."""
    table = [(row["id"], row["confidence"], row["correct"], *more.values()) for row in quiz(rows, seed)]
    lines = [("id", confidence, "correct", *more), *table]
    return "\n".join(",".join(map(str, line)) for line in lines).encode()


def upload(at: AppTest, **files: bytes) -> AppTest:
    at.file_uploader[0].set_value([(f"{name}.csv", data, "text/csv") for name, data in files.items()])
    return screens.run(at)


def field(at: AppTest, label: str) -> str:
    """The key of the text field of this label."""
    (key,) = (str(shown.key) for shown in at.text_input if shown.label == label)
    return key


def test_uploads_that_get_one_name_are_compared_under_it(data: Path, visit: Visit) -> None:
    write_csv(data / "other.csv", quiz(60, dataset="exam", model="m"))
    at = upload(visit("start"), old=csv(60, 1), new=csv(60, 2))
    choose(at, field(at, "Data set of these 2 files"), f"  {NAME} ")
    assert NAME in [screens.plain(heading.value) for heading in at.header]
    assert list(screens.table(at, "run", "ece")["run"]) == ["new · uploaded", "old · uploaded"]
    at = go(at, "comparison")
    assert [screens.plain(one) for one in control(at, "dataset").options] == ["exam", NAME, "all (3 runs)"]
    choose(at, "dataset", "trivia-2")
    assert len(control(at, "runs_shown").value) == 2
    assert not at.exception
    at = go(at, "files")
    assert f"Your mapping, saved for this session: data set {NAME}." in page_text(at)
    at.button(key="forget_uploaded--old.csv").click()
    at = go(screens.run(at), "comparison")
    assert control(at, "dataset").options[-1] == "all (3 runs)"
    assert "old" in control(at, "dataset").options


def test_the_chosen_run_stays_chosen_when_its_data_get_a_name(data: Path, visit: Visit) -> None:
    write_csv(data / "a.csv", quiz(60))
    write_csv(data / "b.csv", quiz(80))
    at = go(choose(visit("reliability"), "run", "b"), "files")
    choose(at, "reread_b.csv", value=True)
    choose(at, "data_set_b.csv", NAME)
    at.button(key="apply_b.csv").click()
    at = go(screens.run(at), "reliability")
    assert control(at, "run").value == address(at)["run"] == "b-trivia-2"
    assert screens.tiles(at)["Rows used / total"] == "80 / 80"
    assert not at.warning
    (run,) = calib_core.load(data / "b.csv", dataset=NAME)
    assert f"{run.label}" in page_text(at)


def test_a_suggested_mapping_is_accepted_with_a_name(data: Path, visit: Visit) -> None:
    write_csv(data / "other.csv", quiz(60, dataset="exam", model="m"))
    at = upload(visit("start"), mine=csv(60, 1, confidence="conf"))
    choose(at, field(at, "Data set"), NAME)
    at.button(key="accept_uploaded--mine.csv").click()
    at = screens.run(at)
    assert [title.value for title in at.title] == ["Reliability"]
    assert control(at, "run").value == "uploaded--mine-trivia-2"
    assert control(go(at, "comparison"), "dataset").value == "trivia-2"


def test_a_file_that_names_its_data_is_not_asked(data: Path, visit: Visit) -> None:
    write_csv(data / "a.csv", quiz(60, dataset="exam"))
    at = upload(visit("start"), mine=csv(60, 1, dataset="own"))
    assert not [shown.label for shown in at.text_input if "Data set" in shown.label]
    at = choose(go(at, "files"), "reread_a.csv", value=True)
    assert not [shown.label for shown in at.text_input if "Data set" in shown.label]

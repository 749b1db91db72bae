"""Data whose file names no data set get a name: at upload, where columns are confirmed, and on Files."""

from __future__ import annotations

from pathlib import Path

import calib_core
import screens
from pages.state.run_preferences import RunPreferences
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
    choose(at, "data_set_b.csv", NAME)
    at = go(at, "reliability")
    assert control(at, "run").value == address(at)["run"] == "b"
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
    assert control(at, "run").value == "uploaded--mine"
    assert control(go(at, "comparison"), "dataset").value == "trivia-2"


def test_a_file_that_names_its_data_is_not_asked(data: Path, visit: Visit) -> None:
    write_csv(data / "a.csv", quiz(60, dataset="exam"))
    at = upload(visit("start"), mine=csv(60, 1, dataset="own"))
    assert not [shown.label for shown in at.text_input if "Data set" in shown.label]
    at = choose(go(at, "files"), "reread_a.csv", value=True)
    assert not [shown.label for shown in at.text_input if "Data set" in shown.label]


def test_naming_an_upload_loses_nothing_that_refers_to_its_run(data: Path, visit: Visit) -> None:
    write_csv(data / "other.csv", quiz(60, dataset="exam", model="m"))
    at = upload(visit("start"), mine=csv(60, 1), yours=csv(60, 2))
    id_, pinned = "uploaded--yours", "uploaded--mine"
    at.session_state["_run_preferences"] = RunPreferences({id_: "Baseline"}, frozenset({pinned}))
    at = go(choose(go(at, "reliability"), "run", id_), "comparison")
    choose(at, "runs_shown", [id_])
    for name in ("Trivia", "Trivia 2", ""):
        at = go(at, "start")
        choose(at, field(at, "Data set of these 2 files"), name)
        at = go(at, "comparison")
        assert control(at, "runs_shown").value == [id_], name
        assert not at.warning, name
        at = go(at, "reliability")
        assert control(at, "run").value == address(at)["run"] == id_, name
        assert control(at, "run").options[0].startswith("★ mine"), name
        assert any(option.startswith("Baseline") for option in control(at, "run").options), name


def test_the_data_set_that_was_chosen_is_followed_when_it_gets_a_name(data: Path, visit: Visit) -> None:
    rows = [row for model in "klmno" for row in quiz(60, dataset="exam", model=model)]
    write_csv(data / "other.csv", rows)
    at = go(upload(visit("start"), old=csv(60, 1), new=csv(60, 2)), "comparison")
    choose(at, "dataset", "exam")
    choose(at, "dataset", "_")
    for name, id_ in (("Trivia", "trivia"), ("Quiz", "quiz"), ("", "_")):
        at = go(at, "start")
        choose(at, field(at, "Data set of these 2 files"), name)
        at = go(at, "comparison")
        assert (control(at, "dataset").value, address(at).get("dataset", id_)) == (id_, id_)
        assert "nothing to show" not in page_text(at)

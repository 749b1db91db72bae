"""One click chooses a person's own runs alone, or a single run, and one more takes it back."""

from __future__ import annotations

from pathlib import Path

import pytest

import screens
from predictions import quiz, write_csv
from screens import AppTest, Visit, address, choose, control, go

MINE = ["uploaded--m0-exam", "uploaded--m1-exam"]
THEIRS = ["t0-exam", "t1-exam"]


def rows(*models: str) -> list[dict[str, object]]:
    return [row for seed, model in enumerate(models) for row in quiz(60, seed, model=model, dataset="exam")]


@pytest.fixture
def at(data: Path, visit: Visit, tmp_path: Path) -> AppTest:
    """The page Comparison on two runs of the folder and two that were uploaded."""
    write_csv(data / "theirs.csv", rows("t0", "t1"))
    at = visit("start")
    mine = write_csv(tmp_path / "mine.csv", rows("m0", "m1")).read_bytes()
    at.file_uploader[0].set_value([("mine.csv", mine, "text/csv")])
    return go(screens.run(at), "comparison")


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return screens.run(at)


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button if (button.key or "").startswith("runs_")]


def chosen(at: AppTest) -> list[str]:
    return sorted(control(at, "runs_shown").value)


def test_only_mine_and_back(at: AppTest) -> None:
    assert chosen(at) == sorted([*THEIRS, *MINE])
    assert labels(at) == ["Only mine"]
    press(at, "runs_only-mine")
    assert chosen(at) == MINE
    assert address(at)["runs"] == ",".join(MINE)
    assert labels(at) == ["Undo"]
    at = go(go(at, "methods"), "comparison")
    assert chosen(at) == MINE, "the list stays as it was put"
    press(at, "runs_undo")
    assert chosen(at) == sorted([*THEIRS, *MINE])
    assert "runs" not in address(at)
    assert labels(at) == ["Only mine"]


def test_only_one_and_back(at: AppTest) -> None:
    choose(at, "runs_shown", [*MINE, THEIRS[0]])
    at.menu_button(key="runs_only").click(THEIRS[1])
    screens.run(at)
    assert chosen(at) == [THEIRS[1]]
    assert labels(at) == ["Only mine", "Undo"]
    press(at, "runs_undo")
    assert chosen(at) == sorted([*MINE, THEIRS[0]]), "as they were chosen, not all"


def test_only_this_is_the_run_of_the_pages_of_one_run(at: AppTest) -> None:
    at = go(choose(go(at, "reliability"), "run", THEIRS[1]), "comparison")
    assert labels(at) == ["Only mine", "Only this"]
    assert at.button(key="runs_only-this").help == "t1"
    press(at, "runs_only-this")
    assert chosen(at) == [THEIRS[1]]
    assert labels(at) == ["Only mine", "Undo"]
    press(at, "runs_undo")
    assert len(chosen(at)) == 4


def test_another_choice_leaves_nothing_to_take_back(at: AppTest) -> None:
    press(at, "runs_only-mine")
    choose(at, "runs_shown", [MINE[0]])
    assert labels(at) == ["Only mine"]


def test_they_are_below_a_list_that_was_emptied(at: AppTest) -> None:
    choose(at, "runs_shown", [])
    assert "Choose a run." in [screens.plain(note.value) for note in at.info]
    press(at, "runs_only-mine")
    assert chosen(at) == MINE


def test_a_report_is_of_ones_own_with_one_click(at: AppTest) -> None:
    at = go(at, "report")
    assert sorted(control(at, "reported_shown").value) == MINE
    choose(at, "reported_shown", [*MINE, THEIRS[0]])
    press(at, "reported_only-mine")
    assert sorted(control(at, "reported_shown").value) == MINE
    press(at, "reported_undo")
    assert len(control(at, "reported_shown").value) == 3


def test_one_run_alone_needs_none(data: Path, visit: Visit) -> None:
    write_csv(data / "theirs.csv", rows("t0"))
    at = visit("comparison")
    assert not labels(at)
    assert not at.menu_button

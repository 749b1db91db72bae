"""Runs are pinned, hidden and renamed: on every page, kept for the folder, and as a link says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import screens
from export_menus import open_menus
from pages.state import run_preferences
from pages.state.run_preferences import RunPreferences, load_preferences, preferences_file, save_preferences
from pages.widgets import manage_runs
from predictions import quiz, write_csv
from screens import Visit, address, choose, page_text, table

MODELS = ("blue", "gold", "green", "lime", "pink", "red", "teal")


@pytest.fixture
def seven_runs(data: Path) -> Path:
    write_csv(
        data / "quiz.csv", [row for seed, model in enumerate(MODELS) for row in quiz(90, seed, model=model)]
    )
    return data


@pytest.fixture
def prefer(seven_runs: Path) -> Callable[..., None]:
    """Keeps preferences for the folder, as a session before would have."""

    def keep(**preferences: Any) -> None:
        save_preferences(seven_runs, RunPreferences(**preferences))

    return keep


def press(at: screens.AppTest, key: str) -> None:
    next(button for button in at.button if button.key == key).click()
    screens.run(at)


def options(at: screens.AppTest, key: str) -> list[str]:
    return list(screens.control(at, key).options)


def test_a_pinned_run_is_first_and_the_one_a_page_begins_with(
    prefer: Callable[..., None], visit: Visit
) -> None:
    prefer(pinned=frozenset({"pink"}))
    assert list(table(visit("start"), "run")["run"])[:2] == ["pink", "blue"]
    at = visit("reliability")
    assert options(at, "run")[:2] == ["★ pink", "blue"]
    assert screens.control(at, "run").value == "pink"
    assert list(table(visit("comparison"), "Run", "Skill")["Run"]).count("pink") > 0


def test_a_hidden_run_is_on_no_page_until_one_click_shows_it(
    prefer: Callable[..., None], visit: Visit, seven_runs: Path
) -> None:
    prefer(hidden=frozenset({"pink", "red"}))
    at = visit("start")
    assert len(table(at, "run")) == 5
    assert not {"pink", "red"} & {*table(at, "run")["run"]}
    assert address(at) == {}
    for page in ("reliability", "comparison", "methods"):
        at = visit(page)
        assert not {"pink", "red"} & {*options(at, "run" if page == "reliability" else "runs_shown")}
    assert "2 runs hidden" in screens.control(at, "show_hidden").label
    press(at, "show_hidden")
    assert {"pink", "red"} <= {*options(at, "runs_shown")}
    assert address(at) == {"hide": "~"}
    assert load_preferences(seven_runs).hidden == frozenset()
    assert {"pink", "red"} <= {*options(visit("methods"), "runs_shown")}


def test_a_link_says_what_is_hidden_and_shows_the_run_that_it_names(
    prefer: Callable[..., None], visit: Visit, seven_runs: Path
) -> None:
    at = visit("methods", hide="gold,teal")
    assert {*MODELS} - {*options(at, "runs_shown")} == {"gold", "teal"}
    assert address(at) == {"hide": "gold,teal"}
    assert load_preferences(seven_runs) == RunPreferences()  # a link changes nothing for good
    prefer(hidden=frozenset({"gold", "teal"}))
    at = visit("reliability", run="gold")
    assert screens.control(at, "run").value == "gold"
    assert "teal" not in options(at, "run")
    assert not at.warning


def test_the_copied_link_names_the_hidden_runs(prefer: Callable[..., None], visit: Visit) -> None:
    prefer(hidden=frozenset({"gold"}))
    assert "hide=gold" in screens.copied_link(visit("reliability"))


def test_where_all_are_hidden_the_page_offers_to_show_them(prefer: Callable[..., None], visit: Visit) -> None:
    prefer(hidden=frozenset(MODELS))
    for page in ("start", "reliability"):
        at = visit(page)
        assert "Every run is hidden." in page_text(at)
        press(at, "show_all_hidden")
        assert "Every run is hidden." not in page_text(at)
        prefer(hidden=frozenset(MODELS))


def test_a_run_has_its_name_for_display_everywhere_and_its_id_in_the_address(
    prefer: Callable[..., None], visit: Visit
) -> None:
    prefer(names={"red": "Baseline *1*"})
    assert "Baseline *1*" in list(table(visit("start"), "run")["run"])
    at = visit("reliability", run="red")
    assert screens.control(at, "run").value == "red"
    assert "Baseline *1*" in options(at, "run")
    assert "Baseline *1* (red)" in page_text(at)  # the caption of the view says both
    at = visit("comparison", runs="red,blue")
    assert {*table(at, "Run", "Skill")["Run"]} == {"Baseline *1*", "blue"}
    names = {trace.get("name") for trace in screens.figure(at, "comparison")["data"]}
    assert "red" not in names
    assert "red" in screens.control(at, "runs_shown").value


def test_two_runs_of_one_name_are_told_apart(prefer: Callable[..., None], visit: Visit) -> None:
    prefer(names={"red": "same", "blue": "same", "gold": "pink"})
    names = list(table(visit("start"), "run")["run"])
    assert {"same (red)", "same (blue)", "pink (gold)", "pink"} <= {*names}
    assert len({*names}) == len(MODELS)


def test_exports_say_both_names(prefer: Callable[..., None], visit: Visit, offered: dict[str, Any]) -> None:
    prefer(names={"red": "Baseline"})
    open_menus(visit("comparison", runs="red,blue", methods="given"))
    exported = pl.read_csv(offered["save_table_points_csv"][1](), comment_prefix="#")
    assert {*exported["run"]} == {"Baseline (red)", "blue"}
    assert "Baseline (red)" in offered["save_table_points_md"][1]().decode()
    open_menus(visit("reliability", run="red"))
    assert "Baseline (red)" in offered["save_table_bins_md"][1]().decode()


def test_start_finds_runs_by_words(seven_runs: Path, visit: Visit) -> None:
    assert seven_runs.is_dir()
    at = choose(visit("start"), "find", "GREEN")
    assert list(table(at, "run")["run"]) == ["green"]
    assert address(at) == {"find": "GREEN"}
    assert "1 of 7 rows match the search." in page_text(at)
    at = choose(at, "find", "nothing like it")
    assert "None of 7 rows matches." in page_text(at)
    assert "7 runs" in page_text(choose(at, "find", ""))


def test_preferences_are_kept_outside_the_folder_and_never_of_uploads(seven_runs: Path) -> None:
    before = sorted(seven_runs.iterdir())
    kept = RunPreferences({"red": "A", "uploaded--x": "B"}, frozenset({"red"}), frozenset({"uploaded--x"}))
    save_preferences(seven_runs, kept)
    assert sorted(seven_runs.iterdir()) == before
    assert load_preferences(seven_runs) == RunPreferences({"red": "A"}, frozenset({"red"}))
    assert load_preferences(seven_runs.parent) == RunPreferences()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"version": 2, "names": {"a": "b"}}', '{"version": 1, "names": 3}']
)
def test_a_malformed_file_counts_as_none(seven_runs: Path, text: str) -> None:
    file = preferences_file(seven_runs)
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert load_preferences(seven_runs) == RunPreferences()
    record = {"version": 1, "names": {"a": 1, "b": "B"}, "pinned": [1, "b"], "hidden": None}
    file.write_text(json.dumps(record))
    assert load_preferences(seven_runs) == RunPreferences({"b": "B"}, frozenset({"b"}))


def test_what_is_edited_in_the_dialog_is_kept_on_one_line_beside_what_it_does_not_list() -> None:
    edited = pl.DataFrame(
        {
            "id": ["red", "gold", "blue"],
            "pin": [True, False, False],
            "hide": [False, True, False],
            "name": [" Base\nline ", None, " "],
        }
    )
    unread = frozenset({"unread"})
    before = RunPreferences({"unread": "Later", "blue": "Sky"}, unread | {"gold"}, unread | {"blue"})
    wanted = RunPreferences({"unread": "Later", "red": "Base line"}, unread | {"red"}, unread | {"gold"})
    assert manage_runs.edited_preferences(edited, before) == wanted


def test_the_dialog_lists_every_run_and_finds_them(prefer: Callable[..., None], visit: Visit) -> None:
    prefer(names={"red": "Baseline"}, hidden=frozenset({"gold"}), pinned=frozenset({"teal"}))
    at = visit("reliability")
    press(at, "manage_runs")
    listed = table(at, "pin", "hide", "name")
    assert list(listed["run"]) == ["teal", "blue", "green", "lime", "pink", "red", "gold"]
    assert list(listed["name"]) == ["", "", "", "", "", "Baseline", ""]
    assert [list(listed["run"][listed[mark]]) for mark in ("pin", "hide")] == [["teal"], ["gold"]]
    frame = pl.DataFrame({"name": ["Baseline", ""], "run": ["red · quiz", "blue · quiz"]})
    assert manage_runs.found_runs(frame, "QUIZ base")["run"].to_list() == ["red · quiz"]
    assert manage_runs.found_runs(frame, "").height == 2


def test_a_page_whose_run_is_hidden_shows_another_without_a_warning(seven_runs: Path, visit: Visit) -> None:
    assert seven_runs.is_dir()
    at = visit("reliability", run="gold", method="given")
    at.session_state["hide"] = "gold"
    screens.run(at)
    assert address(at) == {"hide": "gold", "method": "given"}
    assert screens.control(at, "run").value != "gold"
    assert not at.warning


def test_a_folder_that_cannot_be_written_to_is_said_and_the_session_goes_on(
    seven_runs: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seven_runs.is_dir()

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(run_preferences, "write_json", refuse)
    at = visit("methods", hide="gold")
    press(at, "show_hidden")
    assert "gold" in options(at, "runs_shown")
    assert any("Read-only file system" in screens.plain(caption.value) for caption in at.sidebar.caption)

"""Once a person has opened a file, the demo data step back on every page, and one switch brings them back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import screens
from pages.widgets import shell
from predictions import quiz, write_csv
from screens import AppTest, Visit, address, control, go, page_text


@pytest.fixture(autouse=True)
def demo(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The app takes its folder for its demo data: two models of one data set."""
    rows = [*quiz(150, model="cerulean"), *quiz(160, seed=6, model="magenta")]
    write_csv(data / "demo.csv", [{**row, "dataset": "palette"} for row in rows])
    monkeypatch.setattr(shell, "is_demo_data", lambda: True)


def drop_own_file(at: AppTest) -> AppTest:
    rows = [{**row, "model": "mine", "dataset": "exam"} for row in quiz(80, seed=9)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    at.file_uploader[0].set_value([("mine.jsonl", text.encode(), "application/json")])
    return screens.run(at)


def set_switch(at: AppTest, *, on: bool) -> None:
    (switch,) = (one for one in at.sidebar.toggle if one.label == "Show demo data")
    switch.set_value(on)
    screens.run(at)


def test_without_a_file_of_ones_own_there_is_no_switch(visit: Visit) -> None:
    at = visit("reliability")
    assert len(control(at, "run").options) == 2
    assert not [one for one in at.sidebar.toggle if one.label == "Show demo data"]
    assert "Demo data" in page_text(at)


@pytest.mark.parametrize("page", ["start", "files", "reliability", "comparison", "tour", "report"])
def test_every_page_is_of_ones_own_runs_alone(page: str, visit: Visit) -> None:
    at = go(drop_own_file(visit("start")), page)
    text = page_text(at)
    assert "mine" in text
    assert not any(word in text for word in ("cerulean", "magenta", "palette", "demo.csv", "Demo data"))
    lists = [str(option) for box in (*at.selectbox, *at.multiselect) for option in box.options]
    assert not any("cerulean" in option or "magenta" in option for option in lists)


def test_the_switch_brings_them_back_and_the_address_keeps_it(visit: Visit) -> None:
    at = go(drop_own_file(visit("start")), "reliability")
    assert control(at, "run").options == ["mine · exam"]
    set_switch(at, on=True)
    assert control(at, "run").options == ["cerulean · palette", "magenta · palette", "mine · exam · uploaded"]
    assert address(at)["demo"] == "1"
    assert "Demo data" in page_text(at)
    assert control(at, "run").value == "uploaded--mine-exam", "one's own is still what is shown"
    assert control(go(at, "report"), "reported_shown").value == ["uploaded--mine-exam"]
    assert len(screens.tables(go(at, "start"), "run", "ece")) == 2
    set_switch(at, on=False)
    assert "demo" not in address(at)
    assert control(go(at, "reliability"), "run").options == ["mine · exam"]


def test_what_was_chosen_of_the_demo_data_is_left_with_them(visit: Visit) -> None:
    at = visit("reliability", run="magenta-palette", m="20")
    at = go(drop_own_file(go(at, "start")), "reliability")
    assert control(at, "run").value == "uploaded--mine-exam"
    assert address(at) == {"m": "20"}
    at = visit("comparison", dataset="palette", runs="magenta-palette", methods="given")
    at = go(drop_own_file(go(at, "start")), "comparison")
    assert address(at) == {}
    assert not at.warning


def test_a_link_to_a_run_of_the_demo_data_still_opens(visit: Visit) -> None:
    at = go(drop_own_file(visit("start")), "reliability")
    at.query_params["run"] = "magenta-palette"
    screens.run(at)
    assert control(at, "run").value == "magenta-palette"
    assert address(at) == {"run": "magenta-palette", "demo": "1"}
    set_switch(at, on=False)
    assert control(at, "run").value == "uploaded--mine-exam"
    assert address(at) == {}

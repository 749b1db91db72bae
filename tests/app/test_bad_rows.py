"""A file with bad rows waits for a decision; every page says what was left out."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

import pytest

import calib_core
import screens
from pages.state.runs import slug
from predictions import quiz, write_csv
from screens import PageLink, Visit, address, go, page_text, table, tiles

SPOILT_ID = slug("spoilt file.csv", exact=True)


@pytest.fixture
def spoilt_file(data: Path) -> Path:
    """A file of 80 rows, three of them bad."""
    rows = quiz(80)
    for number, found in ((4, "85%"), (30, "nan"), (31, "1.5")):
        rows[number]["confidence"] = found
    return write_csv(data / "spoilt file.csv", rows)


def test_nothing_is_loaded_until_somebody_decides(spoilt_file: Path, visit: Visit) -> None:
    assert spoilt_file.exists()
    for page in ("reliability", "concentration", "start"):
        at = visit(page)
        assert not at.metric
        assert not at.get("plotly_chart")
        assert "3 of 80 rows" in page_text(at)
        assert "spoilt file.csv" in page_text(at)


def test_one_bad_row_is_one(data: Path, visit: Visit) -> None:
    write_csv(data / "spoilt.csv", [*quiz(60), {**quiz(61)[-1], "confidence": "85%"}])
    for page in ("files", "reliability"):
        assert "1 of 61 rows is bad" in page_text(visit(page))


def test_the_button_loads_the_good_rows(spoilt_file: Path, visit: Visit) -> None:
    at = visit("files")
    (button,) = at.button
    button.click()
    screens.run(at)
    assert list(address(at)) == ["good"]
    at = go(at, "reliability")
    screens.choose(at, "method", "given")
    (loaded,) = calib_core.load(spoilt_file, skip_bad_rows=True)
    number = calib_core.score(loaded, method="given", metric="ece")
    assert tiles(at)["ECE"] == f"{number.value:.4f}"
    assert tiles(at)["Rows used / total"] == "77 / 80"
    assert at.text[0].value == number.recipe
    assert "3 bad rows left out" in number.recipe


def test_rows_of_one_id_can_be_loaded_as_a_question_asked_again(data: Path, visit: Visit) -> None:
    again = [{**row, "id": f"q{at % 20}"} for at, row in enumerate(quiz(80))]
    write_csv(data / "again.csv", again)
    at = visit("files")
    (all_rows, good_rows) = at.button
    assert all_rows.label == "Load all 80 rows: equal ids ask one question"
    assert good_rows.label == "Load the good rows only"
    all_rows.click()
    screens.run(at)
    loaded = visit("reliability", method="given")
    assert tiles(loaded)["Rows used / total"] == "80 / 80"
    assert "only 20 different questions" in page_text(loaded)


def test_the_address_holds_the_decision(spoilt_file: Path, visit: Visit) -> None:
    assert spoilt_file.exists()
    at = visit("files")
    at.button[0].click()
    screens.run(at)
    fresh = visit("reliability", **address(at))
    assert tiles(fresh)["Rows used / total"] == "77 / 80"
    other = visit("reliability")
    assert not other.metric, "the decision is the session's own"


def test_the_count_stands_on_every_page(spoilt_file: Path, visit: Visit) -> None:
    assert spoilt_file.exists()
    at = visit("files")
    at.button[0].click()
    screens.run(at)
    for page in ("files", "start", "concentration", "reliability"):
        at = go(at, page)
        assert "3 of 80 rows" in page_text(at), page
        assert "left out" in page_text(at), page
        if page == "start":  # its recipe is that of all runs, and each row of the table has its count
            assert table(at, "used")["used"].tolist() == [77]
        elif at.main.text:
            assert "n=77/80, 3 bad rows left out" in at.main.text[0].value


def test_every_link_keeps_the_decision(spoilt_file: Path, visit: Visit) -> None:
    assert spoilt_file.exists()
    at = visit("files")
    at.button[0].click()
    screens.run(at)
    (good,) = address(at).values()
    for page in ("start", "tour", "abstention"):
        at = go(at, page)
        nodes = [*screens.walk(at.main), *screens.walk(at.sidebar)]
        links = [link.proto.query_string for link in nodes if isinstance(link, PageLink)]
        assert len(links) >= 13, page
        assert [parse_qs(link).get("good") for link in links] == [[good]] * len(links), page


def test_the_decision_can_be_taken_back(spoilt_file: Path, visit: Visit) -> None:
    assert spoilt_file.exists()
    at = visit("files")
    for expected in (["good"], []):
        at.button[0].click()
        screens.run(at)
        assert list(address(at)) == expected
    assert not go(at, "reliability").metric


def test_each_file_is_decided_on_its_own(spoilt_file: Path, visit: Visit) -> None:
    second = quiz(40, seed=8)
    second[0]["confidence"] = "often"
    write_csv(spoilt_file.parent / "another.csv", second)
    write_csv(spoilt_file.parent / "good.csv", quiz(20))
    at = visit("files")
    loads = [button.key for button in at.button if str(button.key).startswith("load_")]
    assert loads == ["load_another.csv", f"load_{SPOILT_ID}"]
    at.button(key="load_another.csv").click()
    screens.run(at)
    shown = table(at, "File", "State").set_index("File")["State"]
    assert shown["good.csv"] == "loaded"
    assert "good rows only" in shown["another.csv"]
    assert "loaded" not in shown["spoilt file.csv"]
    runs = table(go(at, "start"), "run", "used")
    assert set(runs["run"]) == {"another", "good"}
    assert "1 of 40 rows" in page_text(at)
    assert "3 of 80 rows" in page_text(at)


def test_files_with_names_that_differ_by_a_space_are_decided_on_each_for_itself(
    data: Path, visit: Visit
) -> None:
    """Also where the other one comes later, or takes the place of the first."""
    names = ["a b.csv", "a-b.csv", "A_b.csv"]
    for number, name in enumerate(names):
        write_csv(data / name, [*quiz(20 + number), {**quiz(61)[-1], "confidence": "often"}])
    at = visit("files")
    state = table(at, "File", "State").set_index("File")["State"]
    assert state[names].tolist() == ["bad rows: decide"] * 3
    (load_one,) = (button for button in at.button if button.key == "load_a-b.csv")
    load_one.click()
    state = table(screens.run(at), "File", "State").set_index("File")["State"]
    assert state[names].tolist() == ["bad rows: decide", "loaded, good rows only", "bad rows: decide"]
    (data / "a-b.csv").unlink()
    assert not visit("reliability", **address(at)).metric
    at = visit("files")
    for key in [str(button.key) for button in at.button if str(button.key).startswith("load_")]:
        at.button(key=key).click()
    good = address(screens.run(at))["good"]
    for name, rows in (("a b.csv", "20 / 21"), ("A_b.csv", "22 / 23")):
        run = f"a-b--{slug(name, exact=True)}"
        assert tiles(visit("reliability", good=good, run=run))["Rows used / total"] == rows


def test_two_decisions_may_be_taken_on_one_drawing_of_the_page(spoilt_file: Path, visit: Visit) -> None:
    second = quiz(40, seed=8)
    second[0]["confidence"] = "often"
    write_csv(spoilt_file.parent / "another.csv", second)
    at = visit("files")
    for key in ("load_another.csv", f"load_{SPOILT_ID}"):
        at.button(key=key).click()
    assert address(screens.run(at)) == {"good": f"another.csv,{SPOILT_ID}"}
    at.button(key="drop_another.csv").click()
    assert address(screens.run(at)) == {"good": SPOILT_ID}


def test_the_choice_survives_the_decision(spoilt_file: Path, visit: Visit) -> None:
    write_csv(spoilt_file.parent / "good.csv", quiz(20))
    at = visit("files", run="good", method="given", m="20")
    at.button[0].click()
    screens.run(at)
    assert {key: value for key, value in address(at).items() if key != "good"} == {
        "run": "good",
        "method": "given",
        "m": "20",
    }
    assert tiles(go(at, "reliability"))["Rows used / total"] == "20 / 20"


def test_a_decision_on_a_missing_file_changes_nothing(spoilt_file: Path, visit: Visit) -> None:
    assert spoilt_file.exists()
    at = visit("reliability", good="something-else.csv,,")
    assert not at.metric
    assert "3 of 80 rows" in page_text(at)


def test_a_file_without_a_good_row_offers_no_button(data: Path, visit: Visit) -> None:
    (data / "bad.csv").write_text("confidence,correct\n7.5,1\n9.5,0\n")
    at = visit("files")
    assert not at.button
    assert at.error

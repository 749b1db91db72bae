"""The page Report makes one file with the numbers that the pages show, for the choice made on them."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

import screens
from app_server import ROOT
from calib_core.__main__ import main
from calib_core.user_cache import user_cache_folder
from calib_core.views.registry import SECTIONS
from pages.state.mappings import CachedMappings, FileMapping, fingerprint
from pages.state.report_progress import ReportProgress
from pages.widgets.pages import PAGES
from predictions import quiz, write_csv
from report_html import Node, read, section, text_of
from screens import Visit, tiles

Given = dict[str, Callable[[], bytes]]


@pytest.fixture
def report_buttons(monkeypatch: pytest.MonkeyPatch) -> Given:
    """Key of the page's button → what it would send."""
    sent: Given = {}
    real = st.download_button

    def button(label: str, **options: Any) -> bool:
        sent[options["key"]] = options["data"]
        return real(label, **options)

    monkeypatch.setattr(st, "download_button", button)
    return sent


def report(report_buttons: Given) -> Node:
    """The report as the last visit would make it."""
    return read(report_buttons["make_report"]().decode("utf-8"))


def headline(at: screens.AppTest) -> str:
    """The headline of the page."""
    return screens.plain(at.header[0].value) if at.header else ""


def blocks_like(at: screens.AppTest, blocks: list[Node]) -> list[Node]:
    """The blocks of a report with the page's tiles and headline, where it has these."""
    own, wanted = tiles(at).items(), headline(at)
    return [
        block
        for block in blocks
        if own <= block.tiles.items()
        and (not wanted or wanted in [p.text for p in block.all("p", "reading")])
    ]


SHOWN = (
    "reliability",
    "concentration",
    "robustness",
    "abstention",
    "sampling",
    "methods",
    "groups",
    "comparison",
)


@pytest.mark.parametrize("page", SHOWN)
def test_the_numbers_of_a_page(page: str, folder: Path, visit: Visit, report_buttons: Given) -> None:
    assert len(list(folder.iterdir())) == 3
    visit("report", pages=page)
    blocks = section(report(report_buttons), page)
    at = visit(page)
    found = blocks_like(at, blocks)
    assert found, (tiles(at), headline(at), [block.tiles for block in blocks])
    recipes = "\n".join(element.value for element in at.text)
    assert all(line in recipes for line in found[0].all("pre")[0].text.splitlines()[:1])


@pytest.mark.parametrize("page", ["reliability", "concentration", "training", "methods"])
def test_the_numbers_of_the_demo_data(
    page: str, visit: Visit, report_buttons: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIB_DATA", str(ROOT / "data"))
    visit("report", pages=page, reported="-")
    blocks = section(report(report_buttons), page)
    at = visit(page, **({"dataset": "*"} if page == "methods" else {}))
    assert blocks_like(at, blocks)


def test_each_page_of_a_report_asks_what_its_page_asks() -> None:
    assert all(page.title and page.question for page in PAGES.values())
    for id_ in set(SECTIONS) & set(PAGES):
        assert (SECTIONS[id_].title, SECTIONS[id_].question) == (PAGES[id_].title, PAGES[id_].question)
    assert set(PAGES) - set(SECTIONS) == {"start", "tour", "report"}
    assert set(SECTIONS) - set(PAGES) == {"summary", "overview"}


def test_the_choice_of_the_other_pages_is_taken_over(
    folder: Path, visit: Visit, report_buttons: Given
) -> None:
    at = visit("reliability", method="given", m="20", binning="mass", metric="ace", run="green")
    at = screens.go(at, "report")
    assert "by confidence in the file: ACE, 20 bins of equal mass" in screens.page_text(at)
    visit("report", **screens.address(at), pages="reliability", reported="green,four")
    four, green = section(report(report_buttons), "reliability")
    assert [block.all("h3")[0].text for block in (four, green)] == ["four", "green"]
    own = tiles(visit("reliability", method="given", m="20", binning="mass", metric="ace", run="green"))
    assert own.items() <= green.tiles.items()
    assert "logit" in four.all("p", "by")[0].text, "a run without that confidence is shown by its first"
    assert folder.is_dir()


def test_costs_typed_on_abstention_are_in_the_report(
    folder: Path, visit: Visit, report_buttons: Given
) -> None:
    assert folder.is_dir()
    for typed, costs in (
        ({"wrong": "4"}, "A wrong answer costs 4, a question handed on 1,"),
        ({"handed_on": "0.5"}, "A wrong answer costs 10, a question handed on 0.5,"),
        ({"wrong": "x"}, "A wrong answer costs 10, a question handed on 1,"),
        ({}, ""),
    ):
        visit("report", pages="abstention", reported="green", **typed)
        text = " ".join(block.text for block in section(report(report_buttons), "abstention"))
        assert costs in text
        assert ("costs" in text) is bool(typed)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"pages": ",".join(SECTIONS), "reported": "green"},
        {"pages": "overview,reliability,files"},
        {"pages": "reliability,files", "reported": "green", "m": "7", "method": "given", "judged": "greedy"},
        {"pages": "reliability", "reported": "green", "method": "given", "labels": "all"},
        {"pages": "reliability", "reported": "green", "method": "given", "bin": "9"},
    ],
)
def test_the_command_shown_makes_the_same_report(
    params: dict[str, str],
    folder: Path,
    visit: Visit,
    report_buttons: Given,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    at = visit("report", **params)
    document = report(report_buttons)
    line = document.one("again").all("pre")[0].text
    assert line in [element.value for element in at.text]
    assert ("--bin 9" in line) == ("Questions in 80–90 % (0.8, 0.9]" in document.text) == ("bin" in params)
    assert ("--judged greedy" in line) == ("judged" in params)
    assert str(folder) not in document.text
    copy = shutil.copytree(folder, tmp_path / "copy")
    monkeypatch.chdir(copy)
    assert main(shlex.split(line)[3:]) == 0
    capsys.readouterr()
    again = read((copy / "calibration-report.html").read_text(encoding="utf-8"))
    assert text_of(again) == text_of(document)


def test_bad_rows_are_left_out_as_decided(
    data: Path,
    visit: Visit,
    report_buttons: Given,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = quiz(60)
    rows[3]["confidence"] = 1.7
    write_csv(data / "bad.csv", rows)
    write_csv(data / "good.csv", quiz(50, seed=8))
    visit("report", pages="overview,files")
    document = report(report_buttons)
    assert "nobody has decided whether to leave them out" in document.one("files").text
    assert len(section(document, "overview")[0].rows) == 1
    visit("report", pages="overview,files", good="bad.csv")
    document = report(report_buttons)
    assert "1 of 60 rows is bad and not used in any number." in document.one("files").text
    line = document.one("again").all("pre")[0].text
    assert "--skip-bad-rows" in line
    monkeypatch.chdir(data)
    assert main(shlex.split(line)[3:]) == 0
    capsys.readouterr()
    assert text_of(read((data / "calibration-report.html").read_text(encoding="utf-8"))) == text_of(document)


def test_progress_and_outcome_are_recorded(folder: Path, visit: Visit, report_buttons: Given) -> None:
    at = visit("report", pages="overview,training")
    assert folder.is_dir()
    assert "prints to PDF" in screens.page_text(at)
    work: ReportProgress = at.session_state["_report_work"]
    seen: list[str] = []
    shares: list[float] = []
    note = work.update

    def record(share: float, doing: str) -> None:
        shares.append(share)
        seen.append(doing)
        if doing and share < 1:
            assert work.outcome == "", "it is not made yet"
        note(share, doing)

    work.update = record  # type: ignore[method-assign]
    report(report_buttons)
    assert seen[0] == "checksums of the files"
    assert "Start: red" in seen
    assert seen[-2:] == ["done", ""]
    assert shares == sorted(shares)
    assert shares[-2:] == [1, 1]
    assert max(shares[:-2]) < 1
    assert (work.share, work.step) == (1, "")
    screens.run(at)
    assert [screens.plain(box.value) for box in at.success] == [work.outcome]
    assert "1 section of 4 runs" in work.outcome
    assert "Training (No run here is a checkpoint of a training)" in work.outcome


def test_the_page_shows_how_far_a_report_is(folder: Path, visit: Visit) -> None:
    at = visit("report", pages="overview")
    assert folder.is_dir()
    assert at.get("progress") == []
    work: ReportProgress = at.session_state["_report_work"]
    work.update(0.4, "Start: *red*")
    (bar,) = screens.run(at).get("progress")
    assert (bar.proto.value, screens.plain(bar.proto.text)) == (40, "Start: *red*")
    work.update(0.4, "")
    assert screens.run(at).get("progress") == []


def test_the_reason_is_shown_where_no_report_can_be_made(
    data: Path, visit: Visit, report_buttons: Given
) -> None:
    write_csv(data / "quiz.csv", quiz(20))
    at = visit("report", pages="sampling")
    with pytest.raises(Exception, match="No page has anything to show"):
        report(report_buttons)
    screens.run(at)
    assert "No page has anything to show for these runs" in screens.plain(at.error[0].value)


def test_a_mapping_is_in_the_command_or_noted_as_missing_from_it(
    data: Path, visit: Visit, report_buttons: Given
) -> None:
    rows = [{"sure": row["confidence"], "correct": row["correct"]} for row in quiz(30)]
    path = write_csv(data / "a.csv", rows)
    mapping = FileMapping(
        columns=(("sure", "confidence"),), columns_fingerprint=fingerprint(["sure", "correct"])
    )
    CachedMappings(user_cache_folder() / "wishes").save(path, mapping)
    visit("report", pages="overview")
    document = report(report_buttons)
    assert "--map sure=confidence" in document.one("again").all("pre")[0].text
    assert len(section(document, "overview")[0].rows) == 1
    write_csv(data / "b.csv", quiz(30))
    visit("report", pages="overview")
    document = report(report_buttons)
    assert "--map" not in document.one("again").all("pre")[0].text
    assert "which one command line cannot express" in document.one("again").text


def test_two_pages_are_the_default_and_one_click_asks_for_everything(
    folder: Path, visit: Visit, report_buttons: Given
) -> None:
    assert folder.is_dir()
    at = visit("report")
    document = report(report_buttons)
    assert [node.attributes["id"] for node in document.all("section")] == ["summary", "terms", "again"]
    assert "--page" not in document.one("again").all("pre")[0].text
    assert not document.all("nav"), "a summary needs no contents"
    at.button(key=f"hold_{len(SECTIONS)}").click()
    at = screens.run(at)
    assert screens.address(at)["pages"].split(",") == list(SECTIONS)
    assert any("--page all" in element.value for element in at.text)
    at.button(key="hold_1").click()
    at = screens.run(at)
    assert "pages" not in screens.address(at)


def test_title_author_date_and_note_head_the_report_and_stay(
    folder: Path, visit: Visit, report_buttons: Given
) -> None:
    assert folder.is_dir()
    at = visit("report", reported="red,green")
    texts = {"front_title": "May it *answer*?", "front_author": "A. N.", "front_note": "One\nTwo"}
    for key, text in texts.items():
        screens.choose(at, key, text)
    screens.choose(at, "front_date", date(2025, 1, 9))
    shown = screens.page_text(at)
    assert "May it *answer*?" in shown
    assert "A. N. · 9 January 2025" in shown
    (head,) = report(report_buttons).all("header")
    assert head.all("h1")[0].text == "May it *answer*?"
    assert head.all("p", "byline")[0].text == "A. N. · 9 January 2025"
    assert [line.text for line in head.all("p", "note")] == ["One", "Two"]
    assert any("--date 2025-01-09" in element.value for element in at.text)
    at = screens.go(screens.go(at, "start"), "report")
    assert screens.control(at, "front_author").value == "A. N."


def test_the_page_shows_the_first_page_before_it_is_made(
    folder: Path, visit: Visit, report_buttons: Given
) -> None:
    assert folder.is_dir()
    at = visit("report", reported="red,green")
    *cards, _, _, _ = section(report(report_buttons), "summary")
    assert [card.all("h3")[0].text for card in cards] == ["red", "green"]
    assert [heading.value for heading in at.subheader] == ["red", "green"]
    for card in cards:
        assert card.all("p", "reading")[0].text in screens.page_text(at)
    assert {metric.value for metric in at.metric} == {
        value for card in cards for value in card.tiles.values()
    }
    assert len(at.get("plotly_chart")) == 2


def test_no_run_of_ones_own_is_cut(data: Path, visit: Visit, report_buttons: Given) -> None:
    write_csv(data / "quiz.csv", [{**row, "model": f"m{at}"} for row in quiz(40) for at in range(14)])
    at = visit("report")
    assert len(at.get("plotly_chart")) == 4
    assert "… and 10 further runs" in screens.page_text(at)
    *cards, table, _, _ = section(report(report_buttons), "summary")
    assert len(cards) == len(table.rows) == 14

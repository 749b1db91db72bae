"""Mapping a column and uploading files in the browser, without any request to other hosts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import app_server
import browser_pages
from app_server import ROOT, Server
from predictions import choices, quiz, write_csv
from window import Browse, Settled, Window

ELSEWHERE = "404 (Not Found)"
"""Streamlit looks for its server below a page's own address first: its own words on a deep link."""


@pytest.fixture(scope="module")
def server_with_renamed_columns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a file whose outcome is called otherwise; a closed session ends after two seconds."""
    data = tmp_path_factory.mktemp("messy")
    write_csv(data / "own.csv", [{"conf": row["confidence"], "type": row["correct"]} for row in quiz(90)])
    running = app_server.start(
        data, tmp_path_factory.mktemp("home"), options=["--server.disconnectedSessionTTL=2"]
    )
    yield running
    running.stop()


def drop(page: Page, settled: Settled, *files: tuple[str, str]) -> None:
    """Uploads files of these names and texts."""
    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(
        [{"name": name, "mimeType": "application/json", "buffer": text.encode()} for name, text in files]
    )
    page.locator("summary").filter(has_text=" · uploaded").first.wait_for()
    settled(page)


def faultless(window: Window) -> bool:
    return window.strangers() == [] and [text for text in window.errors if ELSEWHERE not in text] == []


def test_a_mapping_by_mouse(server_with_renamed_columns: Server, browse: Browse, settled: Settled) -> None:
    window = browse(height=1500)  # all of it is in sight: an open list closes when the page scrolls
    page = window.open(f"{server_with_renamed_columns.url}/files")
    assert "because it has rows and columns" in page.locator("[data-testid=stMain]").inner_text()
    page.get_by_text("Change how this file is read").click()
    settled(page)
    page.get_by_role("combobox", name="type").click()
    page.get_by_role("option", name="correct: whether").click()
    settled(page)
    page.get_by_role("button", name="Apply").click()
    settled(page)
    expect(page.get_by_text("saved on this machine")).to_be_visible()
    browser_pages.follow_link(page, "Reliability")
    assert browser_pages.tiles(page)["Rows used / total"] == "90 / 90"
    assert faultless(window)
    (kept,) = (server_with_renamed_columns.logfile.parent / "cache" / "calib" / "wishes").iterdir()
    assert dict(json.loads(kept.read_text())["columns"]) == {"conf": "confidence", "type": "correct"}


def test_an_upload_is_one_session_s_own_and_goes_with_it(
    server_with_renamed_columns: Server, browse: Browse, settled: Settled
) -> None:
    window = browse(color_scheme="dark")
    page = window.open(f"{server_with_renamed_columns.url}/files")
    drop(page, settled, ("four.jsonl", "".join(json.dumps(row) + "\n" for row in choices(120))))
    browser_pages.follow_link(page, "Reliability")
    page.locator(".st-key-run input").click()
    page.get_by_role("option").filter(has_text="four").click()
    settled(page)
    assert browser_pages.tiles(page)["Rows used / total"] == "120 / 120"
    assert browser_pages.bars(page) > 2
    other = browse().open(f"{server_with_renamed_columns.url}/files?run=uploaded--four")
    assert "four" not in other.locator("[data-testid=stMain]").inner_text()
    assert faultless(window)
    held = list((server_with_renamed_columns.logfile.parent / "tmp").rglob("four.jsonl"))
    assert [path.stat().st_mode & 0o077 for path in held] == [0]
    window.context.close()
    browser_pages.wait_until(
        other, lambda: list((server_with_renamed_columns.logfile.parent / "tmp").rglob("four.jsonl")), []
    )


def test_a_fault_stays_in_the_log(tmp_path: Path, browse: Browse) -> None:
    shutil.copytree(ROOT / ".streamlit", tmp_path / ".streamlit")
    (tmp_path / "app.py").write_text("raise ValueError('secret of this machine')\n")
    running = app_server.start(None, tmp_path / "home", tmp_path / "app.py")
    try:
        page = browse().open(running.url)
        shown = page.locator("[data-testid=stException]").inner_text()
        assert "ValueError" in shown
        assert "secret" not in page.content()
        assert str(tmp_path) not in page.content()
        assert "secret of this machine" in running.log()
    finally:
        running.stop()

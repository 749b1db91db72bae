"""The way with a file of one's own beside the demo data: every page is about the uploaded models alone."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

import browser_pages
from app_server import Server
from browser_pages import OVERVIEW, follow_link, wait_until
from predictions import quiz, write_csv
from window import Browse, settled

MODELS = ("ours-small", "ours-large")
SUBJECTS = ("algebra", "botany", "chess")


def run_names(page: Page) -> set[str]:
    """The names in the tables of Start."""
    cells = browser_pages.table(page, OVERVIEW).locator("canvas table tbody tr td:first-child")
    return {name for name in cells.all_text_contents() if name}


def everything_said(page: Page) -> str:
    """All text of the page, with that of its tables, figures and fields."""
    fields = "[...document.querySelectorAll('input')].map(field => field.value)"
    return page.evaluate(f"() => [document.body.textContent, ...{fields}].join(' ')")


def check_own_alone(page: Page, strangers: set[str]) -> None:
    settled(page)
    said = everything_said(page)
    assert any(model in said for model in MODELS), page.url
    assert not {name for name in strangers if name in said}, page.url
    assert browser_pages.error_texts(page) == []


def test_from_an_upload_to_its_report(demo_server: Server, browse: Browse, tmp_path: Path) -> None:
    rows = [
        {**row, "id": f"q{at}", "model": model, "subject": SUBJECTS[at % 3], "dataset": "our exam"}
        for model, seed in zip(MODELS, (3, 8), strict=True)
        for at, row in enumerate(quiz(600, seed=seed))
    ]
    for row in rows:
        if row["subject"] == "chess":  # the subject on which both are worst
            row["correct"] = int(bool(row["correct"]) and int(row["id"][1:]) % 2)
    path = write_csv(tmp_path / "our results.csv", rows)
    page = browse().open(demo_server.url)
    wait_until(page, lambda: len(run_names(page)) > 5, wanted=True)
    strangers = run_names(page)
    assert not strangers & set(MODELS)

    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(path)
    link = page.get_by_role("link", name="Open the reliability diagram")
    link.wait_for()
    wait_until(page, lambda: run_names(page), set(MODELS))
    check_own_alone(page, strangers)

    link.click()
    browser_pages.page_shown(page, "Reliability")
    wait_until(page, lambda: browser_pages.bars(page) > 3, wanted=True)
    run = browser_pages.address(page)["run"]
    check_own_alone(page, strangers)

    for title in ("Comparison", "Groups"):
        follow_link(page, title)
        check_own_alone(page, strangers)
        said = everything_said(page)
        assert all(model in said for model in MODELS), title
    expect(page.get_by_test_id("stMain")).to_contain_text("chess")

    follow_link(page, "Abstention")
    assert browser_pages.address(page)["run"] == run, "the run goes along"
    expect(page.get_by_test_id("stMain")).to_contain_text(re.compile("threshold", re.IGNORECASE))
    check_own_alone(page, strangers)

    follow_link(page, "Report")
    page.get_by_role("textbox", name="Title", exact=True).fill("May our models answer?")
    page.keyboard.press("Tab")
    expect(page.get_by_role("heading", name="May our models answer?")).to_be_visible()
    page.get_by_role("textbox", name="Author", exact=True).fill("A. N.")
    page.get_by_role("textbox", name="Note", exact=True).fill("Two of ours.")
    page.keyboard.press("Tab")
    expect(page.locator(".st-key-preview")).to_contain_text("A. N. · ")
    expect(page.locator(".st-key-preview")).to_contain_text("Two of ours.")
    check_own_alone(page, strangers)
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name="Make and download the report").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    document = browse().page
    document.goto(report.as_uri())
    said = document.inner_text("main")
    assert document.inner_text("h1") == "May our models answer?"
    assert document.locator("#summary .card figure").count() == len(MODELS)
    assert all(model in said for model in MODELS)
    assert not {name for name in strangers if name in said}

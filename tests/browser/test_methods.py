"""The page Methods in a browser: switches, a wide table, its downloads."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import Server, SharedServer
from browser_pages import address, wait_until
from layout_checks import no_fault
from predictions import choices, quiz, samples, write_jsonl
from window import Browse, Reopen, Settled

MODELS = ("red", "green", "a-model-with-quite-a-long-name-7b-instruct", "blue")


@pytest.fixture
def server_with_methods(shared_server: SharedServer) -> Server:
    """A server on four models with stated and given confidences, one of choices, one of samples."""
    return shared_server.holding(write_compared)


def write_compared(data: Path) -> None:
    for at, model in enumerate(MODELS):
        rows: list[dict[str, Any]] = quiz(200, seed=at, model=model, dataset="quiz")
        for row in rows[: 5 * at]:
            del row["verbal_confidence"]
        write_jsonl(data / f"{at}.jsonl", rows)
    write_jsonl(data / "four.jsonl", choices(150, model="four", dataset="choices"))
    silent = [{**row, "answer_kind": "number", "model": "ten", "dataset": "open"} for row in samples()]
    for row in silent[:6]:
        row["samples"] = ["no", "idea"]
    write_jsonl(data / "ten.jsonl", silent)


def table_cells(page: Page) -> list[list[str]]:
    """The cells of each row of the table of the loaded runs, as the browser shows them."""
    return page.locator("table.paired").first.evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )


def has_rows(page: Page, rows: str) -> bool:
    """Whether a run has so many rows."""
    return f"{rows}\\n" in str(table_cells(page))


def bold_numbers(page: Page) -> list[str]:
    """What the browser draws in bold among the numbers."""
    return (
        page.locator("table.paired")
        .first.locator("td")
        .evaluate_all(
            """cells => cells.flatMap(cell => [...cell.querySelectorAll('*')])
            .filter(part => Number(getComputedStyle(part).fontWeight) >= 600).map(part => part.innerText)"""
        )
    )


def text_contrasts(page: Page) -> list[bool]:
    """Whether the text of a row's name is bright, and whether its background is."""
    ink = page.locator("table.paired th[scope=row]").first.evaluate(
        "cell => [getComputedStyle(cell).color, getComputedStyle(cell).backgroundColor]"
    )
    return [sum(int(part) for part in colour[4:-1].split(",")) / 3 > 127 for colour in ink]


def save_file(page: Page, name: str, settled: Settled) -> str:
    """The file of this type from the menu of the table of the loaded runs."""
    page.locator(".st-key-menu_table_methods button").click()
    with page.expect_download() as download:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_test_id("stPopoverBody").wait_for(state="hidden")
    settled(page)
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_where_no_method_beats_a_constant_none_is_bold(server_with_methods: Server, reopen: Reopen) -> None:
    page = reopen(f"{server_with_methods.url}/methods?dataset=quiz")
    wait_until(page, lambda: len(table_cells(page)), 3 + 2)
    assert bold_numbers(page) == []
    assert "no method wins on any of 4 runs" in page.get_by_role("heading", level=2).first.inner_text()
    assert text_contrasts(page) == [False, True]
    assert page.get_by_text("not computed here").is_visible()
    assert browser_pages.error_texts(page) == []
    no_fault(page)


def test_row_choice_and_unparsed_choice_are_switched(
    server_with_methods: Server, browse: Browse, settled: Settled
) -> None:
    page = browse(color_scheme="dark").open(f"{server_with_methods.url}/methods?dataset=open")
    wait_until(page, lambda: has_rows(page, "n 54"), wanted=True)
    assert text_contrasts(page) == [True, False]
    page.get_by_text("Confidence 0, wrong", exact=True).click()
    settled(page)
    wait_until(page, lambda: has_rows(page, "n 60"), wanted=True)
    assert address(page) == {"dataset": "open", "unanswered": "wrong"}
    page.go_back()
    settled(page)
    wait_until(page, lambda: has_rows(page, "n 54"), wanted=True)


def test_csv_and_latex_hold_the_table(server_with_methods: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{server_with_methods.url}/methods?dataset=quiz")
    wait_until(page, lambda: len(table_cells(page)), 3 + 2)
    rows = list(csv.DictReader(io.StringIO(save_file(page, "CSV", settled))))
    latex = save_file(page, "LaTeX", settled)
    assert {row["run"] for row in rows} == {f"{model} · quiz" for model in MODELS}
    shown = {number for row in table_cells(page)[3:] for number in row[1:]}
    assert {f"{float(row['brier']):.4f}" for row in rows} <= shown
    assert latex.count(r"\textbf{") == len(bold_numbers(page))
    assert r"\multicolumn{2}{c}{a-model-with-quite-a-long-name-7b-instruct}" in latex
    assert latex.count("% ") >= len(rows)


def test_a_wide_table_scrolls_inside_itself(server_with_methods: Server, reopen: Reopen) -> None:
    page = reopen(f"{server_with_methods.url}/methods?dataset=*", width=420)
    wait_until(page, lambda: page.locator("table.paired").count(), 2)
    box = page.locator(".paired-box").first
    assert box.evaluate("box => box.scrollWidth > box.clientWidth + 100")
    name = page.locator("table.paired th[scope=row]").first
    before = name.bounding_box()
    box.evaluate("box => box.scrollLeft = 300")
    page.wait_for_timeout(100)
    after = name.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["x"] - after["x"]) < 1, "the methods' names stay in sight"
    assert before["width"] < 160
    no_fault(page)

"""Can the page Methods be used and read: switches, a wide table, its downloads?"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import serving
import views
from looks import no_fault
from predictions import choices, quiz, samples, write_jsonl
from serving import Server
from views import address, until
from window import Browse, Settled

MODELS = ("red", "green", "a-model-with-quite-a-long-name-7b-instruct", "blue")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on four models with stated and given confidences, one of choices, one of samples."""
    data = tmp_path_factory.mktemp("methods")
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
    running = serving.start(data, tmp_path_factory.mktemp("home"))
    yield running
    running.stop()


def own(page: Page) -> list[list[str]]:
    """The cells of each row of the person's own table, as the browser shows them."""
    return page.locator("table.paired").first.evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )


def told(page: Page, rows: str) -> bool:
    """Whether a run stands on so many rows, its majority answers judged."""
    table = str(own(page))
    return f"{rows}'" in table and "majority judged" in table


def bold(page: Page) -> list[str]:
    """What the browser draws in bold among the numbers."""
    return (
        page.locator("table.paired")
        .first.locator("td")
        .evaluate_all(
            """cells => cells.flatMap(cell => [...cell.querySelectorAll('*')])
            .filter(part => Number(getComputedStyle(part).fontWeight) >= 600).map(part => part.innerText)"""
        )
    )


def bright(page: Page) -> list[bool]:
    """Whether the letters of a row's name are bright, and what they stand on."""
    ink = page.locator("table.paired tbody th").first.evaluate(
        "cell => [getComputedStyle(cell).color, getComputedStyle(cell).backgroundColor]"
    )
    return [sum(int(part) for part in colour[4:-1].split(",")) / 3 > 127 for colour in ink]


def saved(page: Page, name: str, settled: Settled) -> str:
    """The file of this kind from the menu of the table of one's own runs."""
    page.locator(".st-key-menu_table_methods button").click()
    with page.expect_download() as download:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_test_id("stPopoverBody").wait_for(state="hidden")
    settled(page)
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_the_lowest_of_each_run_is_bold(compared: Server, browse: Browse) -> None:
    page = browse().open(f"{compared.url}/methods?dataset=quiz")
    until(page, lambda: len(own(page)), 3 + 2 * 2)
    table = own(page)
    numbers = [row[1:] for row in table[3::2]]
    expected: list[str] = []
    for column in range(8):
        values = [float(row[column].rstrip("†")) for row in numbers]
        expected += [f"{value:.4f}" for value in values if value == min(values)]
    assert sorted(bold(page)) == sorted(expected)
    assert bright(page) == [False, True]
    assert page.get_by_text("not computed here").is_visible()
    assert views.trouble(page) == []
    no_fault(page)


def test_rows_and_silence_are_switched(compared: Server, browse: Browse, settled: Settled) -> None:
    page = browse(color_scheme="dark").open(f"{compared.url}/methods?dataset=open")
    until(page, lambda: told(page, "n 54"), wanted=True)
    assert bright(page) == [True, False]
    page.get_by_text("Confidence 0, wrong", exact=True).click()
    settled(page)
    until(page, lambda: told(page, "n 60"), wanted=True)
    assert address(page) == {"dataset": "open", "unanswered": "wrong"}
    page.go_back()
    settled(page)
    until(page, lambda: told(page, "n 54"), wanted=True)


def test_csv_and_latex_hold_the_table(compared: Server, browse: Browse, settled: Settled) -> None:
    page = browse().open(f"{compared.url}/methods?dataset=quiz")
    until(page, lambda: len(own(page)), 7)
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV", settled))))
    latex = saved(page, "LaTeX", settled)
    assert {row["run"] for row in rows} == {f"{model} · quiz" for model in MODELS}
    shown = {number for row in own(page)[3::2] for number in row[1:]}
    assert {f"{float(row['brier']):.4f}" for row in rows} <= shown
    assert latex.count(r"\textbf{") == len(bold(page))
    assert r"\multicolumn{2}{c}{a-model-with-quite-a-long-name-7b-instruct}" in latex
    assert latex.count("% ") >= len(rows)


def test_a_wide_table_scrolls_inside_itself(compared: Server, browse: Browse) -> None:
    page = browse(width=420).open(f"{compared.url}/methods?dataset=*")
    until(page, lambda: page.locator("table.paired").count(), 3)
    box = page.locator(".paired-box").first
    assert box.evaluate("box => box.scrollWidth > box.clientWidth + 100")
    name = page.locator("table.paired tbody th").first
    before = name.bounding_box()
    box.evaluate("box => box.scrollLeft = 300")
    page.wait_for_timeout(100)
    after = name.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["x"] - after["x"]) < 1, "the methods' names stay in sight"
    assert before["width"] < 160
    no_fault(page)

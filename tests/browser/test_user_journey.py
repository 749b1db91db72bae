"""One whole journey: a link, a choice, a bin, its questions, a download, a decision."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from playwright.sync_api import Download, Page

import browser_pages
from app_server import Server
from browser_pages import (
    BINS,
    OVERVIEW,
    QUESTIONS,
    address,
    bars,
    click_bar,
    click_row,
    follow_link,
    recipe,
    rows,
    tiles,
    wait_until,
)
from calib_core.figures.sparkline import SPARKLINE_HEIGHT
from predictions import quiz
from window import Browse, Reopen, Settled

LINK = "/reliability?run=quiz&method=given&metric=mce&m=20&binning=mass"


def test_a_deep_link_and_its_copy(server: Server, reopen: Reopen, browse: Browse) -> None:
    page = reopen(server.url + LINK)
    assert page.title().startswith("Reliability")
    assert recipe(page).startswith("MCE, equal mass, M=20")
    assert ", n=1319/1319, p over R=199 draws" in recipe(page)
    shown = browser_pages.targets(page)
    wait_until(page, lambda: (bars(page), rows(page, BINS)), (len(shown), len(shown)))
    assert sum(count for _, count in shown) == 1319
    assert page.locator(browser_pages.SLIDER).get_attribute("aria-valuetext") == "20"
    assert browser_pages.bin_count_values(page) == ["20"]
    copied = page.url
    assert address(page) == {"run": "quiz", "method": "given", "metric": "mce", "m": "20", "binning": "mass"}
    other = browse(color_scheme="dark").open(copied)
    assert tiles(other) == tiles(page)
    assert browser_pages.targets(other) == shown
    assert other.url == copied


def test_m_by_keyboard_and_by_typing(server: Server, reopen: Reopen) -> None:
    page = reopen(f"{server.url}/reliability?run=quiz&method=given")
    drawn = bars(page)
    for key, m in (("ArrowRight", 15), ("End", 500), ("Home", 5)):
        browser_pages.press_slider_key(page, key)
        wait_until(page, lambda m=m: (f"M={m}," in recipe(page), address(page).get("m")), (True, str(m)))
        wait_until(page, lambda: browser_pages.bin_count_values(page), [str(m)])
        expected = len({math.ceil(round(row["confidence"] * m, 9)) for row in quiz()})
        wait_until(page, lambda: bars(page), expected)
        wait_until(page, lambda: rows(page, BINS), expected)
    browser_pages.type_m(page, 10)
    wait_until(page, lambda: "m" in address(page), wanted=False)
    wait_until(page, lambda: bars(page), drawn)
    browser_pages.type_m(page, 137)
    wait_until(page, lambda: "M=137," in recipe(page), wanted=True)
    assert page.locator(browser_pages.SLIDER).get_attribute("aria-valuetext") == "137"


def test_pages_back_and_forward_keep_the_choice(server: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{server.url}/reliability?run=quiz&method=given")
    browser_pages.type_m(page, 17)
    chosen = {"run": "quiz", "method": "given", "m": "17"}
    wait_until(page, lambda: (address(page), "M=17," in recipe(page)), (chosen, True))
    shown = tiles(page)
    for title in ("Bin concentration", "Start"):
        follow_link(page, title)
        assert address(page) == chosen
        assert browser_pages.error_texts(page) == []
    follow_link(page, "Reliability")
    assert tiles(page) == shown
    browser_pages.press_slider_key(page, "End")
    for title, m in (("Reliability", "17"), ("Start", "17"), ("Bin concentration", "17")):
        page.go_back()
        browser_pages.page_shown(page, title)
        wait_until(page, lambda: address(page).get("m"), m)
    page.go_forward()
    browser_pages.page_shown(page, "Start")
    wait_until(page, lambda: address(page), chosen)
    page.reload()
    settled(page)
    follow_link(page, "Reliability")
    assert tiles(page) == shown


def test_a_row_of_start_leads_to_its_diagram_and_the_link_leads_back(server: Server, reopen: Reopen) -> None:
    page = reopen(server.url)
    tables = browser_pages.table(page, OVERVIEW)
    rows_of = "canvas table tbody tr"
    wait_until(page, lambda: tables.locator(rows_of).count() > 2, wanted=True)
    ((table, at),) = (
        (table, at)
        for table in tables.all()
        for at, row in enumerate(table.locator(rows_of).all())
        if "quiz" in row.locator("td").all_text_contents()
    )
    table.scroll_into_view_if_needed()
    box = browser_pages.box_at_rest(page, table.locator("[data-testid=data-grid-canvas]").first)
    page.mouse.click(box["x"] + 90, box["y"] + 36 + (at + 0.5) * (SPARKLINE_HEIGHT + 8))
    browser_pages.page_shown(page, "Reliability")
    assert (address(page)["run"], address(page).get("method", "verbal")) == ("quiz", "verbal")
    follow_link(page, "Start")
    assert page.get_by_role("heading", level=1, name="Start", exact=True).is_visible()


def ids_in_bin(low: float, high: float) -> list[str]:
    return [row["id"] for row in quiz() if low < row["confidence"] <= high]


def download_csv(page: Page, table: str, folder: Path) -> list[dict[str, str]]:
    """What the menu of the table with this key gives as CSV, read."""
    page.locator(f".st-key-menu_table_{table} button").click()
    with page.expect_download() as event:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name="CSV").click()
    page.keyboard.press("Escape")
    page.get_by_test_id("stPopoverBody").wait_for(state="hidden")
    arrived: Download = event.value
    path = folder / arrived.suggested_filename
    arrived.save_as(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_bar_shows_its_questions(server: Server, reopen: Reopen, settled: Settled, tmp_path: Path) -> None:
    page = reopen(f"{server.url}/reliability?run=quiz&method=given")
    number, count = browser_pages.targets(page)[-2]
    assert number == 9
    click_bar(page, bars(page) - 2)
    wait_until(page, lambda: address(page).get("bin"), str(number))
    ninth, tenth = ids_in_bin(0.8, 0.9), ids_in_bin(0.9, 1)
    assert count == len(ninth)
    wait_until(page, lambda: rows(page, QUESTIONS), count)
    held = address(page)
    assert [row["id"] for row in download_csv(page, "question_rows", tmp_path)] == ninth
    page.locator(".st-key-search input").fill("is 11")
    page.keyboard.press("Enter")
    settled(page)
    wanted = [row["id"] for row in quiz() if row["id"] in ninth and "is 11" in row["question"]]
    assert 0 < len(wanted) < count
    wait_until(page, lambda: rows(page, QUESTIONS), len(wanted))
    assert [row["id"] for row in download_csv(page, "question_rows", tmp_path)] == wanted
    assert address(page) == held | {"search": "is 11"}
    click_bar(page, bars(page) - 1)
    found = sum(row["id"] in tenth and "is 11" in row["question"] for row in quiz())
    wait_until(page, lambda: rows(page, QUESTIONS), found)
    page.get_by_role("button", name="Close").click()
    wait_until(
        page, lambda: ("bin" in address(page), browser_pages.table(page, QUESTIONS).count()), (False, 0)
    )


def test_a_row_of_the_table_shows_its_questions(server: Server, reopen: Reopen, tmp_path: Path) -> None:
    page = reopen(f"{server.url}/reliability?run=quiz&method=given")
    shown = browser_pages.targets(page)
    click_row(page, BINS, 2)
    number, count = shown[2]
    wait_until(page, lambda: address(page).get("bin"), str(number))
    wait_until(page, lambda: rows(page, QUESTIONS), count)
    assert len(download_csv(page, "bins", tmp_path)) == len(shown)
    click_row(page, BINS, 3)
    wait_until(page, lambda: address(page).get("bin"), str(shown[3][0]))
    wait_until(page, lambda: rows(page, QUESTIONS), shown[3][1])
    browser_pages.press_slider_key(page, "ArrowRight")
    wait_until(page, lambda: "bin" in address(page), wanted=False)


def test_the_good_rows_are_loaded_by_a_button(server: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{server.url}/files")
    assert "3 of 90 rows" in page.locator("[data-testid=stMain]").inner_text()
    page.locator("summary").filter(has_text="spoilt").scroll_into_view_if_needed()
    page.get_by_role("button", name="Load the good rows only").click()
    settled(page)
    follow_link(page, "Reliability")
    page.locator(".st-key-run input").click()
    page.get_by_role("option").filter(has_text="spoilt").click()
    settled(page)
    assert tiles(page)["Rows used / total"].endswith("/ 90")
    assert "3 bad rows left out" in recipe(page)
    assert "3 of 90 rows" in page.locator("[data-testid=stMain]").inner_text()

"""Files that are dropped while others come: all are kept, named and read, on whatever page they arrive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

import browser_pages
from app_server import Server, SharedServer
from browser_pages import wait_until
from predictions import quiz, write_csv
from window import Browse, settled

FIELD = "[data-testid=stFileUploader] input[type=file]"
N_ROWS = {"first.csv": 500, "second.csv": 70}
BYTES_PER_SECOND = 20_000
"""At which a slow network sends."""


def write_table(folder: Path, name: str, n_bytes: int = 0) -> Path:
    """A table of predictions of about so many bytes, at least those of its `N_ROWS`."""
    rows = quiz(N_ROWS[name])
    filling = "x" * (n_bytes // len(rows))
    with (folder / name).open("w") as file:
        file.write("id,confidence,correct,note\n")
        file.writelines(f"{row['id']},{row['confidence']},{row['correct']},{filling}\n" for row in rows)
    return folder / name


NO_ROLES = "colour,size\nred,1\n"
BAD_ROW = "confidence,correct\n2.5,1\n0.9,1\n"


def quiz_text(n_rows: int) -> str:
    """A table of so many predictions."""
    return "confidence,correct\n" + "0.9,1\n" * n_rows


def drop_text(page: Page, name: str, text: str) -> None:
    page.locator(FIELD).set_input_files([{"name": name, "mimeType": "text/csv", "buffer": text.encode()}])


def write_one(data: Path) -> None:
    write_csv(data / "quiz.csv", quiz(60))


def write_nothing(_data: Path) -> None:
    """Leaves the folder empty."""


def check_listed(page: Page, *names: str) -> None:
    """The page Files names these uploads with their numbers of rows, and shows no error."""
    grid = browser_pages.table(page, " files").locator("canvas table[role=grid]")
    for name in names:
        row = grid.locator("tr").filter(has_text=name)
        expect(row).to_contain_text("uploaded")
        expect(row).to_contain_text("loaded")
        expect(row).to_contain_text(str(N_ROWS[name]))
    assert browser_pages.error_texts(page) == []


@pytest.mark.parametrize(("n_bytes", "gap"), [(0, 50), (20_000_000, 1000), (195_000_000, 7000)])
@pytest.mark.parametrize("opened", ["", "files"])
def test_a_second_file_may_be_dropped_while_the_first_is_read(
    opened: str, n_bytes: int, gap: int, tmp_path: Path, server: Server, browse: Browse
) -> None:
    """gap: milliseconds between them."""
    files = [write_table(tmp_path, "first.csv", n_bytes), write_table(tmp_path, "second.csv")]
    page = browse().open(f"{server.url}/{opened}")
    page.locator(FIELD).set_input_files(files[0])
    page.wait_for_timeout(gap)
    page.locator(FIELD).set_input_files(files[1])
    expect(page.locator("[class*=st-key-next_]").filter(has_text="second")).to_contain_text(
        "70 rows", timeout=120_000
    )
    settled(page)
    expect(page.get_by_test_id("stFileChipName")).to_have_text(["first.csv", "second.csv"])
    expect(page.get_by_test_id("stFileChipDeleteBtn")).to_have_count(2)
    expect(page.get_by_role("button", name="Remove first.csv")).to_be_hidden()
    if not opened:
        browser_pages.follow_link(page, "Files")
    check_listed(page, *N_ROWS)


@pytest.mark.parametrize(
    ("fill", "opened"), [(write_one, "?run=gone&good=x"), (write_nothing, ""), (write_one, "files")]
)
def test_the_field_stays_the_same_whatever_is_dropped_on_it(
    fill: Callable[[Path], object], opened: str, shared_server: SharedServer, browse: Browse
) -> None:
    page = browse().open(f"{shared_server.holding(fill).url}/{opened}")
    field = page.get_by_test_id("stFileUploader")
    field.evaluate("field => { field.dataset.first = 'yes' }")
    for number, text in enumerate((NO_ROLES, BAD_ROW, quiz_text(40), quiz_text(50)), 1):
        drop_text(page, f"{number}.csv", text)
        expect(page.get_by_test_id("stFileChipName")).to_have_count(number)
        settled(page)
        expect(field).to_have_attribute("data-first", "yes")
    expect(page.locator("[class*=st-key-next_]")).to_contain_text("50 rows")


@pytest.mark.parametrize("opened", ["", "files"])
def test_a_file_comes_though_the_field_was_replaced_before_it_was_sent(
    opened: str, server: Server, browse: Browse
) -> None:
    page = browse().open(f"{server.url}/{opened}")
    drop_text(page, "first.csv", BAD_ROW)
    remove = page.get_by_role("button", name="Remove this file")
    expect(remove).to_be_visible(timeout=30_000)
    settled(page)
    held: list[Route] = []
    page.route("**/upload_file/**", lambda route: held.append(route))  # noqa: PLW0108 (it is marked as seen)
    drop_text(page, "second.csv", quiz_text(70))
    wait_until(page, lambda: len(held), 1)
    remove.click()
    expect(page.get_by_test_id("stFileChipName")).to_have_count(0)
    held[0].continue_()
    expect(page.locator("[class*=st-key-next_]")).to_contain_text("70 rows", timeout=30_000)
    settled(page)
    expect(page.get_by_test_id("stMain")).not_to_contain_text("first.csv")


def test_a_file_comes_to_the_page_that_was_opened_while_it_was_sent(
    tmp_path: Path, server: Server, browse: Browse
) -> None:
    file = write_table(tmp_path, "first.csv", 2_000_000)
    window = browse()
    page = window.open(f"{server.url}/files")
    network = window.context.new_cdp_session(page)
    limits = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": BYTES_PER_SECOND}
    network.send("Network.emulateNetworkConditions", limits)
    with page.expect_request("**/upload_file/**"):
        page.locator(FIELD).set_input_files(file)
    browser_pages.follow_link(page, "Reliability")
    expect(page.get_by_text("1 file still being uploaded.")).to_be_visible()
    network.send("Network.emulateNetworkConditions", limits | {"uploadThroughput": -1})
    browser_pages.wait_until(page, lambda: page.get_by_text("still being uploaded").count(), 0)
    settled(page)
    page.locator(".st-key-run input").click()
    expect(page.get_by_role("option").filter(has_text="first · uploaded")).to_be_visible()
    page.keyboard.press("Escape")
    browser_pages.follow_link(page, "Files")
    check_listed(page, "first.csv")

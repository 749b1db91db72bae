"""A stranger's file: from dropping it to its diagram, in the clicks that are written here and no others."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Mapping, Sequence

import pytest
from playwright.sync_api import Locator, Page, expect

import browser_pages
from app_server import Server
from browser_pages import wait_until
from predictions import quiz
from window import Browse, Window, settled

HOSTILE = "<img src=http://calib.invalid/x.png> ![y](http://calib.invalid/y.png)"
ROWS = quiz(240)
N_RIGHT = sum(row["correct"] in (1, True, "1") for row in ROWS)
LETTERS = "ABCD"
SECONDS = 60
"""In which the diagram has to be there."""


def table_text(columns: Mapping[str, Sequence[object]], delimiter: str = ",") -> str:
    held = io.StringIO()
    writer = csv.writer(held, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return held.getvalue()


PERCENT = table_text(
    {
        "Item": range(1, len(ROWS) + 1),
        "Conf (%)": [f"{100 * float(row['confidence']):.2f}" for row in ROWS],
        "Is it correct?": ["yes" if row["correct"] else "no" for row in ROWS],
        "Remark": [HOSTILE, *["fine"] * (len(ROWS) - 1)],
    }
)
ANSWERS = table_text(
    {
        "Frage": [f"Frage {number}" for number in range(len(ROWS))],
        "Model said": [LETTERS[number % 4] for number in range(len(ROWS))],
        "Right answer": [LETTERS[(number + (not row["correct"])) % 4] for number, row in enumerate(ROWS)],
        "Sicherheit": [f"{float(row['confidence']):.4f}" for row in ROWS],
    },
    delimiter=";",
)
SCORES = table_text(
    {
        "item id": range(len(ROWS)),
        "certainty": [f"{float(row['confidence']):.4f}" for row in ROWS],
        "hit": [int(row["correct"]) for row in ROWS],
    }
)
OWN_NAMES = table_text(
    {
        "id": range(len(ROWS)),
        "confidence": [f"{100 * float(row['confidence']):.2f}%" for row in ROWS],
        "correct": ["pass" if row["correct"] else "fail" for row in ROWS],
    }
)
TWO = table_text(
    {
        "certainty": [f"{float(row['confidence']):.4f}" for row in ROWS],
        "likelihood": [f"{float(row['confidence']) / 2:.4f}" for row in ROWS],
        "right": [int(row["correct"]) for row in ROWS],
    }
)


def drop(page: Page, name: str, text: str) -> None:
    """Drops a file on the upload field, and waits for what is then above all files."""
    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/csv", "buffer": text.encode()}]
    )
    page.locator("[class*=st-key-suggested_], [class*=st-key-next_]").first.wait_for()
    settled(page)


def panel(page: Page) -> Locator:
    """What the page shows of a dropped file, above all others."""
    return page.locator("[class*=st-key-suggested_]")


def check_diagram(page: Page, run: str) -> None:
    """The diagram of the dropped file is on the screen, with all of its rows."""
    browser_pages.page_shown(page, "Reliability")
    wait_until(page, lambda: browser_pages.address(page).get("run"), run)
    wait_until(page, lambda: browser_pages.bars(page) > 3, wanted=True)
    tiles = browser_pages.tiles(page)
    assert tiles["Rows used / total"] == f"{len(ROWS)} / {len(ROWS)}"
    expect(page.locator("h2").first).to_contain_text(f"right {100 * N_RIGHT / len(ROWS):.1f}\u00a0%")
    assert browser_pages.error_texts(page) == []


def no_stranger(window: Window) -> bool:
    return window.strangers() == []


@pytest.mark.parametrize(
    ("name", "text", "taken_for", "cells"),
    [
        ("my results.csv", PERCENT, {"Confidence": "Conf (%)", "Right or wrong": "Is it correct?"}, HOSTILE),
        (
            "ergebnis.csv",
            ANSWERS,
            {"Confidence": "Sicherheit", "Model's answer": "Model said", "Right answer": "Right answer"},
            "Frage 4",
        ),
        (
            "run7.csv",
            SCORES,
            {"Confidence": "certainty", "Right or wrong": "hit", "Question id": "item id"},
            "certainty",
        ),
        (
            "own names.csv",
            OWN_NAMES,
            {"Confidence": "confidence", "Right or wrong": "correct", "Question id": "id"},
            "pass",
        ),
    ],
)
def test_three_clicks_from_start_to_the_diagram(
    name: str, text: str, taken_for: dict[str, str], cells: str, server: Server, browse: Browse
) -> None:
    window = browse()
    page = window.open(server.url)
    started = time.monotonic()
    browser_pages.follow_link(page, "Files")  # the first click
    drop(page, name, text)  # the second
    expect(panel(page)).to_contain_text(name.removesuffix(".csv"))
    expect(panel(page)).to_contain_text(f"{len(ROWS)} rows · accuracy {100 * N_RIGHT / len(ROWS):.1f} %")
    for role, column in taken_for.items():
        expect(panel(page).get_by_role("combobox", name=role, exact=True)).to_have_value(column)
    form = panel(page).get_by_role("combobox", name="How confidence is read")
    expect(form).to_have_value("in percent" if "%" in text else "0 to 1")
    preview = browser_pages.table(page, "The first 5 rows")
    wait_until(page, lambda: browser_pages.rows(page, "The first 5 rows"), 5)
    expect(preview.locator("canvas table[role=grid]")).to_contain_text(cells)
    accept = page.get_by_role("button", name="Accept", exact=True)
    expect(accept).to_be_in_viewport()  # without scrolling
    accept.click()  # the third
    check_diagram(page, f"uploaded--{name.removesuffix('.csv').replace(' ', '-')}")
    assert time.monotonic() - started < SECONDS
    assert no_stranger(window)


def test_of_two_likely_columns_the_person_chooses(server: Server, browse: Browse) -> None:
    page = browse().open(f"{server.url}/files")
    drop(page, "two.csv", TWO)
    expect(panel(page)).to_contain_text("2 mappings are equally likely")
    accept = page.get_by_role("button", name="Accept", exact=True)
    expect(accept).to_be_disabled()
    page.locator("[class*=st-key-reading_] label").filter(has_text="likelihood as confidence").click()
    settled(page)
    expect(accept).to_be_enabled()
    accept.click()
    check_diagram(page, "uploaded--two")
    mean = 100 * sum(float(f"{float(row['confidence']) / 2:.4f}") for row in ROWS) / len(ROWS)
    expect(page.locator("h2").first).to_contain_text(f"states {mean:.1f}\u00a0%")


def test_a_direction_that_no_name_says_is_for_the_person_to_say(server: Server, browse: Browse) -> None:
    """Flagged answers are the wrong ones here, which only a person can know."""
    flagged = {
        "confidence": [f"{float(row['confidence']):.4f}" for row in ROWS],
        "flagged": ["no" if row["correct"] else "yes" for row in ROWS],
    }
    page = browse().open(f"{server.url}/files")
    drop(page, "flags.csv", table_text(flagged))
    expect(panel(page)).to_contain_text("its name does not say which of its values means right")
    accept = page.get_by_role("button", name="Accept", exact=True)
    expect(accept).to_be_disabled()
    share = 100 * N_RIGHT / len(ROWS)
    readings = panel(page).get_by_role("radio")
    expect(readings).to_have_count(2)
    labels = page.locator("[class*=st-key-reading_] label")
    expect(labels.filter(has_text="flagged as correct:")).to_contain_text(f"{100 - share:.1f} %")
    turned_round = labels.filter(has_text="flagged as correct (yes means wrong)")
    expect(turned_round).to_contain_text(f"{share:.1f} %")
    turned_round.click()
    settled(page)
    accept.click()
    check_diagram(page, "uploaded--flags")


def test_a_file_that_needs_nothing_is_one_click_from_its_diagram(server: Server, browse: Browse) -> None:
    page = browse().open(f"{server.url}/files")
    ready = table_text({name: [row[name] for row in ROWS] for name in ("id", "confidence", "correct")})
    drop(page, "ready.csv", ready)
    page.get_by_role("link", name="Open the reliability diagram").click()
    check_diagram(page, "uploaded--ready")


@pytest.mark.parametrize(
    ("confidence", "says"), [("0,87", "found '0,87'. Write a plain number"), ("1.2", "1 of 240 rows is bad")]
)
def test_a_file_that_is_not_loaded_says_why_above_the_list(
    confidence: str, says: str, server: Server, browse: Browse
) -> None:
    page = browse().open(f"{server.url}/files")
    values = [confidence, *(f"{float(row['confidence']):.4f}" for row in ROWS[1:])]
    if "," in confidence:
        values = [confidence] * len(ROWS)
    text = table_text(
        {"id": range(len(ROWS)), "confidence": values, "correct": [row["correct"] for row in ROWS]}
    )
    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(
        [{"name": "slip.csv", "mimeType": "text/csv", "buffer": text.encode()}]
    )
    message = page.locator("[data-testid=stAlert]").filter(has_text=says)
    expect(message).to_be_in_viewport()
    settled(page)
    expect(message).to_have_count(1)
    above, below = message.bounding_box(), browser_pages.table(page, " files").bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] < below["y"]
    browser_pages.click_row(page, " files", 1)
    expect(page.get_by_text("is shown above the list.")).to_be_visible()
    expect(message).to_have_count(1)

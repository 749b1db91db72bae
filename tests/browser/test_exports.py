"""Downloading a figure and its table, by mouse and by keyboard."""

from __future__ import annotations

import struct
from pathlib import Path

import polars as pl
from playwright.sync_api import Page

from app_server import Server
from browser_pages import recipe, tiles
from calib_core.reporting.export import figure
from window import Browse, Settled

PATIENCE = 1000 * figure.TIMEOUT_SECONDS


def save_file(page: Page, button: str, folder: Path) -> Path:
    """The file that a button gives."""
    with page.expect_download(timeout=PATIENCE) as event:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=button).click(timeout=PATIENCE)
    path = folder / event.value.suggested_filename
    event.value.save_as(path)
    return path


def test_a_figure_is_taken_away(server: Server, browse: Browse, settled: Settled, tmp_path: Path) -> None:
    shown = browse()
    page = shown.open(f"{server.url}/reliability?run=quiz&method=given&m=12")
    export = page.get_by_role("button", name="Export Reliability diagram")
    assert export.inner_text().split("\n")[2] == "Export"
    assert page.locator(".st-key-menu_figure_reliability strong").bounding_box()["width"] <= 1  # type: ignore[index]
    export.focus()
    page.keyboard.press("Enter")
    settled(page)

    page.get_by_role("button", name="PNG", exact=True).click()
    png = save_file(page, "Save the PNG", tmp_path)
    assert png.name == "quiz-given-ece-width-12.png"
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", png.read_bytes()[16:20]) == (1600,)

    page.get_by_role("button", name="SVG", exact=True).click()
    svg = save_file(page, "Save the SVG", tmp_path).read_text("utf-8")
    shown_recipe = recipe(page)
    assert ">Accuracy (share right)<" in svg
    assert ">Confidence<" in svg
    assert shown_recipe.startswith("ECE-L1, equal width, M=12")
    described = svg.partition("<desc>")[2].partition("</desc>")[0]
    assert described.startswith("ECE-L1, equal width, M=12")
    assert f">{described.split(',')[0]}, equal width, M=12" in svg.partition("</desc>")[2]

    numbers = pl.read_csv(save_file(page, "CSV", tmp_path))
    assert f"{numbers['count'].sum():,}" == tiles(page)["Rows used / total"].split(" / ")[0]
    assert numbers["recipe"].unique().to_list() == [described]
    page.keyboard.press("Escape")
    page.get_by_test_id("stPopoverBody").wait_for(state="hidden")
    page.locator("[data-testid=stDataFrame]").first.hover()
    page.get_by_role("button", name="Fullscreen").first.wait_for()
    assert page.get_by_role("button", name="Download as CSV").count() == 0
    assert shown.strangers() == []

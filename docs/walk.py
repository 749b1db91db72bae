"""Record the README's walk through the demo data, in a real Chromium: `make walk`.

The recording shows the real app, and every number in the captions is read from it. film.py makes the GIF.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from film import HEIGHT, WIDTH, Camera, save
from playwright.sync_api import Locator, sync_playwright

import app_server
import browser_pages
import chromium
import window
from calib_core.figures.sparkline import SPARKLINE_HEIGHT as CURVE
from pages.widgets.pages import PAGES

HERE: Final = Path(__file__).resolve().parent
WALK: Final = HERE / "walk.gif"
VISITED: Final = ("start", "reliability", "comparison", "tour", "report")
"""Ids of pages in `pages.PAGES`, in the order of the walk."""

THIRD_ROW: Final = (120.0, 36 + 2.5 * (CURVE + 8))
"""Pixels from the corner of Start's table to the name in its third row, below the heading and two rows."""

REPORT_MS: Final = 600_000
ONE_FILE: Final = "One file to send, which opens without a network"


def asks(page_id: str) -> str:
    """A page's title and the question it answers, as the app shows them."""
    return f"{PAGES[page_id].title}: {PAGES[page_id].question}"


def first_in_sight(what: Locator) -> None:
    """Scroll the element to the top of the window."""
    what.evaluate("what => what.scrollIntoView({block: 'start'})")


def follow(camera: Camera, page_id: str) -> None:
    """Open a page by its link in the sidebar, as a person does."""
    title = PAGES[page_id].title
    camera.to(camera.page.locator("[data-testid=stPageLink-NavLink]").filter(has_text=title), 0.3)
    camera.click()
    camera.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    window.settled(camera.page)


def start(camera: Camera) -> None:
    """Show the runs, and click the third row."""
    camera.look(asks("start"), 2.2)
    table = browser_pages.table(camera.page, "one per run").locator("[data-testid=data-grid-canvas]").first
    camera.to(table, *THIRD_ROW)
    camera.click()
    camera.page.get_by_role("heading", level=1, name="Reliability", exact=True).wait_for()


def reliability(camera: Camera) -> None:
    """Show the diagram, more bins, and the questions of the last bar."""
    page = camera.page
    window.settled(page)
    camera.look(asks("reliability"), 2.0)
    first_in_sight(page.locator("[data-testid=stMetric]").first)
    slider = page.locator(browser_pages.SLIDER)
    camera.to(slider, 0.15)
    for key, seconds in (("ArrowRight", 1.5), ("ArrowLeft", 1.0)):
        for _ in range(3):
            browser_pages.press_slider_key(page, key)
        window.settled(page)
        bins, ece = slider.get_attribute("aria-valuetext"), browser_pages.tiles(page)["ECE"]
        camera.look(f"Change M: with {bins} bins, ECE is {ece}", seconds)
    bars = page.locator(f".st-key-reliability {browser_pages.LAST_BARS}").last.locator(".point path")
    camera.to(bars.last, 0.5, 0.6)
    camera.click()
    camera.look("Click a bar ...", 1.0)
    first_in_sight(page.get_by_role("heading", name="Questions in"))
    camera.look("... to read its questions", 1.8)


def comparison(camera: Camera) -> None:
    """Show all runs of a data set."""
    follow(camera, "comparison")
    camera.page.locator(".st-key-comparison").evaluate("what => what.scrollIntoView({block: 'end'})")
    camera.look(asks("comparison"), 2.2)


def tour(camera: Camera) -> None:
    """Show the first three steps of the tour, with the arrow keys."""
    follow(camera, "tour")
    camera.look(asks("tour"), 1.8)
    for step in (2, 3):
        camera.page.keyboard.press("ArrowRight")
        camera.page.get_by_text(f"Step {step} of 5", exact=True).wait_for()
        camera.look("Tour: five pictures of one run, by the arrow keys", 1.7)


def report(camera: Camera, folder: Path) -> None:
    """Make the report with one click, and open the file."""
    page = camera.page
    follow(camera, "report")
    camera.look(asks("report"), 1.2)
    with page.expect_download(timeout=REPORT_MS) as download:
        camera.to(page.get_by_role("button", name="Make and download the report"))
        camera.click()
        page.get_by_role("progressbar").wait_for()
        camera.glance("One click makes the report", 0.9)
    path = folder / "report.html"
    download.value.save_as(path)
    page.goto(path.as_uri())
    page.wait_for_timeout(1500)
    camera.rest()
    camera.glance(ONE_FILE, 1.4)
    first_in_sight(page.locator("figure.drawn").first)
    page.wait_for_timeout(1500)
    camera.glance(ONE_FILE, 2.2)


def visit(camera: Camera, folder: Path) -> None:
    """Visit every page of `VISITED` in turn."""
    ways: dict[str, Callable[[Camera], None]] = {
        "start": start,
        "reliability": reliability,
        "comparison": comparison,
        "tour": tour,
        "report": lambda following: report(following, folder),
    }
    for page_id in VISITED:
        ways[page_id](camera)


def main() -> None:
    """Writes docs/walk.gif."""
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        server = app_server.start(None, Path(home) / "server")
        try:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
            shown = window.open_window(browser, "light", WIDTH, HEIGHT)
            camera = Camera(shown.open(server.url))
            visit(camera, Path(home))
            browser.close()
        finally:
            server.stop()
    save(camera.shots, WALK)
    seconds = sum(shot.milliseconds for shot in camera.shots) / 1000
    sys.stdout.write(
        f"{WALK.name}: {len(camera.shots)} pictures, {seconds:.1f} s, {WALK.stat().st_size / 1e6:.2f} MB\n"
    )


if __name__ == "__main__":
    main()

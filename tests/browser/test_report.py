"""The report opens completely without a network, on screen and in print."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from app_server import Server
from calib_core.__main__ import main
from predictions import quiz, write_csv
from window import Browse

DRAWN = """() => [...document.querySelectorAll('figure .canvas')].every(plot =>
    plot.matches('.js-plotly-plot') && plot.data.length > 0 && plot.querySelector('.main-svg path'))"""
INK = "() => getComputedStyle(document.querySelector('.js-plotly-plot .xtitle')).fill"
PAPER = "() => getComputedStyle(document.body).backgroundColor"
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"
BEYOND = """() => [...document.querySelectorAll('.js-plotly-plot .main-svg')].filter(svg => {
    const box = svg.getBoundingClientRect(), place = svg.closest('figure').getBoundingClientRect();
    return box.width > place.width + 1 || box.width < 200;
}).length"""


WATCH_PROGRESS = """() => {
    window.hasProgress = false;
    new MutationObserver(() => {
        window.hasProgress ||= document.querySelector('[role=progressbar]')?.checkVisibility() ?? false;
    }).observe(document.body, {childList: true, subtree: true});
}"""
"""Notes whether progress is shown."""

LONG_SECONDS = 4


def save_report(server: Server, browse: Browse, folder: Path) -> Path:
    """The report file that the page's button gives."""
    page = browse().open(f"{server.url}/report")
    page.get_by_text("Contents: 1 section").click()
    page.get_by_role("button", name="All sections").click()
    expect(page.get_by_text(re.compile("14 sections of 3 runs"))).to_be_visible()
    page.evaluate(WATCH_PROGRESS)
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name="Make and download the report").click()
    assert re.fullmatch(r"calibration-report-\d{4}-\d\d-\d\d\.html", download.value.suggested_filename)
    told = page.get_by_text(re.compile(r"Made in \d+ s.*\d+ sections of 3 runs"))
    expect(told).to_be_visible(timeout=20_000)
    seconds = re.match(r"Made in (\d+) s", told.inner_text().strip())
    assert seconds is not None
    # The page looks for progress every second: a fast machine may have made the report before.
    assert page.evaluate("() => window.hasProgress") or int(seconds[1]) < LONG_SECONDS
    path = folder / "report.html"
    download.value.save_as(path)
    return path


def brightness(colour: str) -> float:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3


def every_figure(page: Page) -> None:
    page.wait_for_function(DRAWN, timeout=60_000)
    assert page.locator("figure.drawn").count() == page.locator("figure").count() > 10
    assert page.evaluate(SIDEWAYS) <= 0, "the report scrolls sideways"
    page.wait_for_function(f"() => ({BEYOND})() === 0", timeout=60_000)


def test_a_report_opens_without_a_network_and_prints(
    server: Server, browse: Browse, chromium: Browser, tmp_path: Path
) -> None:
    path = save_report(server, browse, tmp_path)
    context = chromium.new_context(offline=True, viewport={"width": 1440, "height": 900})
    asked: list[str] = []
    errors: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    context.on("weberror", lambda error: errors.append(str(error.error)))
    page = context.new_page()
    page.goto(path.as_uri())
    every_figure(page)
    assert brightness(page.evaluate(PAPER)) > 200
    assert brightness(page.evaluate(INK)) < 100
    paper = page.pdf(prefer_css_page_size=True, print_background=True)
    assert paper.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) > 5
    page.set_viewport_size({"width": 420, "height": 900})
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(400)
    page.wait_for_function(f"() => {{ const ink = ({INK})(); return parseInt(ink.slice(4)) > 127; }}")
    every_figure(page)
    assert brightness(page.evaluate(PAPER)) < 60
    page.get_by_role("button", name="Light colours").click()
    page.wait_for_function(f"() => {{ const ink = ({INK})(); return parseInt(ink.slice(4)) < 127; }}")
    assert brightness(page.evaluate(PAPER)) > 200
    assert page.evaluate("document.images.length") == 0
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_the_default_report_is_few_pages_of_paper(chromium: Browser, tmp_path: Path) -> None:
    rows = [
        row
        for at in range(14)
        for row in quiz(80, seed=at, model=f"a model of a long name {at}", dataset="quiz")
    ]
    for name, own, most in (("one", quiz(300), 2), ("many", rows, 5)):
        path = tmp_path / f"{name}.html"
        assert main(["report", str(write_csv(tmp_path / f"{name}.csv", own)), "-o", str(path)]) == 0
        page = chromium.new_page()
        page.goto(path.as_uri())
        page.wait_for_function(DRAWN, timeout=60_000)
        paper = page.pdf(prefer_css_page_size=True, print_background=True, format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) <= most, name
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate(f"({BEYOND})()") == 0, "no figure is wider than its place in print"
        page.close()

"""Two browsers on one server keep separate choices, even when they act at once, and each has its colours."""

from __future__ import annotations

import browser_pages
from app_server import Server
from calib_core.figures.palette import DARK, LIGHT
from window import Browse, Settled


def test_two_browsers(server: Server, browse: Browse, settled: Settled) -> None:
    mine = browse().open(f"{server.url}/reliability?run=four")
    yours = browse(color_scheme="dark").open(f"{server.url}/reliability?run=quiz&method=given")
    alone = {"mine": browser_pages.tiles(mine), "yours": browser_pages.tiles(yours)}
    for page, steps in ((mine, 3), (yours, 1)):
        page.locator(browser_pages.SLIDER).focus()
        for _ in range(steps):
            page.keyboard.press("ArrowRight")
    for page, wanted in (
        (mine, {"run": "four", "m": "50"}),
        (yours, {"run": "quiz", "method": "given", "m": "15"}),
    ):
        browser_pages.wait_until(page, lambda page=page: browser_pages.address(page), wanted)
        settled(page)
        assert browser_pages.address(page) == wanted
        assert browser_pages.recipe(page).startswith(f"ECE-L1, equal width, M={wanted['m']},")
    for page in (mine, yours):
        browser_pages.type_m(page, 10)
    assert {"mine": browser_pages.tiles(mine), "yours": browser_pages.tiles(yours)} == alone
    browser_pages.click_bar(mine, browser_pages.bars(mine) - 1)
    settled(yours)
    browser_pages.wait_until(mine, lambda: "bin" in browser_pages.address(mine), wanted=True)
    assert "bin" not in browser_pages.address(yours)
    assert browser_pages.table(yours, browser_pages.QUESTIONS).count() == 0


def test_figures_follow_the_colours_of_the_system(server: Server, browse: Browse) -> None:
    page = browse().open(f"{server.url}/reliability?run=four")
    figures = page.locator(".st-key-reliability .js-plotly-plot")

    def colours() -> list[str]:
        """Of the text of the figure; two or none for a moment, while it is replaced."""
        return figures.evaluate_all("plots => plots.map(plot => plot.layout?.font.color)")

    browser_pages.wait_until(page, colours, [LIGHT.text])
    page.emulate_media(color_scheme="dark")
    browser_pages.wait_until(page, colours, [DARK.text], seconds=30)

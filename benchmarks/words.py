"""Count the words before the first figure or table of each page, and how far down that is.

Opens every page of the demo data in a browser, in a window of each size. Words are those a person reads in
the page's main part above the first chart or table: headline, caveat, tiles and the names of controls, but
not the line of the title. Writes words.md beside this script.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmark_page import date_line, table, write_page
from playwright.sync_api import Browser, sync_playwright

import app_server
import chromium
import window
from pages.widgets.pages import PAGES

SIZES: Final = ((1440, 900), (1280, 720), (390, 844))
LIMIT: Final = 45
"""Words that a page may have before its answer is seen."""
UNLIMITED: Final = frozenset({"files"})
"""Pages of a person's decisions, which take words."""

INTRODUCTION: Final = (
    "Written by `python benchmarks/words.py`. Each page on the demo data: how many words its main part shows "
    "above the first figure or table in a window of 1440 × 900 (headline, caveat, tiles and controls; not "
    f"the line of the title), at most {LIMIT} on every page but Files; and how far below the top edge of the "
    "window that figure or table begins, in pixels."
)
COUNT: Final = """() => {
    const main = document.querySelector("[data-testid=stMain]");
    const answers = [...main.querySelectorAll("[data-testid=stDataFrame], .stPlotlyChart, table")];
    const tops = answers.filter(part => part.checkVisibility()).map(part => part.getBoundingClientRect().top);
    const top = Math.min(...tops), walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    const passed = ".st-key-page_title, style, script, [data-testid=stIconMaterial], [role=img]";
    let text = "";
    for (let node; node = walker.nextNode();) {
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect(), parent = node.parentElement;
        const shown = box.width > 1 && box.bottom <= top && parent.checkVisibility({checkOpacity: true});
        if (shown && !parent.closest(passed)) text += " " + node.textContent;
    }
    const words = text.split(/\\s+/u).filter(word => /[\\p{L}\\p{N}]/u.test(word));
    return {words, top: Number.isFinite(top) ? Math.round(top) : null};
}"""


def look(browser: Browser, url: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each page with what its windows show: words, and the top of the first figure or table, in pixels."""
    windows = [window.open_window(browser, "light", *size) for size in SIZES]
    for id_ in PAGES:
        address = f"{url}/{'' if id_ == 'start' else id_}"
        yield id_, [shown.open(address).evaluate(COUNT) for shown in windows]


def rows(browser: Browser, url: str) -> Iterator[tuple[str, ...]]:
    """The rows of the table."""
    for id_, shown in look(browser, url):
        n_words = len(shown[0]["words"])
        over = " (too many)" if n_words > LIMIT and id_ not in UNLIMITED else ""
        tops = ("–" if one["top"] is None else f"{one['top']:,}" for one in shown)
        yield PAGES[id_].title, f"{n_words}{over}", *tops


def lines(browser: Browser, url: str) -> Iterator[str]:
    """The page."""
    yield "# How much stands before the answer"
    yield ""
    yield INTRODUCTION
    yield ""
    yield from table(
        ("page", "words", *(f"{width} × {height}, px" for width, height in SIZES)), rows(browser, url)
    )
    yield ""
    yield date_line()


def main() -> None:
    """Measures, and writes the page."""
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        server = app_server.start(None, Path(home))
        try:
            write_page(__file__, lines(browser, server.url))
        finally:
            server.stop()
            browser.close()


if __name__ == "__main__":
    main()

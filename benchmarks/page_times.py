"""Measure how long a person waits for the pages on the demo data, in a browser, and what the browser loads.

Starts the server as `make run` does, on a cache folder that is empty, then on the same folder again, and
opens Start in a window without anything kept, which is open already. As a person does, it looks at Start for
some seconds, in which the browser loads the code of the figures. Then it follows the menu to every page
twice, and moves each page's main control. A page counts as shown when its script rests, all its tables and
charts are drawn, and nothing has changed for 0.3 s; the time at rest is not counted. The first page comes
with the files that are read by then, and is drawn again when all are. Writes page_times.md beside this
script.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmark_page import date_line, table, write_page
from playwright.sync_api import Browser, Page, sync_playwright

import app_server
import chromium
import window
from browser_pages import follow_link
from pages.widgets.pages import PAGES

STARTS: Final = ("first start", "next start")
APP: Final = app_server.ROOT / "app.py"
FIRST: Final = "start"
LEAST: Final = "least app"
LEAST_APP: Final = """import pandas as pd
import streamlit as st

st.title("Least")
st.metric("Rows", 1)
st.dataframe(pd.DataFrame({"a": [1]}))
"""
"""What Streamlit needs without Calib: a page of a title, a number and a table."""

INTRODUCTION: Final = (
    "Written by `python benchmarks/page_times.py`. Seconds until a page is shown on the demo data, the "
    "script at rest and every table and chart drawn; the median of {times} servers. Its first table: with "
    "the runs of the files that are read by then; all files: drawn again with all runs. First start: the "
    "server's cache folder is empty. Next start: it holds what the first start kept. The browser has nothing "
    "kept at either; its window is open. From the server's start: the process of Python included. Least app: "
    "a page of a title, a number and a table by Streamlit alone. Before the first page by the menu, "
    "{seconds} s pass, in which the browser loads the code of the figures, as while a person reads Start."
)
LOADED_BYTES: Final = """() =>
    performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)"""
"""What the page has loaded, headers included."""

TABLE: Final = "[data-testid=data-grid-canvas]"
READING_SECONDS: Final = 3
WINDOW_SECONDS: Final = 1
"""A new window keeps the browser busy for a while; a person's is open before the server starts."""


@dataclass(slots=True)
class Waits:
    """Seconds by name, one for each server."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, seconds: float) -> None:
        """Add the seconds of one server."""
        self.seconds.setdefault(name, []).append(seconds)

    def median(self, name: str) -> str:
        """The median, as the tables show it."""
        values = sorted(self.seconds.get(name, []))
        if not values:
            return "–"
        middle = len(values) // 2
        return f"{values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2:.2f}"


def seconds_until_shown(page: Page, act: Callable[[], object]) -> float:
    """Seconds from an action until the page is shown."""
    begun = time.perf_counter()
    act()
    rested = window.settled(page, seconds=120)
    return time.perf_counter() - begun - rested


def step(page: Page) -> Callable[[], object] | None:
    """What moves the first control of the page by one: a slider, else the first button of a choice."""
    sliders = page.locator(
        "[data-testid=stSidebar] input[type=range], [data-testid=stMain] input[type=range]"
    )
    if sliders.count():
        sliders.first.focus()
        return lambda: page.keyboard.press("ArrowRight")
    choices = page.locator("[data-testid=stMain] [data-testid=stButtonGroup] button[aria-checked=false]")
    if choices.count():
        return choices.first.click
    return None


@contextmanager
def first_page(
    browser: Browser, waits: Waits, start: str, home: Path, data: Path | None = None, app: Path = APP
) -> Iterator[tuple[Page, int]]:
    """The first page of a server of its own, when all of it is shown; how many bytes its first table took."""
    shown = window.open_window(browser, "light", 1440, 900)
    time.sleep(WINDOW_SECONDS)
    begun = time.perf_counter()
    server = app_server.start(data, home, app)
    try:
        waits.note(f"{start}: server answers", time.perf_counter() - begun)
        shown.page.goto(server.url)
        shown.page.wait_for_selector(TABLE)
        waits.note(f"{start}: {FIRST}, table", time.perf_counter() - begun)
        n_bytes = shown.page.evaluate(LOADED_BYTES)
        rested = window.settled(shown.page, seconds=120)
        waits.note(f"{start}: {FIRST}", time.perf_counter() - begun - rested)
        yield shown.page, n_bytes
        shown.context.close()
    finally:
        server.stop()


def open_least(browser: Browser, waits: Waits, home: Path) -> None:
    """Times of the least app."""
    script = home / "least.py"
    script.write_text(LEAST_APP, encoding="utf-8")
    with first_page(browser, waits, LEAST, home / "least", app=script):
        pass


def visit_all(browser: Browser, waits: Waits, start: str, data: Path | None, home: Path) -> int:
    """Times of one server; returns how many bytes the first page took."""
    with first_page(browser, waits, start, home, data) as (page, n_bytes):
        time.sleep(READING_SECONDS)
        for way in ("visit", "again"):
            for id_, info in PAGES.items():
                if id_ != FIRST:
                    go = partial(follow_link, page, info.title)
                    waits.note(f"{start}: {id_}, {way}", seconds_until_shown(page, go))
                if way == "again" and (move := step(page)) is not None:
                    window.settled(page)
                    waits.note(f"{start}: {id_}, step", seconds_until_shown(page, move))
    return n_bytes


def lines(waits: Waits, n_bytes: int, times: int) -> Iterator[str]:
    """The page."""
    yield "# How long a person waits for a page"
    yield ""
    yield INTRODUCTION.format(times=times, seconds=READING_SECONDS)
    yield ""
    rows = (
        (start, *(waits.median(f"{start}: {what}") for what in ("server answers", f"{FIRST}, table", FIRST)))
        for start in (*STARTS, LEAST)
    )
    titles = ("", "server answers, s", "first page: its first table, s", "all files, s")
    yield from table(titles, rows)
    yield ""
    yield f"What the browser loads for it: {n_bytes / 1e6:.1f} MB on the wire."
    yield ""
    yield (
        "Pages by the menu, in one session: its first visit, a second one, and one step of the page's first "
        "control."
    )
    yield ""
    titles = ("page", "first start: visit, s", "again, s", "a step, s", "next start: visit, s")
    shown = (
        (
            info.title,
            *(
                waits.median(f"{start}: {id_}, {way}")
                for start, way in (
                    (STARTS[0], "visit"),
                    (STARTS[0], "again"),
                    (STARTS[0], "step"),
                    (STARTS[1], "visit"),
                )
            ),
        )
        for id_, info in PAGES.items()
        if id_ != FIRST
    )
    yield from table(titles, shown)
    yield ""
    yield (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at "
        f"the end, streamlit {version('streamlit')}. {date_line()}"
    )


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="how many servers of either kind")
    parser.add_argument("--data", type=Path, help="a folder of predictions; the demo data by default")
    given = parser.parse_args()
    waits, n_bytes = Waits(), 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(),
            args=[flag for flag in chromium.FLAGS if not flag.startswith("--js-flags")],
        )
        for _ in range(given.times):
            with TemporaryDirectory() as home:
                open_least(browser, waits, Path(home))
                for start in STARTS:
                    n_bytes = visit_all(browser, waits, start, given.data, Path(home))
        browser.close()
    write_page(__file__, lines(waits, n_bytes, given.times))


if __name__ == "__main__":
    main()

"""Measure how long a change of M takes on a million rows, from the keydown to the painted figure.

Starts the app on a synthetic Parquet file, drives it in Chromium and writes choose_m.md beside this script.
The clock runs in the page: from the keydown until the figure has the new number of bars, the recipe names
the new M and the script has finished, plus two frames. Every M is chosen for the first time with its metric,
so no result comes from the cache, except where the table says "again".
"""

from __future__ import annotations

import math
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from playwright.sync_api import Page, sync_playwright

import app_server
import chromium
from app_server import Server
from calib_core.metrics import METRICS
from window import open_window, settled

ROWS: Final = 1_000_000
SEED: Final = 20261121
METRIC_IDS: Final = tuple(
    id_ for id_, metric in METRICS.items() if metric.needs == "pairs" and metric.binning is None
)
STEPS: Final = (5, 10, 15, 20, 50, 100, 200)
LARGE: Final = tuple(range(481, 501))
WARM_UP: Final = (33, 66, 77, 133, 333, 5)
TARGETS: Final = {"up to 200": 0.5, "above 200": 0.9}
SLIDER: Final = "[class*=st-key-m_step] input[type=range]"
TYPED: Final = "[class*=st-key-m_typed] input"
REPORT: Final = Path(__file__).with_suffix(".md")

WATCH: Final = """bins => {
    let begun = null;
    addEventListener('keydown', () => { begun ??= performance.now() }, {capture: true, once: true});
    const done = () => {
        const traces = document.querySelectorAll('.st-key-reliability .barlayer .trace.bars');
        return traces.length && traces[traces.length - 1].querySelectorAll('.point').length === bins
            && document.querySelector('[data-testid=stText]').innerText.includes(`M=${bins},`)
            && document.querySelector('[data-test-script-state="notRunning"]') !== null;
    };
    window.painted = new Promise(resolve => {
        const look = () => begun !== null && done()
            ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)))
            : requestAnimationFrame(look);
        look();
    });
}"""


@dataclass(frozen=True, slots=True)
class Action:
    """One change of M: what was chosen, how long it took, and the bytes over the WebSocket."""

    bins: int
    again: bool
    seconds: float
    received: int

    @property
    def kind(self) -> str:
        """The range of M that has a target."""
        return "up to 200" if self.bins <= 200 else "above 200"


@dataclass(frozen=True, slots=True)
class Opening:
    """Opening the file on a fresh server: seconds until the figure is drawn, and until progress is shown."""

    seconds: float
    progress: float | None


def write_file(folder: Path) -> Path:
    """A million confidences, nearly all different, in all of 1,000 bins; slightly over-confident."""
    random = np.random.default_rng(SEED)
    confidence = np.where(random.random(ROWS) < 0.9, random.beta(5, 2, ROWS), random.random(ROWS))
    correct = random.random(ROWS) < confidence**1.3
    path = folder / "million.parquet"
    pl.DataFrame(
        {
            "id": pl.Series(np.arange(ROWS)).cast(pl.String),
            "confidence": confidence,
            "correct": correct,
        }
    ).write_parquet(path)
    return path


def opening(page: Page, server: Server) -> Opening:
    """Opens the page for the first time since the server started."""
    begun = time.monotonic()
    page.goto(f"{server.url}/reliability?m=5")
    progress = None
    figure = page.locator(".st-key-reliability .barlayer .point").first
    while not figure.is_visible():
        if progress is None and page.locator("[data-testid=stProgress]").count():
            progress = time.monotonic() - begun
        page.wait_for_timeout(20)
    settled(page)
    return Opening(time.monotonic() - begun, progress)


class Clock:
    """Presses keys on a page and measures what follows."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.received = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._count))

    def _count(self, payload: str | bytes) -> None:
        self.received += len(payload)

    def _measure(self, bins: int, key: str, *, again: bool) -> Action:
        before = self.received
        self.page.evaluate(WATCH, bins)
        self.page.keyboard.press(key)
        seconds = self.page.evaluate("() => window.painted") / 1000
        settled(self.page)
        return Action(bins, again, seconds, self.received - before)

    def step(self, bins: int, key: str, *, again: bool = False) -> Action:
        """One step of the slider, which should lead to `bins`."""
        self.page.locator(SLIDER).focus()
        return self._measure(bins, key, again=again)

    def type(self, bins: int) -> Action:
        """Types M; the clock starts at Enter."""
        self.page.locator(TYPED).fill(str(bins))
        return self._measure(bins, "Enter", again=False)


def choose_metric(page: Page, title: str) -> None:
    """Chooses another metric by keyboard; no effect if it is already chosen."""
    page.locator(".st-key-metric input").fill(title)
    page.keyboard.press("Enter")
    page.locator("[data-testid=stMetricLabel]", has_text=title).first.wait_for()
    settled(page)


def actions(page: Page, clock: Clock) -> Iterator[Action]:
    """The slider from 5 to 500 and back with each metric, then typed values of M; without the warm-up."""
    for bins in WARM_UP:
        clock.type(bins)
    for metric in METRIC_IDS:
        choose_metric(page, METRICS[metric].title)
        for bins in (*STEPS[1:], 500):
            yield clock.step(bins, "ArrowRight")
        for bins in reversed(STEPS):
            yield clock.step(bins, "ArrowLeft", again=True)
    for bins in LARGE[:-1]:
        yield clock.type(bins)


@contextmanager
def served() -> Iterator[tuple[Server, Path]]:
    """A server on a folder with only the file, and the file; both are removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "predictions"
        data.mkdir()
        path = write_file(data)
        server = app_server.start(data, Path(folder) / "home")
        try:
            yield server, path
        finally:
            server.stop()


def p95(values: Iterable[float]) -> float:
    """The value that 95 of 100 do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[math.ceil(0.95 * len(ordered)) - 1]


def line(name: str, made: list[Action], target: float | None = None) -> str:
    """One row of the table."""
    seconds = [action.seconds for action in made]
    received = statistics.median(action.received for action in made) / 1000
    verdict = "" if target is None else ("met" if p95(seconds) <= target else "missed")
    limit = "" if target is None else f"{1000 * target:.0f}"
    return (
        f"| {name} | {len(made)} | {1000 * statistics.median(seconds):.0f} | {1000 * p95(seconds):.0f} "
        f"| {1000 * max(seconds):.0f} | {limit} | {verdict} | {received:,.0f} |"
    )


def machine(load: tuple[float, float], browser: str) -> str:
    """The machine and versions of the measurement."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "plotly", "polars", "numpy"))
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores "
        f"shared by server and browser, load {load[0]:.1f} before and {load[1]:.1f} after, "
        f"Python {platform.python_version()}, {versions}, Chromium {browser}, no graphics card, 1440 × 900."
    )


def report(first: Opening, size: int, made: list[Action], on: str) -> str:
    """The table, as Markdown."""
    new = [action for action in made if not action.again]
    seen = "not seen" if first.progress is None else f"seen after {first.progress:.1f} s"
    introduction = (
        "Written by `make bench` (`python benchmarks/choose_m.py`). Milliseconds from the keydown to the "
        "painted figure with the page at rest; kB over the WebSocket, median. Every M is chosen for "
        "the first time with its metric, except in the line “again”."
    )
    opened = (
        f"A Parquet file of {ROWS:,} rows ({size / 1e6:.1f} MB, seed {SEED}, nearly all values different) "
        f"opens on a fresh server, up to the drawn figure, in {first.seconds:.1f} s; progress is {seen}."
    )
    table = [
        "| action | n | median | p95 | longest | target p95 | | kB |",
        "| --- | --: | --: | --: | --: | --: | --- | --: |",
        *(line(f"M {kind}", [a for a in new if a.kind == kind], limit) for kind, limit in TARGETS.items()),
        line("M up to 200, again", [action for action in made if action.again]),
        *(line(f"M = {bins}", [a for a in new if a.bins == bins]) for bins in (*STEPS[1:], 500)),
    ]
    paragraphs = ["# Choosing another M on a million rows", introduction, opened, "\n".join(table), on]
    return "\n\n".join(paragraphs) + "\n"


def main() -> None:
    """Measures, writes the table and prints it."""
    before = os.getloadavg()[0]
    with served() as (server, path), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        window = open_window(browser, "light", 1440, 900)
        clock = Clock(window.page)
        first = opening(window.page, server)
        made = list(actions(window.page, clock))
        on = machine((before, os.getloadavg()[0]), browser.version)
        text = report(first, path.stat().st_size, made, on)
        browser.close()
    REPORT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

"""Take pictures of every page at every width, light and dark: `make screens` → build/screens/index.html.

A person looks at them; tests/browser/test_appearance.py checks what a machine can. `make screens
ONLY=tour,report` takes only the pictures whose names begin like this.
"""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page, sync_playwright

import app_server
import chromium
import window
from pages.widgets.pages import PAGES

OUT: Final = app_server.ROOT / "build" / "screens"
WIDTHS: Final = (1920, 1440, 1024, 420)
SCHEMES: Final[tuple[window.ColorScheme, ...]] = ("light", "dark")
TALLEST: Final = 6000
"""Greatest height of a picture, in pixels."""

CHOICES: Final = {
    "reliability-bin": "reliability?bin=10",
    "reliability-m50": "reliability?m=50&log=1",
    "reliability-isotonic": "reliability?view=isotonic",
    "reliability-smooth": "reliability?view=smooth",
    "reliability-tokens": "reliability?run=5-gram-witten-bell-stdlib-code",
    "concentration-beside": "concentration?run=chains-0.8m-chains-choice-0-shot"
    "&with=p_true,logit_path,cluster_size",
    "groups-hidden": "groups?hidden=gpt-4.1-mini-mmlu-pro~subject=law",
    "abstention-cascade": "abstention?run=qwen3-14b-mmlu-pro&second=gpt-4.1-mini-mmlu-pro&wanted=0.8"
    "&cost=1&second_cost=4",
    "robustness-tokens": "robustness?run=5-gram-witten-bell-stdlib-code",
    **{f"tour-{step}": f"tour?step={step}" for step in range(2, 6)},
    "tour-large": "tour?step=3&large=1",
}
"""Name of a picture → URL of a view that the page's defaults do not show."""


def shots(only: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Name and URL of each picture: every page with its defaults, then the choices."""
    pages = {name: "" if name == "start" else Path(page.script).stem for name, page in PAGES.items()}
    for name, address in {**pages, **CHOICES}.items():
        if not only or name.startswith(only):
            yield name, address


def tall(page: Page) -> int:
    """Height in pixels at which nothing on the page is scrolled away."""
    main, side = page.evaluate(
        """() => ['[data-testid=stMain]', '[data-testid=stSidebar][aria-expanded=true] > *'].map(
            where => document.querySelector(where)?.scrollHeight ?? 0)"""
    )
    return min(TALLEST, max(900, main, side))


def take(page: Page, width: int, path: Path) -> None:
    """Take one picture of the whole page."""
    height = 900
    for _ in range(3):  # a taller window may make the page taller, as square figures grow with it
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(500)
        window.settled(page)
        if height >= tall(page):
            break
        height = tall(page)
    page.screenshot(path=path)


def sheet(names: list[str]) -> str:
    """All pictures on one page, linked to their files: one row per page and scheme, one column per width."""
    rows = "\n".join(
        f"<h2>{html.escape(name)}</h2>\n"
        + "\n".join(
            "<div>"
            + "".join(
                f'<a href="{file}"><img loading="lazy" src="{file}" alt="{file}" style="width:{share}%"></a>'
                for width in WIDTHS
                for file, share in [(f"{name}-{scheme}-{width}.png", 96 * width / sum(WIDTHS))]
            )
            + "</div>"
            for scheme in SCHEMES
        )
        for name in names
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Calib, every page</title>'
        "<style>body{font:16px system-ui;margin:2rem;background:#888}img{vertical-align:top;margin:.3%}"
        f"</style><h1>Every page at {', '.join(map(str, WIDTHS))} px</h1>\n{rows}</html>\n"
    )


def main(only: tuple[str, ...]) -> None:
    """Writes build/screens/NAME-SCHEME-WIDTH.png and index.html."""
    OUT.mkdir(parents=True, exist_ok=True)
    taken = list(shots(only))
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        server = app_server.start(None, Path(home))
        try:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
            for scheme in SCHEMES:
                shown = window.open_window(browser, scheme, WIDTHS[0], 900)
                for name, address in taken:
                    page = shown.open(f"{server.url}/{address}")
                    for width in WIDTHS:
                        take(page, width, OUT / f"{name}-{scheme}-{width}.png")
                    sys.stdout.write(f"{name} {scheme}\n")
                shown.context.close()
            browser.close()
        finally:
            server.stop()
    (OUT / "index.html").write_text(sheet([name for name, _ in shots(())]), encoding="utf-8")
    sys.stdout.write(f"{OUT / 'index.html'}\n")


if __name__ == "__main__":
    main(tuple(name for name in os.environ.get("ONLY", "").split(",") if name))

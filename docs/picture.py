"""Take the pictures of the documentation in a real Chromium: `make pictures`.

The README's picture is docs/reliability.png. docs/pictures holds one of every page on the demo data, with the
page's default choices, in a light window of 1440 × 900 pixels.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.sync_api import sync_playwright

import app_server
import chromium
import window
from pages.widgets.pages import PAGES

HERE: Final = Path(__file__).resolve().parent
README_PICTURE: Final = HERE / "reliability.png"
PICTURES: Final = HERE / "pictures"
WIDTH, README_HEIGHT, HEIGHT = 1440, 1120, 900
"""Pixels of the window."""

COLOURS: Final = 256
"""Colours of a picture of a page, which are all that it needs and make it a third of the size."""

PAGE_SECONDS: Final = 180.0
"""How long a page may take to be at rest; some compute for a minute on their first visit."""


def shots() -> Iterator[tuple[str, int, Path]]:
    """URL, height of the window and file of each picture."""
    yield "reliability", README_HEIGHT, README_PICTURE
    for page_id, page in PAGES.items():
        url = "" if page_id == "start" else Path(page.script).stem
        yield url, HEIGHT, PICTURES / f"{page_id}.png"


def in_few_colours(screenshot: bytes) -> Image.Image:
    """The screenshot in one palette, without dithering."""
    return Image.open(io.BytesIO(screenshot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def main() -> None:
    """Writes docs/reliability.png and docs/pictures/PAGE.png."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        server = app_server.start(None, Path(home))
        try:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
            shown = window.open_window(browser, "light", WIDTH, HEIGHT)
            for url, height, path in shots():
                shown.page.set_viewport_size({"width": WIDTH, "height": height})
                page = shown.open(f"{server.url}/{url}", PAGE_SECONDS)
                page.wait_for_timeout(1000)
                window.settled(page, seconds=PAGE_SECONDS)
                in_few_colours(page.screenshot()).save(path, optimize=True)
                sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB\n")
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()

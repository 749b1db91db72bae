"""Take the README's picture of the app on the demo data, in a real Chromium: `make picture`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import sync_playwright

import app_server
import chromium
import window

HERE: Final = Path(__file__).resolve().parent
VIEW: Final = "/reliability"


def main() -> None:
    """Writes docs/reliability.png."""
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        server = app_server.start(None, Path(home))
        try:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
            shown = window.open_window(browser, "light", 1440, 1120)
            shown.open(server.url + VIEW).screenshot(path=HERE / "reliability.png")
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()

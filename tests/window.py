"""What does a person's browser window show, and what has it asked of whom?"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

ColorScheme = Literal["light", "dark"]


def in_turn(queries: Iterable[str]) -> list[tuple[str, ColorScheme]]:
    """The first query, in light: `test_looks` opens every page in both, and a run has its time."""
    return list(zip(queries, ("light",), strict=False))


HERE: Final = frozenset({"127.0.0.1", ""})
"""Hosts a page may ask: this machine; "" is data: and blob:."""

QUIET_SECONDS: Final = 0.3
"""How long the script must have rested: a change reaches the server a moment after the key or click."""

SETTLE_SECONDS: Final = 30.0
POLL_MS: Final = 20.0

RUN_STATE: Final = "[data-test-script-state]"
AT_REST: Final = '[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
STILL_LOADING: Final = '[data-testid="stSkeleton"]'
"""The grey stand-in for an element whose code (charts, tables) the browser is still fetching."""


@dataclass(frozen=True, slots=True)
class Window:
    """One browser window with its own profile; `asked` and `errors` grow while it is used.

    asked: the address of every request and WebSocket; errors: console errors and uncaught exceptions.
    """

    context: BrowserContext
    page: Page
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, url: str) -> Page:
        """Goes to `url` and returns the page when the app has finished its run."""
        self.page.goto(url)
        settled(self.page)
        return self.page

    def strangers(self) -> list[str]:
        """Hosts other than this machine that were asked for anything, sorted, each once."""
        return sorted({urlsplit(url).hostname or "" for url in self.asked} - HERE)


class Browse(Protocol):
    """Opens a window of its own. Closed when the test is over."""

    def __call__(
        self, *, color_scheme: ColorScheme = "light", width: int = 1440, height: int = 900
    ) -> Window: ...


class Settled(Protocol):
    """Waits until the app's script rests: call it after every click or key."""

    def __call__(self, page: Page, quiet: float = QUIET_SECONDS) -> None: ...


def open_window(browser: Browser, color_scheme: ColorScheme, width: int, height: int) -> Window:
    """A new window on a fresh profile. The caller closes its context."""
    context = browser.new_context(
        color_scheme=color_scheme, viewport={"width": width, "height": height}, accept_downloads=True
    )
    window = Window(context, context.new_page())

    def note_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            window.errors.append(message.text)

    context.on("request", lambda request: window.asked.append(request.url))
    context.on("console", note_console)
    context.on("weberror", lambda error: window.errors.append(str(error.error)))
    window.page.on("websocket", lambda websocket: window.asked.append(websocket.url))
    return window


def settled(page: Page, quiet: float = QUIET_SECONDS) -> None:
    """Returns when the script has been at rest, and every element there, for `quiet` seconds on end.

    One look is not enough: right after a click the state still says "notRunning" of the run before.
    Raises TimeoutError after `SETTLE_SECONDS`, saying what was still going on.
    """
    page.locator(RUN_STATE).first.wait_for(state="attached")
    deadline = time.monotonic() + SETTLE_SECONDS
    resting_since: float | None = None
    while (now := time.monotonic()) < deadline:
        if page.locator(AT_REST).count() == 0 or page.locator(STILL_LOADING).count() > 0:
            resting_since = None
        elif resting_since is None:
            resting_since = now
        elif now - resting_since >= quiet:
            return
        page.wait_for_timeout(POLL_MS)
    state = page.locator(RUN_STATE).first.get_attribute("data-test-script-state")
    loading = page.locator(STILL_LOADING).count()
    raise TimeoutError(
        f"not at rest after {SETTLE_SECONDS:.0f} s: the script is {state!r}, {loading} elements still load"
    )

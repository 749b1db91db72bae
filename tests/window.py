"""A browser window: opens pages, and records requests and errors."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page
from playwright.sync_api import Error as PlaywrightError

ColorScheme = Literal["light", "dark"]
Motion = Literal["no-preference", "reduce"]


HERE: Final = frozenset({"127.0.0.1", ""})
"""Hosts a page may ask: this machine; "" is data: and blob:."""

QUIET_SECONDS: Final = 0.3
"""How long the script must have rested: a change reaches the server a moment after the key or click."""

SETTLE_SECONDS: Final = 90.0
"""Only what hangs takes so long; on a machine with other work, a page may well take half a minute."""

POLL_MS: Final = 50

RUN_STATE: Final = "[data-test-script-state]"
STILL_LOADING: Final = '[data-testid="stSkeleton"], .st-key-reading, [data-stale="true"]'
"""The grey stand-in for an element whose code (charts, tables) the browser is still fetching, the progress of
files that are still read, after which the page is drawn again, and what is pale until it is drawn again."""
AT_REST: Final = """async ([app, loading, looks, pause, patience]) => {
    const until = performance.now() + patience;
    let since = 0;
    for (let atRest = 0; atRest < looks; await new Promise(done => setTimeout(done, pause))) {
        const state = document.querySelector(app)?.dataset ?? {};
        const rests = state.testScriptState === "notRunning" && state.testConnectionState === "CONNECTED"
            && !document.querySelector(loading);
        atRest = rests ? atRest + 1 : 0;
        if (atRest === 1) since = performance.now();
        if (performance.now() > until) return null;
    }
    return (performance.now() - since) / 1000;
}"""
"""Seconds since all came to rest, when so many looks in a row have found it so; null where none does in time.
It is the page that looks, as asking it each time takes a tenth of opening it; and while the page is busy
drawing it does not look."""


@dataclass(frozen=True, slots=True)
class Window:
    """One browser window, alone on its profile; `asked` and `errors` grow while it is used.

    asked: the address of every request and WebSocket; errors: console errors and uncaught exceptions.
    """

    context: BrowserContext
    page: Page
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, url: str, seconds: float = SETTLE_SECONDS) -> Page:
        """Goes to `url` and returns the page when the app has finished its run, in so many seconds."""
        self.page.goto(url)
        settled(self.page, seconds=seconds)
        return self.page

    def strangers(self) -> list[str]:
        """Other hosts that were contacted, sorted and unique."""
        return sorted({urlsplit(url).hostname or "" for url in self.asked} - HERE)


class Browse(Protocol):
    """Opens a window of its own. Closed when the test is over."""

    def __call__(
        self, *, color_scheme: ColorScheme = "light", width: int = 1440, height: int = 900
    ) -> Window: ...


class Reopen(Protocol):
    """The one window of a module, at this address. Only the first time is it loaded: the session goes on."""

    def __call__(self, url: str, *, width: int = 1440, height: int = 900) -> Page: ...


class Settled(Protocol):
    """Waits until the app's script rests: call it after every click or key."""

    def __call__(self, page: Page, quiet: float = QUIET_SECONDS) -> float: ...


class Windows:
    """Windows of one browser, each alone on its profile; they belong to people who ask for less motion.

    A profile serves again when its window was closed, emptied of all that a page can keep: the browser still
    has the app's scripts, compiled, and what moves need not be drawn. Together they are two thirds of what a
    page costs to open.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._spare: list[Window] = []

    def open(self, color_scheme: ColorScheme, width: int, height: int) -> Window:
        """A window on an empty profile."""
        if not self._spare:
            return open_window(self._browser, color_scheme, width, height, "reduce")
        last = self._spare.pop()
        last.asked.clear()
        last.errors.clear()
        window = replace(last, page=last.context.new_page())
        window.page.emulate_media(color_scheme=color_scheme)
        window.page.set_viewport_size({"width": width, "height": height})
        return _heard(window)

    def close(self, window: Window) -> None:
        """Ends the window. One whose page was closed before is not used again."""
        if window.page.is_closed():
            window.context.close()
            return
        for page in window.context.pages:
            if page != window.page:
                page.close()
        _empty(window)
        self._spare.append(window)


def open_window(
    browser: Browser, color_scheme: ColorScheme, width: int, height: int, motion: Motion = "no-preference"
) -> Window:
    """A new window on a fresh profile. The caller closes its context."""
    context = browser.new_context(
        color_scheme=color_scheme,
        viewport={"width": width, "height": height},
        accept_downloads=True,
        reduced_motion=motion,
    )
    window = Window(context, context.new_page())

    def note_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            window.errors.append(message.text)

    context.on("request", lambda request: window.asked.append(request.url))
    context.on("console", note_console)
    context.on("weberror", lambda error: window.errors.append(str(error.error)))
    return _heard(window)


def _heard(window: Window) -> Window:
    """The window, whose page's WebSockets are noted, too."""
    window.page.on("websocket", lambda websocket: window.asked.append(websocket.url))
    return window


def _empty(window: Window) -> None:
    """Takes from the profile what the pages of every origin asked have kept: cookies, storage, caches.

    The page stands empty at an address of the last site, whose process, with the scripts, thus stays.
    """
    origins = {f"{scheme}://{host}" for scheme, host, *_ in map(urlsplit, window.asked) if scheme == "http"}
    if window.page.url.startswith("http"):
        left = "{0.scheme}://{0.netloc}/left".format(urlsplit(window.page.url))
        window.page.route(left, lambda route: route.fulfill(body=""))
        window.page.goto(left)
    session = window.context.new_cdp_session(window.page)
    for origin in origins:
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})


def settled(page: Page, quiet: float = QUIET_SECONDS, seconds: float = SETTLE_SECONDS) -> float:
    """Returns when the script has been at rest, and every element there, for `quiet` seconds on end.

    The result is the number of seconds at rest: more than `quiet` where the browser was busy. One look is not
    enough: right after a click the state still says "notRunning" of the run before. Raises TimeoutError after
    so many seconds, saying what was still going on.
    """
    deadline = time.monotonic() + seconds
    looks = math.ceil(1000 * quiet / POLL_MS) + 1
    while (left := deadline - time.monotonic()) > 0:
        try:
            rested: float | None = page.evaluate(
                AT_REST, [RUN_STATE, STILL_LOADING, looks, POLL_MS, 1000 * left]
            )
            if rested is not None:
                return rested
        except PlaywrightError as reason:  # the page left for another address: look at that
            if "context was destroyed" not in str(reason):
                raise
    states = page.locator(RUN_STATE).evaluate_all("apps => apps.map(app => app.dataset.testScriptState)")
    loading = page.locator(STILL_LOADING).count()
    raise TimeoutError(
        f"not at rest after {seconds:.0f} s: the script is {states}, {loading} elements still load"
    )

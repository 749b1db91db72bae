"""Shared fixtures of all tests: the folder of extra files, a running app, a browser."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Page, expect, sync_playwright

import app_server
import browser_pages
import chromium as chromium_lookup
import window
from app_server import ROOT, Serve, Server, SharedServer
from layout_checks import resize
from window import Browse, ColorScheme, Reopen, Settled, Window, Windows

# Tests compute on tables of a few rows. With two threads, polars hands each of its thousands of steps to
# another one and waits for it, while the test processes contend for the cores. It reads this when it is first
# imported, which no module above does. The app's servers decide for themselves (`app_server.environment`).
os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# New objects are searched for garbage at 100,000 of them, not at 700: that took a tenth of the tests' time.
gc.set_threshold(100_000, *gc.get_threshold()[1:])

# A slow machine is not a failing property. Runs are repeatable, so that a failure can be investigated;
# `pytest --hypothesis-profile=search` draws new examples each time, and many more of them.
settings.register_profile("repeat", deadline=None, derandomize=True, print_blob=True, max_examples=20)
settings.register_profile("search", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("repeat")

# What a page is expected to show may take this long; the default of five seconds is short on a busy machine.
expect.set_options(timeout=30_000)

LONGEST: Final = (
    "hostile/test_hostile.py",
    "hostile/test_mutations.py",
    "test_packaging.py",
    "core/reporting/test_converted_files.py",
    "core/readers/test_fast_parsers.py",
    "core/readers/sandbox/test_worker.py",
    "browser/test_appearance.py",
    "browser/test_uploads.py",
    "browser/test_own_files.py",
    "browser/test_user_journey.py",
    "browser/test_first_screen.py",
    "browser/test_keyboard.py",
    "browser/test_files.py",
    "browser/test_report.py",
    "browser/test_own_journey.py",
    "browser/test_comparison.py",
    "browser/test_groups.py",
    "browser/test_exports.py",
    "browser/test_robustness.py",
    "browser/test_training.py",
)
"""The longest modules, as paths below `tests`. They come first, so that no process works alone at the end."""

NO_EXTRA_FILES: Final = "reads files of other people: CALIB_EXTRA_FILES names no folder of them"


def pytest_configure(config: pytest.Config) -> None:
    """Each of several processes collects another part of the modules first, if all are collected.

    In a fresh checkout whoever comes first rewrites a module's assertions and keeps them for the others. Side
    by side all of them would do so, which takes each half a minute.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    patterns: list[str] = config.getini("python_files")
    modules = sorted({str(path) for pattern in patterns for path in (ROOT / "tests").rglob(pattern)})
    first = len(modules) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    config.args = modules[first:] + modules[:first]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks tests by the fixtures they use, and puts the browser's after the others.

    After them, because Playwright's synchronous interface leaves an event loop running in the thread that the
    app tests also use. Their folder comes last. Of each part the long modules come first, so that all
    processes end together.

    Slow tests are left out unless `-m` speaks of them. That is said here, since a `-m` among the options of
    every run would give way to the one of `make check-fast`.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if "chromium" in fixtures:
            item.add_marker("browser")
            # What a browser does on a busy machine may come at a moment that a test did not foresee. A second
            # attempt spares another whole run, and the summary prints the failure.
            item.add_marker(pytest.mark.flaky(reruns=1))
        if "extra_files" in fixtures:
            item.add_marker("extra")
    own = str(ROOT / "tests" / "browser")
    places = {str(ROOT / "tests" / name): place for place, name in enumerate(LONGEST)}
    items.sort(
        key=lambda item: (
            item.get_closest_marker("browser") is not None,
            str(item.path).startswith(own),
            places.get(str(item.path), len(places)),
            str(item.path),  # all processes collect the same, in the same order
        )
    )
    if "slow" not in config.option.markexpr:
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


def pytest_collection_finish() -> None:
    """Whatever exists before the first test lives to the end, so the garbage collector can skip it."""
    gc.freeze()


def extra_folder() -> Path:
    """The folder of further files: what CALIB_EXTRA_FILES names, else `shared` beside the checkout."""
    return Path(os.environ.get("CALIB_EXTRA_FILES") or ROOT.parent / "shared")


def pytest_report_header() -> str:
    """Says where further files are looked for, as the number of tests that run depends on it."""
    folder = extra_folder()
    found = "" if (folder / "real").is_dir() else ", which has none: tests that read them are skipped"
    return f"further files: {folder}{found}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how many tests did not run for want of further files, and which ones ran twice."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.write_line(f"failed at the first attempt: {report.nodeid}\n{report.longrepr}")
    skipped: list[pytest.TestReport] = terminalreporter.stats.get("skipped", [])
    count = sum(NO_EXTRA_FILES in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(
            f"{count} tests were collected and not run: they read files of other people, which the "
            "repository does not hold. CALIB_EXTRA_FILES names a folder of them."
        )


@pytest.fixture(scope="session")
def extra_files() -> Path:
    """The folder of further files, read-only; they add to the suite and protect nothing alone."""
    folder = extra_folder()
    if not (folder / "real").is_dir():
        pytest.skip(NO_EXTRA_FILES)
    return folder


@pytest.fixture(scope="session", autouse=True)
def readers_wait() -> Iterator[None]:
    """The process that reads files waits for the next test that has one, as its start costs half a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calib_core.readers.sandbox.worker_pool.IDLE_SECONDS", 3600.0)
        yield


@pytest.fixture
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A factory of fresh servers, each with a home of its own."""
    servers: list[Server] = []

    def start(data: Path | None, *, app: Path = ROOT / "app.py") -> Server:
        servers.append(app_server.start(data, tmp_path_factory.mktemp("home"), app))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """One server for all tests that have files of their own and need no options of it."""
    server = SharedServer(tmp_path_factory.mktemp("shared"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def demo_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server on the demo data for all tests that change nothing in it.

    What it reads is kept for those of the other test processes: it takes as long as the server's start.
    """
    made = tmp_path_factory.getbasetemp()
    kept = made.parent if "PYTEST_XDIST_WORKER" in os.environ else made
    server = app_server.start(
        ROOT / "data",
        tmp_path_factory.mktemp("home"),
        variables={"XDG_CACHE_HOME": str(kept / "cache-of-demo-servers")},
    )
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One headless Chromium, whose windows each have their own profile. Fails where there is none."""
    try:
        executable = chromium_lookup.find()
    except chromium_lookup.NoChromiumError as reason:
        pytest.fail(str(reason), pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(chromium_lookup.FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def windows(chromium: Browser) -> Windows:
    """Opens windows whose profiles serve again, and closes them."""
    return Windows(chromium)


@pytest.fixture
def browse(windows: Windows) -> Iterator[Browse]:
    """A factory of windows: `browse(color_scheme="dark", width=420).open(url)` gives the settled page."""
    opened: list[Window] = []

    def open_window(*, color_scheme: ColorScheme = "light", width: int = 1440, height: int = 900) -> Window:
        opened.append(windows.open(color_scheme, width, height))
        return opened[-1]

    yield open_window
    for shown in opened:
        windows.close(shown)


@pytest.fixture(scope="module")
def reopen(windows: Windows) -> Iterator[Reopen]:
    """`reopen(url)`: the address in the module's one window, for tests that need no session of their own."""
    opened: list[Window] = []

    def at(url: str, *, width: int = 1440, height: int = 900) -> Page:
        if opened and url.startswith(opened[0].page.evaluate("location.origin")):
            opened[0].page.keyboard.press("Escape")  # an open list hides all else from screen readers
            browser_pages.go_to(opened[0].page, url)
            if opened[0].page.viewport_size != {"width": width, "height": height}:
                resize(opened[0].page, width, height)  # only now: not for the page before
            return opened[0].page
        if not opened:
            opened.append(windows.open("light", width, height))
        opened[0].page.set_viewport_size({"width": width, "height": height})
        return opened[0].open(url)

    yield at
    for shown in opened:
        strangers = shown.strangers()
        windows.close(shown)
        assert strangers == [], "a page of these tests contacted another host"


@pytest.fixture
def settled() -> Settled:
    """`window.settled`, for tests that would rather ask for a fixture than import it."""
    return window.settled

"""Measure the server under load: a run of ten million rows, hundreds of runs, and fifty sessions at once.

Makes the data, starts the server on it as `make run` does, and opens sessions that speak with it as a
browser does, over its websocket, but draw nothing: fifty browsers would take more of the machine than the
server. An interaction lasts from the message that a control was moved until the server says that the page is
complete and every part of it has arrived. Memory is the resident memory of the server and of the processes
that it started, the process that reads files among them. Writes load.md beside this script.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self
from urllib.parse import urlencode

import numpy as np
import polars as pl
import psutil
from benchmark_page import date_line, table, write_page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

import app_server
from pages.widgets.pages import PAGES

ROWS: Final = 10_000_000
RUNS: Final = 700
ROWS_OF_A_RUN: Final = 1_000
SESSIONS: Final = 50
INTERACTIONS: Final = 2_000
PAUSE_SECONDS: Final = 30.0
SEED: Final = 20261126
BINS: Final = (15, 20, 37)
"""M after the ten that a page begins with."""
PAGES_IN_USE: Final = ("", "reliability", "reliability", "concentration", "robustness", "abstention")
"""Pages that the sessions go to, by their address."""
SOAK: Final = "of the soak"
BUSY: Final = "without pauses"
OPENED: Final = "opened"
"""What the tables of steps call going to a page."""
SLOWEST: Final = "comparison"
"""The page that tests every pair of runs, which is measured last."""
WHAT_COMES: Final = ("figure, s", "all, s")
WAITING_SECONDS: Final = 60.0
"""How long a session waits for a page before it gives up."""
ENDED_SECONDS: Final = 125.0
"""How long the server may take to forget sessions: Streamlit keeps one for two minutes, as its browser may
come back."""

INTRODUCTION: Final = (
    "Written by `python benchmarks/load.py`. Sessions speak with the server over its websocket as a browser "
    "does, and draw nothing, so times are those of the server and of what it sends; `page_times.py` measures "
    "browsers. Memory is the resident memory of the server and the processes that it started. The sessions "
    "run on the same cores as the server."
)


# --- Data -----------------------------------------------------------------------------------------


def write_run(path: Path, rows: int, seed: int) -> None:
    """A run of an over-confident model, with a different confidence in nearly every row."""
    random = np.random.default_rng((SEED, seed))
    confidence = random.beta(5, 2, rows)
    correct = random.random(rows) < confidence ** (1 + seed % 5 / 5)
    pl.DataFrame({"id": np.arange(rows), "confidence": confidence, "correct": correct}).write_parquet(path)


def write_runs(folder: Path, runs: int) -> None:
    """Runs of a few rows, a file each."""
    for number in range(runs):
        write_run(folder / f"model-{number:03d}.parquet", ROWS_OF_A_RUN, number)


# --- One session ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Session:
    """A browser's session: what the server has sent it, and what the person has chosen."""

    socket: ClientConnection
    url: str
    page: str = ""
    query: str = ""
    widgets: dict[str, str] = field(default_factory=dict)
    """Key of a widget of the page → its id."""
    options: dict[str, list[str]] = field(default_factory=dict)
    """Key of a select box of the page → its options."""
    moved: dict[str, WidgetState] = field(default_factory=dict)
    """Key of a widget that was moved → its value."""
    is_partial: bool = False
    """Whether the page says that files of the folder are still being read."""
    asked: float = 0.0
    picture: float | None = None
    """When the page was asked for, and after how many seconds its first figure came."""

    @classmethod
    async def connect(cls, stack: AsyncExitStack, url: str) -> Self:
        """A session that is open until the stack is left."""
        address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
        socket = await stack.enter_async_context(
            connect(address, subprotocols=[Subprotocol("streamlit")], max_size=None, ping_interval=None)
        )
        return cls(socket, url)

    async def view(self, page: str, **choice: str | int) -> float:
        """Go to a page by a link; returns the seconds until it is complete."""
        self.page, self.query = page, urlencode(choice)
        self.moved.clear()
        return await self.run()

    def has(self, key: str) -> bool:
        """Whether the page has a widget whose key begins so."""
        return any(shown.startswith(key) for shown in self.widgets)

    async def type_bins(self, bins: int) -> float:
        """Type another M."""
        key = max((key for key in self.widgets if key.startswith("m_typed_")), key=len)
        self.moved[key] = WidgetState(id=self.widgets[key], double_value=bins)
        return await self.run()

    async def choose_run(self, number: int) -> float:
        """Choose another run in the select box."""
        names = self.options["run"]
        self.moved["run"] = WidgetState(id=self.widgets["run"], string_value=names[number % len(names)])
        return await self.run()

    async def run(self) -> float:
        """Have the server run the page with what is chosen; returns the seconds until it is complete."""
        message = BackMsg(rerun_script=ClientState(query_string=self.query, page_name=self.page))
        message.rerun_script.context_info.url = f"{self.url}/{self.page}"
        message.rerun_script.widget_states.widgets.extend(self.moved.values())
        self.asked, self.picture = time.perf_counter(), None
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(WAITING_SECONDS):
            while not await self._is_complete():
                pass
        seconds = time.perf_counter() - self.asked
        self.moved = {key: state for key, state in self.moved.items() if self.widgets.get(key) == state.id}
        return seconds

    async def _is_complete(self) -> bool:
        """Whether the next message of the server is that the page is complete; raises where it failed."""
        data = await self.socket.recv(decode=False)
        message = ForwardMsg.FromString(bytes(data))
        match message.WhichOneof("type"):
            case "new_session":
                self.widgets.clear()
                self.options.clear()
                self.is_partial = False
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "delta":
                self._note(message)
            case "script_finished":
                status = ForwardMsg.ScriptFinishedStatus.Name(message.script_finished)
                if status not in ("FINISHED_SUCCESSFULLY", "FINISHED_EARLY_FOR_RERUN"):
                    raise RuntimeError(f"the page {self.page or 'start'} ended with {status}")
                return status == "FINISHED_SUCCESSFULLY"
        return False

    def _note(self, message: ForwardMsg) -> None:
        """Remember the widget that a message adds; raises where it shows an error of the page."""
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"the page {self.page or 'start'} failed: {element.exception.message}")
        self.is_partial |= kind == "progress" and element.progress.text.startswith("Reading the folder")
        if kind == "plotly_chart" and self.picture is None:
            self.picture = time.perf_counter() - self.asked
        if kind in ("selectbox", "number_input"):
            widget = getattr(element, kind)
            key = widget.id.split("-", 2)[-1]
            self.widgets[key] = widget.id
            if kind == "selectbox":
                self.options[key] = list(widget.options)


# --- The server -----------------------------------------------------------------------------------


def memory_mb(server: app_server.Server) -> float:
    """Resident memory of the server and of the processes that it started, in MB."""
    own = psutil.Process(server.pid)
    return sum(process.memory_info().rss for process in (own, *own.children(recursive=True))) / 1e6


def quantiles(seconds: Sequence[float]) -> tuple[str, ...]:
    """Median, 95 % quantile and largest of the values, as the tables show them.

    A quantile is the smallest of the values that so large a share does not exceed.
    """
    ordered, shares = sorted(seconds), (0.5, 0.95, 1)
    if not ordered:
        return ("–",) * len(shares)
    return tuple(f"{ordered[int(np.ceil(share * len(ordered))) - 1]:.2f}" for share in shares)


# --- What is measured -----------------------------------------------------------------------------


@dataclass(slots=True)
class FirstViews:
    """Times of a page on one large run, in seconds, and memory in MB."""

    ready: float
    first: float
    since_start: float
    bins: list[float]
    again: float
    memory: float
    peak: float


async def view_large_run(folder: Path, home: Path) -> FirstViews:
    """Open Reliability on a server just started, move M, and open the page in a second session."""
    begun = time.perf_counter()
    server = app_server.start(folder, home)
    try:
        ready = time.perf_counter() - begun
        async with AsyncExitStack() as stack:
            peak = await stack.enter_async_context(_Peak(server))
            session = await Session.connect(stack, server.url)
            first = await session.view("reliability")
            since_start = time.perf_counter() - begun
            bins = [await session.type_bins(number) for number in BINS]
            again = await (await Session.connect(stack, server.url)).view("reliability")
            await nothing_written(home)
            return FirstViews(ready, first, since_start, bins, again, memory_mb(server), peak.mb)
    finally:
        server.stop()


def sizes_below(folder: Path) -> dict[Path, int]:
    """Size of every file below a folder."""
    return {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


async def nothing_written(folder: Path, seconds: float = 3.0) -> None:
    """Returns when no file below a folder has changed for some seconds: what was read is kept by then."""
    sizes, since = sizes_below(folder), time.monotonic()
    while time.monotonic() < since + seconds:
        found = sizes_below(folder)
        if found != sizes:
            sizes, since = found, time.monotonic()
        await asyncio.sleep(0.2)


class _Peak:
    """Looks at a server's memory ten times a second while it is entered, and keeps the largest."""

    def __init__(self, server: app_server.Server) -> None:
        self.mb = 0.0
        self._server = server

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            self.mb = max(self.mb, memory_mb(self._server))
            await asyncio.sleep(0.1)


async def view_many_runs(folder: Path, home: Path) -> tuple[float, dict[str, tuple[str, ...]]]:
    """Seconds until all runs are read, and `shown_in` a first session and a second one, by page."""
    server = app_server.start(folder, home)
    try:
        async with AsyncExitStack() as stack:
            read = await read_all(await Session.connect(stack, server.url))
            first, second = [await Session.connect(stack, server.url) for _ in range(2)]
            pages = sorted(titles(), key=SLOWEST.__eq__)
            return read, {page: await shown_in(first, page) + await shown_in(second, page) for page in pages}
    finally:
        server.stop()


async def shown_in(session: Session, page: str) -> tuple[str, str]:
    """Seconds until a page's first figure is there, and until it is complete, as the table shows them."""
    try:
        complete = f"{await session.view(page):.2f}"
    except TimeoutError:
        complete = f"> {WAITING_SECONDS:.0f}"
    return "–" if session.picture is None else f"{session.picture:.2f}", complete


async def read_all(session: Session) -> float:
    """Seconds until the page Files shows every file of the folder."""
    begun = time.perf_counter()
    await session.view("files")
    while session.is_partial:
        await asyncio.sleep(0.1)
        await session.view("files")
    return time.perf_counter() - begun


def titles() -> dict[str, str]:
    """Page in the address → its title, for every page."""
    return {"" if id_ == "start" else id_: info.title for id_, info in PAGES.items()}


@dataclass(slots=True)
class Crowd:
    """What many sessions at once took: seconds of each interaction by page and step, and failures."""

    by_step: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    """Page in the address, and what was done there → seconds."""
    failures: list[str] = field(default_factory=list)
    lasted: float = 0.0

    def note(self, page: str, step: str, seconds: float) -> None:
        """Add one interaction."""
        self.by_step.setdefault((page, step), []).append(seconds)

    @property
    def number(self) -> int:
        """How many interactions there were."""
        return sum(map(len, self.by_step.values())) + len(self.failures)

    def row(self) -> tuple[str, ...]:
        """Its cells of the table."""
        seconds = list(chain.from_iterable(self.by_step.values()))
        a_second = f"{self.number / self.lasted:.1f}"
        return f"{self.number:,}", f"{len(self.failures):,}", *quantiles(seconds), a_second


async def interact(sessions: Sequence[Session], interactions: int, pause: float, seed: int) -> Crowd:
    """Have every session do its part of the interactions, with pauses of an exponential distribution."""
    crowd, begun = Crowd(), time.perf_counter()
    random = np.random.default_rng((SEED, seed))
    parts = [interactions // len(sessions)] * len(sessions)
    await asyncio.gather(
        *(
            _use(session, part, pause, own, crowd)
            for session, part, own in zip(sessions, parts, random.spawn(len(sessions)), strict=True)
        )
    )
    crowd.lasted = time.perf_counter() - begun
    return crowd


async def _use(
    session: Session, interactions: int, pause: float, random: np.random.Generator, crowd: Crowd
) -> None:
    """One person: half of the interactions move M, a quarter choose a run, a quarter go to another page."""
    pages = list(PAGES_IN_USE)
    for _ in range(interactions):
        await asyncio.sleep(random.exponential(pause) if pause else 0)
        act: Awaitable[float]
        match step := str(random.choice(["another M", "another M", "another run", OPENED])):
            case "another M" if session.has("m_typed"):
                act = session.type_bins(int(random.integers(2, 101)))
            case "another run" if session.has("run"):
                act = session.choose_run(int(random.integers(1000)))
            case _:
                step, act = OPENED, session.view(pages[random.integers(len(pages))])
        try:
            seconds = await act
            crowd.note(session.page, step, seconds)
        except (RuntimeError, TimeoutError, ConnectionError, WebSocketException) as error:
            crowd.failures.append(f"{type(error).__name__}: {error}")


@dataclass(slots=True)
class Load:
    """What many sessions at once took."""

    memory: list[tuple[str, float]]
    crowds: list[tuple[str, Crowd]]


async def crowd_in(folder: Path, home: Path, given: argparse.Namespace) -> Load:
    """Open one session, then many at once, have them interact for long, and end them."""
    server = app_server.start(folder, home)
    load = Load([], [])

    def note(when: str) -> None:
        load.memory.append((when, memory_mb(server)))

    try:
        note("the server answers")
        async with AsyncExitStack() as stack:
            first = await Session.connect(stack, server.url)
            await read_all(first)
            await interact([first], 20, 0, 0)
            note("one session, 20 interactions")
            sessions = [await Session.connect(stack, server.url) for _ in range(given.sessions)]
            opened = Crowd()
            begun = time.perf_counter()
            opened.by_step["reliability", OPENED] = await asyncio.gather(
                *(session.view("reliability") for session in sessions)
            )
            opened.lasted = time.perf_counter() - begun
            load.crowds.append(("all open the page Reliability at once", opened))
            note(f"{given.sessions} more sessions")
            for quarter in range(1, 5):
                crowd = await interact(sessions, given.interactions // 4, given.pause, quarter)
                load.crowds.append((f"quarter {quarter} {SOAK}", crowd))
                note(f"after {quarter * given.interactions // 4:,} interactions")
            crowd = await interact(sessions, 4 * len(sessions), 0, 5)
            load.crowds.append((BUSY, crowd))
            note("after these without pauses")
        await asyncio.sleep(given.ended)
        note(f"{given.ended:.0f} s after all had ended")
        async with AsyncExitStack() as stack:
            sessions = [await Session.connect(stack, server.url) for _ in range(given.sessions)]
            await asyncio.gather(*(session.view("reliability") for session in sessions))
            await interact(sessions, 4 * len(sessions), 0, 6)
            note(f"{given.sessions} other sessions, after {4 * given.sessions} interactions")
    finally:
        server.stop()
    return load


# --- The page -------------------------------------------------------------------------------------


def lines(given: argparse.Namespace) -> Iterator[str]:
    """The page, measured as it is written."""
    before = os.getloadavg()[0]
    yield "# Under load"
    yield ""
    yield INTRODUCTION
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        yield ""
        yield from lines_of_large_run(folder / "large", given.rows)
        yield ""
        yield from lines_of_many_runs(folder / "many", given.runs)
        yield ""
        yield from lines_of_sessions(folder / "shared", given)
    yield ""
    yield (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after, Python {platform.python_version()}, streamlit "
        f"{version('streamlit')}, polars {version('polars')}. {date_line()}"
    )


def lines_of_large_run(folder: Path, rows: int) -> Iterator[str]:
    """Times of Reliability on one large Parquet file."""
    folder.mkdir()
    write_run(folder / "large.parquet", rows, 1)
    size = (folder / "large.parquet").stat().st_size / 1e6
    yield f"## A run of {rows:,} rows"
    yield ""
    yield (
        f"One Parquet file ({size:.0f} MB: id, confidence, correct; nearly every confidence is different) "
        "and the page Reliability. First start: nothing is kept on disk. Next start: what the first kept. "
        f"The page is asked for as soon as the server answers. M = {BINS[-1]} is the first whose bins are "
        "not sums of the finest ones, so that some rows are sorted; another session comes after it. "
        "Memory: when all that was read is kept on disk."
    )
    yield ""
    titles_ = (
        "",
        "server answers, s",
        "first view, s",
        "since the server's start, s",
        *(f"M = {number}, s" for number in BINS),
        "in another session, s",
        "memory, MB",
        "at most, MB",
    )
    yield from table(titles_, rows_of_large_run(folder))


def rows_of_large_run(folder: Path) -> Iterator[tuple[str, ...]]:
    """A first and a next start."""
    for start in ("first start", "next start"):
        views = asyncio.run(view_large_run(folder, folder.with_name("home of the large run")))
        seconds = (views.ready, views.first, views.since_start, *views.bins, views.again)
        yield start, *(f"{value:.2f}" for value in seconds), f"{views.memory:,.0f}", f"{views.peak:,.0f}"


def lines_of_many_runs(folder: Path, runs: int) -> Iterator[str]:
    """Times of every page on many runs."""
    folder.mkdir()
    write_runs(folder, runs)
    read, seconds = asyncio.run(view_many_runs(folder, folder.with_name("home of many runs")))
    yield f"## {runs:,} runs in one folder"
    yield ""
    yield (
        f"As many Parquet files of {ROWS_OF_A_RUN:,} rows, all read {read:.1f} s after the first page was "
        "asked for. Then every page in its own session, which is the first to ask for it, and in a second "
        f"one; {titles()[SLOWEST]}, which tests every pair of runs, comes last. A session waits "
        f"{WAITING_SECONDS:.0f} s at most."
    )
    yield ""
    shown = ((titles()[page], *both) for page, both in seconds.items())
    seconds_of = (f"{session} session: {what}" for session in ("first", "second") for what in WHAT_COMES)
    yield from table(("page", *seconds_of), shown)


def lines_of_sessions(folder: Path, given: argparse.Namespace) -> Iterator[str]:
    """Times and memory of many sessions at once."""
    folder.mkdir()
    write_runs(folder, given.shared_runs)
    write_run(folder / "large.parquet", given.shared_rows, 1)
    load = asyncio.run(crowd_in(folder, folder.with_name("home of sessions"), given))
    yield f"## {given.sessions} sessions at once"
    yield ""
    yield (
        f"{given.shared_runs} runs of {ROWS_OF_A_RUN:,} rows and one of {given.shared_rows:,}. Half of the "
        "interactions move M, a quarter choose another run, a quarter go to another page (Start, "
        "Reliability, Bin concentration, Robustness, Abstention). Each person pauses "
        f"{given.pause:g} s on average between two interactions, an exponential distribution; in the last "
        "row nobody pauses, so that the server is never idle and every session waits for its turn."
    )
    yield ""
    yield from table(
        ("", "interactions", "failed", "median, s", "95 %, s", "slowest, s", "a second"),
        ((name, *crowd.row()) for name, crowd in load.crowds),
    )
    yield ""
    yield what_is_carried(load, given.pause)
    yield ""
    yield "The soak by page and step:"
    yield ""
    yield from table(("page", "step", "number", "median, s", "95 %, s", "slowest, s"), step_rows(load), 2)
    yield ""
    yield "Memory of the server:"
    yield ""
    yield from table(("when", "MB"), ((when, f"{mb:,.0f}") for when, mb in load.memory))
    for failure in sorted({failure for _, crowd in load.crowds for failure in crowd.failures}):
        yield ""
        yield f"Failed: {failure}"


def what_is_carried(load: Load, pause: float) -> str:
    """How many sessions keep these cores busy, and what waits longest."""
    busy = dict(load.crowds)[BUSY]
    rate = busy.number / busy.lasted
    slowest = max(step_rows(load), key=lambda row: float(row[3]))
    return (
        f"Without pauses the {os.cpu_count()} cores answer {rate:.1f} interactions a second: as many as "
        f"{rate * pause:.0f} sessions ask for with {pause:g} s between two. With more, the wait would grow "
        f"without end. The slowest step of the soak, by its median, is on {slowest[0]}: {slowest[1]}."
    )


def step_rows(load: Load) -> Iterator[tuple[str, ...]]:
    """What every step of the soak took, by page in the order of the menu."""
    soak = [crowd.by_step for name, crowd in load.crowds if name.endswith(SOAK)]
    for page, title in titles().items():
        for step in sorted({step for by_step in soak for of, step in by_step if of == page}):
            seconds = list(chain.from_iterable(by_step.get((page, step), ()) for by_step in soak))
            yield title, step, f"{len(seconds):,}", *quantiles(seconds)


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="of the large run")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--interactions", type=int, default=INTERACTIONS, help="of the soak, a multiple of 4")
    parser.add_argument("--pause", type=float, default=PAUSE_SECONDS, help="seconds between interactions")
    parser.add_argument("--ended", type=float, default=ENDED_SECONDS, help="seconds for sessions to end")
    parser.add_argument("--shared-runs", type=int, default=20)
    parser.add_argument("--shared-rows", type=int, default=1_000_000)
    write_page(__file__, lines(parser.parse_args()))


if __name__ == "__main__":
    main()

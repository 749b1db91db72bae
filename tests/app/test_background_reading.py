"""A large folder is read in the background: pages show what there is, say so, and end with all of it."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

import report_cache
import screens
from app_server import ROOT
from calib_core.errors import Refused
from calib_core.results.files import FileReport
from calib_core.user_cache import readings_folder
from export_menus import open_menus
from pages.state import cache, server
from pages.state.cache import FileStamp, FolderReader, ListedFile, LoadedFile
from pages.state.mappings import FileMapping
from pages.state.runs import LoadedRun, loaded_runs
from pages.state.server import server_lifespan
from pages.widgets import shell
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, address, choose, control, go, page_text, run, table

SECONDS = 60.0
"""After which a test that waits in vain fails."""


class Gate:
    """Lets files be read: those that are open, and from `open_all` on every one."""

    def __init__(self) -> None:
        self.open = {"a.csv"}
        self.order: list[str] = []
        self._all = threading.Event()

    def open_all(self) -> None:
        self._all.set()

    def pass_through(self, listing: ListedFile) -> None:
        self.order.append(listing.name)
        if listing.name not in self.open and not self._all.wait(SECONDS):
            raise TimeoutError(listing.name)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Files other than a.csv wait at the gate; no page waits for more files than it needs."""
    gate = Gate()

    def read(listing: ListedFile, mapping: FileMapping, progress: Callable[[float, str], None]) -> FileReport:
        gate.pass_through(listing)
        return report_cache.report(listing, mapping, progress)

    monkeypatch.setattr(cache, "_read_report", read)
    monkeypatch.setattr(cache, "FIRST_PAGE_SECONDS", 0.0)
    monkeypatch.setattr(cache, "MAX_AWAITED_FILES", 0)
    monkeypatch.setattr(cache, "MAX_PARALLEL_READS", 1)
    st.cache_resource.clear()
    yield gate
    gate.open_all()
    finish()


@pytest.fixture
def three(data: Path) -> Path:
    """a.csv with 20 rows, b.csv with 300, c.csv with 350, each of a model of this name."""
    for name, rows in (("a", 20), ("b", 300), ("c", 350)):
        write_csv(data / f"{name}.csv", quiz(rows, model=name))
    return data


def finish(reader: FolderReader | None = None) -> None:
    """Waits until all is read and every thread that read has ended."""
    threads = [thread for thread in threading.enumerate() if thread.name in ("calib-reader", "calib-later")]
    for thread in threads:
        thread.join(SECONDS)
    assert (reader or cache._server_store().reader).progress().is_finished


def listed(name: str, version: int = 1) -> ListedFile:
    stamp = FileStamp(((version, 1),), FileMapping())
    return ListedFile(Path(name), name, FileMapping(), stamp, None, Path())


# --- The queue --------------------------------------------------------------------------------------


class Desk:
    """A reader whose files are read one at a time, each when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cache, "MAX_PARALLEL_READS", 1)
        self.order: list[str] = []
        self.begun, self.may_end = threading.Semaphore(0), threading.Event()
        self.reader = FolderReader(self._read)

    def _read(self, listing: ListedFile, progress: Callable[[float, str], None]) -> LoadedFile:
        progress(0.5, f"half of {listing.name}")
        self.order.append(listing.name)
        self.begun.release()
        assert self.may_end.wait(SECONDS)
        if listing.name == "bad":
            raise MemoryError
        return LoadedFile(listing, None, f"version {listing.stamp.versions[0][0]}")

    def await_begin(self) -> None:
        assert self.begun.acquire(timeout=SECONDS)

    def finish(self) -> None:
        self.may_end.set()
        finish(self.reader)
        self.may_end.clear()
        self.begun = threading.Semaphore(0)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk = Desk(monkeypatch)
    yield desk
    desk.finish()


def test_a_file_that_is_needed_is_read_next(desk: Desk) -> None:
    desk.reader.update([listed(name) for name in "abcd"])
    desk.await_begin()
    desk.reader.read_first(lambda listing: listing.name != "c")
    desk.reader.update([listed(name) for name in "abcd"])  # of another session: changes nothing
    desk.finish()
    assert desk.order == ["a", "c", "b", "d"]


@pytest.mark.parametrize(
    ("number", "size", "together"), [(24, 600_000, 1), (25, 1, 2), (2, 9_000_000, 2), (1, 9**9, 1)]
)
def test_few_small_files_are_read_by_one_process(
    monkeypatch: pytest.MonkeyPatch, desk: Desk, number: int, size: int, together: int
) -> None:
    monkeypatch.setattr(cache, "MAX_PARALLEL_READS", 2)
    files = [
        replace(file, stamp=FileStamp(((1, size),), FileMapping()))
        for file in (listed(f"{at}") for at in range(number))
    ]
    desk.reader.update(files)
    for _ in range(together):
        desk.await_begin()
    assert not desk.begun.acquire(timeout=0.1)
    desk.finish()
    assert sorted(desk.order) == sorted(file.name for file in files)


def test_small_files_do_not_wait_for_a_large_one_that_is_read(
    monkeypatch: pytest.MonkeyPatch, desk: Desk
) -> None:
    monkeypatch.setattr(cache, "MAX_PARALLEL_READS", 2)
    large = replace(listed("large"), stamp=FileStamp(((1, 10**9),), FileMapping()))
    desk.reader.update([large])
    desk.await_begin()
    desk.reader.update([large, listed("small")])
    desk.await_begin()
    assert desk.order == ["large", "small"]
    desk.finish()


def test_a_file_that_was_changed_comes_before_those_never_read(desk: Desk) -> None:
    desk.reader.update([listed("a")])
    desk.finish()
    desk.reader.update([listed("a"), *(listed(name) for name in "bc")])
    desk.await_begin()
    desk.reader.update([*(listed(name) for name in "bc"), listed("a", version=2)])
    desk.finish()
    assert desk.order == ["a", "b", "a", "c"]
    contents = desk.reader.contents([listed("a", version=2)])
    assert [file.refusal for file in contents.files] == ["version 2"]


def test_a_file_that_changes_while_it_is_read_is_read_again(desk: Desk) -> None:
    desk.reader.update([listed("a")])
    desk.await_begin()
    desk.reader.update([listed("a", version=2)])
    assert not desk.reader.progress().is_finished
    desk.finish()
    assert desk.order == ["a", "a"]
    assert desk.reader.contents([listed("a", version=2)]).unread == ()
    assert len(desk.reader.contents([listed("a")]).unread) == 1


def test_progress_counts_files_and_parts_and_stops(desk: Desk) -> None:
    desk.reader.update([listed(name) for name in "ab"])
    desk.await_begin()
    progress = desk.reader.progress()
    assert (progress.n_read, progress.n_files, progress.share) == (0, 2, 0.25)
    assert (progress.text, progress.is_finished) == ("half of a", False)
    desk.finish()
    progress = desk.reader.progress()
    assert (progress.n_read, progress.share, progress.text, progress.is_finished) == (2, 1.0, "", True)


def test_a_file_that_is_gone_is_not_waited_for(desk: Desk) -> None:
    desk.reader.update([listed(name) for name in "ab"])
    desk.await_begin()
    (_, second) = desk.reader.contents([listed(name) for name in "ab"]).unread
    assert desk.reader.wait([second], 0.0)
    desk.reader.update([listed("a")])
    assert not desk.reader.wait([second], 0.0)
    desk.finish()
    assert desk.order == ["a"]


@pytest.fixture
def page() -> Iterator[tuple[threading.Thread, threading.Event]]:
    """A thread that draws a page until the event is set."""
    drawn = threading.Event()
    thread = threading.Thread(target=drawn.wait)
    thread.start()
    yield thread, drawn
    drawn.set()
    thread.join(SECONDS)


def test_no_further_file_is_read_while_the_first_page_is_drawn(
    desk: Desk, page: tuple[threading.Thread, threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_PAUSE_SECONDS", math.inf)
    desk.reader.update([listed(name) for name in "ab"])
    desk.await_begin()
    desk.reader.give_way_to(page[0])
    desk.may_end.set()
    assert not desk.begun.acquire(timeout=0.3)
    assert desk.reader.progress().n_read == 1
    page[1].set()
    desk.await_begin()
    assert desk.order == ["a", "b"]


@pytest.mark.parametrize(
    "ended_by", ["time", "a page that waits for a file", "an earlier page of this reading"]
)
def test_the_pause_for_a_page_ends(
    desk: Desk,
    page: tuple[threading.Thread, threading.Event],
    monkeypatch: pytest.MonkeyPatch,
    ended_by: str,
) -> None:
    monkeypatch.setattr(cache, "MAX_PAUSE_SECONDS", 0.05 if ended_by == "time" else math.inf)
    desk.reader.update([listed(name) for name in "ab"])
    desk.await_begin()
    if ended_by == "an earlier page of this reading":
        earlier = threading.Thread(target=int)
        earlier.start()
        earlier.join(SECONDS)
        desk.reader.give_way_to(earlier)
    desk.reader.give_way_to(page[0])
    desk.may_end.set()
    if ended_by == "a page that waits for a file":
        assert not desk.reader.wait(desk.reader.contents([listed("b")]).unread, SECONDS)
    desk.await_begin()
    assert desk.order == ["a", "b"]


@pytest.mark.parametrize("first", ["drawn", "not asked for"])
def test_what_can_wait_gives_way_to_the_first_page(
    desk: Desk, page: tuple[threading.Thread, threading.Event], monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.setattr(cache, "MAX_SECONDS_TO_FIRST_PAGE", 0.6 if first == "not asked for" else math.inf)
    desk.reader.update([listed("a")])
    desk.await_begin()
    done = threading.Event()
    if first == "drawn":
        desk.reader.give_way_to(page[0])
    desk.reader.run_later(done.set)
    assert not done.wait(0.3)
    if first == "drawn":
        page[1].set()
    assert done.wait(SECONDS)
    assert desk.reader.progress().n_read == 0, "the file is still being read"


def test_what_fails_later_keeps_nothing_else_from_running(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache, "MAX_SECONDS_TO_FIRST_PAGE", 0.0)
    done: list[str] = []
    with caplog.at_level(logging.CRITICAL):
        for task in ([].pop, lambda: done.append("first"), lambda: done.append("second")):
            desk.reader.run_later(task)
        finish(desk.reader)
        assert done == ["first", "second"]
        monkeypatch.setattr(cache, "MAX_SECONDS_TO_FIRST_PAGE", 0.2)
        desk.reader.run_later(lambda: done.append("third"))
        desk.reader.finish_tasks()  # as the server does when it stops
    assert done == ["first", "second", "third"]


def test_each_reading_gives_way_to_its_first_page(
    desk: Desk, page: tuple[threading.Thread, threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_PAUSE_SECONDS", math.inf)
    desk.reader.give_way_to(threading.current_thread())  # of a folder that was read
    desk.reader.update([listed(name) for name in "ab"])
    desk.await_begin()
    desk.reader.give_way_to(page[0])
    desk.may_end.set()
    assert not desk.begun.acquire(timeout=0.3)
    page[1].set()
    desk.await_begin()


def test_a_fault_with_one_file_is_its_refusal(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        desk.reader.update([listed(name) for name in ("bad", "good")])
        desk.finish()
    bad, good = desk.reader.contents([listed(name) for name in ("bad", "good")]).files
    assert bad.refusal == (
        "bad cannot be read: checking its content failed (MemoryError). If the file is intact, please "
        "report this as a bug in Calib."
    )
    assert good.refusal == "version 1"


# --- Pages ------------------------------------------------------------------------------------------


def test_start_says_on_how_many_files_it_stands(three: Path, visit: Visit, gate: Gate) -> None:
    assert three.is_dir()
    at = visit("start")
    assert "This page shows 1 file of the folder" in page_text(at)
    assert list(table(at, "verdict")["run"]) == ["a"]
    assert at.text[0].value.endswith("\n1 of 3 files read")
    gate.open_all()
    finish()
    run(at)
    assert "This page shows" not in page_text(at)
    assert "files read" not in at.text[0].value
    assert sorted(table(at, "verdict")["run"]) == ["a", "b", "c"]


def test_a_page_is_drawn_before_more_is_read(
    data: Path, visit: Visit, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        write_csv(data / f"{number}.csv", quiz(20))
    begun: list[int] = []

    def read(listing: ListedFile, _mapping: FileMapping, _progress: object) -> FileReport:
        gate.order.append(listing.name)
        time.sleep(0.05)
        raise Refused("not read here")

    def draw(files: Sequence[LoadedFile], accepted: Sequence[str]) -> Sequence[LoadedRun]:
        begun.append(len(gate.order))
        time.sleep(0.3)
        begun.append(len(gate.order))
        return loaded_runs(files, accepted)

    monkeypatch.setattr(cache, "_read_report", read)
    monkeypatch.setattr(shell, "loaded_runs", draw)
    visit("files")
    assert begun[1] <= begun[0] + 1 < 12
    finish()
    assert len(gate.order) == 12


def test_an_export_of_part_of_the_folder_says_so(
    three: Path, visit: Visit, gate: Gate, offered: dict[str, Any]
) -> None:
    assert three.is_dir()
    open_menus(visit("start"))
    assert b"1 of 3 files read" in offered["save_table_overview_csv"][1]()
    gate.open_all()


def test_files_lists_what_is_not_read_yet(three: Path, visit: Visit, gate: Gate) -> None:
    assert three.is_dir()
    at = visit("files")
    reader = cache._server_store().reader
    first = LoadedFile(cache.list_data_folder(three, cache.mapping_store())[0], None, None)
    assert not reader.wait([first], SECONDS)
    run(at)
    assert "3 files, 2 not read yet, 1 loaded, 1 run." in page_text(at)
    assert table(at, "State")[["File", "State"]].values.tolist() == [
        ["a.csv", "loaded"],
        ["b.csv", "not read yet"],
        ["c.csv", "not read yet"],
    ]
    gate.open_all()
    finish()
    assert "3 files, 3 loaded, 3 runs." in page_text(run(at))


def test_a_report_waits_for_every_file(three: Path, visit: Visit, gate: Gate) -> None:
    assert three.is_dir()
    at = visit("report")
    (button,) = [node for node in screens.walk(at.main) if node.type == "download_button"]
    assert button.proto.disabled
    gate.open_all()
    finish()
    (button,) = [node for node in screens.walk(run(at).main) if node.type == "download_button"]
    assert not button.proto.disabled


def test_the_run_of_a_link_is_read_first_and_waited_for(three: Path, visit: Visit, gate: Gate) -> None:
    for letter in "defgh":
        write_csv(three / f"other {letter}.csv", quiz(40, model=letter))
    gate.open = {"c.csv"}
    at = visit("reliability", run="c")
    assert screens.tiles(at)["Rows used / total"] == "350 / 350"
    assert gate.order[0] == "c.csv"
    assert at.warning == []


def test_the_run_shown_stays_when_another_would_be_the_default(three: Path, visit: Visit, gate: Gate) -> None:
    assert three.is_dir()
    at = visit("reliability")
    assert (screens.tiles(at)["Rows used / total"], address(at)) == ("20 / 20", {"run": "a"})
    gate.open_all()
    finish()
    assert screens.tiles(run(at))["Rows used / total"] == "20 / 20"
    assert address(at) == {"run": "a"}
    go(at, "concentration")
    assert address(at) == {"run": "a"}


def test_a_bin_that_was_opened_stays_open_when_all_is_read(three: Path, visit: Visit, gate: Gate) -> None:
    write_csv(three / "a.csv", quiz(400, model="a"))  # the default before and after
    at = visit("reliability", bin="9")
    assert address(at) == {"run": "a", "bin": "9"}
    gate.open_all()
    finish()
    assert address(run(at)) == {"bin": "9"}


def test_the_run_shown_stays_when_its_id_changes(data: Path, visit: Visit, gate: Gate) -> None:
    write_csv(data / "a.csv", quiz(20, model="same"))
    write_csv(data / "b.csv", quiz(300, model="same"))
    at = visit("reliability")
    assert address(at) == {"run": "same"}
    gate.open_all()
    finish()
    assert screens.tiles(run(at))["Rows used / total"] == "20 / 20"
    assert address(at) == {"run": "same--a.csv"}
    assert at.warning == []


def test_what_a_link_asks_for_is_shown_once_it_is_read(three: Path, visit: Visit, gate: Gate) -> None:
    assert three.is_dir()
    at = visit("comparison", runs="a,c", dataset="*")
    assert "which is not available here so far" in page_text(at)
    assert address(at)["runs"] == "a,c"
    run(at)
    assert address(at)["runs"] == "a,c"
    gate.open_all()
    finish()
    run(at)
    assert at.warning == []
    assert at.multiselect(key="runs_shown").value == ["a", "c"]


def test_a_link_to_a_run_that_is_nowhere_is_told_once_all_is_read(
    three: Path, visit: Visit, gate: Gate
) -> None:
    assert three.is_dir()
    gate.open = {"a.csv", "b.csv", "c.csv"}
    at = visit("reliability", run="d")
    assert "The link asks for run “d”, which is not available here. Shown: run " in page_text(at)


def test_start_waits_for_files_that_are_read_soon(
    three: Path, visit: Visit, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert three.is_dir()
    monkeypatch.setattr(cache, "FIRST_PAGE_SECONDS", SECONDS)
    opener = threading.Timer(0.3, gate.open_all)
    opener.start()
    assert sorted(table(visit("start"), "verdict")["run"]) == ["a", "b", "c"]
    opener.join()


def test_other_pages_wait_for_a_few_small_files(
    three: Path, visit: Visit, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_AWAITED_FILES", 3)
    start = visit("start")
    assert table(start, "verdict")["run"].to_list() == ["a"]
    assert "This page shows 1 file of the folder" in screens.page_text(start)
    opener = threading.Timer(0.3, gate.open_all)
    opener.start()
    assert control(visit("reliability"), "run").options == ["a", "b", "c"]
    opener.join()
    unread = [LoadedFile(file, None, None) for file in cache.list_data_folder(three, cache.mapping_store())]
    n_bytes = sum(path.stat().st_size for path in three.iterdir())
    for limit, is_awaited in ((n_bytes, True), (n_bytes - 1, False)):
        assert cache._are_few(unread, limit) is is_awaited


def test_a_chosen_run_stays_chosen_while_its_changed_file_is_read(
    three: Path, visit: Visit, gate: Gate
) -> None:
    gate.open |= {"b.csv", "c.csv"}
    at = visit("comparison", dataset="*")
    finish()
    choose(run(at), "runs_shown", ["a", "b"])
    gate.open -= {"b.csv"}
    write_csv(three / "b.csv", quiz(310, model="b"))
    assert control(run(at), "runs_shown").value == ["a"]
    assert address(at)["runs"] == "a,b"
    gate.open_all()
    finish()
    assert control(run(at), "runs_shown").value == ["a", "b"]
    assert at.warning == []


def test_a_link_is_not_forgotten_where_the_page_begins_again_before_it_is_drawn(
    three: Path, visit: Visit, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert three.is_dir()
    at = visit("comparison", runs="a,c", dataset="*")
    load_files = shell.load_files

    def load_and_finish(*args: Any, **options: Any) -> cache.FolderContents:
        contents = load_files(*args, **options)
        gate.open_all()
        finish()  # so that the progress, drawn next, begins the page again
        return contents

    monkeypatch.setattr(shell, "load_files", load_and_finish)
    assert control(run(at), "runs_shown").value == ["a", "c"]


def test_a_file_that_is_looked_at_is_read_before_the_others(
    three: Path, visit: Visit, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_csv(three / "d.csv", quiz(40, model="d"))
    visit("files")
    unread = (
        cache._server_store().reader.contents(cache.list_data_folder(three, cache.mapping_store())).unread
    )
    wait = cache._wait

    def open_and_wait(found: Sequence[ListedFile], seconds: float) -> cache.FolderContents:
        gate.open_all()
        return wait(found, seconds)

    monkeypatch.setattr(cache, "_wait", open_and_wait)
    until = time.monotonic() + SECONDS
    while len(gate.order) < 2 and time.monotonic() < until:  # b.csv has begun: what comes next can be chosen
        time.sleep(0.01)
    cache.read_now(unread[-1])
    finish()
    assert gate.order == ["a.csv", "b.csv", "d.csv", "c.csv"]


def test_the_server_reads_the_folder_before_anybody_asks(
    gate: Gate, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert three.is_dir()
    monkeypatch.setattr(server, "_import_ahead", int)  # it would freeze what other tests make

    async def serve() -> None:
        async with server_lifespan(None):
            gate.open_all()
            while len(gate.order) < 3:  # noqa: ASYNC110 (another thread reads)
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(serve(), SECONDS))
    finish()
    assert gate.order == ["a.csv", "b.csv", "c.csv"]


def test_the_server_loads_first_what_the_first_page_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(server, "import_module", order.append)
    monkeypatch.setattr(server, "wait_for_first_page", lambda: order.append("first page"))
    monkeypatch.setattr(server, "wait_until_read", lambda: order.append("all read"))
    monkeypatch.setattr(server.gc, "collect", lambda: order.append("collect"))
    monkeypatch.setattr(server.gc, "freeze", lambda: order.append("freeze"))
    server._import_ahead()
    frozen = ["collect", "freeze"]
    assert order == [
        "pyarrow",
        "first page",
        *frozen,
        "all read",
        "scipy.optimize",
        *frozen,
    ]


def test_the_server_loads_numpy_with_one_thread_for_each_product() -> None:
    """Streamlit's command does not load numpy itself; the app is what it loads next."""
    program = """if True:
        import os, sys
        class Finder:
            def find_spec(self, name, path=None, target=None):
                if name == "numpy":
                    print(os.environ.get("OPENBLAS_NUM_THREADS"), flush=True)
                    os._exit(0)
        sys.meta_path.insert(0, Finder())
        import streamlit.web.cli
        print("loads", flush=True)
        import app"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["loads", "1"]


def test_a_server_without_a_folder_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CALIB_DATA", str(tmp_path / "gone"))
    cache.read_ahead()
    monkeypatch.setenv("CALIB_DATA", str(tmp_path))
    refusals: list[Path] = []

    def refuse(folder: Path) -> None:
        refusals.append(folder)
        raise Refused("no folder for us")

    monkeypatch.setattr(cache.readers, "list_folder", refuse)
    cache.read_ahead()  # says nothing: the first page does
    assert refusals == [tmp_path]


# --- On disk ----------------------------------------------------------------------------------------


@pytest.fixture
def kept(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what is kept; files are read as in the app."""
    assert data.is_dir()
    monkeypatch.delenv("CALIB_CACHE_MIB")
    monkeypatch.setattr(cache, "_read_report", report_cache._read)
    return readings_folder()


def test_the_next_server_does_not_read_the_folder_again(
    data: Path, visit: Visit, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(data / "four.jsonl", choices(60))
    write_csv(data / "quiz.csv", quiz(60))
    before = screens.tiles(visit("reliability", run="four"))
    finish()
    assert len(list(kept.iterdir())) == 2
    st.cache_resource.clear()
    monkeypatch.setattr(cache.readers, "read", lambda *_words, **_more: pytest.fail("read again"))
    assert screens.tiles(visit("reliability", run="four")) == before


def test_an_upload_is_never_kept(kept: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mine.csv", quiz(60))
    for session in ("", "of somebody"):
        stamp = FileStamp(((1, 1),), FileMapping(), session)
        file = cache._read_file(
            ListedFile(path, path.name, FileMapping(), stamp, None, tmp_path), lambda _share, _text: None
        )
        assert file.report is not None
        cache.finish_tasks()
        assert kept.exists() is (session == "")
        if not session:
            for entry in kept.iterdir():
                entry.unlink()
            kept.rmdir()


def test_a_mapping_is_part_of_what_is_kept(kept: Path, tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "mine.csv", [{"q": 1, "sure": 0.5, "correct": 1}, {"q": 2, "sure": 1, "correct": 0}]
    )
    found: list[str | None] = []
    for mapping in (FileMapping(), FileMapping(columns=(("sure", "confidence"),)), FileMapping(format="npz")):
        listing = ListedFile(path, path.name, mapping, FileStamp(((1, 1),), mapping), None, tmp_path)
        try:
            found.append(cache._read_report(listing, mapping, lambda _share, _text: None).status)
        except Refused:
            found.append(None)
    assert found == ["refused", "loads", None]
    cache.finish_tasks()
    assert len(list(kept.iterdir())) == 2

"""The pool of worker processes: files are opened safely once, and sessions do not disturb each other."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calib_core import reader_process, readers
from calib_core.errors import Refused
from calib_core.readers.format import Reading
from calib_core.readers.sandbox import limits, worker_pool

GOOD = '[{"id": "a", "confidence": 0.9, "correct": 1}, {"id": "b", "confidence": 0.4, "correct": 0}]'
PROBS = np.full((6, 3), 1 / 3, np.float32)


@pytest.fixture
def quiz(tmp_path: Path) -> Path:
    path = tmp_path / "quiz.csv"
    path.write_text(GOOD)
    return path


def waiting_pids() -> list[int]:
    return [one.pid for one in worker_pool._POOL._waiting]


def test_one_process_reads_file_after_file(quiz: Path) -> None:
    readers.read(quiz)
    (*_, pid) = waiting_pids()
    for _ in range(3):
        assert readers.read(quiz).n_rows == 2
    assert waiting_pids()[-1] == pid != os.getpid()


def test_a_lost_worker_is_replaced(quiz: Path) -> None:
    readers.read(quiz)
    before = waiting_pids()
    for pid in before:
        os.kill(pid, 9)
    time.sleep(0.2)
    assert readers.read(quiz).n_rows == 2
    assert not set(before) & set(waiting_pids())


def test_a_worker_that_ended_has_a_waiting_successor(quiz: Path) -> None:
    crew = worker_pool._WorkerPool()
    crew._waiting.append(worker_pool.WorkerProcess("import time; time.sleep(0.5); raise SystemExit(7)"))
    handle = os.open(quiz, os.O_RDONLY)
    request = worker_pool.ReadRequest("quiz.csv", ("quiz.csv",), (handle,), None, None)
    limits = worker_pool._limits_for([handle])
    try:
        with pytest.raises(Refused, match="did not start"):
            crew.read(request, limits, lambda _share, _text: None)
        (successor,) = crew._waiting
        assert isinstance(crew.read(request, limits, lambda _share, _text: None), Reading)
        assert crew._waiting == [successor]
    finally:
        os.close(handle)
        crew.shut_down()
    assert not successor.is_alive


def test_a_process_is_started_ahead_once_and_taken_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of Start asks for it whenever it runs."""
    monkeypatch.setattr(reader_process, "_STARTED_AHEAD", [])
    reader_process.start_ahead.cache_clear()
    reader_process.start_ahead()
    (ahead,) = reader_process._STARTED_AHEAD
    try:
        assert reader_process.take_worker() is ahead
        reader_process.start_ahead()
        assert reader_process._STARTED_AHEAD == []
    finally:
        ahead.process.kill()
        ahead.connection.close()
        ahead.process.communicate()


def test_a_process_started_ahead_that_has_ended_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "_STARTED_AHEAD", [])
    reader_process.start_ahead.cache_clear()
    reader_process.start_ahead()
    (ahead,) = reader_process._STARTED_AHEAD
    ahead.process.kill()
    ahead.process.wait()
    taken = reader_process.take_worker()
    assert taken.process.poll() is None
    reader_process._STARTED_AHEAD.append(taken)
    reader_process.end_unused()
    assert taken.process.poll() is not None


def test_sessions_read_at_the_same_time(quiz: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        rows = list(threads.map(lambda _: readers.read(quiz).n_rows, range(24)))
    assert rows == [2] * 24
    assert len(waiting_pids()) <= worker_pool.MAX_PARALLEL_READS


def test_idle_workers_end_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "IDLE_SECONDS", 0.2)
    crew = worker_pool._WorkerPool()
    worker = worker_pool.WorkerProcess()
    crew._give_back(worker)
    end = time.monotonic() + 20
    while worker.is_alive and time.monotonic() < end:
        time.sleep(0.05)
    assert not worker.is_alive
    assert crew._waiting == []


@pytest.mark.parametrize(("setting", "n_bytes", "expected"), [
    ("", 2**30, 1), ("", 2**31, 2), ("3", 2**30, 3), ("1", 2**34, 1), ("0", 2**34, 2), ("many", 2**34, 2),
])  # fmt: skip
def test_a_small_machine_reads_one_file_at_a_time(
    setting: str, n_bytes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limits.READERS_VARIABLE, setting)
    monkeypatch.setattr(limits, "_machine_bytes", lambda: n_bytes)
    assert limits.parallel_reads() == expected


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_fork_has_processes_of_its_own(quiz: Path) -> None:
    readers.read(quiz)
    pid = os.fork()
    if pid == 0:
        os._exit(len(waiting_pids()))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert readers.read(quiz).n_rows == 2


@pytest.mark.parametrize("kind", ["link", "folder link", "dots", "absolute"])
def test_nothing_outside_the_folder_is_read(kind: str, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.csv").write_text(GOOD)
    (inside / "link.csv").symlink_to(outside / "secret.csv")
    (inside / "sub").symlink_to(outside)
    path = {
        "link": inside / "link.csv",
        "folder link": inside / "sub" / "secret.csv",
        "dots": inside / ".." / "outside" / "secret.csv",
        "absolute": outside / "secret.csv",
    }[kind]
    with pytest.raises(Refused, match=rf"^{path.name} leads out of the folder"):
        readers.read(path, root=inside)
    assert readers.read(path).n_rows == 2


def test_links_that_stay_in_the_folder_are_followed(quiz: Path, tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(quiz)
    assert readers.read(tmp_path / "link.csv", root=tmp_path).n_rows == 2


@pytest.mark.parametrize(
    "name",
    ["*.csv", "**/*.csv", "file:///etc/passwd", "http://127.0.0.1:9/x.csv", "~/x.csv", "a\0b", "", "."],
)
def test_a_name_is_neither_a_pattern_nor_an_address(
    name: str, quiz: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quiz.parent)
    with pytest.raises(Refused, match="cannot be opened"):
        readers.read(Path(name))


@pytest.mark.parametrize("name", ["[q]?.csv", "*.csv", "a\nb.csv", "- x;$(y).csv", "ß\u202e.csv"])
def test_odd_names_are_only_names(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(GOOD)
    reading = readers.read(tmp_path / name)
    assert (reading.n_rows, reading.file) == (2, name)


def test_a_long_name_does_not_hide_what_is_wrong() -> None:
    with pytest.raises(Refused, match="cannot be opened"):
        readers.read(Path("a" * 5000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("link", [False, True])
def test_a_pipe_is_not_waited_for(link: bool, tmp_path: Path) -> None:  # noqa: FBT001
    os.mkfifo(tmp_path / "pipe.csv")
    path = tmp_path / "pipe.csv"
    if link:
        path = tmp_path / "link.csv"
        path.symlink_to(tmp_path / "pipe.csv")
    with pytest.raises(Refused, match="a pipe cannot be read"):
        readers.read(path)


def test_arrays_are_read_with_their_companion_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.probs.npy", PROBS)
    np.save(tmp_path / "a.target.npy", np.arange(6) % 3)
    (tmp_path / "a.meta.json").write_text('{"model": "m"}')
    reading = readers.read(tmp_path / "a.probs.npy")
    assert (reading.n_rows, reading.good_runs[0].info.model) == (6, "m")
    with pytest.raises(Refused, match=r"a\.target\.npy belongs to a\.probs\.npy"):
        readers.read(tmp_path / "a.target.npy")
    (tmp_path / "a.target.npy").unlink()
    with pytest.raises(Refused, match=r"a\.target\.npy beside it, which is not there"):
        readers.read(tmp_path / "a.probs.npy")


def test_a_companion_link_to_elsewhere_is_ignored(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    np.save(outside / "a.target.npy", np.arange(6) % 3)
    np.save(tmp_path / "a.probs.npy", PROBS)
    (tmp_path / "a.target.npy").symlink_to(outside / "a.target.npy")
    with pytest.raises(Refused, match="which is not there"):
        readers.read(tmp_path / "a.probs.npy")


def test_it_is_the_handle_that_is_read(quiz: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes the file's place once it is open is not looked at."""
    before = worker_pool._WorkerPool.read

    def swapped(crew: Any, *rest: Any) -> object:
        quiz.unlink()
        quiz.symlink_to("/etc/passwd")
        return before(crew, *rest)

    monkeypatch.setattr(worker_pool._WorkerPool, "read", swapped)
    assert readers.read(quiz, root=tmp_path).n_rows == 2


def test_no_handle_is_left_open(quiz: Path, tmp_path: Path) -> None:
    readers.read(quiz)
    count = len(os.listdir("/dev/fd"))  # noqa: PTH208
    for _ in range(5):
        readers.read(quiz)
        with pytest.raises(Refused):
            readers.read(tmp_path)
    assert len(os.listdir("/dev/fd")) == count  # noqa: PTH208


def test_reading_in_this_process_gives_the_same(quiz: Path) -> None:
    there, here = readers.read(quiz), readers.read_in_this_process(quiz, file="quiz.csv")
    assert (there.n_rows, there.columns, there.notes) == (here.n_rows, here.columns, here.notes)
    assert [run.label for run in there.good_runs] == [run.label for run in here.good_runs]

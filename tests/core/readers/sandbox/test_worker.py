"""Whatever a parser does to its worker process becomes a message, in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calib_core.errors import Refused
from calib_core.readers import read_in_this_process
from calib_core.readers.format import Reading
from calib_core.readers.reading_cache import pack_bytes
from calib_core.readers.sandbox import worker_pool
from calib_core.readers.sandbox.limits import MIB, Limits
from calib_core.readers.sandbox.worker_pool import ReadRequest, WorkerProcess
from core.tokens.distributions import language, targets

GOOD = b'[{"id": "a", "confidence": 0.9, "correct": 1}, {"id": "b", "confidence": 0.4, "correct": 0}]'
LIMITS = Limits(memory_bytes=256 * MIB, answer_bytes=64 * MIB, idle_seconds=10.0, total_seconds=20.0)
SHORT = Limits(memory_bytes=256 * MIB, answer_bytes=64 * MIB, idle_seconds=1.0, total_seconds=1.5)

STAND_IN = """
import ctypes, os, sys, time
sys.path.extend(sys.argv[2:])
from calib_core.readers.sandbox import protocol, worker
from calib_core.errors import Refused
real = worker.read_in_this_process
def parse(path, *, progress, **rest):
    def good():
        return real(path, progress=progress, **rest)
    if not path.name.startswith("bad"):
        return good()
    {body}
worker.read_in_this_process = parse
{before}
worker.main(int(sys.argv[1]))
"""
"""A worker whose parser misbehaves on files called bad…."""


@contextmanager
def worker_process(body: str = "return good()", before: str = "") -> Generator[WorkerProcess]:
    one = WorkerProcess(STAND_IN.format(body=body, before=before))
    one._await_start()
    try:
        yield one
    finally:
        one.stop()


@pytest.fixture
def ask_worker(tmp_path: Path) -> Callable[..., tuple[Reading | Refused, bool]]:
    """`ask_worker(worker, "bad.csv", limits)`: what becomes of a file with two good rows."""

    def asked(
        one: WorkerProcess,
        name: str = "bad.csv",
        limits: Limits = LIMITS,
        progress: Callable[[float, str], None] = lambda _share, _text: None,
    ) -> tuple[Reading | Refused, bool]:
        path = tmp_path / name
        path.write_bytes(GOOD)
        handle = os.open(path, os.O_RDONLY)
        try:
            return one.read(ReadRequest(name, (name,), (handle,), None, None), limits, progress)
        finally:
            os.close(handle)

    return asked


def bytes_of(reading: object) -> bytes:
    return b"".join(bytes(part) for part in pack_bytes(reading))


LOADED = (
    "reading = good(); progress(1.0, str('calib_core.tokens.compiled_draws' in sys.modules)); return reading"
)


@pytest.mark.parametrize("is_found", [True, False])
def test_code_is_compiled_by_the_process_that_asks(
    is_found: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is not found even then is done by NumPy, with the same bits."""
    asked: list[str] = []
    told: list[str] = []
    worker_pool._compile_for("float16")
    monkeypatch.setattr(worker_pool, "_compile_for", asked.append)
    if not is_found:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "empty"))
    random = np.random.default_rng(3)
    rows = language(random, 40, 5, np.float16)
    path = tmp_path / "bad.npz"
    np.savez(path, probs=rows, target=targets(random, rows))
    before = "from calib_core.readers.token import npz; npz.MIN_COMPILED_POSITIONS = 40"
    with worker_process(LOADED, before) as one, path.open("rb") as stream:
        request = ReadRequest(path.name, (path.name,), (stream.fileno(),), None, None)
        limits = replace(LIMITS, memory_bytes=640 * MIB)
        for _ in range(2):
            reading, again = one.read(request, limits, lambda _share, text: told.append(text))
            assert again
            assert bytes_of(reading) == bytes_of(read_in_this_process(path, file=path.name))
    assert told[-1] == str(is_found)
    assert asked == ([] if is_found else ["float16"] * 2)


Ask = Callable[..., tuple[Reading | Refused, bool]]


def test_it_reads_one_file_after_another(ask_worker: Ask) -> None:
    told: list[tuple[float, str]] = []
    with worker_process() as one:
        for _ in range(3):
            outcome, again = ask_worker(
                one, "quiz.csv", progress=lambda share, text: told.append((share, text))
            )
            assert isinstance(outcome, Reading)
            assert (outcome.n_rows, outcome.file, again) == (2, "quiz.csv", True)
        assert told[0] == (0.0, "opening")
        assert [share for share, _ in told].count(1.0) == 3
        assert one.is_alive


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise Refused('bad.csv: no.')", r"^bad\.csv: no\.$"),
        ("raise ValueError('/etc/secret')", r"^bad\.csv cannot be read: .*\(ValueError\)"),
        ("import polars; raise polars.exceptions.PanicException('x')", r"\(PanicException\)"),
        ("sys.exit(3)", r"\(SystemExit\)"),
        (
            "return [bytearray(2**24) for _ in range(64)]",
            r"needs more memory than the 256 MiB .* CALIB_READING_MIB",
        ),
        ("os.abort()", r"needs more memory"),
        ("ctypes.string_at(0)", r"the process that reads files ended while reading it \(SIGSEGV\)"),
        ("os._exit(0)", r"the process that reads files ended while reading it \(status 0\)"),
        ("os.kill(os.getpid(), 9)", r"needs more memory"),
        ("return object()", r"\(TypeError\)"),
        ("ctypes.PyDLL(None).sleep(60)", r"was stopped after 1 s without progress"),
        ("while True: progress(0, 'still here'); time.sleep(0.02)", r"was stopped after"),
        ("f = lambda: f(); f()", r"nested too deep"),
        ("protocol.send_message(LINE, b'?', b'x'); time.sleep(60)", r"answer that could not be understood"),
        (
            "protocol.send_json(LINE, protocol.PROGRESS_MESSAGE, ['1', 2]); time.sleep(60)",
            r"answer that could not be",
        ),
        (
            "protocol.send_message(LINE, protocol.BLOB_MESSAGE, b'x'); time.sleep(60)",
            r"answer that could not be understood",
        ),
        (
            "protocol.send_json(LINE, protocol.TREE_MESSAGE, {'tree': {}, 'last': False}); time.sleep(9)",
            r"answer that could not",
        ),
        (
            (
                "worker._send_reading(LINE, good()); protocol.send_message(LINE, protocol.READY_MESSAGE); "
                "time.sleep(60)"
            ),
            r"answer that could not",
        ),
        (
            (
                "tree, blobs = protocol.pack_reading(good()); "
                "protocol.send_json(LINE, protocol.TREE_MESSAGE, {'tree': tree}); "
                "[protocol.send_message(LINE, protocol.REFUSED_MESSAGE, blob) for blob in blobs]; "
                "protocol.send_json(LINE, protocol.DONE_MESSAGE, {'last': False}); time.sleep(60)"
            ),
            r"answer that could not",
        ),
        ("worker._send_reading(LINE, good()); os._exit(1)", r"\(status 1\)"),
        (
            "LINE.sendall(protocol.MESSAGE_HEADER.pack(protocol.TREE_MESSAGE, 100) + b'{'); os._exit(1)",
            r"\(status 1\)",
        ),
        ("import tempfile; tempfile.TemporaryFile('wb', 0).write(b'x')", r"\((OSError|FileNotFoundError)\)"),
    ],
)
def test_whatever_a_parser_does_is_a_message(body: str, says: str, ask_worker: Ask) -> None:
    kept = "import socket\nLINE = socket.socket(fileno=os.dup(int(sys.argv[1])))"
    with worker_process(body, kept) as one:
        limits = SHORT if "was stopped" in says else LIMITS
        started = time.monotonic()
        outcome, again = ask_worker(one, limits=limits)
        assert time.monotonic() - started < LIMITS.idle_seconds
        assert isinstance(outcome, Refused)
        text = str(outcome)
        assert text.startswith("bad.csv")
        assert len(text) <= 2000
        assert "Traceback" not in text
        assert "secret" not in text
        assert again == ("raise Refused" in body)
        assert one.is_alive == again
    with pytest.raises(Refused, match=f"(?s){says}"):
        raise outcome


def test_after_a_refusal_it_reads_on(ask_worker: Ask) -> None:
    with worker_process("raise Refused('bad.csv: no.')") as one:
        assert isinstance(ask_worker(one)[0], Refused)
        assert isinstance(ask_worker(one, "good.csv")[0], Reading)


def test_more_than_may_come_back_is_refused(ask_worker: Ask) -> None:
    with worker_process() as one:
        small = Limits(LIMITS.memory_bytes, 100, LIMITS.idle_seconds, LIMITS.total_seconds)
        outcome, again = ask_worker(one, "quiz.csv", small)
    assert "answer that could not be understood" in str(outcome)
    assert not again


def test_closing_the_connection_ends_the_worker(ask_worker: Ask) -> None:
    def stop(_share: float, _text: str) -> None:
        raise KeyboardInterrupt

    with worker_process("progress(0.5, 'half'); time.sleep(60)") as one:
        with pytest.raises(KeyboardInterrupt):
            ask_worker(one, progress=stop)
        assert not one.is_alive


def test_it_opens_nothing_by_name_and_writes_nothing(tmp_path: Path, ask_worker: Ask) -> None:
    (tmp_path / "other.csv").write_bytes(GOOD)
    other = str(tmp_path / "other.csv")
    with worker_process(f"from pathlib import Path; return real(Path({other!r}), file='bad.csv')") as one:
        assert "not handed over" in str(ask_worker(one)[0])


def test_it_knows_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch, ask_worker: Ask) -> None:
    monkeypatch.setenv("CALIB_SECRET", "canary")
    with worker_process("raise Refused('bad.csv ' + str(sorted(os.environ)) + os.getcwd())") as one:
        text = str(ask_worker(one)[0])
    assert "CALIB_SECRET" not in text
    assert "POLARS_MAX_THREADS" in text
    assert text.endswith("/")


def test_a_name_is_only_a_name(ask_worker: Ask) -> None:
    with worker_process() as one:
        for name in ("quiz.csv", "[q]?.csv", "http:x.csv", "a\x1b[31mb.csv", "a\udcff.csv"):
            assert isinstance(ask_worker(one, name)[0], Reading), ascii(name)


def test_a_worker_that_does_not_start_is_reported(ask_worker: Ask) -> None:
    for program in ("raise SystemExit(1)", "import os, sys; os.write(int(sys.argv[1]), b'x' * 99)"):
        one = WorkerProcess(program)
        with pytest.raises(Refused, match="did not start"):
            ask_worker(one)
        assert not one.is_alive


PARENT = """
import os, sys, time
sys.path[:0] = {path!r}
from calib_core.readers.sandbox.worker_pool import ReadRequest, WorkerProcess
from calib_core.readers.sandbox.limits import Limits
one = WorkerProcess({program!r})
print(one.pid, flush=True)
handle = os.open({file!r}, os.O_RDONLY)
limits = Limits(2**30, 2**20, 60, 60)
if {busy}:
    one.read(ReadRequest("bad.csv", ("bad.csv",), (handle,), None, None), limits, print)
time.sleep(60)
"""


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.skipif(not Path("/proc").exists(), reason="asks the system of its processes")
def test_it_ends_with_its_parent_however_that_ends(busy: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Also while its parser holds the interpreter's lock."""
    file = tmp_path / "bad.csv"
    file.write_bytes(GOOD)
    stuck = STAND_IN.format(body="progress(0.5, 'stuck'); ctypes.PyDLL(None).sleep(60)", before="")
    text = PARENT.format(path=sys.path, program=stuck, file=str(file), busy=busy)
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        if busy:
            while "stuck" not in parent.stdout.readline():
                pass
        assert is_running(pid)
        parent.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"

"""Reads files in worker processes that can be stopped, so that a bad file can do no harm.

A file and its companions are opened here, once and by name; a free worker receives the handles. Workers are
kept from one file to the next, as starting one takes a while; after any error a fresh one replaces it.
Whatever happens in a worker becomes a `Reading` or a `Refused` here.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import BoundedSemaphore, Lock, Thread
from typing import Final

import numpy as np

from calib_core.advice import current_surface
from calib_core.compiled import is_kept
from calib_core.errors import Refused, shorten
from calib_core.reader_process import PROGRAM, start_worker, take_worker
from calib_core.readers.archives import MAGIC_BYTES, is_packed
from calib_core.readers.companions import existing_companions
from calib_core.readers.file_access import open_handle, os_error_text
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.readers.sandbox import protocol
from calib_core.readers.sandbox.limits import MEMORY_VARIABLE, MIB, Limits, parallel_reads
from calib_core.readers.sandbox.protocol import InvalidReadingError, unpack_reading
from calib_core.readers.table.raw import ReadProgress
from calib_core.tokens.dense import load_compiled

START_TIMEOUT_SECONDS: Final = 60.0
"""Seconds that a worker may take to start on a busy machine."""

MAX_PARALLEL_READS: Final = parallel_reads()
"""Files read at the same time; further requests wait."""

IDLE_SECONDS: Final = 10.0
"""Seconds without a file to read after which idle workers end, since each takes memory."""

_MAX_NAME_CHARACTERS: Final = 300
"""Limit on the file name in the message that there is no such file."""

_DISK_BLOCK_BYTES: Final = 512
"""The unit of `st_blocks`."""

_REWRITE_ADVICE: Final = "Write or copy it again, or write it in another format."

_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A file to read.

    Attributes
    ----------
    file
        What messages call the file.
    file_names
        Names on disk of the file and its companions.
    handles
        Their handles, followed by that of the table of right answers if there is one.
    gold_name
        Name of the table of right answers; None without one.
    format_id
        As `format` in `calib_core.readers.read`.
    options
        How the user wants the file to be read.
    """

    file: str
    file_names: tuple[str, ...]
    handles: tuple[int, ...]
    gold_name: str | None
    format_id: str | None
    options: ReadOptions = AS_IT_LIES


class WorkerProcess:
    """A process that reads files, one after another.

    Creating one starts the process without waiting until it is ready.

    Parameters
    ----------
    program
        Python source that the process runs, with the socket's number and the packages' folders as arguments.

    Raises
    ------
    Refused
        This platform cannot pass open files to another process.
    """

    def __init__(self, program: str = PROGRAM) -> None:
        if not hasattr(socket, "send_fds"):
            raise Refused("Files are read in a separate process, which needs Linux, macOS or WSL.")
        reader = take_worker() if program == PROGRAM else start_worker(program)
        self._process, self._connection = reader.process, reader.connection
        self._started = False

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is still running."""
        return self._process.poll() is None

    def stop(self, grace_seconds: float = 0.0) -> int:
        """End the process and return its exit status; it gets `grace_seconds` to end by itself."""
        try:
            self._process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._connection.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return self._process.wait()

    def read(
        self, request: ReadRequest, limits: Limits, progress: ReadProgress
    ) -> tuple[Reading | Refused, bool]:
        """Read a file.

        Returns
        -------
        tuple
            The reading or the refusal, and whether the process can read another file. If it cannot, it has
            been ended.

        Raises
        ------
        Refused
            The process never started; it has been ended. Errors raised by `progress` pass through, with the
            same effect.
        """
        try:
            self._await_start()
            outcome, again = self._request_reading(request, limits, progress)
        except protocol.PeerClosedError:
            return Refused(f"{request.file} {_exit_message(self.stop(grace_seconds=2.0), limits)}"), False
        except protocol.DeadlineError:
            outcome, again = Refused(f"{request.file} {_timeout_message(limits)}"), False
        except (protocol.ProtocolError, InvalidReadingError) as error:
            _LOGGER.info("%s: %s", request.file, error)
            outcome, again = Refused(f"{request.file} {_protocol_error_message()}"), False
        except BaseException:  # raised on this side (such as Ctrl+C): the answer would arrive unread
            self.stop()
            raise
        if not again:
            self.stop()
        return outcome, again

    def _await_start(self) -> None:
        """Wait until the process is ready; raises Refused if it never is."""
        if self._started:
            return
        try:
            kind, _ = protocol.receive_message(self._connection, time.monotonic() + START_TIMEOUT_SECONDS, 0)
        except (protocol.PeerClosedError, protocol.DeadlineError, protocol.ProtocolError):
            kind = b""
        if kind != protocol.READY_MESSAGE:
            raise Refused("The process that reads files did not start. Try again.")
        self._started = True

    def _request_reading(
        self, request: ReadRequest, limits: Limits, progress: ReadProgress
    ) -> tuple[Reading | Refused, bool]:
        message = {
            "file": request.file,
            "names": request.file_names,
            "gold": request.gold_name,
            "format": request.format_id,
            "options": asdict(request.options),
            "surface": current_surface(),
            "memory": limits.memory_bytes,
            "seconds": limits.total_seconds,
        }
        protocol.send_request(self._connection, message, request.handles)
        deadline = time.monotonic() + limits.total_seconds
        while True:
            kind, body = protocol.receive_message(
                self._connection, min(deadline, time.monotonic() + limits.idle_seconds), 0
            )
            match kind, protocol.parse_message(body):
                case protocol.PROGRESS_MESSAGE, [int() | float() as share, str() as text]:
                    progress(float(share), text)
                case protocol.CODE_MESSAGE, str() as dtype:
                    begun = time.monotonic()
                    _compile_for(dtype)
                    deadline += time.monotonic() - begun
                    protocol.send_json(self._connection, protocol.CODE_MESSAGE, dtype)
                case protocol.TREE_MESSAGE, {"tree": tree}:
                    reading = unpack_reading(tree, self._receive_blobs(limits, deadline).__next__)
                    return reading, not self._receive_done(limits, deadline)
                case protocol.REFUSED_MESSAGE, {"why": str() as reason, "last": bool() as is_last}:
                    return Refused(reason), not is_last
                case protocol.FAILED_MESSAGE, {"what": str() as error_name, "where": str() as traceback}:
                    _LOGGER.info("%s: %s", request.file, traceback)
                    return Refused(f"{request.file} {_failure_message(error_name, limits)}"), False
                case _:
                    raise protocol.ProtocolError("a message out of turn")

    def _receive_done(self, limits: Limits, deadline: float) -> bool:
        """Receive the message after the last blob; return whether the process ends now."""
        kind, body = protocol.receive_message(
            self._connection, min(deadline, time.monotonic() + limits.idle_seconds), 0
        )
        match kind, protocol.parse_message(body):
            case protocol.DONE_MESSAGE, {"last": bool() as is_last}:
                return is_last
            case _:
                raise protocol.ProtocolError("no end where one was told of")

    def _receive_blobs(self, limits: Limits, deadline: float) -> Iterator[bytearray]:
        left = limits.answer_bytes
        while True:
            kind, body = protocol.receive_message(
                self._connection, min(deadline, time.monotonic() + limits.idle_seconds), left
            )
            if kind != protocol.BLOB_MESSAGE:
                raise protocol.ProtocolError("no blob where one was told of")
            left -= len(body)
            yield body


def _compile_for(dtype: str) -> None:
    """Compile the code with which a process that reads files adds up distributions, where it can be kept."""
    if dtype in {"float16", "float32", "float64"} and is_kept():
        load_compiled(np.dtype(dtype))


def _exit_message(status: int, limits: Limits) -> str:
    """Say why a process ended by itself; like all messages here, to follow the file's name."""
    if status == -signal.SIGALRM:
        return _timeout_message(limits)
    if status in (-signal.SIGABRT, -signal.SIGKILL):  # out of memory: Rust aborts, or the system kills
        return _memory_message(limits)
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"status {status}"
    return (
        f"cannot be read: the process that reads files ended while reading it ({name}). It may be damaged "
        f"or malicious; nothing of it was loaded. {_REWRITE_ADVICE}"
    )


def _failure_message(error_name: str, limits: Limits) -> str:
    """Say why reading failed with an error other than a refusal."""
    if error_name == "MemoryError":
        return _memory_message(limits)
    if error_name == "RecursionError":
        return f"cannot be read: what it holds is nested too deeply. {_REWRITE_ADVICE}"
    return (
        f"cannot be read: reading it failed unexpectedly ({error_name}). It may be damaged. "
        f"{_REWRITE_ADVICE} If the file is intact, please report this as a bug in Calib."
    )


def _memory_message(limits: Limits) -> str:
    return (
        f"cannot be read: it needs more memory than the {limits.memory_bytes // MIB:,} MiB that reading a "
        "file of its size may take. It may be damaged or malicious. If it is sound, split it, or allow "
        f"more: set {MEMORY_VARIABLE} to a number of MiB."
    )


def _timeout_message(limits: Limits) -> str:
    return (
        f"cannot be read: it was stopped after {limits.idle_seconds:.0f} s without progress, or "
        f"{limits.total_seconds:.0f} s in all, which is more than a file of its size takes. It may be "
        "damaged or malicious. If it is sound, split it, or read it while the machine has less to do."
    )


def _protocol_error_message() -> str:
    return (
        "cannot be read: the process that reads files sent an answer that could not be understood. It may "
        f"be damaged or malicious; nothing of it was loaded. {_REWRITE_ADVICE}"
    )


class _WorkerPool:
    """The idle worker processes, shared by all threads."""

    def __init__(self) -> None:
        self._slots = BoundedSemaphore(MAX_PARALLEL_READS)
        self._lock = Lock()
        self._waiting: list[WorkerProcess] = []
        self._last_use = 0.0
        self._is_watched = False

    def read(self, request: ReadRequest, limits: Limits, progress: ReadProgress) -> Reading | Refused:
        with self._slots:
            worker = self._take_worker()
            try:
                return worker.read(request, limits, progress)[0]
            finally:
                self._give_back(worker)

    def shut_down(self) -> None:
        """End the idle workers."""
        with self._lock:
            while self._waiting:
                self._waiting.pop().stop()

    def _give_back(self, worker: WorkerProcess) -> None:
        """Keep a worker for the next file; replace one that has ended, so that it starts in the meantime."""
        with suppress(OSError, Refused), self._lock:
            self._last_use = time.monotonic()
            self._waiting.append(worker if worker.is_alive else WorkerProcess())
            if not self._is_watched:
                self._is_watched = True
                Thread(target=self._end_idle, name="calib-idle", daemon=True).start()

    def _end_idle(self) -> None:
        """Wait until no worker has been used for `IDLE_SECONDS`, and end them."""
        while (left := self._last_use + IDLE_SECONDS - time.monotonic()) > 0:
            time.sleep(left)
        with self._lock:
            self._is_watched = False
        self.shut_down()

    def _take_worker(self) -> WorkerProcess:
        with self._lock:
            while self._waiting:
                worker = self._waiting.pop()
                if worker.is_alive:
                    return worker
                worker.stop()
        try:
            return WorkerProcess()
        except OSError as error:
            raise Refused(
                f"The process that reads files cannot be started ({os_error_text(error)})."
            ) from None


_POOL = _WorkerPool()


def end_idle_workers() -> None:
    """End the workers that have no file to read; the next file starts another one."""
    _POOL.shut_down()


atexit.register(end_idle_workers)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.__init__)  # workers belong to the process that started them


def read_in_worker(
    path: Path,
    *,
    file: str,
    format_id: str | None,
    options: ReadOptions,
    gold_path: Path | None,
    root: Path | None,
    progress: ReadProgress,
) -> Reading:
    """Read a file in a worker process; the arguments are those of `calib_core.readers.read`.

    Raises
    ------
    Refused
        The file cannot be read, or reading it exceeded the limits or ended the worker.
    """
    with ExitStack() as stack:
        handles = [stack.enter_context(_open_file_handle(path, shorten(file, _MAX_NAME_CHARACTERS), root))]
        companions = existing_companions(path)
        handles += [
            stack.enter_context(_open_file_handle(companion, name, root))
            for name, companion in companions.items()
        ]
        if gold_path is not None:
            handles.append(stack.enter_context(_open_file_handle(gold_path, gold_path.name, None)))
        request = ReadRequest(
            file=file,
            file_names=(path.name, *companions),
            handles=tuple(handles),
            gold_name=None if gold_path is None else gold_path.name,
            format_id=format_id,
            options=options,
        )
        outcome = _POOL.read(request, _limits_for(handles), progress)
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


@contextmanager
def _open_file_handle(path: Path, file: str, root: Path | None) -> Generator[int]:
    handle = open_handle(path, file, root)
    try:
        yield handle
    finally:
        os.close(handle)


def _limits_for(handles: list[int]) -> Limits:
    stats = [os.fstat(handle) for handle in handles]
    size = sum(stat.st_size for stat in stats)
    stored = sum(getattr(stat, "st_blocks", stat.st_size) * _DISK_BLOCK_BYTES for stat in stats)
    return Limits.for_file(size, stored, is_archive=_begins_as_archive(handles[0]))


def _begins_as_archive(handle: int) -> bool:
    start = os.read(handle, MAGIC_BYTES)
    os.lseek(handle, 0, os.SEEK_SET)
    return is_packed(start)

"""How is a file read so that a bad one can hurt nobody?  In another process, which may be ended.

That process is kept from one file to the next, as starting it takes a while; after anything unclean another
takes its place. Whatever happens in it becomes a reading or a `Refused` here.
"""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.files.isolation import transport, wire
from calib_core.files.isolation.limits import MEMORY_VARIABLE, MIB, Limits
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import ReadProgress
from calib_core.problems import Refused
from calib_core.reader_process import PROGRAM, started, taken

START_TIMEOUT_SECONDS: Final = 60.0
"""Seconds in which a process has to have started, on a machine that is busy."""

_LOGGER: Final = logging.getLogger(__name__)

_REWRITE_ADVICE: Final = "Write or copy it again, or write it in another format."


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What is to be read.

    file: as messages call it; names: of the file and of those read with it, as on the disk; handles: theirs,
    and then that of the table of right answers, where `gold` names one; format, columns: as in `files.read`.
    """

    file: str
    file_names: tuple[str, ...]
    handles: tuple[int, ...]
    gold_name: str | None
    format_id: str | None
    column_roles: Mapping[str, str]


class WorkerProcess:
    """One process that reads files, one after another."""

    def __init__(self, program: str = PROGRAM) -> None:
        """Starts it, without waiting until it has; raises Refused where that cannot be done here.

        program: what it runs, with the socket's number and the packages' folders as arguments.
        """
        if not hasattr(socket, "send_fds"):
            raise Refused("Files are read in a process of their own, which takes Linux, macOS or WSL.")
        reader = taken() if program == PROGRAM else started(program)
        self._process, self._line = reader.process, reader.line
        self._started = False

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def stop(self, grace_seconds: float = 0.0) -> int:
        """Ends it and gives its exit status; patience: seconds it has to end by itself."""
        try:
            self._process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._line.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return self._process.wait()

    def read(self, request: ReadRequest, limits: Limits, progress: ReadProgress) -> tuple[Reading | Refused, bool]:
        """What comes of a file, and whether the process may be asked again: if not, it has been ended.

        Raises Refused where it never started, and whatever `progress` raises; then, too, it has been ended.
        """
        try:
            self._await_start()
            outcome, again = self._request_reading(request, limits, progress)
        except wire.PeerClosedError:
            return Refused(f"{request.file} {_exit_message(self.stop(grace_seconds=2.0), limits)}"), False
        except wire.DeadlineError:
            outcome, again = Refused(f"{request.file} {_timeout_message(limits)}"), False
        except (wire.ProtocolError, transport.InvalidReadingError) as error:
            _LOGGER.info("%s: %s", request.file, error)
            outcome, again = Refused(f"{request.file} {_protocol_error_message()}"), False
        except BaseException:  # of this process, which no longer waits for the answer
            self.stop()
            raise
        if not again:
            self.stop()
        return outcome, again

    def _await_start(self) -> None:
        """Waits until it can be asked; raises Refused where it never can."""
        if self._started:
            return
        try:
            kind, _ = wire.receive_message(self._line, time.monotonic() + START_TIMEOUT_SECONDS, 0)
        except (wire.PeerClosedError, wire.DeadlineError, wire.ProtocolError):
            kind = b""
        if kind != wire.READY_MESSAGE:
            raise Refused("The process that reads files did not start. Try again.")
        self._started = True

    def _request_reading(
        self, request: ReadRequest, limits: Limits, progress: ReadProgress
    ) -> tuple[Reading | Refused, bool]:
        told = {
            "file": request.file,
            "names": request.file_names,
            "gold": request.gold_name,
            "format": request.format_id,
            "columns": dict(request.column_roles),
            "memory": limits.memory_bytes,
            "seconds": limits.total_seconds,
        }
        wire.send_request(self._line, told, request.handles)
        end = time.monotonic() + limits.total_seconds
        while True:
            kind, body = wire.receive_message(self._line, min(end, time.monotonic() + limits.idle_seconds), 0)
            match kind, wire.parse_message(body):
                case wire.PROGRESS_MESSAGE, [int() | float() as share, str() as text]:
                    progress(float(share), text)
                case wire.TREE_MESSAGE, {"tree": tree}:
                    reading = transport.unpack_reading(tree, self._receive_blobs(limits, end).__next__)
                    return reading, not self._receive_done(limits, end)
                case wire.REFUSED_MESSAGE, {"why": str() as why, "last": bool() as last}:
                    return Refused(why), not last
                case wire.FAILED_MESSAGE, {"what": str() as what, "where": str() as where}:
                    _LOGGER.info("%s: %s", request.file, where)
                    return Refused(f"{request.file} {_failure_message(what, limits)}"), False
                case _:
                    raise wire.ProtocolError("a message out of turn")

    def _receive_done(self, limits: Limits, deadline: float) -> bool:
        """Whether the process ends, now that it has handed everything over."""
        kind, body = wire.receive_message(self._line, min(deadline, time.monotonic() + limits.idle_seconds), 0)
        match kind, wire.parse_message(body):
            case wire.DONE_MESSAGE, {"last": bool() as last}:
                return last
            case _:
                raise wire.ProtocolError("no end where one was told of")

    def _receive_blobs(self, limits: Limits, deadline: float) -> Iterator[bytearray]:
        left = limits.answer_bytes
        while True:
            kind, body = wire.receive_message(self._line, min(deadline, time.monotonic() + limits.idle_seconds), left)
            if kind != wire.BLOB_MESSAGE:
                raise wire.ProtocolError("no blob where one was told of")
            left -= len(body)
            yield body


def _exit_message(status: int, limits: Limits) -> str:
    """Why, after the file's name, where the process has ended by itself."""
    if status == -signal.SIGALRM:
        return _timeout_message(limits)
    if status in (-signal.SIGABRT, -signal.SIGKILL):  # what Rust does, and the system, when memory ends
        return _memory_message(limits)
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"status {status}"
    return (
        f"cannot be read: reading it ended the process that reads files ({name}). It may be damaged, or made "
        f"to do harm; nothing of it was loaded. {_REWRITE_ADVICE}"
    )


def _failure_message(error_name: str, limits: Limits) -> str:
    """Why, after the file's name, where reading it raised what is no refusal."""
    if error_name == "MemoryError":
        return _memory_message(limits)
    if error_name == "RecursionError":
        return f"cannot be read: what it holds is nested too deep. {_REWRITE_ADVICE}"
    return (
        f"cannot be read: reading it failed in a way that no file should bring about ({error_name}). It may be "
        f"damaged. {_REWRITE_ADVICE} If it is sound, this is a fault of the program."
    )


def _memory_message(limits: Limits) -> str:
    return (
        f"cannot be read: it needs more memory than the {limits.memory_bytes // MIB:,} MiB that reading a file of "
        f"its size may take. It may be damaged, or made to do harm. If it is sound, split it, or allow more: "
        f"set {MEMORY_VARIABLE} to a number of MiB."
    )


def _timeout_message(limits: Limits) -> str:
    return (
        f"cannot be read: it was stopped after {limits.idle_seconds:.0f} s without progress, or "
        f"{limits.total_seconds:.0f} s in all, which is more than a file of its size takes. It may be damaged, or "
        f"made to do harm. If it is sound, split it, or read it while the machine has less to do."
    )


def _protocol_error_message() -> str:
    return (
        f"cannot be read: the process that reads files gave no answer that can be understood. It may be "
        f"damaged, or made to do harm; nothing of it was loaded. {_REWRITE_ADVICE}"
    )

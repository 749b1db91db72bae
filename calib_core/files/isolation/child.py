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
from calib_core.files.isolation.limits import MEMORY, MIB, Limits
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import Progress
from calib_core.problems import Refused
from calib_core.reader_process import PROGRAM, started, taken

START: Final = 60.0
"""Seconds in which a process has to have started, on a machine that is busy."""

_LOG: Final = logging.getLogger(__name__)

_NEXT: Final = "Write or copy it again, or write it in another format."


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be read.

    file: as messages call it; names: of the file and of those read with it, as on the disk; handles: theirs,
    and then that of the table of right answers, where `gold` names one; format, columns: as in `files.read`.
    """

    file: str
    names: tuple[str, ...]
    handles: tuple[int, ...]
    gold: str | None
    format: str | None
    columns: Mapping[str, str]


class Child:
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
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def end(self, patience: float = 0.0) -> int:
        """Ends it and gives its exit status; patience: seconds it has to end by itself."""
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._line.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return self._process.wait()

    def read(self, request: Request, limits: Limits, progress: Progress) -> tuple[Reading | Refused, bool]:
        """What comes of a file, and whether the process may be asked again: if not, it has been ended.

        Raises Refused where it never started, and whatever `progress` raises; then, too, it has been ended.
        """
        try:
            self._await_start()
            outcome, again = self._asked(request, limits, progress)
        except wire.EndedError:
            return Refused(f"{request.file} {_ended(self.end(patience=2.0), limits)}"), False
        except wire.LateError:
            outcome, again = Refused(f"{request.file} {_late(limits)}"), False
        except (wire.BrokenTalkError, transport.NoReadingError) as error:
            _LOG.info("%s: %s", request.file, error)
            outcome, again = Refused(f"{request.file} {_broken()}"), False
        except BaseException:  # of this process, which no longer waits for the answer
            self.end()
            raise
        if not again:
            self.end()
        return outcome, again

    def _await_start(self) -> None:
        """Waits until it can be asked; raises Refused where it never can."""
        if self._started:
            return
        try:
            kind, _ = wire.take(self._line, time.monotonic() + START, 0)
        except (wire.EndedError, wire.LateError, wire.BrokenTalkError):
            kind = b""
        if kind != wire.READY:
            raise Refused("The process that reads files did not start. Try again.")
        self._started = True

    def _asked(
        self, request: Request, limits: Limits, progress: Progress
    ) -> tuple[Reading | Refused, bool]:
        told = {
            "file": request.file,
            "names": request.names,
            "gold": request.gold,
            "format": request.format,
            "columns": dict(request.columns),
            "memory": limits.memory,
            "seconds": limits.seconds,
        }
        wire.send_request(self._line, told, request.handles)
        end = time.monotonic() + limits.seconds
        while True:
            kind, body = wire.take(self._line, min(end, time.monotonic() + limits.quiet), 0)
            match kind, wire.parsed(body):
                case wire.PROGRESS, [int() | float() as share, str() as text]:
                    progress(float(share), text)
                case wire.TREE, {"tree": tree}:
                    reading = transport.unpacked(tree, self._blobs(limits, end).__next__)
                    return reading, not self._last(limits, end)
                case wire.REFUSED, {"why": str() as why, "last": bool() as last}:
                    return Refused(why), not last
                case wire.FAILED, {"what": str() as what, "where": str() as where}:
                    _LOG.info("%s: %s", request.file, where)
                    return Refused(f"{request.file} {_failed(what, limits)}"), False
                case _:
                    raise wire.BrokenTalkError("a message out of turn")

    def _last(self, limits: Limits, end: float) -> bool:
        """Whether the process ends, now that it has handed everything over."""
        kind, body = wire.take(self._line, min(end, time.monotonic() + limits.quiet), 0)
        match kind, wire.parsed(body):
            case wire.DONE, {"last": bool() as last}:
                return last
            case _:
                raise wire.BrokenTalkError("no end where one was told of")

    def _blobs(self, limits: Limits, end: float) -> Iterator[bytearray]:
        left = limits.answer
        while True:
            kind, body = wire.take(self._line, min(end, time.monotonic() + limits.quiet), left)
            if kind != wire.BLOB:
                raise wire.BrokenTalkError("no blob where one was told of")
            left -= len(body)
            yield body


def _ended(status: int, limits: Limits) -> str:
    """Why, after the file's name, where the process has ended by itself."""
    if status == -signal.SIGALRM:
        return _late(limits)
    if status in (-signal.SIGABRT, -signal.SIGKILL):  # what Rust does, and the system, when memory ends
        return _large(limits)
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"status {status}"
    return (
        f"cannot be read: reading it ended the process that reads files ({name}). It may be damaged, or made "
        f"to do harm; nothing of it was loaded. {_NEXT}"
    )


def _failed(what: str, limits: Limits) -> str:
    """Why, after the file's name, where reading it raised what is no refusal."""
    if what == "MemoryError":
        return _large(limits)
    if what == "RecursionError":
        return f"cannot be read: what it holds is nested too deep. {_NEXT}"
    return (
        f"cannot be read: reading it failed in a way that no file should bring about ({what}). It may be "
        f"damaged. {_NEXT} If it is sound, this is a fault of the program."
    )


def _large(limits: Limits) -> str:
    return (
        f"cannot be read: it needs more memory than the {limits.memory // MIB:,} MiB that reading a file of "
        f"its size may take. It may be damaged, or made to do harm. If it is sound, split it, or allow more: "
        f"set {MEMORY} to a number of MiB."
    )


def _late(limits: Limits) -> str:
    return (
        f"cannot be read: it was stopped after {limits.quiet:.0f} s without progress, or "
        f"{limits.seconds:.0f} s in all, which is more than a file of its size takes. It may be damaged, or "
        f"made to do harm. If it is sound, split it, or read it while the machine has less to do."
    )


def _broken() -> str:
    return (
        f"cannot be read: the process that reads files gave no answer that can be understood. It may be "
        f"damaged, or made to do harm; nothing of it was loaded. {_NEXT}"
    )

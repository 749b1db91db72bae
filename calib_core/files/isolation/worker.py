"""What does the process do that reads files from strangers, and within which limits?

It is started by `child`, with a socket to talk over. It opens nothing by name: it reads the handles that a
request brings, answers with plain data, and ends with the process that started it.
"""

from __future__ import annotations

import fcntl
import io
import os
import resource
import select
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Final

import polars as pl

from calib_core.files import parse
from calib_core.files.isolation import transport, wire
from calib_core.files.isolation.handles import only
from calib_core.files.reading import Reading
from calib_core.problems import CalibError

HANDLES: Final = wire.HANDLES + 64
"""Open files: those handed over, and as many again as a format may need beside them."""

GROWN: Final = 256 * 2**20
"""Resident bytes beyond those at the start after which the process makes room for a fresh one."""

PAUSE: Final = 0.1
"""Seconds between two messages of progress."""

GRACE: Final = 5
"""Seconds past its limit after which the process ends by itself, if nobody has ended it."""

FILE: Final = Path("/handed/file")
GOLD: Final = Path("/handed/gold")
"""Folders that are nowhere: what is handed over lies in them by name."""


def main(descriptor: int) -> None:
    """Answers requests until there are no more; descriptor: of the socket."""
    _end_with(0)
    line = socket.socket(fileno=descriptor)
    pl.read_csv(io.BytesIO(b"a\n1\n"))  # starts the library's threads, which take room of their own
    _fence()
    idle = _pages()
    wire.send(line, wire.READY)
    while (told := wire.take_request(line)) is not None:
        request, handles = told
        try:
            going_on = _answer(line, request, handles, idle)
        finally:
            for handle in handles:
                os.close(handle)
        if not going_on:
            return


def _end_with(lifeline: int) -> None:
    """Ends this process as soon as nobody holds the other end of the pipe, whatever it is doing then.

    The system sends the signal, so that neither a busy library nor the interpreter's lock can hold it up.
    (PR_SET_PDEATHSIG would end it with the thread that started it, and a server's threads come and go.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it is never written to: gone already
        raise SystemExit(1)


def _fence() -> None:
    """The limits that hold for every file."""
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    _lower(resource.RLIMIT_NOFILE, HANDLES)


def _limit(memory: int, seconds: float) -> None:
    """The limits that depend on the file: memory beyond what is taken now, and time."""
    _lower(resource.RLIMIT_AS, _pages()[0] + memory)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)


def _lower(limit: int, wished: int) -> None:
    """Sets a limit, as far as this process may."""
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (wished if hard == resource.RLIM_INFINITY else min(wished, hard), hard))


def _pages() -> tuple[int, int]:
    """Bytes of addresses that this process has, and of memory that is resident; (0, 0) where not told."""
    try:
        size, resident = Path("/proc/self/statm").read_text().split()[:2]
    except OSError:
        return 0, 0
    page = os.sysconf("SC_PAGESIZE")
    return int(size) * page, int(resident) * page


def _answer(line: socket.socket, request: dict[str, Any], handles: list[int], idle: tuple[int, int]) -> bool:
    """Reads one file and says what is in it; whether another may come."""
    try:
        _limit(request["memory"], request["seconds"])
        _hand_over(line, _read(line, request, handles))
        last = _pages()[1] > idle[1] + GROWN
        wire.send_json(line, wire.DONE, {"last": last})
    except CalibError as refusal:
        last = _pages()[1] > idle[1] + GROWN
        wire.send_json(line, wire.REFUSED, {"why": str(refusal), "last": last})
    except BaseException as error:  # noqa: BLE001  the edge: panics of libraries are no Exception
        where = "".join(traceback.format_exception(error))[-20_000:]
        wire.send_json(line, wire.FAILED, {"what": type(error).__name__, "where": where})
        return False
    signal.setitimer(signal.ITIMER_REAL, 0)
    return not last


def _hand_over(line: socket.socket, reading: Reading) -> None:
    """Sends a reading, of which nothing is kept here."""
    tree, blobs = transport.packed(reading)
    wire.send_json(line, wire.TREE, {"tree": tree})
    for blob in blobs:
        wire.send(line, wire.BLOB, blob)


def _read(line: socket.socket, request: dict[str, Any], handles: list[int]) -> Reading:
    names: list[str] = request["names"]
    paths = [FILE / name for name in names]
    gold = None
    if request["gold"] is not None:
        paths.append(gold := GOLD / request["gold"])
    said = 0.0

    def progress(share: float, text: str) -> None:
        nonlocal said
        if share in (0, 1) or time.monotonic() - said > PAUSE:
            said = time.monotonic()
            wire.send_json(line, wire.PROGRESS, [share, text])

    with only(dict(zip(paths, handles, strict=True))):
        return parse(
            paths[0],
            file=request["file"],
            format=request["format"],
            columns=request["columns"],
            beside={path.name: path for path in paths[1:] if path != gold},
            gold=gold,
            progress=progress,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))

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

from calib_core.errors import CalibError
from calib_core.readers import read_in_this_process
from calib_core.readers.file_access import allow_only
from calib_core.readers.format import Reading
from calib_core.readers.sandbox import protocol
from calib_core.readers.sandbox.protocol import pack_reading

MAX_OPEN_FILES: Final = protocol.MAX_HANDLES + 64
"""Open files: those handed over, and as many again as a format may need beside them."""

MAX_GROWTH_BYTES: Final = 256 * 2**20
"""Resident bytes beyond those at the start after which the process makes room for a fresh one."""

PROGRESS_INTERVAL_SECONDS: Final = 0.1
"""Seconds between two messages of progress."""

GRACE_SECONDS: Final = 5
"""Seconds past its limit after which the process ends by itself, if nobody has ended it."""

HANDED_FILES_FOLDER: Final = Path("/handed/file")
HANDED_GOLD_FOLDER: Final = Path("/handed/gold")
"""Folders that are nowhere: what is handed over lies in them by name."""


def main(descriptor: int) -> None:
    """Answers requests until there are no more; descriptor: of the socket."""
    _exit_when_closed(0)
    line = socket.socket(fileno=descriptor)
    pl.read_csv(io.BytesIO(b"a\n1\n"))  # starts the library's threads, which take room of their own
    _set_fixed_limits()
    idle = _memory_in_use()
    protocol.send_message(line, protocol.READY_MESSAGE)
    while (told := protocol.receive_request(line)) is not None:
        request, handles = told
        try:
            going_on = _answer_request(line, request, handles, idle)
        finally:
            for handle in handles:
                os.close(handle)
        if not going_on:
            return


def _exit_when_closed(lifeline: int) -> None:
    """Ends this process as soon as nobody holds the other end of the pipe, whatever it is doing then.

    The system sends the signal, so that neither a busy library nor the interpreter's lock can hold it up.
    (PR_SET_PDEATHSIG would end it with the thread that started it, and a server's threads come and go.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it is never written to: gone already
        raise SystemExit(1)


def _set_fixed_limits() -> None:
    """The limits that hold for every file."""
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    _lower_limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)


def _set_file_limits(memory: int, seconds: float) -> None:
    """The limits that depend on the file: memory beyond what is taken now, and time."""
    _lower_limit(resource.RLIMIT_AS, _memory_in_use()[0] + memory)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)


def _lower_limit(limit: int, value: int) -> None:
    """Sets a limit, as far as this process may."""
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _memory_in_use() -> tuple[int, int]:
    """Bytes of addresses that this process has, and of memory that is resident; (0, 0) where not told."""
    try:
        size, resident = Path("/proc/self/statm").read_text().split()[:2]
    except OSError:
        return 0, 0
    page = os.sysconf("SC_PAGESIZE")
    return int(size) * page, int(resident) * page


def _answer_request(
    connection: socket.socket, request: dict[str, Any], handles: list[int], idle_memory: tuple[int, int]
) -> bool:
    """Reads one file and says what is in it; whether another may come."""
    try:
        _set_file_limits(request["memory"], request["seconds"])
        _send_reading(connection, _read_request(connection, request, handles))
        last = _memory_in_use()[1] > idle_memory[1] + MAX_GROWTH_BYTES
        protocol.send_json(connection, protocol.DONE_MESSAGE, {"last": last})
    except CalibError as refusal:
        last = _memory_in_use()[1] > idle_memory[1] + MAX_GROWTH_BYTES
        protocol.send_json(connection, protocol.REFUSED_MESSAGE, {"why": str(refusal), "last": last})
    except BaseException as error:  # noqa: BLE001  the edge: panics of libraries are no Exception
        where = "".join(traceback.format_exception(error))[-20_000:]
        protocol.send_json(
            connection, protocol.FAILED_MESSAGE, {"what": type(error).__name__, "where": where}
        )
        return False
    signal.setitimer(signal.ITIMER_REAL, 0)
    return not last


def _send_reading(connection: socket.socket, reading: Reading) -> None:
    """Sends a reading, of which nothing is kept here."""
    tree, blobs = pack_reading(reading)
    protocol.send_json(connection, protocol.TREE_MESSAGE, {"tree": tree})
    for blob in blobs:
        protocol.send_message(connection, protocol.BLOB_MESSAGE, blob)


def _read_request(connection: socket.socket, request: dict[str, Any], handles: list[int]) -> Reading:
    names: list[str] = request["names"]
    paths = [HANDED_FILES_FOLDER / name for name in names]
    gold = None
    if request["gold"] is not None:
        paths.append(gold := HANDED_GOLD_FOLDER / request["gold"])
    said = 0.0

    def progress(share: float, text: str) -> None:
        nonlocal said
        if share in (0, 1) or time.monotonic() - said > PROGRESS_INTERVAL_SECONDS:
            said = time.monotonic()
            protocol.send_json(connection, protocol.PROGRESS_MESSAGE, [share, text])

    with allow_only(dict(zip(paths, handles, strict=True))):
        return read_in_this_process(
            paths[0],
            file=request["file"],
            format=request["format"],
            columns=request["columns"],
            companions={path.name: path for path in paths[1:] if path != gold},
            gold=gold,
            progress=progress,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The worker process: parses untrusted files, within limits set by the operating system.

`worker_pool` starts it with a socket. It opens nothing by name: it reads the handles that a request brings,
answers with plain data, and ends together with the process that started it.
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
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from calib_core.advice import set_surface
from calib_core.compiled import compile_elsewhere
from calib_core.errors import CalibError
from calib_core.readers import read_in_this_process
from calib_core.readers.file_access import allow_only
from calib_core.readers.format import Reading, ReadOptions
from calib_core.readers.sandbox import protocol
from calib_core.readers.sandbox.protocol import pack_reading

MAX_OPEN_FILES: Final = protocol.MAX_HANDLES + 64
"""Limit on open files: the handles of a request and what reading opens in addition."""

MAX_GROWTH_BYTES: Final = 256 * 2**20
"""Growth of resident memory since the start after which the process ends and a fresh one replaces it."""

PROGRESS_INTERVAL_SECONDS: Final = 0.1
"""Seconds between two progress messages."""

GRACE_SECONDS: Final = 5
"""Seconds past its limit after which the process ends by itself, in case its parent did not end it."""

HANDED_FILES_FOLDER: Final = Path("/handed/file")
HANDED_GOLD_FOLDER: Final = Path("/handed/gold")
"""Folders that do not exist; the files of a request get paths in them."""


def main(descriptor: int) -> None:
    """Answer requests on the socket with this file descriptor until there are no more."""
    _exit_when_closed(0)
    connection = socket.socket(fileno=descriptor)
    pl.read_csv(io.BytesIO(b"a\n1\n"))  # starts polars' threads now, so that they count as idle memory
    _set_fixed_limits()
    compile_elsewhere(partial(_ask_for_code, connection))
    idle = _memory_in_use()
    protocol.send_message(connection, protocol.READY_MESSAGE)
    while (received := protocol.receive_request(connection)) is not None:
        request, handles = received
        try:
            accepts_more = _answer_request(connection, request, handles, idle)
        finally:
            for handle in handles:
                os.close(handle)
        if not accepts_more:
            return


def _exit_when_closed(lifeline: int) -> None:
    """Make the system end this process as soon as the other end of the pipe is closed.

    The operating system sends a signal, so neither a busy library nor the interpreter's lock can delay it.
    (PR_SET_PDEATHSIG would end the process with the thread that started it, and a server's threads are
    short-lived.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # nothing is ever written: readable means already closed
        raise SystemExit(1)


def _set_fixed_limits() -> None:
    """Set the limits that hold for every file: it may write no file, dump no core, and open few files."""
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    _lower_limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)


def _set_file_limits(memory_bytes: int, seconds: float) -> None:
    """Set the limits that depend on the file: memory beyond the current use, and time."""
    _lower_limit(resource.RLIMIT_AS, _memory_in_use()[0] + memory_bytes)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)


def _lower_limit(limit: int, value: int) -> None:
    """Set a limit, at most to the hard limit of this process."""
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _memory_in_use() -> tuple[int, int]:
    """Return the virtual and the resident memory of this process in bytes; (0, 0) where unknown."""
    try:
        size, resident = Path("/proc/self/statm").read_text().split()[:2]
    except OSError:
        return 0, 0
    page = os.sysconf("SC_PAGESIZE")
    return int(size) * page, int(resident) * page


def _answer_request(
    connection: socket.socket, request: dict[str, Any], handles: list[int], idle_memory: tuple[int, int]
) -> bool:
    """Read one file and send the reading or the error; return whether another request may follow."""
    try:
        _set_file_limits(request["memory"], request["seconds"])
        _send_reading(connection, _read_request(connection, request, handles))
        is_last = _memory_in_use()[1] > idle_memory[1] + MAX_GROWTH_BYTES
        protocol.send_json(connection, protocol.DONE_MESSAGE, {"last": is_last})
    except CalibError as refusal:
        is_last = _memory_in_use()[1] > idle_memory[1] + MAX_GROWTH_BYTES
        protocol.send_json(connection, protocol.REFUSED_MESSAGE, {"why": str(refusal), "last": is_last})
    except BaseException as error:  # noqa: BLE001  the outermost level: Rust panics are not Exceptions
        where = "".join(traceback.format_exception(error))[-20_000:]
        name = "MemoryError" if isinstance(error, MemoryError) else type(error).__name__
        protocol.send_json(connection, protocol.FAILED_MESSAGE, {"what": name, "where": where})
        return False
    signal.setitimer(signal.ITIMER_REAL, 0)
    return not is_last


def _ask_for_code(connection: socket.socket, dtype: str) -> None:
    """Have the other side compile code, which this process may not write; the file's time stands still."""
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    protocol.send_json(connection, protocol.CODE_MESSAGE, dtype)
    protocol.receive_message(connection, None, 0)
    signal.setitimer(signal.ITIMER_REAL, left)


def _send_reading(connection: socket.socket, reading: Reading) -> None:
    """Send a reading; none of it stays in this process."""
    tree, blobs = pack_reading(reading)
    del reading  # the blobs have what is left to send
    protocol.send_json(connection, protocol.TREE_MESSAGE, {"tree": tree})
    for blob in blobs:
        protocol.send_message(connection, protocol.BLOB_MESSAGE, blob)


def _read_request(connection: socket.socket, request: dict[str, Any], handles: list[int]) -> Reading:
    names: list[str] = request["names"]
    wishes: dict[str, Any] = request["options"]
    paths = [HANDED_FILES_FOLDER / name for name in names]
    gold = None
    if request["gold"] is not None:
        paths.append(gold := HANDED_GOLD_FOLDER / request["gold"])
    set_surface(request["surface"])
    last_sent = 0.0

    def progress(share: float, text: str) -> None:
        nonlocal last_sent
        if share in (0, 1) or time.monotonic() - last_sent > PROGRESS_INTERVAL_SECONDS:
            last_sent = time.monotonic()
            protocol.send_json(connection, protocol.PROGRESS_MESSAGE, [share, text])

    with allow_only(dict(zip(paths, handles, strict=True))):
        return read_in_this_process(
            paths[0],
            file=request["file"],
            format=request["format"],
            options=ReadOptions(**wishes),
            companions={path.name: path for path in paths[1:] if path != gold},
            gold=gold,
            progress=progress,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""How is the process that reads files started?

This module imports no library, so the reader process can be started first: it loads what it needs for reading
while the main process loads what it needs for computing. The messages between the two are those of
`calib_core.readers.sandbox`.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PROGRAM: Final = (
    "import sys; sys.path.extend(sys.argv[2:]); from calib_core.readers.sandbox import worker; "
    "worker.main(int(sys.argv[1]))"
)
"""Runs the worker alone, in a Python that ignores environment variables and the working directory."""

_ENVIRONMENT: Final = {
    "POLARS_MAX_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
}
"""The environment: few threads, since each takes memory, and what polars frees given back to the system at
once. Of this process's variables, it holds only where compiled code is kept."""

_KEPT_VARIABLES: Final = ("NUMBA_CACHE_DIR",)

_LIBRARIES: Final = ("numpy", "polars", "pyarrow")


@dataclass(frozen=True, slots=True)
class ReaderProcess:
    """A process that reads files.

    Attributes
    ----------
    process : subprocess.Popen
        The process.
    connection : socket.socket
        This process's end of the connection.
    """

    process: subprocess.Popen[bytes]
    connection: socket.socket


_STARTED_AHEAD: Final[list[ReaderProcess]] = []


def start_worker(program: str = PROGRAM) -> ReaderProcess:
    """Start a new reader process, without waiting until it has loaded its libraries.

    Parameters
    ----------
    program : str
        Python code to run; its arguments are the socket's file descriptor and the folders of the packages.

    Raises
    ------
    OSError
        If the process cannot be started.
    """
    connection, other = socket.socketpair()
    with other:
        process = subprocess.Popen(  # noqa: S603  this program itself
            [sys.executable, "-I", "-B", "-c", program, str(other.fileno()), *_folders()],
            stdin=subprocess.PIPE,  # never written to; it closes when this process ends
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT | {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            cwd="/",
            pass_fds=[other.fileno()],
            start_new_session=True,  # Ctrl-C reaches this process only, which then ends that one
        )
    return ReaderProcess(process, connection)


@cache
def start_ahead() -> None:
    """Start the process that `take_worker` returns first, once; a failure is reported once it is needed."""
    if hasattr(socket, "send_fds"):
        with suppress(OSError):
            _STARTED_AHEAD.append(start_worker())
            atexit.register(end_unused)


def take_worker() -> ReaderProcess:
    """The process started ahead, otherwise a new one; raises OSError if that cannot be started."""
    while _STARTED_AHEAD:
        ahead = _STARTED_AHEAD.pop()
        if ahead.process.poll() is None:
            return ahead
        _end(ahead)  # a busy system may have ended it
    return start_worker()


def end_unused() -> None:
    """End a process that was started ahead and never used."""
    while _STARTED_AHEAD:
        _end(_STARTED_AHEAD.pop())


def _end(reader: ReaderProcess) -> None:
    reader.process.kill()
    reader.connection.close()
    reader.process.communicate()


def _folders() -> list[str]:
    """The folders that contain this package and the libraries it needs for reading."""
    here = Path(__file__).resolve().parents[1]
    specs = [find_spec(name) for name in _LIBRARIES]
    others = [Path(spec.origin).resolve().parents[1] for spec in specs if spec and spec.origin]
    return [str(folder) for folder in dict.fromkeys((here, *others))]

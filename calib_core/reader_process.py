"""How is the process started that reads files?  Without any library, so that it can be started first.

It then loads what reading takes while the process that asks loads what computing takes. What the two say to
each other is `files.isolation`'s.
"""

from __future__ import annotations

import atexit
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PROGRAM: Final = (
    "import sys; sys.path.extend(sys.argv[2:]); from calib_core.readers.sandbox import worker; "
    "worker.main(int(sys.argv[1]))"
)
"""Nothing but the worker, by a Python that heeds no variables and no folder it was started in."""

_ENVIRONMENT: Final = {"POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""All of it: few threads, as each takes room of its own, and nothing of what this process was told."""

_LIBRARIES: Final = ("numpy", "polars", "pyarrow")


@dataclass(frozen=True, slots=True)
class ReaderProcess:
    """A process that reads files, and the socket to talk to it over."""

    process: subprocess.Popen[bytes]
    line: socket.socket


_AHEAD: Final[list[ReaderProcess]] = []


def started(program: str = PROGRAM) -> ReaderProcess:
    """A new process; whether it has loaded all it needs is not waited for.

    program: what it runs, with the socket's number and the packages' folders as arguments. Raises OSError.
    """
    line, other = socket.socketpair()
    with other:
        process = subprocess.Popen(  # noqa: S603  this program itself
            [sys.executable, "-I", "-B", "-c", program, str(other.fileno()), *_folders()],
            stdin=subprocess.PIPE,  # never written to; it closes when this process ends
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
            pass_fds=[other.fileno()],
            start_new_session=True,  # Ctrl-C is said to this process, which then ends that one
        )
    return ReaderProcess(process, line)


def start_ahead() -> None:
    """Starts the process that will be `taken` first; where none can be, that is told when it is needed."""
    if not _AHEAD and hasattr(socket, "send_fds"):
        with suppress(OSError):
            _AHEAD.append(started())
            atexit.register(_end)


def taken() -> ReaderProcess:
    """The process that was started ahead, else a new one. Raises OSError."""
    return _AHEAD.pop() if _AHEAD else started()


def _end() -> None:
    """Ends the process that nobody took."""
    while _AHEAD:
        ahead = _AHEAD.pop()
        ahead.process.kill()
        ahead.line.close()
        ahead.process.communicate()


def _folders() -> list[str]:
    """The folders in which this package and its libraries lie."""
    here = Path(__file__).resolve().parents[1]
    specs = [find_spec(name) for name in _LIBRARIES]
    others = [Path(spec.origin).resolve().parents[1] for spec in specs if spec and spec.origin]
    return [str(folder) for folder in dict.fromkeys((here, *others))]

"""Starts the app as a person starts it, on a free port, and ends it again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import chromium

ROOT: Final = Path(__file__).resolve().parent.parent
HOST: Final = "127.0.0.1"
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
_SERVED: Final[dict[int, None]] = {}
"""Ports that servers of this process have had, in their order."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running `streamlit run`. `url` ends without a slash; `pid` is the server's own process."""

    url: str
    process: subprocess.Popen[bytes]
    logfile: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self) -> str:
        """What the server has written to its terminal so far."""
        return self.logfile.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """Ends the server and whatever it started. A second call does nothing."""
        if self.process.returncode is not None:
            return
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError):  # no process of the group is left, as usual
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()


class SharedServer:
    """One server for test after test, as a start costs as much as several pages: its folder changes."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "predictions"
        self._data.mkdir(parents=True)
        self._server = start(self._data, folder / "home")
        self._held = folder / "aside-0"
        self._places: dict[Callable[[Path], object] | None, Path] = {None: self._held}
        """Who filled a folder → where it lies while it is another's turn."""

    def holding(self, fill: Callable[[Path], object]) -> Server:
        """The server, in whose folder is what `fill` writes when it is first asked for, and nothing else."""
        if fill not in self._places:
            self._places[fill] = self._data.with_name(f"aside-{len(self._places)}")
            self._places[fill].mkdir()
            fill(self._places[fill])
        if self._held != self._places[fill]:
            self._data.rename(self._held)
            self._held = self._places[fill]
            self._held.rename(self._data)
        return self._server

    def stop(self) -> None:
        """Ends the server."""
        self._server.stop()


class Serve(Protocol):
    """Starts the app on a folder; None is the app's own default. Ended when the test is over."""

    def __call__(self, data: Path | None, *, app: Path = ROOT / "app.py") -> Server: ...


def start(
    data: Path | None,
    home: Path,
    app: Path = ROOT / "app.py",
    options: Sequence[str] = (),
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Server:
    """Starts `app` on the folder `data` (None: the app's own default) and waits until it answers.

    home: an empty folder that stands for the user's home, cache and temporary files, so that a test neither
    reads nor leaves anything in the real ones; options: more of Streamlit's own; variables: more of the
    environment. Raises RuntimeError with the server's own words if it does not come up.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(app)]
    command += [f"--server.port={port}", "--server.headless=true", "--server.fileWatcherType=none", *options]
    command += ["--", "--data", str(data)] if data is not None else []
    home.mkdir(parents=True, exist_ok=True)
    logfile = home / "server.log"
    with logfile.open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=app.parent,
            env=environment(home) | dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(f"http://{HOST}:{port}", process, logfile)
    try:
        wait_until_healthy(server, port)
    except BaseException:
        server.stop()
        raise
    return server


def environment(home: Path) -> dict[str, str]:
    """This process's environment with `home` for the user's folders, and no choice of data or threads."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    dropped = (
        "CALIB_",
        "STREAMLIT_",
        "POLARS_MAX_THREADS",  # the tests' own
        "OPENBLAS_NUM_THREADS",
        "PYTHONDONTWRITEBYTECODE",  # makes each start compile all anew
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home / "tmp")}
    drawing: dict[str, str] = {}
    with suppress(chromium.NoChromiumError):  # exports use the browser of the tests
        drawing["BROWSER_PATH"] = str(chromium.find())
    return drawing | kept | own | {"PYTHONUNBUFFERED": "1"}


def free_port() -> int:
    """A port of this machine that nothing listens on at the moment, one that served before if there is one.

    What a browser has of an address, it need not ask for again, nor compile: the app's scripts most of all.
    """
    for port in (*_SERVED, 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(port > 0))
            probe.bind((HOST, port))
            found = probe.getsockname()[1]
            _SERVED.setdefault(found)
            return found
    raise RuntimeError("no port of this machine is free")


def wait_until_healthy(server: Server, port: int) -> None:
    """Returns when the server says it is well; RuntimeError when it ended or `START_SECONDS` have passed."""
    deadline = time.monotonic() + START_SECONDS
    while server.process.poll() is None and time.monotonic() < deadline:
        if is_healthy(port):
            return
        time.sleep(0.05)
    raise RuntimeError(f"the app did not come up:\n{server.log()}")


def is_healthy(port: int) -> bool:
    """Whether the server answers its health question with 200."""
    connection = HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()

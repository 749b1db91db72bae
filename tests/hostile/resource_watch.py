"""What one import costs: wall time, memory of all its processes, requests."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import psutil

from memory_watch import family

EVERY_SECONDS: Final = 0.03
"""How often memory is looked at: a bomb of 1 GiB takes several times as long to unpack."""


NOBODY: Final = "127.0.0.1:9"
"""Where the manifest's addresses lead; the port of a `Port` stands in for it."""


class Port:
    """A port of this machine that counts who comes; nobody is answered."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.requests = 0
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self) -> None:
        with suppress(OSError):  # closed: the end
            while True:
                caller, _ = self._socket.accept()
                self.requests += 1
                caller.close()

    def close(self) -> None:
        """Frees the port."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


class Watch:
    """Looks at a process and all its children while a block runs.

    seconds: of wall time; extra_bytes: the most memory they held together above `idle`, where pages that two
    of them share are counted twice, and what ends before the first look, after `EVERY_SECONDS`, is not seen;
    requests: how many came to the port.
    """

    def __init__(self, pid: int, idle: int, port: Port) -> None:
        self.seconds = 0.0
        self.extra_bytes = 0
        self.address = port.address
        self._pid, self._idle, self._port = pid, idle, port
        self._before = port.requests
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    @property
    def requests(self) -> int:
        return self._port.requests - self._before

    def __enter__(self) -> Self:
        self._thread.start()
        self._start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._start
        self._over.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._over.wait(EVERY_SECONDS):  # most imports end before the first look
            self.extra_bytes = max(self.extra_bytes, resident(self._pid) - self._idle)


def resident(pid: int) -> int:
    """Bytes in memory of a process and all its children."""
    total = 0
    for one in _family(pid):
        with suppress(psutil.NoSuchProcess):
            total += psutil.Process(one).memory_info().rss
    return total


def _family(pid: int) -> list[int]:
    """A process and all its children; where Linux lists them, without a look at every other process."""
    if not Path("/proc/thread-self/children").exists():
        with suppress(psutil.NoSuchProcess):
            return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    return family(pid)

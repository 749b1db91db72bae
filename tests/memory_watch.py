"""How much memory the processes hold together that this one started, looked at while they run (Linux)."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

EVERY_SECONDS: Final = 0.005
"""How often memory is looked at: what is held for a shorter time may be missed."""

_PAGE: Final = os.sysconf("SC_PAGESIZE")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that processes hold together.

    own: pages that no file holds, each counted where it lies, as PSS counts them; files: pages of files,
    code above all, of the process that has most of them, since the others share them with it. PSS would count
    fewer of these while other programs run the same libraries.
    """

    own: int
    files: int

    @property
    def total(self) -> int:
        return self.own + self.files


def family(pid: int) -> list[int]:
    """A process, all that it has started and that still runs, and what these have started."""
    found = [pid]
    for one in found:  # it grows
        with suppress(OSError):
            for listed in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, listed.read_text().split())
    return found


def memory_held() -> Memory:
    """What the processes that this one started hold now."""
    own = files = 0
    for one in family(os.getpid())[1:]:
        with suppress(OSError):  # it has ended
            _, resident, of_files, *_ = map(int, Path(f"/proc/{one}/statm").read_text().split())
            own, files = own + resident - of_files, max(files, of_files)
    return Memory(own * _PAGE, files * _PAGE)


class MemoryWatch:
    """Looks at the processes that this one starts while a block runs, and keeps the most that they held."""

    def __init__(self) -> None:
        self.peak = Memory(0, 0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            self.peak = max(self.peak, memory_held(), key=lambda memory: memory.total)

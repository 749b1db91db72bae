"""Who reads a file, and what is handed over to them?

Here the file and what is read with it are opened, once and by name. From then on it is the handles that
count, in a process that is free at the moment.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final

from calib_core.files import archives, partners
from calib_core.files.isolation.child import Child, Request
from calib_core.files.isolation.handles import handle_of, reason
from calib_core.files.isolation.limits import Limits
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import Progress
from calib_core.problems import Refused, shorten

AT_ONCE: Final = 2
"""Files read at the same time; whoever comes then waits."""

_NAME: Final = 300
"""Characters of a name in a message that says that there is no such file."""

_BLOCK: Final = 512
"""Bytes of the blocks in which the system counts what a file takes on the disk."""


class _Crew:
    """The processes that wait for a file; shared by all threads."""

    def __init__(self) -> None:
        self._seats = BoundedSemaphore(AT_ONCE)
        self._lock = Lock()
        self._waiting: list[Child] = []

    def read(self, request: Request, limits: Limits, progress: Progress) -> Reading | Refused:
        with self._seats:
            child = self._one()
            try:
                return child.read(request, limits, progress)[0]
            finally:
                self._back(child)

    def dismiss(self) -> None:
        """Ends those that wait."""
        with self._lock:
            while self._waiting:
                self._waiting.pop().end()

    def _back(self, child: Child) -> None:
        """One that has ended is replaced at once, to have started by the time it is wanted."""
        with suppress(OSError, Refused), self._lock:
            self._waiting.append(child if child.alive else Child())

    def _one(self) -> Child:
        with self._lock:
            while self._waiting:
                child = self._waiting.pop()
                if child.alive:
                    return child
                child.end()
        try:
            return Child()
        except OSError as error:
            raise Refused(f"The process that reads files cannot be started ({reason(error)}).") from None


_CREW = _Crew()
atexit.register(_CREW.dismiss)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CREW.__init__)  # they serve the process that started them


def read_apart(
    path: Path,
    *,
    file: str,
    format_id: str | None,
    columns: Mapping[str, str],
    gold: Path | None,
    within: Path | None,
    progress: Progress,
) -> Reading:
    """What a file holds, read in another process; the arguments are those of `files.read`.

    Raises Refused, also where reading it took too much or ended that process.
    """
    with ExitStack() as stack:
        handles = [stack.enter_context(_open(path, shorten(file, _NAME), within))]
        beside = partners.read_with(path)
        handles += [stack.enter_context(_open(other, name, within)) for name, other in beside.items()]
        if gold is not None:
            handles.append(stack.enter_context(_open(gold, gold.name, None)))
        request = Request(
            file=file,
            names=(path.name, *beside),
            handles=tuple(handles),
            gold=None if gold is None else gold.name,
            format=format_id,
            columns=columns,
        )
        outcome = _CREW.read(request, _limits(handles), progress)
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


@contextmanager
def _open(path: Path, file: str, within: Path | None) -> Generator[int]:
    handle = handle_of(path, file, within)
    try:
        yield handle
    finally:
        os.close(handle)


def _limits(handles: list[int]) -> Limits:
    found = [os.fstat(handle) for handle in handles]
    size = sum(stat.st_size for stat in found)
    stored = sum(getattr(stat, "st_blocks", stat.st_size) * _BLOCK for stat in found)
    return Limits.of(size, stored, archive=_begins_as_archive(handles[0]))


def _begins_as_archive(handle: int) -> bool:
    start = os.read(handle, len(archives.MAGIC))
    os.lseek(handle, 0, os.SEEK_SET)
    return start == archives.MAGIC

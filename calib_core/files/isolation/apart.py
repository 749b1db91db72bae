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
from calib_core.files.isolation.child import WorkerProcess, ReadRequest
from calib_core.files.isolation.handles import open_handle, os_error_text
from calib_core.files.isolation.limits import Limits
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import ReadProgress
from calib_core.problems import Refused, shorten

MAX_PARALLEL_READS: Final = 2
"""Files read at the same time; whoever comes then waits."""

_MAX_NAME_CHARACTERS: Final = 300
"""Characters of a name in a message that says that there is no such file."""

_DISK_BLOCK_BYTES: Final = 512
"""Bytes of the blocks in which the system counts what a file takes on the disk."""


class _WorkerPool:
    """The processes that wait for a file; shared by all threads."""

    def __init__(self) -> None:
        self._seats = BoundedSemaphore(MAX_PARALLEL_READS)
        self._lock = Lock()
        self._waiting: list[WorkerProcess] = []

    def read(self, request: ReadRequest, limits: Limits, progress: ReadProgress) -> Reading | Refused:
        with self._seats:
            child = self._take_worker()
            try:
                return child.read(request, limits, progress)[0]
            finally:
                self._give_back(child)

    def shut_down(self) -> None:
        """Ends those that wait."""
        with self._lock:
            while self._waiting:
                self._waiting.pop().stop()

    def _give_back(self, worker: WorkerProcess) -> None:
        """One that has ended is replaced at once, to have started by the time it is wanted."""
        with suppress(OSError, Refused), self._lock:
            self._waiting.append(worker if worker.is_alive else WorkerProcess())

    def _take_worker(self) -> WorkerProcess:
        with self._lock:
            while self._waiting:
                child = self._waiting.pop()
                if child.is_alive:
                    return child
                child.stop()
        try:
            return WorkerProcess()
        except OSError as error:
            raise Refused(f"The process that reads files cannot be started ({os_error_text(error)}).") from None


_POOL = _WorkerPool()
atexit.register(_POOL.shut_down)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.__init__)  # they serve the process that started them


def read_in_worker(
    path: Path,
    *,
    file: str,
    format_id: str | None,
    columns: Mapping[str, str],
    gold_path: Path | None,
    root: Path | None,
    progress: ReadProgress,
) -> Reading:
    """What a file holds, read in another process; the arguments are those of `files.read`.

    Raises Refused, also where reading it took too much or ended that process.
    """
    with ExitStack() as stack:
        handles = [stack.enter_context(_open_file_handle(path, shorten(file, _MAX_NAME_CHARACTERS), root))]
        beside = partners.existing_companions(path)
        handles += [stack.enter_context(_open_file_handle(other, name, root)) for name, other in beside.items()]
        if gold_path is not None:
            handles.append(stack.enter_context(_open_file_handle(gold_path, gold_path.name, None)))
        request = ReadRequest(
            file=file,
            file_names=(path.name, *beside),
            handles=tuple(handles),
            gold_name=None if gold_path is None else gold_path.name,
            format_id=format_id,
            column_roles=columns,
        )
        outcome = _POOL.read(request, _limits_for(handles), progress)
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


@contextmanager
def _open_file_handle(path: Path, file: str, root: Path | None) -> Generator[int]:
    handle = open_handle(path, file, root)
    try:
        yield handle
    finally:
        os.close(handle)


def _limits_for(handles: list[int]) -> Limits:
    found = [os.fstat(handle) for handle in handles]
    size = sum(stat.st_size for stat in found)
    stored = sum(getattr(stat, "st_blocks", stat.st_size) * _DISK_BLOCK_BYTES for stat in found)
    return Limits.for_file(size, stored, is_archive=_begins_as_archive(handles[0]))


def _begins_as_archive(handle: int) -> bool:
    start = os.read(handle, len(archives.ZIP_MAGIC))
    os.lseek(handle, 0, os.SEEK_SET)
    return start == archives.ZIP_MAGIC

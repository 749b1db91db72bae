"""How much memory and time may reading a file take before it is stopped?

The limits grow with the size of the file on disk, not with sizes that its content claims. Memory is counted
beyond what the idle worker process uses.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, Self

MEMORY_VARIABLE: Final = "CALIB_READING_MIB"
"""The environment variable that overrides the memory limit, in MiB, for every file."""

READERS_VARIABLE: Final = "CALIB_READERS"
"""The environment variable that sets how many files are read at the same time."""

MIB: Final = 2**20
SMALL_MACHINE_BYTES: Final = 2 * 2**30
"""Memory of a machine or container below which one file is read at a time, otherwise two."""

_CONTAINER_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
BASE_MEMORY_MIB: Final = 640
"""MiB allowed for any file."""

MEMORY_PER_BYTE: Final = 4
"""Bytes allowed in addition for each byte of the file."""

MEMORY_PER_PACKED_BYTE: Final = 16
"""The same for small files, which may be well compressed, such as saved sums or columns of few values."""

MAX_PACKED_MEMORY_MIB: Final = 2048
"""Limit, in MiB, on what `MEMORY_PER_PACKED_BYTE` adds."""

BASE_ANSWER_MIB: Final = 256
"""MiB that the reading sent back may take, for any file."""

BASE_SECONDS: Final = 8.5
"""Seconds allowed without progress, and in total for an empty file, if the machine has nothing else to do."""

BYTES_PER_SECOND: Final = 10_000_000
"""Bytes that are read per second on a slow machine."""

MAX_SLOWDOWN: Final = 8.0
"""Factor up to which the limits on time grow where more processes want to run than there are cores."""

ARCHIVE_EXPANSION: Final = 16
"""Assumed ratio of unpacked to packed size of an archive or a compressed file, for the limit on time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may cost.

    Attributes
    ----------
    memory_bytes
        Memory that reading may take.
    answer_bytes
        Size of the reading that may come back.
    idle_seconds
        Time without any progress.
    total_seconds
        Time in total.
    """

    memory_bytes: int
    answer_bytes: int
    idle_seconds: float
    total_seconds: float

    @classmethod
    def for_file(cls, size_bytes: int, stored_bytes: int, *, is_archive: bool = False) -> Self:
        """Return the limits for files of a total size.

        Parameters
        ----------
        size_bytes
            Total length of the files.
        stored_bytes
            Bytes that they occupy on disk; the rest of a sparse file reads as zeros.
        is_archive
            Whether the first file is a ZIP archive, or compressed as a whole.
        """
        stored = min(size_bytes, stored_bytes)
        packed = min((MEMORY_PER_PACKED_BYTE - MEMORY_PER_BYTE) * stored, MAX_PACKED_MEMORY_MIB * MIB)
        memory = BASE_MEMORY_MIB * MIB + MEMORY_PER_BYTE * stored + packed + (size_bytes - stored)
        override = os.environ.get(MEMORY_VARIABLE, "")
        if override.isascii() and override.isdecimal() and 0 < int(override) < 2**40:
            memory = int(override) * MIB
        slowdown = _slowdown()
        seconds = size_bytes * (ARCHIVE_EXPANSION if is_archive else 1) / BYTES_PER_SECOND
        return cls(
            memory,
            BASE_ANSWER_MIB * MIB * memory // (BASE_MEMORY_MIB * MIB),
            (BASE_SECONDS + seconds / 10) * slowdown,
            (BASE_SECONDS + seconds) * slowdown,
        )


def parallel_reads() -> int:
    """Return how many files are read at the same time: as `READERS_VARIABLE` says, else as memory allows."""
    override = os.environ.get(READERS_VARIABLE, "")
    if override.isascii() and override.isdecimal() and int(override[:9]) > 0:
        return int(override[:9])
    return 1 if _machine_bytes() < SMALL_MACHINE_BYTES else 2


def _machine_bytes() -> float:
    """Return the memory of the container, else of the machine; inf where unknown."""
    sizes = [inf]
    with suppress(AttributeError, OSError, ValueError):  # a system that does not say
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"))
    for path in map(Path, _CONTAINER_LIMITS):
        with suppress(OSError, ValueError):  # no such limit, or "max"
            sizes.append(int(path.read_text(encoding="ascii")))
    return min(sizes)


def _slowdown() -> float:
    """Return how many processes of the last minute share a core, from 1 to `MAX_SLOWDOWN`."""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):  # a system that does not count
        return 1.0
    return min(max(1.0, load / (os.cpu_count() or 1)), MAX_SLOWDOWN)

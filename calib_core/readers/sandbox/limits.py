"""What may reading a file cost, in memory and in time, before it is stopped?

Small files, whatever they claim of themselves, may cost what a small file can cost; a large one may cost
more in proportion. Memory is what the process that reads takes beyond what it takes idle.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Self

MEMORY_VARIABLE: Final = "CALIB_READING_MIB"
"""The environment variable that says otherwise how many MiB reading may take, whatever the file."""

MIB: Final = 2**20
BASE_MEMORY_MIB: Final = 640
"""MiB that any file may take."""

MEMORY_PER_BYTE: Final = 4
"""How many times its size it may take beside that."""

MEMORY_PER_PACKED_BYTE: Final = 16
"""The same of a file so small that being packed well, as sums and columns of few values are, is no burden."""

MAX_PACKED_MEMORY_MIB: Final = 2048
"""MiB that may come of that."""

BASE_ANSWER_MIB: Final = 256
"""MiB that what comes back may take, of any file."""

BASE_SECONDS: Final = 8.5
"""Without a sign of progress, and in all for a file of no size."""

BYTES_PER_SECOND: Final = 10_000_000

ARCHIVE_EXPANSION: Final = 16
"""How many times its size what lies in an archive is taken for, as long as time is concerned."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost.

    memory: bytes that reading may take; answer: bytes that may come back; quiet: seconds without any
    progress; seconds: in all.
    """

    memory_bytes: int
    answer_bytes: int
    idle_seconds: float
    total_seconds: float

    @classmethod
    def for_file(cls, size_bytes: int, stored_bytes: int, *, is_archive: bool = False) -> Self:
        """For files of `size` bytes, of which `stored` take room on the disk: the rest is a hole."""
        there = min(size_bytes, stored_bytes)
        packed = min((MEMORY_PER_PACKED_BYTE - MEMORY_PER_BYTE) * there, MAX_PACKED_MEMORY_MIB * MIB)
        memory = BASE_MEMORY_MIB * MIB + MEMORY_PER_BYTE * there + packed + (size_bytes - there)
        told = os.environ.get(MEMORY_VARIABLE, "")
        if told.isascii() and told.isdecimal() and 0 < int(told) < 2**40:
            memory = int(told) * MIB
        slow = size_bytes * (ARCHIVE_EXPANSION if is_archive else 1) / BYTES_PER_SECOND
        return cls(
            memory,
            BASE_ANSWER_MIB * MIB * memory // (BASE_MEMORY_MIB * MIB),
            BASE_SECONDS + slow / 10,
            BASE_SECONDS + slow,
        )

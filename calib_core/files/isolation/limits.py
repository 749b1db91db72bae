"""What may reading a file cost, in memory and in time, before it is stopped?

Small files, whatever they claim of themselves, may cost what a small file can cost; a large one may cost
more in proportion. Memory is what the process that reads takes beyond what it takes idle.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Self

MEMORY: Final = "CALIB_READING_MIB"
"""The environment variable that says otherwise how many MiB reading may take, whatever the file."""

MIB: Final = 2**20
ROOM: Final = 640
"""MiB that any file may take."""

TIMES: Final = 4
"""How many times its size it may take beside that."""

PACKED: Final = 16
"""The same of a file so small that being packed well, as sums and columns of few values are, is no burden."""

PACKED_MOST: Final = 2048
"""MiB that may come of that."""

ANSWER: Final = 256
"""MiB that what comes back may take, of any file."""

SECONDS: Final = 8.5
"""Without a sign of progress, and in all for a file of no size."""

BYTES_A_SECOND: Final = 10_000_000

UNPACKED: Final = 16
"""How many times its size what lies in an archive is taken for, as long as time is concerned."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost.

    memory: bytes that reading may take; answer: bytes that may come back; quiet: seconds without any
    progress; seconds: in all.
    """

    memory: int
    answer: int
    quiet: float
    seconds: float

    @classmethod
    def of(cls, size: int, stored: int, *, archive: bool = False) -> Self:
        """For files of `size` bytes, of which `stored` take room on the disk: the rest is a hole."""
        there = min(size, stored)
        packed = min((PACKED - TIMES) * there, PACKED_MOST * MIB)
        memory = ROOM * MIB + TIMES * there + packed + (size - there)
        told = os.environ.get(MEMORY, "")
        if told.isascii() and told.isdecimal() and 0 < int(told) < 2**40:
            memory = int(told) * MIB
        slow = size * (UNPACKED if archive else 1) / BYTES_A_SECOND
        return cls(memory, ANSWER * MIB * memory // (ROOM * MIB), SECONDS + slow / 10, SECONDS + slow)

"""What the C library keeps of the memory that is no longer used, so that it need not ask the system again.

Only glibc keeps much of it, and only glibc can be told; elsewhere these functions do nothing.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Final

MAX_ARENAS: Final = 2
"""Number of arenas that threads share. By default each thread, up to eight of them a core, has memory of its
own that no other one uses again."""

_M_ARENA_MAX: Final = -8
_NO_GLIBC: Final = (AttributeError, OSError, TypeError)


def limit_arenas() -> None:
    """Have all threads that start from now on share `MAX_ARENAS` arenas."""
    with suppress(*_NO_GLIBC):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, MAX_ARENAS)


def give_back_unused() -> None:
    """Give the memory that is no longer used back to the system."""
    with suppress(*_NO_GLIBC):
        ctypes.CDLL(None).malloc_trim(0)

"""Memory goes back to the system although something behind it in the heap is still used (glibc)."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from calib_core.allocator import give_back_unused


def held() -> int:
    """Bytes of resident memory of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps it and can be told")
def test_what_is_unused_is_given_back() -> None:
    blocks = [bytes(1_000) for _ in range(60_000)]
    kept = blocks[::1_000]
    del blocks
    before = held()
    give_back_unused()
    assert held() < before - 20_000_000
    assert len(kept) == 60

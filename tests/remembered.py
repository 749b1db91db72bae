"""Which files has this process read already, whatever their folder?

A server reads a file once for all who come; a test has a folder of its own, in which most files are those of
another test, byte for byte. What they are read as is worked out once here, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import Final

from calib_core.readers import companions
from calib_core.results.files import FileReport
from pages.state import cache
from pages.state.cache import ListedFile
from pages.state.mappings import FileMapping

LARGEST: Final = 8_000_000
"""Bytes of a file that is remembered."""

_known: Final[dict[Hashable, FileReport]] = {}
_read: Final = cache._read_report


def report(one: ListedFile, wish: FileMapping, progress: Callable[[float, str], None]) -> FileReport:
    """What `pages.state.cache` reads; of the same name, bytes, companions and wish: what it read before."""
    known_by = _known_by(one, wish)
    if known_by is None:
        return _read(one, wish, progress)
    if known_by not in _known:
        _known[known_by] = _read(one, wish, progress)
    return _known[known_by]


def _known_by(one: ListedFile, wish: FileMapping) -> Hashable:
    """All that reading the file rests on; None where that is more than the bytes of plain files."""
    together = {
        "": one.path,
        **companions.existing_companions(one.path),
        **({"gold": one.gold} if one.gold else {}),
    }
    if not all(_is_plain(path) for path in together.values()):
        return None
    contents = [(name, path.name, _digest(path)) for name, path in sorted(together.items())]
    return one.name, replace(wish, gold=None), bool(wish.gold), tuple(contents)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()

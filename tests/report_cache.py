"""Reports on files that this process has read already, whatever their folder.

A server reads a file once for all sessions; each test has its own folder, in which most files are identical
to those of other tests. This module therefore reads identical files only once, and gives them one version, by
which the app knows what it has computed of them.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import Final

from calib_core.readers import companions
from calib_core.results.files import FileReport
from pages.state import cache
from pages.state.cache import FileState, ListedFile
from pages.state.mappings import FileMapping

LARGEST: Final = 8_000_000
"""Bytes of a file that is remembered."""

_known: Final[dict[Hashable, FileReport]] = {}
_read: Final = cache._read_report
_version: Final = cache._file_version


def report(one: ListedFile, mapping: FileMapping, progress: Callable[[float, str], None]) -> FileReport:
    """Reads as `pages.state.cache` does, once for each name, content, companions and mapping."""
    known_by = _known_by(one, mapping)
    if known_by is None:
        return _read(one, mapping, progress)
    if known_by not in _known:
        _known[known_by] = _read(one, mapping, progress)
    return _known[known_by]


def version(path: Path) -> FileState:
    """A file's version as in `pages.state.cache`, with a hash of the content for the time of change."""
    found = _version(path)
    return (_hashed(path, *found), found[1]) if _is_plain(path) else found


@functools.cache
def _hashed(path: Path, changed: int, size: int) -> int:
    """A number for the content; read once for each path, time of change and size."""
    assert (changed, size) != cache._MISSING_VERSION
    return int.from_bytes(_digest(path)[:8])


def _known_by(one: ListedFile, mapping: FileMapping) -> Hashable:
    """All that reading the file rests on; None where that is more than the bytes of plain files."""
    together = {
        "": one.path,
        **companions.existing_companions(one.path),
        **({"gold": one.gold} if one.gold else {}),
        **({"corrections": one.corrections} if one.corrections else {}),
    }
    if not all(_is_plain(path) for path in together.values()):
        return None
    contents = [(name, path.name, _digest(path)) for name, path in sorted(together.items())]
    tables = bool(mapping.gold), bool(mapping.corrections)
    return one.name, replace(mapping, gold=None, corrections=None), tables, tuple(contents)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()

"""Which files of a folder may hold predictions, and how is one of them opened?"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from calib_core.files.isolation.handles import LEADS_OUT, handle_of, reason, unread
from calib_core.files.partners import is_partner
from calib_core.problems import Refused

PASSED_OVER: Final = frozenset({"manifest.json"})


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds.

    files: those that may hold predictions, sorted by their path below it; passed_over: what looks like one
    and is not read, path → why, as a sentence that names it by its path below the folder.
    """

    files: tuple[Path, ...]
    passed_over: Mapping[Path, str]


def scan(folder: Path) -> tuple[Path, ...]:
    """The files of `listing`; raises as it does."""
    return listing(folder).files


def listing(folder: Path) -> Listing:
    """The regular files in a folder and its subfolders, and what is passed over.

    Nothing is said of hidden files and folders, README*, *.md and MANIFEST.json, nor of what is read with
    the array beside it (X.target.npy of X.probs.npy). A link is followed only where it stays inside the
    folder, and no folder is entered twice. Raises Refused where there is no such folder.
    """
    try:
        top = folder.resolve(strict=True)
        pending = _children(folder)
    except (OSError, RuntimeError, ValueError) as error:
        name = folder.name or str(folder)
        raise Refused(f"{name} is no folder that can be opened ({reason(error)}).") from None
    found: list[Path] = []
    passed_over: dict[Path, str] = {}
    entered = {top}
    while pending:
        path = pending.pop()
        if _unspoken(path.name):
            continue
        real, why = _inside(path, top)
        if real is None:
            passed_over[path] = f"{path.relative_to(folder).as_posix()} {why}"
        elif real.is_dir():
            if real not in entered:
                entered.add(real)
                pending.extend(_children_or_none(path))
        elif not stat.S_ISREG(mode := _mode(real)):
            passed_over[path] = f"{path.relative_to(folder).as_posix()}: {unread(mode)}"
        elif not is_partner(path):
            found.append(path)
    return Listing(tuple(found), passed_over)


def content(path: Path, file: str) -> bytes:
    """All bytes of a regular file. Raises Refused, naming it `file`, where there is none to be read."""
    with opened(path, file) as stream:
        return stream.read()


def beginning(path: Path, file: str, size: int) -> bytes:
    """The first bytes of a regular file, `size` of them where it has so many; raises as `content`."""
    with opened(path, file) as stream:
        return stream.read(size)


@contextmanager
def opened(path: Path, file: str) -> Generator[BinaryIO]:
    """A regular file to read from. Raises Refused, naming it `file`, where there is none to be read.

    It is opened without waiting: a named pipe would keep a reader for ever.
    """
    handle = handle_of(path, file)
    try:
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream
    except OSError as error:
        raise Refused(f"{file} cannot be read ({reason(error)}).") from None
    finally:
        os.close(handle)


def _children(folder: Path) -> list[Path]:
    """What a folder holds, the last name first."""
    return sorted(folder.iterdir(), reverse=True)


def _children_or_none(folder: Path) -> list[Path]:
    try:
        return _children(folder)
    except OSError:
        return []


def _inside(path: Path, top: Path) -> tuple[Path | None, str]:
    """Where a path leads; or None, and why it is not followed."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a link to nowhere, or round in a circle
        return None, "is a link that leads nowhere."
    return (real, "") if real.is_relative_to(top) else (None, LEADS_OUT)


def _unspoken(name: str) -> bool:
    """Whether nobody takes a file or folder of that name for predictions."""
    low = name.lower()
    return low.startswith((".", "readme")) or low.endswith(".md") or low in PASSED_OVER


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:  # gone since the folder was listed
        return 0

"""Which files of a folder may hold predictions, and how is one of them opened?"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from calib_core.files.partners import is_partner
from calib_core.problems import Refused

PASSED_OVER: Final = frozenset({"manifest.json"})


def scan(folder: Path) -> tuple[Path, ...]:
    """The regular files in a folder and its subfolders, sorted by their path below it.

    Hidden files and folders, README*, *.md and MANIFEST.json are passed over, and so is what is read
    with the array beside it (X.target.npy of X.probs.npy); a link is followed only where it stays
    inside the folder, and no folder is entered twice. Raises Refused where there is
    no such folder.
    """
    try:
        top = folder.resolve(strict=True)
        pending = _children(folder)
    except (OSError, RuntimeError) as error:
        name = folder.name or str(folder)
        raise Refused(f"{name} is no folder that can be opened ({_reason(error)}).") from None
    found: list[Path] = []
    entered = {top}
    while pending:
        path = pending.pop()
        if path.name.startswith(".") or not (real := _inside(path, top)):
            continue
        if real.is_dir():
            if real not in entered:
                entered.add(real)
                pending.extend(_children_or_none(path))
        elif _may_hold(path):
            found.append(path)
    return tuple(found)


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
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise Refused(f"{file} cannot be opened ({_reason(error)}).") from None
    try:
        with os.fdopen(handle, "rb", closefd=False) as stream:
            _check_regular(os.fstat(handle).st_mode, file)
            yield stream
    except OSError as error:
        raise Refused(f"{file} cannot be read ({_reason(error)}).") from None
    finally:
        os.close(handle)


def _check_regular(mode: int, file: str) -> None:
    """Raises Refused for whatever is no regular file."""
    if not stat.S_ISREG(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "what is no regular file"
        raise Refused(f"{file}: {kind} cannot be read: save it to a file first.")


def _children(folder: Path) -> list[Path]:
    """What a folder holds, the last name first."""
    return sorted(folder.iterdir(), reverse=True)


def _children_or_none(folder: Path) -> list[Path]:
    try:
        return _children(folder)
    except OSError:
        return []


def _inside(path: Path, top: Path) -> Path | None:
    """Where a path leads, None where that is outside `top` or nowhere."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a link to nowhere, or round in a circle
        return None
    return real if real.is_relative_to(top) else None


def _may_hold(path: Path) -> bool:
    name = path.name.lower()
    if name.startswith("readme") or name.endswith(".md") or name in PASSED_OVER:
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode) and not is_partner(path)
    except OSError:
        return False


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)

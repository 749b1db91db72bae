"""Which files may be opened here, and how is one opened without waiting and without being led astray?

A file is opened once, where its name was given, and from then on it is its handle that is meant. The process
that reads what is in files has been handed handles (`only`) and opens nothing by a name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from calib_core.problems import Refused

_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a named pipe would keep its reader for ever
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class _Open:
    """handed: path → handle, where only those may be read; None where this process opens files by name."""

    handed: Mapping[Path, int] | None = None


@contextmanager
def only(handed: Mapping[Path, int]) -> Generator[None]:
    """Within it no file can be opened but these, each by the path it is handed over under."""
    before, _Open.handed = _Open.handed, dict(handed)
    try:
        yield
    finally:
        _Open.handed = before


def is_there(path: Path) -> bool:
    """Whether there is a file of that name to be read."""
    return path.is_file() if _Open.handed is None else path in _Open.handed


def beside(path: Path, partner: Path) -> bool:
    """Whether the partner is a file in the other's folder, links followed: none may lead elsewhere."""
    if _Open.handed is not None:
        return partner in _Open.handed and partner.parent == path.parent
    try:
        folders = (path.parent.resolve(), path.resolve().parent)
        return partner.is_file() and partner.resolve().parent in folders
    except (OSError, RuntimeError, ValueError):
        return False


def handle_of(path: Path, file: str, within: Path | None = None) -> int:
    """A new handle to a regular file, to be closed by whoever asked for it.

    file: as messages call it; within: a folder out of which no link may lead. Raises Refused where there is
    no regular file, or it lies elsewhere.
    """
    if _Open.handed is not None:
        return _again(path, file, _Open.handed)
    try:
        real = path if within is None else path.resolve(strict=True)
        if within is not None and not real.is_relative_to(within.resolve(strict=True)):
            raise Refused(f"{file} {LEADS_OUT}")
        _check_regular(real.stat().st_mode, file)  # to open a device may already set something off
        handle = os.open(real, _FLAGS | (0 if within is None else getattr(os, "O_NOFOLLOW", 0)))
    except RuntimeError:
        raise Refused(f"{file} {NOWHERE}") from None
    except (OSError, ValueError) as error:
        raise Refused(f"{file} cannot be opened ({reason(error)}).") from None
    try:
        _check_regular(os.fstat(handle).st_mode, file)
    except Refused:
        os.close(handle)
        raise
    return handle


LEADS_OUT: Final = "leads out of the folder, and only what lies in it is read: copy the file itself there."
NOWHERE: Final = "is a link that leads nowhere."


def _again(path: Path, file: str, handed: Mapping[Path, int]) -> int:
    """A handle of its own, with a place of its own in the file, to what was handed over."""
    if path not in handed:
        raise Refused(f"{file} cannot be opened (it was not handed over to be read).")
    try:
        handle = os.open(f"/dev/fd/{handed[path]}", _FLAGS)
    except OSError:  # no such folder here, or the file's owner has closed it to others since
        handle = os.dup(handed[path])
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _check_regular(mode: int, file: str) -> None:
    """Raises Refused for whatever is no regular file."""
    if stat.S_ISDIR(mode):
        raise Refused(f"{file} cannot be opened (it is a folder): name a file in it.")
    if not stat.S_ISREG(mode):
        raise Refused(f"{file}: {unread(mode)}")


def unread(mode: int) -> str:
    """Why what has this mode is not read, after its name."""
    kind = "what is no regular file"
    if stat.S_ISFIFO(mode):
        kind = "a pipe"
    elif stat.S_ISSOCK(mode):
        kind = "a socket"
    elif stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        kind = "a device"
    return f"{kind} cannot be read: save it to a file first."


def reason(error: Exception) -> str:
    """What the system says of a failure, without the path."""
    return getattr(error, "strerror", None) or "no file can have this name"

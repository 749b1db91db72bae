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

from calib_core.errors import Refused

_OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a named pipe would keep its reader for ever
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class _FileAccess:
    """handed: path → handle, where only those may be read; None where this process opens files by name."""

    allowed_handles: Mapping[Path, int] | None = None


@contextmanager
def allow_only(handles: Mapping[Path, int]) -> Generator[None]:
    """Within it no file can be opened but these, each by the path it is handed over under."""
    before, _FileAccess.allowed_handles = _FileAccess.allowed_handles, dict(handles)
    try:
        yield
    finally:
        _FileAccess.allowed_handles = before


def file_exists(path: Path) -> bool:
    """Whether there is a file of that name to be read."""
    return path.is_file() if _FileAccess.allowed_handles is None else path in _FileAccess.allowed_handles


def is_in_same_folder(path: Path, companion: Path) -> bool:
    """Whether the partner is a file in the other's folder, links followed: none may lead elsewhere."""
    if _FileAccess.allowed_handles is not None:
        return companion in _FileAccess.allowed_handles and companion.parent == path.parent
    try:
        folders = (path.parent.resolve(), path.resolve().parent)
        return companion.is_file() and companion.resolve().parent in folders
    except (OSError, RuntimeError, ValueError):
        return False


def open_handle(path: Path, file: str, root: Path | None = None) -> int:
    """A new handle to a regular file, to be closed by whoever asked for it.

    file: as messages call it; within: a folder out of which no link may lead. Raises Refused where there is
    no regular file, or it lies elsewhere.
    """
    if _FileAccess.allowed_handles is not None:
        return _reopen_handle(path, file, _FileAccess.allowed_handles)
    try:
        real = path if root is None else path.resolve(strict=True)
        if root is not None and not real.is_relative_to(root.resolve(strict=True)):
            raise Refused(f"{file} {LINK_LEAVES_FOLDER}")
        _require_regular_file(real.stat().st_mode, file)  # to open a device may already set something off
        handle = os.open(real, _OPEN_FLAGS | (0 if root is None else getattr(os, "O_NOFOLLOW", 0)))
    except RuntimeError:
        raise Refused(f"{file} {BROKEN_LINK}") from None
    except (OSError, ValueError) as error:
        raise Refused(f"{file} cannot be opened ({os_error_text(error)}).") from None
    try:
        _require_regular_file(os.fstat(handle).st_mode, file)
    except Refused:
        os.close(handle)
        raise
    return handle


LINK_LEAVES_FOLDER: Final = (
    "leads out of the folder, and only what lies in it is read: copy the file itself there."
)
BROKEN_LINK: Final = "is a link that leads nowhere."


def _reopen_handle(path: Path, file: str, handles: Mapping[Path, int]) -> int:
    """A handle of its own, with a place of its own in the file, to what was handed over."""
    if path not in handles:
        raise Refused(f"{file} cannot be opened (it was not handed over to be read).")
    try:
        handle = os.open(f"/dev/fd/{handles[path]}", _OPEN_FLAGS)
    except OSError:  # no such folder here, or the file's owner has closed it to others since
        handle = os.dup(handles[path])
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _require_regular_file(mode: int, file: str) -> None:
    """Raises Refused for whatever is no regular file."""
    if stat.S_ISDIR(mode):
        raise Refused(f"{file} cannot be opened (it is a folder): name a file in it.")
    if not stat.S_ISREG(mode):
        raise Refused(f"{file}: {not_regular_message(mode)}")


def not_regular_message(mode: int) -> str:
    """Why what has this mode is not read, after its name."""
    kind = "what is no regular file"
    if stat.S_ISFIFO(mode):
        kind = "a pipe"
    elif stat.S_ISSOCK(mode):
        kind = "a socket"
    elif stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        kind = "a device"
    return f"{kind} cannot be read: save it to a file first."


def os_error_text(error: Exception) -> str:
    """What the system says of a failure, without the path."""
    return getattr(error, "strerror", None) or "no file can have this name"

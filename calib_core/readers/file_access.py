"""Opens regular files by name, or from handles that another process passed on.

A file is opened once, in the process that was given its name; from then on only its handle is used. The
worker process that parses files is given handles (`allow_only`) and opens nothing by name.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from calib_core.errors import Refused

LINK_LEAVES_FOLDER: Final = (
    "leads out of the folder, but only files in the folder are read: copy the file itself there."
)
BROKEN_LINK: Final = "is a link that leads nowhere."

_OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # opening a named pipe would otherwise wait for a writer, forever
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


SETTLED_SECONDS: Final = 2.0
"""Age from which times tell a file or folder from a later version, also on disks with coarse clocks."""


class _FileAccess:
    """What this process may open.

    Attributes
    ----------
    allowed_handles
        Path → handle of the only files that may be read; None if this process opens files by name.
    """

    allowed_handles: Mapping[Path, int] | None = None


@contextmanager
def allow_only(handles: Mapping[Path, int]) -> Generator[None]:
    """Allow only these files to be opened inside the `with` block, each under the path it is mapped from."""
    before, _FileAccess.allowed_handles = _FileAccess.allowed_handles, dict(handles)
    try:
        yield
    finally:
        _FileAccess.allowed_handles = before


def is_settled(status: os.stat_result) -> bool:
    """Return whether a later change would show in the times of this file or folder, which lie in the past."""
    return time.time() - max(status.st_mtime, status.st_ctime) > SETTLED_SECONDS


def file_exists(path: Path) -> bool:
    """Return whether there is a readable file of that name."""
    return path.is_file() if _FileAccess.allowed_handles is None else path in _FileAccess.allowed_handles


def is_in_same_folder(path: Path, companion: Path) -> bool:
    """Return whether `companion` is a file in the folder of `path`, with links followed."""
    if _FileAccess.allowed_handles is not None:
        return companion in _FileAccess.allowed_handles and companion.parent == path.parent
    try:
        folders = (path.parent.resolve(), path.resolve().parent)
        return companion.is_file() and companion.resolve().parent in folders
    except (OSError, RuntimeError, ValueError):
        return False


def open_handle(path: Path, file: str, root: Path | None = None) -> int:
    """Open a regular file; the caller closes the handle.

    Parameters
    ----------
    path
        The file.
    file
        What messages call the file.
    root
        A folder that no link may lead out of.

    Raises
    ------
    Refused
        There is no regular file, or it lies outside `root`.
    """
    if _FileAccess.allowed_handles is not None:
        return _reopen_handle(path, file, _FileAccess.allowed_handles)
    try:
        real = path if root is None else path.resolve(strict=True)
        if root is not None and not real.is_relative_to(root.resolve(strict=True)):
            raise Refused(f"{file} {LINK_LEAVES_FOLDER}")
        _require_regular_file(real.stat().st_mode, file)  # merely opening a device can have side effects
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


def read_bytes(path: Path, file: str) -> bytes:
    """Read all bytes of a regular file; raises as `open_regular_file`."""
    with open_regular_file(path, file) as stream:
        return stream.read()


def read_first_bytes(path: Path, file: str, size: int) -> bytes:
    """Read the first `size` bytes of a regular file, or all if it is shorter; raises as `read_bytes`."""
    with open_regular_file(path, file) as stream:
        return stream.read(size)


@contextmanager
def open_regular_file(path: Path, file: str) -> Generator[BinaryIO]:
    """Open a regular file for reading.

    Parameters
    ----------
    path
        The file.
    file
        What messages call the file.

    Raises
    ------
    Refused
        There is no regular file, or it cannot be read.
    """
    handle = open_handle(path, file)
    try:
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream
    except OSError as error:
        raise Refused(f"{file} cannot be read ({os_error_text(error)}).") from None
    finally:
        os.close(handle)


def _reopen_handle(path: Path, file: str, handles: Mapping[Path, int]) -> int:
    """Open a file that was handed over once more, so that the new handle has its own file position."""
    if path not in handles:
        raise Refused(f"{file} cannot be opened (it was not handed over to be read).")
    try:
        handle = os.open(f"/dev/fd/{handles[path]}", _OPEN_FLAGS)
    except OSError:  # no /dev/fd on this system, or the file's permissions have changed since
        handle = os.dup(handles[path])
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _require_regular_file(mode: int, file: str) -> None:
    """Raise Refused for anything but a regular file."""
    if stat.S_ISDIR(mode):
        raise Refused(f"{file} cannot be opened (it is a folder): name a file in it.")
    if not stat.S_ISREG(mode):
        raise Refused(f"{file}: {not_regular_message(mode)}")


def not_regular_message(mode: int) -> str:
    """Say why a file of this mode is not read; the sentence continues after the file's name."""
    kind = "what is not a regular file"
    if stat.S_ISFIFO(mode):
        kind = "a pipe"
    elif stat.S_ISSOCK(mode):
        kind = "a socket"
    elif stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        kind = "a device"
    return f"{kind} cannot be read: save it to a file first."


def os_error_text(error: Exception) -> str:
    """Return the system's message for an error, without the path."""
    return getattr(error, "strerror", None) or "no file can have this name"

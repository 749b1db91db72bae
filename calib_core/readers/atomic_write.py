"""Saves a file completely or not at all, and never over a file that is still needed.

The bytes go to a hidden file beside the target, which then replaces the target in one step: a full disk or
a crash half-way leaves the old file as it was.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from calib_core.errors import Refused


def write_atomically(data: bytes, path: Path) -> None:
    """Write all of `data` to `path`, replacing an existing file, or nothing at all.

    Raises
    ------
    Refused
        The file cannot be written, or `path` is a folder, a device or a pipe.
    """
    check_output_path(path)
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        try:
            with unfinished.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())  # otherwise a power cut may keep the name and lose the bytes
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        in_folder = f"{path.parent.name}/{path.name}" if path.parent.name else path.name
        raise Refused(f"{in_folder} cannot be written ({error.strerror or error}).") from None


def check_output_path(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Raise Refused if `path` exists and is not a regular file, or is one of `inputs`."""
    name = path.name or str(path)
    if path.is_dir():
        raise Refused(f"{name} is a folder. Name the file that is to be written: -o FILE")
    if path.exists() and not path.is_file():
        raise Refused(
            f"{name} is not a regular file and cannot be replaced by one. Choose another name for -o."
        )
    if any(is_same_file(path, other) for other in inputs):
        raise Refused(
            f"{name} is one of the files that are read, and would be overwritten. Choose another name for -o."
        )


def is_same_file(first: Path, second: Path) -> bool:
    """Return whether two paths lead to the same file, links followed; the file need not exist yet."""
    if resolved_path(first) == resolved_path(second):
        return True
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return False


def resolved_path(path: Path) -> Path:
    """Resolve a path; one that cannot be resolved is made absolute, and opening it raises the error."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()

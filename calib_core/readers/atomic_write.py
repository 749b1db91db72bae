"""How is a file saved so that it is whole or not there, and nothing that is needed is lost?

What is written goes to a hidden file beside the target, which then takes the target's place in one step: a
full disk or an end half-way leaves whatever was there before.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from calib_core.errors import Refused


def write_atomically(data: bytes, path: Path) -> None:
    """Writes all of `data` at `path`, in place of what is there, or nothing at all.

    Raises Refused where the file cannot be written, or `path` is a folder, a device or a pipe.
    """
    check_output_path(path)
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        try:
            with unfinished.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())  # else a machine that stops may keep the name and lose the bytes
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise Refused(f"{path.name} cannot be written ({error.strerror or error}).") from None


def check_output_path(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Raises Refused where what is at `path` is no file that may be replaced, or is one of `inputs`."""
    name = path.name or str(path)
    if path.is_dir():
        raise Refused(f"{name} is a folder. Name the file that is to be written: -o FILE")
    if path.exists() and not path.is_file():
        raise Refused(f"{name} is no regular file and cannot be replaced by one. Choose another name for -o.")
    if any(is_same_file(path, other) for other in inputs):
        raise Refused(
            f"{name} is one of the files that are read, and would be lost. Choose another name for -o."
        )


def is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, by links of either kind; the file need not be there yet."""
    if resolved_path(first) == resolved_path(second):
        return True
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return False


def resolved_path(path: Path) -> Path:
    """Where a path leads; the path itself where it leads nowhere, which reading it will say."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()

"""Which files of a folder may hold predictions, and how is one of them opened?"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from calib_core.errors import Refused
from calib_core.readers.companions import is_companion
from calib_core.readers.file_access import LINK_LEAVES_FOLDER, not_regular_message, open_handle, os_error_text

IGNORED_NAMES: Final = frozenset({"manifest.json"})


@dataclass(frozen=True, slots=True)
class FolderListing:
    """What a folder holds.

    files: those that may hold predictions, sorted by their path below it; passed_over: what looks like one
    and is not read, path → why, as a sentence that names it by its path below the folder.
    """

    files: tuple[Path, ...]
    skipped: Mapping[Path, str]


def list_files(folder: Path) -> tuple[Path, ...]:
    """The files of `listing`; raises as it does."""
    return list_folder(folder).files


def list_folder(folder: Path) -> FolderListing:
    """The regular files in a folder and its subfolders, and what is passed over.

    Nothing is said of hidden files and folders, README*, *.md and MANIFEST.json, nor of what is read with
    the array beside it (X.target.npy of X.probs.npy). A link is followed only where it stays inside the
    folder, and no folder is entered twice. Raises Refused where there is no such folder.
    """
    try:
        top = folder.resolve(strict=True)
        pending = _sorted_entries(folder)
    except (OSError, RuntimeError, ValueError) as error:
        name = folder.name or str(folder)
        raise Refused(f"{name} is no folder that can be opened ({os_error_text(error)}).") from None
    found: list[Path] = []
    passed_over: dict[Path, str] = {}
    entered = {top}
    while pending:
        path = pending.pop()
        if _is_ignored(path.name):
            continue
        real, why = _resolve_inside(path, top)
        if real is None:
            passed_over[path] = f"{path.relative_to(folder).as_posix()} {why}"
        elif real.is_dir():
            if real not in entered:
                entered.add(real)
                pending.extend(_entries_or_empty(path))
        elif not stat.S_ISREG(mode := _file_mode(real)):
            passed_over[path] = f"{path.relative_to(folder).as_posix()}: {not_regular_message(mode)}"
        elif not is_companion(path):
            found.append(path)
    return FolderListing(tuple(found), passed_over)


def read_bytes(path: Path, file: str) -> bytes:
    """All bytes of a regular file. Raises Refused, naming it `file`, where there is none to be read."""
    with open_regular_file(path, file) as stream:
        return stream.read()


def read_first_bytes(path: Path, file: str, size: int) -> bytes:
    """The first bytes of a regular file, `size` of them where it has so many; raises as `content`."""
    with open_regular_file(path, file) as stream:
        return stream.read(size)


@contextmanager
def open_regular_file(path: Path, file: str) -> Generator[BinaryIO]:
    """A regular file to read from. Raises Refused, naming it `file`, where there is none to be read.

    It is opened without waiting: a named pipe would keep a reader for ever.
    """
    handle = open_handle(path, file)
    try:
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream
    except OSError as error:
        raise Refused(f"{file} cannot be read ({os_error_text(error)}).") from None
    finally:
        os.close(handle)


def _sorted_entries(folder: Path) -> list[Path]:
    """What a folder holds, the last name first."""
    return sorted(folder.iterdir(), reverse=True)


def _entries_or_empty(folder: Path) -> list[Path]:
    try:
        return _sorted_entries(folder)
    except OSError:
        return []


def _resolve_inside(path: Path, root: Path) -> tuple[Path | None, str]:
    """Where a path leads; or None, and why it is not followed."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a link to nowhere, or round in a circle
        return None, "is a link that leads nowhere."
    return (real, "") if real.is_relative_to(root) else (None, LINK_LEAVES_FOLDER)


def _is_ignored(name: str) -> bool:
    """Whether nobody takes a file or folder of that name for predictions."""
    low = name.lower()
    return low.startswith((".", "readme")) or low.endswith(".md") or low in IGNORED_NAMES


def _file_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:  # gone since the folder was listed
        return 0
